use std::fmt;
use std::str::FromStr;

use secrecy::{ExposeSecret, SecretString};

use super::invalid::serialize_as_text;
use super::{Invalid, Text};

/// The public half of an API token: user, realm and token name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokenId(Box<str>);

impl TokenId {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The user that the token belongs to, with the realm.
    pub fn user(&self) -> &str {
        self.0.rsplit_once('!').map_or(&self.0, |(user, _)| user)
    }

    /// The name by which the user tells it from other tokens.
    pub fn name(&self) -> &str {
        self.0.rsplit_once('!').map_or("", |(_, name)| name)
    }
}

impl Text for TokenId {
    const WHAT: &'static str = "a token id like `pvetalos@pve!ci`";
    const PATTERN: &'static str = r"^[^\s:/;!=]+@[A-Za-z][A-Za-z0-9._-]+![A-Za-z][A-Za-z0-9._-]+$";
}

impl FromStr for TokenId {
    type Err = Invalid;

    /// A text that is none is not repeated in the message: it may be the secret, or have it at its end.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refused = |why: &'static str| Err(Invalid::hidden(Self::WHAT).because(why));
        if text.contains('=') {
            return refused("the part from `=` on is the secret and does not belong here");
        }
        let Some((user, name)) = text.rsplit_once('!') else {
            return refused("the `!` and the token's name are missing");
        };
        let Some((user, realm)) = user.rsplit_once('@') else {
            return refused("the `@` and the realm are missing, as in `root@pam!ci`");
        };
        let word = |word: &str| {
            word.len() >= 2
                && word.starts_with(|c: char| c.is_ascii_alphabetic())
                && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
        };
        if user.is_empty() || user.contains(|c: char| c.is_whitespace() || c.is_control() || ":/;!".contains(c)) {
            refused("the user before `@` is empty or has a character that Proxmox refuses")
        } else if !word(realm) {
            refused("the realm between `@` and `!` is not one that Proxmox takes")
        } else if !word(name) {
            refused("the token's name after `!` is not one that Proxmox takes")
        } else {
            Ok(Self(text.into()))
        }
    }
}

impl fmt::Display for TokenId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

serialize_as_text!(TokenId);

/// The secret half of an API token. It has no `Display`, and its `Debug` hides it.
#[derive(Clone, Debug)]
pub struct TokenSecret(SecretString);

impl TokenSecret {
    /// The secret itself, for the one header that carries it.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

impl FromStr for TokenSecret {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = || Invalid::hidden("the secret of an API token");
        if text.is_empty() {
            return Err(invalid().because("it is empty"));
        }
        if text.contains('!') || text.contains('=') {
            return Err(invalid()
                .because("only the part after `=` is the secret")
                .hint("give `user@realm!name` as the token id, and the rest as the secret"));
        }
        // Proxmox decodes percent signs in the header and cuts it at `;`.
        if !text.bytes().all(|b| b.is_ascii_graphic() && b != b';' && b != b'%') {
            return Err(invalid().because("it has a space, or a character that no token secret has"));
        }
        Ok(Self(SecretString::from(text)))
    }
}

/// Programs are told that there is one, and no more.
impl serde::Serialize for TokenSecret {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str("(hidden)")
    }
}

/// Both halves of an API token.
#[derive(Clone, Debug)]
pub struct ApiToken {
    pub id: TokenId,
    pub secret: TokenSecret,
}

impl FromStr for ApiToken {
    type Err = Invalid;

    /// Reads `user@realm!name=secret`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = || Invalid::hidden("an API token of the form `user@realm!name=secret`");
        let text = text.strip_prefix("PVEAPIToken=").unwrap_or(text);
        let (id, secret) = text.split_once('=').ok_or_else(|| invalid().because("there is no `=`"))?;
        let id = id.parse().map_err(|_| invalid().because(format!("the part before `=` is not {}", TokenId::WHAT)))?;
        Ok(Self { id, secret: secret.parse()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_id_has_three_parts() {
        for text in ["root@pam!ci", "pvetalos@pve!ci-1", "a.b@ldap.corp!t0"] {
            assert_eq!(text.parse::<TokenId>().unwrap().as_str(), text);
        }
        let token: TokenId = "a.b@ldap.corp!t0".parse().unwrap();
        assert_eq!((token.user(), token.name()), ("a.b@ldap.corp", "t0"));
        for text in
            ["root", "root@pam", "root!ci", "@pam!ci", "root@pam!", "root@pam!c", "ro ot@pam!ci", "root@pam!ci=x"]
        {
            assert!(text.parse::<TokenId>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_secret_is_nowhere_to_be_seen() {
        let token: ApiToken = "root@pam!ci=11111111-2222-3333-4444-555555555555".parse().unwrap();
        assert!(!format!("{token:?} {:#?}", token.secret).contains("1111"));
        assert_eq!(token.secret.expose(), "11111111-2222-3333-4444-555555555555");
        for wrong in ["hun ter2", "hun;ter2", "hun=ter2", "u@r!n=hun ter2", "x!y=hun ter2"] {
            let texts = format!("{:?} {:?}", wrong.parse::<TokenSecret>(), wrong.parse::<ApiToken>());
            assert!(!texts.contains("hun") && !texts.contains("ter2"), "{texts}");
        }
    }
}
