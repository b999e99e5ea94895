//! Values of aggregations that scripts make: of a document, or of each value of a field.
//!
//! Scripts run before the documents are collected, over a batch at a time and in steps; what they
//! made lies on a [`Board`] that collectors read. A script that failed fails the shard only where its
//! value is read: a bucket above may have left the document out.

use std::sync::Arc;

use base::DocId;
use script::arith;
use script::{Fault, Heap, Object, Value};
use segment::Parents;

use super::bound::AggScript;
use super::collect::Scores;
use super::read::{Numbers, Terms, Words};
use crate::error::Error;
use crate::iter::Turn;
use crate::iter::function::Trouble;
use crate::plan::weigh::Plan;
use crate::scripted::{Input, Runner};

/// Values of one document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Made {
    /// Numbers, rising.
    pub numbers: Vec<f64>,
    /// Strings, rising, each once. Their buckets share them.
    pub texts: Vec<Arc<[u8]>>,
}

impl Made {
    /// What it takes beside itself.
    fn held_bytes(&self) -> usize {
        let texts = self.texts.iter().map(|text| size_of::<Arc<[u8]>>() + text.len());
        self.numbers.len() * size_of::<f64>() + texts.sum::<usize>()
    }
}

/// What scripts made of the documents of one batch.
pub struct Board {
    columns: Vec<Column>,
    trouble: Trouble,
}

struct Column {
    docs: Vec<u32>,
    made: Vec<Result<Made, Error>>,
}

impl Board {
    /// What script number `script` made of a document; nothing where it failed, which is told.
    pub fn of(&self, script: usize, doc: u32) -> Option<&Made> {
        let column = self.columns.get(script)?;
        let made = match column.docs.binary_search(&doc) {
            Ok(at) => &column.made[at],
            Err(_) => {
                lost(&self.trouble);
                return None;
            }
        };
        match made {
            Ok(made) => Some(made),
            Err(error) => {
                let _ = self.trouble.set(error.clone());
                None
            }
        }
    }
}

/// Some collectors put documents aside and look at them later, when no script runs.
fn lost(trouble: &Trouble) {
    let _ = trouble.set(Error::illegal(
        "scripts are not supported in aggregations below one that puts documents aside",
    ));
}

/// Where a field's values are read that a script changes.
enum Before {
    Numbers(Box<Numbers>, bool),
    Words(Box<(Terms, Words)>),
}

struct One {
    runner: Runner<Made>,
    parents: Option<Parents>,
    before: Option<Before>,
    /// The documents at hand, and those that the script runs for: one for each value.
    docs: Vec<u32>,
    asked: Vec<u32>,
    inputs: Vec<Input>,
    scores: Vec<f32>,
    is_ready: bool,
}

/// The scripts of all aggregations in one segment.
pub struct Scripts {
    all: Vec<One>,
    trouble: Trouble,
    begun: bool,
    /// What was made of the documents of one batch, the most so far.
    held_bytes: usize,
}

impl Scripts {
    /// The scripts of a plan.
    pub fn new(scripts: &[AggScript], plan: &Plan, number: usize) -> Self {
        let segment = &plan.view.segments[number].segment;
        let one = |script: &AggScript| One {
            // Documents that are collected were found: they may be seen, and live.
            runner: Runner::new(
                Arc::clone(&script.script),
                segment,
                None,
                None,
                if script.is_text { take_texts } else { take_numbers },
            )
            .weighed_by(Made::held_bytes),
            parents: segment.parents().filter(|_| script.script.is_inside).cloned(),
            before: script.before.as_ref().map(|source| match source.form.is_bytes() {
                true => Before::Words(Box::new((
                    Terms::open(source, segment),
                    Words::open(source, segment),
                ))),
                false => Before::Numbers(Box::new(Numbers::open(source, segment)), script.is_long),
            }),
            docs: Vec::new(),
            asked: Vec::new(),
            inputs: Vec::new(),
            scores: Vec::new(),
            is_ready: false,
        };
        let trouble = Arc::clone(&plan.trouble);
        let all = scripts.iter().map(one).collect();
        Self { all, trouble, begun: false, held_bytes: 0 }
    }

    /// There is none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// What was made of the documents of one batch takes so much, the most so far.
    pub fn held_bytes(&self) -> usize {
        self.held_bytes
    }

    /// Runs all for `docs`; `None` where it must wait, for what it reads or for its caller to pay for what was made.
    pub fn run(&mut self, docs: &[u32], scores: &Scores, turn: &mut Turn<'_>) -> Option<Board> {
        if self.trouble.get().is_some() {
            // The shard has failed already.
            return Some(Board { columns: Vec::new(), trouble: Arc::clone(&self.trouble) });
        }
        if !self.begun {
            self.all.iter_mut().for_each(|one| one.is_ready = false);
            self.begun = true;
        }
        let is_ready = self.all.iter_mut().all(|one| one.run(docs, scores, turn));
        let made = self.all.iter().map(|one| one.runner.results_bytes()).sum();
        self.held_bytes = self.held_bytes.max(made);
        if !is_ready {
            return None;
        }
        self.begun = false;
        let columns = self.all.iter_mut().map(One::column).collect();
        Some(Board { columns, trouble: Arc::clone(&self.trouble) })
    }
}

impl One {
    fn run(&mut self, docs: &[u32], scores: &Scores, turn: &mut Turn<'_>) -> bool {
        if !self.is_ready {
            self.docs.clear();
            match &self.parents {
                None => self.docs.extend_from_slice(docs),
                Some(parents) => {
                    self.docs.extend(docs.iter().flat_map(|doc| parents.nested(DocId(*doc))));
                }
            }
            if let (Some(first), Some(last)) = (self.docs.first(), self.docs.last()) {
                let range = *first..last + 1;
                let ready = match &mut self.before {
                    None => true,
                    Some(Before::Numbers(numbers, _)) => numbers.prepare(&range, turn),
                    Some(Before::Words(words)) => words.0.prepare(&range, turn),
                };
                if !ready {
                    return false;
                }
            }
            self.gather(scores);
            self.is_ready = true;
        }
        self.runner.prepare_with(&self.asked, &self.scores, &self.inputs, turn)
    }

    /// What the script runs for.
    fn gather(&mut self, scores: &Scores) {
        let Self { docs, asked, inputs, before, .. } = self;
        asked.clear();
        inputs.clear();
        match before {
            None => asked.extend_from_slice(docs),
            Some(Before::Numbers(numbers, is_long)) => {
                let (form, is_long) = (numbers.form, *is_long);
                numbers.each(docs, |at, raw| {
                    asked.push(docs[at]);
                    inputs.push(match is_long {
                        true => Input::Long(form.millis(raw)),
                        false => Input::Double(form.double(raw)),
                    });
                });
            }
            Some(Before::Words(words)) => {
                let (terms, words) = &mut **words;
                terms.each(docs, |at, ord| {
                    // Damage is found by whoever drives.
                    if let Ok(word) = words.get(ord) {
                        asked.push(docs[at]);
                        inputs.push(Input::Text(String::from_utf8_lossy(word).into()));
                    }
                });
            }
        }
        self.scores.clear();
        self.scores.extend(asked.iter().map(|doc| scores.of(*doc)));
    }

    /// What was made of each document.
    fn column(&mut self) -> Column {
        let mut made: Vec<Result<Made, Error>> = Vec::with_capacity(self.docs.len());
        let results = self.runner.take_results();
        let mut results = self.asked.iter().zip(results).peekable();
        for doc in &self.docs {
            let mut all = Ok(Made::default());
            while let Some((_, result)) = results.next_if(|(asked, _)| *asked == doc) {
                match (result, &mut all) {
                    (Some(Ok(mut found)), Ok(all)) => {
                        all.numbers.append(&mut found.numbers);
                        all.texts.append(&mut found.texts);
                    }
                    (Some(Err(error)), _) => all = Err(error),
                    _ => {}
                }
            }
            if let Ok(all) = &mut all {
                all.numbers.sort_by(f64::total_cmp);
                all.texts.sort_unstable();
                all.texts.dedup();
            }
            made.push(all);
        }
        Column { docs: self.docs.clone(), made }
    }
}

/// The elements of a collection, or the value itself; nothing of `null`.
fn spread(heap: &Heap, value: Value) -> Vec<Value> {
    match (value, heap.as_object(value)) {
        (Value::Null, _) => Vec::new(),
        (_, Some(Object::List(items) | Object::Array(_, items) | Object::Stream(items))) => {
            items.clone()
        }
        (_, Some(Object::Set(set))) => set.keys(heap),
        _ => vec![value],
    }
}

fn take_numbers(heap: &mut Heap, value: Value) -> Result<Made, Fault> {
    let mut numbers = Vec::new();
    for value in spread(heap, value) {
        numbers.push(match value {
            Value::Bool(flag) => f64::from(u8::from(flag)),
            _ if arith::wide(value).is_some() => arith::double(value),
            Value::Float(_) | Value::Double(_) => arith::double(value),
            _ => match heap.as_object(value) {
                Some(Object::Date(date)) => date.epoch_ms().map_or(f64::NAN, |ms| ms as f64),
                _ => {
                    let text = script::show::text(heap, value)?;
                    return Err(Fault::new(
                        "aggregation_execution_exception",
                        format!(
                            "Unsupported script value [{text}], expected a number, date, or boolean"
                        ),
                    ));
                }
            },
        });
    }
    numbers.retain(|number| !number.is_nan());
    Ok(Made { numbers, texts: Vec::new() })
}

fn take_texts(heap: &mut Heap, value: Value) -> Result<Made, Fault> {
    let mut texts = Vec::new();
    for value in spread(heap, value) {
        texts.push(script::show::text(heap, value)?.into_bytes().into());
    }
    Ok(Made { numbers: Vec::new(), texts })
}
