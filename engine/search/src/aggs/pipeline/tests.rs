//! The order in which pipelines run, against its plain definition.

use super::*;

/// As [`in_order`] says it: again and again the first of those left that waits for no other of them, or the first.
fn plain_order(pipes: &[Pipe]) -> Vec<usize> {
    let mut left: Vec<usize> = (0..pipes.len()).collect();
    let mut done = Vec::new();
    while !left.is_empty() {
        let is_ready = |at: &usize| {
            let first = paths::first(&pipes[*at].path);
            let waits = |other: &usize| Some(pipes[*other].name.as_str()) == first && other != at;
            !left.iter().any(waits)
        };
        let at = left.iter().position(is_ready).unwrap_or(0);
        done.push(left.remove(at));
    }
    done
}

fn aggs(reads: impl Iterator<Item = String>) -> Aggs {
    let pipe = |(at, path)| Pipe {
        name: format!("p{at}"),
        kind: PipeKind::SumBucket,
        path,
        gaps: Gaps::Skip,
        format: None,
        meta: None,
    };
    Aggs { pipes: reads.enumerate().map(pipe).collect(), ..Aggs::default() }
}

fn places(aggs: &Aggs) -> Vec<usize> {
    in_order(aggs).into_iter().map(|(at, _)| at).collect()
}

#[test]
fn those_that_others_read_come_first_in_any_web() {
    let mut seed = 7u64;
    let mut next = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let mut cycles = 0;
    for _ in 0..2_000 {
        let count = 1 + next(9);
        // One in three reads no pipeline; some read themselves, or go round in a circle.
        let reads: Vec<String> = (0..count)
            .map(|_| match next(3) {
                0 => "_count".to_owned(),
                _ => format!("p{}[a]>b.c", next(count)),
            })
            .collect();
        let aggs = aggs(reads.into_iter());
        let found = places(&aggs);
        assert_eq!(found, plain_order(&aggs.pipes), "{:?}", aggs.pipes);
        let turn = |at: usize| found.iter().position(|place| *place == at);
        let late = |at: usize| {
            let read = paths::first(&aggs.pipes[at].path);
            let of = aggs.pipes.iter().position(|pipe| Some(pipe.name.as_str()) == read);
            of.is_some_and(|of| turn(of) > turn(at))
        };
        cycles += usize::from((0..aggs.pipes.len()).any(late));
    }
    assert!((1..2_000).contains(&cycles), "{cycles} webs with circles");
}

/// Each reads the next: the plain way takes the cube of their number.
#[test]
fn a_long_chain_is_put_in_order_backwards() {
    let count = 100_000;
    let aggs = aggs((1..=count).map(|next| format!("p{next}")));
    assert!(places(&aggs).into_iter().eq((0..count).rev()));
}
