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

/// What is not there must not be answered by a route that is there for something else: `GET
/// /_nodes/shutdown` was once a node of that name, and there was none.
#[test]
fn no_route_answers_for_a_call_that_is_not_there() {
    let page = page();
    let fits = |route: &str, path: &str| {
        let (route, path): (Vec<&str>, Vec<&str>) =
            (route.split('/').collect(), path.split('/').collect());
        // Every path is one of an index, whose name cannot begin so; it is refused by that.
        let own = route.get(1).is_some_and(|first| first.starts_with('_'));
        let mut pairs = route.iter().zip(&path);
        own && route.len() == path.len() && pairs.all(|(at, it)| at.starts_with('{') || at == it)
    };
    let mut wrong = Vec::new();
    let absent = |line: &&str| line.contains("| later |") || line.contains("| never |");
    for line in page.lines().filter(|line| line.starts_with("| `")).filter(absent) {
        for call in line.split(" | ").nth(1).unwrap_or_default().split("<br>") {
            let (methods, path) = call.split_once(" `").unwrap_or_default();
            let path = path.trim_end_matches('`');
            for route in ROUTES.iter().filter(|route| fits(route.path, path)) {
                if route.methods.iter().any(|method| methods.contains(method.as_str())) {
                    wrong.push(format!("{call}: {}", route.path));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
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
