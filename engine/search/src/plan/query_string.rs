//! `query_string`: the clauses of its grammar meet an index.

use crate::ast::{self, Fuzziness, FuzzyOptions, MultiKind, Operator, Scalar, ZeroTerms};
use crate::error::{Error, Kind, Result};
use crate::plan::bind::Binder;
use crate::plan::bound::{Bool, Clause, Node};
use crate::plan::fields::{self, Weighted};
use crate::plan::multi::Several;
use crate::plan::syntax::{self, Conjunction, Item, Kind as Ask, Modifier};
use crate::plan::{graph, leaf, minimum, rewrite, text, words};

/// How a clause counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Occur {
    Must,
    Should,
    MustNot,
}

struct Reader<'a, 'b, 'c> {
    binder: &'a mut Binder<'c>,
    query: &'b ast::QueryString,
    /// Fields of clauses that name none.
    fields: Vec<Weighted>,
    lenient: bool,
}

/// `query_string`.
pub fn query_string(binder: &mut Binder<'_>, query: &ast::QueryString) -> Result<Clause> {
    let escaped;
    let text = match query.escape {
        true => {
            escaped = syntax::escape(&query.query);
            &escaped
        }
        false => &query.query,
    };
    if query.default_field.is_some() && !query.fields.is_empty() {
        return Err(Error::validation(&[
            "cannot use [fields] parameter in conjunction with [default_field]".to_owned(),
        ]));
    }
    for (name, what) in [(&query.analyzer, "analyzer"), (&query.quote_analyzer, "quote_analyzer")] {
        if let Some(name) = name
            && binder.mapping.settings().analysis.analyzer(name).is_none()
        {
            return Err(Error::shard(format!("[query_string] {what} [{name}] not found")));
        }
    }
    let names = match &query.default_field {
        Some(name) => vec![(name.clone(), 1.0)],
        None if query.fields.is_empty() => fields::default_fields(binder),
        None => query.fields.clone(),
    };
    let fields = fields::resolve(binder, &names, None)?;
    let lenient = query.lenient.unwrap_or_else(|| fields::has_all(&names));
    if text.trim().is_empty() {
        return Ok(Clause::none());
    }
    let items = syntax::parse(text).map_err(|fault| failed(query, &fault.0, true))?;
    let mut reader = Reader { binder, query, fields, lenient };
    let Some(found) = reader.items(&items)? else { return Ok(Clause::none()) };
    let (joined, boost) = match found {
        Clause { node: Node::Bool(joined), boost } => (joined, boost),
        clause => return Ok(clause),
    };
    with_minimum(joined, boost, query.minimum_should_match.as_deref())
}

/// Lucene's failure inside of Elasticsearch's.
fn failed(query: &ast::QueryString, reason: &str, at_place: bool) -> Error {
    let text = &query.query;
    let inner = Error::new(Kind::Parse, reason);
    let cause = match at_place {
        true => {
            let outer = format!("Cannot parse '{text}': {reason}");
            Error::new(Kind::Parse, outer).caused_by(inner)
        }
        false => inner,
    };
    Error::shard(format!("Failed to parse query [{text}]")).caused_by(cause)
}

/// Applies `minimum_should_match`, lets a query of nothing but exclusions match the rest, and makes
/// it simple.
pub fn with_minimum(mut joined: Bool, boost: f32, spec: Option<&str>) -> Result<Clause> {
    if let Some(spec) = spec {
        joined.minimum = minimum::minimum(spec, joined.should.len())?;
    }
    let negative = joined.must.is_empty() && joined.should.is_empty() && joined.filter.is_empty();
    if negative && !joined.must_not.is_empty() {
        joined.filter.push(Node::All.into());
    }
    Ok(rewrite::simplify(joined, boost))
}

impl Reader<'_, '_, '_> {
    /// Items joined by their operators; `None` where nothing is left of them.
    fn items(&mut self, items: &[Item]) -> Result<Option<Clause>> {
        let mut clauses: Vec<(Occur, Clause)> = Vec::with_capacity(items.len());
        let mut first = None;
        for item in items {
            if let Ask::Words(words) = &item.clause.kind {
                if let Some(found) = self.words(item.clause.field.as_deref(), words)? {
                    self.add_words(&mut clauses, found);
                }
                continue;
            }
            let found = self.clause(&item.clause)?;
            if item.modifier == Modifier::None && clauses.is_empty() && items.len() == 1 {
                first.clone_from(&found);
            }
            self.add(&mut clauses, item, found);
        }
        if clauses.len() == 1 && first.is_some() {
            return Ok(first);
        }
        if clauses.is_empty() {
            return Ok(None);
        }
        self.binder.count(clauses.len().saturating_sub(1))?;
        let mut joined = Bool::default();
        for (occur, clause) in clauses {
            match occur {
                Occur::Must => joined.must.push(clause),
                Occur::Should => joined.should.push(clause),
                Occur::MustNot => joined.must_not.push(clause),
            }
        }
        if joined.must.is_empty() && joined.should.is_empty() {
            joined.filter.push(Node::All.into());
        }
        Ok(Some(Node::Bool(joined).into()))
    }

    /// Lucene's rules for mixed operators (`QueryParserBase.addClause`).
    fn add(&self, clauses: &mut Vec<(Occur, Clause)>, item: &Item, found: Option<Clause>) {
        let by_and = self.query.operator == Operator::And;
        if let Some((occur, _)) = clauses.last_mut()
            && *occur != Occur::MustNot
        {
            match item.conjunction {
                Conjunction::And => *occur = Occur::Must,
                Conjunction::Or if by_and => *occur = Occur::Should,
                _ => {}
            }
        }
        let Some(clause) = found else { return };
        let occur = match (item.modifier, item.conjunction, by_and) {
            (Modifier::Not, _, _) => Occur::MustNot,
            (Modifier::Required, _, false) | (_, Conjunction::And, false) => Occur::Must,
            (_, _, false) | (_, Conjunction::Or, true) => Occur::Should,
            (_, _, true) => Occur::Must,
        };
        clauses.push((occur, clause));
    }

    /// Words in a row: each a clause of its own where the analyzer made terms of them.
    fn add_words(&self, clauses: &mut Vec<(Occur, Clause)>, found: Clause) {
        let occur = match self.query.operator {
            Operator::And => Occur::Must,
            Operator::Or => Occur::Should,
        };
        match found {
            Clause { node: Node::Bool(joined), boost: 1.0 }
                if joined.must_not.is_empty() && joined.filter.is_empty() =>
            {
                clauses.extend(joined.must.into_iter().map(|clause| (Occur::Must, clause)));
                clauses.extend(joined.should.into_iter().map(|clause| (Occur::Should, clause)));
            }
            clause => clauses.push((occur, clause)),
        }
    }

    fn clause(&mut self, clause: &syntax::Clause) -> Result<Option<Clause>> {
        let field = clause.field.as_deref();
        let found = match &clause.kind {
            Ask::Group(items) => self.items(items)?.map(|clause| match clause.node {
                Node::Bool(joined) => rewrite::simplify(joined, clause.boost),
                _ => clause,
            }),
            Ask::Word(word) | Ask::Words(word) => {
                let found = self.words(field, word)?;
                found.map(|clause| match clause.node {
                    Node::Bool(joined) => rewrite::simplify(joined, clause.boost),
                    _ => clause,
                })
            }
            Ask::Quoted(phrase, slop) => self.phrase(field, phrase, slop.as_deref())?,
            Ask::Fuzzy(word, edits) => Some(self.fuzzy(field, word, edits)?),
            Ask::Prefix(prefix) => self.prefix(field, prefix)?,
            Ask::Wildcard(shape) => Some(self.wildcard(field, shape)?),
            Ask::Regexp(expression) => Some(self.regexp(field, expression)?),
            Ask::Range { from, to, includes } => {
                Some(self.range(field, from.as_deref(), to.as_deref(), *includes)?)
            }
        };
        Ok(found.map(|mut found| {
            if !found.is_none() {
                found.boost *= clause.boost.unwrap_or(1.0);
            }
            found
        }))
    }

    /// The fields of a clause.
    fn fields_of(&self, field: Option<&str>, quoted: bool) -> Result<Vec<Weighted>> {
        let suffix = self.query.quote_field_suffix.as_deref().filter(|_| quoted);
        match field {
            None if suffix.is_some() => {
                let names: Vec<(String, f32)> = self
                    .fields
                    .iter()
                    .map(|(field, boost)| (field.path.to_string(), *boost))
                    .collect();
                fields::resolve(self.binder, &names, suffix)
            }
            None => Ok(self.fields.clone()),
            Some("*") if fields::has_all(&self.names()) => Ok(self.fields.clone()),
            Some(name) => fields::resolve(self.binder, &[(name.to_owned(), 1.0)], suffix),
        }
    }

    fn names(&self) -> Vec<(String, f32)> {
        match &self.query.default_field {
            Some(name) => vec![(name.clone(), 1.0)],
            None if self.query.fields.is_empty() => fields::default_fields(self.binder),
            None => self.query.fields.clone(),
        }
    }

    /// Words for the analyzer, without operators among them; `None` where it leaves none.
    fn words(&mut self, field: Option<&str>, words: &str) -> Result<Option<Clause>> {
        if field == Some("_exists_") {
            return Ok(Some(leaf::exists(self.binder, words)?.into()));
        }
        let mut chars = words.chars();
        // Of a list of fields, or all, it is a word like others (`QueryStringQueryParser.getFieldQuery`).
        let own = self.query.default_field.as_deref().filter(|name| *name != "*");
        if words.chars().count() > 1
            && field.or(own).is_some()
            && let Some(sign @ ('<' | '>')) = chars.next()
        {
            let rest = chars.as_str();
            let (end, included) = match rest.strip_prefix('=') {
                Some(end) if !end.is_empty() => (end, true),
                _ => (rest, false),
            };
            return match sign {
                '>' => self.range(field, Some(end), None, (included, true)).map(Some),
                _ => self.range(field, None, Some(end), (true, included)).map(Some),
            };
        }
        let fields = self.fields_of(field, false)?;
        if fields.is_empty() {
            return self.unmapped(field, words).map(Some);
        }
        if !self.has_words(&fields, words)? {
            return Ok(None);
        }
        let several = several(self.query, self.lenient, self.query.kind, self.query.phrase_slop);
        several.find(self.binder, &fields, words)
    }

    /// The analyzer of some field leaves a word.
    fn has_words(&self, fields: &[Weighted], words: &str) -> Result<bool> {
        let name = self.query.analyzer.as_deref();
        let named = text::named(self.binder, "query_string", name)?;
        Ok(fields::have_words(fields, named.as_ref(), words))
    }

    fn unmapped(&self, field: Option<&str>, value: &str) -> Result<Clause> {
        match field {
            Some(name) => leaf::unmapped_term(self.binder, name, &Scalar::String(value.to_owned()))
                .map(Clause::new),
            None => Ok(Clause::none()),
        }
    }

    fn phrase(
        &mut self,
        field: Option<&str>,
        phrase: &str,
        slop: Option<&str>,
    ) -> Result<Option<Clause>> {
        if field == Some("_exists_") {
            return Ok(Some(leaf::exists(self.binder, phrase)?.into()));
        }
        let fields = self.fields_of(field, true)?;
        if fields.is_empty() {
            return self.unmapped(field, phrase).map(Some);
        }
        if !self.has_words(&fields, phrase)? {
            return Ok(None);
        }
        // Junk behind the `~` is passed over, as Lucene does.
        let slop = slop.and_then(|slop| slop.parse::<f32>().ok());
        let slop = slop.map_or(self.query.phrase_slop, |slop| slop.max(0.0) as u32);
        let several = several(self.query, self.lenient, MultiKind::Phrase, slop);
        several.find(self.binder, &fields, phrase)
    }

    /// Each field's clause, the best counts.
    fn in_each(
        &mut self,
        fields: &[Weighted],
        mut make: impl FnMut(&mut Binder<'_>, &std::sync::Arc<mapping::Field>) -> Result<Clause>,
    ) -> Result<Clause> {
        let mut some = Vec::with_capacity(fields.len());
        for (field, factor) in fields {
            self.binder.count(1)?;
            match make(self.binder, field) {
                Ok(clause) => some.push(Clause { boost: clause.boost * factor, ..clause }),
                Err(_) if self.lenient => {}
                Err(error) => return Err(error),
            }
        }
        let tie = self.query.tie_breaker.unwrap_or(self.query.kind.tie_breaker());
        self.binder.best_of(some, tie)
    }

    fn fuzzy(&mut self, field: Option<&str>, word: &str, edits: &str) -> Result<Clause> {
        let fuzziness = match edits {
            "" => self.query.fuzziness,
            edits => match edits.parse::<f32>() {
                Ok(number) if number < 0.0 => {
                    let reason =
                        "Minimum similarity for a FuzzyQuery has to be between 0.0f and 1.0f !";
                    return Err(failed(self.query, reason, true));
                }
                Ok(number) if number >= 1.0 && number.fract() != 0.0 => {
                    let reason = "Fractional edit distances are not allowed!";
                    return Err(failed(self.query, reason, true));
                }
                Ok(number) => Fuzziness::Edits(number as u32),
                Err(_) => self.query.fuzziness,
            },
        };
        let fields = self.fields_of(field, false)?;
        let options = self.query.fuzzy.clone();
        let analyzer = self.query.analyzer.clone();
        self.in_each(&fields, |binder, field| {
            let word = normalized(binder, field, analyzer.as_deref(), word);
            words::fuzzy(binder, field, &word, fuzziness, &options)
        })
    }

    fn prefix(&mut self, field: Option<&str>, prefix: &str) -> Result<Option<Clause>> {
        if let Some(name @ "_index") = field {
            return words::prefix(self.binder, &of_index(name, prefix)).map(Some);
        }
        let fields = self.fields_of(field, false)?;
        let (rewrite, analyzer) = (self.query.rewrite.clone(), self.query.analyzer.clone());
        if self.query.analyze_wildcard {
            return self.analyzed_prefix(&fields, prefix).map(Some);
        }
        self.in_each(&fields, |binder, field| {
            let prefix = normalized(binder, field, analyzer.as_deref(), prefix);
            words::prefix_of(binder, field, &prefix, false, rewrite.as_deref())
        })
        .map(Some)
    }

    /// The last word of what the analyzer makes of it may go on.
    fn analyzed_prefix(&mut self, fields: &[Weighted], prefix: &str) -> Result<Clause> {
        let (operator, rewrite) = (self.query.operator, self.query.rewrite.clone());
        let analyzer = self.query.analyzer.clone();
        self.in_each(fields, |binder, field| {
            let named = text::named(binder, "query_string", analyzer.as_deref())?;
            let own = match &field.kind {
                mapping::Kind::Text(text) => Some(&text.search_analyzer),
                _ => None,
            };
            let Some(analyzer) = named.as_ref().or(own) else {
                let prefix = leaf::normalized(field, prefix);
                return words::prefix_of(binder, field, &prefix, false, rewrite.as_deref());
            };
            let found = graph::words(analyzer, prefix, &mut binder.word_bytes)?;
            let mut clauses = Vec::with_capacity(found.len());
            for (at, word) in found.iter().enumerate() {
                clauses.push(match at + 1 == found.len() {
                    true => words::prefix_of(binder, field, &word.term, false, rewrite.as_deref())?,
                    false => leaf::word(binder, field, &word.term)?.into(),
                });
            }
            Ok(match operator {
                _ if clauses.is_empty() => Clause::none(),
                Operator::And => rewrite::simplify(Bool { must: clauses, ..Bool::default() }, 1.0),
                Operator::Or => rewrite::simplify(Bool { should: clauses, ..Bool::default() }, 1.0),
            })
        })
    }

    fn wildcard(&mut self, field: Option<&str>, shape: &str) -> Result<Clause> {
        if shape == "*" {
            let name = field.map(str::to_owned).or_else(|| match self.names().as_slice() {
                [(name, _)] => Some(name.clone()),
                _ => None,
            });
            match name.as_deref() {
                Some("*" | "_exists_") => return Ok(Node::All.into()),
                Some(name) => return Ok(leaf::exists(self.binder, name)?.into()),
                None => {}
            }
        }
        if !self.query.allow_leading_wildcard && shape.starts_with(['*', '?']) {
            let reason = "'*' or '?' not allowed as first character in WildcardQuery";
            return Err(failed(self.query, reason, true));
        }
        if let Some(name @ "_index") = field {
            return words::wildcard(self.binder, &of_index(name, shape));
        }
        let fields = self.fields_of(field, false)?;
        let (rewrite, analyzer) = (self.query.rewrite.clone(), self.query.analyzer.clone());
        self.in_each(&fields, |binder, field| {
            if shape == "*" {
                return Ok(leaf::exists(binder, &field.path)?.into());
            }
            let shape = normalized_shape(binder, field, analyzer.as_deref(), shape);
            words::wildcard_of(binder, field, &shape, false, rewrite.as_deref())
        })
    }

    fn regexp(&mut self, field: Option<&str>, expression: &str) -> Result<Clause> {
        let length = expression.encode_utf16().count();
        let most = self.binder.context.regexp_max;
        if length > most {
            return Err(Error::illegal(format!(
                "The length of regex [{length}] used in the [query_string] has exceeded the \
                 allowed maximum of [{most}]. This maximum can be set by changing the \
                 [index.max_regex_length] index level setting."
            )));
        }
        let fields = self.fields_of(field, false)?;
        let query = ast::Regexp {
            field: String::new(),
            value: expression.to_owned(),
            flags: automaton::regexp::ALL,
            case_insensitive: false,
            max_determinized_states: self.query.max_determinized_states,
            rewrite: self.query.rewrite.clone(),
        };
        self.in_each(&fields, |binder, field| words::regexp_of(binder, field, &query))
    }

    fn range(
        &mut self,
        field: Option<&str>,
        from: Option<&str>,
        to: Option<&str>,
        (includes_from, includes_to): (bool, bool),
    ) -> Result<Clause> {
        if let Some(name @ "_seq_no") = field {
            let end = |end: Option<&str>, inclusive: bool| {
                end.map(|end| ast::Bound { value: Scalar::String(end.to_owned()), inclusive })
            };
            let range = ast::Range {
                field: name.to_owned(),
                lower: end(from, includes_from),
                upper: end(to, includes_to),
                format: None,
                time_zone: None,
                relation: ast::Relation::Intersects,
            };
            return leaf::range(self.binder, &range).map(Clause::new);
        }
        let fields = self.fields_of(field, false)?;
        let (zone, analyzer) = (self.query.time_zone.clone(), self.query.analyzer.clone());
        self.in_each(&fields, |binder, field| {
            let end = |binder: &Binder<'_>, end: Option<&str>, inclusive: bool| {
                end.map(|end| ast::Bound {
                    value: Scalar::String(normalized(binder, field, analyzer.as_deref(), end)),
                    inclusive,
                })
            };
            let range = ast::Range {
                field: field.path.to_string(),
                lower: end(binder, from, includes_from),
                upper: end(binder, to, includes_to),
                format: None,
                time_zone: zone.clone(),
                relation: ast::Relation::Intersects,
            };
            leaf::range(binder, &range).map(Clause::new)
        })
    }
}

/// A shape of the index's name, which is not analysed.
fn of_index(name: &str, shape: &str) -> ast::Pattern {
    let (field, value) = (name.to_owned(), shape.to_owned());
    ast::Pattern { field, value, case_insensitive: false, rewrite: None }
}

/// Words are not expanded to those near them.
static PLAIN: FuzzyOptions = FuzzyOptions {
    fuzziness: None,
    prefix_length: 0,
    max_expansions: 50,
    transpositions: true,
    rewrite: None,
};

/// How a text without operators is looked for.
fn several(query: &ast::QueryString, lenient: bool, kind: MultiKind, slop: u32) -> Several<'_> {
    Several {
        name: "query_string",
        kind,
        operator: query.operator,
        minimum: None,
        analyzer: query.analyzer.as_deref(),
        quote_analyzer: query.quote_analyzer.as_deref(),
        lenient,
        zero_terms: ZeroTerms::None,
        tie_breaker: query.tie_breaker.unwrap_or(kind.tie_breaker()),
        slop,
        fuzzy: &PLAIN,
        synonym_phrases: query.synonym_phrases,
    }
}

/// A word as the field's analyzer leaves its letters, uncut.
pub fn normalized(
    binder: &Binder<'_>,
    field: &mapping::Field,
    analyzer: Option<&str>,
    word: &str,
) -> String {
    let named = analyzer.and_then(|name| binder.mapping.settings().analysis.analyzer(name));
    let own = match &field.kind {
        mapping::Kind::Text(text) => Some(&text.search_analyzer),
        _ => None,
    };
    match named.or(own) {
        Some(analyzer) => {
            let mut buffer = String::new();
            analyzer.normal_term(word, &mut buffer).to_owned()
        }
        None => leaf::normalized(field, word),
    }
}

/// A shape as the field's analyzer leaves its letters.
fn normalized_shape(
    binder: &Binder<'_>,
    field: &mapping::Field,
    analyzer: Option<&str>,
    shape: &str,
) -> String {
    words::shape_by(shape, |word| normalized(binder, field, analyzer, word))
}
