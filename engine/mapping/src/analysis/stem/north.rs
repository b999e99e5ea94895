//! Finnish, Hungarian, Norwegian, Russian and Swedish: light stemmers (Savoy's, and those made after them).

use super::ends;

/// Endings of one length: how long a word must be, and which they are.
type Endings = (usize, &'static str);

/// How many letters the first of the endings has that the word has and is long enough for.
fn ending_of(word: &[char], groups: &[Endings]) -> Option<usize> {
    groups.iter().filter(|(least, _)| word.len() >= *least).find_map(|(_, endings)| {
        let ending = endings.split_ascii_whitespace().find(|ending| ends(word, ending))?;
        Some(ending.chars().count())
    })
}

fn off(word: &mut Vec<char>, groups: &[Endings]) -> bool {
    let count = ending_of(word, groups);
    cut(word, count.unwrap_or(0));
    count.is_some()
}

fn cut(word: &mut Vec<char>, count: usize) {
    word.truncate(word.len() - count);
}

fn vowel(c: char) -> bool {
    matches!(c, 'a' | 'e' | 'i' | 'o' | 'u' | 'y')
}

/// A genitive's `s`.
fn genitive(word: &mut Vec<char>) {
    if word.len() > 4 && ends(word, "s") {
        word.pop();
    }
}

/// Swedish, light.
pub(super) fn swedish(word: &mut Vec<char>) {
    genitive(word);
    off(
        word,
        &[
            (8, "elser heten"),
            (7, "arne erna ande else aste orna aren"),
            (6, "are ast het"),
            (5, "ar er or en at te et"),
            (4, "t a e n"),
        ],
    );
}

/// Norwegian (Bokmål), light.
pub(super) fn norwegian(word: &mut Vec<char>) {
    genitive(word);
    off(
        word,
        &[
            (8, "heter heten"),
            (6, "dom het"),
            (8, "elser elsen"),
            (7, "ende else este eren"),
            (6, "ere est ene"),
            (5, "er en et st te"),
            (4, "a e n"),
        ],
    );
}

/// Norwegian (Nynorsk), light.
pub(super) fn nynorsk(word: &mut Vec<char>) {
    genitive(word);
    off(
        word,
        &[
            (8, "heita"),
            (9, "heiter leiken leikar"),
            (6, "dom"),
            (7, "heit semd leik"),
            (8, "elser elsen"),
            (7, "ande else aste aren"),
            (6, "are ast ene ane"),
            (5, "er en et ar te"),
            (4, "a e n"),
        ],
    );
}

/// Norwegian (Bokmål), plurals alone.
pub(super) fn norwegian_minimal(word: &mut Vec<char>) {
    genitive(word);
    off(word, &[(6, "ene"), (5, "er en et"), (4, "a e")]);
}

/// Norwegian (Nynorsk), plurals alone.
pub(super) fn nynorsk_minimal(word: &mut Vec<char>) {
    genitive(word);
    off(word, &[(6, "ene ane"), (5, "er en et ar"), (4, "a e")]);
}

/// Russian, light.
pub(super) fn russian(word: &mut Vec<char>) {
    off(
        word,
        &[
            (7, "иями оями"),
            (6, "иям иях оях ями оям оьв ами его ему ери ими ого ому ыми оев"),
            (
                5,
                "ая яя ях юю ах ею их ия ию ьв ою ую ям ых ея ам ем ей ём ев ий им ое ой ом ов ые ый ым ми",
            ),
            (4, "а е и о у й ы я ь"),
        ],
    );
    if word.len() > 3 && ["ь", "и", "нн"].iter().any(|ending| ends(word, ending)) {
        word.pop();
    }
}

/// Finnish, light.
pub(super) fn finnish(word: &mut Vec<char>) {
    if word.len() < 4 {
        return;
    }
    for c in word.iter_mut() {
        *c = match *c {
            'ä' | 'å' => 'a',
            'ö' => 'o',
            c => c,
        };
    }
    while off(word, &[(9, "kin ko")]) {}
    off(word, &[(12, "dellinen dellisuus")]);
    if !off(word, &[(6, "lla tse sti ni")]) && word.len() > 5 && ends(word, "aa") {
        word.pop();
    }
    finnish_case(word);
    finnish_end(word);
}

fn finnish_case(word: &mut Vec<char>) {
    let len = word.len();
    // These leave an `s` behind.
    let turned = |word: &mut Vec<char>, groups: &[Endings]| {
        let found = off(word, groups);
        if found {
            word.push('s');
        }
        found
    };
    if turned(word, &[(9, "nnen ntena")])
        || off(word, &[(9, "tten eiden"), (7, "neen niin seen teen inen")])
    {
        return;
    }
    if len > 6 && word[len - 3] == 'h' && vowel(word[len - 2]) && word[len - 1] == 'n' {
        return cut(word, 3);
    }
    if turned(word, &[(7, "den ksen")])
        || off(word, &[(7, "ssa sta lla lta tta ksi lle"), (6, "na ne nei"), (5, "ja ta a")])
    {
        return;
    }
    if len > 4 && ends(word, "n") {
        cut(word, if vowel(word[len - 2]) { 2 } else { 1 });
    }
}

fn finnish_end(word: &mut Vec<char>) {
    if word.len() > 5 && ends(word, "hde") {
        cut(word, 3);
        word.extend(['k', 's', 'i']);
    }
    off(word, &[(5, "ei at"), (4, "t s j e a i")]);
    off(word, &[(9, "e o u")]);
    off(word, &[(5, "i")]);
    if word.len() > 4 {
        word.dedup_by(|c, before| c == before && matches!(c, 'k' | 'p' | 't'));
    }
}

/// Hungarian, light.
pub(super) fn hungarian(word: &mut Vec<char>) {
    for c in word.iter_mut() {
        *c = match *c {
            'á' => 'a',
            'ë' | 'é' => 'e',
            'í' => 'i',
            'ó' | 'ő' | 'õ' | 'ö' => 'o',
            'ú' | 'ű' | 'ũ' | 'û' | 'ü' => 'u',
            c => c,
        };
    }
    hungarian_case(word);
    hungarian_possessive(word);
    let len = word.len();
    if len > 3 && word[len - 1] == 'k' {
        let two = len > 4 && matches!(word[len - 2], 'a' | 'o' | 'e');
        cut(word, if two { 2 } else { 1 });
    }
    off(word, &[(4, "a e i o")]);
}

fn hungarian_case(word: &mut Vec<char>) {
    if off(word, &[(7, "kent"), (6, "nak nek val vel ert rol ban ben bol nal nel hoz hez tol")]) {
        return;
    }
    let len = word.len();
    let doubled =
        |word: &[char], at: usize| !vowel(word[len - at]) && word[len - at] == word[len - at - 1];
    if len > 5 && (ends(word, "al") || ends(word, "el")) && doubled(word, 3) {
        return cut(word, 3);
    }
    if off(word, &[(5, "at et ot va ve ra re ba be ul ig")]) || len < 5 {
        return;
    }
    if (ends(word, "on") || ends(word, "en")) && !vowel(word[len - 3]) {
        return cut(word, 2);
    }
    match word[len - 1] {
        't' | 'n' => cut(word, 1),
        'a' | 'e' if doubled(word, 2) => cut(word, 2),
        _ => {}
    }
}

fn hungarian_possessive(word: &mut Vec<char>) {
    let len = word.len();
    let behind_vowel = |count: usize| vowel(word[len - count - 1]);
    let has = |least: usize, endings: &'static str| ending_of(word, &[(least, endings)]).is_some();
    let count = if (has(7, "atok otok etek") && !behind_vowel(4)) || has(7, "itek itok") {
        4
    } else if (has(6, "unk tok tek") && !behind_vowel(3))
        || (has(6, "juk") && behind_vowel(3))
        || has(6, "ink")
    {
        3
    } else if (has(5, "am em om ad ed od uk") && !behind_vowel(2))
        || (has(5, "nk ja je") && behind_vowel(2))
        || has(5, "im id ik")
    {
        2
    } else if (has(4, "a e") && !behind_vowel(1))
        || (has(4, "m d") && behind_vowel(1))
        || has(4, "i")
    {
        1
    } else {
        0
    };
    cut(word, count);
}
