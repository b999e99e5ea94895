//! JSONTestSuite (nst/JSONTestSuite, MIT): what a parser must take, must refuse, may choose.
//!
//! Runs where `CORELODE_KIT` names the kit's folder; says so and passes otherwise.

use std::path::Path;

/// Files of a tar archive: name and bytes. Enough of the format for this one archive.
fn entries(tar: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    let mut at = 0;
    while let Some(header) = tar.get(at..at + 512).filter(|header| header[0] != 0) {
        let text = |range: std::ops::Range<usize>| {
            let field = &header[range];
            let end = field.iter().position(|byte| *byte == 0).unwrap_or(field.len());
            String::from_utf8_lossy(&field[..end]).trim().to_owned()
        };
        let size = usize::from_str_radix(&text(124..136), 8).expect("an octal size");
        if header[156] == b'0' {
            files.push((text(0..100), tar[at + 512..at + 512 + size].to_vec()));
        }
        at += 512 + size.div_ceil(512) * 512;
    }
    files
}

#[test]
fn the_suite_agrees() {
    let Some(kit) = std::env::var_os("CORELODE_KIT") else {
        println!("skipped: CORELODE_KIT is not set");
        return;
    };
    let path = Path::new(&kit).join("data/json/jsontestsuite.tar.zst");
    let packed = std::fs::read(&path).expect("the kit holds the suite");
    let tar = zstd::decode_all(packed.as_slice()).expect("zstd");
    let files = entries(&tar);
    assert!(files.len() >= 318, "{} files", files.len());
    let mut parser = json::tape::Parser::default();
    let mut counted = [0; 3];
    for (name, text) in &files {
        let file = name.rsplit('/').next().expect("a name");
        let tree = json::parse(text);
        let document = parser.parse(text).map(|document| document.root().to_value());
        assert_eq!(document, tree, "{name}");
        let spanned = json::spanned::parse(text).map(|node| node.to_value());
        assert_eq!(spanned, tree, "{name}");
        if let Ok(tree) = &tree {
            assert_eq!(json::parse(&json::to_vec(tree)).as_ref(), Ok(tree), "{name}");
        }
        if !name.contains("test_parsing") {
            continue;
        }
        match file.as_bytes()[0] {
            // The suite allows keys that stand twice; Elasticsearch does not.
            b'y' if file.contains("duplicated_key") => assert!(tree.is_err(), "{name}"),
            b'y' => assert!(tree.is_ok(), "{name}: {tree:?}"),
            b'n' => assert!(tree.is_err(), "{name}"),
            _ => {}
        }
        counted[usize::from(file.as_bytes()[0] == b'n')
            + 2 * usize::from(file.as_bytes()[0] == b'i')] += 1;
    }
    println!("must parse {}, must not {}, may choose {}", counted[0], counted[1], counted[2]);
}
