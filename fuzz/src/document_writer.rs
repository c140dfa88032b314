//! Generates documents that are mostly valid.

use std::fmt::Write as _;

use async_graphql::indexmap::IndexMap;
use async_graphql::parser::types::{BaseType, Type};
use async_graphql::{Name, Value};

use crate::choices::ByteChoices;
use crate::grammar::{Argument, Field, Grammar, TypeShape};
use crate::literals::LiteralGenerator;
use crate::value_pool::ValuePool;

const DEPTH_MAX: usize = 7;
const DOCUMENT_BYTES_MAX: usize = 20_000;

/// Fields about the schema, where documents may ask for it.
const INTROSPECTION: [&str; 6] = [
    "__schema { queryType { name } mutationType { name } directives { name locations } }",
    "__schema { types { name kind } }",
    "__type(name: \"Post\") { name kind fields { name args { name type { name kind } } type { kind ofType { name } } } }",
    "__type(name: \"Visibility\") { kind enumValues { name isDeprecated } }",
    "__type(name: \"CreatePostInput\") { inputFields { name type { kind name } defaultValue } }",
    "__type(name: \"Nothing\") { name possibleTypes { name } }",
];

#[derive(Clone, Debug, Default)]
pub(crate) struct Document {
    pub(crate) text: String,
    pub(crate) variables: serde_json::Value,
    /// The operation to execute, if the document has several.
    pub(crate) operation: Option<String>,
    /// The lists that can be paged.
    pub(crate) lists: Vec<PagedList>,
}

/// A list whose cursor argument is a variable.
#[derive(Clone, Debug)]
pub(crate) struct PagedList {
    pub(crate) variable: String,
    /// The response keys from the root of the response to the list.
    pub(crate) path: Vec<String>,
}

/// The documents to generate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DocumentStyle {
    /// Only queries, or all types of operations.
    pub(crate) only_queries: bool,
    /// Sometimes break the rules of GraphQL.
    pub(crate) mistakes: bool,
}

impl Default for DocumentStyle {
    fn default() -> Self {
        Self { only_queries: false, mistakes: true }
    }
}

struct DocumentWriter<'a, 'b> {
    bytes: &'a mut ByteChoices<'b>,
    grammar: &'a Grammar,
    value_pool: &'a ValuePool,
    style: DocumentStyle,
    /// Declarations and values; `None` leaves the variable out of the request.
    variables: Vec<(String, Option<Value>)>,
    /// Types and texts.
    fragments: Vec<(String, String)>,
    /// The response keys from the root to the current field.
    path: Vec<String>,
    lists: Vec<PagedList>,
}

pub(crate) fn document(
    bytes: &mut ByteChoices<'_>,
    grammar: &Grammar,
    value_pool: &ValuePool,
    style: DocumentStyle,
) -> Document {
    let (kind, root) = match bytes.pick(8) {
        4..7 if !style.only_queries => ("mutation", "Mutation"),
        7 if !style.only_queries => ("subscription", "Subscription"),
        _ => ("query", "Query"),
    };
    let (variables, fragments, path, lists) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut writer =
        DocumentWriter { bytes, grammar, value_pool, style, variables, fragments, path, lists };
    let body = writer.selection(root, 0);
    let directive = writer.directive(40);
    let operation = writer.operation();
    let DocumentWriter { variables, fragments, lists, .. } = writer;
    let mut text = String::from(kind);
    if !variables.is_empty() || operation.is_some() {
        text.push_str(" Q");
    }
    if !variables.is_empty() {
        let declared: Vec<&str> = variables.iter().map(|(declared, _)| &**declared).collect();
        write!(text, "({})", declared.join(", ")).unwrap();
    }
    write!(text, "{directive} {body}").unwrap();
    if operation.is_some() {
        text.push_str(" query Other { __typename }");
    }
    fragments.iter().for_each(|(_, fragment)| write!(text, " {fragment}").unwrap());
    let values = variables.into_iter().enumerate();
    let values = values.filter_map(|(number, (_, value))| {
        Some((format!("v{number}"), value?.into_json().unwrap()))
    });
    Document { text, variables: values.collect(), operation, lists }
}

impl DocumentWriter<'_, '_> {
    fn selection(&mut self, ty: &str, depth: usize) -> String {
        let grammar = self.grammar;
        let TypeShape::Composite { fields, members } = grammar.shape(ty) else {
            return String::new();
        };
        if depth > DEPTH_MAX {
            return String::from("{ __typename }");
        }
        let mut text = String::from("{");
        let count = 1 + self.bytes.pick(if (1..4).contains(&depth) { 6 } else { 2 });
        let mut selected = Vec::new();
        for _ in 0..count {
            if fields.is_empty() || self.bytes.once_in(30) {
                text.push_str(" __typename");
            } else if self.mistake(200) {
                text.push_str(" nothingLikeThis");
            } else if ty == "Query" && self.bytes.once_in(30) {
                write!(text, " {}", self.bytes.choose::<&str>(&INTROSPECTION)).unwrap();
            } else {
                let field = self.bytes.choose(fields);
                // The same field with other arguments is a conflict that invalidates the whole document.
                if selected.contains(&&field.name) && !self.mistake(20) {
                    continue;
                }
                selected.push(&field.name);
                self.field(field, depth, &mut text);
            }
            if self.bytes.is_empty() {
                break;
            }
        }
        let is_abstract = members.len() > 1;
        let count = if is_abstract { 1 + self.bytes.pick(3) } else { 0 };
        for _ in 0..count {
            let member = self.bytes.choose(members);
            let inner = self.selection(member, depth + 1);
            let directive = self.directive(20);
            write!(text, " ... on {member}{directive} {inner}").unwrap();
        }
        if !fields.is_empty() && self.bytes.once_in(40) {
            let directive = self.directive(2);
            let inner = self.selection(ty, depth + 1);
            write!(text, " ...{directive} {inner}").unwrap();
        }
        if self.bytes.once_in(30) {
            self.fragment(ty, depth, &mut text);
        }
        text.push_str(" }");
        text
    }

    fn field(&mut self, field: &Field, depth: usize, text: &mut String) {
        let is_composite =
            matches!(self.grammar.shape(&field.type_name), TypeShape::Composite { .. });
        text.push(' ');
        let mut key = field.name.clone();
        if self.bytes.once_in(10) {
            key = format!("{}{}", field.name, self.bytes.pick(2));
            write!(text, "{key}: ").unwrap();
        }
        text.push_str(&field.name);
        self.path.push(key);
        let arguments: Vec<String> =
            field.arguments.iter().filter_map(|argument| self.argument(argument)).collect();
        if !arguments.is_empty() {
            write!(text, "({})", arguments.join(", ")).unwrap();
        }
        text.push_str(&self.directive(30));
        if is_composite && text.len() < DOCUMENT_BYTES_MAX {
            let inner = self.selection(&field.type_name, depth + 1);
            write!(text, " {inner}").unwrap();
        } else if is_composite {
            text.push_str(" { __typename }");
        }
        self.path.pop();
    }

    fn argument(&mut self, argument: &Argument) -> Option<String> {
        // Nested pages without a limit would exceed the permitted cost.
        let is_length = matches!(&*argument.name, "limit" | "first");
        let chosen = self.bytes.pick(4);
        let is_given = !argument.ty.nullable || chosen == 1 || is_length && chosen > 0;
        if !is_given || self.mistake(100) {
            return None;
        }
        let name = &argument.name;
        if matches!(&**name, "nextToken" | "after") && self.bytes.once_in(2) {
            let variable = self.variable(&argument.ty, Value::Null);
            let list = PagedList { variable: variable.clone(), path: self.path.clone() };
            self.lists.push(list);
            return Some(format!("{name}: ${variable}"));
        }
        let value = self.value(argument);
        if self.bytes.once_in(5) {
            return Some(format!("{name}: ${}", self.variable(&argument.ty, value)));
        }
        match (value, &argument.ty.base) {
            (Value::Object(fields), BaseType::Named(input)) if self.bytes.once_in(4) => {
                Some(format!("{name}: {}", self.object_with_variable(input, &fields)))
            }
            (value, _) => Some(format!("{name}: {value}")),
        }
    }

    fn value(&mut self, argument: &Argument) -> Value {
        let (grammar, value_pool, mistakes) = (self.grammar, self.value_pool, self.style.mistakes);
        let literals = LiteralGenerator { grammar, value_pool, mistakes };
        literals.value(self.bytes, &argument.name, &argument.ty, 0)
    }

    /// Declares a variable and returns its name.
    fn variable(&mut self, ty: &Type, value: Value) -> String {
        let number = self.variables.len();
        let mut declared = format!("$v{number}: {ty}");
        let mut value = Some(value);
        if ty.nullable && value != Some(Value::Null) && self.bytes.once_in(8) {
            declared.push('!');
        } else if self.bytes.once_in(8) {
            write!(declared, " = {}", value.as_ref().unwrap()).unwrap();
            value = value.filter(|_| self.bytes.pick(2) == 0);
        } else if ty.nullable && self.bytes.once_in(8) || self.mistake(60) {
            value = None;
        }
        self.variables.push((declared, value));
        format!("v{number}")
    }

    /// Returns an object in which one field is a variable.
    fn object_with_variable(&mut self, input: &str, fields: &IndexMap<Name, Value>) -> String {
        let chosen = self.bytes.pick(fields.len());
        let mut parts = Vec::new();
        for (place, (name, value)) in fields.iter().enumerate() {
            let field = match self.grammar.shape(input) {
                TypeShape::Input(defined) => defined.iter().find(|field| *field.name == **name),
                _ => None,
            };
            match field {
                Some(field) if place == chosen => {
                    let variable = self.variable(&field.ty, value.clone());
                    parts.push(format!("{name}: ${variable}"));
                }
                _ => parts.push(format!("{name}: {value}")),
            }
        }
        format!("{{{}}}", parts.join(", "))
    }

    /// Like `once_in`, but never if the document must be valid.
    fn mistake(&mut self, times: usize) -> bool {
        self.bytes.once_in(times) && self.style.mistakes
    }

    /// Returns the operation to execute if the document gets a second one.
    fn operation(&mut self) -> Option<String> {
        if !self.bytes.once_in(40) {
            return None;
        }
        let name =
            if self.mistake(5) { "Nothing" } else { self.bytes.choose::<&str>(&["Q", "Other"]) };
        Some(name.to_owned())
    }

    fn directive(&mut self, times: usize) -> String {
        if !self.bytes.once_in(times) {
            return String::new();
        }
        if self.mistake(30) {
            return String::from(" @nothing(like: this)");
        }
        let directive = *self.bytes.choose(&["include", "skip"]);
        let value = self.bytes.pick(2) == 0;
        if self.bytes.once_in(3) {
            let boolean = Type { base: BaseType::Named(Name::new("Boolean")), nullable: false };
            return format!(" @{directive}(if: ${})", self.variable(&boolean, Value::from(value)));
        }
        format!(" @{directive}(if: {value})")
    }

    /// Adds a fragment, which may be on another type or contain itself.
    fn fragment(&mut self, ty: &str, depth: usize, text: &mut String) {
        let known = self.fragments.iter().position(|(on, text)| on == ty && !text.is_empty());
        if let Some(known) = known.filter(|_| self.bytes.once_in(2)) {
            write!(text, " ...F{known}").unwrap();
            return;
        }
        let number = self.fragments.len();
        self.fragments.push((ty.to_owned(), String::new()));
        let inner = if self.mistake(8) {
            format!("{{ __typename ...F{number} }}")
        } else {
            self.selection(ty, depth + 1)
        };
        let on = if self.mistake(10) { "User" } else { ty };
        let fragment = format!("fragment F{number} on {on} {inner}");
        self.fragments.get_mut(number).unwrap().1 = fragment;
        write!(text, " ...F{number}").unwrap();
    }
}
