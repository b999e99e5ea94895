//! Greek (Ntais, "Development of a Stemmer for the Greek Language", with Saroukos's additions): rules that take an
//! ending off and put a part of it back where the rest is one of the words it belongs to.
//!
//! Words come in lower case without marks, their last sigma as any other (the `lowercase` filter of Greek).

use super::ends;

/// Is the whole word one of these?
fn is(word: &[char], list: &str) -> bool {
    list.split_ascii_whitespace().any(|item| item.chars().eq(word.iter().copied()))
}

/// Does the word end in one of these?
fn tail(word: &[char], list: &str) -> bool {
    list.split_ascii_whitespace().any(|item| ends(word, item))
}

fn vowel(word: &[char]) -> bool {
    matches!(word.last(), Some('α' | 'ε' | 'η' | 'ι' | 'ο' | 'υ' | 'ω'))
}

fn vowel_but_y(word: &[char]) -> bool {
    vowel(word) && !ends(word, "υ")
}

/// Takes the first of the endings off that the word is longer than, and says whether there was one.
fn off(word: &mut Vec<char>, endings: &str) -> bool {
    for ending in endings.split_ascii_whitespace() {
        let len = ending.chars().count();
        if word.len() > len && ends(word, ending) {
            word.truncate(word.len() - len);
            return true;
        }
    }
    false
}

/// As [`off`], and puts `back` behind the rest where that is one that keeps it.
fn rule(word: &mut Vec<char>, endings: &str, back: &str, keeps: impl Fn(&[char]) -> bool) {
    if off(word, endings) && keeps(word) {
        word.extend(back.chars());
    }
}

/// Cuts letters off a word that ends in one of these.
fn cut(word: &mut Vec<char>, endings: &str, count: usize) -> bool {
    let fits = tail(word, endings);
    if fits {
        word.truncate(word.len() - count);
    }
    fits
}

/// The stem.
pub(super) fn stem(word: &mut Vec<char>) {
    let len = word.len();
    if len < 4 {
        return;
    }
    irregular(word);
    diminutives(word);
    adjectives(word);
    first_persons(word);
    third_persons(word);
    second_persons(word);
    passives(word);
    pasts(word);
    futures(word);
    if word.len() == len {
        long_list(word);
    }
    // Comparisons.
    let _ = cut(word, "εστερ εστατ", 5) || cut(word, "οτερ οτατ υτερ υτατ ωτερ ωτατ", 4);
}

/// Words with a declension of their own.
fn irregular(word: &mut Vec<char>) {
    let rules = [
        ("καθεστωτοσ καθεστωτων γεγονοτοσ γεγονοτων", 4),
        ("καθεστωτα", 3),
        ("τατογιου τατογιων", 4),
        ("γεγονοτα", 3),
        ("καθεστωσ", 2),
        ("σκαγιου σκαγιων ολογιου ολογιων κρεατοσ κρεατων περατοσ περατων τερατοσ τερατων", 4),
        ("τατογια", 3),
        ("γεγονοσ", 2),
        ("φαγιου φαγιων σογιου σογιων", 4),
        ("σκαγια ολογια κρεατα περατα τερατα", 3),
        ("φαγια σογια φωτοσ φωτων", 3),
        ("κρεασ περασ τερασ", 2),
        ("φωτα", 2),
        ("φωσ", 1),
    ];
    let _ = rules.iter().any(|(endings, count)| cut(word, endings, *count));
}

fn diminutives(word: &mut Vec<char>) {
    rule(word, "αδεσ αδων", "αδ", |rest| {
        !tail(rest, "οκ μαμ μαν μπαμπ πατερ γιαγι νταντ κυρ θει πεθερ")
    });
    rule(word, "εδεσ εδων", "εδ", |rest| tail(rest, "οπ ιπ εμπ υπ γηπ δαπ κρασπ μιλ"));
    rule(word, "ουδεσ ουδων", "ουδ", |rest| {
        tail(rest, "αρκ καλιακ πεταλ λιχ πλεξ σκ σ φλ φρ βελ λουλ χν σπ τραγ φε")
    });
}

fn adjectives(word: &mut Vec<char>) {
    rule(word, "εωσ εων", "ε", |rest| is(rest, "θ δ ελ γαλ ν π ιδ παρ"));
    rule(word, "ια ιου ιων", "ι", vowel);
    let kept = "αλ αδ ενδ αμαν αμμοχαλ ηθ ανηθ αντιδ φυσ βρωμ γερ εξωδ καλπ καλλιν καταδ μουλ μπαν μπαγιατ \
        μπολ μποσ νιτ ξικ συνομηλ πετσ πιτσ πικαντ πλιατσ ποστελν πρωτοδ σερτ συναδ τσαμ υποδ φιλον φυλοδ χασ";
    rule(word, "ικα ικο ικου ικων", "ικ", |rest| vowel(rest) || is(rest, kept));
}

/// `-αμε` and kin.
fn first_persons(word: &mut Vec<char>) {
    if is(word, "αγαμε") {
        word.pop();
        return;
    }
    off(word, "ηθηκαμε ουσαμε αγαμε ησαμε ηκαμε");
    rule(word, "αμε", "αμ", |rest| {
        is(rest, "αναπ αποθ αποκ αποστ βουβ ξεθ ουλ πεθ πικρ ποτ σιχ χ")
    });
}

/// `-ανε` and kin.
fn third_persons(word: &mut Vec<char>) {
    // Some of these may be the whole word.
    let removed = off(word, "ιουντανε")
        || off(word, "ιοντανε")
        || cut(word, "ουντανε ηθηκανε", 7)
        || off(word, "ιοτανε")
        || cut(word, "οντανε ουσανε", 6)
        || off(word, "αγανε")
        || cut(word, "ησανε οτανε ηκανε", 5);
    if removed && is(word, "τρ τσ") {
        word.extend("αγαν".chars());
    }
    let kept = "βετερ βουλκ βραχμ γ δραδουμ θ καλπουζ καστελ κορμορ λαοπλ μωαμεθ μ μουσουλμ ν ουλ π πελεκ πλ \
        πολισ πορτολ σαρακατσ σουλτ τσαρλατ ορφ τσιγγ τσοπ φωτοστεφ χ ψυχοπλ αγ γαλ γερ δεκ διπλ αμερικαν ουρ πιθ \
        πουριτ σ ζωντ ικ καστ κοπ λιχ λουθηρ μαιντ μελ σιγ σπ στεγ τραγ τσαγ φ ερ αδαπ αθιγγ αμηχ ανικ ανοργ απηγ \
        απιθ ατσιγγ βασ βασκ βαθυγαλ βιομηχ βραχυκ διατ διαφ ενοργ θυσ καπνοβιομηχ καταγαλ κλιβ κοιλαρφ λιβ \
        μεγλοβιομηχ μικροβιομηχ νταβ ξηροκλιβ ολιγοδαμ ολογαλ πενταρφ περηφ περιτρ πλατ πολυδαπ πολυμηχ στεφ ταβ \
        τετ υπερηφ υποκοπ χαμηλοδαπ ψηλοταβ";
    rule(word, "ανε", "αν", |rest| vowel_but_y(rest) || is(rest, kept));
}

/// `-ετε`, `-οντας`.
fn second_persons(word: &mut Vec<char>) {
    off(word, "ησετε");
    let whole = "αβαρ βεν εναρ αβρ αδ αθ αν απλ βαρον ντρ σκ κοπ μπορ νιφ παγ παρακαλ σερπ σκελ συρφ τοκ υ δ εμ θαρρ θ";
    let tails = "οδ αιρ φορ ταθ διαθ σχ ενδ ευρ τιθ υπερθ ραθ ενθ ροθ σθ πυρ αιν συνδ συν συνθ χωρ πον βρ καθ ευθ \
        εκθ νετ ρον αρκ βαρ βολ ωφελ";
    rule(word, "ετε", "ετ", |rest| is(rest, whole) || vowel_but_y(rest) || tail(rest, tails));
    if off(word, "οντασ ωντασ") {
        if is(word, "αρχ") {
            word.extend("οντ".chars());
        }
        if ends(word, "κρε") {
            word.extend("ωντ".chars());
        }
    }
}

fn passives(word: &mut Vec<char>) {
    rule(word, "ομαστε", "ομαστ", |rest| is(rest, "ον"));
    rule(word, "ιεστε", "ιεστ", |rest| is(rest, "π απ συμπ ασυμπ ακαταπ αμεταμφ"));
    rule(word, "εστε", "εστ", |rest| is(rest, "αλ αρ εκτελ ζ μ ξ παρακαλ προ νισ"));
    off(word, "ηθηκεσ ηθηκα ηθηκε");
    rule(word, "ηκεσ ηκα ηκε", "ηκ", |rest| {
        is(rest, "διαθ θ παρακαταθ προσθ συνθ") || tail(rest, "σκωλ σκουλ ναρθ σφ οθ πιθ")
    });
}

fn pasts(word: &mut Vec<char>) {
    let whole = "φαρμακ χαδ αγκ αναρρ βρομ εκλιπ λαμπιδ λεχ μ πατ ρ λ μεδ μεσαζ υποτειν αμ αιθ ανηκ δεσποζ ενδιαφερ \
        δε δευτερευ καθαρευ πλε τσα";
    let tails = "ποδαρ βλεπ πανταχ φρυδ μαντιλ μαλλ κυματ λαχ ληγ φαγ ομ πρωτ";
    rule(word, "ουσεσ ουσα ουσε", "ουσ", |rest| {
        is(rest, whole) || vowel(rest) || tail(rest, tails)
    });
    let whole = "αβαστ πολυφ αδηφ παμφ ρ ασπ αφ αμαλ αμαλλι ανυστ απερ ασπαρ αχαρ δερβεν δροσοπ ξεφ νεοπ νομοτ ολοπ \
        ομοτ προστ προσωποπ συμπ συντ τ υποτ χαρ αειπ αιμοστ ανυπ αποτ αρτιπ διατ εν επιτ κροκαλοπ σιδηροπ λ ναυ ουλαμ \
        ουρ π τρ μ";
    rule(word, "αγεσ αγα αγε", "αγ", |rest| {
        let kept = is(rest, whole) || tail(rest, "οφ πελ χορτ λλ σφ ρπ φρ πρ λοχ σμην");
        kept && !is(rest, "ψοφ ναυλοχ") && !tail(rest, "κολλ")
    });
    rule(word, "ησου ησε ησα", "ησ", |rest| {
        is(rest, "ν χερσον δωδεκαν ερημον μεγαλον επταν")
    });
    rule(word, "ηστε", "ηστ", |rest| {
        is(rest, "ασβ σβ αχρ χρ απλ αειμν δυσχρ ευχρ κοινοχρ παλιμψ")
    });
}

fn futures(word: &mut Vec<char>) {
    rule(word, "ησουνε ηθουνε ουνε", "ουν", |rest| {
        is(rest, "ν ρ σπι στραβομουτσ κακομουτσ εξων")
    });
    rule(word, "ησουμε ηθουμε ουμε", "ουμ", |rest| {
        is(rest, "παρασουσ φ χ ωριοπλ αζ αλλοσουσ ασουσ")
    });
    let len = word.len();
    let _ = (len > 5 && cut(word, "ματων ματοσ", 3)) || (len > 4 && cut(word, "ματα", 2));
}

/// What no rule took.
fn long_list(word: &mut Vec<char>) {
    let endings = "ιοντουσαν ιομασταν ιοσασταν ιουμαστε οντουσαν ιεμαστε ιεσαστε ιομουνα ιοσαστε ιοσουνα ιουνται ιουνταν \
        ηθηκατε ομασταν οσασταν ουμαστε ιομουν ιονταν ιοσουν ηθειτε ηθηκαν ομουνα οσαστε οσουνα ουνται ουνταν ουσατε \
        αγατε ιεμαι ιεται ιεσαι ιοταν ιουμα ηθεισ ηθουν ηκατε ησατε ησουν ομουν ονται ονταν οσουν ουμαι ουσαν αγαν \
        αμαι ασαι αται ειτε εσαι εται ηδεσ ηδων ηθει ηκαν ησαν ησει ησεσ ομαι οταν αει εισ ηθω ησω ουν ουσ αν ασ αω ει \
        εσ ησ οι οσ ου υσ ων α ε η ι ο υ ω";
    off(word, endings);
}

#[cfg(test)]
mod tests {
    #[test]
    fn short_words_and_bare_endings_do_no_harm() {
        for (word, stem) in [("και", "και"), ("ουντανε", ""), ("εστερ", ""), ("ανθρωπων", "ανθρωπ")]
        {
            let mut letters: Vec<char> = word.chars().collect();
            super::stem(&mut letters);
            assert_eq!(letters.into_iter().collect::<String>(), stem, "{word}");
        }
    }
}
