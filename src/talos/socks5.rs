use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::{Dial, NoWay};

/// The way through a SOCKS5 proxy (RFC 1928), such as `ssh -D` opens to a host from which the nodes can be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Socks5 {
    /// A name or an address.
    host: String,
    port: u16,
}

const VERSION: u8 = 5;
const NO_AUTHENTICATION: u8 = 0;
const CONNECT: u8 = 1;
const IPV4: u8 = 1;
const NAME: u8 = 3;
const IPV6: u8 = 4;

/// How long a proxy may take until it listens: shorter than a look, so that it is told which of the two is silent.
const OPENS_WITHIN: Duration = Duration::from_millis(1500);

/// The port of a proxy that says none.
const USUAL_PORT: u16 = 1080;

/// It does not repeat the text, in which there may be a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is not a proxy like `socks5://127.0.0.1:1080`, without a user's name")]
pub struct InvalidProxy;

impl Socks5 {
    pub fn new(proxy: SocketAddr) -> Self {
        Self { host: proxy.ip().to_string(), port: proxy.port() }
    }

    /// Connects to the proxy and agrees with it how to talk. Whatever goes wrong so far is wrong with the proxy.
    async fn open(&self) -> Result<TcpStream, NoWay> {
        let opened = async {
            let connected = TcpStream::connect((self.host.as_str(), self.port)).await;
            let mut stream = connected.map_err(|error| self.lost(&error))?;
            stream.set_nodelay(true).map_err(|error| self.lost(&error))?;
            let choice = Self::greet(&mut stream).await.map_err(|error| self.lost(&error))?;
            match choice {
                [VERSION, NO_AUTHENTICATION] => Ok(stream),
                [VERSION, _] => Err(self.no_way("wants a user name and a password")),
                _ => Err(self.no_way("does not speak SOCKS5")),
            }
        };
        match timeout(OPENS_WITHIN, opened).await {
            Ok(opened) => opened,
            Err(_) => Err(self.no_way(format_args!("does not answer within {OPENS_WITHIN:?}"))),
        }
    }

    async fn greet(stream: &mut TcpStream) -> io::Result<[u8; 2]> {
        stream.write_all(&[VERSION, 1, NO_AUTHENTICATION]).await?;
        let mut choice = [0; 2];
        stream.read_exact(&mut choice).await?;
        Ok(choice)
    }

    /// Asks the proxy for a connection. Its messages have fixed sizes, so that it can neither fill the memory nor hide
    /// anything behind its answer; how long it may take is up to the caller, as with any way.
    async fn ask(&self, stream: &mut TcpStream, to: SocketAddr) -> io::Result<()> {
        stream.write_all(&request(to)).await?;
        let mut answer = [0; 4];
        stream.read_exact(&mut answer).await?;
        let [VERSION, reply, 0, kind] = answer else {
            return Err(self.no_way("does not speak SOCKS5").into());
        };
        match reply {
            0 => {}
            2 => return Err(self.no_way("forbids the connection by its rules").into()),
            7 => return Err(self.no_way("makes no connections").into()),
            8 => return Err(self.no_way("does not know this kind of address").into()),
            reply => return Err(refusal(reply)),
        }
        let length = match kind {
            IPV4 => 4,
            IPV6 => 16,
            NAME => usize::from(stream.read_u8().await?),
            _ => return Err(self.no_way("does not speak SOCKS5").into()),
        };
        // The address that the proxy connects from: nothing depends on it.
        let mut address = [0; u8::MAX as usize + 2];
        stream.read_exact(&mut address[..length + 2]).await?;
        Ok(())
    }

    fn no_way(&self, what: impl fmt::Display) -> NoWay {
        NoWay::new(format!("the proxy {self} {what}"))
    }

    /// The proxy works, and ends the connection instead of saying what it met: that is how `ssh -D` tells that nobody
    /// takes it.
    fn nobody_there(&self) -> io::Error {
        let text = format!("nobody takes the connection there: the proxy {self} hung up");
        io::Error::new(io::ErrorKind::HostUnreachable, text)
    }

    /// The connection to the proxy itself failed.
    fn lost(&self, error: &io::Error) -> NoWay {
        if error.kind() == io::ErrorKind::UnexpectedEof {
            return self.no_way("hung up");
        }
        let text = error.to_string();
        let reason = text.split(" (os error").next().unwrap_or(&text).to_lowercase();
        self.no_way(format_args!("does not answer: {reason}"))
    }
}

fn request(to: SocketAddr) -> Vec<u8> {
    let mut request = vec![VERSION, CONNECT, 0];
    match to.ip() {
        IpAddr::V4(address) => {
            request.push(IPV4);
            request.extend(address.octets());
        }
        IpAddr::V6(address) => {
            request.push(IPV6);
            request.extend(address.octets());
        }
    }
    request.extend(to.port().to_be_bytes());
    request
}

/// What the proxy met on the way, as the error that a direct connection would have ended with.
fn refusal(reply: u8) -> io::Error {
    match reply {
        3 => io::ErrorKind::NetworkUnreachable.into(),
        4 => io::ErrorKind::HostUnreachable.into(),
        5 => io::ErrorKind::ConnectionRefused.into(),
        6 => io::Error::new(io::ErrorKind::TimedOut, "the proxy got no answer in time"),
        _ => io::Error::other("the proxy cannot connect"),
    }
}

impl Dial for Socks5 {
    type Stream = TcpStream;

    async fn dial(&self, to: SocketAddr) -> io::Result<TcpStream> {
        // What is wrong with the proxy says nothing about the node, and must not look as if it did.
        let mut stream = self.open().await?;
        self.ask(&mut stream, to).await.map_err(|error| {
            let hung_up = error.kind() == io::ErrorKind::UnexpectedEof || error.raw_os_error().is_some();
            if hung_up { self.nobody_there() } else { error }
        })?;
        Ok(stream)
    }

    async fn check(&self) -> Result<(), NoWay> {
        self.open().await.map(drop)
    }
}

impl FromStr for Socks5 {
    type Err = InvalidProxy;

    /// `socks5h` means that the proxy resolves names; there are only addresses here, so it is the same.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let url = url::Url::parse(text).map_err(|_| InvalidProxy)?;
        let plain = url.username().is_empty() && url.password().is_none() && url.query().is_none();
        let path = matches!(url.path(), "" | "/");
        match (url.scheme(), url.host_str()) {
            ("socks5" | "socks5h", Some(host)) if plain && path && !host.is_empty() => {
                let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
                Ok(Self { host: host.to_owned(), port: url.port().unwrap_or(USUAL_PORT) })
            }
            _ => Err(InvalidProxy),
        }
    }
}

impl fmt::Display for Socks5 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port } = self;
        if host.contains(':') { write!(f, "socks5://[{host}]:{port}") } else { write!(f, "socks5://{host}:{port}") }
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    #[test]
    fn a_proxy_is_a_url_without_secrets() {
        #[track_caller]
        fn case(text: &str, shown: &str) {
            assert_eq!(text.parse::<Socks5>().expect("a proxy").to_string(), shown);
        }
        case("socks5://127.0.0.1:1080", "socks5://127.0.0.1:1080");
        case("socks5h://jump.example.org", "socks5://jump.example.org:1080");
        case("socks5://[::1]:9050/", "socks5://[::1]:9050");
        for text in ["", "127.0.0.1:1080", "http://127.0.0.1", "socks5://", "socks5://me:secret@host", "socks5://a/b"] {
            assert!(text.parse::<Socks5>().is_err(), "{text}");
        }
    }

    /// A proxy that says these bytes whatever it is asked, and then nothing.
    async fn through(says: &'static [u8], then_closes: bool) -> io::Result<TcpStream> {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has a free port");
        let proxy = Socks5::new(listener.local_addr().expect("it is bound"));
        let server = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.expect("somebody connects");
            stream.write_all(says).await.expect("the client listens");
            if then_closes {
                drop(stream.shutdown().await);
            }
            let mut bytes = [0; 64];
            while stream.read(&mut bytes).await.is_ok_and(|read| read > 0) {}
        });
        let node = "192.0.2.7:50000".parse().expect("an address");
        let dialled = timeout(Duration::from_secs(10), proxy.dial(node)).await.expect("it never hangs here");
        server.abort();
        dialled
    }

    #[tokio::test]
    async fn what_the_proxy_met_is_told_as_if_met_directly() {
        let kind = async |reply: &'static [u8]| through(reply, false).await.map(drop).map_err(|error| error.kind());
        assert_eq!(kind(&[5, 0, 5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).await, Ok(()));
        assert_eq!(kind(&[5, 0, 5, 0, 0, 3, 1, b'x', 0, 0]).await, Ok(()));
        assert_eq!(kind(&[5, 0, 5, 3, 0, 1]).await, Err(io::ErrorKind::NetworkUnreachable));
        assert_eq!(kind(&[5, 0, 5, 4, 0, 1]).await, Err(io::ErrorKind::HostUnreachable));
        assert_eq!(kind(&[5, 0, 5, 5, 0, 1]).await, Err(io::ErrorKind::ConnectionRefused));
        assert_eq!(kind(&[5, 0, 5, 1, 0, 1]).await, Err(io::ErrorKind::Other));
    }

    #[tokio::test]
    async fn whoever_is_no_proxy_is_told_from_a_node_that_refuses() {
        let text = async |says: &'static [u8]| {
            let error = through(says, true).await.map(drop).expect_err("there is no way");
            assert!(NoWay::within(&error).is_some(), "{error}");
            error.to_string()
        };
        let told = |text: String, end: &str| {
            assert!(text.starts_with("the proxy socks5://127.0.0.1:") && text.ends_with(end), "{text}");
        };
        told(text(b"HTTP/1.1 400").await, "does not speak SOCKS5");
        told(text(&[5, 255]).await, "wants a user name and a password");
        told(text(&[5, 0, 5, 0, 0, 9]).await, "does not speak SOCKS5");
        told(text(&[5, 0, 5, 2, 0, 1]).await, "forbids the connection by its rules");
        told(text(&[5]).await, "hung up");
    }

    /// As `ssh -D` does, which has no other way to say that nobody is there.
    #[tokio::test]
    async fn a_proxy_that_hangs_up_when_asked_is_open_and_reaches_nobody() {
        for says in [&[5, 0][..], &[5, 0, 5]] {
            let error = through(says, true).await.map(drop).expect_err("there is no connection");
            assert!(NoWay::within(&error).is_none(), "the way is open: {error}");
            assert_eq!(error.kind(), io::ErrorKind::HostUnreachable, "and nobody refused it");
        }
    }

    #[tokio::test]
    async fn a_closed_proxy_is_no_closed_node() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has a free port");
        let proxy = Socks5::new(listener.local_addr().expect("it is bound"));
        drop(listener);
        let error = proxy.dial("192.0.2.7:50000".parse().expect("an address")).await.expect_err("nobody listens");
        assert!(NoWay::within(&error).is_some(), "{error}");
        let sentence = format!("the proxy {proxy} does not answer: connection refused");
        assert_eq!(proxy.check().await, Err(NoWay::new(sentence)));
    }

    #[tokio::test]
    async fn a_proxy_that_never_says_anything_is_closed_too() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has a free port");
        let proxy = Socks5::new(listener.local_addr().expect("it is bound"));
        let no_way = proxy.check().await.expect_err("it says nothing").to_string();
        assert!(no_way.ends_with("does not answer within 1.5s"), "{no_way}");
    }
}
