"use strict";
const $$ = (id) => document.getElementById(id);
const root = document.documentElement;
const all = [...document.querySelectorAll("main>details")];
let bodies = [], words = [], here = -1;

const make = (tag, text, name) => {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (name) element.className = name;
  return element;
};

async function unpack() {
  const raw = Uint8Array.from(atob($$("data").textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("deflate"));
  bodies = await new Response(stream).json();
}

// whether a cut there would part the two halves of one character
const isHalf = (text, at) => /^[\uD800-\uDBFF][\uDC00-\uDFFF]$/.test(text.slice(Math.max(at - 1, 0), at + 1));

// a line of a diff: what both sides share at its ends stays plain
function paint(cell, text, other) {
  if (other === undefined) { cell.textContent = text; return; }
  let head = 0, tail = 0;
  const most = Math.min(text.length, other.length);
  while (head < most && text[head] === other[head]) head++;
  if (isHalf(text, head) || isHalf(other, head)) head--;
  while (tail < most - head && text.at(-1 - tail) === other.at(-1 - tail)) tail++;
  if (isHalf(text, text.length - tail) || isHalf(other, other.length - tail)) tail--;
  if (head + tail < most / 4) { cell.textContent = text; return; }
  cell.append(text.slice(0, head), make("mark", text.slice(head, text.length - tail)), text.slice(text.length - tail));
}

function pair(table, left, right) {
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const row = table.insertRow();
    for (const [mine, theirs, name] of [[left[i], right[i], "del"], [right[i], left[i], "add"]]) {
      row.append(make("td", mine ? mine[0] : "", "n"));
      const cell = make("td", undefined, mine ? name : "none");
      if (mine) paint(cell, mine[1], theirs && theirs[1]);
      row.append(cell);
    }
  }
}

function diff(text) {
  if (!/^@@ /m.test(text)) return make("pre", text);
  const table = make("table", undefined, "diff");
  const columns = table.appendChild(make("colgroup"));
  for (const name of ["n", "", "n", ""]) columns.append(make("col", undefined, name));
  let at = [0, 0], left = [], right = [], names = [], began = false;
  const flush = () => { pair(table, left, right); left = []; right = []; };
  const note = (...texts) => {
    flush();
    const cell = make("th", texts.filter(Boolean).join("   "));
    cell.colSpan = 4;
    table.insertRow().append(cell);
  };
  const number = (side) => at[side] ? at[side]++ : "";
  for (const line of text.split("\n")) {
    const range = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(line);
    if (range) {
      note(...names, line);
      at = [+range[1], +range[2]];
      names = [];
      began = true;
    } else if (!began) {
      if (!line.startsWith("+++ ")) { if (!line.startsWith("--- ")) names.push(line); }
      else if (!names.length) names.push(line.slice(4).replace(/^b\//, ""));
    } else if (line[0] === "-") left.push([number(0), line.slice(1)]);
    else if (line[0] === "+") right.push([number(1), line.slice(1)]);
    else if (line[0] === " " || line === "") {
      flush();
      const row = table.insertRow();
      for (const side of [0, 1]) row.append(make("td", number(side), "n"), make("td", line.slice(1)));
    } else {
      note(line);
      if (line[0] === "…") at = [0, 0];  // until the next range nobody knows the numbers
    }
  }
  flush();
  return table;
}

function fill(row) {
  const body = bodies[row.id.slice(1)];
  if (!body || row.children.length > 1) return;
  const box = make("div", undefined, "body");
  const part = (title, element) => box.append(make("h3", title), element);
  if (body.c) part("Command", make("pre", body.c));
  for (const one of body.d || []) box.append(diff(one));
  if (body.a && Object.keys(body.a).length) {
    const list = make("dl");
    for (const [name, value] of Object.entries(body.a)) {
      const cell = make("dd");
      cell.append(value.includes("\n") ? make("pre", value) : make("code", value));
      list.append(make("dt", name), cell);
    }
    part("Call", list);
  }
  if (body.t) part(body.c ? "Output" : "Answer", make("pre", body.t));
  if (body.p) part("Files changed", make("pre", body.p.join("\n")));
  const facts = make("dl");
  for (const [name, value] of Object.entries(body.f || {})) facts.append(make("dt", name), make("dd", value));
  box.append(facts);
  row.append(box);
}

const shown = () => all.filter((row) => !row.hidden);

function* texts(value) {
  if (value && typeof value === "object") for (const one of Object.values(value)) yield* texts(one);
  else yield String(value ?? "");
}

function filter() {
  const sought = $$("search").value.trim().toLowerCase().split(/\s+/).filter(Boolean);
  const kinds = new Set([...document.querySelectorAll("nav label [value]:checked")].map((box) => box.value));
  const session = $$("session") ? $$("session").value : "";
  if (sought.length && !words.length)
    words = all.map((row, i) => [row.firstElementChild.textContent, ...texts(bodies[i])].join("\n").toLowerCase());
  all.forEach((row, i) => {
    const own = row.dataset.k.split(" ");
    const kind = own.includes("mark") || own.includes("other") || own.some((k) => kinds.has(k));
    const wanted = kind && (!$$("refused").checked || own.includes("refused"));
    const mine = session === "" || row.dataset.s === session;
    row.hidden = !(wanted && mine && sought.every((word) => words[i].includes(word)));
  });
  const count = shown().length;
  for (const gap of document.querySelectorAll(".gap")) gap.hidden = count < all.length;
  $$("count").textContent = count + " of " + all.length;
}

function go(row) {
  if (!row) return;
  if (all[here]) all[here].classList.remove("here");
  here = all.indexOf(row);
  row.classList.add("here");
  row.firstElementChild.focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest" });
}

function step(by, kind) {
  for (let i = here + by; i >= 0 && i < all.length; i += by)
    if (!all[i].hidden && (!kind || all[i].dataset.k.includes(kind))) return go(all[i]);
}

function theme() {
  const dark = root.classList.contains("dark") || (!root.classList.contains("light") && matchMedia("(prefers-color-scheme: dark)").matches);
  root.classList.remove("dark", "light");
  root.classList.add(dark ? "light" : "dark");
}

function openAll() {
  const rows = shown(), open = rows.some((row) => !row.open);
  for (const row of rows) row.open = open;
}

const KEYS = {
  j: () => step(1), k: () => step(-1), n: () => step(1, "edit"), p: () => step(-1, "edit"),
  "/": () => $$("search").focus(), t: theme, x: openAll, "?": () => $$("help").showModal(),
  r: () => { $$("refused").checked = !$$("refused").checked; filter(); },
};

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || $$("help").open) return;
  if (event.key === "Enter" && event.target.matches("#search")) go(shown()[0]);
  else if (event.key === "Escape") { $$("search").value = ""; $$("search").blur(); filter(); }
  else if (!event.target.matches("#search,select") && KEYS[event.key]) { event.preventDefault(); KEYS[event.key](); }
});
// of thousands of open rows only those near the view have their contents
const near = new IntersectionObserver((seen) => {
  for (const one of seen) if (one.isIntersecting) fill(one.target);
}, { rootMargin: "100%" });
document.addEventListener("toggle", (event) => {
  if (!event.target.matches("main>details")) return;
  near.unobserve(event.target);
  if (event.target.open) near.observe(event.target);
}, true);
addEventListener("beforeprint", () => { for (const row of all) if (row.open) fill(row); });
document.addEventListener("click", (event) => {
  if (event.target.matches("[data-find]")) { $$("search").value = event.target.textContent.replace(/…$/, ""); filter(); }
  const row = event.target.closest("main>details");
  if (row) { if (all[here]) all[here].classList.remove("here"); here = all.indexOf(row); row.classList.add("here"); }
});
document.querySelector("nav").addEventListener("input", filter);
$$("theme").addEventListener("click", theme);
$$("keys").addEventListener("click", KEYS["?"]);
unpack().then(() => {
  words = [];
  filter();
  const named = $$(location.hash.slice(1));
  if (named && named.matches("details")) { named.open = true; go(named); }
  const edit = all.find((row) => row.dataset.k.split(" ").includes("edit"));
  if (edit && !all.some((row) => row.open)) edit.open = true;  // a first look shows a diff
  for (const row of all) if (row.open) fill(row);
  root.dataset.ready = "";
}, (error) => { $$("count").textContent = "This browser cannot show diffs: " + error.message; });
