use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, SanType, date_time_ymd,
};
use ring::digest::{SHA256, digest};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};

use super::machine::Machine;
use crate::sim::CertificateError;

/// The name that every node has in maintenance mode.
const MAINTENANCE: &str = "maintenance-service.talos.dev";

const DAY: Duration = Duration::from_hours(24);

/// The TLS of a node in maintenance: a certificate by an authority without a name, and no question for the client's.
pub(super) fn maintenance(machine: &Machine) -> Result<ServerConfig, CertificateError> {
    let (authority, _) = authority(machine, DistinguishedName::new())?;
    let leaf = leaf(machine, &authority, MAINTENANCE)?;
    server(leaf, None, b"h2")
}

/// The TLS of a configured node: the authority of its cluster, and clients have to show a certificate of it.
pub(super) fn configured(machine: &Machine) -> Result<ServerConfig, CertificateError> {
    let mut name = DistinguishedName::new();
    name.push(DnType::OrganizationName, "talos");
    let (authority, certificate) = authority(machine, name)?;
    let leaf = leaf(machine, &authority, &machine.hostname)?;
    server(leaf, Some(certificate), b"h2")
}

/// A server that speaks HTTP/1.1 only.
pub(super) fn without_http2(machine: &Machine) -> Result<ServerConfig, CertificateError> {
    let (authority, _) = authority(machine, DistinguishedName::new())?;
    let leaf = leaf(machine, &authority, MAINTENANCE)?;
    server(leaf, None, b"http/1.1")
}

/// A certificate that nobody would make: no names, a subject that wants to steer a terminal, another kind of key.
pub(super) fn odd() -> Result<ServerConfig, CertificateError> {
    let mut params = CertificateParams::default();
    let mut name = DistinguishedName::new();
    name.push(DnType::CommonName, format!("\u{1b}[2J{}", "odd ".repeat(2000)));
    params.distinguished_name = name;
    let key = KeyPair::generate()?;
    let certificate = params.self_signed(&key)?;
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    server((certificate.der().clone(), key), None, b"h2")
}

type Leaf = (CertificateDer<'static>, PrivateKeyDer<'static>);

fn server(
    (leaf, key): Leaf,
    clients: Option<CertificateDer<'static>>,
    protocol: &[u8],
) -> Result<ServerConfig, CertificateError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions()?;
    let builder = match clients {
        None => builder.with_no_client_auth(),
        Some(authority) => {
            let mut roots = RootCertStore::empty();
            roots.add(authority)?;
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
            builder.with_client_cert_verifier(verifier.map_err(|error| rustls::Error::General(error.to_string()))?)
        }
    };
    let mut config = builder.with_single_cert(vec![leaf], key)?;
    config.alpn_protocols = vec![protocol.to_vec()];
    config.send_tls13_tickets = 0;
    Ok(config)
}

/// An authority that lives as long as the boot does.
fn authority(
    machine: &Machine,
    name: DistinguishedName,
) -> Result<(Issuer<'static, KeyPair>, CertificateDer<'static>), CertificateError> {
    let mut params = CertificateParams::default();
    params.distinguished_name = name;
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
    limit(&mut params, machine);
    let key = key(machine, "authority")?;
    let certificate = params.self_signed(&key)?.der().clone();
    Ok((Issuer::new(params, key), certificate))
}

fn leaf(machine: &Machine, authority: &Issuer<'_, KeyPair>, name: &str) -> Result<Leaf, CertificateError> {
    let mut params = CertificateParams::new(vec![machine.hostname.clone()])?;
    let loopback = ["127.0.0.1", "::1"].into_iter().filter_map(|address| address.parse::<IpAddr>().ok());
    params.subject_alt_names.extend(machine.addresses().chain(loopback).map(SanType::IpAddress));
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    limit(&mut params, machine);
    let key = key(machine, name)?;
    let certificate = params.signed_by(&key, authority)?;
    Ok((certificate.der().clone(), PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()))))
}

/// A day from its start, by the node's own clock.
fn limit(params: &mut CertificateParams, machine: &Machine) {
    params.not_before = date_time_ymd(1970, 1, 1) + Duration::from_secs(machine.started);
    params.not_after = params.not_before + DAY;
}

/// An Ed25519 key that belongs to this boot of this machine: the same on every connection, another after a restart.
/// It guards nothing, so it may be guessed.
fn key(machine: &Machine, purpose: &str) -> Result<KeyPair, CertificateError> {
    // RFC 8410: a private key is its seed behind a fixed beginning.
    const BEGINNING: [u8; 16] = [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];
    let seed = digest(&SHA256, format!("{} {} {purpose}", machine.uuid, machine.started).as_bytes());
    let key = [&BEGINNING, seed.as_ref()].concat();
    Ok(KeyPair::try_from(key)?)
}
