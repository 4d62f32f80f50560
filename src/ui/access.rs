use std::fmt::{Display, Write};

use serde_json::{Value, json};

use super::json::FORMAT_VERSION;
use crate::access::{Access, Extra, Rule};
use crate::pveum::{Command, Release, TokenRole};

/// Access as a script for a root shell: every command on a line of its own, and why it is there.
pub fn access_text(access: &Access) -> String {
    let mut script = Script::default();
    let token = &access.wishes.token;
    let release = access.wishes.release;
    script.comment(&match &access.cluster {
        Some(cluster) => {
            format!("What pvetalos needs on Proxmox VE {release} for the nodes of {cluster}, and no more.")
        }
        None => format!("What pvetalos needs on Proxmox VE {release} for any cluster. With a nodes.yaml it is less."),
    });
    script.comment("For a root shell on one host of the cluster. What is there already is refused and stays as it is.");

    script.part("Roles, one for each kind of path. One that is there already: `modify` instead of `add`.");
    script.commands(&access.add_roles());
    if !access.pools.is_empty() {
        script.part("Pools that VMs go into.");
        script.commands(&access.add_pools());
    }
    if let Some(user) = Command::add_user(token) {
        // Other realms have passwords of their own.
        let is_ours = token.user().ends_with("@pve");
        script.part(if is_ours {
            "The user. It has no password, so that nobody can log in as it."
        } else {
            "The user."
        });
        script.commands(&[user]);
    }
    script.part(&format!(
        "The token. Its secret is shown this once: it is PROXMOX_TOKEN_SECRET, or stands in a --token-file.\n\
         PROXMOX_TOKEN_ID is '{token}'."
    ));
    script.commands(&[Command::add_token(token)]);
    script.part("A token with privileges of its own has what both it and its user have: so each rule is for the two.");
    script.commands(&access.grants());
    for hint in hints(access) {
        script.part(&hint);
    }
    let left_out: Vec<String> = access.left_out().into_iter().map(|extra| left_out(access, extra)).collect();
    if !left_out.is_empty() {
        script.part("Left out, because nodes come to life without it; a flag adds it:");
        script.indented(&left_out);
    }
    script.part("To take all of it away again (the user and the roles only if nobody else has them):");
    script.indented(&access.removal());
    script.text
}

/// Lines of a script.
#[derive(Default)]
struct Script {
    text: String,
}

impl Script {
    fn line(&mut self, line: &str) {
        writeln!(self.text, "{line}").expect("writing to a string never fails");
    }

    fn comment(&mut self, words: &str) {
        self.line(&format!("# {words}"));
    }

    /// Begins a part with what it is about.
    fn part(&mut self, about: &str) {
        self.text.push('\n');
        for line in about.lines() {
            self.comment(line);
        }
    }

    fn commands(&mut self, commands: &[Command]) {
        for command in commands {
            self.line(&command.to_string());
        }
    }

    /// Comments below another one.
    fn indented(&mut self, lines: &[impl Display]) {
        for line in lines {
            self.comment(&format!("  {line}"));
        }
    }
}

/// What the files do not tell, and what to do about it.
fn hints(access: &Access) -> Vec<String> {
    let mut hints = Vec::new();
    if access.is_in_pools() && access.wishes.clone_from.is_empty() {
        let made = "Templates that `pvetalos template create` makes for nodes of a pool are in that pool.";
        hints.push(format!("{made}\nOne outside of it has to be named: --clone-from VMID adds a rule for it."));
    }
    if !access.is_in_pools() {
        let pool = "With --pool NAME, and `pool: NAME` for the nodes, only those of the pool.";
        hints.push(format!("On /vms the token may change every VM. {pool}"));
    }
    if access.wishes.release == Release::Eight && access.wishes.extras.contains(&Extra::Templates) {
        let role = TokenRole::Download.name();
        hints.push(format!("Making templates takes Proxmox VE 8.4 or later; before 8.2 the role {role} is refused."));
    }
    let uses = |prefix: &str| access.rules.iter().any(|rule| rule.path.starts_with(prefix));
    if uses("/sdn/zones/localnetwork/") {
        let role = TokenRole::Network.name();
        hints.push(format!(
            "A template with a network card of its own, on another bridge or VLAN: {role} on that path too.\n\
             A virtual network of SDN: {role} on /sdn/zones/ZONE/NETWORK instead of localnetwork."
        ));
    }
    hints
}

fn left_out(access: &Access, extra: Extra) -> String {
    let (flag, what) = match extra {
        Extra::Templates => ("--templates", "making templates"),
        Extra::EnableImport => ("--enable-import", "letting a storage take disk images, which root does once as well"),
        Extra::StartOrder => ("--start-order", "setting the order in which VMs start"),
        Extra::FreeMemory => ("--free-memory", "placing nodes by the free memory of hosts"),
        Extra::GuestAgent => ("--guest-agent", "asking the guest agent about a node that does not answer"),
    };
    let privileges = extra.roles().iter().flat_map(|role| role.privileges(access.wishes.release)).copied();
    format!("{flag:<16} {what} ({})", privileges.collect::<Vec<_>>().join(", "))
}

/// The same for programs.
pub fn access_json(access: &Access) -> Value {
    let wishes = &access.wishes;
    let token = &wishes.token;
    let roles = access.roles().into_iter();
    let roles: Vec<Value> =
        roles.map(|role| json!({ "name": role.name(), "privileges": role.privileges(wishes.release) })).collect();
    let rule =
        |Rule { path, role }: &Rule| json!({ "path": path, "role": role.name(), "propagate": role.propagates() });
    let lines = |commands: Vec<Command>| commands.iter().map(ToString::to_string).collect::<Vec<_>>();
    json!({
        "format_version": FORMAT_VERSION,
        "pve": wishes.release.number(),
        "cluster": access.cluster,
        "user": token.user(),
        "token": { "id": token, "name": token.name(), "privilege_separation": true },
        "pools": access.pools,
        "roles": roles,
        "acl": access.rules.iter().map(rule).collect::<Vec<_>>(),
        "commands": lines(access.commands()),
        "removal": lines(access.removal()),
    })
}
