use super::look::HostSeen;
use super::{Place, Trouble, Want};
use crate::model::HostName;
use crate::proxmox::answers::Storage;

/// The places of all templates that are wanted, and what has none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Chosen {
    pub(super) places: Vec<Place>,
    pub(super) troubles: Vec<Trouble>,
}

/// Finds the places: one per host where the storage is the host's own, one for all where they share it.
pub(super) fn choose_places(wants: &[Want], hosts: &[HostSeen]) -> Chosen {
    let mut chosen = Chosen::default();
    for want in wants {
        if let Some(name) = &want.host {
            match named(want, name, hosts) {
                Ok(shared) => chosen.add(want, name, shared),
                Err(trouble) => chosen.troubles.push(trouble),
            }
            continue;
        }
        let online = hosts.iter().filter(|seen| seen.host.is_online());
        let fitting: Vec<(&HostName, bool)> =
            online.filter_map(|seen| Some((&seen.host.name, seen.storage(want)?.shared))).collect();
        for (name, shared) in &fitting {
            chosen.add(want, name, *shared);
        }
        if fitting.is_empty() {
            chosen.troubles.push(no_storage(want, "any host that is up", hosts));
        }
    }
    chosen
}

impl HostSeen {
    fn storage(&self, want: &Want) -> Option<&Storage> {
        self.storages.iter().find(|storage| storage.name == want.storage && storage.enabled)
    }
}

fn named(want: &Want, name: &HostName, hosts: &[HostSeen]) -> Result<bool, Trouble> {
    let Some(seen) = hosts.iter().find(|seen| seen.host.name == *name) else {
        let names: Vec<&str> = hosts.iter().map(|seen| seen.host.name.as_str()).collect();
        let fix = format!("use one of {}; case matters", names.join(", "));
        return Err(Trouble::new(format!("there is no host {name}"), fix));
    };
    if !seen.host.is_online() {
        let fix = "start it, or give its nodes another `proxmox_node`";
        return Err(Trouble::new(format!("host {name} is not online"), fix));
    }
    match seen.storage(want) {
        Some(storage) => Ok(storage.shared),
        None => Err(no_storage(want, name.as_str(), std::slice::from_ref(seen))),
    }
}

fn no_storage(want: &Want, place: &str, hosts: &[HostSeen]) -> Trouble {
    let mut names: Vec<&str> = hosts
        .iter()
        .flat_map(|seen| &seen.storages)
        .filter(|storage| storage.content.contains("images"))
        .map(|storage| storage.name.as_str())
        .collect();
    names.sort_unstable();
    names.dedup();
    let fix = match names.as_slice() {
        [] => "let the token see the storages: it needs Datastore.Audit on /storage".to_owned(),
        names => format!("use one of {} as `storage`, or let the token see it (Datastore.Audit)", names.join(", ")),
    };
    Trouble::new(format!("there is no storage {} on {place}", want.storage), fix)
}

impl Chosen {
    fn add(&mut self, want: &Want, host: &HostName, shared: bool) {
        let same = |place: &&mut Place| {
            place.image == want.image
                && place.shared == shared
                && (place.storage == want.storage || (!shared && !want.linked && place.hosts.contains(host)))
                && (shared || place.hosts.contains(host))
        };
        match self.places.iter_mut().find(same) {
            Some(place) => {
                place.agent |= want.agent;
                if !place.hosts.contains(host) {
                    place.hosts.push(host.clone());
                }
            }
            None => self.places.push(Place {
                image: want.image.clone(),
                storage: want.storage.clone(),
                hosts: vec![host.clone()],
                shared,
                pool: want.pool.clone(),
                linked: want.linked,
                agent: want.agent,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::schematic::Image;

    fn hosts() -> Vec<HostSeen> {
        let storages = |local: bool| -> Vec<Storage> {
            let local = local.then(|| json!({"storage": "local-lvm", "content": "images", "enabled": 1}));
            let shared = json!({"storage": "ceph", "content": "images", "enabled": 1, "shared": 1});
            local.into_iter().chain([shared]).map(|row| serde_json::from_value(row).unwrap()).collect()
        };
        let host = |name: &str, status: &str, storages| {
            let host = serde_json::from_value(json!({"node": name, "status": status})).unwrap();
            HostSeen { host, storages }
        };
        vec![
            host("pve1", "online", storages(true)),
            host("pve2", "online", storages(true)),
            host("pve3", "online", storages(false)),
            host("pve4", "offline", Vec::new()),
        ]
    }

    fn want(host: Option<&str>, storage: &str) -> Want {
        Want {
            image: Image {
                talos_version: "1.12.0".parse().unwrap(),
                schematic_id: "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515".parse().unwrap(),
                secureboot: false,
            },
            storage: storage.parse().unwrap(),
            host: host.map(|host| host.parse().unwrap()),
            pool: None,
            linked: false,
            agent: true,
        }
    }

    #[test]
    fn local_storage_needs_a_template_on_every_host_and_shared_storage_one() {
        #[track_caller]
        fn case(wants: &[Want], expected: &[&str]) {
            let chosen = choose_places(wants, &hosts());
            let mut shown: Vec<String> = chosen.places.iter().map(ToString::to_string).collect();
            shown.extend(chosen.troubles.into_iter().map(|trouble| trouble.message));
            assert_eq!(shown, expected);
        }
        case(&[want(None, "local-lvm")], &["Talos 1.12.0 ce4c9805 on pve1", "Talos 1.12.0 ce4c9805 on pve2"]);
        case(&[want(None, "ceph")], &["Talos 1.12.0 ce4c9805 on ceph for pve1, pve2, pve3"]);
        case(
            &[want(Some("pve2"), "ceph"), want(Some("pve1"), "ceph")],
            &["Talos 1.12.0 ce4c9805 on ceph for pve2, pve1"],
        );
        case(
            &[want(Some("pve1"), "local-lvm"), want(None, "local-lvm")],
            &["Talos 1.12.0 ce4c9805 on pve1", "Talos 1.12.0 ce4c9805 on pve2"],
        );
        case(&[want(Some("pve3"), "local-lvm")], &["there is no storage local-lvm on pve3"]);
        case(
            &[want(Some("pve4"), "ceph"), want(Some("PVE1"), "ceph"), want(None, "nope")],
            &["host pve4 is not online", "there is no host PVE1", "there is no storage nope on any host that is up"],
        );
    }
}
