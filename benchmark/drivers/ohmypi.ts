// oh-my-pi's hashline: reads are recorded as snapshots, patches applied by its own patcher.
import { formatHashlineHeader, formatNumberedLines, InMemorySnapshotStore, NodeFilesystem, normalizeToLF, Patch, Patcher, stripBom } from "@oh-my-pi/hashline";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

process.chdir(process.argv[2]);
const snapshots = new InMemorySnapshotStore();
const files = new NodeFilesystem();
const patcher = new Patcher({ fs: files, snapshots });

const prompt = Bun.resolveSync("@oh-my-pi/hashline/prompt.md", import.meta.dir);

function read(path: string): string {
  const text = normalizeToLF(stripBom(readFileSync(path, "utf8")).text);
  const lines = text.endsWith("\n") ? text.slice(0, -1) : text;
  return formatHashlineHeader(path, snapshots.record(files.canonicalPath(path), text)) + "\n" + formatNumberedLines(lines);
}

for await (const line of createInterface({ input: process.stdin })) {
  const order = JSON.parse(line);
  let ok = true;
  let text = "";
  try {
    if (order.do === "read") text = read(order.path);
    else if (order.do === "define") text = JSON.stringify({ prompt: readFileSync(prompt, "utf8") });
    else {
      const result = await patcher.apply(Patch.parse(order.arguments.patch));
      const [section] = result.sections;
      ok = section.op !== "noop";
      text = `${section.op}\n${(section.warnings ?? []).map(w => `Warning: ${w}`).join("\n")}`;
    }
  } catch (error) {
    ok = false;
    text = String(error);
  }
  console.log(JSON.stringify({ ok, text }));
}
