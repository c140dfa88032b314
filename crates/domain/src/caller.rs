//! The authenticated caller of a service. Authentication happens before a service is called.

use roundtable_model::entities::User;
use roundtable_model::{ApiKeyId, IssuerName, IssuerSubject, Role, SessionId, Time, UserId};

use crate::access::Relations;

/// An authenticated user, or a program with one of the user's API keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    pub user_id: UserId,
    /// Roles beyond those of an ordinary user, as of authentication. What they allow is decided by
    /// the roles that the profile has now as well: `Caller::current_roles`.
    pub roles: Roles,
    pub credential: CallerCredential,
}

/// The credential that a caller authenticated with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallerCredential {
    SignIn {
        /// The item that the sign-in lasts as long as; `None` for a user whom a service stands in for.
        basis: Option<SignInBasis>,
        /// The last time the user gave their password, here or to their issuer, as far as known.
        password_at: Option<Time>,
    },
    ApiKey {
        id: ApiKeyId,
        scopes: Vec<String>,
    },
}

/// The stored item without which a sign-in is no longer valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignInBasis {
    Session(SessionId),
    /// The link to the identity at the external issuer that signed the user in.
    Identity(IssuerName, IssuerSubject),
}

impl CallerCredential {
    const UNKNOWN: Self = Self::SignIn { basis: None, password_at: None };
}

impl Caller {
    pub fn user(user_id: UserId) -> Self {
        Self { user_id, roles: Roles::default(), credential: CallerCredential::UNKNOWN }
    }

    pub fn with_roles(user_id: UserId, roles: &[Role]) -> Self {
        Self { roles: roles.iter().copied().collect(), ..Self::user(user_id) }
    }

    /// The same caller, who has given the password at this time. An API key stays one.
    #[must_use]
    pub fn with_password_at(mut self, at: Time) -> Self {
        if let CallerCredential::SignIn { password_at, .. } = &mut self.credential {
            *password_at = Some(at);
        }
        self
    }

    /// The caller's session; API keys and tokens of another issuer have none.
    pub const fn session(&self) -> Option<&SessionId> {
        match &self.credential {
            CallerCredential::SignIn { basis: Some(SignInBasis::Session(id)), .. } => Some(id),
            CallerCredential::SignIn { .. } | CallerCredential::ApiKey { .. } => None,
        }
    }

    /// The last time the user gave their password, here or to their issuer, as far as known.
    pub(crate) const fn password_at(&self) -> Option<Time> {
        match &self.credential {
            CallerCredential::SignIn { password_at, .. } => *password_at,
            CallerCredential::ApiKey { .. } => None,
        }
    }

    /// Returns whether the caller has a scope. Users who signed in have all of them.
    pub fn has_scope(&self, scope: &str) -> bool {
        match &self.credential {
            CallerCredential::SignIn { .. } => true,
            CallerCredential::ApiKey { scopes, .. } => {
                scopes.iter().any(|granted| granted == scope)
            }
        }
    }

    /// The relations of every signed-in caller to any object.
    pub(crate) const fn signed_in_relations(&self) -> Relations {
        let in_person = matches!(self.credential, CallerCredential::SignIn { .. });
        Relations::SIGNED_IN.with_if(in_person, Relations::IN_PERSON)
    }

    /// The caller's relations to any object, given their profile as it is now.
    pub(crate) fn relations(&self, me: &User) -> Relations {
        self.signed_in_relations() | self.current_roles(me).relations()
    }

    /// The caller's relations to an object of this owner, given the caller's profile as it is now.
    pub(crate) fn relations_to(&self, me: &User, owner: &UserId) -> Relations {
        self.relations(me).with_if(self.user_id == *owner, Relations::OWNER)
    }

    /// The roles that both the caller's token and the stored profile grant, so that revoking a role
    /// takes effect at once.
    pub(crate) fn current_roles(&self, profile: &User) -> Roles {
        let has = |role, claimed| claimed && profile.roles.contains(&role);
        Roles {
            moderator: has(Role::Moderator, self.roles.moderator),
            admin: has(Role::Admin, self.roles.admin),
        }
    }

    /// Returns whether the caller was a moderator or an admin at authentication.
    pub const fn moderates(&self) -> bool {
        self.roles.moderates()
    }
}

/// Special roles of a caller. Every caller is a user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Roles {
    pub moderator: bool,
    pub admin: bool,
}

impl Roles {
    /// Returns whether they include a role of the staff.
    pub(crate) const fn moderates(self) -> bool {
        self.moderator || self.admin
    }

    /// The relations that these roles give to any object.
    pub(crate) const fn relations(self) -> Relations {
        Relations::SIGNED_IN
            .with_if(self.moderator, Relations::MODERATOR)
            .with_if(self.admin, Relations::ADMIN)
    }
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
