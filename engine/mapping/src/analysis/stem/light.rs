//! Bulgarian, Czech and Latvian: light stemmers, which take endings of case and number off.

use super::{ends, strip};

/// Cuts the ending and puts another in its place.
fn turn(word: &mut Vec<char>, ending: &str, with: &str) -> bool {
    if !ends(word, ending) {
        return false;
    }
    word.truncate(word.len() - ending.chars().count());
    word.extend(with.chars());
    true
}

/// Bulgarian (Nakov; Savoy, "Searching strategies for the Bulgarian language").
pub(super) fn bulgarian(word: &mut Vec<char>) {
    if word.len() < 4 || (word.len() > 5 && strip(word, &["ища"])) {
        return;
    }
    let len = word.len();
    let _ = (len > 6 && strip(word, &["ият"]))
        || (len > 5 && strip(word, &["ът", "то", "те", "та", "ия"]))
        || (len > 4 && strip(word, &["ят"]));
    bulgarian_plural(word);
    if word.len() > 3 {
        strip(word, &["я"]);
        strip(word, &["а", "о", "е"]);
    }
    if word.len() > 4 {
        turn(word, "ен", "н");
    }
    let len = word.len();
    if len > 5 && word[len - 2] == 'ъ' {
        word.remove(len - 2);
    }
}

fn bulgarian_plural(word: &mut Vec<char>) {
    let len = word.len();
    let by_ending = (len > 6
        && (turn(word, "овци", "о") || turn(word, "ове", "") || turn(word, "еве", "й")))
        || (len > 5
            && (strip(word, &["ища", "та"]) || turn(word, "ци", "к") || turn(word, "зи", "г")));
    if by_ending {
        return;
    }
    if len > 5 && word[len - 3] == 'е' && word[len - 1] == 'и' {
        word[len - 3] = 'я';
        word.pop();
        return;
    }
    if len > 4 && !turn(word, "си", "х") {
        strip(word, &["и"]);
    }
}

/// Czech (Dolamic and Savoy, "Indexing and stemming approaches for the Czech language").
pub(super) fn czech(word: &mut Vec<char>) {
    const THREE: [&str; 25] = [
        "ech", "ich", "ích", "ého", "ěmi", "emi", "ému", "ěte", "ete", "ěti", "eti", "ího", "iho",
        "ími", "ímu", "imu", "ách", "ata", "aty", "ých", "ama", "ami", "ové", "ovi", "ými",
    ];
    const TWO: [&str; 12] =
        ["em", "es", "ém", "ím", "ům", "at", "ám", "os", "us", "ým", "mi", "ou"];
    const ONE: [&str; 12] = ["a", "e", "i", "o", "u", "ů", "y", "á", "é", "í", "ý", "ě"];
    let len = word.len();
    let _ = (len > 7 && strip(word, &["atech"]))
        || (len > 6 && strip(word, &["ětem", "etem", "atům"]))
        || (len > 5 && strip(word, &THREE))
        || (len > 4 && strip(word, &TWO))
        || (len > 3 && strip(word, &ONE));
    if word.len() > 5 {
        strip(word, &["ov", "in", "ův"]);
    }
    let rules = [("čt", "ck"), ("št", "sk"), ("c", "k"), ("č", "k"), ("z", "h"), ("ž", "h")];
    if rules.iter().any(|(ending, with)| turn(word, ending, with)) {
        return;
    }
    let len = word.len();
    if len > 1 && word[len - 2] == 'e' {
        word.remove(len - 2);
    } else if len > 2 && word[len - 2] == 'ů' {
        word[len - 2] = 'o';
    }
}

/// Latvian (a light form of Krēsliņš's algorithm): ending, vowels that it has and one more must be
/// there, softens the consonant before it.
const LATVIAN: [(&str, usize, bool); 38] = [
    ("ajiem", 3, false),
    ("ajai", 3, false),
    ("ajam", 2, false),
    ("ajām", 2, false),
    ("ajos", 2, false),
    ("ajās", 2, false),
    ("iem", 2, true),
    ("ajā", 2, false),
    ("ais", 2, false),
    ("ai", 2, false),
    ("ei", 2, false),
    ("ām", 1, false),
    ("am", 1, false),
    ("ēm", 1, false),
    ("īm", 1, false),
    ("im", 1, false),
    ("um", 1, false),
    ("us", 1, true),
    ("as", 1, false),
    ("ās", 1, false),
    ("es", 1, false),
    ("os", 1, true),
    ("ij", 1, false),
    ("īs", 1, false),
    ("ēs", 1, false),
    ("is", 1, false),
    ("ie", 1, false),
    ("u", 1, true),
    ("a", 1, true),
    ("i", 1, true),
    ("e", 1, false),
    ("ā", 1, false),
    ("ē", 1, false),
    ("ī", 1, false),
    ("ū", 1, false),
    ("o", 1, false),
    ("s", 0, false),
    ("š", 0, false),
];

/// Latvian.
pub(super) fn latvian(word: &mut Vec<char>) {
    let vowels = word.iter().filter(|c| "aeiouāīēū".contains(**c)).count();
    let len = word.len();
    for (ending, count, softens) in LATVIAN {
        if vowels > count && len >= ending.chars().count() + 3 && strip(word, &[ending]) {
            if softens {
                harden(word, ending.starts_with('u'));
            }
            return;
        }
    }
}

/// Gives the consonant back that the ending had softened.
fn harden(word: &mut Vec<char>, by_u: bool) {
    if by_u && (turn(word, "kš", "kst") || turn(word, "ņņ", "nn")) {
        return;
    }
    if ["pj", "bj", "mj", "vj"].iter().any(|ending| ends(word, ending)) {
        word.pop();
        return;
    }
    let rules = [
        ("šņ", "sn"),
        ("žņ", "zn"),
        ("šļ", "sl"),
        ("žļ", "zl"),
        ("ļņ", "ln"),
        ("ļļ", "ll"),
        ("č", "c"),
        ("ļ", "l"),
        ("ņ", "n"),
    ];
    let _ = rules.iter().any(|(ending, with)| turn(word, ending, with));
}
