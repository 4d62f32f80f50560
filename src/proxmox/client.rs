use backon::Retryable;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tracing::{debug, warn};

use super::answers::{
    AccessRole, AgentResult, Bridge, ClusterStatus, FeatureAnswer, Guest, GuestInterface, Host, HostStatus,
    Permissions, Pool, Storage, UrlMetadata, Version, VmConfig, VmListed, VmPending, VmStatus, Volume,
};
use super::calls::{self, CloneVm, CloudInitPart, ConfigChange, CreateVm, Download, Feature, TaskSource, TasksQuery};
use super::envelope::{self, Envelope};
use super::refusal::RefusalKind;
use super::task::{LogPage, TaskRow, TaskState, Upid};
use super::types::{DiskSlot, VolumeId};
use super::{Answer, Call, ProxmoxError, Refusal, Request, Retry, Transport, TransportError, UnreadableAnswer, Upload};
use crate::model::{DiskSize, HostName, PoolId, StorageId, VmId};

/// Sends requests, sends again what may be sent again, and reads the answers.
///
/// Each method is one call and says in its type what comes back: a value, nothing, or the name of a task that has only
/// just begun.
#[derive(Clone, Debug)]
pub struct Client<T> {
    transport: T,
    retry: Retry,
}

impl<T: Transport> Client<T> {
    pub fn new(transport: T) -> Self {
        Self::with_retry(transport, Retry::default())
    }

    pub fn with_retry(transport: T, retry: Retry) -> Self {
        Self { transport, retry }
    }

    pub fn transport(&self) -> &T {
        &self.transport
    }

    /// Sends a request and returns the answer if it is a success.
    ///
    /// Only what cannot do its work twice is sent again: what never left this machine, what was refused before
    /// anything was touched, and a GET whose answer was lost. A POST whose answer was lost never is.
    pub async fn send(&self, request: &Request) -> Result<Answer, ProxmoxError> {
        (|| self.send_once(request))
            .retry(self.retry.pauses())
            .sleep(tokio::time::sleep)
            .when(ProxmoxError::may_resend)
            .notify(|error, pause| warn!("{}; trying again in {} ms", error.with_causes(), pause.as_millis()))
            .await
    }

    async fn send_once(&self, request: &Request) -> Result<Answer, ProxmoxError> {
        let answer = self.transport.send(request).await;
        self.judged(request, answer)
    }

    fn judged(&self, request: &Request, answer: Result<Answer, TransportError>) -> Result<Answer, ProxmoxError> {
        let endpoint = self.transport.endpoint();
        let answer = answer.map_err(|source| match source {
            TransportError::Untrusted(source) => ProxmoxError::Untrusted { endpoint: endpoint.to_owned(), source },
            source if source.is_never_sent() => ProxmoxError::Unreachable { endpoint: endpoint.to_owned(), source },
            source => ProxmoxError::Unanswered { call: Call::of(request, endpoint).into(), source },
        })?;
        debug!(method = %request.method, path = request.path, status = answer.status, "called");
        if answer.is_success() {
            return Ok(answer);
        }
        let source = Box::new(Refusal::of(&answer));
        Err(ProxmoxError::Refused { call: Call::of(request, endpoint).into(), source })
    }

    async fn open<D: DeserializeOwned>(&self, request: &Request) -> Result<Envelope<D>, ProxmoxError> {
        let answer = self.send(request).await?;
        envelope::open(&answer).map_err(|source| self.unreadable(request, source))
    }

    /// Sends a request and reads the data of its answer.
    pub async fn call<D: DeserializeOwned>(&self, request: &Request) -> Result<D, ProxmoxError> {
        self.open(request).await.map(|envelope| envelope.data)
    }

    /// Sends a request that answers nothing; whatever it answers all the same is ignored.
    async fn done(&self, request: &Request) -> Result<(), ProxmoxError> {
        self.send(request).await.map(drop)
    }

    /// Sends a request that begins a task.
    async fn begin(&self, request: &Request) -> Result<Upid, ProxmoxError> {
        let answer = self.send(request).await?;
        self.begun(request, &answer)
    }

    fn begun(&self, request: &Request, answer: &Answer) -> Result<Upid, ProxmoxError> {
        let text: Envelope<String> = envelope::open(answer).map_err(|source| self.unreadable(request, source))?;
        text.data.parse().map_err(|error: super::task::InvalidUpid| {
            self.unreadable(request, UnreadableAnswer::WrongShape(error.to_string()))
        })
    }

    fn unreadable(&self, request: &Request, source: UnreadableAnswer) -> ProxmoxError {
        ProxmoxError::Unreadable { call: Call::of(request, self.transport.endpoint()).into(), source }
    }

    pub async fn version(&self) -> Result<Version, ProxmoxError> {
        self.call(&calls::version()).await
    }

    pub async fn permissions(&self, path: Option<&str>) -> Result<Permissions, ProxmoxError> {
        self.call(&calls::permissions(path)).await
    }

    pub async fn roles(&self) -> Result<Vec<AccessRole>, ProxmoxError> {
        self.call(&calls::roles()).await
    }

    /// All VMs and containers that the token may see. An empty list may mean that it may see none.
    pub async fn guests(&self) -> Result<Vec<Guest>, ProxmoxError> {
        self.call(&calls::guests()).await
    }

    /// The lowest free VMID. Nothing is reserved.
    pub async fn next_id(&self) -> Result<VmId, ProxmoxError> {
        let request = calls::next_id(None);
        self.vm_id(&request).await
    }

    /// Whether nothing in the cluster has this VMID, be it visible or not.
    pub async fn is_free(&self, vmid: VmId) -> Result<bool, ProxmoxError> {
        match self.vm_id(&calls::next_id(Some(vmid))).await {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == Some(&RefusalKind::Exists) => Ok(false),
            Err(error) => Err(error),
        }
    }

    async fn vm_id(&self, request: &Request) -> Result<VmId, ProxmoxError> {
        #[derive(serde::Deserialize)]
        struct Id(#[serde(deserialize_with = "super::lenient::parsed")] VmId);
        self.call(request).await.map(|Id(vmid)| vmid)
    }

    pub async fn hosts(&self) -> Result<Vec<Host>, ProxmoxError> {
        self.call(&calls::hosts()).await
    }

    pub async fn cluster_status(&self) -> Result<ClusterStatus, ProxmoxError> {
        self.call(&calls::cluster_status()).await
    }

    pub async fn host_status(&self, host: &HostName) -> Result<HostStatus, ProxmoxError> {
        self.call(&calls::host_status(host)).await
    }

    pub async fn pools(&self) -> Result<Vec<Pool>, ProxmoxError> {
        self.call(&calls::pools()).await
    }

    /// One pool with its members; none if there is no such pool, or none that the token may see.
    pub async fn pool(&self, pool: &PoolId) -> Result<Option<Pool>, ProxmoxError> {
        match self.call::<Vec<Pool>>(&calls::pool(pool)).await {
            Ok(pools) => Ok(pools.into_iter().next()),
            Err(error) if error.kind() == Some(&RefusalKind::UnknownPool) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The VMs of one host, live.
    ///
    /// Proxmox reads every configuration for this, and fails as a whole when one vanishes meanwhile. A second try
    /// does not meet the same one.
    pub async fn vms(&self, host: &HostName) -> Result<Vec<VmListed>, ProxmoxError> {
        let request = calls::vms(host);
        match self.call(&request).await {
            Err(error) if error.kind() == Some(&RefusalKind::NotFound) => self.call(&request).await,
            listed => listed,
        }
    }

    pub async fn storages(&self, host: &HostName, content: Option<&str>) -> Result<Vec<Storage>, ProxmoxError> {
        self.call(&calls::storages(host, content)).await
    }

    pub async fn volumes(
        &self,
        host: &HostName,
        storage: &StorageId,
        content: Option<&str>,
        vmid: Option<VmId>,
    ) -> Result<Vec<Volume>, ProxmoxError> {
        self.call(&calls::volumes(host, storage, content, vmid)).await
    }

    pub async fn bridges(&self, host: &HostName) -> Result<Vec<Bridge>, ProxmoxError> {
        self.call(&calls::bridges(host)).await
    }

    pub async fn vm_config(&self, host: &HostName, vmid: VmId) -> Result<VmConfig, ProxmoxError> {
        self.call(&calls::vm_config(host, vmid)).await
    }

    pub async fn vm_pending(&self, host: &HostName, vmid: VmId) -> Result<VmPending, ProxmoxError> {
        self.call(&calls::vm_pending(host, vmid)).await
    }

    pub async fn vm_status(&self, host: &HostName, vmid: VmId) -> Result<VmStatus, ProxmoxError> {
        self.call(&calls::vm_status(host, vmid)).await
    }

    pub async fn feature(&self, host: &HostName, vmid: VmId, feature: Feature) -> Result<FeatureAnswer, ProxmoxError> {
        self.call(&calls::feature(host, vmid, feature)).await
    }

    pub async fn clone_vm(&self, clone: &CloneVm<'_>) -> Result<Upid, ProxmoxError> {
        self.begin(&calls::clone_vm(clone)).await
    }

    pub async fn create_vm(&self, create: &CreateVm<'_>) -> Result<Upid, ProxmoxError> {
        self.begin(&calls::create_vm(create)).await
    }

    pub async fn convert_to_template(&self, host: &HostName, vmid: VmId) -> Result<Upid, ProxmoxError> {
        self.begin(&calls::convert_to_template(host, vmid)).await
    }

    pub async fn configure(&self, host: &HostName, vmid: VmId, change: &ConfigChange) -> Result<(), ProxmoxError> {
        self.done(&calls::configure(host, vmid, change)).await
    }

    pub async fn configure_in_background(
        &self,
        host: &HostName,
        vmid: VmId,
        change: &ConfigChange,
    ) -> Result<Upid, ProxmoxError> {
        self.begin(&calls::configure_in_background(host, vmid, change)).await
    }

    pub async fn resize(
        &self,
        host: &HostName,
        vmid: VmId,
        slot: DiskSlot,
        size: DiskSize,
        digest: Option<&str>,
    ) -> Result<Upid, ProxmoxError> {
        self.begin(&calls::resize(host, vmid, slot, size, digest)).await
    }

    pub async fn start(&self, host: &HostName, vmid: VmId) -> Result<Upid, ProxmoxError> {
        self.begin(&calls::start(host, vmid)).await
    }

    pub async fn stop(&self, host: &HostName, vmid: VmId, overrule: bool) -> Result<Upid, ProxmoxError> {
        self.begin(&calls::stop(host, vmid, overrule)).await
    }

    pub async fn shutdown(&self, host: &HostName, vmid: VmId, timeout: u32, force: bool) -> Result<Upid, ProxmoxError> {
        self.begin(&calls::shutdown(host, vmid, timeout, force)).await
    }

    pub async fn delete_vm(
        &self,
        host: &HostName,
        vmid: VmId,
        purge: bool,
        unreferenced: bool,
    ) -> Result<Upid, ProxmoxError> {
        self.begin(&calls::delete_vm(host, vmid, purge, unreferenced)).await
    }

    pub async fn cloud_init_dump(
        &self,
        host: &HostName,
        vmid: VmId,
        part: CloudInitPart,
    ) -> Result<String, ProxmoxError> {
        self.call(&calls::cloud_init_dump(host, vmid, part)).await
    }

    pub async fn regenerate_cloud_init(&self, host: &HostName, vmid: VmId) -> Result<(), ProxmoxError> {
        self.done(&calls::regenerate_cloud_init(host, vmid)).await
    }

    pub async fn url_metadata(&self, host: &HostName, url: &str) -> Result<UrlMetadata, ProxmoxError> {
        self.call(&calls::url_metadata(host, url)).await
    }

    pub async fn download(&self, download: &Download<'_>) -> Result<Upid, ProxmoxError> {
        self.begin(&calls::download(download)).await
    }

    /// Sends a file, once. The task that begins then puts it into its place, over one of the same name.
    pub async fn upload(&self, upload: &Upload) -> Result<Upid, ProxmoxError> {
        let answer = self.transport.upload(upload).await;
        let answer = self.judged(upload.request(), answer)?;
        self.begun(upload.request(), &answer)
    }

    pub async fn delete_volume(&self, host: &HostName, volume: &VolumeId) -> Result<Upid, ProxmoxError> {
        self.begin(&calls::delete_volume(host, volume)).await
    }

    pub async fn set_storage_content<'a>(
        &self,
        storage: &StorageId,
        content: impl IntoIterator<Item = &'a str>,
    ) -> Result<(), ProxmoxError> {
        self.done(&calls::set_storage_content(storage, content)).await
    }

    /// The guest's interfaces by its agent; none if the agent cannot tell.
    pub async fn agent_interfaces(&self, host: &HostName, vmid: VmId) -> Result<Vec<GuestInterface>, ProxmoxError> {
        let request = calls::agent_interfaces(host, vmid);
        let result: AgentResult = self.call(&request).await?;
        result.interfaces().map_err(|error| {
            self.unreadable(&request, UnreadableAnswer::WrongShape(super::text::clean(&error.to_string())))
        })
    }

    pub async fn tasks(&self, host: &HostName, query: &TasksQuery<'_>) -> Result<Vec<TaskRow>, ProxmoxError> {
        let listed: Vec<super::task::ListedTask> = self.call(&calls::tasks(host, query)).await?;
        Ok(listed.into_iter().filter_map(super::task::ListedTask::row).collect())
    }

    /// The tasks of this kind that run on a host, such as a clone that another run of ours began.
    pub async fn running_tasks(&self, host: &HostName, kind: &str) -> Result<Vec<Upid>, ProxmoxError> {
        let query = TasksQuery { source: TaskSource::Active, limit: 500, since: None, kind: Some(kind) };
        let rows = self.tasks(host, &query).await?;
        Ok(rows.into_iter().filter(|row| row.state == TaskState::Running).map(|row| row.upid).collect())
    }

    pub async fn task_status(&self, upid: &Upid) -> Result<TaskState, ProxmoxError> {
        let status: super::task::StatusOfTask = self.call(&calls::task_status(upid)).await?;
        Ok(status.state())
    }

    /// Up to `limit` lines of a task's log after the first `start`.
    pub async fn task_log(&self, upid: &Upid, start: u64, limit: u32) -> Result<LogPage, ProxmoxError> {
        let envelope: Envelope<Value> = self.open(&calls::task_log(upid, start, limit)).await?;
        Ok(LogPage::of(&envelope.data, envelope.total))
    }

    /// A task's log as it is now, up to 10,000 lines of it.
    pub async fn whole_task_log(&self, upid: &Upid) -> Result<LogPage, ProxmoxError> {
        const LINES: u32 = 500;
        const MOST: usize = 10_000;
        let mut log = LogPage::default();
        while log.lines.len() < MOST {
            let start = log.lines.last().map_or(0, |line| line.number);
            let page = self.task_log(upid, start, LINES).await?;
            log.total = page.total;
            // A page that does not lead on would be asked for again and again.
            let new: Vec<_> = page.lines.into_iter().filter(|line| line.number > start).collect();
            let is_last = new.len() < LINES as usize;
            log.lines.extend(new);
            if is_last {
                break;
            }
        }
        Ok(log)
    }

    pub async fn stop_task(&self, upid: &Upid) -> Result<(), ProxmoxError> {
        self.done(&calls::stop_task(upid)).await
    }
}
