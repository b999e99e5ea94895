//! What commands that ask the running node leave behind: nothing, however they end.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// So long a command may take to ask its node.
const ASKS: Duration = Duration::from_secs(60);

/// A data folder with a node that takes connections and never answers.
struct Silent {
    folder: PathBuf,
    port: TcpListener,
}

impl Silent {
    fn new(name: &str) -> Self {
        let base = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let folder = base.join(format!("left-{name}-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("node")).expect("writable");
        Self { folder, port: TcpListener::bind("127.0.0.1:0").expect("a free port") }
    }

    fn users(&self) -> String {
        std::fs::read_to_string(self.folder.join("node/users")).unwrap_or_default()
    }

    /// A command that waits for the answer, its user being there.
    fn asked(&self) -> (Child, TcpStream) {
        let url = format!("http://{}", self.port.local_addr().expect("bound"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_corelode"));
        command.args(["service-tokens", "list", "--url", &url, "--data"]).arg(&self.folder);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().expect("the program starts");
        // Its user is there before it connects.
        let (child, socket) = self.accept(child);
        assert!(self.users().contains("superuser"), "{}", self.users());
        (child, socket)
    }

    /// The connection of a command, which must not end before.
    fn accept(&self, mut child: Child) -> (Child, TcpStream) {
        self.port.set_nonblocking(true).expect("a socket can");
        let begun = Instant::now();
        loop {
            match self.port.accept() {
                Ok((socket, _)) => return (child, socket),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => panic!("{error}"),
            }
            if let Some(status) = child.try_wait().expect("it can be asked") {
                panic!("it ended before it asked: {status}");
            }
            assert!(begun.elapsed() < ASKS, "it does not ask");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn users_command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_corelode"));
        command.arg("users").args(words).arg("--data").arg(&self.folder);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        command
    }
}

impl Drop for Silent {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.folder) {
            eprintln!("{}: {error}", self.folder.display());
        }
    }
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").arg(name).arg(child.id().to_string()).status();
    assert!(sent.expect("kill is there").success());
}

/// Does this process, and with it its children, pass over a signal, as under `nohup`?
fn is_ignored(number: u32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (number - 1) & 1 == 1)
}

/// A command that was ended while it waited left a superuser in the file of users, for good.
#[test]
fn a_command_that_is_asked_to_end_removes_its_user_first() {
    for (name, number) in
        [("-TERM", 15), ("-INT", 2), ("-HUP", 1), ("-QUIT", 3), ("-ALRM", 14), ("-USR1", 10)]
    {
        if is_ignored(number) {
            continue;
        }
        let silent = Silent::new(name);
        std::fs::write(silent.folder.join("node/users"), "# ours\n").expect("writable");
        let (mut child, _open) = silent.asked();
        signal(&child, name);
        assert_eq!(child.wait().expect("it ends").code(), Some(128 + number as i32), "{name}");
        assert_eq!(silent.users(), "# ours\n", "{name}");
    }
}

#[test]
fn a_command_that_is_killed_leaves_a_line_that_tells_its_age() {
    let silent = Silent::new("kill");
    let (mut child, _open) = silent.asked();
    signal(&child, "-KILL");
    child.wait().expect("it ends");
    let users = silent.users();
    let born = users.trim_end().rsplit_once(" born=").expect("told").1;
    let born = Duration::from_millis(born.parse().expect("milliseconds"));
    let now = std::time::UNIX_EPOCH.elapsed().expect("after 1970");
    assert!(now.abs_diff(born) < Duration::from_secs(60), "{users}");
}

/// Somebody was removed while another operator typed a password, and was back when that was typed.
#[test]
fn a_password_that_is_being_typed_undoes_nothing() {
    let silent = Silent::new("typed");
    let bob = silent.users_command(&["useradd", "bob", "-p", "bob-knows-this"]).status();
    assert!(bob.expect("it runs").success());
    let mut ann = silent.users_command(&["useradd", "ann"]).spawn().expect("it runs");
    let mut prompt = [0; "Password for [ann]".len()];
    ann.stderr.as_mut().expect("piped").read_exact(&mut prompt).expect("it asks");
    let bob = silent.users_command(&["userdel", "bob"]).status();
    assert!(bob.expect("it runs").success());
    ann.stdin.take().expect("piped").write_all(b"ann-knows-this\n").expect("it reads");
    assert!(ann.wait().expect("it ends").success());
    let users = silent.users();
    assert!(users.starts_with("ann:") && !users.contains("bob"), "{users}");
}

/// Commands that ask the running node said of a stopped one that it runs.
#[test]
fn who_asks_a_stopped_node_is_told_so() {
    let base = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let folder = base.join(format!("left-stopped-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("node")).expect("writable");
    for words in [
        &["service-tokens", "create", "elastic/kibana", "one"][..],
        &["create-enrollment-token", "-s", "kibana"],
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_corelode"));
        let done = command.args(words).arg("--data").arg(&folder).output().expect("it runs");
        let told = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(!done.status.success(), "{words:?}");
        assert!(told.contains("none runs, or it is not ready yet"), "{words:?}: {told}");
        assert!(told.contains("left-stopped-"), "{words:?}: {told}");
    }
    std::fs::remove_dir_all(&folder).expect("writable");
}
