//! The data folder: made, locked, and refused where a part of it is lost.

use std::os::unix::fs::PermissionsExt;

use super::*;

struct Temporary(PathBuf);

impl Temporary {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("corelode-{name}-{}", std::process::id()));
        Self(path)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            eprintln!("{error}");
        }
    }
}

#[test]
fn a_folder_is_private_and_used_by_one() {
    let temporary = Temporary::new("lock");
    let folder = Folder::make(&temporary.0).expect("made");
    for path in [folder.path().to_owned(), folder.path().join("node")] {
        let mode = std::fs::metadata(path).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }
    let lock = folder.lock().expect("free");
    let second = folder.lock().expect_err("taken");
    assert_eq!(second.code, Code::Folder);
    let me = format!("process {}", std::process::id());
    assert!(second.sentence.contains(&me), "{second}");
    std::fs::remove_file(folder.node("lock")).expect("somebody tidies up");
    let third = folder.lock().expect_err("the node runs still");
    assert_eq!(third.code, Code::Folder);
    drop(lock);
    folder.lock().expect("free again");
}

/// Once an empty state was made in place of a lost one, and `elastic` with a new password.
#[test]
fn users_and_keystore_are_not_made_anew_where_one_of_them_is_lost() {
    let temporary = Temporary::new("lost");
    let folder = Folder::make(&temporary.0).expect("made");
    let random = runtime::RuntimeRandom::new();
    let identity = folder.identity(&random).expect("drawn");
    folder.make_keystore(&random).expect("made");
    folder.claim_authz().expect("the first start");
    let authz = folder.path().join("authz");
    assert!(authz.is_dir());
    folder.claim_authz().expect("the second");
    assert_eq!(folder.identity(&random).expect("kept").node, identity.node);
    std::fs::remove_dir(&authz).expect("empty still");
    let failure = folder.claim_authz().expect_err("lost");
    assert!(failure.sentence.contains("authz is missing"), "{failure}");
    assert!(failure.sentence.contains("make a folder there with nothing but an empty file `anew`"));
    std::fs::create_dir(&authz).expect("as it says");
    std::fs::write(authz.join(ANEW), "").expect("as it says");
    folder.claim_authz().expect("somebody decided so");
    std::fs::write(authz.join("snapshot"), b"users").expect("written");
    std::fs::remove_file(folder.node("keystore")).expect("lost");
    let failure = folder.make_keystore(&random).expect_err("lost");
    assert!(failure.sentence.contains("keystore is missing"), "{failure}");
    assert!(!folder.node("keystore").exists());
}

/// Where there were no indices an empty state was made in its place, and `check` said sound.
#[test]
fn a_lost_cluster_state_is_not_made_anew_beside_what_the_node_held() {
    let temporary = Temporary::new("lost-cluster");
    let folder = Folder::make(&temporary.0).expect("made");
    folder.identity(&runtime::RuntimeRandom::new()).expect("drawn");
    let cluster = folder.path().join("cluster");
    folder.claim_cluster().expect("the first start");
    folder.claim_authz().expect("the first start");
    folder.claim_cluster().expect("the second");
    assert!(!folder.is_lost(Part::Cluster).expect("read"));
    std::fs::remove_dir(&cluster).expect("empty still");
    assert!(folder.is_lost(Part::Cluster).expect("read"));
    let failure = folder.claim_cluster().expect_err("lost");
    assert!(failure.sentence.contains("cluster is missing"), "{failure}");
    assert!(!cluster.exists());
    std::fs::create_dir(&cluster).expect("as it says");
    folder.claim_cluster().expect("somebody decided so");
    // A folder of before, whose identity says nothing of it.
    save(&folder.node("identity"), br#"{"format":1}"#, 0o600).expect("written");
    std::fs::remove_dir(&cluster).expect("empty still");
    assert!(!folder.is_lost(Part::Cluster).expect("read"), "its first start was cut short");
    std::fs::write(folder.path().join("authz/snapshot"), b"users").expect("written");
    folder.claim_cluster().expect_err("lost");
}

/// The folder stood, so an empty state was made in it without a word, and `elastic` got a new password.
#[test]
fn a_folder_that_was_emptied_is_lost_and_one_whose_first_start_was_cut_short_is_not() {
    let temporary = Temporary::new("emptied");
    let folder = Folder::make(&temporary.0).expect("made");
    let random = runtime::RuntimeRandom::new();
    folder.identity(&random).expect("drawn");
    let claim = |part: Part| match part {
        Part::Cluster => folder.claim_cluster(),
        Part::Authz => folder.claim_authz(),
    };
    let both = [Part::Cluster, Part::Authz];
    for round in 0..2 {
        both.iter().for_each(|part| claim(*part).expect("the first start is cut short"));
        folder.note_filled().expect("nothing to note");
        assert!(both.iter().all(|part| !folder.is_emptied(*part).expect("read")), "{round}");
    }
    folder.make_keystore(&random).expect("made");
    let snapshot = |part: Part| temporary.0.join(part.folder()).join("snapshot");
    for part in both {
        std::fs::write(snapshot(part), "all of it").expect("written");
        folder.note_filled().expect("noted");
    }
    for part in both {
        claim(part).expect("it is there");
        std::fs::remove_file(snapshot(part)).expect("lost");
        // What a log holds is of no use without it.
        std::fs::write(snapshot(part).with_file_name("log-1"), "the rest").expect("written");
        let failure = claim(part).expect_err("lost");
        let missing = format!("{}/snapshot is missing", part.folder());
        assert!(failure.sentence.contains(&missing), "{failure}");
        assert!(failure.sentence.contains("nothing but an empty file `anew` in it"), "{failure}");
        std::fs::remove_file(snapshot(part).with_file_name("log-1")).expect("moved away");
        claim(part).expect_err("empty, and lost as before");
        let anew = snapshot(part).with_file_name(ANEW);
        std::fs::create_dir(&anew).expect("made");
        claim(part).expect_err("a folder is no file");
        std::fs::remove_dir(&anew).expect("moved away");
        std::fs::write(&anew, "not anew").expect("written");
        claim(part).expect_err("it is not empty");
        std::fs::write(&anew, "").expect("as it says");
        claim(part).expect("somebody decided so");
        folder.note_filled().expect("that start is cut short");
        claim(part).expect("the next one begins anew");
        folder.make_keystore(&random).expect("it stays");
        std::fs::write(snapshot(part), "another").expect("written");
        folder.note_filled().expect("noted");
        assert!(!anew.exists(), "it is said once");
        std::fs::create_dir(&anew).expect("made");
        folder.note_filled().expect("whatever it is, it is not removed");
        assert!(anew.is_dir());
        std::fs::remove_dir(&anew).expect("moved away");
        std::fs::remove_file(snapshot(part)).expect("lost again");
        claim(part).expect_err("nobody said so again");
        std::fs::write(snapshot(part), "another").expect("brought back");
    }
    std::fs::remove_file(snapshot(Part::Authz)).expect("moved away");
    std::fs::remove_file(folder.node("keystore")).expect("lost");
    std::fs::write(snapshot(Part::Authz).with_file_name(ANEW), "users").expect("written");
    folder.make_keystore(&random).expect_err("somebody's file is there");
    std::fs::write(snapshot(Part::Authz).with_file_name(ANEW), "").expect("as it says");
    folder.make_keystore(&random).expect("nothing was hashed by it");
}

#[test]
fn a_file_is_one_commands_at_a_time_and_is_waited_for() {
    let temporary = Temporary::new("file-lock");
    let folder = Folder::make(&temporary.0).expect("made");
    let lock = folder.lock_file("users", Duration::ZERO).expect("free");
    let refused = folder.lock_file("users", Duration::ZERO).expect_err("taken");
    assert!(refused.sentence.starts_with("another command is changing "), "{refused}");
    let waiting = {
        let folder = folder.clone();
        std::thread::spawn(move || folder.lock_file("users", Duration::from_secs(60)))
    };
    drop(lock);
    waiting.join().expect("no panic").expect("free again");
}

#[test]
fn a_node_stays_who_it_is() {
    let temporary = Temporary::new("identity");
    let folder = Folder::make(&temporary.0).expect("made");
    let random = runtime::RuntimeRandom::new();
    let identity = folder.identity(&random).expect("drawn");
    assert_eq!(identity.node.len(), 22);
    assert_ne!(identity.node, identity.cluster);
    let again = folder.identity(&random).expect("kept");
    assert_eq!((again.node, again.cluster), (identity.node, identity.cluster));
    assert_eq!(again.start.len(), 22);
    assert_ne!(again.start, identity.start, "each start has its own");
    folder.make_keystore(&random).expect("made");
    let before = std::fs::read(folder.node("keystore")).expect("there");
    folder.make_keystore(&random).expect("there already");
    assert_eq!(std::fs::read(folder.node("keystore")).expect("there"), before);
    let mode = std::fs::metadata(folder.node("keystore")).expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

/// Others knew the cluster by an id that was another after the file was lost, and nobody was told.
#[test]
fn a_lost_identity_is_not_made_anew_beside_what_the_node_held() {
    let temporary = Temporary::new("lost-identity");
    let folder = Folder::make(&temporary.0).expect("made");
    let random = runtime::RuntimeRandom::new();
    let before = folder.identity(&random).expect("drawn");
    folder.make_keystore(&random).expect("made");
    std::fs::create_dir(temporary.0.join("cluster")).expect("made");
    std::fs::remove_file(folder.node("identity")).expect("removed");
    let failure = folder.identity(&random).expect_err("lost");
    assert!(failure.sentence.contains("identity is missing"), "{failure}");
    assert!(failure.sentence.contains(r#"write {"format":1} into it"#), "{failure}");
    // Whatever else is gone.
    for part in ["authz", "indices", "cluster"] {
        std::fs::remove_dir(temporary.0.join("cluster")).ok();
        std::fs::create_dir(temporary.0.join(part)).expect("made");
        let failure = folder.identity(&random).expect_err("lost");
        assert!(failure.sentence.contains("identity is missing"), "{failure}");
        std::fs::remove_dir(temporary.0.join(part)).expect("empty");
    }
    std::fs::create_dir(temporary.0.join("cluster")).expect("made");
    let keystore = std::fs::read(folder.node("keystore")).expect("there");
    std::fs::remove_file(folder.node("keystore")).expect("removed");
    let failure = folder.identity(&random).expect_err("lost");
    assert!(failure.sentence.contains("node is missing, or what was in it"), "{failure}");
    std::fs::write(folder.node("keystore"), keystore).expect("brought back");
    std::fs::remove_dir_all(temporary.0.join("node")).expect("removed");
    let failure = folder.lock().expect_err("lost");
    assert!(failure.sentence.contains("node is missing, and with it who"), "{failure}");
    std::fs::create_dir(temporary.0.join("node")).expect("made");
    save(&folder.node("identity"), br#"{"format":1}"#, 0o600).expect("written");
    let after = folder.identity(&random).expect("drawn anew, as the sentence says");
    assert_ne!(after.cluster, before.cluster);
    assert_eq!(folder.identity(&random).expect("kept").cluster, after.cluster);
}

/// Killed starts left one each, and nothing removed them.
#[test]
fn probes_of_killed_starts_are_swept() {
    let temporary = Temporary::new("probes");
    let folder = Folder::make(&temporary.0).expect("made");
    std::fs::create_dir(temporary.0.join("authz")).expect("made");
    let left = ["node/io-probe-0123.tmp", "authz/io-probe-4567.tmp"];
    let others =
        ["node/io-probe", "node/io-probe-notes.tmp", "authz/snapshot.tmp", "io-probe-01.tmp"];
    for file in left.iter().chain(&others) {
        std::fs::write(temporary.0.join(file), "").expect("written");
    }
    let kept = ["node/io-probe-89ab.tmp", "node/io-probe-cdef.tmp"].map(|it| temporary.0.join(it));
    std::fs::write(&kept[0], "somebody's").expect("written");
    std::fs::create_dir(&kept[1]).expect("made");
    folder.sweep_probes().expect("swept");
    assert!(left.iter().all(|file| !temporary.0.join(file).exists()));
    assert!(others.iter().all(|file| temporary.0.join(file).exists()), "others' stay");
    assert!(kept.iter().all(|path| path.exists()), "what is not empty, or a folder, stays");
}

#[test]
fn a_later_form_is_refused_with_both_versions_named() {
    let temporary = Temporary::new("later");
    let folder = Folder::make(&temporary.0).expect("made");
    save(&folder.node("identity"), br#"{"format":9}"#, 0o600).expect("written");
    let failure = folder.identity(&runtime::RuntimeRandom::new()).expect_err("too new");
    assert_eq!(failure.code, Code::Setting);
    assert!(failure.sentence.contains("version 9"), "{failure}");
    assert!(failure.sentence.contains("knows 1"), "{failure}");
}

#[test]
fn no_bit_of_identity_and_keystore_may_be_another() {
    let temporary = Temporary::new("sealed");
    let folder = Folder::make(&temporary.0).expect("made");
    let random = runtime::RuntimeRandom::new();
    folder.identity(&random).expect("drawn");
    folder.make_keystore(&random).expect("made");
    for name in ["identity", "keystore"] {
        let path = folder.node(name);
        let whole = std::fs::read(&path).expect("there");
        assert!(read_sealed(&path).expect("whole").is_some());
        for bit in 0..whole.len() * 8 {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            std::fs::write(&path, bytes).expect("written");
            assert!(read_sealed(&path).is_err(), "{name}: bit {bit}");
        }
    }
    // As it was written before.
    let older = format!(r#"{{"format":1,"pepper":"{}"}}"#, BASE64.encode([7; PEPPER_BYTES]));
    std::fs::write(folder.node("keystore"), older).expect("written");
    assert_eq!(folder.pepper().expect("read"), [7; PEPPER_BYTES]);
}

/// `check` called a node sound that did not start.
#[test]
fn identity_and_keystore_are_told_where_they_are_exchanged() {
    let temporary = Temporary::new("exchanged");
    let folder = Folder::make(&temporary.0).expect("made");
    let random = runtime::RuntimeRandom::new();
    folder.identity(&random).expect("drawn");
    folder.make_keystore(&random).expect("made");
    let told = || {
        let mut report = crate::check::Report::default();
        crate::check::tell_node(&folder, &mut report);
        report.damages.into_iter().map(|damage| damage.file).collect::<Vec<_>>()
    };
    assert!(told().is_empty());
    let [identity, keystore] = ["identity", "keystore"].map(|name| folder.node(name));
    let [own, secret] = [&identity, &keystore].map(|path| std::fs::read(path).expect("there"));
    std::fs::write(&keystore, &own).expect("written");
    assert_eq!(told(), ["node/keystore"]);
    std::fs::write(&identity, &secret).expect("written");
    assert_eq!(told(), ["node/identity", "node/keystore"]);
    std::fs::write(&keystore, &secret).expect("written");
    assert_eq!(told(), ["node/identity"]);
}
