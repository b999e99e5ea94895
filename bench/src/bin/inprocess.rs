//! A whole node in this process, one core, without HTTP: index a corpus, run a query list, print
//! one JSON line a class in the form of the kit's peers.
//!
//!     inprocess index  INDEX FILE.ndjson DATA --id-field id --mapping BODY.json [--batch 5000]
//!     inprocess search INDEX DATA QUERIES.search.ndjson [--class or,and,phrase] [--command top10] [--reps 10] [--warm 3] [--result FILE]
//!
//! Each query is a search body; it is read, planned and answered anew each time, as over HTTP. Per
//! query the median of its repetitions; per class mean, median and p99 over its queries.
//!
//! Two times are told. `mean_us` is what the peers time: a query that was read before finds its
//! terms, is weighed, and finds its best or its number (`profile` tells). `whole_us` is all, from the
//! body to an answer with ids. As with the peers, a `top10` wants no number of matches.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::Write;
use std::rc::Rc;
use std::time::Instant;

use engine::ops::admin::Aim;
use engine::ops::bulk::BulkRequest;
use engine::ops::document::{WriteAction, WriteItem};
use engine::ops::search::{SearchCall, SearchReply};
use engine::ops::{IndicesOptions, Refresh};
use engine::{Config, Core, Everything, start_all};
use env::Bytes;
use json::Value;
use runtime::RuntimeEnv;

type Node = Rc<Core<RuntimeEnv>>;
type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    let args = Args(std::env::args().skip(1).collect());
    let data = match args.at(0)? {
        "index" => args.at(3)?,
        "search" => args.at(2)?,
        other => return Err(format!("unknown command [{other}], see the head of the file").into()),
    };
    let config =
        Config { memory_bytes: 4 << 30, warn: |text| eprintln!("{text}"), ..Config::new(1, data) };
    let running = runtime::start(vec![(config, args)], |core, (config, args)| async move {
        let told = async {
            let node = start_all(&core.env, config).await?.pop().ok_or("one core was asked for")?;
            let told = match args.at(0)? {
                "index" => index(&node, &args).await,
                _ => search(&node, &args).await,
            };
            node.stop().await;
            told
        };
        let told: Outcome<()> = told.await;
        if let Err(error) = told {
            eprintln!("{error}");
            std::process::exit(1);
        }
    })?;
    running.join()?;
    Ok(())
}

/// Words of the command line.
struct Args(Vec<String>);

impl Args {
    fn at(&self, number: usize) -> Outcome<&str> {
        Ok(self.0.get(number).ok_or("an argument is missing, see the head of the file")?)
    }

    fn option<'a>(&'a self, name: &str, default: &'a str) -> &'a str {
        let at = self.0.iter().position(|word| word == name);
        at.and_then(|at| self.0.get(at + 1)).map_or(default, String::as_str)
    }
}

async fn index(node: &Node, args: &Args) -> Outcome<()> {
    let (name, file) = (args.at(1)?, args.at(2)?);
    let id_field = args.option("--id-field", "id");
    let batch: usize = args.option("--batch", "5000").parse()?;
    let mut body = json::parse(&std::fs::read(args.option("--mapping", ""))?)?;
    if let Some(body) = body.as_object_mut() {
        // Each query looks anew, as by the peers, which keep nothing either.
        let settings = body.get_or_insert_with("settings", || Value::Object(json::Object::new()));
        if let Some(settings) = settings.as_object_mut() {
            settings.insert("index.queries.cache.enabled", false);
            settings.insert("index.requests.cache.enable", false);
        }
    }
    node.create_index(&Everything, name, &body).await?;
    let text = Bytes::from(std::fs::read(file)?);
    let mut lines = Vec::new();
    let mut start = 0;
    for (at, _) in text.iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
        lines.extend(text.slice(start..at));
        start = at + 1;
    }
    let mut items = Vec::with_capacity(lines.len());
    for source in lines {
        let document = json::parse(&source)?;
        let id = document.get(id_field).map(|id| match id {
            Value::String(text) => text.clone(),
            other => json::to_string(other),
        });
        items.push(WriteItem { id, source, ..WriteItem::new(WriteAction::Index, name, "") });
    }
    let count = items.len();
    let begin = Instant::now();
    let mut items = items.into_iter().peekable();
    while items.peek().is_some() {
        let items: Vec<WriteItem> = items.by_ref().take(batch).collect();
        let reply = node.bulk(&Everything, BulkRequest { items, refresh: Refresh::No }).await;
        if let Some(failed) = reply.items.into_iter().find_map(|item| item.result.err()) {
            return Err(failed.into());
        }
    }
    let written = begin.elapsed().as_secs_f64();
    let options = IndicesOptions::default();
    node.force_merge(&Everything, name, options, Aim::Count(1), true).await?;
    node.refresh(&Everything, name, options).await?;
    let settled = begin.elapsed().as_secs_f64();
    println!(
        "{{\"peer\":\"corelode\",\"job\":\"index\",\"corpus\":\"{name}\",\"docs\":{count},\"acknowledged_s\":{written:.3},\"one_segment_s\":{settled:.3},\"docs_per_s\":{:.0},\"mb_per_s\":{:.1},\"segment_bytes\":{}}}",
        count as f64 / written,
        text.len() as f64 / 1e6 / written,
        segment_bytes(std::path::Path::new(args.at(3)?))?
    );
    Ok(())
}

/// Bytes of all segment files below a folder.
fn segment_bytes(folder: &std::path::Path) -> Outcome<u64> {
    let mut sum = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sum += segment_bytes(&entry.path())?;
        } else if entry.file_name().to_string_lossy().starts_with("segment") {
            sum += entry.metadata()?.len();
        }
    }
    Ok(sum)
}

/// One query of the list.
struct Job {
    query: String,
    call: SearchCall,
    /// The same, with its parts timed.
    timed: SearchCall,
    samples: RefCell<Vec<f64>>,
    wholes: RefCell<Vec<f64>>,
}

async fn search(node: &Node, args: &Args) -> Outcome<()> {
    let (name, list) = (args.at(1)?, args.at(3)?);
    let classes: Vec<&str> = args.option("--class", "").split(',').collect();
    let command = args.option("--command", "");
    let reps: usize = args.option("--reps", "10").parse()?;
    let warm: usize = args.option("--warm", "3").parse()?;
    let mut jobs: BTreeMap<(String, String), Vec<Job>> = BTreeMap::new();
    for line in std::fs::read_to_string(list)?.lines() {
        let line = json::parse(line.as_bytes())?;
        let text = |key: &str| line.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (class, of) = (text("class"), text("command"));
        let wanted = classes.iter().any(|prefix| class.starts_with(prefix));
        if !wanted || !command.is_empty() && of != command {
            continue;
        }
        let Some(Value::Object(mut body)) = line.get("body").cloned() else { continue };
        if of == "top10" {
            body.insert("track_total_hits", false);
        }
        let call = SearchCall {
            indices: name.to_owned(),
            body: Bytes::from(json::to_vec(&Value::Object(body.clone()))),
            partial_results: true,
            ..SearchCall::default()
        };
        body.insert("profile", true);
        let timed = Bytes::from(json::to_vec(&Value::Object(body)));
        let timed = SearchCall { body: timed, ..call.clone() };
        let (samples, wholes) = (RefCell::default(), RefCell::default());
        jobs.entry((class, of)).or_default().push(Job {
            query: text("query"),
            call,
            timed,
            samples,
            wholes,
        });
    }
    for _ in 0..warm {
        for job in jobs.values().flatten() {
            node.search(&Everything, &job.call).await?;
        }
    }
    let segments = node.index_rows(&Everything, name, IndicesOptions::default()).await?.len();
    for ((class, command), jobs) in &jobs {
        let mut matches = 0;
        for rep in 0..=reps {
            for job in jobs {
                let before = Instant::now();
                let reply = node.search(&Everything, &job.call).await?;
                let us = before.elapsed().as_nanos() as f64 / 1e3;
                if rep > 0 {
                    job.wholes.borrow_mut().push(us);
                } else {
                    matches += reply.result.total.map_or(0, |total| total.value);
                }
            }
            for job in jobs {
                let reply = node.search(&Everything, &job.timed).await?;
                let us = reply.profile.iter().map(|part| (part.weigh + part.search).as_nanos());
                if rep > 0 {
                    job.samples.borrow_mut().push(us.sum::<u128>() as f64 / 1e3);
                }
            }
        }
        let mut medians: Vec<f64> = jobs.iter().map(|job| median(&job.samples)).collect();
        medians.sort_by(f64::total_cmp);
        let at = |part: f64| {
            let rank = (medians.len() as f64 * part).ceil() as usize;
            medians[rank.clamp(1, medians.len()) - 1]
        };
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let wholes: Vec<f64> = jobs.iter().map(|job| median(&job.wholes)).collect();
        println!(
            "{{\"peer\":\"corelode\",\"corpus\":\"{name}\",\"class\":\"{class}\",\"command\":\"{command}\",\"queries\":{},\"segments\":{segments},\"mean_us\":{:.1},\"p50_us\":{:.1},\"p99_us\":{:.1},\"whole_us\":{:.1},\"matches\":{matches}}}",
            medians.len(),
            mean(&medians),
            at(0.5),
            at(0.99),
            mean(&wholes)
        );
    }
    let result = args.option("--result", "");
    if !result.is_empty() {
        let mut out = std::io::BufWriter::new(std::fs::File::create(result)?);
        for ((class, command), jobs) in &jobs {
            for job in jobs {
                let reply = node.search(&Everything, &job.call).await?;
                writeln!(out, "{}", answer_line(class, command, &job.query, &reply))?;
            }
        }
    }
    Ok(())
}

fn median(samples: &RefCell<Vec<f64>>) -> f64 {
    let mut samples = samples.borrow_mut();
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}

/// One line for the kit's `compare.py`.
fn answer_line(class: &str, command: &str, query: &str, reply: &SearchReply) -> String {
    let hits: Vec<Value> = reply
        .result
        .hits
        .iter()
        .take(10)
        .map(|hit| {
            let id = Value::from(hit.id.clone().unwrap_or_default());
            Value::Array(vec![id, hit.score.map_or(Value::Null, Value::from)])
        })
        .collect();
    let mut line = json::Object::new();
    line.insert("class", class);
    line.insert("command", command);
    line.insert("query", query);
    let count = match command {
        "top10" => Value::Null,
        _ => reply.result.total.map_or(Value::Null, |total| Value::from(total.value)),
    };
    line.insert("count", count);
    line.insert("hits", Value::Array(hits));
    line.insert("aggregation", Value::Null);
    json::to_string(&Value::Object(line))
}
