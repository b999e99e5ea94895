//! `mapping`: strings replaced by others; of those that begin at one place, the longest.

use std::ops::ControlFlow;

use base::hash::Map;

use super::{Filtered, Writing};
use crate::analysis::effort::TOKEN;
use crate::analysis::room::Room;

/// What becomes what.
#[derive(Clone, Debug, Default)]
pub struct Mappings {
    pairs: Map<String, String>,
    /// Bytes of the longest string to replace.
    longest: usize,
    /// Which bytes such strings begin with.
    first: Vec<bool>,
}

impl Mappings {
    /// Reads rules such as `ph => f`; a wrong rule is returned.
    ///
    /// # Errors
    /// What is wrong with a rule.
    pub fn parse(rules: &[String]) -> Result<Self, String> {
        let mut made = Self { first: vec![false; 256], ..Self::default() };
        for rule in rules {
            let Some((from, to)) = rule.rsplit_once("=>") else {
                return Err(format!("Invalid Mapping Rule : [{rule}]"));
            };
            let (from, to) = (unescape(from.trim())?, unescape(to.trim())?);
            if from.is_empty() {
                return Err(format!("Invalid Mapping Rule : [{rule}]. Illegal mapping."));
            }
            made.longest = made.longest.max(from.len());
            made.first[usize::from(from.as_bytes()[0])] = true;
            if made.pairs.insert(from.clone(), to).is_some() {
                return Err(format!("match \"{from}\" was already added"));
            }
        }
        Ok(made)
    }

    pub(super) fn apply(&self, text: &str, room: &Room) -> ControlFlow<(), Filtered> {
        let mut out = Writing::new(room);
        let (mut at, mut kept) = (0, 0);
        while at < text.len() {
            let may_begin = self.first[usize::from(text.as_bytes()[at])];
            if may_begin {
                // Each length is tried, and hashed.
                let longest = self.longest.min(text.len() - at) as u64;
                room.spend(longest.saturating_mul(TOKEN + longest / 2))?;
            }
            let found = may_begin.then(|| self.longest_at(text, at)).flatten();
            let Some((end, with)) = found else {
                at += text[at..].chars().next().map_or(1, char::len_utf8);
                continue;
            };
            out.keep(&text[kept..at])?;
            out.replace(&text[at..end], with)?;
            at = end;
            kept = end;
        }
        out.keep(&text[kept..])?;
        ControlFlow::Continue(out.done)
    }

    /// Bytes that it makes of one, about.
    pub(super) fn expansion(&self) -> u32 {
        let most = self.pairs.iter().map(|(from, to)| to.len() / from.len().max(1)).max();
        crate::analysis::regex::replaced(most.unwrap_or(0))
    }

    fn longest_at(&self, text: &str, at: usize) -> Option<(usize, &str)> {
        let ends = (at + 1..=text.len().min(at + self.longest)).rev();
        let mut found = ends.filter_map(|end| Some((end, text.get(at..end)?)));
        found.find_map(|(end, part)| Some((end, self.pairs.get(part)?.as_str())))
    }
}

/// `\u0020`, `\t` and kin.
fn unescape(text: &str) -> Result<String, String> {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        let wrong = || format!("Invalid escaped char in [{text}]");
        match chars.next().ok_or_else(wrong)? {
            '\\' => out.push('\\'),
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            'b' => out.push('\u{8}'),
            'f' => out.push('\u{c}'),
            'u' => {
                let code: String = chars.by_ref().take(4).collect();
                let unit = u16::from_str_radix(&code, 16).map_err(|_| wrong())?;
                let mut units = vec![unit];
                if (0xd800..0xdc00).contains(&unit) && chars.as_str().starts_with("\\u") {
                    let low: String = chars.by_ref().skip(2).take(4).collect();
                    units.push(u16::from_str_radix(&low, 16).map_err(|_| wrong())?);
                }
                out.push_str(&String::from_utf16_lossy(&units));
            }
            other => out.push(other),
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_lead_back() {
        let rules = ["ph => f", "qu => q", "x => yyy"].map(str::to_owned);
        let mappings = Mappings::parse(&rules).expect("rules");
        let done = mappings.apply("jeff quit phish x!", &Room::default());
        let ControlFlow::Continue(done) = done else { panic!("there is room") };
        assert_eq!(done.text, "jeff qit fish yyy!");
        let back = |at| done.offsets.correct(at);
        assert_eq!([back(0), back(5), back(6), back(8), back(9), back(13)], [0, 5, 7, 9, 10, 15]);
        assert_eq!([back(14), back(16), back(17), back(18)], [16, 16, 17, 18]);
        assert!(Mappings::parse(&["ab".to_owned()]).is_err());
    }
}
