//! The model's enums as GraphQL enums, under the names that the model gives them.

use std::borrow::Cow;

use async_graphql::parser::types::Field;
use async_graphql::registry::{Deprecation, MetaEnumValue, MetaType, MetaTypeId, Registry};
use async_graphql::{
    ContextSelectionSet, Enum, InputType, InputValueError, InputValueResult, Name, OutputType,
    Positioned, ServerResult, Value,
};
use roundtable_model as model;
use roundtable_model::table::Order;

/// An enum of the model that the API serves.
pub(crate) trait ModelEnum: Copy + Send + Sync + 'static {
    const NAME: &'static str;
    const VALUES: &'static [Self];

    fn name(self) -> &'static str;
}

/// A value of a model enum as a GraphQL value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EnumValue<V>(pub V);

/// The order of a list by time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
pub(crate) enum ModelSortDirection {
    /// Oldest first.
    Asc,
    /// Newest first.
    Desc,
}

impl ModelSortDirection {
    pub(crate) fn order_or(direction: Option<Self>, default: Order) -> Order {
        match direction {
            Some(Self::Asc) => Order::Ascending,
            Some(Self::Desc) => Order::Descending,
            None => default,
        }
    }
}

macro_rules! model_enums {
    ($($name:ident)*) => {$(
        impl ModelEnum for model::$name {
            const NAME: &'static str = stringify!($name);
            const VALUES: &'static [Self] = Self::ALL;

            fn name(self) -> &'static str {
                self.as_str()
            }
        }
    )*};
}

model_enums! {
    Role UserStatus Tier ActorType FollowStatus MemberStatus EntityKind GroupRole GoalStatus QuestStatus
    QuestDifficulty QuestKind CountScope ActivityVerb ObjectType ContentType Visibility ModerationStatus
    LikeType RoomScope PromotionReason OfferStatus NotificationKind
}

impl<V: ModelEnum> EnumValue<V> {
    fn meta(_: &mut Registry) -> MetaType {
        let meta = |value: &V| {
            let name = value.name().to_owned();
            let meta = MetaEnumValue {
                name: name.clone(),
                description: None,
                deprecation: Deprecation::NoDeprecated,
                visible: None,
                inaccessible: false,
                tags: Vec::new(),
                directive_invocations: Vec::new(),
            };
            (name, meta)
        };
        MetaType::Enum {
            name: V::NAME.to_owned(),
            description: None,
            enum_values: V::VALUES.iter().map(meta).collect(),
            visible: None,
            inaccessible: false,
            tags: Vec::new(),
            rust_typename: Some(std::any::type_name::<Self>()),
            directive_invocations: Vec::new(),
            requires_scopes: Vec::new(),
        }
    }
}

impl<V: ModelEnum> InputType for EnumValue<V> {
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
        let known = V::VALUES.iter().find(|value| value.name() == text);
        known.map(|value| Self(*value)).ok_or_else(|| {
            let names: Vec<&str> = V::VALUES.iter().map(|value| value.name()).collect();
            InputValueError::custom(format_args!("expected one of {}", names.join(", ")))
        })
    }

    fn to_value(&self) -> Value {
        Value::Enum(Name::new(self.0.name()))
    }

    fn as_raw_value(&self) -> Option<&Self> {
        Some(self)
    }
}

impl<V: ModelEnum> OutputType for EnumValue<V> {
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
