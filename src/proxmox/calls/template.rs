use super::ConfigChange;
use crate::model::{HostName, PoolId, VmId};
use crate::proxmox::Request;

/// A new VM from nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateVm<'a> {
    pub host: &'a HostName,
    pub vmid: VmId,
    pub pool: Option<&'a PoolId>,
    pub config: &'a ConfigChange,
}

/// A task. A taken VMID is refused at once, wherever in the cluster it is taken.
pub fn create_vm(create: &CreateVm<'_>) -> Request {
    let request =
        Request::post(format!("/nodes/{}/qemu", create.host)).with("vmid", create.vmid).with_some("pool", create.pool);
    // There is nothing yet that could be deleted or could have changed.
    create.config.iter().fold(request, |request, (key, value)| request.with(key, value))
}

/// A task: makes a VM a template, volumes included. Setting the option `template` instead would leave them as they are.
pub fn convert_to_template(host: &HostName, vmid: VmId) -> Request {
    Request::post(format!("/nodes/{host}/qemu/{vmid}/template"))
}
