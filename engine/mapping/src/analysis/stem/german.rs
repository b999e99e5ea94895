//! German: the light stemmer (Savoy's, "UniNE") and the minimal one.

use super::ends;

fn plain(word: &mut [char]) {
    for c in word {
        *c = match *c {
            'ä' | 'à' | 'á' | 'â' => 'a',
            'ö' | 'ò' | 'ó' | 'ô' => 'o',
            'ï' | 'ì' | 'í' | 'î' => 'i',
            'ü' | 'ù' | 'ú' | 'û' => 'u',
            c => c,
        };
    }
}

fn takes_st(c: char) -> bool {
    matches!(c, 'b' | 'd' | 'f' | 'g' | 'h' | 'k' | 'l' | 'm' | 'n' | 't')
}

/// The light stemmer.
pub(super) fn light(word: &mut Vec<char>) {
    plain(word);
    let len = word.len();
    let first = if len > 5 && ends(word, "ern") {
        3
    } else if len > 4 && word[len - 2] == 'e' && matches!(word[len - 1], 'm' | 'n' | 'r' | 's') {
        2
    } else {
        let e = len > 3 && word[len - 1] == 'e';
        let s = len > 3 && word[len - 1] == 's' && takes_st(word[len - 2]);
        usize::from(e || s)
    };
    word.truncate(len - first);
    let len = word.len();
    let second = if len > 5 && ends(word, "est") {
        3
    } else {
        let er = len > 4 && word[len - 2] == 'e' && matches!(word[len - 1], 'r' | 'n');
        let st = len > 4 && ends(word, "st") && takes_st(word[len - 3]);
        if er || st { 2 } else { 0 }
    };
    word.truncate(len - second);
}

/// The minimal stemmer: plurals.
pub(super) fn minimal(word: &mut Vec<char>) {
    let len = word.len();
    if len < 5 {
        return;
    }
    for c in word.iter_mut() {
        *c = match *c {
            'ä' => 'a',
            'ö' => 'o',
            'ü' => 'u',
            c => c,
        };
    }
    let cut = if len > 6 && ends(word, "nen") {
        3
    } else if len > 5
        && match word[len - 1] {
            'n' => word[len - 2] == 'e',
            'e' => word[len - 2] == 's',
            's' => word[len - 2] == 'e',
            'r' => word[len - 2] == 'e',
            _ => false,
        }
    {
        2
    } else {
        usize::from(matches!(word[len - 1], 'n' | 'e' | 's' | 'r'))
    };
    word.truncate(len - cut);
}

/// Pairs of letters that count as one while endings are taken off, and what stands for them; the longest first.
const MASKS: [(&str, char); 7] =
    [("sch", '$'), ("ch", '§'), ("ei", '%'), ("ie", '&'), ("ig", '#'), ("st", '!'), ("", '*')];

/// The stemmer of the filter `german_stem` (Caumanns, "A Fast and Simple Stemming Algorithm for German Words").
pub(super) fn caumanns(word: &mut Vec<char>) {
    // A sigma at the end is another letter.
    *word = word.iter().collect::<String>().to_lowercase().chars().collect();
    if !word.iter().all(|c| c.is_alphabetic() && c.len_utf16() == 1) {
        return;
    }
    let taken = mask(word);
    bare(word, taken);
    if word.len() > 5 && ends(word, "erin*") {
        word.pop();
        bare(word, taken);
    }
    if let Some(last) = word.last_mut().filter(|last| **last == 'z') {
        *last = 'x';
    }
    unmask(word);
    // `gege` loses its first half.
    if word.len() > 4
        && let Some(at) = word.windows(4).position(|four| four == ['g', 'e', 'g', 'e'])
    {
        word.drain(at..at + 2);
    }
}

/// Puts masks in, takes umlauts out, and counts the letters that masks hide.
fn mask(word: &mut Vec<char>) -> usize {
    let mut taken = 0;
    let mut at = 0;
    while at < word.len() {
        if at > 0 && word[at] == word[at - 1] {
            word[at] = '*';
        } else {
            match word[at] {
                'ä' => word[at] = 'a',
                'ö' => word[at] = 'o',
                'ü' => word[at] = 'u',
                'ß' => {
                    word[at] = 's';
                    word.insert(at + 1, 's');
                    taken += 1;
                }
                _ => {}
            }
        }
        let fits = |(text, _): &&(&str, char)| !text.is_empty() && super::starts(&word[at..], text);
        if let Some((text, mask)) = MASKS.iter().find(fits) {
            word[at] = *mask;
            word.drain(at + 1..at + text.len());
            taken += text.len() - 1;
        }
        at += 1;
    }
    taken
}

fn unmask(word: &mut Vec<char>) {
    let mut out: Vec<char> = Vec::with_capacity(word.len() + 8);
    for c in word.iter().copied() {
        match MASKS.iter().find(|(_, mask)| *mask == c) {
            None => out.push(c),
            Some(("", _)) => out.extend(out.last().copied()),
            Some((text, _)) => out.extend(text.chars()),
        }
    }
    *word = out;
}

/// Takes the seven endings off, as long as there are more than three letters.
fn bare(word: &mut Vec<char>, taken: usize) {
    while word.len() > 3 {
        let len = word.len() + taken;
        let count = if (len > 5 && ends(word, "nd"))
            || (len > 4 && (ends(word, "em") || ends(word, "er")))
        {
            2
        } else if matches!(word.last(), Some('e' | 's' | 'n' | 't')) {
            1
        } else {
            return;
        };
        word.truncate(word.len() - count);
    }
}
