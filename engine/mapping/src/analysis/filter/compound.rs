//! `dictionary_decompounder`: words of a list that stand inside a token, beside it.

use super::StopWords;
use super::multi::EachOne;
use crate::analysis::effort::TOKEN;
use crate::analysis::room::{ON, Room};
use crate::analysis::stage::{Fold, Next, Stage};
use crate::analysis::token::Tok;

/// The filter. Lengths are in characters.
#[derive(Debug)]
pub struct Decompounder {
    /// The words.
    pub words: StopWords,
    /// Shorter tokens are left alone.
    pub word_min: usize,
    /// Shortest word looked for.
    pub part_min: usize,
    /// Longest word looked for.
    pub part_max: usize,
    /// Of the words that begin at one place only the longest is given.
    pub longest: bool,
}

impl Fold for Decompounder {
    fn expansion(&self) -> u32 {
        // Each length is looked for at each place.
        let sizes = self.part_max.saturating_sub(self.part_min).saturating_add(2);
        u32::try_from(sizes).unwrap_or(u32::MAX)
    }

    fn stage<'s>(&'s self, room: &'s Room) -> Box<dyn Stage + 's> {
        Box::new(EachOne(|token: &mut Tok, next: Next<'_>| {
            next(&mut token.clone())?;
            let _held = room.hold_for(token.term.len(), size_of::<usize>())?;
            let mut bounds: Vec<usize> = token.term.char_indices().map(|(at, _)| at).collect();
            bounds.push(token.term.len());
            let len = bounds.len() - 1;
            if len < self.word_min {
                return ON;
            }
            // Each length is looked for at each place.
            let sizes =
                self.part_max.min(len).saturating_sub(self.part_min).saturating_add(1) as u64;
            let each = TOKEN.saturating_add(sizes).saturating_mul(sizes);
            room.spend(each.saturating_mul(len as u64))?;
            for start in 0..=len.saturating_sub(self.part_min) {
                let mut longest = None;
                for size in self.part_min..=self.part_max.min(len - start) {
                    let part = &token.term[bounds[start]..bounds[start + size]];
                    if !self.words.contains(part) {
                        continue;
                    }
                    if self.longest {
                        longest = Some(part);
                    } else {
                        next(&mut token.beside(part.to_owned()))?;
                    }
                }
                if let Some(part) = longest {
                    next(&mut token.beside(part.to_owned()))?;
                }
            }
            ON
        }))
    }
}
