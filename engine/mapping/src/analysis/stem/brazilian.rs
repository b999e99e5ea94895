//! Brazilian Portuguese, as Lucene's `brazilian` stems it: endings in regions of the word, as Snowball's programs
//! have them, over letters without marks.
//!
//! Two of its rules match and take nothing off (`-logias`, `-ira`); so do they here.

/// Where an ending must lie.
#[derive(Clone, Copy)]
enum Region {
    /// Behind the first consonant that follows a vowel.
    R1,
    /// The same again, within R1.
    R2,
    /// In RV, behind an `e`.
    BehindE,
}

/// Endings of nouns and adjectives, the region they must lie in, and what takes their place.
const NOUNS: [(&str, Region, &str); 42] = {
    use Region::{BehindE, R1, R2};
    [
        ("uciones", R2, "u"),
        ("imentos", R2, ""),
        ("amentos", R2, ""),
        ("adores", R2, ""),
        ("adoras", R2, ""),
        ("logias", R2, "logias"),
        ("encias", R2, "ente"),
        ("amente", R1, ""),
        ("idades", R2, ""),
        ("acoes", R2, ""),
        ("imento", R2, ""),
        ("amento", R2, ""),
        ("adora", R2, ""),
        ("ismos", R2, ""),
        ("istas", R2, ""),
        ("logia", R2, "log"),
        ("ucion", R2, "u"),
        ("encia", R2, "ente"),
        ("mente", R2, ""),
        ("idade", R2, ""),
        ("acao", R2, ""),
        ("ezas", R2, ""),
        ("icos", R2, ""),
        ("icas", R2, ""),
        ("ismo", R2, ""),
        ("avel", R2, ""),
        ("ivel", R2, ""),
        ("ista", R2, ""),
        ("osos", R2, ""),
        ("osas", R2, ""),
        ("ador", R2, ""),
        ("ivas", R2, ""),
        ("ivos", R2, ""),
        ("iras", BehindE, "ir"),
        ("eza", R2, ""),
        ("ico", R2, ""),
        ("ica", R2, ""),
        ("oso", R2, ""),
        ("osa", R2, ""),
        ("iva", R2, ""),
        ("ivo", R2, ""),
        ("ira", BehindE, "ir"),
    ]
};

/// Endings of verbs, in RV, in the order they are tried.
const VERBS: &str = "issemos essemos assemos ariamos eriamos iriamos iremos eremos aremos avamos iramos eramos aramos \
    asseis esseis isseis arieis erieis irieis irmos iamos armos ermos areis ereis ireis asses esses isses astes \
    assem essem issem ardes erdes irdes ariam eriam iriam arias erias irias estes istes aveis aria eria iria asse \
    esse isse aste este iste arei erei irei aram eram iram avam arem erem irem ando endo indo arao erao irao adas \
    idas aras eras iras avas ares eres ires ados idos amos emos imos ieis ada ida ara era ira iam ado ido ias ais \
    eis ear ia ei am em ar er ir as es is eu iu ou";

fn is_vowel(c: char) -> bool {
    matches!(c, 'a' | 'e' | 'i' | 'o' | 'u')
}

/// Where the region behind the first consonant that follows a vowel begins.
fn first_region(word: &[char], from: usize) -> Option<usize> {
    // The last letter is not looked at.
    let end = word.len().checked_sub(1)?;
    let vowel = (from..end).find(|at| is_vowel(word[*at]))?;
    (vowel..end).find(|at| !is_vowel(word[*at])).map(|at| at + 1)
}

/// Where the region of verbs begins.
fn verb_region(word: &[char]) -> Option<usize> {
    let end = word.len().checked_sub(1)?;
    if end > 0
        && !is_vowel(word[1])
        && let Some(at) = (2..end).find(|at| is_vowel(word[*at]))
    {
        return Some(at + 1);
    }
    if end > 1
        && is_vowel(word[0])
        && is_vowel(word[1])
        && let Some(at) = (2..end).find(|at| !is_vowel(word[*at]))
    {
        return Some(at + 1);
    }
    (end > 2).then_some(3)
}

fn plain(c: char) -> char {
    match c {
        'á' | 'â' | 'ã' => 'a',
        'é' | 'ê' => 'e',
        'í' => 'i',
        'ó' | 'ô' | 'õ' => 'o',
        'ú' | 'ü' => 'u',
        'ç' => 'c',
        'ñ' => 'n',
        c => c,
    }
}

/// Stems the word; one of fewer than three letters, or of thirty and more, stays whole.
pub(super) fn stem(word: &mut Vec<char>) {
    // A sigma at the end is another letter.
    let lower = word.iter().collect::<String>().to_lowercase();
    let mut bare: Vec<char> = lower.chars().map(plain).collect();
    let mark = |c: char| matches!(c, '"' | '\'' | '-' | ',' | ';' | '.' | '?' | '!');
    if bare.len() >= 2 && mark(bare[0]) {
        bare.remove(0);
    }
    if bare.len() >= 2 && bare.last().is_some_and(|c| mark(*c)) {
        bare.pop();
    }
    let units: usize = bare.iter().map(|c| c.len_utf16()).sum();
    if !(3..30).contains(&units) {
        return;
    }
    *word = bare;
    if word.iter().all(|c| c.is_alphabetic() && c.len_utf16() == 1) {
        endings(word);
    }
}

fn endings(word: &mut Vec<char>) {
    let whole = word.clone();
    let r1 = first_region(&whole, 0);
    let r2 = r1.and_then(|from| first_region(&whole, from));
    let rv = verb_region(&whole);
    let lies_in = |region: Option<usize>, ending: &str| {
        region.is_some_and(|from| super::ends(&whole[from..], ending))
    };
    let fits = |(ending, region, _): &(&str, Region, &str)| match region {
        Region::R1 => lies_in(r1, ending),
        Region::R2 => lies_in(r2, ending),
        Region::BehindE => {
            let before = whole.len().checked_sub(ending.len() + 1);
            lies_in(rv, ending) && before.is_some_and(|at| whole[at] == 'e')
        }
    };
    let mut altered = true;
    if let Some((ending, _, with)) = NOUNS.iter().find(|rule| fits(rule)) {
        word.truncate(word.len() - ending.len());
        word.extend(with.chars());
    } else if let Some(ending) = VERBS.split_ascii_whitespace().find(|ending| lies_in(rv, ending)) {
        if ending != "ira" {
            word.truncate(word.len() - ending.len());
        }
    } else {
        altered = false;
    }
    // What follows asks the word as it was, and takes off where the word as it is still has it.
    let off = |word: &mut Vec<char>, ending: &str| super::strip(word, &[ending]);
    if altered {
        if lies_in(rv, "ci") {
            off(word, "i");
        }
    } else if let Some(ending) = ["os", "a", "i", "o"].into_iter().find(|e| lies_in(rv, e)) {
        off(word, ending);
    }
    if lies_in(rv, "e") {
        off(word, "e");
        if lies_in(rv, "gue") {
            off(word, "u");
        } else if lies_in(rv, "cie") {
            off(word, "i");
        }
    }
}
