//! Questions to a node's API on a connection that is already there.

use std::error::Error as _;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_util::future::{Either, select};
use h2::RecvStream;
use h2::client::SendRequest;
use http_body_util::{BodyExt as _, Collected};
use hyper::body::Frame;
use hyper::{Request, Response, Uri};
use prost::Message;
use tokio::io::{AsyncRead, AsyncWrite};
use tonic::body::Body;
use tonic::codegen::Service;
use tonic::{Code, Status};

use super::generated::machine::machine_service_client::MachineServiceClient;
use super::generated::resource::state_client::StateClient;
use super::generated::resource::{GetRequest, ListRequest, Resource};
use super::generated::storage::Disk;
use super::generated::storage::storage_service_client::StorageServiceClient;
use super::tap::TOO_MUCH;
use super::{Answer, root_cause, shown};

/// The largest message that is read: the schematic in a list of extensions is the largest that Talos has.
const LARGEST_MESSAGE: usize = 1 << 20;

/// The most resources of one kind that are read. A node in maintenance has some tens.
const MOST_RESOURCES: usize = 1000;

/// What HTTP/2 may hold in memory for a peer, in bytes.
const WINDOW: u32 = 256 << 10;
const HEADERS: u32 = 16 << 10;

/// One kind of resource.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    pub(super) namespace: &'static str,
    pub(super) name: &'static str,
}

/// A question that got no answer.
#[derive(Debug)]
pub(super) enum Failure {
    /// The object is not there.
    Absent,
    /// The peer does not know what is asked for.
    Unknown,
    /// The connection ended, as it does when a node changes from one mode to the next.
    BrokenOff(String),
    /// Whatever a Talos does not do.
    Nonsense(String),
}

impl Failure {
    fn of(status: &Status) -> Self {
        let text = || shown(status.message());
        match status.code() {
            Code::NotFound => Self::Absent,
            Code::Unimplemented => Self::Unknown,
            // The same code stands for a type that is newer than the node and for one that is none of our business.
            Code::PermissionDenied if status.message().ends_with("is not supported") => Self::Unknown,
            _ => match transport_error(status) {
                Some((true, cause)) => Self::BrokenOff(cause),
                Some((false, cause)) => Self::Nonsense(cause),
                None if matches!(status.code(), Code::Unavailable | Code::Cancelled | Code::DeadlineExceeded) => {
                    Self::BrokenOff(text())
                }
                None => Self::Nonsense(text()),
            },
        }
    }

    fn into_answer<T>(self) -> Answer<T> {
        match self {
            Self::Absent => Answer::Nothing,
            Self::Unknown => Answer::NotOnThisVersion,
            Self::BrokenOff(why) | Self::Nonsense(why) => Answer::Failed(why),
        }
    }
}

/// What happened below gRPC, and whether it is no more than an end of the connection.
fn transport_error(status: &Status) -> Option<(bool, String)> {
    let mut cause = status.source();
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<h2::Error>() {
            // What this side found wrong with the peer is no farewell of the peer.
            let too_much = error.get_io().is_some_and(|error| error.kind() == TOO_MUCH);
            return Some((!error.is_library() && !too_much, root_cause(error)));
        }
        if let Some(error) = error.downcast_ref::<io::Error>() {
            return Some((true, root_cause(error)));
        }
        cause = error.source();
    }
    None
}

impl<T> From<Result<T, Failure>> for Answer<T> {
    fn from(result: Result<T, Failure>) -> Self {
        result.map_or_else(Failure::into_answer, Self::Said)
    }
}

/// The API of one node on one connection.
pub(super) struct Api {
    sender: Sender,
    origin: Uri,
}

impl Api {
    /// Begins HTTP/2 on a connection that has been secured, and holds a conversation on it.
    ///
    /// Nothing of the connection outlives the conversation, whatever the peer does: it runs in no task of its own.
    pub(super) async fn converse<S, T>(
        stream: S,
        origin: Uri,
        conversation: impl AsyncFnOnce(Self) -> T,
    ) -> Result<T, h2::Error>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let mut http = h2::client::Builder::new();
        http.initial_window_size(WINDOW).initial_connection_window_size(WINDOW).max_header_list_size(HEADERS);
        let (sender, connection) = http.enable_push(false).handshake(stream).await?;
        let conversation = pin!(conversation(Self { sender: Sender(sender), origin }));
        match select(conversation, connection).await {
            Either::Left((result, _)) => Ok(result),
            // How the connection ended is told to everyone who waits for an answer.
            Either::Right((_, conversation)) => Ok(conversation.await),
        }
    }

    fn state(&self) -> StateClient<Sender> {
        StateClient::with_origin(self.sender.clone(), self.origin.clone()).max_decoding_message_size(LARGEST_MESSAGE)
    }

    /// One resource.
    pub(super) async fn get<T: Message + Default>(&self, kind: Kind, id: &str) -> Result<T, Failure> {
        let request = GetRequest { namespace: kind.namespace.into(), r#type: kind.name.into(), id: id.into() };
        let answer = self.state().get(request).await.map_err(|status| Failure::of(&status))?;
        decode(answer.into_inner().resource).map(|(_, spec)| spec)
    }

    /// All resources of a kind, each with its name.
    pub(super) async fn list<T: Message + Default>(&self, kind: Kind) -> Result<Vec<(String, T)>, Failure> {
        let request = ListRequest { namespace: kind.namespace.into(), r#type: kind.name.into() };
        let answer = self.state().list(request).await.map_err(|status| Failure::of(&status))?;
        let (mut stream, mut all) = (answer.into_inner(), Vec::new());
        while let Some(next) = stream.message().await.map_err(|status| Failure::of(&status))? {
            if all.len() == MOST_RESOURCES {
                return Err(Failure::Nonsense(format!("it lists more than {MOST_RESOURCES} of {}", kind.name)));
            }
            all.push(decode(next.resource)?);
        }
        Ok(all)
    }

    /// The version by the call that knows it from 1.13 on.
    pub(super) async fn version(&self) -> Result<String, Failure> {
        let client = MachineServiceClient::with_origin(self.sender.clone(), self.origin.clone());
        let answer = client.max_decoding_message_size(LARGEST_MESSAGE).version(()).await;
        let answer = answer.map_err(|status| Failure::of(&status))?.into_inner();
        let version = answer.messages.into_iter().find_map(|message| message.version);
        version.map(|version| version.tag).ok_or(Failure::Absent)
    }

    /// The disks by the call that every version knows.
    pub(super) async fn disks(&self) -> Result<Vec<Disk>, Failure> {
        let client = StorageServiceClient::with_origin(self.sender.clone(), self.origin.clone());
        let answer = client.max_decoding_message_size(LARGEST_MESSAGE).disks(()).await;
        let answer = answer.map_err(|status| Failure::of(&status))?.into_inner();
        Ok(answer.messages.into_iter().flat_map(|message| message.disks).collect())
    }
}

fn decode<T: Message + Default>(resource: Option<Resource>) -> Result<(String, T), Failure> {
    let Resource { metadata, spec } = resource.ok_or_else(|| Failure::Nonsense("an answer without content".into()))?;
    let bytes = spec.unwrap_or_default().proto_spec;
    let spec = T::decode(bytes.as_slice())
        .map_err(|error| Failure::Nonsense(format!("an answer that cannot be read: {}", shown(&error.to_string()))))?;
    Ok((shown(&metadata.unwrap_or_default().id), spec))
}

/// Sends requests on the one connection; there is no second one to fall back to, on purpose.
#[derive(Clone)]
struct Sender(SendRequest<Bytes>);

impl Service<Request<Body>> for Sender {
    type Response = Response<Answered>;
    type Error = h2::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let (head, body) = request.into_parts();
        let sent = self.0.send_request(Request::from_parts(head, ()), false);
        Box::pin(async move {
            let (answer, mut stream) = sent?;
            // A question is some tens of bytes, which every peer's window takes at once.
            let question = body.collect().await.map_or_else(|_| Bytes::new(), Collected::to_bytes);
            stream.send_data(question, true)?;
            Ok(answer.await?.map(Answered))
        })
    }
}

/// An answer on its way.
struct Answered(RecvStream);

impl hyper::body::Body for Answered {
    type Data = Bytes;
    type Error = h2::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, h2::Error>>> {
        if let Some(data) = ready!(self.0.poll_data(cx)) {
            let data = data?;
            // What has been read makes room for more.
            self.0.flow_control().release_capacity(data.len())?;
            return Poll::Ready(Some(Ok(Frame::data(data))));
        }
        let trailers = ready!(self.0.poll_trailers(cx))?;
        Poll::Ready(trailers.map(|trailers| Ok(Frame::trailers(trailers))))
    }
}
