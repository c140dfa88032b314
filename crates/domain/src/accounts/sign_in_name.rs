//! The names that users sign in with: an e-mail address, a nickname or a handle.

use std::str::FromStr;

use futures::future::try_join;
use roundtable_model::entities::User;
use roundtable_model::{Email, Handle, InvalidValue, LoginName, Nickname, UserId};

use super::Accounts;
use crate::ServiceError;

/// The name that a client gives of the account to sign in to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignInName {
    Email(Email),
    Handle(Handle),
    /// A text that can be either: the nickname of one user wins over the handle of another.
    NicknameOrHandle(Nickname, Handle),
}

impl From<Email> for SignInName {
    fn from(email: Email) -> Self {
        Self::Email(email)
    }
}

impl FromStr for SignInName {
    type Err = InvalidValue;

    /// Reads an `@` in front as that of a handle, and any other as that of an e-mail address.
    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        // All widths, which fold to the same sign.
        let is_at = |char: char| matches!(char, '@' | '＠' | '﹫');
        let text = text.trim();
        let handle = text.strip_prefix(is_at);
        if handle.unwrap_or(text).contains(is_at) {
            return text.parse().map(Self::Email);
        }
        match handle {
            Some(handle) => handle.parse().map(Self::Handle),
            None => Ok(Self::NicknameOrHandle(text.parse()?, text.parse()?)),
        }
    }
}

impl SignInName {
    /// The subject that failures are counted for if no account has the name.
    fn subject(&self) -> LoginName {
        match self {
            Self::Email(email) => email.into(),
            Self::Handle(handle) => handle.into(),
            Self::NicknameOrHandle(nickname, _) => nickname.into(),
        }
    }
}

impl Accounts {
    /// Returns the account with this name, and the subject that its failed sign-ins are counted for: the
    /// same one by whatever name the account is signed in to.
    pub(super) async fn find_by_sign_in_name(
        &self,
        name: &SignInName,
    ) -> Result<(Option<UserId>, LoginName), ServiceError> {
        let core = self.context.core();
        let user = match name {
            SignInName::Email(email) => {
                let lock = core.email_lock(email).get().await?;
                return Ok((lock.map(|lock| lock.user_id), email.into()));
            }
            SignInName::Handle(handle) => {
                core.handle_lock(handle).get().await?.map(|lock| lock.user_id)
            }
            SignInName::NicknameOrHandle(nickname, handle) => {
                // Both are read in any case, so that every name costs the same.
                let nickname = core.nick_lock(nickname);
                let handle = core.handle_lock(handle);
                let (nickname, handle) = try_join(nickname.get(), handle.get()).await?;
                nickname.map(|lock| lock.user_id).or(handle.map(|lock| lock.user_id))
            }
        };
        // Without an account, a random id is read.
        let read = user.clone().unwrap_or_else(|| self.context.ids().next());
        let account = self.context.existing_account(&read).await?;
        let subject = match &account {
            Some(User { email: Some(email), .. }) => email.into(),
            Some(User { id, .. }) => id.into(),
            None => name.subject(),
        };
        Ok((user, subject))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<SignInName, InvalidValue> {
        text.parse()
    }

    #[test]
    fn the_sign_decides_which_name_is_meant() {
        let email = parsed(" Ana@Example.com ").unwrap();
        assert_eq!(email, SignInName::Email("Ana@Example.com".parse().unwrap()));
        assert_eq!(
            parsed("ana＠example.com").unwrap(),
            SignInName::Email("ana＠example.com".parse().unwrap())
        );
        assert_eq!(parsed("@ana").unwrap(), SignInName::Handle("ana".parse().unwrap()));
        let either = SignInName::NicknameOrHandle("ana".parse().unwrap(), "ana".parse().unwrap());
        assert_eq!(parsed("ana").unwrap(), either);
    }

    #[test]
    fn what_can_be_no_name_is_refused() {
        for text in ["", "@", "ana@", "@ana@example.org", "a@b@c", "a\u{7}b"] {
            parsed(text).expect_err(text);
        }
        parsed(&"a".repeat(65)).unwrap_err();
    }
}
