//! The ready file: how scripts learn that requests are answered, and where.

use std::path::{Path, PathBuf};

use json::json;

use crate::failure::{Code, Failure, Result};
use crate::folder::save;

/// What is told about a running node.
#[derive(Clone, Debug)]
pub struct Told {
    /// Base of every request.
    pub url: String,
    /// Where others reach it: host and port.
    pub reached: String,
    /// Address of the transport.
    pub transport: String,
    /// The authority to trust.
    pub authority: Option<PathBuf>,
    /// A name by which clients know the certificate, where they do not by that of `url`.
    pub certificate_name: Option<String>,
    /// Its SHA-256.
    pub fingerprint: Option<String>,
    /// The data folder.
    pub data: PathBuf,
    /// Whether callers must say who they are.
    pub security: bool,
    /// Executors.
    pub cores: usize,
}

impl Told {
    /// Writes the files that are `owed`; those that could not be written stay, and why is the answer.
    pub fn write_owed(&self, owed: &mut Vec<&Path>) -> Vec<Failure> {
        let mut failures = Vec::new();
        owed.retain(|path| match self.write(path) {
            Ok(()) => false,
            Err(failure) => {
                failures.push(failure);
                true
            }
        });
        failures
    }

    /// Writes the file, whole.
    pub fn write(&self, path: &Path) -> Result<()> {
        let authority = self.authority.as_ref().map(|path| path.display().to_string());
        let mut value = json!({
            "pid": (u64::from(std::process::id())),
            "http": self.url.as_str(),
            "transport": self.transport.as_str(),
            "ca": authority,
            "data": (self.data.display().to_string()),
        });
        if let (Some(name), Some(members)) = (&self.certificate_name, value.as_object_mut()) {
            members.insert("certificate_name", name.as_str());
        }
        save(path, json::to_string(&value).as_bytes(), 0o644)
    }
}

/// Removes what an earlier run left at the place that the operator named, and makes sure that a new
/// file can be written there.
pub fn clear(path: &Path) -> Result<()> {
    let wrong = |error: &dyn std::fmt::Display| {
        Failure::new(
            Code::Setting,
            format!(
                "--ready-file is [{}], but must be a file that can be written: {error}",
                path.display()
            ),
        )
    };
    remove(path).map_err(|error| wrong(&error))?;
    // Beside it: whoever waits for the file must never see an empty one.
    let mut beside = path.as_os_str().to_owned();
    beside.push(".probe");
    let beside = PathBuf::from(beside);
    save(&beside, b"", 0o644).map_err(|error| wrong(&error))?;
    remove(&beside).map_err(|error| wrong(&error))
}

/// Removes the file; fine where it is not there.
pub fn remove(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Failure::file("removing", path, &error))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_cannot_be_written_now_is_owed() {
        let folder = std::env::temp_dir().join(format!("corelode-ready-{}", std::process::id()));
        let (here, there) = (folder.join("a"), folder.join("none/b"));
        std::fs::create_dir_all(&folder).expect("writable");
        let told = Told {
            url: "http://127.0.0.1:9200".to_owned(),
            reached: "127.0.0.1:9200".into(),
            transport: "127.0.0.1:9300".to_owned(),
            authority: None,
            certificate_name: None,
            fingerprint: None,
            data: folder.clone(),
            security: false,
            cores: 1,
        };
        let mut owed = vec![&*here, &*there];
        assert_eq!(told.write_owed(&mut owed).len(), 1);
        assert!(here.exists());
        assert_eq!(owed, [&*there]);
        std::fs::create_dir_all(folder.join("none")).expect("writable");
        assert!(told.write_owed(&mut owed).is_empty());
        assert!(there.exists() && owed.is_empty());
        std::fs::remove_dir_all(&folder).expect("ours");
    }
}
