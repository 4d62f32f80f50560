//! Users, tokens, roles and access rules, and what follows from them (`PVE/AccessControl.pm`,
//! `PVE/RPCEnvironment.pm` in pve-access-control).

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::call::{Failure, percent_decode};
use super::world::World;

/// The privileges of Proxmox VE 9.
pub const PRIVILEGES: &[&str] = &[
    "Datastore.Allocate",
    "Datastore.AllocateSpace",
    "Datastore.AllocateTemplate",
    "Datastore.Audit",
    "Group.Allocate",
    "Mapping.Audit",
    "Mapping.Modify",
    "Mapping.Use",
    "Permissions.Modify",
    "Pool.Allocate",
    "Pool.Audit",
    "Realm.Allocate",
    "Realm.AllocateUser",
    "SDN.Allocate",
    "SDN.Audit",
    "SDN.Use",
    "Sys.AccessNetwork",
    "Sys.Audit",
    "Sys.Console",
    "Sys.Incoming",
    "Sys.Modify",
    "Sys.PowerMgmt",
    "Sys.Syslog",
    "User.Modify",
    "VM.Allocate",
    "VM.Audit",
    "VM.Backup",
    "VM.Clone",
    "VM.Config.CDROM",
    "VM.Config.CPU",
    "VM.Config.Cloudinit",
    "VM.Config.Disk",
    "VM.Config.HWType",
    "VM.Config.Memory",
    "VM.Config.Network",
    "VM.Config.Options",
    "VM.Console",
    "VM.GuestAgent.Audit",
    "VM.GuestAgent.FileRead",
    "VM.GuestAgent.FileSystemMgmt",
    "VM.GuestAgent.FileWrite",
    "VM.GuestAgent.Unrestricted",
    "VM.Migrate",
    "VM.PowerMgmt",
    "VM.Replicate",
    "VM.Snapshot",
    "VM.Snapshot.Rollback",
];

/// Whether Proxmox VE 9 knows the privilege. `VM.Monitor` is left to [`World::unknown_privilege`].
pub(crate) fn is_privilege(name: &str) -> bool {
    name == "VM.Monitor" || PRIVILEGES.contains(&name)
}

/// The privileges of all releases together.
fn all_privileges() -> impl Iterator<Item = &'static str> {
    PRIVILEGES.iter().copied().chain(std::iter::once("VM.Monitor"))
}

/// Who may make a call; paths may hold the names of parameters in braces.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Access {
    Everyone,
    All(&'static str, &'static [&'static str]),
    Any(&'static str, &'static [&'static str]),
    /// As `All`, but only when the parameter is there.
    Given(&'static str, &'static str, &'static [&'static str]),
    And(&'static [Self]),
    Or(&'static [Self]),
    /// May change the access rules of the path that the parameter names.
    ModifyAcl,
    /// The user that the path names, itself.
    Oneself,
    AllocateUser,
    UserGroup(&'static [&'static str]),
}

impl Access {
    /// The guest agent had one privilege for everything before Proxmox VE 9.
    pub(crate) fn before_nine(self) -> Self {
        match self {
            Self::Any(path, privileges) if privileges.iter().any(|name| name.starts_with("VM.GuestAgent")) => {
                Self::All(path, &["VM.Monitor"])
            }
            other => other,
        }
    }
}

/// Everything in `user.cfg`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AccessControl {
    pub(crate) users: BTreeMap<String, User>,
    /// Roles beside the predefined ones.
    pub(crate) roles: BTreeMap<String, BTreeSet<String>>,
    pub(crate) rules: Vec<Rule>,
    pub(crate) pools: BTreeMap<String, Pool>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct User {
    pub(crate) enabled: bool,
    /// Unix time; 0 means never.
    pub(crate) expire: u64,
    pub(crate) comment: Option<String>,
    pub(crate) tokens: BTreeMap<String, Token>,
}

impl Default for User {
    fn default() -> Self {
        Self { enabled: true, expire: 0, comment: None, tokens: BTreeMap::new() }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Token {
    pub(crate) secret: String,
    /// Whether the token has rights of its own, beside which the user's count too.
    pub(crate) privsep: bool,
    pub(crate) expire: u64,
    pub(crate) comment: Option<String>,
}

impl Default for Token {
    fn default() -> Self {
        Self { secret: String::new(), privsep: true, expire: 0, comment: None }
    }
}

/// One access rule: this user or token has this role on this path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rule {
    pub(crate) path: String,
    /// `user@realm` or `user@realm!token`.
    pub(crate) who: String,
    pub(crate) role: String,
    #[serde(default = "yes")]
    pub(crate) propagate: bool,
}

fn yes() -> bool {
    true
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Pool {
    pub(crate) comment: Option<String>,
    pub(crate) vms: BTreeSet<u32>,
    pub(crate) storages: BTreeSet<String>,
}

/// Privileges on one path; the value tells whether they hold below it too.
pub(crate) type Privileges = BTreeMap<String, bool>;

impl AccessControl {
    /// The privileges of a role, predefined or not, of whatever release; see [`World::role`].
    pub(crate) fn role(&self, name: &str) -> Option<BTreeSet<String>> {
        if Self::PREDEFINED.contains(&name) {
            let has = all_privileges().filter(|privilege| predefined_has(name, privilege));
            return Some(has.map(str::to_owned).collect());
        }
        self.roles.get(name).cloned()
    }

    fn role_has(&self, name: &str, privilege: &str) -> bool {
        predefined_has(name, privilege) || self.roles.get(name).is_some_and(|role| role.contains(privilege))
    }

    pub(crate) const PREDEFINED: &'static [&'static str] = &[
        "Administrator",
        "NoAccess",
        "PVEAdmin",
        "PVEAuditor",
        "PVEDatastoreAdmin",
        "PVEDatastoreUser",
        "PVEPoolAdmin",
        "PVEPoolUser",
        "PVESDNAdmin",
        "PVESDNUser",
        "PVESysAdmin",
        "PVETemplateUser",
        "PVEUserAdmin",
        "PVEVMAdmin",
        "PVEVMUser",
    ];

    /// Whether a role of this name can only be a predefined one.
    pub(crate) fn keeps(role: &str) -> bool {
        role.get(..3).is_some_and(|start| start.eq_ignore_ascii_case("PVE"))
    }

    /// The roles of a user or token on a path. At each level of the path an entry *replaces* what came from above.
    fn roles(&self, who: &str, path: &str) -> BTreeMap<String, bool> {
        let mut roles = BTreeMap::new();
        let mut level = String::new();
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        for depth in 0..=parts.len() {
            if depth > 0 {
                level.push('/');
                level.push_str(parts[depth - 1]);
            }
            let here = if level.is_empty() { "/" } else { level.as_str() };
            let last = depth == parts.len();
            let entries: BTreeMap<String, bool> = self
                .rules
                .iter()
                .filter(|rule| rule.who == who && rule.path == here && (last || rule.propagate))
                .map(|rule| (rule.role.clone(), rule.propagate))
                .collect();
            if entries.contains_key("NoAccess") {
                roles = BTreeMap::from([("NoAccess".to_owned(), entries["NoAccess"])]);
            } else if !entries.is_empty() {
                roles = entries;
            }
        }
        roles
    }

    /// The pool that a VM's or a storage's path belongs to.
    fn pool_of(&self, path: &str) -> Option<&String> {
        let vm = path.strip_prefix("/vms/").and_then(|id| id.parse::<u32>().ok());
        let storage = path.strip_prefix("/storage/");
        self.pools
            .iter()
            .find(|(_, pool)| {
                vm.is_some_and(|id| pool.vms.contains(&id)) || storage.is_some_and(|id| pool.storages.contains(id))
            })
            .map(|(name, _)| name)
    }

    /// The roles on a path, those of its pool included.
    fn all_roles(&self, who: &str, path: &str) -> BTreeMap<String, bool> {
        let mut roles = self.roles(who, path);
        if !roles.contains_key("NoAccess")
            && let Some(pool) = self.pool_of(path)
        {
            roles.extend(self.roles(who, &format!("/pool/{pool}")));
        }
        roles
    }

    fn own_privileges(&self, who: &str, path: &str) -> Privileges {
        let mut privileges = Privileges::new();
        for (role, propagate) in self.all_roles(who, path) {
            for privilege in self.role(&role).unwrap_or_default() {
                *privileges.entry(privilege).or_insert(false) |= propagate;
            }
        }
        privileges
    }

    /// What a user or token may do on a path, in whatever release; see [`World::privileges`].
    pub(crate) fn privileges(&self, who: &str, path: &str) -> Privileges {
        if who == "root@pam" {
            return all_privileges().map(|name| (name.to_owned(), true)).collect();
        }
        let Some((user, token)) = who.split_once('!') else {
            return self.own_privileges(who, path);
        };
        let Some(token) = self.users.get(user).and_then(|user| user.tokens.get(token)) else {
            return Privileges::new();
        };
        let of_user = self.privileges(user, path);
        if !token.privsep {
            return of_user;
        }
        // A separated token has what both the user and the token have.
        let mut of_token = self.own_privileges(who, path);
        of_token.retain(|name, _| of_user.contains_key(name));
        of_token
    }

    /// Whether the privilege is among them; lists ask that once a row, so nothing is built for it.
    pub(crate) fn may(&self, who: &str, path: &str, privilege: &str) -> bool {
        let own = |who: &str| self.all_roles(who, path).keys().any(|role| self.role_has(role, privilege));
        if who == "root@pam" {
            return true;
        }
        let Some((user, token)) = who.split_once('!') else {
            return own(who);
        };
        let token = self.users.get(user).and_then(|user| user.tokens.get(token));
        token.is_some_and(|token| self.may(user, path, privilege) && (!token.privsep || own(who)))
    }
}

/// What the predefined roles have (`PVE/AccessControl.pm: create_roles`).
fn predefined_has(role: &str, privilege: &str) -> bool {
    let starts = |prefix: &str| privilege.starts_with(prefix);
    match role {
        "Administrator" => true,
        "PVEAdmin" => !matches!(
            privilege,
            "Permissions.Modify"
                | "Sys.Modify"
                | "Sys.PowerMgmt"
                | "Sys.Incoming"
                | "Sys.Console"
                | "Sys.AccessNetwork"
                | "Realm.Allocate"
        ),
        "PVEAuditor" => privilege.ends_with(".Audit"),
        "PVEDatastoreAdmin" => starts("Datastore."),
        "PVEDatastoreUser" => matches!(privilege, "Datastore.AllocateSpace" | "Datastore.Audit"),
        "PVEPoolAdmin" => starts("Pool."),
        "PVEPoolUser" => privilege == "Pool.Audit",
        "PVESDNAdmin" => starts("SDN."),
        "PVESDNUser" => matches!(privilege, "SDN.Audit" | "SDN.Use"),
        "PVESysAdmin" => matches!(privilege, "Permissions.Modify" | "Sys.Audit" | "Sys.Console" | "Sys.Syslog"),
        "PVETemplateUser" => matches!(privilege, "VM.Audit" | "VM.Clone"),
        "PVEUserAdmin" => matches!(privilege, "Group.Allocate" | "Realm.AllocateUser" | "User.Modify"),
        "PVEVMAdmin" => starts("VM."),
        "PVEVMUser" => matches!(
            privilege,
            "VM.Audit"
                | "VM.Backup"
                | "VM.Config.CDROM"
                | "VM.Config.Cloudinit"
                | "VM.Console"
                | "VM.PowerMgmt"
                | "VM.GuestAgent.Audit"
        ),
        _ => false,
    }
}

/// Puts the parameters into a path.
fn fill(path: &str, params: &BTreeMap<String, String>) -> String {
    let mut filled = String::new();
    let mut rest = path;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}').unwrap_or((after, ""));
        filled.push_str(before);
        filled.push_str(params.get(name).map_or("", String::as_str));
        rest = after;
    }
    filled + rest
}

impl World {
    /// The user or token that the header stands for. Every failure takes 3 s and says the same.
    pub(crate) fn authenticate(&self, header: Option<&str>) -> Result<String, Failure> {
        let refuse = |text: &str| Failure::bare(401, text, 3000);
        let token =
            header.and_then(|header| header.strip_prefix("PVEAPIToken").and_then(|rest| rest.strip_prefix(['=', ' '])));
        let Some(token) = token else {
            return Err(refuse("No ticket"));
        };
        let token = percent_decode(token.split(';').next().unwrap_or_default());
        // Newer releases do not tell strangers what exactly was wrong.
        let plain = self.release.hides_login_errors();
        let wrong = |text: String| refuse(if plain { "Authentication failed!" } else { &text });
        let (id, secret) = token.split_once('=').ok_or_else(|| wrong("invalid token format".to_owned()))?;
        let (user, name) = id.split_once('!').ok_or_else(|| wrong("invalid token format".to_owned()))?;
        let account = self.access.users.get(user).ok_or_else(|| wrong(format!("no such user ('{user}')")))?;
        let over = |expire: u64| expire != 0 && expire <= self.unix_time();
        if !account.enabled {
            return Err(wrong(format!("user '{user}' is disabled")));
        }
        if over(account.expire) {
            return Err(wrong(format!("user '{user}' access expired")));
        }
        let missing = || wrong(format!("no such token '{name}' for user '{user}'"));
        let token = account.tokens.get(name).ok_or_else(missing)?;
        if over(token.expire) {
            return Err(wrong(format!("token '{name}' access expired")));
        }
        if token.secret != secret {
            return Err(wrong("invalid token value!".to_owned()));
        }
        Ok(id.to_owned())
    }

    pub(crate) fn check_access(
        &self,
        user: &str,
        access: &Access,
        params: &BTreeMap<String, String>,
    ) -> Result<(), Failure> {
        match access {
            Access::Everyone => Ok(()),
            Access::All(path, privileges) => self.require(user, &fill(path, params), privileges),
            Access::Any(path, privileges) => self.require_any(user, &fill(path, params), privileges),
            Access::Given(param, path, privileges) => match params.get(*param) {
                Some(_) => self.require(user, &fill(path, params), privileges),
                None => Err(Failure::forbidden("")),
            },
            Access::And(parts) => parts.iter().try_for_each(|part| self.check_access(user, part, params)),
            Access::Or(parts) => {
                let any = parts.iter().any(|part| self.check_access(user, part, params).is_ok());
                if any { Ok(()) } else { Err(Failure::forbidden("")) }
            }
            Access::ModifyAcl => self.may_modify_acl(user, params.get("path").map_or("", String::as_str)),
            Access::Oneself => {
                let same = params.get("userid").is_some_and(|wanted| wanted == user);
                if same { Ok(()) } else { Err(Failure::forbidden("")) }
            }
            Access::AllocateUser => {
                let realm = params.get("userid").and_then(|user| user.rsplit_once('@')).map_or("", |(_, realm)| realm);
                self.require(user, &format!("/access/realm/{realm}"), &["Realm.AllocateUser"])
            }
            Access::UserGroup(privileges) => self.require_any(user, "/access/groups", privileges),
        }
    }

    fn may_modify_acl(&self, user: &str, path: &str) -> Result<(), Failure> {
        let also = match path.split('/').nth(1) {
            Some("vms") => Some("VM.Allocate"),
            Some("storage") => Some("Datastore.Allocate"),
            Some("pool") => Some("Pool.Allocate"),
            _ => None,
        };
        let allowed = std::iter::once("Permissions.Modify").chain(also).any(|name| self.access.may(user, path, name));
        if allowed { Ok(()) } else { Err(Failure::forbidden(&format!("{path}, Permissions.Modify"))) }
    }

    /// All of the privileges; the first missing one is named.
    pub(crate) fn require(&self, user: &str, path: &str, privileges: &[&str]) -> Result<(), Failure> {
        match privileges.iter().find(|name| !self.access.may(user, path, name)) {
            Some(missing) => Err(Failure::forbidden(&format!("{path}, {missing}"))),
            None => Ok(()),
        }
    }

    /// One of the privileges; all are named if there is none.
    pub(crate) fn require_any(&self, user: &str, path: &str, privileges: &[&str]) -> Result<(), Failure> {
        if privileges.iter().any(|name| self.access.may(user, path, name)) {
            Ok(())
        } else {
            Err(Failure::forbidden(&format!("{path}, {}", privileges.join("|"))))
        }
    }

    pub(crate) fn may(&self, user: &str, path: &str, privilege: &str) -> bool {
        self.access.may(user, path, privilege)
    }

    /// A privilege that this release does not have: 9 dropped one and added others.
    pub(crate) fn unknown_privilege<'p>(&self, names: impl Iterator<Item = &'p str>) -> Option<&'p str> {
        let mut names = names;
        names.find(|name| !self.release.has_privilege(name))
    }

    /// The privileges of a role, as this release has them.
    pub(crate) fn role(&self, name: &str) -> Option<BTreeSet<String>> {
        let mut role = self.access.role(name)?;
        role.retain(|privilege| self.release.has_privilege(privilege));
        Some(role)
    }

    /// What a user or token may do on a path, in the words of this release.
    pub(crate) fn privileges(&self, who: &str, path: &str) -> Privileges {
        let mut privileges = self.access.privileges(who, path);
        privileges.retain(|privilege, _| self.release.has_privilege(privilege));
        privileges
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn control(rules: &[(&str, &str, &str)]) -> AccessControl {
        let mut control = AccessControl::default();
        let tokens = [("sep", true), ("nosep", false)]
            .map(|(name, privsep)| (name.to_owned(), Token { privsep, ..Token::default() }));
        control.users.insert("u@pve".to_owned(), User { tokens: tokens.into(), ..User::default() });
        control.rules = rules
            .iter()
            .map(|(path, who, role)| Rule {
                path: (*path).to_owned(),
                who: (*who).to_owned(),
                role: (*role).to_owned(),
                propagate: true,
            })
            .collect();
        control
    }

    #[test]
    fn a_deeper_entry_replaces_what_came_from_above() {
        let control = control(&[("/", "u@pve", "PVEVMAdmin"), ("/vms/105", "u@pve", "PVETemplateUser")]);
        assert!(control.may("u@pve", "/vms/104", "VM.Allocate"));
        assert!(!control.may("u@pve", "/vms/105", "VM.Allocate"));
        assert!(control.may("u@pve", "/vms/105", "VM.Clone"));
    }

    #[test]
    fn an_entry_that_does_not_propagate_stays_where_it_is() {
        let mut control = control(&[("/vms", "u@pve", "PVEVMAdmin")]);
        control.rules[0].propagate = false;
        assert!(control.may("u@pve", "/vms", "VM.Audit"));
        assert!(!control.may("u@pve", "/vms/100", "VM.Audit"));
    }

    #[test]
    fn a_separated_token_has_what_both_have() {
        let control = control(&[("/", "u@pve", "PVEAuditor"), ("/vms", "u@pve!sep", "PVEVMAdmin")]);
        assert!(control.may("u@pve!sep", "/vms/1", "VM.Audit"));
        assert!(!control.may("u@pve!sep", "/vms/1", "VM.Allocate"), "the user has not");
        assert!(!control.may("u@pve!sep", "/nodes", "Sys.Audit"), "the token has not");
        assert!(control.may("u@pve!nosep", "/nodes", "Sys.Audit"), "not separated");
        assert!(control.privileges("u@pve!none", "/").is_empty());
    }

    #[test]
    fn one_privilege_is_answered_as_all_of_them_are() {
        let mut control = control(&[
            ("/", "u@pve", "PVEVMUser"),
            ("/vms", "u@pve!sep", "PVEVMAdmin"),
            ("/vms/7", "u@pve", "PVEAuditor"),
            ("/pool/p", "u@pve", "PVEAdmin"),
        ]);
        control.pools.insert("p".to_owned(), Pool { vms: [7].into(), ..Pool::default() });
        for who in ["root@pam", "u@pve", "u@pve!sep", "u@pve!nosep", "u@pve!gone", "x@pve"] {
            for path in ["/", "/vms", "/vms/7", "/vms/8", "/pool/p", "/storage/local"] {
                let all = control.privileges(who, path);
                for name in PRIVILEGES {
                    assert_eq!(control.may(who, path, name), all.contains_key(*name), "{who} {path} {name}");
                }
            }
        }
    }

    #[test]
    fn a_pool_adds_its_rights_to_its_members() {
        let mut control = control(&[("/pool/talos", "u@pve", "PVEVMAdmin"), ("/vms/7", "u@pve", "NoAccess")]);
        let pool = Pool { vms: [7, 121].into(), storages: ["local".to_owned()].into(), comment: None };
        control.pools.insert("talos".to_owned(), pool);
        assert!(control.may("u@pve", "/vms/121", "VM.Audit"));
        assert!(!control.may("u@pve", "/vms/122", "VM.Audit"));
        assert!(!control.may("u@pve", "/vms/7", "VM.Audit"), "no access stays no access");
        assert!(control.may("u@pve", "/storage/local", "VM.Audit"));
    }
}
