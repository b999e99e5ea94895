//! Stories of the simulated storage.

use super::*;

fn path(name: &str) -> PathBuf {
    Path::new("/d").join(name)
}

fn with_folder() -> Storage {
    let mut storage = Storage::new();
    storage.create_dir(Path::new("/d")).expect("the root stands");
    storage
}

fn write(storage: &mut Storage, id: FileId, offset: u64, bytes: Vec<u8>) {
    let number = storage.write_begin(id, offset, bytes).expect("there is room");
    storage.write_end(number);
}

#[test]
fn what_was_synced_survives_every_cut() {
    for seed in 0..200 {
        let mut chance = Chance::new(seed);
        let mut storage = with_folder();
        let id = storage.create(&path("a"), false).expect("new");
        write(&mut storage, id, 0, vec![1; 4096]);
        let stamp = storage.stamp();
        storage.sync(id, stamp, true);
        let stamp = storage.stamp();
        storage.sync_dir(Path::new("/d"), stamp).expect("the folder stands");
        write(&mut storage, id, 4096, vec![2; 4096]);
        storage.settle(&mut chance);
        let bytes = storage.bytes(&path("a")).expect("the name is safe");
        assert_eq!(bytes[..4096], [1; 4096], "seed {seed}");
    }
}

#[test]
fn unsynced_bytes_and_names_meet_every_fate() {
    let (mut gone, mut kept, mut torn) = (0, 0, 0);
    for seed in 0..300 {
        let mut storage = with_folder();
        let id = storage.create(&path("a"), false).expect("new");
        write(&mut storage, id, 0, vec![1; 4096]);
        storage.settle(&mut Chance::new(seed));
        match storage.bytes(&path("a")) {
            None => gone += 1,
            Some(bytes) if bytes == [1; 4096] => kept += 1,
            Some(_) => torn += 1,
        }
    }
    assert!(gone > 0, "the name was lost in no case");
    assert!(kept > 0, "all was kept in no case");
    assert!(torn > 0, "bytes were lost in no case");
}

#[test]
fn a_sync_covers_only_what_ended_before_it_began() {
    let mut lost = 0;
    for seed in 0..100 {
        let mut storage = with_folder();
        storage.plant(&path("a"), &[0; 4096]).expect("the folder stands");
        let id = storage.open(&path("a")).expect("planted");
        let stamp = storage.stamp();
        write(&mut storage, id, 0, vec![1; 4096]);
        storage.sync(id, stamp, false);
        storage.settle(&mut Chance::new(seed));
        lost += u32::from(storage.bytes(&path("a")) != Some(vec![1; 4096]));
    }
    assert!(lost > 0);
}

#[test]
fn a_failed_sync_is_not_mended_by_the_next() {
    let mut lost = 0;
    for seed in 0..100 {
        let mut chance = Chance::new(seed);
        let mut storage = with_folder();
        storage.plant(&path("a"), &[0; 512]).expect("the folder stands");
        let id = storage.open(&path("a")).expect("planted");
        write(&mut storage, id, 0, vec![1; 512]);
        storage.sync_fail(id, &mut chance);
        let stamp = storage.stamp();
        storage.sync(id, stamp, true);
        storage.settle(&mut chance);
        lost += u32::from(storage.bytes(&path("a")) == Some(vec![0; 512]));
    }
    assert!(lost > 0, "the kernel always kept what it should have thrown away");
}

#[test]
fn a_rename_shows_the_old_file_or_the_new_one() {
    for seed in 0..100 {
        let mut storage = with_folder();
        storage.plant(&path("a"), b"old").expect("the folder stands");
        storage.plant(&path("a.tmp"), b"new").expect("the folder stands");
        storage.rename(&path("a.tmp"), &path("a")).expect("both stand");
        storage.settle(&mut Chance::new(seed));
        let (new, old) = (storage.bytes(&path("a.tmp")), storage.bytes(&path("a")));
        match old.expect("one of the two").as_slice() {
            b"old" => assert_eq!(new.as_deref(), Some(b"new".as_slice()), "seed {seed}"),
            b"new" => assert_eq!(new, None, "seed {seed}"),
            other => panic!("{other:?}, seed {seed}"),
        }
    }
}

/// A name stands for what some prefix of its own changes left, whatever came of other names.
#[test]
fn changes_of_one_name_keep_their_order() {
    let mut kept_alone = 0;
    for seed in 0..300 {
        let mut storage = with_folder();
        storage.plant(&path("kept"), b"kept").expect("the folder stands");
        let planted = storage.open(&path("kept")).expect("it stands");
        let first = storage.create(&path("tmp"), false).expect("new");
        storage.remove(&path("tmp")).expect("it stands");
        let second = storage.create(&path("tmp"), false).expect("new");
        storage.rename(&path("tmp"), &path("kept")).expect("both stand");
        storage.create(&path("other"), false).expect("new");
        storage.settle(&mut Chance::new(seed));
        let (tmp, kept) =
            (storage.open(&path("tmp")).ok(), storage.open(&path("kept")).expect("never lost"));
        assert_ne!(kept, first, "the first file was gone before the rename, seed {seed}");
        match tmp {
            None => {}
            Some(file) => {
                assert!([first, second].contains(&file) && kept == planted, "seed {seed}")
            }
        }
        if tmp.is_none() && kept != second && storage.open(&path("other")).is_ok() {
            kept_alone += 1;
        }
    }
    assert!(kept_alone > 0, "names were never kept without each other's changes");
}

#[test]
fn a_full_disk_refuses_growth_and_takes_overwriting() {
    let mut storage = with_folder();
    storage.plant(&path("a"), &[0; 4096]).expect("the folder stands");
    storage.capacity = 4096;
    let id = storage.open(&path("a")).expect("planted");
    write(&mut storage, id, 0, vec![1; 4096]);
    let refused = storage.write_begin(id, 4096, vec![1; 4096]).expect_err("no room");
    assert_eq!(refused.kind, ErrorKind::NoSpace);
    storage.remove(&path("a")).expect("it stands");
    assert_eq!(storage.free(), 4096);
}

#[test]
fn a_removed_folder_takes_all_below_with_it() {
    let mut storage = with_folder();
    storage.create_dir(&path("b/c")).expect("made");
    storage.plant(&path("b/c/f"), b"x").expect("made");
    storage.remove_dir(&path("b")).expect("it stands");
    assert!(storage.list(&path("b")).is_err());
    assert!(storage.open(&path("b/c/f")).is_err());
    storage.create_dir(&path("b")).expect("made again");
    assert_eq!(storage.list(&path("b")).expect("it stands"), []);
}
