//! `pattern_capture`: what the groups of patterns catch in a token, beside it.

use super::multi::EachOne;
use crate::analysis::regex::{Counted, PATTERN, Pattern};
use crate::analysis::room::{ON, Room};
use crate::analysis::stage::{Fold, Next, Stage};
use crate::analysis::token::Tok;

/// Bytes of what a group caught.
const SPAN_BYTES: usize = size_of::<(usize, usize)>();

/// The filter.
#[derive(Debug)]
pub struct PatternCapture {
    /// The patterns.
    pub patterns: Vec<Pattern>,
    /// The token itself is given, too.
    pub preserve_original: bool,
}

impl Fold for PatternCapture {
    fn expansion(&self) -> u32 {
        u32::try_from(self.patterns.len()).unwrap_or(u32::MAX).saturating_add(1)
    }

    fn stage<'s>(&'s self, room: &'s Room) -> Box<dyn Stage + 's> {
        Box::new(EachOne(|token: &mut Tok, next: Next<'_>| {
            let mut caught: Vec<Vec<(usize, usize)>> = Vec::new();
            let mut held = room.hold(token.term.len())?;
            for pattern in &self.patterns {
                room.spend(PATTERN.of(token.term.len()))?;
                let mut spans = Vec::new();
                let mut flow = ON;
                pattern.each_within(&token.term, &Counted, |groups| {
                    flow = held.grow(SPAN_BYTES * groups.len());
                    spans.extend(groups[1..].iter().flatten().copied().filter(|(start, end)| {
                        let whole = *start == 0 && *end == token.term.len();
                        start < end && !(self.preserve_original && whole)
                    }));
                    flow.is_continue()
                });
                flow?;
                room.spend(spans.len() as u64)?;
                spans.reverse();
                caught.push(spans);
            }
            let mut inc = token.inc;
            if self.preserve_original || caught.iter().all(Vec::is_empty) {
                next(&mut token.clone())?;
                inc = 0;
            }
            // The pattern whose next catch begins first, gives it.
            loop {
                room.spend(caught.len() as u64)?;
                let heads = caught.iter().enumerate();
                let heads = heads.filter_map(|(at, spans)| Some((spans.last()?.0, at)));
                let Some((_, at)) = heads.min() else { break };
                let Some((start, end)) = caught[at].pop() else { break };
                // No copy of the whole for each: one long token is caught a hundred thousand times.
                let made = token.beside(token.term[start..end].to_owned());
                next(&mut Tok { inc: std::mem::take(&mut inc), ..made })?;
            }
            ON
        }))
    }
}
