//! `string_stats`: lengths of strings, and how even their letters are.

use std::collections::BTreeMap;

/// What is known of strings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Strings {
    /// How many.
    pub count: u64,
    /// Letters of all.
    pub total: u64,
    /// Letters of the shortest.
    pub min: u64,
    /// Letters of the longest.
    pub max: u64,
    /// How often each letter stands.
    pub letters: BTreeMap<char, u64>,
}

impl Strings {
    /// Adds a string.
    pub fn add(&mut self, text: &str) {
        // As Java counts: UTF-16 units.
        let len = text.encode_utf16().count() as u64;
        self.min = if self.count == 0 { len } else { self.min.min(len) };
        self.max = self.max.max(len);
        self.count += 1;
        self.total += len;
        for letter in text.chars() {
            *self.letters.entry(letter).or_default() += 1;
        }
    }

    /// Adds others.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        self.min = if self.count == 0 { other.min } else { self.min.min(other.min) };
        self.max = self.max.max(other.max);
        self.count += other.count;
        self.total += other.total;
        for (letter, count) in &other.letters {
            *self.letters.entry(*letter).or_default() += count;
        }
    }

    /// Share of each letter, the most frequent first.
    pub fn distribution(&self) -> Vec<(char, f64)> {
        let mut list: Vec<(char, u64)> = self.letters.iter().map(|(c, n)| (*c, *n)).collect();
        list.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        list.into_iter().map(|(letter, n)| (letter, n as f64 / self.total as f64)).collect()
    }

    /// Shannon's entropy in bits.
    pub fn entropy(&self) -> f64 {
        let total = self.total as f64;
        let parts = self.letters.values().map(|count| {
            let share = *count as f64 / total;
            share * share.log2()
        });
        -parts.sum::<f64>() + 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_letters_have_the_most_entropy() {
        let mut strings = Strings::default();
        strings.add("abab");
        assert_eq!(strings.entropy(), 1.0);
        let mut other = Strings::default();
        other.add("cd");
        other.add("");
        strings.merge(&other);
        assert_eq!((strings.count, strings.min, strings.max, strings.total), (3, 0, 4, 6));
        assert_eq!(strings.distribution()[0], ('a', 2.0 / 6.0));
    }
}
