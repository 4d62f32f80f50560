//! A simulated cluster, and what there is in it from the outside.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Mutex;

use pvetalos::config::read_document;
use pvetalos::proxmox::Client;
use pvetalos::schematic::{FactoryUrl, Image, ImageFormat};
use pvetalos::sim::{Clock, InProcess, Simulator, Waits, World, WorldFile};
use pvetalos::template::{Ensured, Event, Place, Settings, Source, Want, ensure};
use serde_json::Value;

pub(crate) const AGENT: &str = "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515";
pub(crate) const TOKEN: &str = "pvetalos@pve!simulator";
const SECRET: &str = "11111111-1111-4111-8111-111111111111";

pub(crate) struct Lab {
    pub(crate) simulator: Simulator,
    authorization: String,
    /// What was told, in order.
    pub(crate) told: Mutex<Vec<String>>,
}

/// An example world; each is read once.
pub(crate) fn example(name: &str) -> Value {
    static READ: Mutex<BTreeMap<String, Value>> = Mutex::new(BTreeMap::new());
    let mut read = READ.lock().expect("nobody panicked");
    read.entry(name.to_owned()).or_insert_with(|| read_example(name)).clone()
}

fn read_example(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/worlds").join(name);
    read_document(&path).expect("an example can be read")
}

impl Lab {
    pub(crate) fn of(world: Value) -> Self {
        Self::with_token(world, TOKEN, SECRET)
    }

    pub(crate) fn with_token(world: Value, token: &str, secret: &str) -> Self {
        let world = WorldFile::from_json(world).expect("the world makes sense").world;
        let simulator = Simulator::with(world, Clock::default(), Waits::default());
        Self { simulator, authorization: format!("PVEAPIToken={token}={secret}"), told: Mutex::default() }
    }

    /// A host on its first day.
    pub(crate) fn fresh() -> Self {
        Self::of(example("fresh-host.yaml"))
    }

    /// A client of its own, as another process would have one.
    pub(crate) fn client(&self) -> Client<InProcess> {
        Client::new(InProcess::new(self.simulator.clone(), self.authorization.clone()))
    }

    pub(crate) async fn run(&self, wants: &[Want], settings: &Settings) -> Ensured {
        let tell = |place: &Place, event: &Event| {
            let line = match event {
                Event::Begun(step) => format!("{place}: {step}"),
                Event::Note(note) => format!("{place}: note: {note}"),
                Event::Percent(..) | Event::Done(_) => return,
            };
            self.told.lock().expect("nobody panicked").push(line);
        };
        ensure(&self.client(), wants, settings, &tell).await.expect("the simulator answers")
    }

    fn saved(&self) -> Value {
        self.simulator.world(|world: &mut World| world.to_json()["saved"].take())
    }

    /// The VMs that are templates, and those that are not, by number.
    pub(crate) fn vms(&self) -> (Vec<u32>, Vec<u32>) {
        let saved = self.saved();
        let vms = saved["vms"].as_object().expect("VMs").iter();
        let (templates, others): (Vec<_>, Vec<_>) = vms.partition(|(_, vm)| vm["config"]["template"] == "1");
        let ids = |vms: Vec<(&String, &Value)>| {
            let mut ids: Vec<u32> = vms.into_iter().map(|(id, _)| id.parse().expect("a number")).collect();
            ids.sort_unstable();
            ids
        };
        (ids(templates), ids(others))
    }

    pub(crate) fn config(&self, vmid: u32) -> Value {
        self.saved()["vms"][vmid.to_string()]["config"].take()
    }

    /// Volumes that belong to a VM which is not there, or which does not know them.
    pub(crate) fn orphans(&self) -> Vec<String> {
        let saved = self.saved();
        let configs: String = saved["vms"].to_string();
        let mut orphans = Vec::new();
        for (storage, content) in saved["storages"].as_object().expect("storages") {
            for volumes in content["volumes"].as_object().expect("volumes").values() {
                let owned = volumes.as_object().expect("volumes").iter().filter(|(_, volume)| volume["owner"].is_u64());
                let names = owned.map(|(name, _)| format!("{storage}:{name}"));
                orphans.extend(names.filter(|volume| !configs.contains(volume.as_str())));
            }
        }
        orphans
    }

    /// The files that can be imported, as often as there are hosts that have them.
    pub(crate) fn images(&self) -> Vec<String> {
        let saved = self.saved();
        let storages = saved["storages"].as_object().expect("storages").values();
        let volumes = storages.flat_map(|storage| storage["volumes"].as_object().expect("volumes").values());
        let names = volumes.flat_map(|volumes| volumes.as_object().expect("volumes").keys());
        names.filter(|name| name.starts_with("import/")).cloned().collect()
    }

    /// Nothing runs, nothing is left over, and nobody else's VM was touched.
    #[track_caller]
    pub(crate) fn assert_tidy(&self, about: &str) {
        assert_eq!(self.orphans(), Vec::<String>::new(), "{about}");
        self.simulator.world(|world| {
            assert_eq!(world.running_tasks(), Vec::<String>::new(), "{about}");
            assert_eq!(world.changes_without_mark(), Vec::<String>::new(), "{about}");
        });
        assert!(!self.simulator.is_damaged(), "{about}");
    }
}

pub(crate) fn image(version: &str) -> Image {
    Image {
        talos_version: version.parse().expect("a version"),
        schematic_id: AGENT.parse().expect("an id"),
        secureboot: false,
    }
}

pub(crate) fn want(storage: &str) -> Want {
    Want {
        image: image("1.12.0"),
        storage: storage.parse().expect("a storage"),
        host: None,
        pool: None,
        linked: false,
        agent: true,
    }
}

pub(crate) fn settings() -> Settings {
    let (factory, format) = (FactoryUrl::default(), ImageFormat::Qcow2);
    Settings {
        image_storage: "local".parse().expect("a storage"),
        source: Source::Factory { factory, format, checksum: None },
        enable_import: true,
        first_vmid: Settings::FIRST_VMID,
        token: TOKEN.parse().expect("a token"),
        pace: pvetalos::proxmox::task::Pace::default(),
    }
}

/// The troubles of all places, as people read them.
pub(crate) fn troubles(ensured: &Ensured) -> Vec<String> {
    let of_places = ensured.outcomes.iter().filter_map(|outcome| outcome.result.as_ref().err()).flatten();
    of_places.chain(&ensured.troubles).map(|trouble| format!("{} | {}", trouble.message, trouble.fix)).collect()
}

/// The numbers of the templates that are ready, and whether anything had to be done.
#[track_caller]
pub(crate) fn ready(ensured: &Ensured) -> (BTreeSet<u32>, bool) {
    assert_eq!(troubles(ensured), Vec::<String>::new());
    let ready: Vec<_> = ensured.outcomes.iter().filter_map(|outcome| outcome.result.as_ref().ok()).collect();
    (ready.iter().map(|ready| ready.vmid.get()).collect(), ready.iter().any(|ready| ready.made))
}
