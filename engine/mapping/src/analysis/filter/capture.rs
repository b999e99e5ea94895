//! `pattern_capture`: what the groups of patterns catch in a token, beside it.

use super::multi::EachOne;
use crate::analysis::regex::Pattern;
use crate::analysis::stage::{Fold, Next, Stage};
use crate::analysis::token::Tok;

/// The filter.
#[derive(Debug)]
pub struct PatternCapture {
    /// The patterns.
    pub patterns: Vec<Pattern>,
    /// The token itself is given, too.
    pub preserve_original: bool,
}

impl Fold for PatternCapture {
    fn stage(&self) -> Box<dyn Stage + '_> {
        Box::new(EachOne(|token: &mut Tok, next: Next<'_>| {
            let mut caught: Vec<Vec<(usize, usize)>> = Vec::new();
            for pattern in &self.patterns {
                let mut spans = Vec::new();
                pattern.each(&token.term, |groups| {
                    spans.extend(groups[1..].iter().flatten().copied().filter(|(start, end)| {
                        let whole = *start == 0 && *end == token.term.len();
                        start < end && !(self.preserve_original && whole)
                    }));
                    true
                });
                spans.reverse();
                caught.push(spans);
            }
            let text = token.term.clone();
            let mut first = true;
            if self.preserve_original || caught.iter().all(Vec::is_empty) {
                next(&mut token.clone());
                first = false;
            }
            // The pattern whose next catch begins first, gives it.
            loop {
                let heads = caught.iter().enumerate();
                let heads = heads.filter_map(|(at, spans)| Some((spans.last()?.0, at)));
                let Some((_, at)) = heads.min() else { break };
                let Some((start, end)) = caught[at].pop() else { break };
                let mut made = Tok { term: text[start..end].to_owned(), ..token.clone() };
                if !first {
                    made.inc = 0;
                }
                first = false;
                next(&mut made);
            }
        }))
    }
}
