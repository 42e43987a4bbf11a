
"use strict";
// Tables that sort and filter, features that tell their group, data that can be saved,
// figures that name their points. Without this script the report is complete.
const words = (cell) => cell.textContent.trim();
const number = (text) => parseFloat(text.replace(/\u2212/g, "-").replace(/,/g, ""));
const collator = new Intl.Collator("en", { numeric: true });

function make(tag, text = "", properties = {}) {
  return Object.assign(document.createElement(tag), { textContent: text, ...properties });
}

function button(text, act) {
  const made = make("button", text, { type: "button" });
  made.addEventListener("click", act);
  return made;
}

// A cell without a number comes last, whichever way the others are sorted.
function compareNumbers(one, other, sign) {
  const [a, b] = [number(one), number(other)];
  if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) - Number.isNaN(b);
  return sign * (a - b);
}

function sortTable(table, header) {
  const sign = header.ariaSort === "ascending" ? -1 : 1;
  for (const cell of table.tHead.rows[0].cells) cell.ariaSort = null;
  header.ariaSort = sign > 0 ? "ascending" : "descending";
  const numeric = header.classList.contains("number");
  const keyed = Array.from(table.tBodies[0].rows, (row) => ({
    row, key: words(row.cells[header.cellIndex]) }));
  keyed.sort((a, b) => numeric ? compareNumbers(a.key, b.key, sign)
    : sign * collator.compare(a.key, b.key));
  table.tBodies[0].append(...keyed.map((entry) => entry.row));
}

function makeSortable(table) {
  for (const header of table.tHead.rows[0].cells) {
    const sorter = button("", () => sortTable(table, header));
    sorter.append(...header.childNodes);
    header.append(sorter);
  }
}

// ``more`` adds rows that fit what is wanted, and returns what to say of them.
function makeFilter(table, tools, more = () => "") {
  const field = make("input", "", { type: "search" });
  const label = make("label", "Filter ");
  const count = make("output");
  const rows = Array.from(table.tBodies[0].rows);
  const show = () => {
    const wanted = field.value.trim().toLowerCase();
    for (const row of rows) row.hidden = !words(row).toLowerCase().includes(wanted);
    const left = rows.filter((row) => !row.hidden).length;
    count.value = (wanted ? `${left} of ${rows.length} rows` : `${rows.length} rows`)
      + more(wanted);
  };
  field.addEventListener("input", show);
  label.append(field);
  tools.prepend(label, count);
  show();
}

function save(saver) {
  // The mark of UTF-8 at the start, without which Excel garbles names.
  const text = "\ufeff" + saver.nextElementSibling.content.textContent;
  const url = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  make("a", "", { href: url, download: saver.dataset.name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
}

// By a command, because a report in a sandboxed frame has no clipboard.
function copy(text) {
  const field = make("textarea", text);
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
}

function readCsv(text) {
  const rows = [[]];
  for (const [, cell, end] of text.matchAll(/("(?:[^"]|"")*"|[^,\n]*)(,|\n)/g)) {
    const quoted = cell.startsWith('"');
    rows.at(-1).push(quoted ? cell.slice(1, -1).replaceAll('""', '"') : cell);
    if (end === "\n") rows.push([]);
  }
  return rows.slice(0, -1);
}

// The rows of a saved table, with its columns as keys; names without the apostrophe
// that keeps a spreadsheet from taking them for formulas.
function recordsOf(element) {
  const [header, ...rows] = readCsv(
    element.querySelector("template").content.textContent);
  const plain = (text) => text.replace(/^'(?=\s*[=+\-@\uff1d\uff0b\uff0d\uff20])/, "");
  return rows.map((row) => Object.fromEntries(
    header.map((key, i) => [key, plain(row[i])])));
}

// ---- The features: those not chosen are found, too, and each tells its group.

const MAX_FOUND = 50;
const MAX_MEMBERS = 30;
const REPRESENTED = 0.8;
const short = (text) => String(Number(Number(text).toPrecision(3)));

function makeExplorer(figure, table, tools) {
  const every = recordsOf(document.getElementById(figure.dataset.interactive));
  const chosen = recordsOf(figure);
  const isChosen = (one) => Number(one.rank) <= chosen.length;
  const header = Array.from(table.tHead.rows[0].cells, words);
  const panel = make("div", "", { className: "details", ariaLive: "polite" });
  const box = figure.querySelector(".wide");
  box.after(panel);
  figure.classList.add("explorer");

  const membersOf = (owner) => every.filter((one) => one["its rank"] === owner.rank
    && Math.abs(one.correlation) >= REPRESENTED)
    .sort((a, b) => Math.abs(b.correlation) - Math.abs(a.correlation));

  function facts(one) {
    const own = isChosen(one) ? chosen[one.rank - 1] : {};
    const share = (value) => `${Math.round(100 * value)}%`;
    const because = one["not chosen because"];
    return [
      isChosen(one) ? "Chosen." : `Not chosen: ${because}.`,
      `Rank ${one.rank}, score ${short(one.score)}.`,
      one.call && `It is ${one.call} (q = ${short(one.q_value)}); the structure `
        + `explains ${share(one.explained)} of its variance.`,
      own.frequency && `Chosen again on ${share(own.frequency)} of the halves.`,
      own["marks cluster"] && `It marks cluster ${own["marks cluster"]}.`,
      own["correlates with"] && "It correlates most with these chosen features: "
        + `${own["correlates with"].replaceAll("; ", ", ")}.`,
      own["nearest not chosen"] && "The nearest feature that was not chosen is "
        + `${own["nearest not chosen"]} (correlation ${short(own["its correlation"])}).`,
    ].filter(Boolean).join(" ");
  }

  function tellGroup(one) {
    const owner = isChosen(one) ? one : every[one["its rank"] - 1];
    if (!isChosen(one) && !(Math.abs(one.correlation) >= REPRESENTED)) {
      return [make("p", "No chosen feature represents it.")];
    }
    const members = membersOf(owner);
    if (!members.length) return [make("p", "It represents no other feature.")];
    const list = make("ul");
    for (const each of [owner, ...members.slice(0, MAX_MEMBERS)]) {
      const item = make("li");
      item.append(button(each.feature, () => tell(each)), each === owner
        ? " the representative" : ` correlation ${short(each.correlation)}`);
      list.append(item);
    }
    const left = members.length - MAX_MEMBERS;
    if (left > 0) list.append(make("li", `and ${left} more`));
    return [make("p", `Its group has ${members.length + 1} features:`), list];
  }

  function tell(one) {
    panel.replaceChildren(make("h3", one.feature), make("p", facts(one)),
      ...tellGroup(one));
    for (const row of table.tBodies[0].rows) {
      row.classList.toggle("picked", words(row.cells[0]) === one.rank);
    }
  }

  // The name in a row is a button, so that the keyboard reaches it.
  function makePickable(row, one) {
    const cell = row.cells[1];
    const name = words(cell);
    cell.replaceChildren(button(name, () => tell(one)));
    cell.firstChild.className = "pick";
  }

  for (const row of table.tBodies[0].rows) makePickable(row, every[words(row.cells[0]) - 1]);

  tell(every[0]);
  let added = [];
  makeFilter(table, tools, (wanted) => {
    for (const row of added) row.remove();
    const found = wanted ? every.filter((one) => !isChosen(one)
      && one.feature.toLowerCase().includes(wanted)) : [];
    added = found.slice(0, MAX_FOUND).map((one) => {
      const row = make("tr", "", { className: "other" });
      const shown = { ...one, score: short(one.score),
        explained: one.explained && `${Math.round(100 * one.explained)}%`,
        [header.at(-1)]: `not chosen: ${one["not chosen because"]}` };
      for (const key of header) row.append(make("td", shown[key] || ""));
      makePickable(row, one);
      return row;
    });
    table.tBodies[0].append(...added);
    return found.length ? `, and ${found.length} not chosen` : "";
  });
  const names = chosen.map((one) => one.feature).join("\n");
  const label = `Copy ${chosen.length} names`;
  const copier = button(label, () => {
    copy(names);
    copier.textContent = "Copied";
    setTimeout(() => { copier.textContent = label; }, 2000);
  });
  copier.className = "download";
  tools.append(copier);
}

// ---- Under the pointer, a figure says which feature or sample it is.

const tip = make("div", "", { className: "tip", hidden: true });
document.body.append(tip);

function hover(event, text) {
  tip.hidden = !text;
  tip.textContent = text;
  tip.style.left = `${Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8)}px`;
  tip.style.top = `${Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 8)}px`;
}

function nameCell(header, rows, x, y) {
  const first = header[1] === "marks" ? 2 : 1;
  const row = rows[Math.floor(y * rows.length)];
  const place = first + Math.floor(x * (header.length - first));
  const marks = first === 2 && row[1] ? `\nmarks cluster ${row[1]}` : "";
  return `${row[0]}, ${header[place]}: ${row[place]}${marks}`;
}

const nameValues = (header, row) => header
  .map((key, place) => row[place] && `${key}: ${row[place]}`).filter(Boolean).join("\n");

function namePart(part, header, rows, x, y) {
  if (part.text) return part.text;
  if (part.grid) {
    const [height, width] = part.grid;
    return nameValues(header,
      rows[Math.floor(y * height) * width + Math.floor(x * width)]);
  }
  if (!part.x) return nameCell(header, rows, x, y);
  const [low, high] = part.x;
  const count = part.log ? low * (high / low) ** x : low + x * (high - low);
  const row = rows[Math.round(count) - 1];
  return row ? nameValues(header, row) : "";
}

function makeHover(svg) {
  const parts = JSON.parse(svg.dataset.hover);
  const [header, ...rows] = readCsv(
    svg.closest("figure").querySelector("template").content.textContent);
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    const scale = svg.viewBox.baseVal.width / box.width;
    for (const part of parts) {
      const [left, top, width, height] = part.box;
      const x = ((event.clientX - box.left) * scale - left) / width;
      const y = ((event.clientY - box.top) * scale - top) / height;
      if (!(x >= 0 && x < 1 && y >= 0 && y < 1)) continue;
      hover(event, namePart(part, header, rows, x, y));
      return;
    }
    tip.hidden = true;
  });
  svg.addEventListener("pointerleave", () => { tip.hidden = true; });
}

// The title of a point, which browsers show late and screen readers keep.
function namePoints(svg) {
  svg.addEventListener("pointermove", (event) => {
    const point = event.target.closest("use");
    const title = point && point.querySelector("title");
    if (title) { point.dataset.title = title.textContent; title.remove(); }
    hover(event, point && point.dataset.title || "");
  });
  svg.addEventListener("pointerleave", () => { tip.hidden = true; });
}

// What scrolls sideways is within reach of the keyboard.
function makeReachable() {
  for (const box of document.querySelectorAll(".wide:not(.long)")) {
    if (box.scrollWidth <= box.clientWidth) continue;
    const section = words(box.closest("section").querySelector("h2"));
    box.tabIndex = 0;
    box.role = "region";
    box.ariaLabel = box.firstElementChild.ariaLabel || `Table: ${section}`;
  }
}

for (const saver of document.querySelectorAll("button.download")) {
  saver.hidden = false;
  saver.addEventListener("click", () => save(saver));
}
for (const svg of document.querySelectorAll("svg[data-hover]")) makeHover(svg);
for (const svg of document.querySelectorAll("svg:has(use > title)")) namePoints(svg);
for (const figure of document.querySelectorAll("figure[data-interactive]")) {
  const [table, tools] = ["table", ".tools"].map((each) => figure.querySelector(each));
  makeSortable(table);
  if (figure.dataset.interactive) makeExplorer(figure, table, tools);
  else makeFilter(table, tools);
}
makeReachable();
addEventListener("resize", makeReachable);
