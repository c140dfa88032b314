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
