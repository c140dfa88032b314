//! The served schema, and selections of all fields of its types.

use std::collections::{BTreeMap, BTreeSet};

use async_graphql::Positioned;
use async_graphql::parser::parse_schema;
use async_graphql::parser::types::{
    BaseType, FieldDefinition, TypeKind, TypeSystemDefinition as Definition,
};

struct Field {
    name: String,
    /// The type of the field, or of its list items.
    target: String,
    /// Non-null: an error in the field nulls its parent.
    is_required: bool,
    needs_argument: bool,
}

/// The types of the schema, and the fields selected so far.
pub(crate) struct SchemaTypes {
    objects: BTreeMap<String, Vec<Field>>,
    /// The members of unions and interfaces.
    members: BTreeMap<String, Vec<String>>,
    selected: BTreeSet<String>,
}

fn path(ty: &str, field: &str) -> String {
    format!("{ty}.{field}")
}

fn field(definition: &Positioned<FieldDefinition>) -> Field {
    let FieldDefinition { name, ty, arguments, .. } = &definition.node;
    let mut base = &ty.node.base;
    while let BaseType::List(inner) = base {
        base = &inner.base;
    }
    let is_required =
        |argument: &Positioned<async_graphql::parser::types::InputValueDefinition>| {
            !argument.node.ty.node.nullable && argument.node.default_value.is_none()
        };
    Field {
        name: name.node.to_string(),
        target: base.to_string(),
        is_required: !ty.node.nullable,
        needs_argument: arguments.iter().any(is_required),
    }
}

impl SchemaTypes {
    pub(crate) fn parse(sdl: &str) -> Self {
        let mut types =
            Self { objects: BTreeMap::new(), members: BTreeMap::new(), selected: BTreeSet::new() };
        // The description of the schema is not valid for the parser.
        let sdl = &sdl[sdl.find("\nschema {").unwrap()..];
        for definition in parse_schema(sdl).unwrap().definitions {
            let Definition::Type(definition) = definition else { continue };
            let name = definition.node.name.node.to_string();
            match definition.node.kind {
                TypeKind::Object(object) => {
                    for interface in object.implements {
                        let members = types.members.entry(interface.node.to_string()).or_default();
                        members.push(name.clone());
                    }
                    types.objects.insert(name, object.fields.iter().map(field).collect());
                }
                TypeKind::Union(union) => {
                    let members = union.members.iter().map(|member| member.node.to_string());
                    types.members.insert(name, members.collect());
                }
                _ => {}
            }
        }
        types
    }

    pub(crate) fn fields(&self, ty: &str) -> BTreeSet<&str> {
        self.objects[ty].iter().map(|field| field.name.as_str()).collect()
    }

    pub(crate) fn members(&self, ty: &str) -> &[String] {
        &self.members[ty]
    }

    pub(crate) fn field_type(&self, ty: &str, field: &str) -> &str {
        &self.objects[ty].iter().find(|other| other.name == field).unwrap().target
    }

    /// Returns whether a type has no fields.
    fn is_leaf(&self, ty: &str) -> bool {
        !self.objects.contains_key(ty) && !self.members.contains_key(ty)
    }

    /// Returns the item type of a connection.
    pub(crate) fn item(&self, ty: &str) -> Option<&str> {
        ty.ends_with("Connection").then(|| self.field_type(ty, "items"))
    }

    /// Returns the fields without subfields, and marks them as selected.
    fn leaf_names(&mut self, ty: &str) -> Vec<String> {
        let leaves = self.objects[ty].iter().filter(|field| self.is_leaf(&field.target));
        let leaves: Vec<String> = leaves.map(|field| field.name.clone()).collect();
        self.selected.extend(leaves.iter().map(|name| path(ty, name)));
        leaves
    }

    /// Selects the fields without subfields.
    fn leaves(&mut self, ty: &str) -> String {
        format!("__typename {}", self.leaf_names(ty).join(" "))
    }

    /// Selects the leaves of a type or of all its members.
    fn leaves_of_any(&mut self, ty: &str) -> String {
        let Some(members) = self.members.get(ty).cloned() else { return self.leaves(ty) };
        // Fields of one name must have one type, so those of each member get a name of their own.
        let each = members.iter().map(|it| {
            let leaves = self.leaf_names(it).into_iter();
            let leaves: Vec<String> = leaves.map(|leaf| format!("{it}_{leaf}: {leaf}")).collect();
            format!("... on {it} {{ {} }}", leaves.join(" "))
        });
        format!("__typename {}", each.collect::<Vec<_>>().join(" "))
    }

    /// Selects the leaves of a type and of its nullable fields: an error there affects nothing else.
    pub(crate) fn base(&mut self, ty: &str) -> String {
        let mut selected = vec![self.leaves_of_any(ty)];
        for (name, target) in self.edges(ty, false) {
            let inner = self.leaves_of_any(&target);
            self.selected.insert(path(ty, &name));
            selected.push(format!("{name} {{ {inner} }}"));
        }
        selected.join(" ")
    }

    /// Returns the fields with subfields, either the non-null or the nullable ones.
    fn edges(&self, ty: &str, is_required: bool) -> Vec<(String, String)> {
        let fields = self.objects.get(ty).into_iter().flatten();
        let edges = fields.filter(|field| {
            field.is_required == is_required
                && !field.needs_argument
                && !self.is_leaf(&field.target)
        });
        edges.map(|field| (field.name.clone(), field.target.clone())).collect()
    }

    /// Selects everything of a type, `depth` edges deep, in several pieces: an error in a non-null list
    /// nulls everything selected together with it.
    pub(crate) fn pieces(&mut self, ty: &str, depth: usize) -> Vec<String> {
        let mut pieces = vec![self.base(ty)];
        if depth == 0 {
            return pieces;
        }
        for (name, target) in self.edges(ty, true) {
            self.selected.insert(path(ty, &name));
            let item = self.item(&target).map(str::to_owned);
            let inner = self.pieces(item.as_deref().unwrap_or(&target), depth - 1);
            if item.is_some() {
                self.selected.extend(["items", "nextToken"].map(|field| path(&target, field)));
                let list =
                    |inner: &String| format!("__typename {name}(limit: 100) {}", items(inner));
                pieces.extend(inner.iter().map(list));
            } else {
                let one = |inner: &String| format!("__typename {name} {{ {inner} }}");
                pieces.extend(inner.iter().map(one));
            }
        }
        pieces
    }

    /// Returns the pieces in braces, or an empty selection for a leaf.
    pub(crate) fn pieces_or_none(&mut self, ty: &str, depth: usize) -> Vec<String> {
        if self.is_leaf(ty) {
            return vec![String::new()];
        }
        self.pieces(ty, depth).into_iter().map(|piece| format!("{{ {piece} }}")).collect()
    }

    /// Selects a page of a connection in Relay's style.
    pub(crate) fn page(&mut self, ty: &str) -> String {
        let (edge, item) =
            (self.field_type(ty, "edges").to_owned(), self.item(ty).unwrap().to_owned());
        self.selected
            .extend(["items", "nextToken", "edges", "pageInfo"].map(|field| path(ty, field)));
        self.selected.insert(path(&edge, "node"));
        let (node, cursor, info) = (self.base(&item), self.leaves(&edge), self.leaves("PageInfo"));
        format!("{{ __typename edges {{ {cursor} node {{ {node} }} }} pageInfo {{ {info} }} }}")
    }

    /// Returns the fields that are reachable from a type and were never selected.
    pub(crate) fn unselected(&self, root: &str) -> Vec<String> {
        let (mut seen, mut left) = (BTreeSet::new(), vec![root.to_owned()]);
        let mut unselected = Vec::new();
        while let Some(ty) = left.pop() {
            if !seen.insert(ty.clone()) {
                continue;
            }
            left.extend(self.members.get(&ty).into_iter().flatten().cloned());
            for field in self.objects.get(&ty).into_iter().flatten() {
                left.push(field.target.clone());
                let name = path(&ty, &field.name);
                if ty != root && !self.selected.contains(&name) {
                    unselected.push(name);
                }
            }
        }
        unselected
    }

    /// Returns the selected fields with subfields. Some viewer must get a value for each of them, or the
    /// search did not look there.
    pub(crate) fn selected_edges(&self) -> BTreeSet<String> {
        let edges = self.objects.iter().flat_map(|(ty, fields)| {
            let edges = fields.iter().filter(|field| !self.is_leaf(&field.target));
            edges.map(|field| path(ty, &field.name))
        });
        edges.filter(|edge| self.selected.contains(edge)).collect()
    }
}

/// Selects the items of a connection in AppSync's style.
pub(crate) fn items(inner: &str) -> String {
    format!("{{ __typename items {{ {inner} }} nextToken }}")
}
