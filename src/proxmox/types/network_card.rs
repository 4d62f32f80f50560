use std::fmt;
use std::str::FromStr;

use super::{Properties, PropertyError, StoredMac, Switch};
use crate::model::{BridgeName, Invalid, MacAddress, VlanTag};

/// A `netN` value.
#[derive(Clone, Debug)]
pub struct NetworkCard {
    pub model: NicModel,
    /// Absent only in what is sent to Proxmox by others: it makes up a new address on every write, so we never leave
    /// it out.
    pub mac: Option<StoredMac>,
    pub bridge: Option<BridgeName>,
    pub vlan: Option<VlanTag>,
    /// 1 stands for the MTU of the bridge.
    pub mtu: Option<u32>,
    /// Absent, 0 and 1 all mean one queue.
    pub queues: Option<u32>,
    pub firewall: Switch<false>,
    pub link_down: Switch<false>,
    /// What we do not manage: `rate`, `trunks`, `host-tunnel`, and whatever comes later.
    pub unmanaged: Properties,
}

impl NetworkCard {
    /// A virtio card with nothing special about it.
    pub fn virtio(mac: MacAddress, bridge: BridgeName) -> Self {
        Self {
            model: NicModel::virtio(),
            mac: Some(mac.into()),
            bridge: Some(bridge),
            vlan: None,
            mtu: None,
            queues: None,
            firewall: Switch::default(),
            link_down: Switch::default(),
            unmanaged: Properties::default(),
        }
    }

    /// Gives the card this address; an equal one keeps its stored spelling.
    pub fn set_mac(&mut self, address: MacAddress) {
        match &mut self.mac {
            Some(mac) => mac.set(address),
            None => self.mac = Some(address.into()),
        }
    }
}

impl PartialEq for NetworkCard {
    fn eq(&self, other: &Self) -> bool {
        let queues = |card: &Self| card.queues.unwrap_or(1).max(1);
        self.model == other.model
            && self.mac == other.mac
            && self.bridge == other.bridge
            && self.vlan == other.vlan
            && self.mtu == other.mtu
            && queues(self) == queues(other)
            && self.firewall == other.firewall
            && self.link_down == other.link_down
            && self.unmanaged == other.unmanaged
    }
}

impl Eq for NetworkCard {}

impl FromStr for NetworkCard {
    type Err = PropertyError;

    /// Reads `virtio=MAC,…`, `virtio,macaddr=MAC,…` and `model=virtio,macaddr=MAC,…`, which all mean the same.
    fn from_str(text: &str) -> Result<Self, PropertyError> {
        let mut keys = Properties::parse(text, Some("model"))?;
        let by_model = || keys.iter().find(|(key, value)| is_model(key) && value.parse::<StoredMac>().is_ok());
        let (model, mac) = match (keys.get("model"), by_model()) {
            (Some(_), Some((key, _))) => return Err(PropertyError::Duplicate(key.to_owned())),
            (Some(model), None) => (model.to_owned(), keys.get("macaddr").map(str::to_owned)),
            (None, Some((model, mac))) => (model.to_owned(), Some(mac.to_owned())),
            (None, None) => return Err(PropertyError::Missing("model")),
        };
        if keys.get("macaddr").is_some() && keys.get(&model).is_some() {
            return Err(PropertyError::Duplicate("macaddr".to_owned()));
        }
        let mac = mac.and_then(|mac| mac.parse().ok());
        keys.take("model");
        keys.take(&model);
        if mac.is_some() {
            keys.take("macaddr");
        }
        Ok(Self {
            model: model.parse().map_err(|_| PropertyError::Incomplete(model))?,
            mac,
            bridge: keys.take_as("bridge"),
            vlan: keys.take_as("tag"),
            mtu: keys.take_as("mtu"),
            queues: keys.take_as("queues"),
            firewall: keys.take_as("firewall").unwrap_or_default(),
            link_down: keys.take_as("link_down").unwrap_or_default(),
            unmanaged: keys,
        })
    }
}

/// A key that is none of the others names the model, and its value the address.
fn is_model(key: &str) -> bool {
    let others =
        ["bridge", "firewall", "host-tunnel", "link_down", "macaddr", "mtu", "queues", "rate", "tag", "trunks"];
    !others.contains(&key) && key.parse::<NicModel>().is_ok()
}

impl fmt::Display for NetworkCard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut keys = self.unmanaged.clone();
        keys.set_some("bridge", self.bridge.as_ref());
        keys.set_some("tag", self.vlan);
        keys.set_some("mtu", self.mtu);
        keys.set_some("queues", self.queues);
        keys.set_some("firewall", self.firewall.written().map(super::switch::digit));
        keys.set_some("link_down", self.link_down.written().map(super::switch::digit));
        match &self.mac {
            Some(mac) => keys.print_after(format_args!("{}={mac}", self.model), f),
            None => keys.print_after(&self.model, f),
        }
    }
}

/// What a card pretends to be, such as `virtio` or `e1000`. One that we have never heard of is one all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NicModel(Box<str>);

impl NicModel {
    pub fn virtio() -> Self {
        Self("virtio".into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for NicModel {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let word = !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b));
        if word { Ok(Self(text.into())) } else { Err(Invalid::new(text, "a network card model like `virtio`")) }
    }
}

impl fmt::Display for NicModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(text: &str) -> NetworkCard {
        text.parse().unwrap()
    }

    #[test]
    fn what_proxmox_makes_of_a_card_is_equal_to_what_was_sent() {
        #[track_caller]
        fn case(sent: &str, stored: &str) {
            assert_eq!(card(sent), card(stored));
            assert_eq!(card(sent).to_string(), stored);
        }
        case(
            "virtio,bridge=vmbr0,macaddr=bc:24:11:aa:bb:01,tag=20,firewall=on",
            "virtio=bc:24:11:aa:bb:01,bridge=vmbr0,firewall=1,tag=20",
        );
        case(
            "model=virtio,rate=10,queues=2,mtu=1400,link_down=0,macaddr=BC:24:11:00:00:01,bridge=vmbr0,tag=20",
            "virtio=BC:24:11:00:00:01,bridge=vmbr0,link_down=0,mtu=1400,queues=2,rate=10,tag=20",
        );
        case("e1000-82544gc=BC:24:11:00:00:01", "e1000-82544gc=BC:24:11:00:00:01");
        case("virtio,bridge=vmbr0", "virtio,bridge=vmbr0");
    }

    #[test]
    fn spelling_is_no_difference_and_values_are() {
        let stored = card("virtio=bc:24:11:00:00:0a,bridge=vmbr0");
        assert_eq!(stored, card("virtio=BC:24:11:00:00:0A,bridge=vmbr0,firewall=0,queues=1"));
        assert_ne!(stored, card("virtio=BC:24:11:00:00:0B,bridge=vmbr0"));
        assert_ne!(stored, card("virtio=BC:24:11:00:00:0A,bridge=vmbr1"));
        assert_ne!(stored, card("virtio=BC:24:11:00:00:0A,bridge=vmbr0,tag=7"));
        assert_ne!(stored, card("virtio=BC:24:11:00:00:0A,bridge=vmbr0,rate=7"));
        assert_ne!(stored, card("virtio=BC:24:11:00:00:0A,bridge=vmbr0,link_down=1"));
        assert_ne!(stored, card("e1000=BC:24:11:00:00:0A,bridge=vmbr0"));
    }

    #[test]
    fn a_changed_card_keeps_what_is_not_managed() {
        let mut changed = card("virtio=bc:24:11:00:00:0a,bridge=vmbr0,rate=10,trunks=1;2-5,some-day=x");
        changed.set_mac("BC:24:11:00:00:0A".parse().unwrap());
        changed.vlan = VlanTag::new(20);
        assert_eq!(changed.to_string(), "virtio=bc:24:11:00:00:0a,bridge=vmbr0,rate=10,some-day=x,tag=20,trunks=1;2-5");
    }

    #[test]
    fn a_card_we_do_not_understand_keeps_its_text() {
        let strange = card("brandnew=BC:24:11:00:00:01,bridge=a-bridge-name-beyond-linux,tag=many");
        assert_eq!((strange.model.as_str(), strange.bridge.as_ref(), strange.vlan), ("brandnew", None, None));
        assert_eq!(strange.to_string(), "brandnew=BC:24:11:00:00:01,bridge=a-bridge-name-beyond-linux,tag=many");
        let multicast = card("virtio,macaddr=01:00:00:00:00:01");
        assert_eq!((&multicast.mac, multicast.to_string().as_str()), (&None, "virtio,macaddr=01:00:00:00:00:01"));
        for text in ["bridge=vmbr0", "", "virtio=BC:24:11:00:00:01,e1000", "virtio,bridge=a,bridge=b"] {
            assert!(text.parse::<NetworkCard>().is_err(), "{text}");
        }
    }
}
