"""What a page does: tables that sort and filter, data that can be saved.

Without the script the page is complete; only what the script adds is missing.
"""

import base64
import hashlib

SCRIPT = """
"use strict";
const words = (cell) => cell.textContent.trim();
const number = (text) => parseFloat(text.replace(/\\u2212/g, "-").replace(/,/g, ""));
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
  const text = "\\ufeff" + button.nextElementSibling.content.textContent;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  link.download = button.dataset.name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

for (const figure of document.querySelectorAll("figure[data-interactive]")) {
  const table = figure.querySelector("table");
  makeSortable(table);
  makeFilter(table, figure.querySelector(".tools"));
}
for (const button of document.querySelectorAll("button.download")) {
  button.hidden = false;
  button.addEventListener("click", () => save(button));
}
"""


def content_security_policy() -> str:
    """Return the policy of a page: no network, and no script but ours.

    Should markup ever slip through, a browser would neither run nor fetch it.

    Examples
    --------
    >>> content_security_policy().split(";")[0]
    "default-src 'none'"
    """
    digest = hashlib.sha256(SCRIPT.encode()).digest()
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src 'sha256-{base64.b64encode(digest).decode()}'",
            "style-src 'unsafe-inline'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
