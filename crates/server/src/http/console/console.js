// The GraphQL console. It sends requests to this server only.
"use strict";

const element = (id) => document.getElementById(id);
const query = element("query"), variables = element("variables"), result = element("result"), suggestions = element("offers");
const storage = {
  get: (key, other) => { try { return JSON.parse(localStorage.getItem("roundtable." + key)) ?? other; } catch { return other; } },
  set: (key, value) => { try { localStorage.setItem("roundtable." + key, JSON.stringify(value)); } catch { /* full */ } },
};
const HISTORY_MAX = 50;
const WELCOME = `# Ctrl+Enter runs the operation, Ctrl+Space completes a name, Docs describes the API.
{
  __schema {
    queryType { fields { name description } }
  }
}
`;

query.value = storage.get("query", WELCOME);
variables.value = storage.get("variables", "");
element("xray").checked = storage.get("xray", false);

// Requests

let token = storage.get("token", "");
const address = new URL("graphql", location.href);

async function request(body, extra = {}) {
  const headers = { "content-type": "application/json", ...extra };
  if (token) headers.authorization = "Bearer " + token;
  const response = await fetch(address, { method: "POST", headers, body: JSON.stringify(body) });
  const text = await response.text();
  try { return JSON.parse(text); } catch { return { errors: [{ message: `${response.status} ${response.statusText}` }] }; }
}

function parsedVariables() {
  const text = variables.value.trim();
  return text ? JSON.parse(text) : {};
}

/// Returns the operation at the cursor, in a document with several.
function operationAt(text, position) {
  const all = [...text.matchAll(/^\s*(query|mutation|subscription)\s+(\w+)/gm)];
  const before = all.filter((found) => found.index <= position);
  const operation = before.at(-1) ?? all[0];
  return operation && { kind: operation[1], name: operation[2] };
}

async function run() {
  stop();
  let body;
  try {
    body = { query: query.value, variables: parsedVariables() };
  } catch (error) {
    return show({ errors: [{ message: "the variables are not valid JSON: " + error.message }] });
  }
  const operation = operationAt(query.value, query.selectionStart);
  if (operation) body.operationName = operation.name;
  remember();
  if (operation?.kind === "subscription" || /^\s*(#.*\n\s*)*subscription\b/.test(query.value)) return subscribe(body);
  const start = performance.now();
  element("status").textContent = "running…";
  try {
    show(await request(body, element("xray").checked ? { "x-roundtable-xray": "1" } : {}));
    element("status").textContent = `${Math.round(performance.now() - start)} ms`;
  } catch {
    element("status").textContent = "the server cannot be reached";
  }
}

// Subscriptions

let socket = null;

function subscribe(body) {
  const events = [];
  const url = new URL(address);
  url.protocol = url.protocol.replace("http", "ws");
  const mine = socket = new WebSocket(url, "graphql-transport-ws");
  element("stop").hidden = false;
  element("status").textContent = "connecting…";
  const send = (message) => mine.send(JSON.stringify(message));
  mine.onopen = () => send({ type: "connection_init", payload: token ? { authorization: "Bearer " + token } : {} });
  mine.onmessage = ({ data }) => {
    const message = JSON.parse(data);
    if (message.type === "connection_ack") {
      element("status").textContent = "subscribed…";
      send({ type: "subscribe", id: "1", payload: body });
    } else if (message.type === "ping") {
      send({ type: "pong" });
    } else if (message.type === "next") {
      events.unshift({ at: new Date().toISOString(), ...message.payload });
      events.length = Math.min(events.length, 200);
      element("status").textContent = `subscribed… ${events.length} events`;
      show(events);
    } else if (message.type === "error") {
      show({ errors: message.payload });
      stop();
    } else if (message.type === "complete") {
      stop();
    }
  };
  mine.onclose = ({ code, reason }) => {
    if (socket !== mine) return;
    stop();
    element("status").textContent = reason ? `closed: ${reason} (${code})` : `closed (${code})`;
  };
}

function stop() {
  element("stop").hidden = true;
  element("status").textContent = "";
  const old = socket;
  socket = null;
  old?.close(1000);
}

// The response

function show(value) {
  const text = JSON.stringify(value, null, 2);
  result.replaceChildren();
  const tokens = /("(?:\\.|[^"\\])*")(\s*:)?|(-?\d[\d.eE+-]*|true|false|null)/g;
  let last = 0, inErrors = false;
  for (const found of text.matchAll(tokens)) {
    result.append(text.slice(last, found.index));
    const span = document.createElement("span");
    if (found[2]) inErrors = found[1] === '"message"';
    span.className = found[2] ? "key" : found[3] ? "plain" : inErrors ? "bad" : "text";
    span.textContent = found[1] ?? found[3];
    result.append(span, found[2] ?? "");
    last = found.index + found[0].length;
  }
  result.append(text.slice(last));
}

function prettify() {
  let depth = 0;
  const lines = [];
  const text = query.value.replace(/\r/g, "");
  let line = "", round = 0;
  const flush = () => { if (line.trim()) lines.push("  ".repeat(Math.max(depth, 0)) + line.trim()); line = ""; };
  for (const part of text.match(/#[^\n]*|"""[\s\S]*?"""|"(?:\\.|[^"\\])*"|[{}()]|\n|[^#"{}()\n]+/g) ?? []) {
    if (part === "(") { round++; line = line.replace(/\s+$/, "") + part; }
    else if (part === ")") { round--; line = line.replace(/[\s,]+$/, "") + part; }
    else if (round) line += part.replace(/\s+/g, " ");
    else if (part === "{") { line = line.replace(/\s*$/, " {"); flush(); depth++; }
    else if (part === "}") { flush(); depth--; line = "}"; flush(); if (!depth) lines.push(""); }
    else if (part === "\n") flush();
    else if (part.startsWith("#")) { flush(); line = part; flush(); }
    else if (depth && !line.trim()) for (const field of fields(part)) { flush(); line = field; }
    else line += part.replace(/\s+/g, " ");
  }
  flush();
  query.value = lines.join("\n").trimEnd() + "\n";
  try { if (variables.value.trim()) variables.value = JSON.stringify(JSON.parse(variables.value), null, 2); } catch { /* as it is */ }
}

/// Splits a run of words into fields. An alias stays with its field, a spread and a directive stay whole.
function fields(text) {
  return text.replace(/:\s+/g, ":").replace(/\.\.\.\s+on\s+/g, "...on\u0001").replace(/,/g, " ").trim().split(/\s+/)
    .reduce((all, word) => (word.startsWith("@") && all.length ? [...all.slice(0, -1), all.at(-1) + " " + word] : [...all, word]), [])
    .map((word) => word.replace(/:(?=\S)/, ": ").replace("...on\u0001", "... on "));
}

// History

let history = storage.get("history", []);

function remember() {
  storage.set("query", query.value);
  storage.set("variables", variables.value);
  const entry = { query: query.value, variables: variables.value };
  history = [entry, ...history.filter((old) => old.query !== entry.query)].slice(0, HISTORY_MAX);
  storage.set("history", history);
  showHistory();
}

function showHistory() {
  const list = element("history").querySelector("ol");
  list.replaceChildren(...history.map((entry) => {
    const item = document.createElement("li");
    item.textContent = entry.query.trim();
    item.onclick = () => { query.value = entry.query; variables.value = entry.variables; query.focus(); };
    return item;
  }));
}

// The schema

const types = new Map();
let roots = {};
const INTROSPECTION = `query { __schema { queryType { name } mutationType { name } subscriptionType { name }
  types { kind name description enumValues { name description } possibleTypes { name }
    inputFields { name description defaultValue type { ...T } }
    fields { name description type { ...T } args { name description defaultValue type { ...T } } } } } }
  fragment T on __Type { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } } }`;

async function loadSchema() {
  const response = await request({ query: INTROSPECTION }).catch(() => ({}));
  const schema = response.data?.__schema;
  if (!schema) return element("page").replaceChildren("The schema cannot be shown: introspection is off, or the server cannot be reached.");
  schema.types.forEach((type) => types.set(type.name, type));
  roots = { query: schema.queryType?.name, mutation: schema.mutationType?.name, subscription: schema.subscriptionType?.name };
  home();
}

const typeText = (type) => type.kind === "NON_NULL" ? typeText(type.ofType) + "!" : type.kind === "LIST" ? `[${typeText(type.ofType)}]` : type.name;
const typeName = (type) => (type.ofType ? typeName(type.ofType) : type.name);

function link(type) {
  const a = document.createElement("a");
  a.textContent = typeText(type);
  a.onclick = () => open(typeName(type));
  return a;
}

function entry(field, of) {
  const term = document.createElement("dt"), text = document.createElement("dd");
  const name = document.createElement("b");
  name.textContent = of ? `${of}.${field.name}` : field.name;
  term.append(name);
  if (field.args?.length) {
    term.append("(");
    field.args.forEach((arg, index) => term.append(index ? ", " : "", arg.name + ": ", link(arg.type), arg.defaultValue ? " = " + arg.defaultValue : ""));
    term.append(")");
  }
  if (field.type) term.append(": ", link(field.type));
  text.textContent = field.description ?? "";
  return [term, text];
}

function page(...parts) { element("page").replaceChildren(...parts); element("docs").scrollTop = 0; }

function title(text, description) {
  const h = document.createElement("h3"), p = document.createElement("p");
  h.textContent = text;
  p.textContent = description ?? "";
  return [h, p];
}

function home() {
  const parts = [];
  for (const [kind, name] of Object.entries(roots)) {
    const type = types.get(name);
    if (!type) continue;
    const list = document.createElement("dl");
    list.append(...type.fields.flatMap((field) => entry(field)));
    parts.push(...title(kind, type.description), list);
  }
  page(...parts);
}

function open(name) {
  const type = types.get(name);
  if (!type) return;
  const back = document.createElement("a"), list = document.createElement("dl");
  back.textContent = "← everything";
  back.onclick = home;
  for (const field of [...(type.fields ?? []), ...(type.inputFields ?? []), ...(type.enumValues ?? [])]) list.append(...entry(field));
  const members = (type.possibleTypes ?? []).flatMap((member) => entry({ name: "", type: { name: member.name } }));
  list.append(...members);
  page(back, ...title(`${type.kind.toLowerCase().replace("_", " ")} ${name}`, type.description), list);
}

element("find").oninput = ({ target }) => {
  const wanted = target.value.trim().toLowerCase();
  if (!wanted) return home();
  const list = document.createElement("dl");
  for (const type of types.values()) {
    if (type.name.startsWith("__")) continue;
    if (type.name.toLowerCase().includes(wanted)) list.append(...entry({ name: "", type: { name: type.name }, description: type.description }));
    for (const field of [...(type.fields ?? []), ...(type.inputFields ?? [])]) {
      if (field.name.toLowerCase().includes(wanted)) list.append(...entry(field, type.name));
    }
    if (list.children.length > 200) break;
  }
  page(list);
};

// Completion

function completions() {
  const before = query.value.slice(0, query.selectionStart);
  const word = /[\w]*$/.exec(before)[0];
  const words = before.slice(0, before.length - word.length).match(/#[^\n]*|"(?:\\.|[^"\\])*"|\.\.\.|[{}()@:$]|\w+/g) ?? [];
  const stack = [];
  let next = null, last = "", kind = "query", field = null, round = 0;
  for (const part of words) {
    if (part.startsWith("#") || part.startsWith('"')) continue;
    if (part === "(") { round++; }
    else if (part === ")") { round--; }
    else if (round) { /* in arguments */ }
    else if (part === "{") {
      stack.push(stack.length ? next : next ?? roots[kind]);
      next = null;
    } else if (part === "}") { stack.pop(); next = null; }
    else if (!stack.length) {
      if (["query", "mutation", "subscription"].includes(part)) { kind = part; next = roots[kind]; }
      if (last === "on") next = part;
    } else if (last === "on") next = part;
    else if (/\w/.test(part) && part !== "on" && last !== "@" && last !== "...") {
      field = types.get(stack.at(-1))?.fields?.find((each) => each.name === part) ?? null;
      next = field ? typeName(field.type) : null;
    }
    last = part;
  }
  if (last === "on") return { word, all: [...types.values()].filter((type) => type.fields && !type.name.startsWith("__")) };
  if (round) return { word, all: field?.args ?? [], after: ": " };
  if (!stack.length) return { word, all: ["query", "mutation", "subscription", "fragment"].map((name) => ({ name })) };
  return { word, all: types.get(stack.at(-1))?.fields ?? [] };
}

function complete() {
  const { word, all, after = "" } = completions();
  const matching = all.filter((each) => each.name.toLowerCase().startsWith(word.toLowerCase())).slice(0, 60);
  suggestions.hidden = !matching.length;
  suggestions.replaceChildren(...matching.map((each, index) => {
    const item = document.createElement("li"), kind = document.createElement("small");
    item.textContent = each.name;
    kind.textContent = each.type ? typeText(each.type) : "";
    item.append(kind);
    item.ariaSelected = index === 0;
    item.onmousedown = (event) => { event.preventDefault(); insert(each.name + after, word); };
    item.insert = () => insert(each.name + after, word);
    return item;
  }));
  const lines = query.value.slice(0, query.selectionStart).split("\n");
  suggestions.style.top = `${Math.max(0, lines.length * 20.15 + 14 - query.scrollTop)}px`;
  suggestions.style.left = `${Math.min(lines.at(-1).length * 7.8 + 12, query.clientWidth - 270)}px`;
}

function insert(text, word) {
  const end = query.selectionStart;
  query.setRangeText(text, end - word.length, end, "end");
  suggestions.hidden = true;
  query.focus();
}

function choose(step) {
  const all = [...suggestions.children], now = all.findIndex((item) => item.ariaSelected === "true");
  all[now].ariaSelected = "false";
  const next = all[(now + step + all.length) % all.length];
  next.ariaSelected = "true";
  next.scrollIntoView({ block: "nearest" });
}

query.addEventListener("keydown", (event) => {
  if (!suggestions.hidden) {
    const chosen = [...suggestions.children].find((item) => item.ariaSelected === "true");
    const act = { ArrowDown: () => choose(1), ArrowUp: () => choose(-1), Escape: () => { suggestions.hidden = true; }, Enter: () => chosen?.insert(), Tab: () => chosen?.insert() }[event.key];
    if (act && !event.ctrlKey) { event.preventDefault(); return act(); }
  }
  if (event.ctrlKey && event.key === " ") { event.preventDefault(); return complete(); }
  if (event.key === "Tab" && !event.shiftKey) { event.preventDefault(); return query.setRangeText("  ", query.selectionStart, query.selectionEnd, "end"); }
  if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) {
    const line = query.value.slice(0, query.selectionStart).split("\n").at(-1);
    const indent = /^\s*/.exec(line)[0] + (line.trimEnd().endsWith("{") ? "  " : "");
    event.preventDefault();
    query.setRangeText("\n" + indent, query.selectionStart, query.selectionEnd, "end");
  }
});
query.addEventListener("input", () => { storage.set("query", query.value); if (!suggestions.hidden) complete(); });
query.addEventListener("blur", () => { suggestions.hidden = true; });
variables.addEventListener("input", () => storage.set("variables", variables.value));

// Sign-in

const LOGIN = "mutation ($email: AWSEmail!, $password: String!) { login(email: $email, password: $password) { accessToken } }";

async function showUser() {
  if (!token) { element("who").textContent = "not signed in"; element("sign").textContent = "Sign in"; return; }
  const response = await request({ query: "{ me { nickname } }" }).catch(() => ({}));
  const name = response.data?.me?.nickname;
  element("who").textContent = name ? name : "token expired";
  element("sign").textContent = name ? "Sign out" : "Sign in";
}

element("sign").onclick = () => { element("wrong").textContent = ""; element("door").showModal(); };
element("door").querySelector("form").onsubmit = async (event) => {
  const choice = event.submitter?.value;
  if (choice === "leave") token = "";
  if (choice === "enter") {
    event.preventDefault();
    if (element("token").value.trim()) token = element("token").value.trim();
    else {
      token = "";
      const response = await request({ query: LOGIN, variables: { email: element("email").value, password: element("password").value } });
      token = response.data?.login?.accessToken ?? "";
      if (!token) { element("wrong").textContent = response.errors?.[0]?.message ?? "sign-in failed"; return; }
    }
    element("door").close();
  }
  element("password").value = element("token").value = "";
  storage.set("token", token);
  showUser();
};

// Buttons

const toggle = (id) => { element(id).hidden = !element(id).hidden; storage.set(id + ".open", !element(id).hidden); };
element("run").onclick = run;
element("stop").onclick = stop;
element("prettify").onclick = prettify;
element("show-docs").onclick = () => toggle("docs");
element("show-history").onclick = () => toggle("history");
element("forget").onclick = () => { history = []; storage.set("history", history); showHistory(); };
element("xray").onchange = () => storage.set("xray", element("xray").checked);
document.addEventListener("keydown", (event) => {
  const command = event.ctrlKey || event.metaKey;
  if (command && event.key === "Enter") { event.preventDefault(); run(); }
  if (command && event.shiftKey && event.key.toLowerCase() === "f") { event.preventDefault(); prettify(); }
});
element("docs").hidden = !storage.get("docs.open", true);
element("history").hidden = !storage.get("history.open", false);
showHistory();
showUser();
loadSchema();
