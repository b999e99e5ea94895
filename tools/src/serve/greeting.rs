//! What a start prints on standard output: where the node is, and one line to try. At the very
//! first start a terminal also sees the password, once; where there is no terminal, nothing secret
//! is ever printed.

use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _};

use authz::Secret;
use authz::store::First;

use super::ready::Told;
use crate::{command, enroll};

/// Prints it. A reader that has gone away is no reason to stop a node.
pub fn print(told: &Told, first: First, enrollment: Option<&Secret>) {
    let mut out = std::io::stdout();
    let text = text(told, &first, enrollment, out.is_terminal());
    if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        tracing::debug!("standard output: {error}");
    }
}

fn text(told: &Told, first: &First, enrollment: Option<&Secret>, is_terminal: bool) -> String {
    let mut text = format!(
        "Corelode {}\n  http       {}\n  transport  {}\n  cores      {}\n  data       {}\n",
        command::VERSION,
        told.url,
        told.transport,
        told.cores,
        told.data.display()
    );
    let reset = format!(
        "corelode reset-password -u elastic --data {}",
        quoted(&told.data.display().to_string())
    );
    match first {
        First::Generated(password) if is_terminal => {
            let password = password.reveal();
            write_line(&mut text, "");
            write_line(&mut text, "This is the first start. Keep what follows, it is shown once.");
            write_line(&mut text, &format!("  password of the user elastic   {password}"));
            if let Some(fingerprint) = &told.fingerprint {
                write_line(&mut text, &format!("  SHA-256 of the HTTP CA         {fingerprint}"));
            }
            write_line(&mut text, &format!("  for another password           {reset}"));
        }
        First::Generated(_) => {
            write_line(&mut text, "");
            write_line(
                &mut text,
                "This is the first start. To get a password for the user elastic:",
            );
            write_line(&mut text, &format!("  {reset}"));
        }
        First::Preset | First::No => {}
    }
    if let (Some(key), Some(fingerprint), true) = (enrollment, &told.fingerprint, is_terminal) {
        let token = enroll::token(net::VERSION, &told.reached, fingerprint, key.reveal());
        let data = quoted(&told.data.display().to_string());
        write_line(&mut text, "");
        write_line(
            &mut text,
            "A token with which the companion tool joins, good once, within 30 minutes:",
        );
        write_line(&mut text, &format!("  {token}"));
        write_line(&mut text, "More of them, and one for a node:");
        for scope in ["kibana", "node"] {
            let line = format!("  corelode create-enrollment-token -s {scope} --data {data}");
            write_line(&mut text, &line);
        }
    }
    write_line(&mut text, "");
    write_line(&mut text, &format!("Try: {}", curl(told)));
    text
}

/// A command that works as printed.
fn curl(told: &Told) -> String {
    let mut line = "curl".to_owned();
    if let Some(authority) = &told.authority {
        line.push_str(&format!(" --cacert {}", quoted(&authority.display().to_string())));
    }
    if told.security {
        line.push_str(" -u elastic");
    }
    match (&told.certificate_name, told.url.rsplit_once("://")) {
        // It need not lead to this machine by what others say of it.
        (Some(name), Some((scheme, address))) => {
            let port = address.rsplit_once(':').map_or("", |(_, port)| port);
            let host = if name.contains(':') { format!("[{name}]") } else { name.clone() };
            let (to, url) = (format!("::{address}"), format!("{scheme}://{host}:{port}/"));
            line.push_str(&format!(" --connect-to {} {}", quoted(&to), quoted(&url)));
        }
        _ => line.push_str(&format!(" {}", quoted(&format!("{}/", told.url)))),
    }
    line
}

/// A word as a shell takes it.
fn quoted(text: &str) -> String {
    let is_plain =
        text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-+=:@".contains(&byte));
    if is_plain { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

fn write_line(text: &mut String, line: &str) {
    writeln!(text, "{line}").expect("a string takes all");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> Secret {
        Secret::new("id:schluessel".into())
    }

    fn told() -> Told {
        Told {
            url: "https://127.0.0.1:9200".into(),
            reached: "127.0.0.1:9200".into(),
            transport: "127.0.0.1:9300".into(),
            authority: Some("/my data/certs/http_ca.crt".into()),
            certificate_name: None,
            fingerprint: Some("ab".repeat(32)),
            data: "/my data".into(),
            security: true,
            cores: 2,
        }
    }

    #[test]
    fn a_terminal_sees_the_password_once() {
        let first = First::Generated(Secret::new("geheim".into()));
        let shown = text(&told(), &first, Some(&key()), true);
        assert!(shown.contains("geheim") && shown.contains(&"ab".repeat(32)));
        assert!(shown.contains("create-enrollment-token -s node --data '/my data'"), "{shown}");
        let shown = text(&told(), &First::No, None, true);
        assert!(!shown.contains("reset-password"));
    }

    #[test]
    fn nothing_secret_is_printed_elsewhere() {
        let first = First::Generated(Secret::new("geheim".into()));
        let shown = text(&told(), &first, Some(&key()), false);
        assert!(!shown.contains("geheim"));
        assert!(shown.contains("reset-password -u elastic --data '/my data'"), "{shown}");
        assert!(!shown.contains("token"), "{shown}");
    }

    #[test]
    fn the_line_to_try_is_whole() {
        let line = "curl --cacert '/my data/certs/http_ca.crt' -u elastic https://127.0.0.1:9200/";
        assert_eq!(curl(&told()), line);
        let plain = Told {
            url: "http://127.0.0.1:9200".into(),
            authority: None,
            security: false,
            ..told()
        };
        assert_eq!(curl(&plain), "curl http://127.0.0.1:9200/");
        // As printed for the address, curl refused a certificate that is for a name alone.
        let named = Told { certificate_name: Some("es.example.org".into()), ..told() };
        let line = "curl --cacert '/my data/certs/http_ca.crt' -u elastic --connect-to ::127.0.0.1:9200 \
                    https://es.example.org:9200/";
        assert_eq!(curl(&named), line);
    }
}
