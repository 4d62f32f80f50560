use super::needs::{network_path, storage_path};
use super::{Finding, HostSeen, Needed, Needs, Seen, State, Unseen};
use crate::model::{BridgeName, HostName, StorageId, Template, TokenId, VlanTag};
use crate::proxmox::answers::Host;
use crate::pveum::{Command, DISK_PRIVILEGES, TokenRole, VM_PRIVILEGES};

/// Holds what is needed against what was seen.
pub fn check(needs: &Needs, seen: &Seen, token: &TokenId) -> Vec<Finding> {
    let check = Check { needs, seen, token };
    let places = [check.hosts(), check.storages(), check.bridges(), check.templates()];
    check.access().into_iter().chain(places.into_iter().flatten()).collect()
}

/// The part of [`check`] that concerns everything alike: version, quorum, and what the token may do.
pub fn check_access(needs: &Needs, seen: &Seen, token: &TokenId) -> Vec<Finding> {
    Check { needs, seen, token }.access()
}

struct Check<'a> {
    needs: &'a Needs,
    seen: &'a Seen,
    token: &'a TokenId,
}

impl Check<'_> {
    fn access(&self) -> Vec<Finding> {
        let mut findings = vec![self.version()];
        findings.extend(self.quorum());
        findings.extend(self.privileges());
        findings
    }

    fn version(&self) -> Finding {
        let version = &self.seen.version;
        if version.is_at_least(8, 0) {
            Finding::ok(format!("Proxmox VE {} answers and accepts the token", version.version))
        } else {
            let fix = "upgrade Proxmox VE to 8 or 9; older versions are not supported by their makers either";
            Finding::error(format!("Proxmox VE {} is too old", version.version), fix)
        }
    }

    fn quorum(&self) -> Option<Finding> {
        match &self.seen.quorate {
            Ok(true) => None,
            Ok(false) => {
                let fix =
                    "bring the cluster's other hosts back (`pvecm status`): without quorum nothing can be written";
                Some(Finding::error("the Proxmox cluster has no quorum", fix))
            }
            // The answer to every write would say so; a token need not be able to look.
            Err(unseen) if unseen.forbidden => None,
            Err(unseen) => {
                Some(Finding::warning(format!("whether there is a quorum cannot be seen: {}", unseen.why), &unseen.fix))
            }
        }
    }

    fn privileges(&self) -> Vec<Finding> {
        let permissions = &self.seen.permissions;
        if permissions.is_empty() {
            let fix = format!(
                "`pvetalos access` prints all that has to be granted, such as `{}`; a token has nothing of what its user \
                 may do unless it is granted to both, or it was made with `--privsep 0`",
                Command::grant("/vms", TokenRole::Vms, self.token)
            );
            return vec![Finding::error(format!("the token {} may do nothing at all", self.token), fix)];
        }
        let vms = self.needs.vm_paths();
        let vms = vms.iter().map(|path| self.vm_privileges(path));
        let storages = self.needs.storages.iter().map(|storage| {
            let path = storage_path(&storage.what);
            let missing = DISK_PRIVILEGES.iter().copied().filter(|privilege| !permissions.has(&path, privilege));
            self.privileges_on(&path, &missing.collect::<Vec<_>>(), TokenRole::Disks)
        });
        let bridges = self.needs.networks.iter().map(|(bridge, vlan)| self.network_privilege(bridge, *vlan));
        let startup = (!permissions.has("/", "Sys.Modify")).then(|| {
            let fix = "nothing, if the start order of VMs does not matter to you; else `pvetalos access --start-order` \
                       prints how to grant it";
            Finding::warning("the token may not set the start order of VMs (Sys.Modify on /): it will be left out", fix)
        });
        vms.chain(storages).chain(bridges).chain(startup).collect()
    }

    /// What is needed on the VMs below a path. Whoever may do something with all VMs may do it in a pool too.
    fn vm_privileges(&self, path: &str) -> Finding {
        let permissions = &self.seen.permissions;
        let granted =
            |privilege: &str| permissions.has_below(path, privilege) || permissions.has_below("/vms", privilege);
        let missing: Vec<&str> = VM_PRIVILEGES.iter().copied().filter(|privilege| !granted(privilege)).collect();
        let finding = self.privileges_on(path, &missing, TokenRole::Vms);
        if !missing.is_empty() && missing.iter().all(|privilege| permissions.has(path, privilege)) {
            let message = format!(
                "the privileges of the token {} hold for {path} itself and not for the VMs below it",
                self.token
            );
            let fix = finding.fix.unwrap_or_default();
            return Finding::error(message, format!("{fix}; without `--propagate 0` it holds for them too"));
        }
        finding
    }

    fn privileges_on(&self, path: &str, missing: &[&str], role: TokenRole) -> Finding {
        if missing.is_empty() {
            return Finding::ok(format!("the token has every privilege that is needed on {path}"));
        }
        let message = format!("the token {} lacks {} on {path}", self.token, missing.join(", "));
        Finding::error(message, role.fix(path, self.token))
    }

    fn network_privilege(&self, bridge: &BridgeName, vlan: Option<VlanTag>) -> Finding {
        let path = network_path(bridge, vlan);
        if self.seen.permissions.has(&path, "SDN.Use") {
            return Finding::ok(format!("the token may use {path}"));
        }
        let virtual_network = self
            .seen
            .close
            .iter()
            .filter_map(|host| host.bridges.as_ref().ok())
            .flatten()
            .any(|seen| seen.name == bridge.as_str() && seen.kind.as_deref() == Some("vnet"));
        if virtual_network {
            let fix = "nothing, if the token has SDN.Use on the network's own zone";
            return Finding::warning(format!("{bridge} is a virtual network: its privilege is not looked at"), fix);
        }
        let message = format!("the token {} lacks SDN.Use on {path}", self.token);
        Finding::error(message, TokenRole::Network.fix(&path, self.token))
    }

    fn hosts(&self) -> Vec<Finding> {
        let known = &self.seen.hosts;
        let named = self.needs.hosts.iter().map(|name| match known.iter().find(|host| host.name == *name) {
            Some(host) if host.is_online() => Finding::ok(format!("host {name} is up")),
            Some(_) => {
                let fix = "start it, or give its nodes another `proxmox_node`";
                Finding::error(format!("host {name} is not online"), fix)
            }
            None => {
                let names: Vec<&str> = known.iter().map(|host| host.name.as_str()).collect();
                let fix = format!("use one of {} as `proxmox_node`; case matters", names.join(", "));
                Finding::error(format!("there is no host {name}"), fix)
            }
        });
        let mut findings: Vec<Finding> = named.collect();
        if self.needs.any_host && !known.iter().any(Host::is_online) {
            findings.push(Finding::error("no host is online", "start one"));
        }
        findings
    }

    fn storages(&self) -> Vec<Finding> {
        // What the token may not look at is reported as that, and not as missing.
        let visible =
            |storage: &&Needed<StorageId>| self.seen.permissions.has(&storage_path(&storage.what), "Datastore.Audit");
        self.needs.storages.iter().filter(visible).flat_map(|storage| self.on_hosts(storage, storage_on)).collect()
    }

    fn bridges(&self) -> Vec<Finding> {
        self.needs.bridges.iter().flat_map(|bridge| self.on_hosts(bridge, bridge_on)).collect()
    }

    fn templates(&self) -> Vec<Finding> {
        let sees_all = self.seen.permissions.has_below("/vms", "VM.Audit");
        let judge = |template: &Template, host: &HostSeen| template_on(template, host, sees_all);
        self.needs.templates.iter().flat_map(|template| self.on_hosts(template, judge)).collect()
    }

    /// Judges something on every host that it is needed on. A node that names no host needs it on one of them, so that
    /// the others matter less.
    fn on_hosts<T>(&self, needed: &Needed<T>, judge: impl Fn(&T, &HostSeen) -> Finding) -> Vec<Finding> {
        let judged = self.seen.close.iter().map(|host| (&host.name, judge(&needed.what, host)));
        let judged: Vec<(&HostName, Finding)> =
            judged.filter(|(host, _)| needed.anywhere || needed.hosts.contains(*host)).collect();
        let somewhere = judged.iter().any(|(_, finding)| finding.state == State::Ok);
        let finding = |(host, finding): (&HostName, Finding)| {
            if finding.state != State::Error || needed.hosts.contains(host) || !somewhere {
                return finding;
            }
            let message = format!("{}: nodes without a `proxmox_node` cannot go there", finding.message);
            Finding { state: State::Warning, message, ..finding }
        };
        judged.into_iter().map(finding).collect()
    }
}

pub(crate) fn storage_on(storage: &StorageId, host: &HostSeen) -> Finding {
    let name = &host.name;
    let storages = match &host.storages {
        Ok(storages) => storages,
        Err(why) => return cannot_be_seen(&format!("the storages of {name}"), why),
    };
    let Some(seen) = storages.iter().find(|seen| seen.name == *storage) else {
        let names: Vec<&str> = storages.iter().map(|seen| seen.name.as_str()).collect();
        let fix = match names.as_slice() {
            [] => "grant Datastore.Audit on /storage: a token sees only storages that it may look at".to_owned(),
            names => format!("use one of {} as `storage`, or let the token see it (Datastore.Audit)", names.join(", ")),
        };
        return Finding::error(format!("there is no storage {storage} on {name}"), fix);
    };
    if !seen.enabled || !seen.active {
        let fix = format!("enable it for this host (`pvesm set {storage} --disable 0`, and look at its list of nodes)");
        return Finding::error(format!("storage {storage} is not active on {name}"), fix);
    }
    if !seen.content.contains("images") {
        let content: Vec<&str> = seen.content.iter().map(String::as_str).chain(["images"]).collect();
        let fix = format!("pvesm set {storage} --content {}", content.join(","));
        return Finding::error(format!("storage {storage} on {name} does not take disk images"), fix);
    }
    let free = seen.available.map_or(String::new(), |bytes| format!(", {} GiB free", bytes >> 30));
    Finding::ok(format!("storage {storage} on {name} takes disk images{free}"))
}

fn bridge_on(bridge: &BridgeName, host: &HostSeen) -> Finding {
    let name = &host.name;
    match &host.bridges {
        Err(why) => cannot_be_seen(&format!("the bridges of {name}"), why),
        Ok(bridges) if bridges.iter().any(|seen| seen.name == bridge.as_str()) => {
            Finding::ok(format!("bridge {bridge} is there on {name}"))
        }
        // The list leaves out what the token may not use, so that absence proves nothing.
        Ok(_) => {
            let fix =
                format!("check that {name} has it (`ip link show {bridge}`) and that the token has SDN.Use on it");
            Finding::warning(format!("bridge {bridge} is not seen on {name}"), fix)
        }
    }
}

fn template_on(template: &Template, host: &HostSeen, sees_all: bool) -> Finding {
    let name = &host.name;
    let templates = match &host.templates {
        Ok(templates) => templates,
        Err(why) => return cannot_be_seen(&format!("the templates of {name}"), why),
    };
    let found: Vec<_> = templates.iter().filter(|seen| seen.is(template)).collect();
    match found.as_slice() {
        [one] => Finding::ok(format!("template {template} is there on {name}: {} ({})", one.vmid, one.name)),
        [] if !sees_all => {
            let fix = "let the token see it: VM.Audit and VM.Clone on it or on /vms; `pvetalos access` prints how, with \
                       --clone-from VMID where the token is for a pool only";
            Finding::warning(format!("template {template} is not seen on {name}"), fix)
        }
        [] => {
            let (message, fix) = missing_template(template, host, templates);
            Finding::error(message, fix)
        }
        several => {
            let ids: Vec<String> = several.iter().map(|seen| seen.vmid.to_string()).collect();
            let message = format!("{} templates on {name} are {template}: {}", several.len(), ids.join(", "));
            Finding::error(message, "keep one of them, or rename the others")
        }
    }
}

/// That a template is missing, and what to do about it.
pub(crate) fn missing_template(
    template: &Template,
    host: &HostSeen,
    templates: &[super::TemplateSeen],
) -> (String, String) {
    let message = format!("there is no template {template} on {}", host.name);
    let fix = match template {
        Template::Name(name) => {
            let names: Vec<&str> = templates.iter().map(|seen| seen.name.as_str()).collect();
            let there = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            format!(
                "make one with the name `{name}`, or name one of those that are there ({there}) as `talos_template`"
            )
        }
        Template::Image { talos_version, schematic_id, secureboot } => {
            let mark = crate::model::TemplateMark {
                talos_version: talos_version.clone(),
                schematic_id: schematic_id.clone(),
                secureboot: *secureboot,
            };
            format!(
                "make it with `pvetalos template create` or `pvetalos provision --create-template`; or name another by `talos_template`; or let the notes of one that \
                 you made from this very image end with the line `{mark}`"
            )
        }
    };
    (message, fix)
}

/// A host that cannot show what is needed cannot do it either, unless it is only the token that may not see it.
fn cannot_be_seen(what: &str, unseen: &Unseen) -> Finding {
    let message = format!("{what} cannot be seen: {}", unseen.why);
    if unseen.forbidden { Finding::warning(message, &unseen.fix) } else { Finding::error(message, &unseen.fix) }
}
