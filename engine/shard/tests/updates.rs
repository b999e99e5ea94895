//! Updates are decided where the document stands: in one batch, in flight, applied, in segments.

mod harness;

use env::Bytes;
use harness::*;
use mapping::document::Arena;
use shard::{Check, Kind, Operation, Outcome, Realtime, Shard, Update, WriteBatch, WriteError};
use sim::SimEnv;

fn change(id: &str, change: &str) -> Operation {
    let update = Update {
        change: std::sync::Arc::new(json::parse(change.as_bytes()).expect("JSON")),
        upsert: None,
        only_absent: false,
        detect_noop: true,
        wants_source: true,
        script: None,
        seen: shard::Seen::All,
    };
    Operation {
        id: id.to_owned(),
        routing: None,
        kind: Kind::Update(Box::new(update)),
        check: Check::None,
    }
}

fn upsert(id: &str, text: &str) -> Operation {
    let mut op = change(id, text);
    if let Kind::Update(update) = &mut op.kind {
        update.upsert = Some(Bytes::from(text.as_bytes().to_vec()));
    }
    op
}

async fn send(shard: &Shard<SimEnv>, ops: Vec<Operation>) -> shard::Answers {
    let mapping_version = mapping().version();
    shard.write(WriteBatch { mapping_version, arena: Arena::new(), ops, room: Vec::new() }).await
}

async fn text(shard: &Shard<SimEnv>, id: &str) -> String {
    let found = shard.get(id, Realtime::Yes).await.expect("serves").expect("there");
    String::from_utf8(found.source.to_vec()).expect("UTF-8")
}

/// To read, change and parse a long document held its core, however small the change was.
#[test]
fn long_documents_are_changed_beside_the_core_and_in_order() {
    story(config(), |_, shard| async move {
        let words: Vec<String> = (0..9_000).map(|number| format!("w{number}")).collect();
        let long = format!(r#"{{"tag":"x","text":"{}","n":1}}"#, words.join(" "));
        wrote(&shard, Op { source: Some(long.clone()), ..put("long", "x") }).await;
        wrote(&shard, put("short", "x")).await;
        let short = send(&shard, vec![change("short", r#"{"n":5}"#)]).await;
        assert_eq!(facts(short[0].as_ref().expect("done")).1, 2);
        let ops = vec![
            change("long", r#"{"n":2}"#),
            change("short", r#"{"n":2}"#),
            change("long", r#"{"n":3}"#),
            change("long", r#"{"n":3}"#),
            change("short", r#"{"n":3}"#),
            change("long", r#"{"tag":"y"}"#),
        ];
        let answers = send(&shard, ops).await;
        let outcomes: Vec<(u64, u64, Outcome)> =
            answers.iter().map(|answer| facts(answer.as_ref().expect("done"))).collect();
        assert_eq!(
            outcomes,
            [
                (3, 2, Outcome::Updated),
                (4, 3, Outcome::Updated),
                (5, 3, Outcome::Updated),
                (5, 3, Outcome::Noop),
                (6, 4, Outcome::Updated),
                (7, 4, Outcome::Updated),
            ]
        );
        let last = long.replace("\"x\"", "\"y\"").replace("\"n\":1", "\"n\":3");
        assert_eq!(text(&shard, "long").await, last);
        let view = shard.refresh().await.expect("refreshed");
        assert_eq!(shown(&view, "long"), Some((7, 4, last)));
        assert_eq!(["w0", "w8999", "all"].map(|word| count_with(&view, "text", word)), [1, 1, 1]);
        assert_eq!((count_with(&view, "tag", "x"), count_with(&view, "tag", "y")), (1, 1));
    });
}

#[test]
fn update_changes_what_stands_there_in_buffer_and_segment() {
    story(config(), |_, shard| async move {
        wrote(&shard, put("a", "x")).await;
        let answers = send(&shard, vec![change("a", r#"{"n":7}"#)]).await;
        let done = answers[0].as_ref().expect("done");
        assert_eq!(facts(done), (1, 2, Outcome::Updated));
        let merged = r#"{"tag":"x","text":"all x","n":7}"#;
        assert_eq!(done.source.as_deref(), Some(merged.as_bytes()));
        shard.refresh().await.expect("refreshed");
        let answers = send(&shard, vec![change("a", r#"{"tag":"y"}"#)]).await;
        assert_eq!(facts(answers[0].as_ref().expect("done")), (2, 3, Outcome::Updated));
        let view = shard.refresh().await.expect("refreshed");
        assert_eq!(shown(&view, "a"), Some((2, 3, merged.replace("\"x\"", "\"y\""))));
        assert_eq!((count_with(&view, "tag", "y"), count_with(&view, "tag", "x")), (1, 0));
    });
}

#[test]
fn updates_of_one_batch_and_in_flight_see_each_other_without_conflict() {
    story(config(), |_, shard| async move {
        let batch = vec![
            upsert("a", r#"{"n":1}"#),
            change("a", r#"{"tag":"x"}"#),
            change("a", r#"{"n":2}"#),
        ];
        let outcomes: Vec<Outcome> = send(&shard, batch)
            .await
            .into_iter()
            .map(|answer| answer.expect("done").outcome)
            .collect();
        assert_eq!(outcomes, [Outcome::Created, Outcome::Updated, Outcome::Updated]);
        assert_eq!(text(&shard, "a").await, r#"{"n":2,"tag":"x"}"#);
        // Handed in before the one before is durable.
        let first = send(&shard, vec![change("a", r#"{"n":3}"#)]);
        let second = send(&shard, vec![change("a", r#"{"text":"t"}"#)]);
        let mut both =
            [Box::pin(first) as std::pin::Pin<Box<dyn Future<Output = _>>>, Box::pin(second)];
        let mut done = Vec::new();
        std::future::poll_fn(|context| {
            both.iter_mut().for_each(|one| {
                if done.len() < 2
                    && let std::task::Poll::Ready(answers) = one.as_mut().poll(context)
                {
                    let answers: shard::Answers = answers;
                    done.push(answers);
                }
            });
            if done.len() == 2 { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
        })
        .await;
        for answers in done {
            assert_eq!(answers[0].as_ref().expect("no conflict").outcome, Outcome::Updated);
        }
        assert_eq!(text(&shard, "a").await, r#"{"n":3,"tag":"x","text":"t"}"#);
    });
}

#[test]
fn what_changes_nothing_writes_nothing() {
    story(config(), |_, shard| async move {
        wrote(&shard, put("a", "x")).await;
        let answers = send(&shard, vec![change("a", r#"{"tag":"x"}"#)]).await;
        assert_eq!(facts(answers[0].as_ref().expect("done")), (0, 1, Outcome::Noop));
        assert_eq!(shard.stats().seq_no_max, Some(0));
        assert_eq!((shard.stats().noop_update_count, shard.stats().index.count), (1, 1));
        let mut forced = change("a", r#"{"tag":"x"}"#);
        if let Kind::Update(update) = &mut forced.kind {
            update.detect_noop = false;
        }
        let answers = send(&shard, vec![forced]).await;
        assert_eq!(facts(answers[0].as_ref().expect("done")), (1, 2, Outcome::Updated));
        assert_eq!(shard.stats().noop_update_count, 1, "what is written all the same is none");
        assert_eq!(shard.stats().counters().noop_update_count, 1);
    });
}

#[test]
fn missing_documents_and_other_states_are_told() {
    story(config(), |_, shard| async move {
        let answers = send(&shard, vec![change("a", r#"{"n":1}"#)]).await;
        assert_eq!(answers, [Err(WriteError::Missing)]);
        wrote(&shard, put("a", "x")).await;
        let mut op = change("a", r#"{"n":9}"#);
        op.check = Check::SeqNo { seq_no: seq(4), term: base::PrimaryTerm(1) };
        let answers = send(&shard, vec![op]).await;
        assert!(matches!(answers[0], Err(WriteError::Conflict(_))), "{answers:?}");
        let answers = send(&shard, vec![change("a", r#"{"n":"no number"}"#)]).await;
        assert!(matches!(answers[0], Err(WriteError::Document(_))), "{answers:?}");
        wrote(&shard, delete("a")).await;
        let answers = send(&shard, vec![change("a", r#"{"n":1}"#)]).await;
        assert_eq!(answers, [Err(WriteError::Missing)]);
    });
}

#[test]
fn batch_stops_where_fields_are_missing() {
    story(config(), |_, shard| async move {
        wrote(&shard, put("a", "x")).await;
        let batch = vec![
            change("a", r#"{"n":5}"#),
            change("a", r#"{"new":true}"#),
            change("a", r#"{"n":2}"#),
        ];
        let answers = send(&shard, batch).await;
        assert_eq!(facts(answers[0].as_ref().expect("done")), (1, 2, Outcome::Updated));
        let Err(WriteError::NeedsFields(delta)) = &answers[1] else { panic!("{answers:?}") };
        assert!(json::to_string(delta.to_json()).contains("\"new\""));
        assert_eq!(answers[2], Err(WriteError::NotTried));
    });
}
