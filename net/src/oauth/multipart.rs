//! `multipart/form-data` (RFC 7578), as browsers send a form with a file. The body is whole and
//! bounded before it comes here.

use super::form::Form;

/// A file of a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Name of its field.
    pub field: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// A form with files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// Its fields.
    pub form: Form,
    /// Its files; an empty one is none.
    pub files: Vec<File>,
}

/// Most parts that are looked at.
const PARTS_MAX: usize = 64;

/// The boundary that a content type names.
pub fn boundary(content_type: &str) -> Option<&str> {
    let (kind, params) = content_type.split_once(';')?;
    if !kind.trim().eq_ignore_ascii_case("multipart/form-data") {
        return None;
    }
    params.split(';').find_map(|param| {
        let (name, value) = param.split_once('=')?;
        let value = value.trim().trim_matches('"');
        let fits = name.trim().eq_ignore_ascii_case("boundary") && (1..=70).contains(&value.len());
        fits.then_some(value)
    })
}

/// Takes a body apart; `None` where it is malformed.
pub fn parse(body: &[u8], boundary: &str) -> Option<Parts> {
    let delimiter = format!("--{boundary}");
    let mut rest = body.strip_prefix(delimiter.as_bytes())?;
    let inner = format!("\r\n{delimiter}");
    let finder = memchr::memmem::Finder::new(inner.as_bytes());
    let (mut pairs, mut files) = (Vec::new(), Vec::new());
    for _ in 0..PARTS_MAX {
        if rest.starts_with(b"--") {
            return Some(Parts { form: Form::of(pairs), files });
        }
        rest = rest.strip_prefix(b"\r\n")?;
        let end = finder.find(rest)?;
        let part = &rest[..end];
        rest = &rest[end + inner.len()..];
        let head_end = memchr::memmem::find(part, b"\r\n\r\n")?;
        let head = std::str::from_utf8(&part[..head_end]).ok()?;
        let content = &part[head_end + 4..];
        let (field, is_file) = disposition(head)?;
        if is_file {
            if !content.is_empty() {
                files.push(File { field, bytes: content.to_vec() });
            }
            continue;
        }
        let text = std::str::from_utf8(content).ok()?;
        if text.contains(|char: char| char.is_control() && !matches!(char, '\r' | '\n' | '\t')) {
            return None;
        }
        if !text.is_empty() {
            pairs.push((field, text.to_owned()));
        }
    }
    None
}

/// Field name of a part's head, and whether it is a file.
fn disposition(head: &str) -> Option<(String, bool)> {
    let line = head.split("\r\n").find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.trim().eq_ignore_ascii_case("content-disposition").then_some(value.trim())
    })?;
    let rest = line.strip_prefix("form-data")?;
    let name = parameter(rest, "name")?;
    Some((name, parameter(rest, "filename").is_some()))
}

/// A quoted parameter: browsers write `"` inside of one as `%22`.
fn parameter(text: &str, name: &str) -> Option<String> {
    let mark = format!("; {name}=\"");
    let start = text.find(&mark)? + mark.len();
    let end = start + text[start..].find('"')?;
    Some(text[start..end].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_and_files_are_told_apart() {
        let body = b"--X\r\nContent-Disposition: form-data; name=\"client_name\"\r\n\r\nChart \xc3\xbc\r\n\
            --X\r\nContent-Disposition: form-data; name=\"logo\"; filename=\"a.png\"\r\nContent-Type: image/png\r\n\r\n\x89PNG\r\n\x00\r\n\
            --X\r\nContent-Disposition: form-data; name=\"empty\"; filename=\"\"\r\n\r\n\r\n--X--\r\n";
        let parts = parse(body, "X").expect("well formed");
        assert_eq!(parts.form.text("client_name"), "Chart ü");
        assert_eq!(
            parts.files,
            [File { field: "logo".into(), bytes: b"\x89PNG\r\n\x00".to_vec() }]
        );
        for len in 0..body.len() - 4 {
            assert!(parse(&body[..len], "X").is_none(), "cut at {len}");
        }
    }

    #[test]
    fn the_boundary_is_read() {
        assert_eq!(boundary("multipart/form-data; boundary=abc"), Some("abc"));
        assert_eq!(boundary("Multipart/Form-Data; charset=x; boundary=\"a b\""), Some("a b"));
        assert_eq!(boundary("application/json"), None);
        assert_eq!(boundary("multipart/form-data"), None);
    }
}
