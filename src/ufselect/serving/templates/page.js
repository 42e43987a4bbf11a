"use strict";
// One tab shows one run, whose name is in the address after #: a look at a table, a
// selection, or a comparison. Text from the server, names of columns above all, is only
// ever set as text.

const MILLISECONDS_BETWEEN_QUESTIONS = 300;
const MOST_ROWS = 200; // of the table of columns; a search finds the others
const FEW_COLUMNS = 30; // are all listed
// The field of the command that gives a column its role.
const ROLES = { feature: "use", label: "labels", "sample names": "id", group: "groups",
  "left out": "drop" };
// Choices after which the table has other columns, which have no roles yet.
const LAYOUT = ["sheet", "variable", "transpose", "header", "skip_rows", "delimiter"];
const COMPARED = ["AutoSelect", "SCFS", "LaplacianScore", "MCFS"];
const TITLES = { "ranking.csv": "Ranking of all features", "report.html": "Report",
  "clusters.csv": "Cluster of each sample" };
const at = (id) => document.getElementById(id);
const form = at("form");
let settings = null;
let chosen = null; // { blob, name, size } here, or { file, name, size } on the server
let sending = null; // an upload under way
let shown = ""; // the run that this tab follows
let current = null; // what is known of it
let seen = null; // the preview of the table
let roles = {}; // columns that the reader gave a role, by field
const plain = new Set(); // columns that are features without being told so
const special = new Set(); // columns that are listed first: no plain features
const touched = new Set(); // columns that stay listed where they are

// ---- Asking the server

async function ask(path, options) {
  let response;
  try {
    response = await fetch(`api/${path}`, options);
  } catch {
    throw new Error("the server does not answer; if it was ended, start ufselect serve "
      + "again and open its new address");
  }
  const content = await response.json().catch(() => ({}));
  if (response.ok) return content;
  const problem = content.problem || `the server refuses (${response.status})`;
  throw Object.assign(new Error(problem), { status: response.status });
}

function upload(table, onProgress) {
  return new Promise((resolve, reject) => {
    const request = sending = new XMLHttpRequest();
    request.open("POST", `api/files?name=${encodeURIComponent(table.name)}`);
    request.responseType = "json";
    request.upload.addEventListener("progress", (event) => onProgress(event.loaded));
    request.addEventListener("load", () => request.status === 201
      ? resolve(request.response)
      : reject(new Error(request.response?.problem || "the upload was refused")));
    request.addEventListener("error", () => reject(new Error(
      "the upload broke off; is the file still there, and the server running?")));
    request.addEventListener("abort", () => reject(new Error("")));
    request.send(table.blob);
  }).finally(() => { sending = null; });
}

async function send() {
  showRun(`Sending ${chosen.name}`);
  const total = chosen.size || 1;
  const stored = await upload(chosen, (loaded) => showProgress(
    { doing: "uploading", done: loaded, total }, ""));
  chosen.file = stored.file;
}

// Starts a command and returns its run; a file that made way for others is sent again.
async function begun(action, choices) {
  const post = () => ask("runs", { method: "POST",
    body: JSON.stringify({ file: chosen.file, action, choices }) });
  if (!chosen.file) await send();
  try {
    return await post();
  } catch (error) {
    if (error.status !== 404 || !chosen.blob) throw error;
    await send();
    return post();
  }
}

async function begin(action, choices) {
  setProblem("");
  try {
    location.hash = `run=${(await begun(action, choices)).run}`; // and so it is followed
  } catch (error) {
    showForm();
    setProblem(error.message);
  }
}

// ---- Words

function sizeInWords(size) {
  for (const unit of ["bytes", "kB", "MB"]) {
    if (size < 1000) return `${Number(size.toPrecision(3))} ${unit}`;
    size /= 1000;
  }
  return `${Number(size.toPrecision(3))} GB`;
}

function duration(seconds) {
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

// The name of the file stays as it is.
const sentence = (text) => (text.startsWith(chosen?.name) ? text
  : text.replace(/^[a-z](?=[a-z]*( |$))/, (letter) => letter.toUpperCase()))
  + (/[.?!]$/.test(text) ? "" : ".");
// A name may be a whole text; the files have all of it.
const brief = (name) => name.length > 80 ? `${name.slice(0, 79)}\u2026` : name;
const count = (number, thing) =>
  `${number.toLocaleString("en")} ${thing}${number === 1 ? "" : "s"}`;

function element(name, text, className = "") {
  const made = document.createElement(name);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

function button(text, onClick) {
  const made = element("button", text);
  made.type = "button";
  made.addEventListener("click", onClick);
  return made;
}

function setProblem(text, remedies = []) {
  at("problem").querySelector("p").textContent = text ? sentence(text) : "";
  at("problem").querySelector(".buttons").replaceChildren(
    ...remedies.map(({ label, choices }) => button(label, () => remedy(choices))));
  at("problem").hidden = !text;
}

const announce = (text) => { at("status").textContent = text; };

// ---- What is chosen: a file, how it is read, roles of columns, and what to do

function choose(blob) {
  setProblem("");
  const lower = blob.name.toLowerCase();
  if (!settings.endings.some((ending) => lower.endsWith(ending))) {
    setProblem(`${blob.name} has an unknown file extension; it must be one of ${
      settings.endings.join(", ")}`);
  } else if (blob.size > settings.max_upload) {
    setProblem(`${blob.name} is larger than ${settings.max_upload_in_words}; give it on `
      + "the command line (ufselect serve FILE), or allow more (--max-upload)");
  } else {
    chosen = { blob, name: blob.name, size: blob.size };
    form.reset();
    forget();
    begin("look", {});
  }
}

function forget() {
  [seen, roles] = [null, {}];
  for (const each of [plain, special, touched]) each.clear();
  at("find").value = "";
}

function choices() {
  const given = new FormData(form);
  const methods = given.getAll("method");
  const fields = Object.fromEntries(given);
  const action = fields.action;
  for (const name of ["action", "method", "na"]) delete fields[name];
  const na = form.elements.na.value.split(/\s+/).filter(Boolean);
  const method = action === "compare" ? { methods } : { method: methods[0] };
  return { action, choices: { ...roles, ...fields, ...method, na } };
}

// Puts choices of a run, or of a remedy, into the form.
function apply(given) {
  for (const [name, value] of Object.entries(given)) {
    if (Object.values(ROLES).includes(name)) roles[name] = value;
    else if (name === "na") form.elements.na.value = value.join(" ");
    else if (name !== "method" && name !== "methods") form.elements[name].value = value;
  }
}

// Adds the choices of a remedy to those that are there.
function remedy(more) {
  const running = current && current.action !== "look";
  const old = running ? { ...current.choices } : choices().choices;
  if (LAYOUT.some((name) => name in more)) {
    for (const field of Object.values(ROLES)) delete old[field];
    forget();
  }
  for (const [name, value] of Object.entries(more)) {
    old[name] = Array.isArray(value) ? [...new Set([...old[name] ?? [], ...value])] : value;
  }
  if (running) begin(current.action, old);
  else {
    apply(old);
    lookAgain();
  }
}

function setRole(name, role) {
  for (const [field, value] of Object.entries(roles)) {
    if (Array.isArray(value)) roles[field] = value.filter((each) => each !== name);
    else if (value === name) delete roles[field];
  }
  const field = ROLES[role];
  if (field === "drop" || (field === "use" && !plain.has(name))) {
    roles[field] = [...roles[field] ?? [], name];
  } else if (field !== "use") roles[field] = name;
  touched.add(name);
  lookAgain();
}

// Looks at the table with new choices, while the form stays as it is.
async function lookAgain() {
  announce("Reading the table again.");
  at("preview").ariaBusy = "true";
  try {
    // An answer to older choices is of no use.
    if (current?.state === "running") await ask(`runs/${current.run}`, { method: "DELETE" });
    const run = await begun("look", choices().choices);
    shown = run.run;
    history.replaceState(null, "", `#run=${run.run}`);
    follow(run.run);
  } catch (error) {
    setProblem(error.message);
  }
}

function setTask() {
  const comparing = form.elements.action.value === "compare";
  for (const input of form.elements.method) {
    const was = input.checked;
    input.type = comparing ? "checkbox" : "radio";
    input.checked = comparing ? was || COMPARED.includes(input.value)
      : input.value === "AutoSelect";
  }
  at("others").open = comparing;
  at("methods-legend").textContent = comparing ? "Methods" : "Method";
  at("start").textContent = comparing ? "Compare methods" : "Select features";
  for (const field of form.querySelectorAll(".selecting")) field.hidden = comparing;
}

function restore({ file, name, size, choices: given }) {
  if (chosen?.file !== file) {
    chosen = { file, name, size };
    forget();
  }
  form.reset();
  roles = {};
  form.elements.action.value = given.methods ? "compare" : "select";
  setTask();
  const methods = given.methods ?? [given.method ?? "AutoSelect"];
  for (const input of form.elements.method) input.checked = methods.includes(input.value);
  at("others").open = Boolean(given.methods) || methods[0] !== "AutoSelect";
  apply(given);
}

// ---- Following a run

function showOnly(part) {
  for (const id of ["form", "run", "result"]) at(id).hidden = id !== part;
  document.body.classList.toggle("reading", part === "result");
  if (part !== "result") at("frame").removeAttribute("src");
}

function showForm() {
  showOnly("form");
  at("intro").hidden = Boolean(chosen?.file);
  at("choices").hidden = !chosen?.file;
  if (!chosen) return;
  at("file-name").textContent = chosen.name;
  at("file-hint").textContent = `${sizeInWords(chosen.size)}; choose or drop another to replace it`;
  at("drop").classList.add("filled");
}

function showRun(heading) {
  showOnly("run");
  at("work").hidden = false;
  at("run").querySelector(".again").hidden = true;
  at("run-notes").replaceChildren();
  at("run-heading").textContent = heading;
  announce("");
  at("run-heading").focus();
}

function showProgress({ doing, done, total, seconds_left: left }, clock) {
  const bar = at("bar");
  if (total) [bar.max, bar.value] = [total, done];
  else bar.removeAttribute("value");
  const text = doing ? sentence(doing) : "Starting.";
  if (at("doing").textContent !== text) {
    at("doing").textContent = text;
    announce(text);
  }
  at("clock").textContent = clock + (left > 0.5 ? `, about ${duration(left)} left` : "");
}

async function follow(name) {
  shown = name;
  while (shown === name) {
    try {
      const run = await ask(`runs/${name}`);
      if (shown !== name) return;
      current = run;
      document.title = `${run.name}: ufselect`;
      if (run.state === "waiting" || run.state === "running") showWork(run);
      else return await conclude(run);
    } catch (error) {
      if (shown !== name) return;
      setProblem(error.message);
      if (error.status) return showForm();
    }
    await new Promise((done) => setTimeout(done, MILLISECONDS_BETWEEN_QUESTIONS));
  }
}

function showWork(run) {
  // A second look happens behind the form.
  if (run.action === "look" && seen) return;
  const doing = { look: "Reading", select: "Selecting from", compare: "Comparing methods on" };
  const heading = `${doing[run.action]} ${run.name}`;
  if (at("run").hidden || at("run-heading").textContent !== heading) showRun(heading);
  at("run-notes").replaceChildren(...run.notes.map((note) => element("li", note)));
  if (run.state === "waiting") {
    const before = run.ahead ? `, and ${run.ahead} before this one` : "";
    showProgress({ doing: `waiting for other runs to end${before}` }, duration(run.seconds));
  } else showProgress(run.progress, duration(run.seconds));
}

async function conclude(run) {
  if (run.action === "look") return showLook(run);
  restore(run);
  if (run.state === "done") return showResult(run);
  const heading = `${run.state === "failed" ? "Not done" : "Cancelled"}: ${run.name}`;
  showRun(heading);
  at("work").hidden = true;
  at("run").querySelector(".again").hidden = false;
  at("run-notes").replaceChildren(...run.notes.map((note) => element("li", note)));
  announce(heading);
  if (run.state === "failed") setProblem(run.problem, run.remedies);
}

async function cancel() {
  if (sending) {
    sending.abort();
    chosen = null;
    location.hash = "";
    route();
  } else if (shown) {
    await ask(`runs/${shown}`, { method: "DELETE" }).catch((error) =>
      setProblem(error.message));
  }
}

// ---- The preview of a table

async function showLook(run) {
  const first = !seen || chosen?.file !== run.file;
  if (first) restore(run);
  const found = run.state === "done" ? await ask(`runs/${run.run}/result`) : null;
  if (shown !== run.run) return;
  showForm();
  seen = found ?? seen;
  setProblem(run.problem || found?.problem || "", found?.remedies ?? run.remedies);
  at("preview").hidden = !seen;
  at("preview").ariaBusy = "false";
  if (!found) at("reading").open = true;
  else {
    const suspected = found.options.find((each) => each.startsWith("--labels="));
    if (first && suspected) roles.labels ??= suspected.slice("--labels=".length);
    showPreview(found);
  }
  announce(found ? `${at("preview-heading").textContent} ${at("problem").textContent}` : "");
  if (first && found && !found.problem) at("preview-heading").focus();
}

function showPreview(found) {
  const given = Object.values(roles).flat();
  for (const { name, role, why, n_missing: missing } of found.columns) {
    if (role === "feature" && !given.includes(name)) plain.add(name);
    if ((role !== "feature" || why || missing) && !touched.has(name)) special.add(name);
  }
  at("preview-heading").textContent = `${count(found.n_samples, "sample")}, ${
    count(found.n_features, "feature")}`;
  const missing = found.columns.reduce((sum, each) => sum + each.n_missing, 0);
  const gaps = found.columns.filter((each) => each.n_missing).length;
  const named = (role) => found.columns.filter((each) => each.role === role)
    .map((each) => brief(each.name)).slice(0, 5).join(", ");
  const facts = [
    `${count(found.n_rows, "row")} and ${count(found.n_columns, "column")} (${found.format})${
      found.transposed ? "; rows are features, so that the table is transposed" : ""}.`,
    missing ? `${count(missing, "missing value")} in ${count(gaps, "column")}.`
      : "No missing values.",
    found.scale,
    ...["label", "sample names", "group", "left out"].filter(named).map((role) =>
      `${sentence(role).slice(0, -1)}: ${named(role)}.`),
  ];
  at("facts").replaceChildren(...facts.filter(Boolean).map((text) => element("li", text)));
  at("notes").hidden = !found.notes.length;
  at("notes").querySelector("summary").textContent = count(found.notes.length, "note");
  at("notes").querySelector("ul").replaceChildren(
    ...found.notes.map((note) => element("li", note)));
  showColumns();
}

// Lists what is not a plain feature, and what is searched for; of small tables everything.
function showColumns() {
  const wanted = at("find").value.trim().toLowerCase();
  const all = seen.columns.length <= FEW_COLUMNS;
  const fits = (each) => wanted ? each.name.toLowerCase().includes(wanted)
    : all || touched.has(each.name) || special.has(each.name);
  const found = seen.columns.filter(fits).sort((one, other) =>
    special.has(other.name) - special.has(one.name));
  const rest = seen.n_features - seen.columns.filter((each) => each.role === "feature").length;
  if (wanted && rest > 0 && !found.length) found.push(undescribed(at("find").value));
  const listed = found.slice(0, MOST_ROWS);
  at("found").value = `${count(listed.length, "column")} of ${
    seen.columns.length.toLocaleString("en")}${wanted || all ? "" : " need attention"}${
    found.length > listed.length ? "; search for the others" : ""}${
    rest > 0 ? `; type the whole name of one of ${count(rest, "more feature")}` : ""}`;
  const body = at("columns").querySelector("tbody");
  const rows = Array.from(body.rows);
  // Rows that stay are filled anew, so that the focus stays where it is.
  if (rows.length !== listed.length || rows.some((row, place) =>
    row.dataset.name !== listed[place].name)) {
    const focused = document.activeElement.closest("#columns tr")?.dataset.name;
    body.replaceChildren(...listed.map(newRow));
    if (focused !== undefined) Array.from(body.rows).find((row) =>
      row.dataset.name === focused)?.querySelector("select").focus();
  }
  listed.forEach((column, place) => fillRow(body.rows[place], column));
}

// A column of which nothing is known but its name, and what the reader wants of it.
function undescribed(name) {
  const fields = Object.entries(roles).filter(([, value]) => [value].flat().includes(name));
  const role = Object.keys(ROLES).find((each) => ROLES[each] === fields[0]?.[0]) ?? "feature";
  if (role === "feature") plain.add(name);
  return { name, role, type: "", n_missing: 0, why: "" };
}

function newRow({ name }) {
  const row = document.createElement("tr");
  row.dataset.name = name;
  const select = document.createElement("select");
  select.ariaLabel = `role of ${brief(name)}`;
  select.append(...Object.keys(ROLES).map((role) => element("option", role)));
  select.addEventListener("change", () => setRole(name, select.value));
  const cell = document.createElement("td");
  cell.append(select);
  const header = element("th", brief(name));
  header.scope = "row";
  row.append(header, cell, ...["", "number", "number", "words", "words"].map((kind) =>
    element("td", "", kind)));
  return row;
}

function fillRow(row, column) {
  const { minimum, maximum, examples } = column;
  const values = minimum === null || minimum === undefined
    ? (examples ?? []).slice(0, 3).map((each) => brief(String(each))).join(", ")
    : `${shortNumber(minimum)} to ${shortNumber(maximum)}`;
  row.querySelector("select").value = column.role;
  [column.type, column.n_missing || "", column.n_distinct ?? "", values, column.why].forEach(
    (text, place) => { row.cells[place + 2].textContent = text; });
  row.classList.toggle("out", column.role === "left out");
}

const shortNumber = (value) => typeof value === "number"
  ? String(Number(value.toPrecision(4))) : String(value);

// ---- The report

function showResult(run) {
  showOnly("result");
  const comparing = run.action === "compare";
  const heading = `${run.name}: ${comparing ? "methods compared" : "selected features"}`;
  at("result-heading").textContent = heading;
  at("other").textContent = comparing ? "Select features" : "Compare methods";
  at("save").open = false;
  at("downloads").replaceChildren(...Object.entries(run.files).map(([name, suggested]) => {
    const link = element("a", TITLES[name] ?? "Selected table");
    link.append(element("span", suggested, "hint"));
    link.href = `api/runs/${run.run}/files/${encodeURIComponent(name)}`;
    link.download = suggested;
    return link;
  }));
  at("frame").src = at("report-tab").href = `api/runs/${run.run}/report`;
  announce(`Done. ${heading}.`);
  at("result-heading").focus();
}

// ---- Beginning

function route() {
  setProblem("");
  const name = /^#run=([\w-]+)$/.exec(location.hash)?.[1];
  if (name) follow(name);
  else {
    shown = "";
    current = null;
    showForm();
  }
}

function listen() {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const { action, choices: given } = choices();
    begin(action, given);
  });
  at("file").addEventListener("change", () => at("file").files[0] && choose(at("file").files[0]));
  at("find").addEventListener("input", showColumns);
  at("reading").addEventListener("change", (event) => {
    if (LAYOUT.includes(event.target.name)) forget();
    lookAgain();
  });
  form.addEventListener("keydown", (event) => {
    // Here Enter would start a run before the table is seen anew.
    if (event.key === "Enter" && event.target.matches("#find, #reading input")) {
      event.preventDefault();
      event.target.blur();
    }
  });
  for (const input of form.elements.action) input.addEventListener("change", setTask);
  at("cancel").addEventListener("click", cancel);
  for (const each of document.querySelectorAll(".again")) {
    each.addEventListener("click", () => {
      seen = null;
      begin("look", current.choices);
    });
  }
  at("other").addEventListener("click", () => {
    const { method, methods, ...rest } = current.choices;
    if (current.action === "compare") begin("select", rest);
    else begin("compare", { ...rest, methods: [...new Set([...COMPARED, ...(method ? [method] : [])])] });
  });
  window.addEventListener("hashchange", route);
  for (const kind of ["dragover", "dragleave", "drop"]) {
    window.addEventListener(kind, (event) => {
      event.preventDefault();
      at("drop").classList.toggle("over", kind === "dragover");
      if (kind === "drop" && !form.hidden && event.dataTransfer.files[0]) {
        choose(event.dataTransfer.files[0]);
      }
    });
  }
}

async function start() {
  settings = await ask("settings");
  chosen = settings.given;
  at("loading").hidden = true;
  setTask();
  listen();
  if (chosen && !location.hash) begin("look", {});
  else route();
}

start().catch((error) => setProblem(error.message));
