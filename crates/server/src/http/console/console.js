// The GraphQL console. It sends requests to this server only.

import { completions, operationAt, prettify, typeText } from "./document.js";
import { SchemaPanel, roots, types } from "./schema.js";
import { Session, SessionProblem } from "./session.js";

const HISTORY_MAX = 50;
const EVENTS_MAX = 200;
/** The server's reason to close a connection whose token has expired. */
const CLOSED_EXPIRED = 4403;
const SAMPLES = `# "Run" sends the operation at the cursor.
query Popular {
  listPopularPosts(limit: 5) {
    items { content author { nickname } likeCount commentCount }
  }
}

# Your home feed: choose "Sign in" first.
query Feed {
  getFeed(limit: 10) {
    items { activity { verb previewText } }
  }
}

# A token for a program. \`roundtable demo\` has this account.
mutation Login {
  login(email: "wren@example.com", password: "wren at the table") {
    accessToken
  }
}
`;

const element = (id) => document.getElementById(id);
const query = element("query"), result = element("result"), status = element("status"), suggestions = element("offers");
const fields = { variables: element("variables"), headers: element("headers") };
const isNarrow = () => matchMedia("(max-width: 800px)").matches;

const storage = {
  get: (key, other) => {
    try {
      return JSON.parse(localStorage.getItem(`roundtable.${key}`)) ?? other;
    } catch {
      return other;
    }
  },
  set: (key, value) => {
    try {
      localStorage.setItem(`roundtable.${key}`, JSON.stringify(value));
    } catch {
      // The storage is full: only the next visit misses it.
    }
  },
};
const address = new URL("graphql", location.href);
const session = new Session(address, localStorage, navigator.locks);

// Requests

/** A mistake in a field. */
class FieldProblem extends Error {}

/** Reads a field with a JSON object. */
function parsed(name) {
  const text = fields[name].value.trim();
  let value;
  try {
    value = text ? JSON.parse(text) : {};
  } catch (error) {
    throw new FieldProblem(`The ${name} are not valid JSON: ${error.message}`);
  }
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    throw new FieldProblem(`The ${name} must be a JSON object, such as ${fields[name].placeholder}`);
  }
  const odd = Object.entries(value).find(([, each]) => typeof each !== "string");
  if (name === "headers" && odd) throw new FieldProblem(`The header ${odd[0]} must be a string.`);
  return value;
}

/** Counts runs: the answer of an earlier one comes too late to be shown. */
let runs = 0;

async function run() {
  stop();
  explain();
  const own = (runs += 1);
  try {
    const operation = operationAt(query.value, query.selectionStart);
    const body = { query: query.value, variables: parsed("variables"), operationName: operation?.name };
    const headers = parsed("headers");
    remember();
    if (operation?.kind === "subscription") return await subscribe(body, headers);
    status.textContent = "running…";
    if (element("xray").checked) headers["x-roundtable-xray"] = "1";
    const start = performance.now();
    const { status: code, answer } = await session.request(body, headers);
    if (own !== runs) return;
    show(answer);
    const parts = [`${Math.round(performance.now() - start)} ms`];
    if (code !== 200) parts.unshift(`status ${code}`);
    if (element("xray").checked && !answer.extensions?.xray) parts.push("no cost: the server has graphql.xray = false");
    status.textContent = parts.join(", ");
    if (isNarrow()) result.parentElement.scrollIntoView({ behavior: "smooth" });
  } catch (problem) {
    if (own !== runs) return;
    status.textContent = "";
    explain(problem);
    if (problem instanceof SessionProblem) await showUser();
  }
}

/** Shows a problem above the panels, or none. */
function explain(problem) {
  element("problem").hidden = !problem;
  element("problem").textContent = problem?.message ?? "";
  if (problem && !(problem instanceof SessionProblem || problem instanceof FieldProblem)) throw problem;
}

// Subscriptions

let socket = null;

async function subscribe(body, headers, events = []) {
  status.textContent = "connecting…";
  const own = runs, payload = await session.connectionPayload(headers);
  if (own !== runs) return;
  const url = new URL(address);
  url.protocol = url.protocol.replace("http", "ws");
  const mine = (socket = new WebSocket(url, "graphql-transport-ws"));
  let isAccepted = false;
  element("stop").hidden = false;
  const send = (message) => mine.send(JSON.stringify(message));
  const count = () => (status.textContent = `subscribed, ${events.length} events`);
  mine.onopen = () => send({ type: "connection_init", payload });
  mine.onmessage = ({ data }) => {
    const message = JSON.parse(data);
    if (message.type === "ping") send({ type: "pong" });
    if (message.type === "connection_ack") {
      isAccepted = true;
      send({ type: "subscribe", id: "1", payload: body });
      count();
    } else if (message.type === "next") {
      events.unshift({ at: new Date().toISOString(), ...message.payload });
      events.length = Math.min(events.length, EVENTS_MAX);
      count();
      show(events);
    } else if (message.type === "error") {
      stop();
      show({ errors: message.payload });
    } else if (message.type === "complete") {
      stop();
      status.textContent = "the subscription has ended";
    }
  };
  mine.onclose = async ({ code, reason }) => {
    if (socket !== mine) return;
    stop();
    // A connection lives as long as its token: the next one has a new token.
    if (code === CLOSED_EXPIRED && isAccepted) return subscribe(body, headers, events).catch(explain);
    status.textContent = code === 1006 ? "the connection was lost" : `closed: ${reason || "no reason given"} (${code})`;
    if (code === CLOSED_EXPIRED) await showUser();
  };
}

function stop() {
  element("stop").hidden = true;
  status.textContent = "";
  runs += 1;
  const old = socket;
  socket = null;
  old?.close(1000);
}

// The response

function show(value) {
  const text = JSON.stringify(value, null, 2);
  const pieces = [];
  const found = /("(?:\\.|[^"\\])*")(\s*:)?|(-?\d[\d.eE+-]*|true|false|null)/g;
  // The keys of a response are one level deeper in a list of events.
  const keyIndent = Array.isArray(value) ? "    " : "  ";
  let last = 0, isInErrors = false, isMessage = false;
  for (const match of text.matchAll(found)) {
    const before = text.slice(last, match.index);
    if (match[2]) {
      if (before.endsWith(`\n${keyIndent}`)) isInErrors = match[1] === '"errors"';
      isMessage = isInErrors && match[1] === '"message"';
    }
    const span = document.createElement("span");
    span.className = match[2] ? "key" : match[3] ? "plain" : isMessage ? "bad" : "text";
    span.textContent = match[1] ?? match[3];
    pieces.push(before, span, match[2] ?? "");
    last = match.index + match[0].length;
  }
  result.replaceChildren(...pieces, text.slice(last));
}

// History

let history = storage.get("history", []);

function remember() {
  keepFields();
  const entry = { query: query.value, variables: fields.variables.value };
  history = [entry, ...history.filter((old) => old.query !== entry.query)].slice(0, HISTORY_MAX);
  storage.set("history", history);
  showHistory();
}

function showHistory() {
  const samples = { query: SAMPLES, variables: "", title: "The three samples" };
  element("history").querySelector("ol").replaceChildren(...[...history, samples].map((entry) => {
    const item = document.createElement("li"), button = document.createElement("button");
    button.textContent = entry.title ?? entry.query.trim();
    button.onclick = () => {
      query.value = entry.query;
      fields.variables.value = entry.variables;
      query.setSelectionRange(0, 0);
      query.focus();
      changed();
    };
    item.append(button);
    return item;
  }));
}

/** Headers may hold secrets, and are kept as long as the tab. */
function keepFields() {
  storage.set("query", query.value);
  storage.set("variables", fields.variables.value);
  sessionStorage.setItem("roundtable.headers", fields.headers.value);
}

// The editor

function complete() {
  const { word, all, after = "" } = completions(query.value.slice(0, query.selectionStart), types, roots);
  const matching = all.filter((each) => each.name.toLowerCase().startsWith(word.toLowerCase())).slice(0, 60);
  suggestions.hidden = !matching.length;
  suggestions.replaceChildren(...matching.map((each, index) => {
    const item = document.createElement("li"), kind = document.createElement("small");
    item.textContent = each.name;
    kind.textContent = each.type ? typeText(each.type) : "";
    item.append(kind);
    item.ariaSelected = String(index === 0);
    item.insert = () => insert(each.name + after, word);
    item.onmousedown = (event) => {
      event.preventDefault();
      item.insert();
    };
    return item;
  }));
  const { lineHeight, fontSize } = getComputedStyle(query);
  const lines = query.value.slice(0, query.selectionStart).split("\n");
  suggestions.style.top = `${Math.max(0, lines.length * parseFloat(lineHeight) + 14 - query.scrollTop)}px`;
  const left = lines.at(-1).length * parseFloat(fontSize) * 0.6 + 12;
  suggestions.style.left = `${Math.max(0, Math.min(left, query.clientWidth - 270))}px`;
}

function insert(text, word) {
  const end = query.selectionStart;
  query.setRangeText(text, end - word.length, end, "end");
  suggestions.hidden = true;
  query.focus();
  changed();
}

function choose(step) {
  const all = [...suggestions.children], now = all.findIndex((item) => item.ariaSelected === "true");
  const next = all[(now + step + all.length) % all.length];
  all[now].ariaSelected = "false";
  next.ariaSelected = "true";
  next.scrollIntoView({ block: "nearest" });
}

/** Handles a key while suggestions are shown. */
function suggestionKey(key) {
  const chosen = [...suggestions.children].find((item) => item.ariaSelected === "true");
  const hide = () => (suggestions.hidden = true);
  const insertChosen = chosen?.insert;
  const acts = { ArrowDown: () => choose(1), ArrowUp: () => choose(-1), Escape: hide, Enter: insertChosen, Tab: insertChosen };
  acts[key]?.();
  return key in acts;
}

query.addEventListener("keydown", (event) => {
  const command = event.ctrlKey || event.metaKey;
  if (!suggestions.hidden && !command && suggestionKey(event.key)) return event.preventDefault();
  if (event.ctrlKey && event.key === " ") {
    event.preventDefault();
    complete();
  } else if (event.key === "Enter" && !command) {
    const line = query.value.slice(0, query.selectionStart).split("\n").at(-1);
    const indent = /^\s*/.exec(line)[0] + (line.trimEnd().endsWith("{") ? "  " : "");
    event.preventDefault();
    query.setRangeText(`\n${indent}`, query.selectionStart, query.selectionEnd, "end");
    changed();
  }
});
query.addEventListener("input", () => {
  changed();
  if (!suggestions.hidden) complete();
});
query.addEventListener("blur", () => (suggestions.hidden = true));
document.addEventListener("selectionchange", nameRun);

function changed() {
  keepFields();
  nameRun();
}

/** The button says which of several operations it runs. */
function nameRun() {
  const operation = operationAt(query.value, query.selectionStart);
  element("run").textContent = operation?.name ? `Run ${operation.name}` : "Run";
}

function layOut() {
  query.value = prettify(query.value);
  for (const field of Object.values(fields)) {
    try {
      if (field.value.trim()) field.value = JSON.stringify(JSON.parse(field.value), null, 2);
    } catch {
      // Running it reports the mistake.
    }
  }
  query.setSelectionRange(0, 0);
  changed();
}

// Sign-in

let user;

async function showUser() {
  try {
    user = session.isSignedIn ? await session.nickname() : undefined;
  } catch (problem) {
    user = undefined;
    explain(problem);
  } finally {
    element("sign").textContent = user ?? "Sign in";
  }
}

element("sign").onclick = () => {
  element("who").textContent = user ? `Signed in as ${user}` : "Sign in";
  element("leave").hidden = !session.isSignedIn;
  element("wrong").textContent = "";
  element("door").showModal();
};
element("door").querySelector("form").onsubmit = async (event) => {
  const choice = event.submitter?.value;
  if (choice === "cancel") return;
  event.preventDefault();
  const token = element("token").value.trim();
  try {
    if (choice === "leave") await session.signOut();
    else if (token) await session.signInWith(token);
    else await session.signIn(element("email").value, element("password").value);
  } catch (problem) {
    element("wrong").textContent = problem.message;
    return;
  }
  element("password").value = element("token").value = "";
  element("door").close();
  explain();
  showUser();
};
// Another tab has signed in or out, or renewed the token.
addEventListener("storage", ({ key }) => key === "roundtable.session" && showUser());

// Panels and buttons

function toggle(id) {
  element(id).hidden = !element(id).hidden;
  storage.set(`${id}.open`, !element(id).hidden);
  if (isNarrow() && !element(id).hidden) element(id).scrollIntoView({ behavior: "smooth" });
}

function openTab(name) {
  for (const tab of document.querySelectorAll("[data-tab]")) {
    tab.ariaPressed = String(tab.dataset.tab === name);
    fields[tab.dataset.tab].hidden = tab.dataset.tab !== name;
  }
}

query.value = storage.get("query", SAMPLES);
fields.variables.value = storage.get("variables", "");
fields.headers.value = sessionStorage.getItem("roundtable.headers") ?? "";
query.setSelectionRange(0, 0);
element("xray").checked = storage.get("xray", false);
element("xray").onchange = () => storage.set("xray", element("xray").checked);
for (const field of Object.values(fields)) field.addEventListener("input", keepFields);
for (const tab of document.querySelectorAll("[data-tab]")) tab.onclick = () => openTab(tab.dataset.tab);
openTab("variables");
element("run").onclick = run;
element("stop").onclick = stop;
element("prettify").onclick = layOut;
element("show-docs").onclick = () => toggle("docs");
element("show-history").onclick = () => toggle("history");
element("forget").onclick = () => {
  storage.set("history", (history = []));
  showHistory();
};
document.addEventListener("keydown", (event) => {
  const command = event.ctrlKey || event.metaKey;
  const act = event.key === "Enter" ? run : event.shiftKey && event.key.toLowerCase() === "f" ? layOut : null;
  if (!command || !act) return;
  event.preventDefault();
  act();
});
element("docs").hidden = !storage.get("docs.open", !isNarrow());
element("history").hidden = !storage.get("history.open", false);
nameRun();
showHistory();
showUser();
const panel = new SchemaPanel(element("page"), element("find"));
// Without the session: an expired token must not hide the schema.
const anonymous = new Session(address, { getItem: () => null });
const loading = panel.load((body) => anonymous.request(body));
loading.catch(({ message }) => panel.explain(`The schema cannot be shown: ${message}`));
