//! Text meets a field: its words become terms, joined or in order.
//!
//! One reading of the words ([`boolean`], [`phrase_of`]) serves queries on one field, on fields whose
//! words are blended and on fields that count as one: a [`Maker`] says what a word becomes.

use std::sync::Arc;

use mapping::analysis::Analyzer;
use mapping::types::shingle;
use mapping::{Field, IndexOptions, Kind as Type, Text, TextFlavor};

use crate::ast::{self, FuzzyOptions, Operator, ZeroTerms};
use crate::error::{Error, Kind, Result};
use crate::plan::bind::Binder;
use crate::plan::bound::{Access, Bool, Clause, Node, Phrase, Term};
use crate::plan::expand::{MultiPhrase, Synonym};
use crate::plan::graph::{self, Stretch, Word};
use crate::plan::places::{Leaf, Source};
use crate::plan::{leaf, minimum, places, rewrite, words};

/// Longest phrase, in words: positions of all of them are held at once.
const PHRASE_TERMS_MAX: usize = 1024;

/// What words become.
pub trait Maker {
    /// One word.
    fn term(&mut self, binder: &mut Binder<'_>, word: &str) -> Result<Clause>;
    /// Words that count as one.
    fn synonyms(&mut self, binder: &mut Binder<'_>, words: &[&str]) -> Result<Clause>;
    /// Words that begin so.
    fn prefix(&mut self, binder: &mut Binder<'_>, word: &str) -> Result<Clause>;
    /// Words in order, several for some places.
    fn phrase(&mut self, binder: &mut Binder<'_>, phrase: Places) -> Result<Clause>;
}

/// Words in order.
#[derive(Clone, Debug)]
pub struct Places {
    /// Words of each place, the first at 0.
    pub places: Vec<(Vec<String>, u32)>,
    /// How far they may stand from their places.
    pub slop: u32,
    /// The last place's words may go on; at most so many.
    pub prefix: Option<u32>,
}

/// How words are joined.
#[derive(Clone, Copy, Debug)]
pub struct Joined {
    /// By which operator.
    pub operator: Operator,
    /// The last word may go on.
    pub prefix: bool,
    /// Synonyms of several words are phrases.
    pub synonym_phrases: bool,
}

/// Words joined by an operator; `None` where there is no word.
pub fn boolean(
    maker: &mut dyn Maker,
    binder: &mut Binder<'_>,
    words: &[Word],
    joined: Joined,
) -> Result<Option<Clause>> {
    let line = graph::stretches(words)?;
    binder.count(line.len().saturating_sub(1))?;
    let mut clauses = Vec::with_capacity(line.len());
    let last = line.len().saturating_sub(1);
    for (at, (_, stretch)) in line.into_iter().enumerate() {
        let prefix = joined.prefix && at == last;
        clauses.push(match stretch {
            // Words for one another are whole, the last too.
            Stretch::Words(words) => match words.as_slice() {
                [word] if prefix => maker.prefix(binder, &word.term)?,
                [word] => maker.term(binder, &word.term)?,
                words => {
                    let words: Vec<&str> = words.iter().map(|word| word.term.as_str()).collect();
                    maker.synonyms(binder, &words)?
                }
            },
            Stretch::Paths(paths) => {
                let mut some = Vec::with_capacity(paths.len());
                for path in paths {
                    some.push(side_path(maker, binder, &path, joined)?);
                }
                one_of(some)
            }
        });
    }
    Ok(match clauses.len() {
        0 => None,
        1 => clauses.pop(),
        _ => {
            let all = match joined.operator {
                Operator::And => Bool { must: clauses, ..Bool::default() },
                Operator::Or => Bool { should: clauses, ..Bool::default() },
            };
            Some(Node::Bool(all).into())
        }
    })
}

/// One way through synonyms of several words.
fn side_path(
    maker: &mut dyn Maker,
    binder: &mut Binder<'_>,
    path: &[&Word],
    joined: Joined,
) -> Result<Clause> {
    if let [word] = path {
        return maker.term(binder, &word.term);
    }
    if joined.synonym_phrases {
        let places = path.iter().zip(0..).map(|(word, at)| (vec![word.term.clone()], at));
        let phrase = Places { places: places.collect(), slop: 0, prefix: None };
        return maker.phrase(binder, phrase);
    }
    let mut all = Vec::with_capacity(path.len());
    for word in path {
        all.push(maker.term(binder, &word.term)?);
    }
    Ok(rewrite::simplify(Bool { must: all, ..Bool::default() }, 1.0))
}

fn one_of(mut some: Vec<Clause>) -> Clause {
    if some.len() == 1 {
        return some.remove(0);
    }
    rewrite::simplify(Bool { should: some, ..Bool::default() }, 1.0)
}

/// Words in order; `None` where there is no word.
pub fn phrase_of(
    maker: &mut dyn Maker,
    binder: &mut Binder<'_>,
    words: &[Word],
    slop: u32,
    prefix: Option<u32>,
) -> Result<Option<Clause>> {
    if words.is_empty() {
        return Ok(None);
    }
    if words.len() > PHRASE_TERMS_MAX {
        return Err(Error::new(
            Kind::TooManyClauses,
            format!("maxClauseCount is set to {PHRASE_TERMS_MAX}"),
        ));
    }
    if graph::is_graph(words) {
        let mut some = Vec::new();
        for path in graph::paths(words)? {
            let places = path.iter().zip(0..).map(|(word, at)| (vec![word.term.clone()], at));
            some.push(in_order(maker, binder, places.collect(), slop, prefix)?);
        }
        return Ok(Some(one_of(some)));
    }
    let first = words[0].position;
    let mut places: Vec<(Vec<String>, u32)> = Vec::new();
    for word in words {
        let at = word.position - first;
        match places.last_mut() {
            Some((terms, last)) if *last == at => terms.push(word.term.clone()),
            _ => places.push((vec![word.term.clone()], at)),
        }
    }
    in_order(maker, binder, places, slop, prefix).map(Some)
}

fn in_order(
    maker: &mut dyn Maker,
    binder: &mut Binder<'_>,
    mut places: Vec<(Vec<String>, u32)>,
    slop: u32,
    prefix: Option<u32>,
) -> Result<Clause> {
    if let ([(words, _)], None) = (places.as_mut_slice(), prefix) {
        return match words.as_slice() {
            [word] => maker.term(binder, word),
            words => {
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                maker.synonyms(binder, &words)
            }
        };
    }
    maker.phrase(binder, Places { places, slop, prefix })
}

/// Words of one field.
pub struct OneField<'a> {
    /// The field.
    pub field: &'a Arc<Field>,
    /// Words near those asked for match too.
    pub fuzzy: &'a FuzzyOptions,
    /// What goes wrong with a word matches nothing.
    pub lenient: bool,
}

impl OneField<'_> {
    fn or_none(&self, result: Result<Clause>) -> Result<Clause> {
        match result {
            Err(_) if self.lenient => Ok(Clause::none()),
            result => result,
        }
    }
}

impl Maker for OneField<'_> {
    fn term(&mut self, binder: &mut Binder<'_>, word: &str) -> Result<Clause> {
        let made = match self.fuzzy.fuzziness {
            Some(fuzziness) => words::fuzzy(binder, self.field, word, fuzziness, self.fuzzy),
            None => leaf::word(binder, self.field, word).map(Clause::new),
        };
        self.or_none(made)
    }

    fn synonyms(&mut self, binder: &mut Binder<'_>, words: &[&str]) -> Result<Clause> {
        let Type::Text(text) = &self.field.kind else {
            let some = words.iter().map(|word| leaf::word(binder, self.field, word));
            let some = some.map(|node| self.or_none(node.map(Clause::new)));
            return Ok(one_of(some.collect::<Result<Vec<_>>>()?));
        };
        let checked = leaf::check_indexed(self.field).map(|()| {
            let mut terms: Vec<Box<[u8]>> =
                words.iter().map(|word| word.as_bytes().into()).collect();
            terms.sort_unstable();
            terms.dedup();
            if let [term] = terms.as_slice() {
                return term_of(self.field, text, term).into();
            }
            if is_constant(text) {
                let access = Access { index: true, column: false };
                let terms = terms.into();
                return Node::Terms { field: self.field.no, access, terms }.into();
            }
            Node::Synonym(Synonym { field: self.field.no, terms, norms: text.norms }).into()
        });
        self.or_none(checked)
    }

    fn prefix(&mut self, binder: &mut Binder<'_>, word: &str) -> Result<Clause> {
        let made = words::prefix_of(binder, self.field, word, false, None);
        self.or_none(made)
    }

    fn phrase(&mut self, binder: &mut Binder<'_>, phrase: Places) -> Result<Clause> {
        let made = match shingled(self.field, &phrase) {
            Some((part, phrase)) => {
                let begun = self.field.part("_index_prefix").map(Arc::as_ref);
                phrase_clause(part, begun, phrase)
            }
            None => phrase_clause(self.field, begun(binder, self.field).as_deref(), phrase),
        };
        self.or_none(made)
    }
}

/// Where the beginnings of a field's terms are terms of their own.
fn begun(binder: &Binder<'_>, field: &Arc<Field>) -> Option<Arc<Field>> {
    let Type::Text(text) = &field.kind else { return None };
    match text.flavor {
        TextFlavor::Shingles(_) => {
            let (whole, _) = field.path.rsplit_once('.')?;
            let part = binder.field(&format!("{whole}._index_prefix"))?;
            let is_of = |kind: &Type| matches!(kind, Type::Text(text) if matches!(text.flavor, TextFlavor::Prefixes(_)));
            is_of(&part.kind).then_some(part)
        }
        _ if text.index_prefixes.is_some() => field.part("_index_prefix").cloned(),
        _ => None,
    }
}

/// Words in order of a `search_as_you_type`, where none is missing: shingles in order of the part whose
/// are as long as there are words, or the longest.
fn shingled<'f>(field: &'f Arc<Field>, phrase: &Places) -> Option<(&'f Arc<Field>, Places)> {
    let Type::Text(text) = &field.kind else { return None };
    let TextFlavor::SearchAsYouType(longest) = text.flavor else { return None };
    let is_line = phrase.places.iter().zip(0..).all(|((_, at), place)| *at == place);
    if phrase.slop > 0 || phrase.places.len() < 2 || !is_line {
        return None;
    }
    let size = phrase.places.len().min(usize::from(longest));
    let part = field.part(&format!("_{size}gram"))?;
    let mut places = Vec::new();
    for (run, at) in phrase.places.windows(size).zip(0..) {
        let mut joined = vec![String::new()];
        for (words, _) in run {
            if joined.len() * words.len() > PHRASE_TERMS_MAX {
                return None;
            }
            let longer = |begun: &String| {
                let space = if begun.is_empty() { "" } else { " " };
                words.iter().map(|word| format!("{begun}{space}{word}")).collect::<Vec<_>>()
            };
            joined = joined.iter().flat_map(longer).collect();
        }
        places.push((joined, at));
    }
    Some((part, Places { places, ..phrase.clone() }))
}

/// Words in order in one field.
fn phrase_clause(field: &Arc<Field>, begun: Option<&Field>, mut phrase: Places) -> Result<Clause> {
    let no_text = |kind: &str| {
        let query = if phrase.prefix.is_some() { "phrase prefix" } else { "phrase" };
        Err(Error::illegal(format!(
            "Can only use {query} queries on text fields - not on [{}] which is of type [{kind}]",
            field.path,
        )))
    };
    let Type::Text(text) = &field.kind else { return no_text(field.type_name()) };
    if matches!(text.flavor, TextFlavor::Prefixes(_) | TextFlavor::Beginnings(..)) {
        return no_text("prefix");
    }
    leaf::check_indexed(field)?;
    check_positions(field, text)?;
    if let ([(words, _)], None) = (phrase.places.as_slice(), phrase.prefix) {
        // One shingle.
        let some = words.iter().map(|word| term_of(field, text, word.as_bytes()).into());
        return Ok(one_of(some.collect()));
    }
    if let Some(placed) = begun.and_then(|part| prefixed(field, part, text, &phrase)) {
        return Ok(placed);
    }
    if phrase.places.len() < 2 {
        // One place lies nowhere from the others.
        phrase.slop = 0;
    }
    let bytes = |word: String| -> Box<[u8]> { word.into_bytes().into() };
    let single = phrase.prefix.is_none() && phrase.places.iter().all(|(words, _)| words.len() == 1);
    if single {
        let terms: Vec<(Box<[u8]>, u32)> = phrase
            .places
            .into_iter()
            .flat_map(|(words, at)| words.into_iter().map(move |word| (bytes(word), at)))
            .collect();
        let slop = phrase.slop;
        if let Some(pairs) = pairs_of(field, text, &terms, slop) {
            return Ok(pairs.into());
        }
        let phrase = Node::Phrase(Phrase { field: field.no, terms, slop, norms: text.norms });
        return Ok(constant_if(is_constant(text), phrase).into());
    }
    let places = phrase.places.into_iter().map(|(words, at)| {
        let mut words: Vec<Box<[u8]>> = words.into_iter().map(bytes).collect();
        words.sort_unstable();
        words.dedup();
        (words, at)
    });
    let phrase = MultiPhrase {
        field: field.no,
        places: places.collect(),
        slop: phrase.slop,
        norms: text.norms,
        prefix: phrase.prefix,
    };
    Ok(constant_if(is_constant(text), Node::MultiPhrase(Arc::new(phrase))).into())
}

/// A phrase as pairs of words, where the field keeps such (`index_phrases`) and no word is missing.
fn pairs_of(field: &Field, text: &Text, terms: &[(Box<[u8]>, u32)], slop: u32) -> Option<Node> {
    let part = field.part("_index_phrase").filter(|_| text.index_phrases)?;
    let Type::Text(pairs) = &part.kind else { return None };
    let is_line = terms.windows(2).all(|pair| pair[0].1 + 1 == pair[1].1);
    if slop > 0 || terms.len() < 2 || !is_line {
        return None;
    }
    let joined: Vec<(Box<[u8]>, u32)> = terms
        .windows(2)
        .map(|pair| ([&*pair[0].0, b" ", &*pair[1].0].concat().into(), pair[0].1))
        .collect();
    Some(match joined.as_slice() {
        [(one, _)] => term_of(part, pairs, one),
        _ => {
            let phrase = Phrase { field: part.no, terms: joined, slop, norms: pairs.norms };
            constant_if(is_constant(text), Node::Phrase(phrase))
        }
    })
}

/// Does each match score 1, however often and in how long a text?
fn is_constant(text: &Text) -> bool {
    text.flavor == TextFlavor::MatchOnly || text.similarity.as_deref() == Some("boolean")
}

/// A node that matches, and perhaps does not score.
fn constant_if(constant: bool, node: Node) -> Node {
    if constant { Node::Constant(Box::new(node.into())) } else { node }
}

/// A phrase whose last word may go on, where the beginnings of words are terms of their own.
fn prefixed(field: &Field, part: &Field, text: &Text, phrase: &Places) -> Option<Clause> {
    let (least, most) = text.index_prefixes.unwrap_or((0, shingle::PREFIX_MAX as u32));
    phrase.prefix.filter(|_| phrase.slop == 0)?;
    let (last, before) = phrase.places.split_last()?;
    let fits =
        |word: &String| (least as usize..=most as usize).contains(&word.encode_utf16().count());
    let is_line = phrase.places.iter().zip(0..).all(|((_, at), place)| *at == place);
    if !is_line || !last.0.iter().all(fits) {
        return None;
    }
    let bytes = |word: &String| -> Box<[u8]> { word.as_bytes().into() };
    if before.is_empty() {
        let mut terms: Vec<Box<[u8]>> = last.0.iter().map(bytes).collect();
        terms.sort_unstable();
        terms.dedup();
        return Some(Node::Synonym(Synonym { field: part.no, terms, norms: false }).into());
    }
    let mut leaves = Vec::new();
    let mut sources = Vec::with_capacity(phrase.places.len());
    for (at, (words, _)) in phrase.places.iter().enumerate() {
        let no = if at == before.len() { part.no } else { field.no };
        let first = leaves.len();
        leaves.extend(words.iter().map(|word| Leaf::Term(no, bytes(word))));
        sources.push(match words.len() {
            1 => Source::Leaf(first),
            _ => Source::Or((first..leaves.len()).map(Source::Leaf).collect()),
        });
    }
    let source = Source::Near(sources, 0, true);
    let (silent, spans) = (Vec::new(), Some((field.no, text.norms)));
    Some(Node::Places(Arc::new(places::Places { leaves, source, silent, spans })).into())
}

/// How the words of one field are looked for.
#[derive(Clone, Debug)]
pub enum Form {
    /// Joined by an operator; the last may go on.
    Boolean(Joined),
    /// In order.
    Phrase(u32),
    /// In order; the last may be so many words.
    PhrasePrefix(u32, u32),
}

/// A text in one field.
#[derive(Clone, Debug)]
pub struct Search<'a> {
    /// Name of the query, for messages.
    pub name: &'static str,
    /// How its words are looked for.
    pub form: Form,
    /// Analyzer that takes the place of the field's.
    pub analyzer: Option<&'a str>,
    /// Analyzer that takes the place of the field's for phrases.
    pub quote_analyzer: Option<&'a str>,
    /// Words near those asked for match too.
    pub fuzzy: &'a FuzzyOptions,
    /// What goes wrong matches nothing.
    pub lenient: bool,
    /// What no word matches; `None`: the caller decides.
    pub zero_terms: ZeroTerms,
}

impl Search<'_> {
    /// The text in a field; `None` where the analyzer leaves no word.
    pub fn words_in(
        &self,
        binder: &mut Binder<'_>,
        field: &Arc<Field>,
        text: &str,
    ) -> Result<Option<Clause>> {
        let quoted = !matches!(self.form, Form::Boolean(_));
        let named = match (quoted, self.quote_analyzer, self.analyzer) {
            (true, Some(name), _) | (_, _, Some(name)) => named(binder, self.name, Some(name))?,
            _ => None,
        };
        let prefixed = matches!(self.form, Form::Boolean(Joined { prefix: true, .. }));
        if !searchable(field) {
            let error = Error::illegal(format!(
                "Field [{}] of type [{}] does not support match queries",
                field.path,
                field.type_name()
            ));
            return if self.lenient { Ok(Some(Clause::none())) } else { Err(error) };
        }
        let mut maker = OneField { field, fuzzy: self.fuzzy, lenient: self.lenient };
        let own = match &field.kind {
            Type::Text(text) if quoted => Some(&text.search_quote_analyzer),
            Type::Text(text) => Some(&text.search_analyzer),
            _ => None,
        };
        let is_words = matches!(field.kind, Type::Text(_) | Type::Keyword(_));
        // One that is named counts for numbers and dates, too: each of its words is a value (`MatchQueryParser`).
        let analyzer = named.as_ref().or(own);
        let Some(analyzer) = analyzer else {
            // The text as one value.
            if matches!(self.form, Form::PhrasePrefix(..)) {
                // Of no other query are its words asked for first (`MatchQueryParser.parse`).
                let places = vec![(vec![text.to_owned()], 0)];
                return maker.phrase(binder, Places { places, slop: 0, prefix: Some(1) }).map(Some);
            }
            if prefixed && is_words {
                return maker.prefix(binder, &leaf::normalized(field, text)).map(Some);
            }
            if self.fuzzy.fuzziness.is_some() && !quoted {
                let value = leaf::normalized(field, text);
                return maker.term(binder, &value).map(Some);
            }
            let made = leaf::text_term(binder, field, text).map(Clause::new);
            return maker.or_none(made).map(Some);
        };
        let words = graph::words_of(field, analyzer, text, &mut binder.word_bytes)?;
        match &self.form {
            Form::Boolean(joined) => {
                // Of a line alone is looked whether the text goes on (`MatchQueryParser`).
                let prefix = joined.prefix
                    && (graph::is_graph(&words) || graph::ends_in_word(analyzer, text));
                boolean(&mut maker, binder, &words, Joined { prefix, ..*joined })
            }
            Form::Phrase(slop) => {
                let plain = FuzzyOptions::default();
                let mut maker = OneField { fuzzy: &plain, ..maker };
                phrase_of(&mut maker, binder, &words, *slop, None)
            }
            Form::PhrasePrefix(slop, most) => {
                phrase_of(&mut maker, binder, &words, *slop, Some(*most))
            }
        }
    }

    /// As [`Self::words_in`]; what no word matches is told.
    pub fn in_field(
        &self,
        binder: &mut Binder<'_>,
        field: &Arc<Field>,
        text: &str,
    ) -> Result<Clause> {
        let found = self.words_in(binder, field, text)?;
        Ok(found.unwrap_or_else(|| zero(self.zero_terms)))
    }
}

/// Text can be looked for in it.
fn searchable(field: &Field) -> bool {
    !matches!(
        field.type_name(),
        "geo_point"
            | "geo_shape"
            | "binary"
            | "rank_feature"
            | "rank_features"
            | "nested"
            | "object"
    )
}

/// `match`, `match_bool_prefix`.
pub fn match_(binder: &mut Binder<'_>, query: &ast::Match) -> Result<Clause> {
    let Some(field) = binder.field(&query.field) else {
        return leaf::unmapped_term(binder, &query.field, &query.query).map(Clause::new);
    };
    let joined = Joined {
        operator: query.operator,
        prefix: query.prefix,
        synonym_phrases: query.synonym_phrases,
    };
    let search = Search {
        name: if query.prefix { "match_bool_prefix" } else { "match" },
        form: Form::Boolean(joined),
        analyzer: query.analyzer.as_deref(),
        quote_analyzer: None,
        fuzzy: &query.fuzzy,
        lenient: query.lenient,
        zero_terms: query.zero_terms,
    };
    let found = search.in_field(binder, &field, query.query.text())?;
    with_minimum(found, query.minimum_should_match.as_deref())
}

/// `match_phrase`.
pub fn phrase(binder: &mut Binder<'_>, query: &ast::Phrase) -> Result<Clause> {
    in_order_of(binder, "match_phrase", query, Form::Phrase(query.slop))
}

/// `match_phrase_prefix`.
pub fn phrase_prefix(binder: &mut Binder<'_>, query: &ast::PhrasePrefix) -> Result<Clause> {
    let form = Form::PhrasePrefix(query.phrase.slop, query.max_expansions);
    in_order_of(binder, "match_phrase_prefix", &query.phrase, form)
}

fn in_order_of(
    binder: &mut Binder<'_>,
    name: &'static str,
    query: &ast::Phrase,
    form: Form,
) -> Result<Clause> {
    let Some(field) = binder.field(&query.field) else {
        return leaf::unmapped_term(binder, &query.field, &query.query).map(Clause::new);
    };
    let search = Search {
        name,
        form,
        analyzer: query.analyzer.as_deref(),
        quote_analyzer: None,
        fuzzy: &FuzzyOptions::default(),
        lenient: false,
        zero_terms: query.zero_terms,
    };
    search.in_field(binder, &field, query.query.text())
}

/// Applies `minimum_should_match` to words that were joined, and makes them simple.
pub fn with_minimum(clause: Clause, spec: Option<&str>) -> Result<Clause> {
    let Clause { node: Node::Bool(mut joined), boost } = clause else { return Ok(clause) };
    if let Some(spec) = spec {
        // Of a conjunction no clause is optional: a number above 0 then matches nothing.
        joined.minimum = minimum::minimum(spec, joined.should.len())?;
    }
    Ok(rewrite::simplify(joined, boost))
}

/// What no word matches.
pub fn zero(zero_terms: ZeroTerms) -> Clause {
    match zero_terms {
        ZeroTerms::None => Clause::none(),
        ZeroTerms::All => Node::All.into(),
    }
}

/// The analyzer that a query names.
pub fn named(
    binder: &Binder<'_>,
    query: &str,
    name: Option<&str>,
) -> Result<Option<Arc<Analyzer>>> {
    let Some(name) = name else { return Ok(None) };
    match binder.mapping.settings().analysis.analyzer(name) {
        Some(analyzer) => Ok(Some(Arc::clone(analyzer))),
        None => Err(Error::shard(format!("[{query}] analyzer [{name}] not found"))),
    }
}

fn check_positions(field: &Field, text: &Text) -> Result<()> {
    if text.index_options >= IndexOptions::Positions {
        return Ok(());
    }
    Err(Error::new(
        Kind::IllegalState,
        format!("field:[{}] was indexed without position data; cannot run PhraseQuery", field.path),
    ))
}

/// One word of a text field, scored.
pub fn term_of(field: &Field, text: &Text, word: &[u8]) -> Node {
    if is_constant(text) {
        let access = Access { index: true, column: false };
        return Node::Terms { field: field.no, access, terms: [word.into()].into() };
    }
    Node::Term(Term { field: field.no, term: word.into(), norms: text.norms })
}
