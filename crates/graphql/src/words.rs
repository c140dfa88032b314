//! The model's closed vocabularies as GraphQL enums: each is spelled in one place, and not here.

use std::borrow::Cow;

use async_graphql::parser::types::Field;
use async_graphql::registry::{Deprecation, MetaEnumValue, MetaType, MetaTypeId, Registry};
use async_graphql::{
    ContextSelectionSet, Enum, InputType, InputValueError, InputValueResult, Name, OutputType,
    Positioned, ServerResult, Value,
};
use roundtable_model as model;
use roundtable_model::table::Order;

/// A vocabulary that the API knows under this name.
pub(crate) trait Vocabulary: Copy + Send + Sync + 'static {
    /// The enum's name.
    const NAME: &'static str;
    /// Every word of it.
    const WORDS: &'static [Self];

    /// How a word is spelled.
    fn spelled(self) -> &'static str;
}

/// A word of a vocabulary, as clients send and get it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word<V>(pub V);

/// In which order a list is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
pub(crate) enum ModelSortDirection {
    /// The oldest first.
    Asc,
    /// The newest first.
    Desc,
}

impl ModelSortDirection {
    /// The order that is asked for, or else that of the list.
    pub(crate) fn or(direction: Option<Self>, otherwise: Order) -> Order {
        match direction {
            Some(Self::Asc) => Order::Ascending,
            Some(Self::Desc) => Order::Descending,
            None => otherwise,
        }
    }
}

macro_rules! vocabularies {
    ($($name:ident)*) => {$(
        impl Vocabulary for model::$name {
            const NAME: &'static str = stringify!($name);
            const WORDS: &'static [Self] = Self::ALL;

            fn spelled(self) -> &'static str {
                self.as_str()
            }
        }
    )*};
}

vocabularies! {
    Role UserStatus Tier ActorType FollowStatus MemberStatus EntityKind GroupRole GoalStatus QuestStatus
    QuestDifficulty QuestKind CountScope ActivityVerb ObjectType ContentType Visibility ModerationStatus
    LikeType RoomScope PromotionReason OfferStatus NotificationKind
}

impl<V: Vocabulary> Word<V> {
    fn meta(_: &mut Registry) -> MetaType {
        let value = |word: &V| {
            let name = word.spelled().to_owned();
            let value = MetaEnumValue {
                name: name.clone(),
                description: None,
                deprecation: Deprecation::NoDeprecated,
                visible: None,
                inaccessible: false,
                tags: Vec::new(),
                directive_invocations: Vec::new(),
            };
            (name, value)
        };
        MetaType::Enum {
            name: V::NAME.to_owned(),
            description: None,
            enum_values: V::WORDS.iter().map(value).collect(),
            visible: None,
            inaccessible: false,
            tags: Vec::new(),
            rust_typename: Some(std::any::type_name::<Self>()),
            directive_invocations: Vec::new(),
            requires_scopes: Vec::new(),
        }
    }
}

impl<V: Vocabulary> InputType for Word<V> {
    type RawValueType = Self;

    fn type_name() -> Cow<'static, str> {
        V::NAME.into()
    }

    fn create_type_info(registry: &mut Registry) -> String {
        registry.create_input_type::<Self, _>(MetaTypeId::Enum, Self::meta)
    }

    fn parse(value: Option<Value>) -> InputValueResult<Self> {
        let value = value.unwrap_or_default();
        let text = match &value {
            Value::Enum(name) => name.as_str(),
            Value::String(text) => text,
            _ => return Err(InputValueError::expected_type(value)),
        };
        let found = V::WORDS.iter().find(|word| word.spelled() == text);
        found.map(|word| Self(*word)).ok_or_else(|| {
            let words: Vec<&str> = V::WORDS.iter().map(|word| word.spelled()).collect();
            InputValueError::custom(format_args!("expected one of {}", words.join(", ")))
        })
    }

    fn to_value(&self) -> Value {
        Value::Enum(Name::new(self.0.spelled()))
    }

    fn as_raw_value(&self) -> Option<&Self> {
        Some(self)
    }
}

impl<V: Vocabulary> OutputType for Word<V> {
    fn type_name() -> Cow<'static, str> {
        V::NAME.into()
    }

    fn create_type_info(registry: &mut Registry) -> String {
        registry.create_output_type::<Self, _>(MetaTypeId::Enum, Self::meta)
    }

    async fn resolve(
        &self,
        _: &ContextSelectionSet<'_>,
        _: &Positioned<Field>,
    ) -> ServerResult<Value> {
        Ok(self.to_value())
    }
}
