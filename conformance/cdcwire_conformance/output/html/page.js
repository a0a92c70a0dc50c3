"use strict";
// The list of cases, its filters and the details of one case. The address after # holds the whole
// state. Texts reach the page as text nodes only.
const data = JSON.parse(document.getElementById("data").textContent);
const BAD = ["failed", "crashed", "timed out"];
const NOT_PASSED = [...BAD, "expected failure"];
const PAGE_SIZE = 200;
const rows = data.rows;
const rowOf = new Map(rows.map((row) => [row.id, row]));
const form = document.getElementById("filters");
const list = document.getElementById("list");
const pane = document.getElementById("details");
const more = document.getElementById("more");
let found = [];
let shown = 0;
let drawn = null; // the id that the details are of

function make(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key === "class") element.className = value;
    else if (key in element) element[key] = value;
    else element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

// ---- filters

const unique = (values) => [...new Set(values)].sort((one, other) => (one < other ? -1 : 1));
const results = unique(rows.flatMap((row) => row.results).filter(Boolean));
const FILTERS = {
  text: { label: "Text", test: (row, text) => `${row.id} ${row.title}`.toLowerCase().includes(text.toLowerCase()) },
  format: { label: "Format", values: () => unique(rows.map((row) => row.format)), test: (row, name) => row.format === name },
  clause: {
    label: "Clause",
    values: (state) => unique(rows.filter((row) => !state.format || row.format === state.format).flatMap((row) => row.clauses)),
    test: (row, name) => row.clauses.includes(name),
  },
  level: { label: "Level", values: () => ["must", "should", "may", "unspecified"], test: (row, name) => row.level === name },
  expect: { label: "Expected", values: () => ["accept", "reject", "encode"], test: (row, name) => row.expect === name },
  feature: {
    label: "Feature",
    values: (state) => unique(rows.filter((row) => !state.format || row.format === state.format).flatMap((row) => row.features)),
    test: (row, name) => row.features.includes(name),
  },
  reader: { label: "Reader", values: () => data.readers.map((_, at) => String(at)), title: (at) => data.readers[at], test: () => true },
  result: { label: "Result", values: () => (results.length ? ["not passed", ...results] : []), test: hasResult },
  group: {
    label: "Kind of failure",
    values: () => (data.groups || []).map((_, at) => String(at)),
    title: (at) => `${Number(at) + 1}: ${data.groups[at]?.length ?? 0} cases`,
    test: (row, at) => groupSets()[at]?.has(row),
  },
  by: { label: "Author only", check: "author", test: (row, name) => row.by === name },
};
let sets = null;
function groupSets() {
  sets ??= (data.groups || []).map((places) => new Set(places.map((place) => rows[place])));
  return sets;
}

function hasResult(row, name, state) {
  const wanted = name === "not passed" ? NOT_PASSED : [name];
  const given = state.reader === undefined ? row.results : [row.results[state.reader]];
  return given.some((result) => wanted.includes(result));
}

function readState() {
  const state = {};
  for (const item of location.hash.slice(1).split("&")) {
    const at = item.indexOf("=");
    if (at < 0) continue;
    try {
      state[item.slice(0, at)] = decodeURIComponent(item.slice(at + 1));
    } catch {
      // a damaged address: the filter is left out
    }
  }
  return state;
}

function address(state) {
  const items = Object.entries(state).filter(([, value]) => value);
  return "#" + items.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
}

function drawFilters(state) {
  const focused = document.activeElement?.name;
  const controls = [];
  for (const [name, filter] of Object.entries(FILTERS)) {
    if (filter.check) {
      const box = make("input", { type: "checkbox", name, checked: state[name] === filter.check });
      controls.push(make("label", { class: "check" }, box, filter.label));
    } else if (!filter.values) {
      controls.push(make("label", {}, filter.label, make("input", { type: "search", name, value: state[name] || "" })));
    } else {
      const values = filter.values(state);
      if (values.length < 2 && !state[name]) continue;
      if (state[name] && !values.includes(state[name])) values.push(state[name]);
      const options = values.map((value) => make("option", { value }, (filter.title || String)(value)));
      const select = make("select", { name }, make("option", { value: "" }, "any"), ...options);
      select.value = state[name] || "";
      controls.push(make("label", {}, filter.label, select));
    }
  }
  controls.push(make("button", { type: "reset" }, "Clear"));
  form.replaceChildren(...controls);
  if (focused) form.elements[focused]?.focus();
}

function formState() {
  const state = {};
  for (const [name, filter] of Object.entries(FILTERS)) {
    const control = form.elements[name];
    const value = filter.check ? (control.checked ? filter.check : "") : control?.value;
    if (value) state[name] = value;
  }
  const before = readState();
  if (state.format !== before.format) {
    delete state.clause;
    delete state.feature;
  }
  if (before.case) state.case = before.case;
  return state;
}

function applyForm() {
  const state = formState();
  history.replaceState(null, "", address(state) || "#");
  draw(state, form.elements.text !== document.activeElement);
}

// ---- the list

const chosenCase = (state) => state.case ?? found[0]?.id;

function draw(state, withFilters = true) {
  if (withFilters) drawFilters(state);
  const tests = Object.entries(FILTERS).filter(([name]) => state[name] !== undefined);
  found = rows.filter((row) => tests.every(([name, filter]) => filter.test(row, state[name], state)));
  const number = (value) => value.toLocaleString("en");
  document.getElementById("count").textContent = `${number(found.length)} of ${number(rows.length)} cases`;
  list.replaceChildren();
  shown = 0;
  showMore(state);
  drawCase(chosenCase(state));
}

function showMore(state = readState()) {
  const items = found.slice(shown, shown + PAGE_SIZE).map((row) => {
    const result = worst(row, state);
    const about = [row.level, row.expect, result, row.aside].filter(Boolean).join(", ");
    const link = make(
      "a",
      { href: address({ ...state, case: row.id }), class: colour(result) },
      make("span", { class: "case", textContent: row.id }),
      make("span", { textContent: row.title }),
      make("span", { class: "dim", textContent: about }),
    );
    if (row.id === chosenCase(state)) link.setAttribute("aria-current", "true");
    return make("li", {}, link);
  });
  list.append(...items);
  shown += items.length;
  more.hidden = shown >= found.length;
  more.textContent = `Show ${Math.min(PAGE_SIZE, found.length - shown)} more`;
}

function worst(row, state) {
  if (state.reader !== undefined) return row.results[state.reader] || "";
  return NOT_PASSED.find((result) => row.results.includes(result)) || row.results.find(Boolean) || "";
}

const colour = (result) => (result === "passed" ? "good" : BAD.includes(result) ? "bad" : "");

list.addEventListener("keydown", (event) => {
  const step = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
  const item = step && event.target.closest("li")?.[step];
  if (!item) return;
  event.preventDefault();
  item.firstChild.focus();
});

// ---- one case

const waiting = new Map();

// The site keeps the details in a file per format, loaded by a script element: that works from file:.
window.cdcwireDetails = (format, details) => {
  Object.assign(data.details, details);
  waiting.set(format, "loaded");
};

function load(row, then) {
  const source = data.files?.[row.format];
  if (data.details[row.id] || !source || waiting.get(row.format) === "loaded") return then();
  const script = make("script", { src: source });
  script.onload = then;
  script.onerror = () => pane.append(make("p", {}, `${source} cannot be read.`));
  document.head.append(script);
}

function drawCase(id) {
  for (const link of list.querySelectorAll("a")) {
    if (link.querySelector(".case").textContent === id) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
  if (id === drawn) return;
  drawn = id;
  const row = rowOf.get(id);
  if (!row) {
    pane.replaceChildren(make("p", { class: "dim" }, id ? `There is no case ${id} here.` : "No case has these filters."));
    return;
  }
  pane.replaceChildren(make("h3", {}, make("code", {}, row.id)));
  load(row, () => {
    if (drawn === id) pane.replaceChildren(...caseParts(row, data.details[id]));
  });
}

function caseParts(row, details) {
  const parts = [make("h3", {}, make("code", {}, row.id)), make("p", {}, row.title)];
  const tags = [row.level, row.aside, `expected: ${row.expect}`].filter(Boolean);
  parts.push(make("div", { class: "tags" }, ...tags.map((text) => make("span", { class: "tag" }, text))));
  parts.push(...answerParts(row));
  if (details) {
    for (const note of details.notes || []) parts.push(make("p", { class: "dim" }, note));
    details.messages.forEach((message, at) => parts.push(...messageParts(message, at, details.messages.length)));
    if (details.events !== undefined) parts.push(title("Expected events"), make("pre", {}, details.events));
    if (details.error !== undefined) parts.push(title("Expected error"), make("pre", {}, details.error));
  } else if (NOT_PASSED.includes(row.results[0]) && data.no_details) {
    parts.push(make("p", { class: "dim" }, data.no_details));
  }
  parts.push(title(row.clauses.length === 1 ? "Clause" : "Clauses"), ...row.clauses.map(clausePart));
  if (details) {
    const facts = details.facts.flatMap(([name, text]) => [make("dt", {}, name), make("dd", {}, text)]);
    parts.push(title("About this case"), make("dl", {}, ...facts));
  }
  return parts;
}

const title = (text) => make("h4", {}, text);

function answerParts(row) {
  const parts = [];
  if (data.readers.length === 1 && row.results[0]) {
    const result = row.results[0];
    const why = [row.problem, row.reason].filter(Boolean).join("; ");
    parts.push(make("p", {}, make("span", { class: `tag ${colour(result)}` }, result), why ? ` ${why}` : ""));
  } else if (data.readers.length > 1) {
    const answers = data.readers.map((name, at) => {
      const result = row.results[at] || "not asked";
      const cell = make("td", {}, make("span", { class: `tag ${colour(result)}` }, result));
      return make("tr", {}, make("td", {}, name), cell, make("td", {}, row.answers?.[at] || ""));
    });
    parts.push(title("Readers"), scroll(make("table", {}, make("tbody", {}, ...answers))));
  }
  if (row.differences) {
    const names = ["Where", "Expected", "Got", "Hint"].slice(0, row.differences.some((cells) => cells[3]) ? 4 : 3);
    const head = names.map((text) => make("th", {}, text));
    const lines = row.differences.map((cells) => make("tr", {}, ...names.map((_, at) => make("td", { class: "value" }, cells[at]))));
    parts.push(scroll(make("table", { class: "differences" }, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...lines))));
    if (row.more) parts.push(make("p", { class: "dim" }, `and ${row.more} more differences`));
  }
  if (row.stderr) parts.push(title("Standard error of the testee"), make("pre", {}, row.stderr));
  return parts;
}

const scroll = (...children) => make("div", { class: "scroll" }, ...children);

function clausePart(name) {
  const text = data.clauses[name];
  if (text === undefined) return make("p", {}, make("code", {}, name));
  return make("details", { class: "clause" }, make("summary", {}, name), make("pre", {}, text));
}

// ---- bytes with their fields

function messageParts(message, at, count) {
  const parts = [];
  const name = message.title || (count > 1 ? `Message ${at + 1}` : "Message");
  for (const part of message.parts) {
    const heading = `${name}: ${part.name === "value" && message.title ? "" : `${part.name}, `}${part.size} bytes`;
    parts.push(title(heading), dump(part));
    if (part.start || part.start + part.hex.length / 2 < part.size) {
      parts.push(make("p", { class: "dim" }, `Bytes ${part.start} to ${part.start + part.hex.length / 2} are shown.`));
    }
    if (part.more) parts.push(make("p", { class: "dim" }, `and ${part.more} more fields`));
  }
  if (!message.parts.length) parts.push(title(name), make("p", {}, "No key and no value (Kafka's null)."));
  if (message.error) parts.push(make("p", {}, `The reference rejects it: ${message.error}`));
  return parts;
}

function dump(part) {
  const size = part.hex.length / 2;
  const owner = new Array(size).fill(-1); // the innermost field of each byte
  part.fields.forEach(([start, end], at) => owner.fill(at, Math.max(0, start - part.start), Math.max(0, end - part.start)));
  const bytes = make("div", { class: "bytes", role: "img", "aria-label": `${part.size} bytes; the table of fields explains them` });
  const wide = matchMedia("(min-width: 52rem)").matches ? 16 : 8;
  for (let line = 0; line < size; line += wide) {
    bytes.append(make("span", { class: "at" }, `${String(part.start + line).padStart(4, "0")}  `));
    const end = Math.min(line + wide, size);
    appendRuns(bytes, part, owner, line, end, (at) => part.hex.slice(2 * at, 2 * at + 2) + " ");
    bytes.append(" ".repeat(3 * (wide - (end - line)) + 1));
    appendRuns(bytes, part, owner, line, end, (at) => printable(parseInt(part.hex.slice(2 * at, 2 * at + 2), 16)));
    bytes.append("\n");
  }
  if (part.mark !== null && part.mark >= part.size) bytes.append(make("span", { class: "mark" }, "end"));
  const lines = part.fields.map(([start, end, field, value, clause], at) => {
    const isMarked = part.mark !== null && start <= part.mark && part.mark < end && owner[part.mark - part.start] === at;
    const cells = [start, field, value, clause].map((text) => make("td", {}, String(text)));
    return make("tr", { tabIndex: at ? -1 : 0, class: isMarked ? "mark" : "", "data-field": at }, ...cells);
  });
  const head = ["Byte", "Field", "Value", "Clause"].map((text) => make("th", {}, text));
  const body = make("tbody", {}, ...lines);
  const table = make("table", { class: "fields" }, make("thead", {}, make("tr", {}, ...head)), body);
  const whole = make("div", { class: "dump" }, bytes, make("div", { class: "fieldbox" }, table));
  followPointer(whole, part);
  return lines.length ? whole : bytes;
}

const printable = (byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : ".");

function appendRuns(target, part, owner, from, to, text) {
  for (let at = from; at < to; ) {
    const begin = at;
    const isMark = part.start + at === part.mark;
    let run = "";
    do run += text(at++);
    while (at < to && !isMark && owner[at] === owner[begin] && part.start + at !== part.mark);
    target.append(make("span", { class: isMark ? "mark" : "", "data-field": owner[begin] }, run));
  }
}

// The field under the mouse or with the focus is highlighted in both halves.
function followPointer(whole, part) {
  const [bytes, box] = whole.children;
  const runs = [...bytes.querySelectorAll("[data-field]")];
  const lines = [...box.querySelectorAll("[data-field]")];
  const highlight = (at, from) => {
    for (const line of lines) line.classList.toggle("hit", Number(line.dataset.field) === at);
    const [start, end] = part.fields[at] || [0, -1];
    for (const run of runs) {
      const field = part.fields[run.dataset.field];
      run.classList.toggle("hit", Boolean(field) && start <= field[0] && field[1] <= end);
    }
    if (from === bytes && lines[at]) scrollInside(box, lines[at]);
    if (from === box) scrollInside(bytes, runs.find((run) => run.classList.contains("hit")));
  };
  for (const half of [bytes, box]) {
    half.addEventListener("mouseover", (event) => {
      const target = event.target.closest("[data-field]");
      if (target) highlight(Number(target.dataset.field), half);
    });
  }
  box.addEventListener("focusin", (event) => {
    const line = event.target.closest("[data-field]");
    if (!line) return;
    for (const other of lines) other.tabIndex = other === line ? 0 : -1;
    highlight(Number(line.dataset.field), box);
  });
  box.addEventListener("keydown", (event) => {
    const at = lines.indexOf(event.target.closest("[data-field]"));
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: lines.length - 1 }[event.key];
    if (next === undefined || !lines[next]) return;
    event.preventDefault();
    lines[next].focus();
  });
}

function scrollInside(box, target) {
  if (!target) return;
  const top = target.getBoundingClientRect().top - box.getBoundingClientRect().top;
  if (top < 20 || top > box.clientHeight - 30) box.scrollTop += top - box.clientHeight / 2;
}

// ---- start

for (const button of document.querySelectorAll(".fold")) {
  button.addEventListener("click", () => {
    const parts = button.closest("tbody").nextElementSibling;
    parts.hidden = !parts.hidden;
    button.setAttribute("aria-expanded", String(!parts.hidden));
  });
}
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("input", applyForm);
form.addEventListener("reset", (event) => {
  event.preventDefault();
  const state = readState();
  location.hash = address(state.case ? { case: state.case } : {});
});
more.addEventListener("click", () => showMore());
let before = readState();
window.addEventListener("hashchange", () => {
  const state = readState();
  const isOtherCase = state.case !== before.case;
  const sameFilters = address({ ...state, case: "" }) === address({ ...before, case: "" });
  before = state;
  if (sameFilters) drawCase(chosenCase(state));
  else draw(state);
  const target = isOtherCase && state.case ? pane : document.getElementById("cases");
  if (!sameFilters || target === pane) target.scrollIntoView({ block: "start" });
  if (target === pane) pane.focus({ preventScroll: true });
});
data.details ??= {};
data.clauses ??= {};
draw(before);
