use std::fmt;

use super::{Release, TokenRole};
use crate::model::{PoolId, TokenId, shell_quoted};

/// One call of `pveum`. Shown, it is a line for a shell that means exactly these words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command(Vec<String>);

/// The user that may do everything, and is there from the beginning.
const ROOT: &str = "root@pam";

impl Command {
    fn new<const N: usize>(words: [&str; N]) -> Self {
        Self(words.map(str::to_owned).into())
    }

    pub fn add_role(role: TokenRole, release: Release) -> Self {
        Self::new(["role", "add", role.name(), "--privs", &role.privileges(release).join(" ")])
    }

    pub fn delete_role(role: TokenRole) -> Self {
        Self::new(["role", "delete", role.name()])
    }

    /// Makes the user of a token; root is there already.
    pub fn add_user(token: &TokenId) -> Option<Self> {
        (token.user() != ROOT).then(|| Self::new(["user", "add", token.user()]))
    }

    /// Deletes the user of a token, never root.
    pub fn delete_user(token: &TokenId) -> Option<Self> {
        (token.user() != ROOT).then(|| Self::new(["user", "delete", token.user()]))
    }

    /// Makes a token with privileges of its own; its secret is in the answer.
    pub fn add_token(token: &TokenId) -> Self {
        Self::new(["user", "token", "add", token.user(), token.name(), "--privsep", "1"])
    }

    pub fn remove_token(token: &TokenId) -> Self {
        Self::new(["user", "token", "remove", token.user(), token.name()])
    }

    /// Makes a pool, and before it those that it is in: Proxmox makes none without its parent.
    pub fn add_pool(pool: &PoolId) -> impl Iterator<Item = Self> {
        let name = pool.as_str();
        let ends = name.match_indices('/').map(|(end, _)| end).chain([name.len()]);
        ends.map(|end| Self::new(["pool", "add", &name[..end]]))
    }

    /// Grants a role on a path to a token, and to its user because a separated token has what both have. Root has
    /// everything.
    pub fn grant(path: &str, role: TokenRole, token: &TokenId) -> Self {
        let mut words = vec!["acl", "modify", path, "--roles", role.name()];
        if token.user() != ROOT {
            words.extend(["--users", token.user()]);
        }
        words.extend(["--tokens", token.as_str()]);
        if !role.propagates() {
            words.extend(["--propagate", "0"]);
        }
        Self(words.into_iter().map(str::to_owned).collect())
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("pveum")?;
        self.0.iter().try_for_each(|word| write!(f, " {}", shell_quoted(word)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(text: &str) -> TokenId {
        text.parse().expect("a token id")
    }

    #[test]
    fn a_pool_comes_after_those_that_it_is_in() {
        let pool: PoolId = "a/b.c/d".parse().expect("a pool");
        let lines: Vec<String> = Command::add_pool(&pool).map(|command| command.to_string()).collect();
        assert_eq!(lines, ["pveum pool add a", "pveum pool add a/b.c", "pveum pool add a/b.c/d"]);
    }

    #[test]
    fn root_is_neither_made_nor_deleted_nor_given_what_it_has() {
        let root = token("root@pam!ci");
        assert_eq!((Command::add_user(&root), Command::delete_user(&root)), (None, None));
        assert_eq!(
            Command::grant("/", TokenRole::StartOrder, &root).to_string(),
            "pveum acl modify / --roles TalosStartOrder --tokens 'root@pam!ci' --propagate 0"
        );
    }
}
