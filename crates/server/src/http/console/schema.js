// The schema as introspection describes it, and the panel that explains it.

import { typeName, typeText } from "./document.js";

const INTROSPECTION = `query { __schema { queryType { name } mutationType { name } subscriptionType { name }
  types { kind name description enumValues { name description } possibleTypes { name }
    inputFields { name description defaultValue type { ...T } }
    fields { name description type { ...T } args { name description defaultValue type { ...T } } } } } }
  fragment T on __Type { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } } }`;
const FOUND_MAX = 200;

export const types = new Map();
export const roots = {};

function create(tag, text = "", parts = []) {
  const made = document.createElement(tag);
  made.append(text, ...parts);
  return made;
}

/** A description in paragraphs and lists; other line ends are only those of the schema's file. */
const prose = (description) => create("p", (description ?? "").replace(/\n(?![\n-])/g, " "));

/** A button that looks like a link. */
function link(text, act) {
  const made = create("button", text);
  made.className = "link";
  made.onclick = act;
  return made;
}

export class SchemaPanel {
  #page;
  #find;

  constructor(page, find) {
    this.#page = page;
    this.#find = find;
    find.oninput = () => this.#search(find.value.trim().toLowerCase());
  }

  /** Loads the schema with a function that sends a request. */
  async load(send) {
    const { answer } = await send({ query: INTROSPECTION });
    const schema = answer.data?.__schema;
    if (!schema) throw new Error(answer.errors?.[0]?.message ?? "the server gave no reason");
    schema.types.forEach((type) => types.set(type.name, type));
    for (const kind of ["query", "mutation", "subscription"]) roots[kind] = schema[`${kind}Type`]?.name;
    this.#home();
  }

  explain(text) {
    this.#show(create("p", text));
  }

  #show(...parts) {
    this.#page.replaceChildren(...parts);
    this.#page.parentElement.scrollTop = 0;
  }

  #typeLink(type) {
    return link(typeText(type), () => this.#open(typeName(type)));
  }

  /** A field, an argument or a value with its description; `of` names the type that has it. */
  #entry(field, of) {
    const term = create("dt", create("b", of ? `${of}.${field.name}` : field.name));
    const args = (field.args ?? []).map(({ name, type, defaultValue }, index) => {
      const value = defaultValue ? ` = ${defaultValue}` : "";
      return create("span", index ? ", " : "", [`${name}: `, this.#typeLink(type), value]);
    });
    if (args.length) term.append("(", ...args, ")");
    if (field.type) term.append(field.name ? ": " : "", this.#typeLink(field.type));
    return [term, create("dd", field.description ?? "")];
  }

  #home() {
    const kinds = Object.entries(roots).filter(([, name]) => types.has(name));
    this.#show(...kinds.flatMap(([kind, name]) => {
      const { description, fields } = types.get(name);
      return [create("h3", kind), prose(description), create("dl", "", fields.flatMap((field) => this.#entry(field)))];
    }));
  }

  #open(name) {
    const type = types.get(name);
    if (!type) return;
    const back = link("← all operations", () => {
      this.#find.value = "";
      this.#home();
    });
    const members = [...(type.fields ?? []), ...(type.inputFields ?? []), ...(type.enumValues ?? [])];
    const list = create("dl", "", members.flatMap((member) => this.#entry(member)));
    for (const { name } of type.possibleTypes ?? []) list.append(...this.#entry({ name: "", type: { name } }));
    const kind = type.kind.toLowerCase().replace("_", " ");
    this.#show(back, create("h3", `${kind} ${name}`), prose(type.description), list);
  }

  #search(wanted) {
    if (!wanted) return this.#home();
    const found = [];
    for (const type of types.values()) {
      if (type.name.startsWith("__")) continue;
      const { name, description } = type;
      if (name.toLowerCase().includes(wanted)) found.push(this.#entry({ name: "", type: { name }, description }));
      for (const field of [...(type.fields ?? []), ...(type.inputFields ?? [])]) {
        if (field.name.toLowerCase().includes(wanted)) found.push(this.#entry(field, name));
      }
    }
    const rest = found.length > FOUND_MAX ? `${found.length - FOUND_MAX} more: type more of the name.` : "";
    const nothing = found.length ? "" : "Nothing has this in its name.";
    this.#show(create("dl", "", found.slice(0, FOUND_MAX).flat()), create("p", rest || nothing));
  }
}
