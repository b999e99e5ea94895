//! French, Italian, Portuguese and Spanish: light stemmers (Savoy's, "UniNE") and smaller ones.

use super::ends;

fn cut(word: &mut Vec<char>, count: usize) {
    word.truncate(word.len() - count);
}

/// Takes the marks off vowels.
pub(super) fn fold_vowels(word: &mut [char]) {
    for c in word {
        *c = match *c {
            'à' | 'á' | 'â' | 'ä' => 'a',
            'ò' | 'ó' | 'ô' | 'ö' => 'o',
            'è' | 'é' | 'ê' | 'ë' => 'e',
            'ù' | 'ú' | 'û' | 'ü' => 'u',
            'ì' | 'í' | 'î' | 'ï' => 'i',
            c => c,
        };
    }
}

/// French, light.
pub(super) fn french(word: &mut Vec<char>) {
    let len = word.len();
    if len > 5 && word[len - 1] == 'x' {
        if word[len - 3] == 'a' && word[len - 2] == 'u' && word[len - 4] != 'e' {
            word[len - 2] = 'l';
        }
        word.pop();
    }
    if word.len() > 3 && word.ends_with(&['x']) {
        word.pop();
    }
    if word.len() > 3 && word.ends_with(&['s']) {
        word.pop();
    }
    french_body(word);
}

fn french_body(word: &mut Vec<char>) {
    let len = word.len();
    let is = |suffix: &str, min: usize| len > min && ends(word, suffix);
    if is("issement", 9) {
        cut(word, 6);
        *last(word) = 'r';
    } else if is("issant", 8) {
        cut(word, 4);
        *last(word) = 'r';
    } else if is("ement", 6) {
        cut(word, 4);
        if word.len() > 3 && ends(word, "ive") {
            cut(word, 1);
            *last(word) = 'f';
        }
    } else if is("ficatrice", 11) {
        cut(word, 5);
        set(word, 2, 'e');
        *last(word) = 'r';
    } else if is("ficateur", 10) {
        cut(word, 4);
        set(word, 2, 'e');
        *last(word) = 'r';
    } else if is("catrice", 9) {
        cut(word, 3);
        word.splice(word.len() - 4.., ['q', 'u', 'e', 'r']);
    } else if is("cateur", 8) {
        cut(word, 2);
        word.splice(word.len() - 4.., ['q', 'u', 'e', 'r']);
    } else if is("atrice", 8) {
        cut(word, 4);
        set(word, 2, 'e');
        *last(word) = 'r';
    } else if is("ateur", 7) {
        cut(word, 3);
        set(word, 2, 'e');
        *last(word) = 'r';
    } else if is("trice", 6) {
        cut(word, 1);
        let at = word.len() - 3;
        word.splice(at.., ['e', 'u', 'r']);
        // What was `-trice` is `-teur` now, and goes on as that.
        if word.len() > 6 && ends(word, "teur") {
            cut(word, 1);
            *last(word) = 'r';
        }
    } else if is("ième", 5) {
        cut(word, 4);
    } else if is("teuse", 7) {
        cut(word, 2);
        *last(word) = 'r';
    } else if is("teur", 6) {
        cut(word, 1);
        *last(word) = 'r';
    } else if is("euse", 5) {
        cut(word, 2);
    } else if is("ère", 8) {
        cut(word, 1);
        set(word, 2, 'e');
    } else if is("ive", 7) {
        cut(word, 1);
        *last(word) = 'f';
    } else if is("folle", 4) || is("molle", 4) {
        cut(word, 2);
        *last(word) = 'u';
    } else if is("nnelle", 9) {
        cut(word, 5);
    } else if is("nnel", 9) || is("esse", 8) || is("inage", 7) {
        cut(word, 3);
    } else if is("ète", 4) {
        cut(word, 1);
        set(word, 2, 'e');
    } else if is("ique", 8) {
        cut(word, 4);
    } else if is("isation", 9) {
        cut(word, 7);
        if word.len() > 5 && ends(word, "ual") {
            set(word, 2, 'e');
        }
    } else if is("isateur", 9) {
        cut(word, 7);
    } else if is("ation", 8) || is("ition", 8) {
        cut(word, 5);
    }
    french_plain(word);
}

fn last(word: &mut [char]) -> &mut char {
    let at = word.len() - 1;
    &mut word[at]
}

/// Sets the letter `back` from the end.
fn set(word: &mut [char], back: usize, c: char) {
    let at = word.len() - back;
    word[at] = c;
}

/// Accents and doubled letters go.
fn french_plain(word: &mut Vec<char>) {
    if word.len() > 4 {
        for c in word.iter_mut() {
            *c = match *c {
                'à' | 'á' | 'â' => 'a',
                'ô' => 'o',
                'è' | 'é' | 'ê' => 'e',
                'ù' | 'û' => 'u',
                'î' => 'i',
                'ç' => 'c',
                c => c,
            };
        }
        let mut letters = word.iter().copied();
        let mut before = letters.next().unwrap_or(' ');
        let mut out = vec![before];
        for c in letters {
            if c == before && c.is_alphabetic() {
                continue;
            }
            out.push(c);
            before = c;
        }
        *word = out;
    }
    if word.len() > 4 && ends(word, "ie") {
        cut(word, 2);
    }
    if word.len() > 4 {
        if ends(word, "r") {
            word.pop();
        }
        if ends(word, "e") {
            word.pop();
        }
        if ends(word, "e") {
            word.pop();
        }
        let len = word.len();
        if word[len - 1] == word[len - 2] && word[len - 1].is_alphabetic() {
            word.pop();
        }
    }
}

/// French, minimal: plurals and the feminine.
pub(super) fn french_minimal(word: &mut Vec<char>) {
    let len = word.len();
    if len < 6 {
        return;
    }
    if word[len - 1] == 'x' {
        if word[len - 3] == 'a' && word[len - 2] == 'u' {
            word[len - 2] = 'l';
        }
        word.pop();
        return;
    }
    for end in ['s', 'r', 'e', 'é'] {
        if word.last() == Some(&end) {
            word.pop();
        }
    }
    let len = word.len();
    if word[len - 1] == word[len - 2] && word[len - 1].is_alphabetic() {
        word.pop();
    }
}

/// Italian, light.
pub(super) fn italian(word: &mut Vec<char>) {
    if word.len() < 6 {
        return;
    }
    fold_vowels(word);
    let len = word.len();
    let count = match word[len - 1] {
        'e' | 'i' => {
            if matches!(word[len - 2], 'i' | 'h') {
                2
            } else {
                1
            }
        }
        'a' | 'o' => {
            if word[len - 2] == 'i' {
                2
            } else {
                1
            }
        }
        _ => 0,
    };
    cut(word, count);
}

/// Spanish, light.
pub(super) fn spanish(word: &mut Vec<char>) {
    if word.len() < 5 {
        return;
    }
    fold_vowels(word);
    let len = word.len();
    match word[len - 1] {
        'o' | 'a' | 'e' => cut(word, 1),
        's' => {
            if word[len - 2] == 'e' && word[len - 3] == 's' && word[len - 4] == 'e' {
                cut(word, 2);
            } else if word[len - 2] == 'e' && word[len - 3] == 'c' {
                word[len - 3] = 'z';
                cut(word, 2);
            } else if matches!(word[len - 2], 'o' | 'a' | 'e') {
                cut(word, 2);
            }
        }
        _ => {}
    }
}

/// Spanish words that look like plurals and are none.
const SPANISH_SAME: &str = "abrebotellas abrecartas abrelatas afueras albatros albricias aledaños alexis aries \
    alicates analisis andurriales antitesis añicos apendicitis apocalipsis arcoiris bilis boletus boris brindis \
    cactus canutas caries cascanueces cascarrabias ciempies cifosis cortaplumas corpus cosmos cosquillas creces \
    crisis cuatrocientas cuatrocientos cuelgacapas cuentacuentos cuentapasos cumpleaños doscientas doscientos \
    dosis enseres entonces esponsales estatus exequias fauces forceps fotosintesis gafas gafotas gargaras gris \
    honorarios ictus jueves lapsus lavacoches lavaplatos limpiabotas lunes maitines martes mondadientes \
    novecientas novecientos nupcias ochocientas ochocientos pais paris parabrisas paracaidas parachoques paraguas \
    pararrayos pisapapeles piscis portaaviones portamaletas portamantas quinientas quinientos quitamanchas \
    recogepelotas rictus rompeolas sacacorchos sacapuntas saltamontes salvavidas seis seiscientas seiscientos \
    setecientas setecientos sintesis tenis tifus trabalenguas vacaciones venus versus viacrucis virus viveres \
    volandas";
/// Spanish words that lose two letters.
const SPANISH_TWO: &str = "yoes noes sies clubes faralaes albalaes itemes albumes sandwiches relojes bojes \
    contrarreloj carcajes";

/// Spanish, plurals alone.
pub(super) fn spanish_plural(word: &mut Vec<char>) {
    let len = word.len();
    if len < 4 {
        return;
    }
    fold_vowels(word);
    let lower: String = word.iter().flat_map(|c| c.to_lowercase()).collect();
    let among = |list: &str| list.split_ascii_whitespace().any(|item| item == lower);
    if among(SPANISH_SAME) {
        return;
    }
    if among(SPANISH_TWO) {
        return cut(word, 2);
    }
    if word[len - 1] != 's' {
        return;
    }
    let vowel = |c: char| matches!(c, 'a' | 'e' | 'i' | 'o' | 'u');
    let (fourth, third, second) = (word[len - 4], word[len - 3], word[len - 2]);
    let foreign = fourth == 'q' || (fourth == 'g' && third == 'u' && matches!(second, 'i' | 'e'));
    if !vowel(second) || foreign {
        cut(word, 1);
    } else if second == 'e'
        && ((vowel(fourth) && matches!(third, 'r' | 'd' | 'l' | 'n' | 'x'))
            || matches!(third, 'y' | 'u' | 's')
            || (matches!(fourth, 'u' | 'l' | 'r' | 't' | 'n') && third == 'i'))
    {
        cut(word, 2);
    } else if second == 'i' && (vowel(third) || third == 'd') {
        word[len - 2] = 'y';
        cut(word, 1);
    } else if second == 'e' && third == 'c' {
        word[len - 3] = 'z';
        cut(word, 2);
    } else {
        cut(word, 1);
    }
}

/// Portuguese, light.
pub(super) fn portuguese(word: &mut Vec<char>) {
    if word.len() < 4 {
        return;
    }
    portuguese_suffix(word);
    if word.len() > 3 && ends(word, "a") {
        portuguese_feminine(word);
    }
    if word.len() > 4 && matches!(word.last(), Some('e' | 'a' | 'o')) {
        word.pop();
    }
    fold_vowels(word);
    for c in word.iter_mut() {
        *c = match *c {
            'ã' => 'a',
            'õ' => 'o',
            'ç' => 'c',
            c => c,
        };
    }
}

fn portuguese_suffix(word: &mut Vec<char>) {
    let len = word.len();
    if len > 4 && ends(word, "es") && matches!(word[len - 3], 'r' | 's' | 'l' | 'z') {
        cut(word, 2);
        return;
    }
    if len > 3 && ends(word, "ns") {
        word[len - 2] = 'm';
        cut(word, 1);
        return;
    }
    if len > 4 && (ends(word, "eis") || ends(word, "éis")) {
        word[len - 3] = 'e';
        word[len - 2] = 'l';
        cut(word, 1);
        return;
    }
    if len > 4 && ends(word, "ais") {
        word[len - 2] = 'l';
        cut(word, 1);
        return;
    }
    if len > 4 && ends(word, "óis") {
        word[len - 3] = 'o';
        word[len - 2] = 'l';
        cut(word, 1);
        return;
    }
    if len > 4 && ends(word, "is") {
        word[len - 1] = 'l';
        return;
    }
    if len > 3 && (ends(word, "ões") || ends(word, "ães")) {
        cut(word, 1);
        set(word, 2, 'ã');
        *last(word) = 'o';
        return;
    }
    if len > 6 && ends(word, "mente") {
        cut(word, 5);
        return;
    }
    if len > 3 && word[len - 1] == 's' {
        cut(word, 1);
    }
}

fn portuguese_feminine(word: &mut Vec<char>) {
    let len = word.len();
    let is = |suffix: &str, min: usize| len > min && ends(word, suffix);
    if is("inha", 7) || is("iaca", 7) || is("eira", 7) {
        *last(word) = 'o';
        return;
    }
    if len > 6 {
        if ["osa", "ica", "ida", "ada", "iva", "ama"].iter().any(|suffix| ends(word, suffix)) {
            *last(word) = 'o';
            return;
        }
        if ends(word, "ona") {
            set(word, 3, 'ã');
            set(word, 2, 'o');
            cut(word, 1);
            return;
        }
        if ends(word, "ora") {
            cut(word, 1);
            return;
        }
        if ends(word, "esa") {
            set(word, 3, 'ê');
            cut(word, 1);
            return;
        }
        if ends(word, "na") {
            *last(word) = 'o';
        }
    }
}
