//! The two JSON readers agree on what is JSON, and what is read and written reads the same again.
#![no_main]

use json::tape::Parser;
use libfuzzer_sys::fuzz_target;

fuzz_target!(init: base::hash::fix_seed(), |bytes: &[u8]| {
    let tree = json::parse(bytes);
    let mut parser = Parser::default();
    let tape = parser.parse(bytes).map(|document| document.root().to_value());
    match (tree, tape) {
        (Ok(tree), Ok(tape)) => {
            assert_eq!(tree, tape, "both readers see the same");
            let text = json::to_vec(&tree);
            assert_eq!(json::parse(&text).as_ref(), Ok(&tree), "written, read, equal");
            let pretty = json::pretty(&text);
            assert_eq!(json::parse(&pretty).as_ref(), Ok(&tree), "pretty text means the same");
        }
        (Err(_), Err(_)) => {}
        (tree, tape) => panic!("one reader takes it: {tree:?} {tape:?}"),
    }
});
