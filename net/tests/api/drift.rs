//! The page that lists what is there follows the table of routes.

use std::collections::BTreeSet;

use net::table::ROUTES;

/// A path without the names of its parameters.
fn shape(path: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for c in path.chars() {
        match c {
            '{' => {
                inside = true;
                out.push('{');
            }
            '}' => {
                inside = false;
                out.push('}');
            }
            _ if !inside => out.push(c),
            _ => {}
        }
    }
    out
}

fn page() -> String {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/api/endpoints.md");
    std::fs::read_to_string(page).expect("it stands in this checkout")
}

#[test]
fn the_page_counts_its_own_rows() {
    let page = page();
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    let words: Vec<&str> = rows.filter_map(|row| row.split(" | ").nth(2)).collect();
    let count = |word: &str| words.iter().filter(|one| **one == word).count();
    let sentence = format!(
        "Of {} calls, {} are there, {} in part, {} come later, {} never.",
        words.len(),
        count("there"),
        count("part"),
        count("later"),
        count("never"),
    );
    assert!(page.contains(&sentence), "docs/api/endpoints.md should say: {sentence}");
}

#[test]
fn each_route_stands_in_the_page_and_no_row_promises_another() {
    let page = page();
    let mut told = BTreeSet::new();
    let mut promised = Vec::new();
    for line in page.lines().filter(|line| line.starts_with('|')) {
        let paths: Vec<&str> =
            line.split('`').skip(1).step_by(2).filter(|text| text.starts_with('/')).collect();
        told.extend(paths.iter().map(|path| shape(path)));
        if line.contains("| there |") {
            promised.extend(paths.into_iter().map(str::to_owned));
        }
    }
    let routes: BTreeSet<String> = ROUTES.iter().map(|route| shape(route.path)).collect();
    let missing: Vec<&str> =
        ROUTES.iter().map(|route| route.path).filter(|path| !told.contains(&shape(path))).collect();
    assert!(missing.is_empty(), "docs/api/endpoints.md does not name {missing:?}");
    for path in promised {
        assert!(routes.contains(&shape(&path)), "docs/api/endpoints.md promises {path}");
    }
}
