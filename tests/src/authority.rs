//! Certificates of an authority that no machine trusts by default.

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose};
use std::path::Path;
use std::sync::Arc;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivatePkcs8KeyDer;

/// Names of this machine that certificates are valid for.
const NAMES: [&str; 2] = ["localhost", "127.0.0.1"];

/// The certificate authority of test servers.
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Default for Authority {
    fn default() -> Self {
        let mut about = CertificateParams::new(Vec::new()).expect("no names, no wrong names");
        about.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        about.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        about.distinguished_name.push(DnType::CommonName, "An authority of the tests");
        let key = KeyPair::generate().expect("random numbers");
        Self { issuer: CertifiedIssuer::self_signed(about, key).expect("a sound key") }
    }
}

impl Authority {
    /// Writes the certificate that a client has to trust.
    pub fn write(&self, file: &Path) {
        std::fs::write(file, self.issuer.pem()).expect("a writable folder");
    }

    /// The TLS configuration of a server on this machine.
    pub(crate) fn server(&self) -> Arc<ServerConfig> {
        let about = CertificateParams::new(NAMES.map(str::to_owned)).expect("good names");
        let key = KeyPair::generate().expect("random numbers");
        let certificate = about.signed_by(&key, &self.issuer).expect("a sound key");
        let provider = Arc::new(ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("ring knows them")
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], PrivatePkcs8KeyDer::from(key.serialize_der()).into());
        Arc::new(config.expect("the key of the certificate"))
    }
}
