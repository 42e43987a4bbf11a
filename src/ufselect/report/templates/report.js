
"use strict";
// Tables that sort and filter, data that can be saved, figures that name their points.
// Without this script the report is complete; only what it adds is missing.
const words = (cell) => cell.textContent.trim();
const number = (text) => parseFloat(text.replace(/\u2212/g, "-").replace(/,/g, ""));
const collator = new Intl.Collator("en", { numeric: true });

// A cell without a number comes last, whichever way the others are sorted.
function compareNumbers(one, other, sign) {
  const [a, b] = [number(one), number(other)];
  if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) - Number.isNaN(b);
  return sign * (a - b);
}

function sortTable(table, header) {
  const sign = header.getAttribute("aria-sort") === "ascending" ? -1 : 1;
  for (const cell of table.tHead.rows[0].cells) cell.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
  const numeric = header.classList.contains("number");
  const keyed = Array.from(table.tBodies[0].rows, (row) => ({
    row, key: words(row.cells[header.cellIndex]) }));
  keyed.sort((a, b) => numeric ? compareNumbers(a.key, b.key, sign)
    : sign * collator.compare(a.key, b.key));
  table.tBodies[0].append(...keyed.map((entry) => entry.row));
}

function makeSortable(table) {
  for (const header of table.tHead.rows[0].cells) {
    if (header.dataset.sort === "none") continue;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...header.childNodes);
    button.addEventListener("click", () => sortTable(table, header));
    header.append(button);
  }
}

function makeFilter(table, tools) {
  const label = document.createElement("label");
  const field = document.createElement("input");
  const count = document.createElement("output");
  const rows = Array.from(table.tBodies[0].rows);
  const show = () => {
    const wanted = field.value.trim().toLowerCase();
    for (const row of rows) row.hidden = !words(row).toLowerCase().includes(wanted);
    const left = rows.filter((row) => !row.hidden).length;
    count.value = wanted ? `${left} of ${rows.length} rows` : `${rows.length} rows`;
  };
  field.type = "search";
  field.addEventListener("input", show);
  label.append("Filter ", field);
  tools.prepend(label, count);
  show();
}

function save(button) {
  // The mark of UTF-8 at the start, without which Excel garbles names.
  const text = "\ufeff" + button.nextElementSibling.content.textContent;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  link.download = button.dataset.name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
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

// Under the pointer, a figure says which feature or sample it is, and the values.
const tip = document.createElement("div");
tip.className = "tip";
tip.hidden = true;
document.body.append(tip);

function tell(event, text) {
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

const nameValues = (header, row) =>
  row.map((cell, place) => `${header[place]}: ${cell}`).join("\n");

function nameRow(header, rows, part, x) {
  const [low, high] = part.x;
  const count = part.log ? low * (high / low) ** x : low + x * (high - low);
  const row = rows[Math.round(count) - 1];
  return row ? nameValues(header, row) : "";
}

function namePixel(header, rows, [height, width], x, y) {
  return nameValues(header, rows[Math.floor(y * height) * width + Math.floor(x * width)]);
}

function namePart(part, header, rows, x, y) {
  if (part.text) return part.text;
  if (part.grid) return namePixel(header, rows, part.grid, x, y);
  return part.x ? nameRow(header, rows, part, x) : nameCell(header, rows, x, y);
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
      tell(event, namePart(part, header, rows, x, y));
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
    tell(event, point && point.dataset.title || "");
  });
  svg.addEventListener("pointerleave", () => { tip.hidden = true; });
}

// What scrolls sideways is within reach of the keyboard.
function makeReachable() {
  for (const box of document.querySelectorAll("figure .wide:not(.long)")) {
    const name = box.closest("figure").querySelector("figcaption");
    if (box.scrollWidth <= box.clientWidth) continue;
    box.tabIndex = 0;
    box.role = "region";
    box.ariaLabel = name ? words(name) : "Figure";
  }
}

makeReachable();
addEventListener("resize", makeReachable);
for (const svg of document.querySelectorAll("svg[data-hover]")) makeHover(svg);
for (const svg of document.querySelectorAll("svg:has(use > title)")) namePoints(svg);
for (const figure of document.querySelectorAll("figure[data-interactive]")) {
  const table = figure.querySelector("table");
  makeSortable(table);
  makeFilter(table, figure.querySelector(".tools"));
}
for (const button of document.querySelectorAll("button.download")) {
  button.hidden = false;
  button.addEventListener("click", () => save(button));
}
