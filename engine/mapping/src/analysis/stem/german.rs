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
