//! English: the minimal stemmer (Harman's "S-stemmer").

/// Plurals alone.
pub(super) fn minimal(word: &mut Vec<char>) {
    let len = word.len();
    if len < 3 || word[len - 1] != 's' {
        return;
    }
    match word[len - 2] {
        'u' | 's' => {}
        'e' => {
            if len > 3 && word[len - 3] == 'i' && word[len - 4] != 'a' && word[len - 4] != 'e' {
                word[len - 3] = 'y';
                word.truncate(len - 2);
                return;
            }
            if matches!(word[len - 3], 'i' | 'a' | 'o' | 'e') {
                return;
            }
            word.truncate(len - 1);
        }
        _ => word.truncate(len - 1),
    }
}
