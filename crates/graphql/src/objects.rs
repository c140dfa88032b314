//! Objects of the API that are entities of the model.

/// Defines object types that hold an entity. Copies are cheap, because lists hand out many.
macro_rules! objects {
    ($($(#[$doc:meta])* $name:ident of $entity:ty;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub(crate) struct $name(pub(crate) std::sync::Arc<$entity>);

        impl From<$entity> for $name {
            fn from(entity: $entity) -> Self {
                Self(std::sync::Arc::new(entity))
            }
        }
    )*};
}

pub(crate) use objects;

/// Converts what a service found, in its order.
pub(crate) fn converted<T, O: From<T>>(found: Vec<Option<T>>) -> Vec<Option<O>> {
    found.into_iter().map(|it| it.map(O::from)).collect()
}

/// Returns what was found for the only key.
pub(crate) fn only<T>(found: Vec<Option<T>>) -> Option<T> {
    found.into_iter().next().flatten()
}
