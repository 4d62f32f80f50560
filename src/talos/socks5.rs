use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::Dial;

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

    /// Asks the proxy for a connection. Its messages have fixed sizes, so that it can neither fill the memory nor hide
    /// anything behind its answer; how long it may take is up to the caller, as with any way.
    async fn ask(stream: &mut TcpStream, to: SocketAddr) -> io::Result<()> {
        stream.write_all(&[VERSION, 1, NO_AUTHENTICATION]).await?;
        let mut choice = [0; 2];
        stream.read_exact(&mut choice).await?;
        match choice {
            [VERSION, NO_AUTHENTICATION] => {}
            [VERSION, _] => return Err(io::Error::other("the proxy wants a user name and a password")),
            _ => return Err(io::Error::other("the proxy does not speak SOCKS5")),
        }
        stream.write_all(&request(to)).await?;
        let mut answer = [0; 4];
        stream.read_exact(&mut answer).await?;
        let [VERSION, reply, 0, kind] = answer else {
            return Err(io::Error::other("the proxy does not speak SOCKS5"));
        };
        if reply != 0 {
            return Err(refusal(reply));
        }
        skip_address(stream, kind).await
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
        2 => io::Error::new(io::ErrorKind::PermissionDenied, "the proxy's rules forbid the connection"),
        3 => io::ErrorKind::NetworkUnreachable.into(),
        4 => io::ErrorKind::HostUnreachable.into(),
        5 => io::ErrorKind::ConnectionRefused.into(),
        6 => io::Error::new(io::ErrorKind::TimedOut, "the proxy got no answer in time"),
        8 => io::Error::new(io::ErrorKind::Unsupported, "the proxy does not know this kind of address"),
        _ => io::Error::other("the proxy cannot connect"),
    }
}

/// Reads over the address that the proxy connects from; nothing depends on it.
async fn skip_address(stream: &mut TcpStream, kind: u8) -> io::Result<()> {
    let length = match kind {
        IPV4 => 4,
        IPV6 => 16,
        NAME => usize::from(stream.read_u8().await?),
        _ => return Err(io::Error::other("the proxy does not speak SOCKS5")),
    };
    let mut address = [0; u8::MAX as usize + 2];
    stream.read_exact(&mut address[..length + 2]).await?;
    Ok(())
}

impl Dial for Socks5 {
    type Stream = TcpStream;

    async fn dial(&self, to: SocketAddr) -> io::Result<TcpStream> {
        // What is wrong with the proxy says nothing about the node, and must not look as if it did.
        let absent = |error: io::Error| io::Error::other(format!("the proxy {self} does not answer: {error}"));
        let mut stream = TcpStream::connect((self.host.as_str(), self.port)).await.map_err(absent)?;
        stream.set_nodelay(true)?;
        Self::ask(&mut stream, to).await.map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => io::Error::other(format!("the proxy {self} hung up")),
            _ if error.raw_os_error().is_some() => absent(error),
            _ => error,
        })?;
        Ok(stream)
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
    use std::time::Duration;

    use tokio::net::TcpListener;
    use tokio::time::timeout;

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
        let text = async |says: &'static [u8]| through(says, true).await.map(drop).map_err(|error| error.to_string());
        assert_eq!(text(b"HTTP/1.1 400").await, Err("the proxy does not speak SOCKS5".to_owned()));
        assert_eq!(text(&[5, 255]).await, Err("the proxy wants a user name and a password".to_owned()));
        assert_eq!(text(&[5, 0, 5, 0, 0, 9]).await, Err("the proxy does not speak SOCKS5".to_owned()));
        assert!(text(&[5]).await.is_err_and(|text| text.ends_with("hung up")));

        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has a free port");
        let proxy = Socks5::new(listener.local_addr().expect("it is bound"));
        drop(listener);
        let error = proxy.dial("192.0.2.7:50000".parse().expect("an address")).await.expect_err("nobody listens");
        assert_eq!(error.kind(), io::ErrorKind::Other, "a closed proxy is no closed node: {error}");
    }
}
