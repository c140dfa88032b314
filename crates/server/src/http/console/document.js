// The text of a GraphQL document: tokens, operations, layout and completions. It knows nothing of the page.

const TOKEN =
  /#[^\n]*|"""(?:\\"""|[^])*?(?:"""|$)|"(?:\\.|[^"\\\n])*"?|\.\.\.|[{}()[\]:=!|@$&]|[_A-Za-z]\w*|-?\d[\w.+-]*|\n/g;
const NAME = /^[_A-Za-z]/;
const KINDS = ["query", "mutation", "subscription"];

const isComment = (token) => token.text.startsWith("#");
const isString = (token) => token.text.startsWith('"');

/** The tokens of a text; line ends are tokens, spaces and commas are not. */
function tokens(text) {
  return [...text.matchAll(TOKEN)].map((found) => ({ text: found[0], start: found.index }));
}

/** The operations of a document with their kinds, their names if they have any, and their starts, comments included. */
export function operations(text) {
  const found = [];
  // A definition is open from its first token to the end of its selection.
  let depth = 0, isOpen = false, last = "", comment;
  for (const token of tokens(text)) {
    if (isComment(token) && !isOpen) comment ??= token.start;
    if (token.text === "\n" || isComment(token)) continue;
    if (depth === 0 && !isOpen) {
      isOpen = true;
      const start = comment ?? token.start;
      comment = undefined;
      if (KINDS.includes(token.text)) found.push({ kind: token.text, start });
      else if (token.text === "{") found.push({ kind: "query", start });
    } else if (depth === 0 && KINDS.includes(last) && NAME.test(token.text)) {
      found.at(-1).name = token.text;
    }
    if ("{([".includes(token.text)) depth += 1;
    if ("})]".includes(token.text)) depth = Math.max(0, depth - 1);
    if (token.text === "}" && depth === 0) isOpen = false;
    last = isOpen ? token.text : "";
  }
  return found;
}

/** The operation at a position: the last one that starts before it, else the first. */
export function operationAt(text, position) {
  const all = operations(text);
  return all.filter(({ start }) => start <= position).at(-1) ?? all[0];
}

/** Lays a document out anew: one field a line, arguments inline. Comments stay, and so do the words of strings. */
export function prettify(text) {
  // Layout is for documents; any other text stays as it is.
  if (/[^\s,\uFEFF]/.test(text.replace(TOKEN, ""))) return text;
  const lines = [];
  let line = "", depth = 0, round = 0, last = null, beforeLast = null, newLine = true;
  const lists = [];
  const flush = () => {
    if (line) lines.push("  ".repeat(depth) + line);
    line = "";
  };
  const all = tokens(text.replace(/\r\n?/g, "\n"));
  const next = (index) => {
    do index += 1;
    while (index < all.length && (all[index].text === "\n" || isComment(all[index])));
    return all[index]?.text;
  };
  all.forEach((token, index) => {
    if (token.text === "\n") return void (newLine = true);
    if (isComment(token)) {
      // A comment ends its line, and starts one if nothing stood before it there.
      if (newLine) flush();
      line += (line && " ") + token.text.trimEnd();
      flush();
      newLine = true;
      return;
    }
    newLine = false;
    if (round) line += gap(line, last, token.text, next(index), lists.at(-1)) + token.text;
    else if (token.text === "{") {
      line += (line && " ") + "{";
      flush();
      depth += 1;
    } else if (token.text === "}") {
      flush();
      depth = Math.max(0, depth - 1);
      line = "}";
      flush();
      if (depth === 0) lines.push("");
    } else {
      if (depth && startsSelection(token.text, last, beforeLast)) flush();
      line += gap(line, last, token.text, next(index), undefined) + token.text;
    }
    if ("([".includes(token.text)) round += 1;
    if (")]".includes(token.text)) round = Math.max(0, round - 1);
    if ("([{".includes(token.text) && round) lists.push(token.text);
    if (")]}".includes(token.text)) lists.pop();
    [beforeLast, last] = [last, token.text];
  });
  flush();
  return `${lines.join("\n").trim()}\n`;
}

function startsSelection(text, last, beforeLast) {
  if (text === "...") return true;
  const continues = [":", "@", "...", "!", "=", "$"].includes(last) || (last === "on" && beforeLast === "...");
  return NAME.test(text) && !continues;
}

/** The characters between two tokens of a line: nothing, a space, or a comma and a space. */
function gap(line, last, text, next, list) {
  if (!line || [")", "]", ":", "!", "("].includes(text)) return "";
  if (last === "(" || last === "[" || last === "$" || last === "@") return "";
  if (last === "...") return text === "on" || text === "@" ? " " : "";
  if (last === ":" || last === "=" || text === "=" || text === "@" || text === "|") return " ";
  if (list === "[") return ", ";
  if (list === "(" && text === "$") return ", ";
  if (list && next === ":" && last !== "{") return ", ";
  return " ";
}

/**
 * The names that may stand at the end of a text: `word` is the part that is there already, `all` the candidates.
 * `types` maps names to types as introspection describes them, `roots` the kinds of operations to type names.
 */
export function completions(before, types, roots) {
  const word = /(?:[_A-Za-z]\w*)?$/.exec(before)[0];
  const words = tokens(before.slice(0, before.length - word.length))
    .filter((token) => token.text !== "\n" && !isComment(token) && !isString(token))
    .map((token) => token.text);
  const stack = [];
  let next, last = "", field, argument, round = 0, nested = 0;
  for (const part of words) {
    if (part === "(") round += 1;
    else if (part === ")") round = Math.max(0, round - 1);
    else if (round) {
      if (part === "{") nested += 1;
      else if (part === "}") nested -= 1;
      else if (part === ":" && !nested) argument = field?.args?.find((each) => each.name === last);
    } else if (part === "{") {
      stack.push(stack.length ? next : next ?? roots.query);
      next = undefined;
    } else if (part === "}") {
      stack.pop();
      next = undefined;
    } else if (last === "on") next = part;
    else if (!stack.length && KINDS.includes(part)) next = roots[part];
    else if (stack.length && NAME.test(part) && part !== "on" && last !== "@" && last !== "...") {
      field = types.get(stack.at(-1))?.fields?.find((each) => each.name === part);
      next = field && typeName(field.type);
    }
    last = part;
  }
  const isComposite = (type) => (type.fields || type.possibleTypes) && !type.name.startsWith("__");
  if (last === "on") return { word, all: [...types.values()].filter(isComposite) };
  if (round && last === ":") return { word, all: (!nested && values(argument, types)) || [] };
  if (round) return { word, all: (!nested && last !== "$" && field?.args) || [], after: ": " };
  if (!stack.length) return { word, all: [...KINDS, "fragment"].map((name) => ({ name })) };
  return { word, all: types.get(stack.at(-1))?.fields ?? [] };
}

function values(argument, types) {
  const type = argument && types.get(typeName(argument.type));
  return type?.name === "Boolean" ? [{ name: "true" }, { name: "false" }] : type?.enumValues;
}

/** The name of a type without lists and non-null marks. */
export const typeName = (type) => (type.ofType ? typeName(type.ofType) : type.name);

/** A type as a document spells it. */
export function typeText(type) {
  if (type.kind === "NON_NULL") return `${typeText(type.ofType)}!`;
  return type.kind === "LIST" ? `[${typeText(type.ofType)}]` : type.name;
}
