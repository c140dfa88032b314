//! Generates documents that are mostly valid.

use std::fmt::Write as _;

use async_graphql::Value;

use crate::choices::ByteChoices;
use crate::grammar::{Argument, Field, Grammar, TypeShape};
use crate::literals::LiteralGenerator;
use crate::value_pool::ValuePool;

const DEPTH_MAX: usize = 7;
const DOCUMENT_BYTES_MAX: usize = 20_000;

#[derive(Clone, Debug)]
pub(crate) struct Document {
    pub(crate) text: String,
    pub(crate) variables: serde_json::Value,
}

struct DocumentWriter<'a, 'b> {
    bytes: &'a mut ByteChoices<'b>,
    grammar: &'a Grammar,
    value_pool: &'a ValuePool,
    /// Declarations and values.
    variables: Vec<(String, Value)>,
    fragments: Vec<String>,
}

pub(crate) fn document(
    bytes: &mut ByteChoices<'_>,
    grammar: &Grammar,
    value_pool: &ValuePool,
) -> Document {
    let (kind, root) = match bytes.pick(8) {
        0..4 => ("query", "Query"),
        4..7 => ("mutation", "Mutation"),
        _ => ("subscription", "Subscription"),
    };
    let (variables, fragments) = (Vec::new(), Vec::new());
    let mut writer = DocumentWriter { bytes, grammar, value_pool, variables, fragments };
    let body = writer.selection(root, 0);
    let directive = writer.directive(40);
    let DocumentWriter { variables, fragments, .. } = writer;
    let mut text = String::from(kind);
    if !variables.is_empty() {
        let declared: Vec<&str> = variables.iter().map(|(declared, _)| &**declared).collect();
        write!(text, " Q({})", declared.join(", ")).unwrap();
    }
    write!(text, "{directive} {body}").unwrap();
    fragments.iter().for_each(|fragment| write!(text, " {fragment}").unwrap());
    let values = variables.into_iter().enumerate();
    let values =
        values.map(|(number, (_, value))| (format!("v{number}"), value.into_json().unwrap()));
    Document { text, variables: values.collect() }
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
            } else if self.bytes.once_in(200) {
                text.push_str(" nothingLikeThis");
            } else {
                let field = self.bytes.choose(fields);
                // The same field with other arguments is a conflict that invalidates the whole document.
                if selected.contains(&&field.name) && !self.bytes.once_in(20) {
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
        if self.bytes.once_in(10) {
            write!(text, "{}{}: ", field.name, self.bytes.pick(2)).unwrap();
        }
        text.push_str(&field.name);
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
    }

    fn argument(&mut self, argument: &Argument) -> Option<String> {
        // Nested pages without a limit would exceed the permitted cost.
        let is_length = matches!(&*argument.name, "limit" | "first");
        let chosen = self.bytes.pick(4);
        let is_given = !argument.ty.nullable || chosen == 1 || is_length && chosen > 0;
        if !is_given || self.bytes.once_in(100) {
            return None;
        }
        let literals = LiteralGenerator { grammar: self.grammar, value_pool: self.value_pool };
        let value = literals.value(self.bytes, &argument.name, &argument.ty, 0);
        if !self.bytes.once_in(5) {
            return Some(format!("{}: {value}", argument.name));
        }
        let number = self.variables.len();
        self.variables.push((format!("$v{number}: {}", argument.ty), value));
        Some(format!("{}: $v{number}", argument.name))
    }

    fn directive(&mut self, times: usize) -> String {
        if !self.bytes.once_in(times) {
            return String::new();
        }
        if self.bytes.once_in(30) {
            return String::from(" @nothing(like: this)");
        }
        let directives = [" @include(if: true)", " @skip(if: true)", " @skip(if: false)"];
        (*self.bytes.choose(&directives)).to_owned()
    }

    /// Adds a fragment, which may be on another type or contain itself.
    fn fragment(&mut self, ty: &str, depth: usize, text: &mut String) {
        let number = self.fragments.len();
        self.fragments.push(String::new());
        let inner = if self.bytes.once_in(8) {
            format!("{{ __typename ...F{number} }}")
        } else {
            self.selection(ty, depth + 1)
        };
        let on = if self.bytes.once_in(10) { "User" } else { ty };
        let fragment = format!("fragment F{number} on {on} {inner}");
        self.fragments.get_mut(number).unwrap().push_str(&fragment);
        write!(text, " ...F{number}").unwrap();
    }
}
