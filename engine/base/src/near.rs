//! Names that are close to one that nobody knows, for those who are told that it is unknown.
//!
//! As Lucene's `LevenshteinDistance` counts: two names are alike by one less the changes that make one of the other,
//! over the longer length, in characters. The closest first, ties by name.

/// `did you mean [match]?`, `did you mean any of [a, b]?`: of `known` the names that are more than `least` alike to
/// `unknown`. Nothing where none is.
pub fn meant<'a>(
    unknown: &str,
    known: impl IntoIterator<Item = &'a str>,
    least: f32,
) -> Option<String> {
    let letters: Vec<char> = unknown.chars().collect();
    let alike = |name: &'a str| {
        let other: Vec<char> = name.chars().collect();
        let longer = letters.len().max(other.len());
        // An unknown name is the user's: what cannot be near is not compared.
        let most = share(letters.len().min(other.len()), longer);
        let share =
            if most > least { 1.0 - share(changes(&letters, &other), longer) } else { most };
        (share > least).then_some((share, name))
    };
    let mut near: Vec<(f32, &str)> = known.into_iter().filter_map(alike).collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    let names: Vec<&str> = near.into_iter().map(|(_, name)| name).collect();
    match names.as_slice() {
        [] => None,
        [one] => Some(format!("did you mean [{one}]?")),
        several => Some(format!("did you mean any of [{}]?", several.join(", "))),
    }
}

/// `part` over `whole`; one where there is nothing.
fn share(part: usize, whole: usize) -> f32 {
    if whole == 0 { 1.0 } else { part as f32 / whole as f32 }
}

/// So many letters must be put in, taken away or replaced to make one of the other.
pub fn changes<T: PartialEq>(one: &[T], other: &[T]) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, x) in one.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_counted() {
        for (one, other, count) in
            [("kitten", "sitting", 3), ("", "abc", 3), ("abc", "", 3), ("abc", "abc", 0)]
        {
            assert_eq!(changes(one.as_bytes(), other.as_bytes()), count, "{one}, {other}");
        }
    }

    #[test]
    fn close_names_are_offered() {
        let known = ["terms", "match", "match_all", "term"];
        let told = |name: &str, least| meant(name, known, least);
        assert_eq!(told("mtch", 0.5).as_deref(), Some("did you mean [match]?"));
        assert_eq!(told("ter", 0.5).as_deref(), Some("did you mean any of [term, terms]?"));
        assert_eq!(told("ter", 0.7).as_deref(), Some("did you mean [term]?"));
        // As close: by name.
        assert_eq!(
            meant("ab", ["ac", "aa"], 0.4).as_deref(),
            Some("did you mean any of [aa, ac]?")
        );
        // Three of ten letters differ: more than that share is asked.
        assert_eq!(meant("aaaaaaaaaa", ["aaaaaaabbb"], 0.7), None);
        assert_eq!(told("foo", 0.5), None);
        assert_eq!(told("", 0.5), None);
        assert_eq!(told(&"match".repeat(100_000), 0.5), None);
    }
}
