//! Letters that a language, or a script, writes in several ways become one.

use super::Term;
use super::gap::Gap;
use super::indic::INDIC;

/// A language's normalization, as Lucene has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Normalization {
    /// Hamza forms, final ya, marbuta; tatweel and vowels go.
    Arabic,
    /// Bengali letters that sound alike.
    Bengali,
    /// `ae oe ue ß` and umlauts.
    German,
    /// Hindi letters and signs that vary.
    Hindi,
    /// Letters written with a nukta, in the scripts of India.
    Indic,
    /// Arabic letters where Persian has others.
    Persian,
    /// `å ä ø` and kin, without losing them.
    Scandinavian,
    /// … and losing them.
    ScandinavianFolding,
    /// Cyrillic to Latin, without marks.
    Serbian,
    /// Sorani (Central Kurdish).
    Sorani,
}

impl Normalization {
    pub(super) fn apply(self, term: &mut Term<'_>) {
        if term.as_str().is_ascii()
            && !matches!(self, Self::German | Self::Scandinavian | Self::ScandinavianFolding)
        {
            return;
        }
        term.rewrite(|text| {
            self.change(text);
        });
    }

    /// Changes a text; answers how many characters were moved to close gaps.
    fn change(self, text: &mut Vec<char>) -> usize {
        match self {
            Self::Arabic => arabic(text),
            Self::German => german(text),
            Self::Persian => persian(text),
            Self::Serbian => serbian(text),
            Self::Bengali => return Gap::edit(text, bengali),
            Self::Hindi => return Gap::edit(text, hindi),
            Self::Indic => return Gap::edit(text, indic),
            Self::Scandinavian => return Gap::edit(text, |text| scandinavian(text, false)),
            Self::ScandinavianFolding => return Gap::edit(text, |text| scandinavian(text, true)),
            Self::Sorani => return Gap::edit(text, sorani),
        }
        0
    }
}

/// Zero of every script's digits that Java 21 knows.
const ZEROS: [u32; 64] = [
    0x660, 0x6F0, 0x7C0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6, 0xC66, 0xCE6, 0xD66, 0xDE6,
    0xE50, 0xED0, 0xF20, 0x1040, 0x1090, 0x17E0, 0x1810, 0x1946, 0x19D0, 0x1A80, 0x1A90, 0x1B50,
    0x1BB0, 0x1C40, 0x1C50, 0xA620, 0xA8D0, 0xA900, 0xA9D0, 0xA9F0, 0xAA50, 0xABF0, 0xFF10,
    0x104A0, 0x10D30, 0x11066, 0x110F0, 0x11136, 0x111D0, 0x112F0, 0x11450, 0x114D0, 0x11650,
    0x116C0, 0x11730, 0x118E0, 0x11950, 0x11C50, 0x11D50, 0x11DA0, 0x16A60, 0x16B50, 0x1D7CE,
    0x1D7D8, 0x1D7E2, 0x1D7EC, 0x1D7F6, 0x1E140, 0x1E2F0, 0x1E950, 0x1FBF0,
];

pub(super) fn decimal_digit(term: &mut Term<'_>) {
    if term.as_str().is_ascii() {
        return;
    }
    term.rewrite(|text| {
        for c in text {
            let code = *c as u32;
            let zero =
                ZEROS.partition_point(|zero| *zero <= code).checked_sub(1).map(|at| ZEROS[at]);
            if let Some(digit) = zero.map(|zero| code - zero).filter(|digit| *digit < 10) {
                *c = char::from(b'0' + digit as u8);
            }
        }
    });
}

/// Full forms of U+FF65 to U+FF9F.
const KANA: &str = "・ヲァィゥェォャュョッーアイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワン\u{3099}\u{309a}";

pub(super) fn cjk_width(term: &mut Term<'_>) {
    if term.as_str().is_ascii() {
        return;
    }
    term.rewrite(|text| {
        let mut out: Vec<char> = Vec::with_capacity(text.len());
        for c in text.iter().copied() {
            match c {
                '\u{ff01}'..='\u{ff5e}' => {
                    out.extend(char::from_u32(c as u32 - 0xfee0));
                }
                '\u{ff65}'..='\u{ff9f}' => {
                    let voiced = match (c, out.last()) {
                        ('\u{ff9e}', Some(last)) => dakuten(*last),
                        ('\u{ff9f}', Some('ハ' | 'ヒ' | 'フ' | 'ヘ' | 'ホ')) => {
                            out.last().and_then(|last| char::from_u32(*last as u32 + 2))
                        }
                        _ => None,
                    };
                    match voiced {
                        Some(voiced) => {
                            out.pop();
                            out.push(voiced);
                        }
                        None => out.extend(KANA.chars().nth(c as usize - 0xff65)),
                    }
                }
                c => out.push(c),
            }
        }
        *text = out;
    });
}

/// The voiced form of a Katakana letter.
fn dakuten(c: char) -> Option<char> {
    let by = match c {
        'カ' | 'キ' | 'ク' | 'ケ' | 'コ' | 'サ' | 'シ' | 'ス' | 'セ' | 'ソ' | 'タ' | 'チ'
        | 'ツ' | 'テ' | 'ト' | 'ハ' | 'ヒ' | 'フ' | 'ヘ' | 'ホ' => 1,
        'ウ' => return Some('ヴ'),
        'ワ' => return Some('ヷ'),
        'ヲ' => return Some('ヺ'),
        _ => return None,
    };
    char::from_u32(c as u32 + by)
}

fn arabic(text: &mut Vec<char>) {
    text.retain(|c| !matches!(c, '\u{640}' | '\u{64b}'..='\u{652}'));
    for c in text {
        *c = match *c {
            '\u{622}' | '\u{623}' | '\u{625}' => '\u{627}',
            '\u{649}' => '\u{64a}',
            '\u{629}' => '\u{647}',
            c => c,
        };
    }
}

fn persian(text: &mut Vec<char>) {
    text.retain(|c| *c != '\u{654}');
    for c in text {
        *c = match *c {
            '\u{6cc}' | '\u{6d2}' => '\u{64a}',
            '\u{6a9}' => '\u{643}',
            '\u{6c0}' | '\u{6c1}' => '\u{647}',
            c => c,
        };
    }
}

fn german(text: &mut Vec<char>) {
    // After a vowel, or `q`, a pair such as `ue` is no umlaut.
    #[derive(PartialEq)]
    enum State {
        None,
        Vowel,
        Umlaut,
    }
    let mut state = State::None;
    let mut out = Vec::with_capacity(text.len());
    for c in text.iter().copied() {
        match c {
            'a' | 'o' => {
                state = State::Umlaut;
                out.push(c);
            }
            'u' => {
                state = if state == State::None { State::Umlaut } else { State::Vowel };
                out.push(c);
            }
            'e' => {
                if state != State::Umlaut {
                    out.push(c);
                }
                state = State::Vowel;
            }
            'i' | 'q' | 'y' => {
                state = State::Vowel;
                out.push(c);
            }
            'ä' | 'ö' | 'ü' => {
                state = State::Vowel;
                out.push(match c {
                    'ä' => 'a',
                    'ö' => 'o',
                    _ => 'u',
                });
            }
            'ß' => {
                state = State::None;
                out.extend(['s', 's']);
            }
            c => {
                state = State::None;
                out.push(c);
            }
        }
    }
    *text = out;
}

fn bengali(text: &mut Gap) {
    const JOINER: char = '\u{9cd}';
    let mut i = 0;
    while i < text.len() {
        let joined = i >= 1 && text[i - 1] == JOINER;
        match text[i] {
            '\u{981}' => {
                text.remove(i);
                continue;
            }
            '\u{9c0}' => text[i] = '\u{9bf}',
            '\u{9c2}' => text[i] = '\u{9c1}',
            // KA, joined, with a vowel sign: KHA.
            '\u{995}' if text.get(i + 1) == Some(JOINER) && text.get(i + 2) == Some('\u{9bf}') => {
                if i == 0 {
                    text[0] = '\u{996}';
                    text.drain(1..3);
                } else {
                    text[i + 1] = '\u{996}';
                    text.remove(i + 2);
                }
            }
            '\u{999}' => text[i] = '\u{982}',
            // YA below the second letter becomes a vowel sign, below others it goes.
            '\u{9af}' if joined && i == 2 => {
                text[1] = '\u{9c7}';
                let with_aa = text.get(3) == Some('\u{9be}');
                text.drain(2..if with_aa { 4 } else { 3 });
                continue;
            }
            '\u{9af}' if joined => {
                text.drain(i - 1..i + 1);
                i -= 1;
                continue;
            }
            // BA below a letter goes, or doubles that letter.
            '\u{9ac}' if joined && (i == 2 || (i >= 5 && text[i - 3] == JOINER)) => {
                text.drain(i - 1..i + 1);
                i -= 1;
                continue;
            }
            '\u{9ac}' if joined && i >= 2 => {
                text[i - 1] = text[i - 2];
                text.remove(i);
                continue;
            }
            '\u{983}' if i + 1 < text.len() => text[i] = text[i + 1],
            '\u{983}' if text.len() <= 3 => text[i] = '\u{9b9}',
            '\u{983}' => {
                text.remove(i);
                continue;
            }
            '\u{9a3}' => text[i] = '\u{9a8}',
            '\u{9b6}' | '\u{9b7}' => text[i] = '\u{9b8}',
            '\u{9dc}' | '\u{9dd}' => text[i] = '\u{9b0}',
            '\u{9ce}' => text[i] = '\u{9a4}',
            _ => {}
        }
        i += 1;
    }
}

fn hindi(text: &mut Gap) {
    let mut i = 0;
    while i < text.len() {
        match text[i] {
            '\u{928}' if text.get(i + 1) == Some('\u{94d}') => {
                text[i] = '\u{902}';
                text.remove(i + 1);
            }
            '\u{901}' => text[i] = '\u{902}',
            '\u{93c}' | '\u{200d}' | '\u{200c}' | '\u{94d}' => {
                text.remove(i);
                continue;
            }
            '\u{929}' => text[i] = '\u{928}',
            '\u{931}' => text[i] = '\u{930}',
            '\u{934}' => text[i] = '\u{933}',
            '\u{958}' => text[i] = '\u{915}',
            '\u{959}' => text[i] = '\u{916}',
            '\u{95a}' => text[i] = '\u{917}',
            '\u{95b}' => text[i] = '\u{91c}',
            '\u{95c}' => text[i] = '\u{921}',
            '\u{95d}' => text[i] = '\u{922}',
            '\u{95e}' => text[i] = '\u{92b}',
            '\u{95f}' => text[i] = '\u{92f}',
            '\u{90d}' | '\u{90e}' => text[i] = '\u{90f}',
            '\u{945}' | '\u{946}' => text[i] = '\u{947}',
            '\u{911}' | '\u{912}' => text[i] = '\u{913}',
            '\u{949}' | '\u{94a}' => text[i] = '\u{94b}',
            '\u{972}' => text[i] = '\u{905}',
            '\u{906}' => text[i] = '\u{905}',
            '\u{908}' => text[i] = '\u{907}',
            '\u{90a}' => text[i] = '\u{909}',
            '\u{960}' => text[i] = '\u{90b}',
            '\u{961}' => text[i] = '\u{90c}',
            '\u{910}' => text[i] = '\u{90f}',
            '\u{914}' => text[i] = '\u{913}',
            '\u{940}' => text[i] = '\u{93f}',
            '\u{942}' => text[i] = '\u{941}',
            '\u{944}' => text[i] = '\u{943}',
            '\u{963}' => text[i] = '\u{962}',
            '\u{948}' => text[i] = '\u{947}',
            '\u{94c}' => text[i] = '\u{94b}',
            _ => {}
        }
        i += 1;
    }
}

/// Scripts of India: first code point of the block, and their bit in the table.
const SCRIPTS: [(u32, u32); 9] = [
    (0x900, 1),
    (0x980, 2),
    (0xA00, 4),
    (0xA80, 8),
    (0xB00, 16),
    (0xB80, 32),
    (0xC00, 64),
    (0xC80, 128),
    (0xD00, 256),
];

fn indic(text: &mut Gap) {
    let script = |c: char| {
        let code = c as u32;
        SCRIPTS.iter().find(|(first, _)| (*first..first + 0x80).contains(&code)).copied()
    };
    let mut i = 0;
    while i < text.len() {
        if let Some((base, flag)) = script(text[i]) {
            let within = |at: usize| {
                let c = text.get(at)?;
                if c == '\u{200d}' {
                    return Some(0xff);
                }
                (c as u32).checked_sub(base).filter(|offset| *offset < 0x80)
            };
            let first = text[i] as u32 - base;
            let (second, third) = (within(i + 1), within(i + 2));
            for (one, two, three, to, flags) in INDIC {
                if *one != first || flags & flag == 0 || Some(*two) != second {
                    continue;
                }
                let has_three = *three != 0xffff;
                if has_three && Some(*three) != third {
                    continue;
                }
                text[i] = char::from_u32(base + to).unwrap_or(text[i]);
                text.drain(i + 1..i + if has_three { 3 } else { 2 });
                break;
            }
        }
        i += 1;
    }
}

fn scandinavian(text: &mut Gap, folds: bool) {
    let mut i = 0;
    while i < text.len() {
        let c = text[i];
        let next = text.get(i + 1);
        let (to, pair) = match (c, next) {
            ('ä' | 'æ', _) => ('æ', false),
            ('Ä' | 'Æ', _) => ('Æ', false),
            ('ö' | 'ø', _) => ('ø', false),
            ('Ö' | 'Ø', _) => ('Ø', false),
            ('å', _) => ('å', false),
            ('Å', _) => ('Å', false),
            ('a', Some('a' | 'A')) => ('å', true),
            ('A', Some('a' | 'A')) => ('Å', true),
            ('a', Some('e' | 'E')) => ('æ', true),
            ('A', Some('e' | 'E')) => ('Æ', true),
            ('o', Some('e' | 'E' | 'o' | 'O')) => ('ø', true),
            ('O', Some('e' | 'E' | 'o' | 'O')) => ('Ø', true),
            ('a', Some('o' | 'O')) if folds => ('å', true),
            ('A', Some('o' | 'O')) if folds => ('Å', true),
            ('a', Some('o' | 'O')) => ('å', true),
            ('A', Some('o' | 'O')) => ('Å', true),
            (c, _) => (c, false),
        };
        text[i] = match to {
            'æ' | 'å' if folds => 'a',
            'Æ' | 'Å' if folds => 'A',
            'ø' if folds => 'o',
            'Ø' if folds => 'O',
            to => to,
        };
        if pair {
            text.remove(i + 1);
        }
        i += 1;
    }
}

fn serbian(text: &mut Vec<char>) {
    let mut out = Vec::with_capacity(text.len());
    for c in text.iter().copied() {
        match c {
            'а'..='ш' | 'ђ' | 'ј' | 'љ' | 'њ' | 'ћ' | 'џ' => out.extend(latin(c).chars()),
            'đ' => out.extend(['d', 'j']),
            'č' | 'ć' => out.push('c'),
            'š' => out.push('s'),
            'ž' => out.push('z'),
            c => out.push(c),
        }
    }
    *text = out;
}

fn latin(c: char) -> &'static str {
    match c {
        'а' => "a",
        'б' => "b",
        'в' => "v",
        'г' => "g",
        'д' => "d",
        'ђ' => "dj",
        'е' => "e",
        'ж' => "z",
        'з' => "z",
        'и' => "i",
        'ј' => "j",
        'к' => "k",
        'л' => "l",
        'љ' => "lj",
        'м' => "m",
        'н' => "n",
        'њ' => "nj",
        'о' => "o",
        'п' => "p",
        'р' => "r",
        'с' => "s",
        'т' => "t",
        'ћ' => "c",
        'у' => "u",
        'ф' => "f",
        'х' => "h",
        'ц' => "c",
        'ч' => "c",
        'џ' => "dz",
        'ш' => "s",
        'й' => "й",
        _ => "",
    }
}

fn sorani(text: &mut Gap) {
    let mut i = 0;
    while i < text.len() {
        match text[i] {
            '\u{64a}' | '\u{649}' => text[i] = '\u{6cc}',
            '\u{643}' => text[i] = '\u{6a9}',
            '\u{200c}' => {
                if i > 0 && text[i - 1] == '\u{647}' {
                    text[i - 1] = '\u{6d5}';
                }
                text.remove(i);
                continue;
            }
            '\u{647}' if i + 1 == text.len() => text[i] = '\u{6d5}',
            '\u{629}' => text[i] = '\u{6d5}',
            '\u{6be}' => text[i] = '\u{647}',
            '\u{692}' => text[i] = '\u{695}',
            '\u{631}' if i == 0 => text[i] = '\u{695}',
            '\u{640}' | '\u{64b}'..='\u{652}' => {
                text.remove(i);
                continue;
            }
            c if c.is_control() || matches!(c, '\u{200d}'..='\u{200f}' | '\u{ad}') => {
                text.remove(i);
                continue;
            }
            _ => {}
        }
        i += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each pair that becomes one letter moved all letters behind it: seconds for one long token.
    #[test]
    fn what_is_moved_grows_with_the_text_and_no_more() {
        use Normalization::{Bengali, Hindi, Indic, Scandinavian, ScandinavianFolding, Sorani};
        for (language, text, want) in [
            (Scandinavian, "aaoeb", "\u{e5}\u{f8}b"),
            (ScandinavianFolding, "aaoeb", "aob"),
            (Hindi, "\u{928}\u{94d}\u{93c}\u{915}", "\u{902}\u{915}"),
            (Indic, "\u{905}\u{93e}\u{915}", "\u{906}\u{915}"),
            (Bengali, "\u{995}\u{981}\u{9cd}\u{9af}", "\u{995}\u{9c7}"),
            (Sorani, "\u{628}\u{640}\u{64b}", "\u{628}"),
        ] {
            let mut one: Vec<char> = text.chars().collect();
            language.change(&mut one);
            assert_eq!(one.iter().collect::<String>(), want, "{language:?}");
            let mut many: Vec<char> = text.repeat(10_000).chars().collect();
            let len = many.len();
            let moved = language.change(&mut many);
            assert!(many.len() < len, "{language:?}");
            assert!(moved <= 2 * len, "{language:?}: {moved} of {len}");
        }
    }
}
