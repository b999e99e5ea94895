//! `did you mean`: known names that are close to an unknown one.
//!
//! As Elasticsearch's `SuggestingErrorOnUnknown`: Levenshtein distance divided by the longer
//! length; names more than half alike, the closest first, ties by name.

/// ` did you mean [match]?`, ` did you mean any of [a, b]?`, or nothing.
pub fn near<'a>(unknown: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let mut close: Vec<(f32, &str)> = known
        .into_iter()
        .map(|name| (likeness(unknown, name), name))
        .filter(|(likeness, _)| *likeness > 0.5)
        .collect();
    close.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    let names: Vec<&str> = close.into_iter().map(|(_, name)| name).collect();
    match names.as_slice() {
        [] => String::new(),
        [one] => format!(" did you mean [{one}]?"),
        several => format!(" did you mean any of [{}]?", several.join(", ")),
    }
}

/// 1 for equal words, 0 for words that share nothing.
fn likeness(a: &str, b: &str) -> f32 {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let longer = a.len().max(b.len());
    if longer == 0 {
        return 1.0;
    }
    // An unknown name is the user's: bound the work.
    if longer > 256 {
        return 0.0;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = corner + usize::from(x != y);
            corner = row[j + 1];
            row[j + 1] = replaced.min(corner + 1).min(row[j] + 1);
        }
    }
    1.0 - row[b.len()] as f32 / longer as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_names_are_offered() {
        let known = ["match", "match_all", "term", "terms"];
        assert_eq!(near("mtch", known), " did you mean [match]?");
        assert_eq!(near("ter", known), " did you mean any of [term, terms]?");
        assert_eq!(near("foo", known), "");
        assert_eq!(near("", known), "");
    }
}
