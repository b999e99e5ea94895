//! The word lists of the data kit: what each stemmer of 2019 made of over a million words. Runs where
//! `CORELODE_KIT` names the kit. The `porter_stem` filter has Lucene's two departures from Porter's list, and is
//! held against Lucene in `lucene_answers`.

use std::collections::BTreeMap;
use std::io::Read;

use mapping::analysis::stem::Snowball;

#[test]
fn stemmers_meet_their_word_lists() {
    let Some(kit) = std::env::var_os("CORELODE_KIT") else { return };
    let path = std::path::Path::new(&kit).join("data/stem-vocab/stem-vocab.tsv.zst");
    let file = std::fs::File::open(path).expect("the kit holds the word lists");
    let mut text = String::new();
    zstd::Decoder::new(file)
        .and_then(|mut decoder| decoder.read_to_string(&mut text))
        .expect("compressed text");
    let mut counts: BTreeMap<&str, (usize, Vec<String>)> = BTreeMap::new();
    for line in text.lines() {
        let mut columns = line.split('\t');
        let (Some(language), Some(word), Some(want)) =
            (columns.next(), columns.next(), columns.next())
        else {
            panic!("three columns: {line}");
        };
        let list = if language == "kraaij_pohlmann" { "kp" } else { language };
        let got = match Snowball::of_list(list) {
            Some(snowball) => snowball.stem(word),
            None => panic!("no stemmer for {language}"),
        };
        let count = counts.entry(language).or_default();
        count.0 += 1;
        if got != want {
            count.1.push(format!("{word}: {got}, not {want}"));
        }
    }
    assert_eq!(counts.len(), 27);
    for (language, (words, wrong)) in counts {
        // The newer program of `kp` differs for some words (docs/api/differences.md).
        let allowed = if language == "kraaij_pohlmann" { 241 } else { 0 };
        let shown = &wrong[..wrong.len().min(20)];
        assert!(wrong.len() <= allowed, "{language}: {} of {words}: {shown:?}", wrong.len());
    }
}
