//! A script runs over documents, one after the other, as far as the turn allows.

use std::sync::Arc;

use base::DocId;
use script::{Error as ScriptError, Fault, Heap, Machine, Run, Value};
use segment::{Live, Parents, Segment};

use super::{Bound, Columns};
use crate::error::Error;
use crate::iter::{AnyFilter, Turn};

/// Operations that one document may take, however patient its caller is.
const STEPS_MAX: i64 = 20_000_000;

/// Memory that one document may take.
pub const HEAP_BYTES: usize = 8 << 20;

/// What an operation costs, in documents looked at.
const OPERATION: usize = 3;

/// What a document costs beside the operations.
const DOCUMENT: usize = 16;

/// So much of results is made at once, before its caller counts it.
const RESULTS_BYTES_AT_ONCE: usize = 256 << 10;

/// Makes of what a script gave what its caller needs.
pub type Take<T> = fn(&mut Heap, Value) -> Result<T, Fault>;

/// What `_value` is.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// A whole number.
    Long(i64),
    /// A number.
    Double(f64),
    /// A string.
    Text(Arc<str>),
}

/// Runs one script over the documents of one segment.
pub struct Runner<T> {
    bound: Arc<Bound>,
    host: Columns,
    machine: Machine,
    take: Take<T>,
    params: Option<Value>,
    /// Documents that are alive; absent: all.
    live: Option<Arc<Live>>,
    parents: Option<Parents>,
    /// What else its caller may see.
    guard: Option<AnyFilter>,
    /// The documents asked about, whether each may be seen, what each gave.
    docs: Vec<u32>,
    inputs: Vec<Input>,
    seen: Vec<bool>,
    is_seen: bool,
    results: Vec<Option<Result<T, Error>>>,
    /// What a result takes beside itself, and what all of them do.
    weigh: fn(&T) -> usize,
    results_bytes: usize,
    /// Operations that the document at hand has taken; absent: it was not begun.
    taken: Option<i64>,
    /// The documents that stand for those asked about, each once, and what was found out of them.
    roots: Vec<u32>,
    root_matches: Vec<bool>,
    last: Option<(u32, bool)>,
}

impl<T> Runner<T> {
    /// A script over a segment; `guard` says which documents may be seen.
    pub fn new(
        bound: Arc<Bound>,
        segment: &Segment,
        live: Option<Arc<Live>>,
        guard: Option<AnyFilter>,
        take: Take<T>,
    ) -> Self {
        let mut machine = Machine::new();
        machine.heap.limit(HEAP_BYTES);
        let parents = segment.parents().filter(|_| bound.is_inside).cloned();
        Self {
            host: Columns::new(Arc::clone(&bound), segment.clone()),
            bound,
            machine,
            take,
            params: None,
            live,
            parents,
            guard,
            docs: Vec::new(),
            inputs: Vec::new(),
            seen: Vec::new(),
            is_seen: false,
            results: Vec::new(),
            weigh: |_| 0,
            results_bytes: 0,
            taken: None,
            roots: Vec::new(),
            root_matches: Vec::new(),
            last: None,
        }
    }

    /// The source may be asked for, as far as the caller may see it.
    #[must_use]
    pub fn with_source(mut self, visible: Option<Arc<json::fields::Fields>>) -> Self {
        self.host = self.host.with_source(visible);
        self
    }

    /// Results take so much beside themselves: [`Runner::prepare`] also waits for its caller to count them
    /// ([`Runner::results_bytes`]).
    #[must_use]
    pub fn weighed_by(mut self, weigh: fn(&T) -> usize) -> Self {
        self.weigh = weigh;
        self
    }

    /// What the results at hand take beside themselves.
    pub fn results_bytes(&self) -> usize {
        self.results_bytes
    }

    /// The documents asked about last.
    pub fn docs(&self) -> &[u32] {
        &self.docs
    }

    /// Runs for each of `docs`, which rise, with their scores where there are any. False where it must
    /// wait; then it is asked the same again.
    pub fn prepare(&mut self, docs: &[u32], scores: &[f32], turn: &mut Turn<'_>) -> bool {
        self.prepare_with(docs, scores, &[], turn)
    }

    /// The same with what stands for `_value`, one for each of `docs`, among which one may stand
    /// several times.
    pub fn prepare_with(
        &mut self,
        docs: &[u32],
        scores: &[f32],
        inputs: &[Input],
        turn: &mut Turn<'_>,
    ) -> bool {
        if self.docs != docs || self.inputs != inputs {
            self.inputs.clear();
            self.inputs.extend_from_slice(inputs);
            self.begin(docs);
        }
        if !self.is_seen {
            if !self.look(turn) {
                return false;
            }
            self.is_seen = true;
        }
        let begun = self.results.len();
        let most = self.results_bytes + RESULTS_BYTES_AT_ONCE;
        while self.results.len() < self.docs.len() {
            // One document at least: whoever asks may have spent a whole turn before, each time.
            if turn.is_over() && self.results.len() > begun || self.results_bytes > most {
                return false;
            }
            let at = self.results.len();
            if !self.seen[at] {
                self.results.push(None);
                continue;
            }
            let score = scores.get(at).copied().unwrap_or(0.0);
            let input = self.inputs.get(at).cloned();
            match self.run(self.docs[at], f64::from(score), input.as_ref(), turn) {
                Ok(Some(value)) => {
                    self.results_bytes += (self.weigh)(&value);
                    self.results.push(Some(Ok(value)));
                }
                Ok(None) => return false,
                Err(fault) => self.results.push(Some(Err(fails(&self.bound, fault)))),
            }
        }
        true
    }

    /// What each of the documents gave; `None` of one that may not be seen.
    pub fn results(&self) -> &[Option<Result<T, Error>>] {
        &self.results
    }

    /// As [`Runner::results`], given away: the same documents would be asked about anew.
    pub fn take_results(&mut self) -> Vec<Option<Result<T, Error>>> {
        let results = std::mem::take(&mut self.results);
        self.begin(&[]);
        results
    }

    /// What a document gave that was asked about.
    pub fn result(&self, doc: u32) -> Option<&Result<T, Error>> {
        let at = self.docs.binary_search(&doc).ok()?;
        self.results.get(at)?.as_ref()
    }

    fn begin(&mut self, docs: &[u32]) {
        self.docs.clear();
        self.docs.extend_from_slice(docs);
        self.results.clear();
        self.results_bytes = 0;
        (self.is_seen, self.taken) = (false, None);
        self.seen.clear();
        self.roots.clear();
        let known = self.last.map(|(root, _)| root);
        for doc in docs {
            let root = match &self.parents {
                Some(parents) => parents.of(DocId(*doc)).map_or(*doc, DocId::get),
                None => *doc,
            };
            let alive = self.live.as_ref().is_none_or(|live| live.is_alive(DocId(root)));
            self.seen.push(alive);
            if self.roots.last() != Some(&root) && known != Some(root) {
                self.roots.push(root);
            }
        }
    }

    /// Finds out which of the documents may be seen.
    fn look(&mut self, turn: &mut Turn<'_>) -> bool {
        let Some(guard) = &mut self.guard else { return true };
        if !self.roots.is_empty() {
            if !guard.prepare_probe(&self.roots, turn) {
                return false;
            }
            self.root_matches.clear();
            self.root_matches.resize(self.roots.len(), false);
            guard.probe(&self.roots, &mut self.root_matches);
        }
        for (doc, seen) in self.docs.iter().zip(&mut self.seen) {
            let root = match &self.parents {
                Some(parents) => parents.of(DocId(*doc)).map_or(*doc, DocId::get),
                None => *doc,
            };
            let matches = match self.roots.binary_search(&root) {
                Ok(at) => self.root_matches[at],
                Err(_) => self.last.is_some_and(|(last, matches)| last == root && matches),
            };
            *seen &= matches;
        }
        if let (Some(root), Some(matches)) = (self.roots.last(), self.root_matches.last()) {
            self.last = Some((*root, *matches));
        }
        turn.spend(self.docs.len());
        true
    }

    /// Goes on with one document; `None` where the turn is over before it is done.
    fn run(
        &mut self,
        doc: u32,
        score: f64,
        input: Option<&Input>,
        turn: &mut Turn<'_>,
    ) -> Result<Option<T>, Fault> {
        self.host.set(DocId(doc), score);
        let program = Arc::clone(&self.bound.program);
        let mut taken = match self.taken.take() {
            Some(taken) => taken,
            None => {
                let params = match self.params {
                    Some(params) => params,
                    None => {
                        let heap = &mut self.machine.heap;
                        let params = mapping::script::value_of(heap, &self.bound.params)?;
                        heap.freeze();
                        *self.params.insert(params)
                    }
                };
                self.machine.heap.reset();
                let value = match input {
                    None => Value::Null,
                    Some(Input::Long(value)) => Value::Long(*value),
                    Some(Input::Double(value)) => Value::Double(*value),
                    Some(Input::Text(text)) => self.machine.heap.string(text)?,
                };
                let variables = [params, Value::Doc, value];
                let count = program.context.variables.len().min(variables.len());
                self.machine.start(&program, &variables[..count]);
                turn.spend(DOCUMENT);
                0
            }
        };
        let given = ((turn.left() / OPERATION) as i64).clamp(64, 1 << 16);
        let mut fuel = given;
        let run = self.machine.resume(&program, &mut self.host, &mut fuel);
        let used = (given - fuel).max(1);
        turn.spend(used as usize * OPERATION);
        taken += used;
        match run? {
            Run::Done(value) => {
                let value = self.machine.taken(&mut self.host, value)?;
                (self.take)(&mut self.machine.heap, value).map(Some)
            }
            Run::Paused if taken > STEPS_MAX => {
                Err(Fault::limit("painless_error", "the script takes too many steps"))
            }
            Run::Paused => {
                self.taken = Some(taken);
                match turn.is_over() {
                    true => Ok(None),
                    false => self.run(doc, score, input, turn),
                }
            }
        }
    }
}

/// A run that failed.
pub fn fails(bound: &Bound, fault: Fault) -> Error {
    let program = &bound.program;
    Error::script(ScriptError::runtime(&program.source, &program.statements, fault))
}
