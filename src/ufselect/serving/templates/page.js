"use strict";
// One tab shows one run, whose name is in the address after #. Text from the server,
// names of columns above all, is only ever set as text.

const MILLISECONDS_BETWEEN_QUESTIONS = 400;
const at = (id) => document.getElementById(id);
const form = at("form");
let settings = null;
let chosen = null; // { blob, name, size } here, or { file, name, size } on the server
let sending = null; // an upload under way
let shown = ""; // the run that this tab follows

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

// Names of files, which have a full stop in them, stay as they are.
const sentence = (text) => text.replace(/^[a-z](?=[a-z]*( |$))/, (letter) => letter.toUpperCase())
  + (/[.?!]$/.test(text) ? "" : ".");

function setProblem(text) {
  at("problem").textContent = text ? sentence(text) : "";
  at("problem").hidden = !text;
}

function element(name, text, className = "") {
  const made = document.createElement(name);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

// ---- Choosing

function showChosen() {
  if (!chosen) return;
  at("file-name").textContent = chosen.name;
  at("file-hint").textContent = `${sizeInWords(chosen.size)}; choose or drop another to replace it`;
  at("drop").classList.add("filled");
}

function choose(blob) {
  setProblem("");
  const lower = blob.name.toLowerCase();
  if (!settings.endings.some((ending) => lower.endsWith(ending))) {
    setProblem(`${blob.name} has a name that promises no known format; give one of ${
      settings.endings.join(", ")}`);
  } else if (blob.size > settings.max_upload) {
    setProblem(`${blob.name} is larger than ${settings.max_upload_in_words}; give it on `
      + "the command line (ufselect serve FILE), or allow more (--max-upload)");
  } else {
    chosen = { blob, name: blob.name, size: blob.size };
    showChosen();
  }
}

function choices() {
  const given = Array.from(new FormData(form)).filter(([name]) => name);
  return Object.fromEntries(given.filter(([, value]) => value.trim()));
}

function restore(run) {
  for (const [name, value] of Object.entries(run.choices)) {
    if (form.elements[name]) form.elements[name].value = value;
  }
  if (!chosen?.blob) chosen = { file: run.file, name: run.name, size: run.size };
  describeMethod();
  showChosen();
}

function describeMethod() {
  at("method-hint").textContent = at("method").selectedOptions[0].dataset.hint;
}

// ---- Running

async function start(event) {
  event.preventDefault();
  setProblem("");
  if (!chosen) {
    setProblem("choose a table first");
    at("file").focus();
    return;
  }
  const button = form.querySelector(".primary");
  button.disabled = true;
  try {
    const run = await begun().catch((error) => {
      if (error.status !== 404 || !chosen.blob) throw error;
      chosen.file = ""; // It made way for others, and is sent again.
      return begun();
    });
    location.hash = `run=${run.run}`; // and so it is followed
  } catch (error) {
    showForm();
    setProblem(error.message);
  } finally {
    button.disabled = false;
  }
}

async function begun() {
  if (!chosen.file) await send();
  return ask("runs", { method: "POST",
    body: JSON.stringify({ file: chosen.file, choices: choices() }) });
}

async function send() {
  showRun(`Sending ${chosen.name}`);
  const total = chosen.size || 1;
  const stored = await upload(chosen, (loaded) => showProgress(
    { doing: "uploading", done: loaded, total }, ""));
  chosen.file = stored.file;
}

function showForm() {
  shown = "";
  at("run").hidden = true;
  at("frame").removeAttribute("src");
  form.hidden = false;
}

function showRun(heading) {
  for (const id of ["done", "notes", "repeat", "report"]) at(id).hidden = true;
  form.hidden = true;
  at("work").hidden = at("run").hidden = false;
  at("again").parentElement.hidden = true;
  at("run-heading").textContent = heading;
  at("status").textContent = "";
  at("run-heading").focus();
}

function showProgress({ doing, done, total, seconds_left: left }, clock) {
  const bar = at("bar");
  if (total) [bar.max, bar.value] = [total, done];
  else bar.removeAttribute("value");
  const text = doing ? sentence(doing) : "Starting.";
  if (at("doing").textContent !== text) {
    at("doing").textContent = at("status").textContent = text;
  }
  at("clock").textContent = clock + (left > 0.5 ? `, about ${duration(left)} left` : "");
}

async function follow(name) {
  shown = name;
  setProblem("");
  showRun("Selecting");
  while (shown === name) {
    try {
      const run = await ask(`runs/${name}`);
      if (shown !== name) return;
      setProblem("");
      if (showState(run)) return;
    } catch (error) {
      if (shown !== name) return;
      setProblem(error.message);
      if (error.status) {
        showForm();
        return;
      }
    }
    await new Promise((done) => setTimeout(done, MILLISECONDS_BETWEEN_QUESTIONS));
  }
}

function showState(run) {
  const heading = `Selecting from ${run.name}`;
  if (at("run-heading").textContent !== heading) at("run-heading").textContent = heading;
  document.title = `${run.name}: ufselect`;
  showNotes(run.notes);
  if (run.state === "waiting") {
    const before = run.ahead ? `, and ${run.ahead} before this one` : "";
    showProgress({ doing: `waiting for other runs to end${before}` }, duration(run.seconds));
  } else if (run.state === "running") {
    const { doing, total } = run.progress;
    showProgress({ ...run.progress, doing: total ? `for the report: ${doing}` : doing },
      duration(run.seconds));
  } else {
    conclude(run);
    return true;
  }
  return false;
}

function conclude(run) {
  at("work").hidden = true;
  at("again").parentElement.hidden = false;
  restore(run);
  if (run.state === "done") showResult(run).catch((error) => setProblem(error.message));
  if (run.state === "failed") setProblem(run.problem);
  if (run.state === "cancelled") at("run-heading").textContent = `Cancelled: ${run.name}`;
  if (run.state === "failed") at("run-heading").textContent = `Not done: ${run.name}`;
  if (run.state !== "done") at("status").textContent = at("run-heading").textContent;
}

async function cancel() {
  if (sending) {
    sending.abort();
    showForm();
  } else if (shown) {
    await ask(`runs/${shown}`, { method: "DELETE" }).catch((error) =>
      setProblem(error.message));
  }
}

// ---- Showing what was found

function showNotes(notes) {
  const list = at("notes").querySelector("ul");
  if (list.children.length !== notes.length) {
    list.replaceChildren(...notes.map((note) => element("li", note)));
  }
  at("notes").hidden = !notes.length;
}

async function showResult(run) {
  const found = await ask(`runs/${run.run}/result`);
  if (shown !== run.run) return;
  at("run-heading").textContent = `${found.n_selected} features of ${run.name}`;
  at("summary").textContent = [`${found.chosen_by} chose ${found.n_selected} of ${
    found.n_features} features of ${found.n_samples} samples in ${duration(run.seconds)
  }, without looking at any label.`, ...found.reasons].join(" ");
  showDecision(found.decision);
  showFeatures(found.features);
  showDownloads(run);
  at("command").textContent = found.command;
  const report = `api/runs/${run.run}/report`;
  at("frame").src = at("report-tab").href = report;
  for (const id of ["done", "repeat", "report"]) at(id).hidden = false;
  at("status").textContent = `Done. ${at("run-heading").textContent}.`;
}

function showDecision({ level, headline, reasons, next_steps: steps }) {
  const because = reasons.length ? [`Because ${reasons.join("; ")}.`] : [];
  at("verdict").className = `verdict ${level}`;
  at("verdict").querySelector("strong").textContent = headline;
  at("verdict").querySelector("p").textContent = [...because, ...steps].join(" ");
}

function showFeatures(features) {
  const stand = features.some((each) => each.stands_for?.length);
  const titles = ["rank", "feature", "score", "explained", ...(stand ? ["stands for"] : [])];
  const table = document.createElement("table");
  const numbers = [0, 2, 3];
  const kind = (place) => numbers.includes(place) ? "number" : place === 4 ? "words" : "";
  const head = table.createTHead().insertRow();
  for (const [place, title] of titles.entries()) {
    const cell = element("th", title, kind(place));
    cell.scope = "col";
    head.append(cell);
  }
  const body = table.createTBody();
  for (const each of features) {
    const others = each.stands_for ?? [];
    const words = others.slice(0, 3).map(brief).join(", ")
      + (others.length > 3 ? ` and ${others.length - 3} more` : "");
    const row = body.insertRow();
    const cells = [each.rank, brief(each.feature), shortNumber(each.score),
      percent(each.explained), ...(stand ? [words] : [])];
    for (const [place, text] of cells.entries()) {
      row.append(element("td", text, kind(place)));
    }
  }
  at("features").replaceChildren(table);
}

// A name may be a whole text; the files have all of it.
const brief = (name) => name.length > 100 ? `${name.slice(0, 99)}\u2026` : name;
const shortNumber = (value) => value === null ? "" : String(Number(value.toPrecision(4)));
const percent = (value) => value === null ? "" : `${Math.round(100 * value)} %`;

function showDownloads(run) {
  const titles = { "ranking.csv": "Ranking of all features", "report.html": "Report" };
  const links = Object.entries(run.files).map(([name, suggested]) => {
    const link = element("a", `${titles[name] ?? "Selected table"}: ${suggested}`);
    link.href = `api/runs/${run.run}/files/${encodeURIComponent(name)}`;
    link.download = suggested;
    return link;
  });
  at("downloads").replaceChildren(...links);
}

// ---- Beginning

function route() {
  const name = /^#run=([\w-]+)$/.exec(location.hash)?.[1];
  if (name) follow(name);
  else {
    setProblem("");
    showForm();
  }
}

function listen() {
  form.addEventListener("submit", start);
  at("file").addEventListener("change", () => at("file").files[0] && choose(at("file").files[0]));
  at("method").addEventListener("change", describeMethod);
  at("cancel").addEventListener("click", cancel);
  at("again").addEventListener("click", () => { location.hash = ""; });
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

async function begin() {
  settings = await ask("settings");
  chosen = settings.given;
  at("loading").hidden = true;
  describeMethod();
  showChosen();
  listen();
  route();
}

begin().catch((error) => setProblem(error.message));
