//! Who is asking: somebody whose identity has been proven before a service sees them.

use roundtable_model::{Role, UserId};

/// An authenticated person, or a program with one of their keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// Who it is.
    pub user_id: UserId,
    /// What they may do beyond what everybody may.
    pub roles: Roles,
    /// What the key may be used for that they came with; `None` when they came themselves.
    pub scopes: Option<Vec<String>>,
}

impl Caller {
    /// Somebody without special roles.
    pub fn user(user_id: UserId) -> Self {
        Self { user_id, roles: Roles::default(), scopes: None }
    }

    /// Somebody with the roles of their profile.
    pub fn with_roles(user_id: UserId, roles: &[Role]) -> Self {
        Self { user_id, roles: roles.iter().copied().collect(), scopes: None }
    }

    /// Whether they can be here for this: people themselves are for everything.
    pub fn has_scope(&self, scope: &str) -> bool {
        self.scopes.as_ref().is_none_or(|scopes| scopes.iter().any(|known| known == scope))
    }

    /// Whether they may moderate; admins may.
    pub const fn moderates(&self) -> bool {
        self.roles.moderator || self.roles.admin
    }
}

/// The roles of a caller. Every caller is a user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Roles {
    /// May decide about content.
    pub moderator: bool,
    /// May do everything.
    pub admin: bool,
}

impl FromIterator<Role> for Roles {
    fn from_iter<I: IntoIterator<Item = Role>>(roles: I) -> Self {
        let mut all = Self::default();
        for role in roles {
            match role {
                Role::User => {}
                Role::Moderator => all.moderator = true,
                Role::Admin => all.admin = true,
            }
        }
        all
    }
}
