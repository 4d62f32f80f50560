use std::net::IpAddr;

use serde::Deserialize;

use crate::model::MacAddress;
use crate::proxmox::lenient;

/// An error of the agent itself arrives as a success with an object in place of the list.
#[derive(Debug, Deserialize)]
pub(in crate::proxmox) struct AgentResult {
    result: serde_json::Value,
}

impl AgentResult {
    /// The list, or none if the agent could not make one.
    pub(in crate::proxmox) fn interfaces(self) -> Result<Vec<GuestInterface>, serde_json::Error> {
        if self.result.is_object() { Ok(Vec::new()) } else { serde_json::from_value(self.result) }
    }
}

/// A network interface as the guest sees it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct GuestInterface {
    #[serde(default, deserialize_with = "lenient::some_text")]
    pub name: Option<String>,
    #[serde(default, rename = "hardware-address", deserialize_with = "lenient::some_parsed")]
    pub mac: Option<MacAddress>,
    #[serde(default, rename = "ip-addresses")]
    addresses: Option<Vec<Address>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
struct Address {
    #[serde(default, rename = "ip-address", deserialize_with = "lenient::some_parsed")]
    address: Option<IpAddr>,
}

impl GuestInterface {
    pub fn addresses(&self) -> impl Iterator<Item = IpAddr> {
        self.addresses.iter().flatten().filter_map(|address| address.address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_without_addresses_is_one_all_the_same() {
        let result: AgentResult = serde_json::from_str(
            r#"{"result":[{"name":"lo","hardware-address":"00:00:00:00:00:00","ip-addresses":[{"ip-address":"::1","prefix":128}]},
                {"name":"eth0","hardware-address":"bc:24:11:00:00:01"}]}"#,
        )
        .unwrap();
        let interfaces = result.interfaces().unwrap();
        assert_eq!(interfaces[0].addresses().collect::<Vec<_>>(), ["::1".parse::<IpAddr>().unwrap()]);
        assert_eq!((interfaces[0].mac, interfaces[1].mac), (None, "BC:24:11:00:00:01".parse().ok()));
        assert_eq!(interfaces[1].addresses().count(), 0);
    }

    #[test]
    fn an_error_of_the_agent_is_an_empty_list() {
        let result: AgentResult = serde_json::from_str(r#"{"result":{"error":{"class":"GenericError"}}}"#).unwrap();
        assert_eq!(result.interfaces().unwrap(), []);
    }
}
