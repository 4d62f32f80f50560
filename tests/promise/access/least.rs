use pvetalos::access::{Access, Extra, Rule, Wishes};
use pvetalos::apply::{End, Outcome};
use pvetalos::plan::{DestroyOptions, NodePlan};
use pvetalos::preflight::State;
use pvetalos::proxmox::calls::Download;
use pvetalos::proxmox::request::Method;
use pvetalos::proxmox::{ProxmoxError, RefusalKind};
use pvetalos::pveum::{Release, TokenRole};

use super::granted::{RELEASES, TOKEN, doctor, granted, make_templates, nodes, troubles, wishes, world};
use super::pveum::Root;
use crate::lab::{Lab, cluster, options};

/// The smallest things that are granted.
#[derive(Debug)]
enum Piece {
    /// A privilege of a role.
    Privilege(TokenRole, &'static str),
    /// A role on a path, for the token.
    Rule(Rule),
}

impl Piece {
    fn take(&self, lab: &Lab, release: Release) {
        match self {
            Self::Privilege(role, privilege) => {
                let rest = role.privileges(release).iter().copied().filter(|name| name != privilege);
                set_role(lab, *role, &rest.collect::<Vec<_>>());
            }
            Self::Rule(rule) => set_rule(lab, rule, "1"),
        }
    }

    fn give_back(&self, lab: &Lab, release: Release) {
        match self {
            Self::Privilege(role, _) => set_role(lab, *role, role.privileges(release)),
            Self::Rule(rule) => set_rule(lab, rule, "0"),
        }
    }

    /// What the server says when it misses it.
    fn refusal(&self) -> String {
        match self {
            // Where a pool would do as well, the server names nothing.
            Self::Privilege(_, "VM.Allocate") => "Permission check failed".to_owned(),
            Self::Privilege(_, privilege) => format!(", {privilege})"),
            Self::Rule(Rule { role: TokenRole::Vms, .. }) => "Permission check failed (/vms/".to_owned(),
            Self::Rule(rule) => format!("Permission check failed ({}, ", rule.path),
        }
    }

    /// Without it everything can be done, and something is not seen that has to be seen: whether a VM that was deleted
    /// left volumes behind. There is a test of its own for that.
    fn is_for_seeing(&self) -> bool {
        matches!(self, Self::Privilege(TokenRole::Disks, "Datastore.Audit"))
    }
}

fn set_role(lab: &Lab, role: TokenRole, privileges: &[&str]) {
    let path = format!("/access/roles/{}", role.name());
    Root(&lab.simulator).call(Method::Put, &path, &[("privs", &privileges.join(" "))]);
}

fn set_rule(lab: &Lab, rule: &Rule, delete: &str) {
    let params = [("path", rule.path.as_str()), ("roles", rule.role.name()), ("tokens", TOKEN), ("delete", delete)];
    Root(&lab.simulator).call(Method::Put, "/access/acl", &params);
}

/// Everything that is granted, piece by piece.
fn pieces(access: &Access) -> Vec<Piece> {
    let release = access.wishes.release;
    let of_role = |role: TokenRole| role.privileges(release).iter().map(move |name| Piece::Privilege(role, name));
    let privileges = access.roles().into_iter().flat_map(of_role);
    privileges.chain(access.rules.iter().cloned().map(Piece::Rule)).collect()
}

/// Why a node is not done, if one is not.
fn failure(outcomes: &[Outcome]) -> Option<String> {
    outcomes.iter().find_map(|outcome| match &outcome.end {
        End::Done { .. } => None,
        End::Failed { failure } => Some(failure.message.clone()),
        other => panic!("nobody waits for rights: {other:?}"),
    })
}

const CHANGED: &str = "    cores: 6\n    disk_size: 200\n";

/// Why some work cannot be done any more without a piece, if so. The plans are made with it, so that it is not
/// `doctor`'s opinion that decides, but the server.
async fn missed(mut lab: Lab, changed: &str, release: Release, piece: &Piece) -> Option<String> {
    let plan = lab.plan(&options()).await.expect("Proxmox answers");
    assert!(plan.nodes.iter().all(NodePlan::acts), "{plan:#?}");
    piece.take(&lab, release);
    let applied = failure(&lab.apply(&plan).await);
    if applied.is_some() {
        return applied;
    }
    piece.give_back(&lab, release);
    lab.cluster = cluster(changed);
    let plan = lab.plan(&options()).await.expect("Proxmox answers");
    piece.take(&lab, release);
    let applied = failure(&lab.apply(&plan).await);
    if applied.is_some() {
        return applied;
    }
    piece.give_back(&lab, release);
    let plan = lab.plan_destroy(&DestroyOptions::default()).await.expect("Proxmox answers");
    assert_eq!(plan.targets.len(), 2);
    piece.take(&lab, release);
    failure(&lab.carry_out(&plan).await)
}

/// With the templates among all VMs, and with the templates in the pool that the token is for.
#[tokio::test(start_paused = true)]
async fn without_any_one_piece_something_cannot_be_done() {
    for (release, pool) in RELEASES.into_iter().flat_map(|release| [(release, ""), (release, ", pool: talos")]) {
        let in_pool = |text: &str| text.replace("{storage: local-lvm}", &format!("{{storage: local-lvm{pool}}}"));
        let (text, changed) = (in_pool(&nodes("")), in_pool(&nodes(CHANGED)));
        let (_, access) = granted(world(release), &text, wishes(release, &[]));
        let pieces = pieces(&access);
        assert_eq!((pieces.len(), access.is_in_pools()), ((12 + 2 + 1) + (1 + 2 + 2), !pool.is_empty()));
        for piece in pieces {
            let (lab, _) = granted(world(release), &text, wishes(release, &[]));
            if access.is_in_pools() {
                let params = [("poolid", "talos"), ("vms", "9000,9001")];
                Root(&lab.simulator).call(Method::Put, "/pools", &params);
            }
            let missed = Box::pin(missed(lab, &changed, release, &piece)).await;
            let about = format!("{piece:?} on {release}{pool}: {missed:?}");
            match missed {
                Some(text) => assert!(!piece.is_for_seeing() && text.contains(&piece.refusal()), "{about}"),
                None => assert!(piece.is_for_seeing(), "{about}"),
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn without_any_one_piece_doctor_complains() {
    for release in RELEASES {
        let (_, access) = granted(world(release), &nodes(""), wishes(release, &[Extra::StartOrder]));
        for piece in pieces(&access) {
            let (lab, _) = granted(world(release), &nodes(""), wishes(release, &[Extra::StartOrder]));
            assert_eq!(doctor(&lab).await, []);
            piece.take(&lab, release);
            let found = doctor(&lab).await;
            let (role, named) = match &piece {
                Piece::Privilege(role, privilege) => (*role, *privilege),
                Piece::Rule(rule) => (rule.role, rule.path.as_str()),
            };
            let worst = if role == TokenRole::StartOrder { State::Warning } else { State::Error };
            let told = found.iter().find(|finding| finding.state == worst && finding.message.contains(named));
            let fix = told.and_then(|finding| finding.fix.as_deref());
            assert!(fix.is_some_and(|fix| fix.contains("`pvetalos access")), "{piece:?} on {release}: {found:#?}");
        }
    }
}

/// A template outside of the pool can be seen and cloned, and no more.
#[tokio::test(start_paused = true)]
async fn a_template_outside_of_the_pool_needs_both_of_its_privileges() {
    for release in RELEASES {
        let text = nodes("").replace("{storage: local-lvm}", "{storage: local-lvm, pool: talos}");
        for privilege in TokenRole::Cloning.privileges(release) {
            let clone_from = [9000, 9001].map(|vmid: u32| vmid.to_string().parse().expect("a VMID")).into();
            let (lab, access) = granted(world(release), &text, Wishes { clone_from, ..wishes(release, &[]) });
            assert!(access.roles().contains(&TokenRole::Cloning));
            let plan = lab.plan(&options()).await.expect("Proxmox answers");
            Piece::Privilege(TokenRole::Cloning, privilege).take(&lab, release);
            let cannot_be_planned =
                lab.plan(&options()).await.expect("Proxmox answers").nodes.iter().all(|node| !node.acts());
            assert!(cannot_be_planned || failure(&lab.apply(&plan).await).is_some(), "{privilege} on {release}");
        }
        let (lab, _) = granted(world(release), &text, wishes(release, &[]));
        let plan = lab.plan(&options()).await.expect("Proxmox answers");
        assert!(plan.nodes.iter().all(|node| !node.acts()), "without a rule for it no template is found: {plan:#?}");
    }
}

/// What `Datastore.Audit` is for: without it the disks of VMs are not listed, so that nobody could tell whether a VM
/// that was deleted left some behind.
#[tokio::test(start_paused = true)]
async fn volumes_are_seen_only_by_who_may_look_at_their_storage() {
    for release in RELEASES {
        let (lab, _) = granted(world(release), &nodes(""), wishes(release, &[]));
        lab.provision().await.expect("Proxmox answers");
        let (host, storage) = ("pve1".parse().expect("a host"), "local-lvm".parse().expect("a storage"));
        let listed =
            async || lab.client().volumes(&host, &storage, Some("images"), None).await.expect("Proxmox answers");
        assert!(!listed().await.is_empty());
        Piece::Privilege(TokenRole::Disks, "Datastore.Audit").take(&lab, release);
        assert_eq!(listed().await, []);
    }
}

#[track_caller]
fn is_forbidden<T: std::fmt::Debug>(answer: Result<T, ProxmoxError>, about: &str) {
    let error = answer.expect_err(about);
    assert!(matches!(error.kind(), Some(RefusalKind::Forbidden { .. })), "{about}: {error:?}");
}

/// The roles for templates: `template create` says so beforehand, and the server would refuse it.
#[tokio::test(start_paused = true)]
async fn without_any_one_privilege_no_template_is_made() {
    let extras = [Extra::Templates, Extra::EnableImport];
    let roles = [TokenRole::Images, TokenRole::Download, TokenRole::Import];
    let (host, storage) = ("pve1".parse().expect("a host"), "local".parse().expect("a storage"));
    for release in RELEASES {
        let mut world = world(release);
        world["templates"] = serde_json::json!({});
        world["storages"]["local"]["content"] = serde_json::json!(["backup", "iso"]);
        for (role, privilege) in
            roles.into_iter().flat_map(|role| role.privileges(release).iter().map(move |p| (role, *p)))
        {
            let (lab, _) = granted(world.clone(), &nodes(""), wishes(release, &extras));
            Piece::Privilege(role, privilege).take(&lab, release);
            let told = troubles(&make_templates(&lab, true).await);
            let about = format!("{privilege} of {} on {release}: {told:#?}", role.name());
            assert!(told.iter().any(|text| text.contains(&format!("lacks {privilege} on "))), "{about}");

            let client = lab.client();
            let import = ["backup", "import", "iso"];
            match role {
                TokenRole::Import => is_forbidden(client.set_storage_content(&storage, import).await, &about),
                _ => client.set_storage_content(&storage, import).await.expect("it may be set"),
            }
            if privilege == "Datastore.Audit" {
                is_forbidden(client.volumes(&host, &storage, Some("import"), None).await, &about);
            } else if role != TokenRole::Import {
                let url = "https://factory.talos.dev/image.qcow2";
                let download =
                    Download { host: &host, storage: &storage, url, file_name: "image.qcow2", checksum: None };
                is_forbidden(client.download(&download).await, &about);
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn without_its_privilege_an_extra_is_not_to_be_had() {
    for release in RELEASES {
        let (lab, _) = granted(world(release), &nodes(""), wishes(release, &[]));
        let outcomes = lab.provision().await.expect("Proxmox answers");
        let told = outcomes.iter().flat_map(|outcome| &outcome.warnings).any(|text| text.contains("start order"));
        assert!(told, "{outcomes:#?}");
        let client = lab.client();
        for outcome in outcomes {
            let (host, vmid) = (outcome.host.expect("it is somewhere"), outcome.vmid.expect("it has a number"));
            is_forbidden(client.agent_interfaces(&host, vmid).await, "the agent");
        }
        assert!(client.hosts().await.expect("Proxmox answers").iter().all(|host| host.memory.is_none()));
    }
}
