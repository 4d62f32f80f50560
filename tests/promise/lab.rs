use std::collections::BTreeMap;
use std::time::Duration;

use pvetalos::apply::{self, Event, Outcome, Settings, Stopped};
use pvetalos::config::{Explain, Inputs, load, parse_document};
use pvetalos::model::{Cluster, TokenId};
use pvetalos::observe::{Depth, ask_nodes, observe};
use pvetalos::plan::{self, DestroyOptions, DestroyPlan, Observed, Options, Plan};
use pvetalos::proxmox::{Client, ProxmoxError};
use pvetalos::sim::{Clock, InProcess, Simulator, Waits, World, WorldFile};
use pvetalos::talos::Dial;
use serde_json::{Value, json};

/// A simulated cluster, and whoever works with it, in one process and on paused time.
pub(crate) struct Lab {
    pub(crate) simulator: Simulator,
    pub(crate) cluster: Cluster,
    authorization: String,
    /// Everything that nobody may touch, as it was in the beginning.
    foreign: BTreeMap<String, Value>,
}

pub(crate) const ONE_HOST: &str = include_str!("../../examples/worlds/one-host.yaml");
pub(crate) const THREE_HOSTS: &str = include_str!("../../examples/worlds/three-hosts.yaml");

/// A world from the text of its file.
pub(crate) fn world(text: &str) -> Value {
    parse_document("world.yaml", text).expect("the world is readable")
}

pub(crate) fn cluster(text: &str) -> Cluster {
    let loaded = load(Inputs::from_texts(text, None, None), Explain::No);
    loaded.cluster.unwrap_or_else(|| panic!("the files are right: {:?}", loaded.problems))
}

pub(crate) fn options() -> Options {
    Options { adopt: false, disruptive: false, start: true, only: None, token: token() }
}

fn token() -> TokenId {
    "pvetalos@pve!simulator".parse().expect("a token's name")
}

impl Lab {
    pub(crate) fn new(world: Value, nodes: &str) -> Self {
        let file = WorldFile::from_json(world).expect("the world makes sense");
        let authorization = authorization(&file);
        let simulator = Simulator::with(file.world, Clock::default(), Waits::default());
        for fault in file.faults {
            simulator.inject(fault);
        }
        let mut lab = Self { simulator, cluster: cluster(nodes), authorization, foreign: BTreeMap::new() };
        lab.foreign = lab.guests();
        lab
    }

    /// The sample of the repository in the world that fits it.
    pub(crate) fn sample() -> Self {
        Self::new(world(ONE_HOST), pvetalos::config::SAMPLE)
    }

    /// Works with the rights of another token from now on.
    pub(crate) fn with_token(mut self, id: &str, secret: &str) -> Self {
        self.authorization = format!("PVEAPIToken={id}={secret}");
        self
    }

    /// A client of its own, as a second person has.
    pub(crate) fn client(&self) -> Client<InProcess> {
        Client::new(InProcess::new(self.simulator.clone(), self.authorization.clone()))
    }

    async fn observe(&self, client: &Client<InProcess>, options: &Options) -> Result<Observed, ProxmoxError> {
        let mut observed = observe(client, &self.cluster, Depth::ForCreation).await?;
        if options.disruptive {
            observed.talos = ask_nodes(self.simulator.guest_network(), &self.cluster, &observed).await;
        }
        Ok(observed)
    }

    pub(crate) async fn plan(&self, options: &Options) -> Result<Plan, ProxmoxError> {
        let observed = self.observe(&self.client(), options).await?;
        Ok(plan::plan(&self.cluster, &observed, options))
    }

    /// One whole run of `provision`.
    pub(crate) async fn provision(&self) -> Result<Vec<Outcome>, ProxmoxError> {
        self.provision_with(&options()).await
    }

    pub(crate) async fn provision_with(&self, options: &Options) -> Result<Vec<Outcome>, ProxmoxError> {
        let plan = self.plan(options).await?;
        Ok(self.apply(&plan).await)
    }

    /// Does what a plan says, which may have been made a while ago.
    pub(crate) async fn apply(&self, plan: &Plan) -> Vec<Outcome> {
        self.apply_over(&self.simulator.guest_network(), plan).await
    }

    /// The same over another way to the nodes.
    pub(crate) async fn apply_over(&self, dial: &impl Dial, plan: &Plan) -> Vec<Outcome> {
        let (settings, never) = (Settings::default(), Stopped::never());
        apply::apply(&self.client(), dial, &self.cluster, plan, &settings, &never, &|_: Event| ()).await
    }

    pub(crate) async fn plan_destroy(&self, options: &DestroyOptions) -> Result<DestroyPlan, ProxmoxError> {
        let client = self.client();
        let observed = observe(&client, &self.cluster, Depth::Ours).await?;
        let going = plan::wanted_gone(&self.cluster, &observed, options);
        let belongings = apply::belongings(&client, &going).await?;
        Ok(plan::plan_destroy(&self.cluster, &observed, &belongings, options))
    }

    /// One whole run of `destroy`.
    pub(crate) async fn destroy(&self) -> Result<Vec<Outcome>, ProxmoxError> {
        let plan = self.plan_destroy(&DestroyOptions::default()).await?;
        assert!(plan.obstacles.is_empty(), "{:?}", plan.obstacles);
        Ok(self.carry_out(&plan).await)
    }

    /// Destroys what a plan says, which may have been made a while ago.
    pub(crate) async fn carry_out(&self, plan: &DestroyPlan) -> Vec<Outcome> {
        let settings = Settings::default();
        apply::destroy(&self.client(), &self.cluster, plan, &settings, &Stopped::never(), &|_: Event| ()).await
    }

    /// Somebody has applied a machine configuration to a node.
    pub(crate) fn configure_talos(&self, node: &str) {
        self.simulator.world(|world| {
            let mut kept = world.to_json();
            kept["saved"]["talos"][node] = json!({ "profile": "configured" });
            *world = World::from_json(&kept).expect("it was a world");
        });
    }

    /// All VMs and containers by number, without what changes by itself.
    pub(crate) fn guests(&self) -> BTreeMap<String, Value> {
        let world = self.simulator.world(|world| world.to_json())["saved"].take();
        let kinds = ["vms", "containers"];
        let all = kinds.iter().filter_map(|kind| world.get(*kind)?.as_object().cloned()).flatten();
        all.collect()
    }

    /// The VMs that came into being since the beginning: their options, without what is made anew for every clone.
    pub(crate) fn made(&self) -> BTreeMap<String, Value> {
        let mut made = self.guests();
        made.retain(|vmid, _| !self.foreign.contains_key(vmid));
        made.into_iter().map(|(vmid, vm)| (vmid, settled(&vm))).collect()
    }

    /// From now on these are somebody else's too.
    pub(crate) fn disown(&mut self, vmids: &[&str]) {
        let guests = self.guests();
        self.foreign.extend(guests.into_iter().filter(|(vmid, _)| vmids.contains(&vmid.as_str())));
    }

    /// Changes the world behind everybody's back, as it stands when it is kept.
    pub(crate) fn change_world(&self, change: impl FnOnce(&mut Value)) {
        self.simulator.world(|world| {
            let mut kept = world.to_json();
            change(&mut kept["saved"]);
            *world = World::from_json(&kept).expect("the world still makes sense");
        });
    }

    /// Changes what was made behind everybody's back: each VM with its name, as it stands in a kept world.
    pub(crate) fn change_made(&self, change: impl Fn(&str, &mut Value)) {
        self.change_world(|world| {
            let vms = world["vms"].as_object_mut().expect("a mapping");
            for (_, vm) in vms.iter_mut().filter(|(vmid, _)| !self.foreign.contains_key(*vmid)) {
                let name = vm["config"]["name"].as_str().unwrap_or_default().to_owned();
                change(&name, vm);
            }
        });
    }

    /// Compares what was made, VM by VM, so that a difference can be read.
    #[track_caller]
    pub(crate) fn check_made(&self, expected: &BTreeMap<String, Value>, when: &str) {
        let made = self.made();
        let numbers = |vms: &BTreeMap<String, Value>| vms.keys().cloned().collect::<Vec<_>>();
        assert_eq!(numbers(&made), numbers(expected), "{when}");
        for (vmid, vm) in expected {
            assert_eq!(made.get(vmid), Some(vm), "VM {vmid}, {when}");
        }
    }

    /// What must be true whatever happened: nobody else's guest has changed, and no volume is without its VM.
    #[track_caller]
    pub(crate) fn check_promises(&self) {
        self.wait_for_tasks();
        let now = self.guests();
        for (vmid, guest) in &self.foreign {
            let same = now.get(vmid) == Some(guest);
            assert!(
                same,
                "guest {vmid} is not ours and was changed:\n{guest:#}\n{:#}",
                now.get(vmid).unwrap_or(&json!(null))
            );
        }
        self.simulator.world(|world| {
            assert_eq!(world.changes_without_mark(), &[] as &[String]);
            assert_eq!(world.orphan_volumes(), Vec::<String>::new());
            assert_eq!(world.check(), Vec::<String>::new());
        });
    }

    /// Lets what goes on in the world come to its end; real servers do so too, whoever watches.
    fn wait_for_tasks(&self) {
        self.simulator.world(|world| {
            for _ in 0..10_000 {
                if world.running_tasks().is_empty() {
                    return;
                }
                let Some(next) = world.next_event() else {
                    return;
                };
                world.advance(next.max(world.now() + Duration::from_millis(1)));
            }
        });
    }
}

fn authorization(file: &WorldFile) -> String {
    file.world.authorization().expect("the world has a token")
}

/// A made VM without what every clone has of its own: UUID, generation id, and when it was started.
fn settled(vm: &Value) -> Value {
    let mut config = vm["config"].clone();
    if let Some(config) = config.as_object_mut() {
        for own in ["smbios1", "vmgenid", "digest", "meta"] {
            config.remove(own);
        }
    }
    json!({
        "config": config,
        "pending": vm["pending"],
        "host": vm["host"],
        "running": vm["power"] != json!("stopped"),
    })
}
