//! What scores are made of: counts over a shard, or over all for `dfs_query_then_fetch`, and BM25.

use super::document::{Block, Val};
use super::schema::Field;
use super::world::World;

/// Counts of one shard; `None` is all shards together.
#[derive(Clone, Copy)]
pub struct Statistics<'a> {
    /// Whose.
    pub world: &'a World,
    /// Which shard.
    pub shard: Option<usize>,
}

/// A value as a term, for counting.
pub fn term_text(value: &Val) -> String {
    match value {
        Val::Text(text) => text.clone(),
        other => format!("{other:?}"),
    }
}

/// The terms of a field in one document, with repeats where the field counts them.
pub fn terms_of(field: &Field, block: &Block) -> Vec<String> {
    if field.kind == "text" {
        let tokens = block.tokens(&field.name).iter();
        let mut terms: Vec<String> = tokens.map(|(word, _)| word.clone()).collect();
        if field.text("index_options") == Some("docs") {
            terms.sort();
            terms.dedup();
        }
        return terms;
    }
    let mut terms: Vec<String> = block.values(&field.name).iter().map(term_text).collect();
    terms.dedup();
    terms
}

impl Statistics<'_> {
    fn sum(&self, field: &str, term: &str, of: impl Fn(&Block) -> f64) -> f64 {
        let shards: Vec<usize> = match self.shard {
            Some(one) => vec![one],
            None => (0..self.world.shards.len()).collect(),
        };
        let one = |shard: usize| {
            self.world.once(shard, field, term, || {
                let all = self.world.shards[shard].iter().flat_map(Block::all);
                all.map(&of).sum()
            })
        };
        shards.into_iter().map(one).sum()
    }

    /// Documents, nested ones too, that have the field.
    fn with_field(&self, field: &Field) -> f64 {
        self.sum(&field.name, "\u{0}docs", |block| {
            f64::from(u8::from(!terms_of(field, block).is_empty()))
        })
    }

    fn idf(&self, field: &Field, term: &str) -> f32 {
        let all = self.with_field(field);
        let with = self.sum(&field.name, term, |block| {
            f64::from(u8::from(terms_of(field, block).iter().any(|other| other == term)))
        });
        (1.0 + (all - with + 0.5) / (with + 0.5)).ln() as f32
    }

    fn average(&self, field: &Field) -> f32 {
        let all = self.sum(&field.name, "\u{0}terms", |block| terms_of(field, block).len() as f64);
        (all / self.with_field(field)) as f32
    }

    /// The score of terms that together occur `freq` times in a document.
    pub fn score(
        &self,
        field: &Field,
        block: &Block,
        terms: &[String],
        freq: f64,
        boost: f64,
    ) -> f64 {
        if field.text("similarity") == Some("boolean") {
            return boost;
        }
        let length = match field.kind == "text" && field.flag("norms", true) {
            true => kept(terms_of(field, block).len()),
            false => 1.0,
        };
        let idf: f32 =
            terms.iter().map(|term| f64::from(self.idf(field, term))).sum::<f64>() as f32;
        let docs_only = field.kind != "text" || field.text("index_options") == Some("docs");
        let freq = if docs_only { 1.0 } else { freq as f32 };
        let weight = boost as f32 * 2.2 * idf;
        let norm = 1.0 / (1.2 * (0.25 + 0.75 * length / self.average(field)));
        f64::from(weight - weight / (1.0 + freq * norm))
    }
}

/// The length that is kept of a length: four significant bits above 40.
fn kept(length: usize) -> f32 {
    if length <= 40 {
        return length as f32;
    }
    let rest = length - 24;
    let shift = rest.ilog2() - 3;
    (24 + ((rest >> shift) << shift)) as f32
}
