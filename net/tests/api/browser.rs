//! Somebody's browser: it keeps cookies, follows nothing by itself, and posts forms from our own pages.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::client::Response;

use crate::place::{Client, ISSUER};

/// Credentials of a user.
pub fn basic(user: &str, password: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))
}

/// Text as part of a form or query.
pub fn escaped(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// A browser with its cookies; a copy of it is another tab, until one of the two gets others.
#[derive(Clone, Default)]
pub struct Browser {
    cookies: Vec<(String, String)>,
    /// Where it is, as a proxy tells.
    from: Option<String>,
    /// What its person reads, as it tells by itself.
    reads: Option<String>,
}

impl Browser {
    /// One whose requests a proxy brings from this address.
    pub fn from(address: &str) -> Self {
        Self { from: Some(address.to_owned()), ..Self::default() }
    }

    /// It tells from now on that its person reads these languages.
    pub fn reads(&mut self, languages: &str) {
        self.reads = Some(languages.to_owned());
    }

    /// It is somewhere else from now on.
    pub fn moves(&mut self, address: &str) {
        self.from = Some(address.to_owned());
    }

    /// It has this cookie no more.
    pub fn forget(&mut self, name: &str) {
        self.cookies.retain(|(known, _)| known != name);
    }

    /// It has this cookie from now on.
    pub fn keep(&mut self, name: &str, value: &str) {
        self.forget(name);
        self.cookies.push((name.to_owned(), value.to_owned()));
    }

    /// Loads a page, or posts a form to it.
    pub async fn ask(
        &mut self,
        client: &mut Client,
        target: &str,
        form: &[(&str, &str)],
    ) -> Response {
        let cookies: Vec<String> =
            self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let cookies = cookies.join("; ");
        let body: Vec<String> =
            form.iter().map(|(name, value)| format!("{name}={}", escaped(value))).collect();
        let mut fields = vec![("Cookie", cookies.as_str()), ("Origin", ISSUER)];
        if let Some(from) = &self.from {
            fields.push(("X-Forwarded-For", from));
        }
        if let Some(reads) = &self.reads {
            fields.push(("Accept-Language", reads));
        }
        let method = if form.is_empty() { "GET" } else { "POST" };
        if !form.is_empty() {
            fields.push(("Content-Type", "application/x-www-form-urlencoded"));
        }
        client.authorize(None);
        let answer = client.call_with(method, target, &fields, body.join("&").as_bytes()).await;
        for (name, value) in &answer.fields {
            if name.eq_ignore_ascii_case("set-cookie") {
                let (name, value) =
                    value.split(';').next().and_then(|it| it.split_once('=')).expect("a cookie");
                self.cookies.retain(|(known, _)| known != name);
                self.cookies.push((name.to_owned(), value.to_owned()));
            }
        }
        answer
    }

    /// Signs in, as `name` whose password is `name-knows-this`; answers where that leads.
    pub async fn sign_in(&mut self, client: &mut Client, user: &str, target: &str) -> Response {
        let page = self.ask(client, target, &[]).await;
        let mut form = fields(&page, "/login");
        form.push(("username".into(), user.into()));
        form.push(("password".into(), format!("{user}-knows-this")));
        self.post(client, "/login", &form).await
    }

    /// Posts a form as it stands on a page.
    pub async fn post(
        &mut self,
        client: &mut Client,
        target: &str,
        form: &[(String, String)],
    ) -> Response {
        let form: Vec<(&str, &str)> =
            form.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        self.ask(client, target, &form).await
    }

    /// Posts a form with a file in it.
    pub async fn upload(
        &mut self,
        client: &mut Client,
        target: &str,
        form: &[(String, String)],
        (field, bytes): (&str, &[u8]),
    ) -> Response {
        let mut body = Vec::new();
        for (name, value) in form {
            let part = format!(
                "--part\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n"
            );
            body.extend_from_slice(part.as_bytes());
        }
        let part = format!(
            "--part\r\nContent-Disposition: form-data; name=\"{field}\"; filename=\"a\"\r\n\r\n"
        );
        body.extend_from_slice(part.as_bytes());
        body.extend_from_slice(bytes);
        body.extend_from_slice(b"\r\n--part--\r\n");
        let cookies: Vec<String> =
            self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let cookies = cookies.join("; ");
        let kind = "multipart/form-data; boundary=part";
        let fields = [("Cookie", cookies.as_str()), ("Origin", ISSUER), ("Content-Type", kind)];
        client.authorize(None);
        client.call_with("POST", target, &fields, &body).await
    }

    /// Signs in for a request, and comes to the page that asks.
    pub async fn consent(
        &mut self,
        client: &mut Client,
        user: &str,
        id: &str,
        scope: &str,
    ) -> (String, Response) {
        let target =
            format!("/authorize?response_type=code&client_id={id}&scope={}", escaped(scope));
        self.consent_to(client, user, &target).await
    }

    /// The same for any request.
    pub async fn consent_to(
        &mut self,
        client: &mut Client,
        user: &str,
        target: &str,
    ) -> (String, Response) {
        let led = self.ask(client, target, &[]).await;
        let request = location(&led).rsplit_once("request=").expect("a request").1.to_owned();
        let led = self.sign_in(client, user, &location(&led)).await;
        assert_eq!(led.status, 303, "{}", led.text());
        let page = self.ask(client, &format!("/consent?request={request}"), &[]).await;
        assert_eq!(page.status, 200, "{}", page.text());
        (request, page)
    }
}

/// Where an answer leads.
pub fn location(answer: &Response) -> String {
    let found = answer.fields.iter().find(|(name, _)| name.eq_ignore_ascii_case("location"));
    found.unwrap_or_else(|| panic!("not led on: {} {}", answer.status, answer.text())).1.clone()
}

/// The text of a page, without its tags.
pub fn words(page: &Response) -> String {
    let text = page.text();
    let mut plain = String::new();
    let mut is_tag = false;
    for c in text.chars() {
        match c {
            '<' => (is_tag, plain) = (true, plain + " "),
            '>' => is_tag = false,
            c if !is_tag => plain.push(c),
            _ => {}
        }
    }
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Fields of a page's form that leads to `action` and that a browser sends without being asked.
pub fn fields(page: &Response, action: &str) -> Vec<(String, String)> {
    let text = page.text();
    let form = text.split("<form ").find(|form| form.contains(&format!("action=\"{action}\"")));
    let form = form.unwrap_or_else(|| panic!("no form to {action}: {text}"));
    let form = form.split("</form>").next().unwrap_or_default();
    let value = |input: &str, name: &str| {
        let after = input.split_once(&format!(" {name}=\""))?.1;
        after.split('"').next().map(str::to_owned)
    };
    let inputs = form.split("<input").skip(1).filter(|input| input.starts_with(" type=\"hidden\""));
    inputs.filter_map(|input| Some((value(input, "name")?, value(input, "value")?))).collect()
}

/// The form of a page that leads to `action` and holds `part`, from its first field on.
pub fn form_with<'p>(page: &'p str, action: &str, part: &str) -> &'p str {
    let forms =
        page.split("<form ").skip(1).map(|form| form.split("</form>").next().unwrap_or_default());
    let mut fitting =
        forms.filter(|form| form.contains(&format!("action=\"{action}\"")) && form.contains(part));
    fitting.next().unwrap_or_else(|| panic!("no form to {action} with {part}: {page}"))
}
