//! The API of a machine in maintenance: what its version answers to strangers.

use std::convert::Infallible;
use std::sync::Arc;

use futures_util::stream;
use hyper::body::Incoming;
use hyper::{Request as HttpRequest, Response as HttpResponse};
use tonic::body::Body;
use tonic::codegen::Service as _;
use tonic::{Request, Response, Status};

use super::machine::Machine;
use super::profile::Profile;
use super::resources;
use crate::talos::generated::machine::machine_service_server::{MachineService, MachineServiceServer};
use crate::talos::generated::machine::{PlatformInfo, Version, VersionInfo, VersionResponse};
use crate::talos::generated::resource::state_server::{State, StateServer};
use crate::talos::generated::resource::{GetRequest, GetResponse, ListRequest, ListResponse, Resource};
use crate::talos::generated::storage::disk::DiskType;
use crate::talos::generated::storage::storage_service_server::{StorageService, StorageServiceServer};
use crate::talos::generated::storage::{Disk, Disks, DisksResponse};

/// A machine that answers.
#[derive(Debug)]
pub(super) struct Api {
    pub(super) machine: Machine,
    pub(super) profile: Profile,
}

/// How long the lists of a hostile peer are: as good as without end.
const ENDLESS: usize = 1_000_000;

/// Bytes of the answer of a hostile peer.
const HUGE: usize = 16 << 20;

impl Api {
    /// Answers one request, by the service in its path.
    pub(super) async fn answer(self: Arc<Self>, request: HttpRequest<Incoming>) -> HttpResponse<Body> {
        let service = request.uri().path().split('/').nth(1).unwrap_or_default().to_owned();
        let answer: Result<_, Infallible> = match service.as_str() {
            _ if self.profile == Profile::Impostor => Ok(unknown(&service)),
            "cosi.resource.State" => StateServer::from_arc(self).call(request).await,
            "machine.MachineService" => MachineServiceServer::from_arc(self).call(request).await,
            "storage.StorageService" => StorageServiceServer::from_arc(self).call(request).await,
            _ => Ok(unknown(&service)),
        };
        let Ok(answer) = answer;
        answer
    }

    fn resources(&self, namespace: &str, kind: &str) -> Result<Vec<Resource>, Status> {
        if !resources::knows(&self.machine, kind) {
            return Err(Status::permission_denied(format!("resource type {kind:?} is not supported")));
        }
        if !resources::knows_namespace(namespace) {
            return Err(Status::permission_denied(format!("namespace {namespace:?} is not supported")));
        }
        Ok(resources::all(&self.machine, namespace, kind))
    }
}

fn unknown(service: &str) -> HttpResponse<Body> {
    Status::unimplemented(format!("unknown service {service}")).into_http()
}

#[tonic::async_trait]
impl State for Api {
    async fn get(&self, request: Request<GetRequest>) -> Result<Response<GetResponse>, Status> {
        let GetRequest { namespace, r#type: kind, id } = request.into_inner();
        let all = self.resources(&namespace, &kind)?;
        let found = all.into_iter().find(|resource| resource.metadata.as_ref().is_some_and(|data| data.id == id));
        let mut found = found
            .ok_or_else(|| Status::not_found(format!("resource {kind}({namespace}/{id}@undefined) doesn't exist")))?;
        if let (Profile::HugeAnswer, Some(spec)) = (self.profile, &mut found.spec) {
            spec.yaml_spec = "x".repeat(HUGE);
        }
        Ok(Response::new(GetResponse { resource: Some(found) }))
    }

    type ListStream = stream::Take<stream::Iter<Repeated>>;

    async fn list(&self, request: Request<ListRequest>) -> Result<Response<Self::ListStream>, Status> {
        let ListRequest { namespace, r#type: kind } = request.into_inner();
        let all = self.resources(&namespace, &kind)?;
        let count = if self.profile == Profile::EndlessList { ENDLESS } else { all.len() };
        Ok(Response::new(stream::StreamExt::take(stream::iter(Repeated { all, next: 0 }), count)))
    }
}

/// Resources in their order, over and over again: how many are taken decides whether it is an honest list.
#[derive(Debug)]
pub(super) struct Repeated {
    all: Vec<Resource>,
    next: usize,
}

impl Iterator for Repeated {
    type Item = Result<ListResponse, Status>;

    fn next(&mut self) -> Option<Self::Item> {
        let resource = self.all.get(self.next.checked_rem(self.all.len())?)?.clone();
        self.next += 1;
        Some(Ok(ListResponse { resource: Some(resource) }))
    }
}

#[tonic::async_trait]
impl MachineService for Api {
    async fn version(&self, _: Request<()>) -> Result<Response<VersionResponse>, Status> {
        if !self.machine.is_second_generation() {
            return Err(Status::unimplemented("API is not implemented in maintenance mode"));
        }
        let version = VersionInfo {
            tag: format!("v{}", self.machine.version),
            sha: "simulated".to_owned(),
            os: "linux".to_owned(),
            arch: "amd64".to_owned(),
        };
        let platform = PlatformInfo { name: self.machine.platform.to_owned(), mode: "cloud".to_owned() };
        let version = Version { version: Some(version), platform: Some(platform) };
        Ok(Response::new(VersionResponse { messages: vec![version] }))
    }
}

#[tonic::async_trait]
impl StorageService for Api {
    async fn disks(&self, _: Request<()>) -> Result<Response<DisksResponse>, Status> {
        let system = self.machine.system_disk().map(|disk| disk.name.as_str());
        let disk = |disk: &super::machine::Disk| Disk {
            size: disk.size,
            model: "QEMU HARDDISK".to_owned(),
            device_name: format!("/dev/{}", disk.name),
            name: disk.name.clone(),
            serial: disk.serial.clone(),
            r#type: if disk.cdrom { DiskType::Cd } else { DiskType::Hdd }.into(),
            system_disk: system == Some(disk.name.as_str()),
            readonly: disk.cdrom,
        };
        let disks = self.machine.disks.iter().map(disk).collect();
        Ok(Response::new(DisksResponse { messages: vec![Disks { disks }] }))
    }
}
