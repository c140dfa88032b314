// The page to try things out on: asks this server, and nobody else.
"use strict";

const at = (id) => document.getElementById(id);
const query = at("query"), variables = at("variables"), result = at("result"), offers = at("offers");
const kept = {
  get: (key, other) => { try { return JSON.parse(localStorage.getItem("roundtable." + key)) ?? other; } catch { return other; } },
  set: (key, value) => { try { localStorage.setItem("roundtable." + key, JSON.stringify(value)); } catch { /* full */ } },
};
const HISTORY_MAX = 50;
const WELCOME = `# Ctrl+Enter runs it, Ctrl+Space shows what fits, Docs has everything there is.
{
  __schema {
    queryType { fields { name description } }
  }
}
`;

query.value = kept.get("query", WELCOME);
variables.value = kept.get("variables", "");
at("xray").checked = kept.get("xray", false);

// Asking

let token = kept.get("token", "");
const address = new URL("graphql", location.href);

async function ask(body, extra = {}) {
  const headers = { "content-type": "application/json", ...extra };
  if (token) headers.authorization = "Bearer " + token;
  const answer = await fetch(address, { method: "POST", headers, body: JSON.stringify(body) });
  const text = await answer.text();
  try { return JSON.parse(text); } catch { return { errors: [{ message: `${answer.status} ${answer.statusText}` }] }; }
}

function written() {
  const text = variables.value.trim();
  return text ? JSON.parse(text) : {};
}

/// The operation that the cursor is in, of a document with several.
function operation(text, place) {
  const all = [...text.matchAll(/^\s*(query|mutation|subscription)\s+(\w+)/gm)];
  const before = all.filter((found) => found.index <= place);
  const meant = before.at(-1) ?? all[0];
  return all.length > 1 || meant ? meant && { kind: meant[1], name: meant[2] } : undefined;
}

async function run() {
  stop();
  let body;
  try {
    body = { query: query.value, variables: written() };
  } catch (error) {
    return show({ errors: [{ message: "the variables are no JSON: " + error.message }] });
  }
  const meant = operation(query.value, query.selectionStart);
  if (meant) body.operationName = meant.name;
  remember();
  if (meant?.kind === "subscription" || /^\s*(#.*\n\s*)*subscription\b/.test(query.value)) return listen(body);
  const began = performance.now();
  at("status").textContent = "asking…";
  try {
    show(await ask(body, at("xray").checked ? { "x-roundtable-xray": "1" } : {}));
    at("status").textContent = `${Math.round(performance.now() - began)} ms`;
  } catch {
    at("status").textContent = "the server cannot be reached";
  }
}

// Listening

let socket = null;

function listen(body) {
  const told = [];
  const to = new URL(address);
  to.protocol = to.protocol.replace("http", "ws");
  const mine = socket = new WebSocket(to, "graphql-transport-ws");
  at("stop").hidden = false;
  at("status").textContent = "connecting…";
  const say = (message) => mine.send(JSON.stringify(message));
  mine.onopen = () => say({ type: "connection_init", payload: token ? { authorization: "Bearer " + token } : {} });
  mine.onmessage = ({ data }) => {
    const message = JSON.parse(data);
    if (message.type === "connection_ack") {
      at("status").textContent = "listening…";
      say({ type: "subscribe", id: "1", payload: body });
    } else if (message.type === "ping") {
      say({ type: "pong" });
    } else if (message.type === "next") {
      told.unshift({ at: new Date().toISOString(), ...message.payload });
      told.length = Math.min(told.length, 200);
      at("status").textContent = `listening… ${told.length} told`;
      show(told);
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
    at("status").textContent = reason ? `closed: ${reason} (${code})` : `closed (${code})`;
  };
}

function stop() {
  at("stop").hidden = true;
  at("status").textContent = "";
  const old = socket;
  socket = null;
  old?.close(1000);
}

// Showing

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

/// The fields in a run of words: an alias and what follows it, a spread or a directive stay together.
function fields(text) {
  return text.replace(/:\s+/g, ":").replace(/\.\.\.\s+on\s+/g, "...on\u0001").replace(/,/g, " ").trim().split(/\s+/)
    .reduce((all, word) => (word.startsWith("@") && all.length ? [...all.slice(0, -1), all.at(-1) + " " + word] : [...all, word]), [])
    .map((word) => word.replace(/:(?=\S)/, ": ").replace("...on\u0001", "... on "));
}

// History

let history = kept.get("history", []);

function remember() {
  kept.set("query", query.value);
  kept.set("variables", variables.value);
  const entry = { query: query.value, variables: variables.value };
  history = [entry, ...history.filter((old) => old.query !== entry.query)].slice(0, HISTORY_MAX);
  kept.set("history", history);
  showHistory();
}

function showHistory() {
  const list = at("history").querySelector("ol");
  list.replaceChildren(...history.map((entry) => {
    const item = document.createElement("li");
    item.textContent = entry.query.trim();
    item.onclick = () => { query.value = entry.query; variables.value = entry.variables; query.focus(); };
    return item;
  }));
}

// What there is to ask

const types = new Map();
let roots = {};
const INTROSPECTION = `query { __schema { queryType { name } mutationType { name } subscriptionType { name }
  types { kind name description enumValues { name description } possibleTypes { name }
    inputFields { name description defaultValue type { ...T } }
    fields { name description type { ...T } args { name description defaultValue type { ...T } } } } } }
  fragment T on __Type { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } } }`;

async function learn() {
  const answer = await ask({ query: INTROSPECTION }).catch(() => ({}));
  const schema = answer.data?.__schema;
  if (!schema) return at("page").replaceChildren("What there is to ask cannot be shown: introspection is off, or the server is away.");
  schema.types.forEach((type) => types.set(type.name, type));
  roots = { query: schema.queryType?.name, mutation: schema.mutationType?.name, subscription: schema.subscriptionType?.name };
  home();
}

const spelled = (type) => type.kind === "NON_NULL" ? spelled(type.ofType) + "!" : type.kind === "LIST" ? `[${spelled(type.ofType)}]` : type.name;
const named = (type) => (type.ofType ? named(type.ofType) : type.name);

function link(type) {
  const a = document.createElement("a");
  a.textContent = spelled(type);
  a.onclick = () => open(named(type));
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

function page(...parts) { at("page").replaceChildren(...parts); at("docs").scrollTop = 0; }

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

at("find").oninput = ({ target }) => {
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

// What fits at the cursor

function fitting() {
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
      next = field ? named(field.type) : null;
    }
    last = part;
  }
  if (last === "on") return { word, all: [...types.values()].filter((type) => type.fields && !type.name.startsWith("__")) };
  if (round) return { word, all: field?.args ?? [], after: ": " };
  if (!stack.length) return { word, all: ["query", "mutation", "subscription", "fragment"].map((name) => ({ name })) };
  return { word, all: types.get(stack.at(-1))?.fields ?? [] };
}

function offer() {
  const { word, all, after = "" } = fitting();
  const fits = all.filter((each) => each.name.toLowerCase().startsWith(word.toLowerCase())).slice(0, 60);
  offers.hidden = !fits.length;
  offers.replaceChildren(...fits.map((each, index) => {
    const item = document.createElement("li"), kind = document.createElement("small");
    item.textContent = each.name;
    kind.textContent = each.type ? spelled(each.type) : "";
    item.append(kind);
    item.ariaSelected = index === 0;
    item.onmousedown = (event) => { event.preventDefault(); take(each.name + after, word); };
    item.take = () => take(each.name + after, word);
    return item;
  }));
  const lines = query.value.slice(0, query.selectionStart).split("\n");
  offers.style.top = `${Math.max(0, lines.length * 20.15 + 14 - query.scrollTop)}px`;
  offers.style.left = `${Math.min(lines.at(-1).length * 7.8 + 12, query.clientWidth - 270)}px`;
}

function take(text, word) {
  const end = query.selectionStart;
  query.setRangeText(text, end - word.length, end, "end");
  offers.hidden = true;
  query.focus();
}

function choose(step) {
  const all = [...offers.children], now = all.findIndex((item) => item.ariaSelected === "true");
  all[now].ariaSelected = "false";
  const next = all[(now + step + all.length) % all.length];
  next.ariaSelected = "true";
  next.scrollIntoView({ block: "nearest" });
}

query.addEventListener("keydown", (event) => {
  if (!offers.hidden) {
    const chosen = [...offers.children].find((item) => item.ariaSelected === "true");
    const act = { ArrowDown: () => choose(1), ArrowUp: () => choose(-1), Escape: () => { offers.hidden = true; }, Enter: () => chosen?.take(), Tab: () => chosen?.take() }[event.key];
    if (act && !event.ctrlKey) { event.preventDefault(); return act(); }
  }
  if (event.ctrlKey && event.key === " ") { event.preventDefault(); return offer(); }
  if (event.key === "Tab" && !event.shiftKey) { event.preventDefault(); return query.setRangeText("  ", query.selectionStart, query.selectionEnd, "end"); }
  if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) {
    const line = query.value.slice(0, query.selectionStart).split("\n").at(-1);
    const indent = /^\s*/.exec(line)[0] + (line.trimEnd().endsWith("{") ? "  " : "");
    event.preventDefault();
    query.setRangeText("\n" + indent, query.selectionStart, query.selectionEnd, "end");
  }
});
query.addEventListener("input", () => { kept.set("query", query.value); if (!offers.hidden) offer(); });
query.addEventListener("blur", () => { offers.hidden = true; });
variables.addEventListener("input", () => kept.set("variables", variables.value));

// Who asks

const LOGIN = "mutation ($email: AWSEmail!, $password: String!) { login(email: $email, password: $password) { accessToken } }";

async function whoever() {
  if (!token) { at("who").textContent = "nobody"; at("sign").textContent = "Sign in"; return; }
  const answer = await ask({ query: "{ me { nickname } }" }).catch(() => ({}));
  const name = answer.data?.me?.nickname;
  at("who").textContent = name ? name : "a token that is over";
  at("sign").textContent = name ? "Sign out" : "Sign in";
}

at("sign").onclick = () => { at("wrong").textContent = ""; at("door").showModal(); };
at("door").querySelector("form").onsubmit = async (event) => {
  const choice = event.submitter?.value;
  if (choice === "leave") token = "";
  if (choice === "enter") {
    event.preventDefault();
    if (at("token").value.trim()) token = at("token").value.trim();
    else {
      token = "";
      const answer = await ask({ query: LOGIN, variables: { email: at("email").value, password: at("password").value } });
      token = answer.data?.login?.accessToken ?? "";
      if (!token) { at("wrong").textContent = answer.errors?.[0]?.message ?? "that did not work"; return; }
    }
    at("door").close();
  }
  at("password").value = at("token").value = "";
  kept.set("token", token);
  whoever();
};

// Buttons

const toggle = (id) => { at(id).hidden = !at(id).hidden; kept.set(id + ".open", !at(id).hidden); };
at("run").onclick = run;
at("stop").onclick = stop;
at("prettify").onclick = prettify;
at("show-docs").onclick = () => toggle("docs");
at("show-history").onclick = () => toggle("history");
at("forget").onclick = () => { history = []; kept.set("history", history); showHistory(); };
at("xray").onchange = () => kept.set("xray", at("xray").checked);
document.addEventListener("keydown", (event) => {
  const command = event.ctrlKey || event.metaKey;
  if (command && event.key === "Enter") { event.preventDefault(); run(); }
  if (command && event.shiftKey && event.key.toLowerCase() === "f") { event.preventDefault(); prettify(); }
});
at("docs").hidden = !kept.get("docs.open", true);
at("history").hidden = !kept.get("history.open", false);
showHistory();
whoever();
learn();
