use std::time::Duration;

use reqwest::header::CONTENT_TYPE;
use serde::Deserialize;

use super::FactoryError;
use crate::model::{SchematicId, made_printable};
use crate::proxmox::{Trust, client_config};
use crate::schematic::{FactoryUrl, Schematic};

const ANSWER_WITHIN: Duration = Duration::from_secs(40);
/// Far more than any schematic with its id.
const LARGEST_ANSWER: usize = 1 << 20;

#[derive(Deserialize)]
struct Registered {
    id: String,
}

/// Registers a schematic, so that the factory can build images of it, and compares what the factory calls it with what
/// it must be called. Doing it again changes nothing.
pub async fn push(factory: &FactoryUrl, schematic: &Schematic) -> Result<SchematicId, FactoryError> {
    let unanswered = |source| FactoryError::Unanswered { factory: factory.clone(), source };
    let unreadable = || FactoryError::Unreadable { factory: factory.clone() };
    let mut response = client(factory)?
        .post(format!("{factory}/schematics"))
        .header(CONTENT_TYPE, "application/yaml")
        .body(schematic.canonical())
        .send()
        .await
        .map_err(unanswered)?;
    let status = response.status();
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(unanswered)? {
        body.extend_from_slice(&piece);
        if body.len() > LARGEST_ANSWER {
            return Err(unreadable());
        }
    }
    if !status.is_success() {
        return Err(FactoryError::Refused {
            factory: factory.clone(),
            status: status.as_u16(),
            text: first_line(&body),
        });
    }
    let registered: Registered = serde_json::from_slice(&body).map_err(|_| unreadable())?;
    let (theirs, ours): (SchematicId, _) = (registered.id.parse().map_err(|_| unreadable())?, schematic.id());
    if theirs == ours { Ok(ours) } else { Err(FactoryError::OtherId { factory: factory.clone(), theirs, ours }) }
}

/// Verifies who is there, and follows nobody elsewhere. A factory is on the internet, so that the proxies of the
/// environment are used, except for one on this machine.
fn client(factory: &FactoryUrl) -> Result<reqwest::Client, FactoryError> {
    let builder = reqwest::Client::builder()
        .tls_backend_preconfigured(client_config(Trust::System)?)
        .http1_only()
        .redirect(reqwest::redirect::Policy::none())
        .timeout(ANSWER_WITHIN)
        .user_agent(concat!("pvetalos/", env!("CARGO_PKG_VERSION")));
    let builder = if factory.is_local() { builder.no_proxy() } else { builder };
    builder.build().map_err(FactoryError::Http)
}

/// What a factory says when it says no, fit for a message.
fn first_line(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let line: String = text.trim().lines().next().unwrap_or_default().chars().take(300).collect();
    if line.is_empty() { "no reason given".to_owned() } else { made_printable(&line).into_owned() }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;
    use crate::sim::{Certificate, Manners, Server, Simulator, World};

    /// A factory that gives one answer, and what it was asked.
    async fn answering(answer: String) -> (FactoryUrl, tokio::task::JoinHandle<String>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let factory = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
        let asked = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = Vec::new();
            while !request.ends_with(b"qemu-guest-agent\n") {
                let mut piece = [0; 1024];
                let read = stream.read(&mut piece).await.unwrap();
                assert!(read > 0, "the request ended early");
                request.extend_from_slice(&piece[..read]);
            }
            stream.write_all(answer.as_bytes()).await.unwrap();
            String::from_utf8(request).unwrap()
        });
        (factory, asked)
    }

    fn answer(status: &str, body: &str) -> String {
        format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
    }

    fn schematic() -> Schematic {
        Schematic { official_extensions: vec!["siderolabs/qemu-guest-agent".to_owned()], ..Schematic::default() }
    }

    #[tokio::test]
    async fn what_the_factory_says_is_compared_with_what_was_computed() {
        let id = schematic().id();
        let (factory, asked) = answering(answer("201 Created", &format!("{{\"id\":\"{id}\"}}"))).await;
        assert_eq!(push(&factory, &schematic()).await.unwrap(), id);
        let request = asked.await.unwrap();
        assert!(request.starts_with("POST /schematics HTTP/1.1\r\n"), "{request}");
        assert!(request.ends_with(&schematic().canonical()), "{request}");

        let other = Schematic::default().id();
        let (factory, _asked) = answering(answer("201 Created", &format!("{{\"id\":\"{other}\"}}"))).await;
        let error = push(&factory, &schematic()).await.unwrap_err();
        assert!(matches!(&error, FactoryError::OtherId { theirs, .. } if *theirs == other), "{error}");
    }

    #[tokio::test]
    async fn a_refusal_is_repeated_without_what_could_steer_a_terminal() {
        let (factory, _asked) = answering(answer("400 Bad Request", "unknown\u{1b}[31m field\nmore")).await;
        let error = push(&factory, &schematic()).await.unwrap_err();
        assert!(error.to_string().ends_with("with 400: unknown\\u{1b}[31m field"), "{error}");
        let (factory, _asked) = answering(answer("200 OK", "<html>")).await;
        assert!(matches!(push(&factory, &schematic()).await, Err(FactoryError::Unreadable { .. })));
        let (factory, _asked) = answering(answer("302 Found", "")).await;
        assert!(matches!(push(&factory, &schematic()).await, Err(FactoryError::Refused { status: 302, .. })));
    }

    #[tokio::test]
    async fn a_factory_that_nobody_vouches_for_is_none() {
        let certificate = Certificate::generate().unwrap();
        let world = World::from_json(&serde_json::json!({})).unwrap();
        let listen = "127.0.0.1:0".parse().unwrap();
        let server = Server::bind(listen, &certificate, Simulator::new(world), Manners::default()).await.unwrap();
        let factory = format!("https://{}", server.address()).parse().unwrap();
        let serving = tokio::spawn(server.run_until(std::future::pending()));
        let error = push(&factory, &schematic()).await.unwrap_err();
        assert!(matches!(error, FactoryError::Unanswered { .. }), "{error}");
        assert!(error.with_causes().contains("certificate"), "{}", error.with_causes());
        serving.abort();
    }
}
