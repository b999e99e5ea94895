//! The Rust crate `oauth2` at the authorization server: code with and without PKCE, refresh, client
//! credentials, device, introspection, revocation. (It knows nothing of pushed requests and discovery.) Driven by client_oauth.py, which decides where a person has to.
//!
//!     conform-oauth2 URL CA_FILE CLIENT_ID CLIENT_SECRET DEVICE_CLIENT SERVICE_CLIENT SERVICE_SECRET

use std::io::{BufRead, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use oauth2::basic::{BasicClient, BasicErrorResponseType};
use oauth2::http::{Response, header::HOST};
use oauth2::{
    AuthUrl, AuthorizationCode, ClientId, ClientSecret, CsrfToken, DeviceAuthorizationUrl,
    HttpRequest, HttpResponse, IntrospectionUrl, PkceCodeChallenge, RedirectUrl,
    RequestTokenError, RevocationUrl, Scope, StandardDeviceAuthorizationResponse,
    StandardRevocableToken, TokenIntrospectionResponse, TokenResponse, TokenUrl,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

const CALLBACK: &str = "https://app.example/cb";
const SCOPE: &str = "index:orders-*:read";

/// Trust in the authority of `ca`, a PEM file, and in nobody else.
fn trusting(ca: &str) -> Outcome<Arc<ClientConfig>> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(ca)? {
        roots.add(certificate?)?;
    }
    Ok(Arc::new(ClientConfig::builder().with_root_certificates(roots).with_no_client_auth()))
}

/// One request over a TLS connection of its own.
fn send(trust: &Arc<ClientConfig>, request: HttpRequest) -> Result<HttpResponse, std::io::Error> {
    let (parts, body) = request.into_parts();
    let authority = parts.uri.authority().map_or("", |authority| authority.as_str());
    let host = parts.uri.host().unwrap_or_default().to_owned();
    let name = ServerName::try_from(host).map_err(std::io::Error::other)?;
    let session = ClientConnection::new(trust.clone(), name).map_err(std::io::Error::other)?;
    let mut stream = StreamOwned::new(session, TcpStream::connect(authority)?);
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    let mut head = format!(
        "{} {path} HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n",
        parts.method,
        body.len()
    );
    head.push_str(&format!("{HOST}: {authority}\r\n"));
    for (name, value) in &parts.headers {
        head.push_str(&format!("{name}: {}\r\n", value.to_str().unwrap_or_default()));
    }
    stream.write_all(format!("{head}\r\n").as_bytes())?;
    stream.write_all(&body)?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or(answer.len() - 4);
    let head = String::from_utf8_lossy(&answer[..end]).into_owned();
    let mut lines = head.split("\r\n");
    let status: u16 =
        lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok()).unwrap_or(0);
    let mut response = Response::builder().status(status);
    for (name, value) in lines.filter_map(|line| line.split_once(": ")) {
        response = response.header(name, value);
    }
    response.body(answer[end + 4..].to_vec()).map_err(std::io::Error::other)
}

/// Says a line, and hears one.
fn say(what: &str) -> Outcome<String> {
    println!("{what}");
    std::io::stdout().flush()?;
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    Ok(line.trim().to_owned())
}

/// Lets the person decide; answers the address to which the browser was sent back.
fn decide(address: &str) -> Outcome<String> {
    say(&format!("open {address}"))
}

/// Has a token tried at the store.
fn opens(token: &oauth2::AccessToken) -> Outcome<()> {
    goes_on(&format!("token {}", token.secret()))
}

/// Has a token tried at the store, which must not let it in.
fn is_gone(token: &oauth2::AccessToken) -> Outcome<()> {
    goes_on(&format!("gone {}", token.secret()))
}

fn goes_on(what: &str) -> Outcome<()> {
    match say(what)?.as_str() {
        "go on" => Ok(()),
        other => Err(other.to_owned().into()),
    }
}

fn parameter(address: &str, name: &str) -> Outcome<String> {
    let query = address.split_once('?').map_or("", |(_, query)| query);
    let found = query.split('&').find_map(|pair| pair.strip_prefix(&format!("{name}=")));
    Ok(found.ok_or(format!("no {name} in {address}"))?.to_owned())
}

fn main() -> Outcome<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [base, ca, id, secret, device, service, service_secret] = args.as_slice() else {
        return Err("seven arguments, see the head of the file".into());
    };
    let trust = trusting(ca)?;
    let send = |request: HttpRequest| send(&trust, request);
    let client = BasicClient::new(ClientId::new(id.clone()))
        .set_client_secret(ClientSecret::new(secret.clone()))
        .set_auth_uri(AuthUrl::new(format!("{base}/authorize"))?)
        .set_token_uri(TokenUrl::new(format!("{base}/token"))?)
        .set_redirect_uri(RedirectUrl::new(CALLBACK.to_owned())?)
        .set_introspection_url(IntrospectionUrl::new(format!("{base}/introspect"))?)
        .set_revocation_url(RevocationUrl::new(format!("{base}/revoke"))?);
    let (address, state) =
        client.authorize_url(CsrfToken::new_random).add_scope(Scope::new(SCOPE.to_owned())).url();
    let back = decide(address.as_str())?;
    assert_eq!(&parameter(&back, "state")?, state.secret());
    let code = AuthorizationCode::new(parameter(&back, "code")?);
    opens(client.exchange_code(code).request(&send)?.access_token())?;

    let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
    let (address, state) = client
        .authorize_url(CsrfToken::new_random)
        .add_scope(Scope::new(SCOPE.to_owned()))
        .set_pkce_challenge(challenge)
        .url();
    let back = decide(address.as_str())?;
    assert_eq!(&parameter(&back, "state")?, state.secret());
    let code = AuthorizationCode::new(parameter(&back, "code")?);
    let token = client.exchange_code(code).set_pkce_verifier(verifier).request(&send)?;
    let old = token.refresh_token().ok_or("no refresh token")?;
    let renewed = client.exchange_refresh_token(old).request(&send)?;
    assert!(client.introspect(renewed.access_token()).request(&send)?.active());
    opens(renewed.access_token())?;
    let refresh = renewed.refresh_token().ok_or("no refresh token")?.clone();
    let gone = StandardRevocableToken::RefreshToken(refresh.clone());
    client.revoke_token(gone)?.request(&send)?;
    assert!(!client.introspect(renewed.access_token()).request(&send)?.active());
    is_gone(renewed.access_token())?;
    match client.exchange_refresh_token(&refresh).request(&send) {
        Err(RequestTokenError::ServerResponse(error)) => {
            assert_eq!(error.error(), &BasicErrorResponseType::InvalidGrant);
        }
        other => return Err(format!("a revoked refresh token: {other:?}").into()),
    }

    let own = BasicClient::new(ClientId::new(service.clone()))
        .set_client_secret(ClientSecret::new(service_secret.clone()))
        .set_token_uri(TokenUrl::new(format!("{base}/token"))?);
    let token =
        own.exchange_client_credentials().add_scope(Scope::new(SCOPE.to_owned())).request(&send)?;
    assert!(token.refresh_token().is_none());
    opens(token.access_token())?;

    let device = BasicClient::new(ClientId::new(device.clone()))
        .set_auth_type(oauth2::AuthType::RequestBody)
        .set_token_uri(TokenUrl::new(format!("{base}/token"))?)
        .set_device_authorization_url(DeviceAuthorizationUrl::new(format!(
            "{base}/device_authorization"
        ))?);
    let begun: StandardDeviceAuthorizationResponse =
        device.exchange_device_code().add_scope(Scope::new(SCOPE.to_owned())).request(&send)?;
    decide(&format!("{base}/device#{}", begun.user_code().secret()))?;
    let token =
        device.exchange_device_access_token(&begun).request(&send, std::thread::sleep, None)?;
    opens(token.access_token())?;
    println!("done");
    Ok(())
}
