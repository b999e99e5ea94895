//! `preference`: which shards and nodes a search asks.
//!
//! With one copy of each shard there is nothing to prefer. What is left are the words that leave
//! something out: `_shards` takes some numbers only, and `_only_nodes` may name no node that is
//! here. Values that begin with another character than `_` only tie a caller to the same copies.

use crate::error::{Error, Result};

/// What a search's `preference` leaves out; nothing by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preference {
    /// Numbers of the shards to ask, as written; `None` is all.
    shards: Option<Vec<String>>,
    /// Names of nodes of which none is here.
    absent: Option<Vec<String>>,
    /// Something was asked for, whatever it leaves out.
    given: bool,
}

impl Preference {
    /// Reads a preference; `is_here` tells whether the names and patterns of `_only_nodes`, between commas, choose
    /// this node.
    ///
    /// # Errors
    /// 400 for a word with `_` in front that is none of Elasticsearch's; what `is_here` says.
    pub fn parse(text: &str, is_here: impl Fn(&str) -> Result<bool>) -> Result<Self> {
        let mut read = Self { given: true, ..Self::default() };
        if !text.starts_with('_') {
            return Ok(read);
        }
        let mut rest = text;
        if word(rest) == "_shards" {
            let (first, then) = rest.split_once('|').unwrap_or((rest, ""));
            let Some((_, numbers)) = first.split_once(':') else { return Err(unknown(text)) };
            let numbers = numbers.split(',').filter(|number| !number.is_empty());
            read.shards = Some(numbers.map(str::to_owned).collect());
            rest = then;
        }
        match (word(rest), rest.split_once(':')) {
            ("", None) if read.shards.is_some() => {}
            ("_local" | "_only_local", _) | ("_prefer_nodes", Some(_)) => {}
            ("_only_nodes", Some((_, nodes))) => {
                if !is_here(nodes)? {
                    read.absent = Some(nodes.split(',').map(str::to_owned).collect());
                }
            }
            _ => return Err(unknown(rest)),
        }
        Ok(read)
    }

    /// Nobody asked for any.
    pub fn is_none(&self) -> bool {
        !self.given
    }

    /// Is this shard of an index asked?
    ///
    /// # Errors
    /// 400 for a number that is none, and where no node is left that could answer.
    pub fn takes(&self, index: &str, number: u32) -> Result<bool> {
        if let Some(numbers) = &self.shards {
            let mut found = false;
            // As Elasticsearch reads them: a wrong one behind the right one is not seen.
            for text in numbers {
                let asked: i32 = text.parse().map_err(|_| {
                    let reason = format!("For input string: \"{text}\"");
                    Error::new(400, "number_format_exception", reason)
                })?;
                if u32::try_from(asked) == Ok(number) {
                    found = true;
                    break;
                }
            }
            if !found {
                return Ok(false);
            }
        }
        let Some(nodes) = &self.absent else { return Ok(true) };
        let what = if nodes.len() == 1 { "criteria" } else { "criterion" };
        Err(Error::illegal_argument(format!(
            "no data nodes with {what} [{}] found for shard: [{index}][{number}]",
            nodes.join(",")
        )))
    }
}

/// The word before the colon.
fn word(text: &str) -> &str {
    text.split(':').next().unwrap_or_default()
}

fn unknown(text: &str) -> Error {
    Error::illegal_argument(format!("no Preference for [{}]", word(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_leaves_out_what_it_says() {
        let all = vec![0, 1, 2, 3];
        let is_here = |nodes: &str| match nodes {
            "data:x" => Err(Error::illegal_argument("[x] is no flag")),
            _ => Ok(nodes.split(',').any(|node| node == "here")),
        };
        let read = |text: &str| Preference::parse(text, is_here);
        let taken = |text: &str| -> std::result::Result<Vec<u32>, String> {
            let preference = read(text).map_err(|error| error.reason)?;
            let mut taken = Vec::new();
            for number in 0..4 {
                if preference.takes("i", number).map_err(|error| error.reason)? {
                    taken.push(number);
                }
            }
            Ok(taken)
        };
        for text in
            ["", "mine", "_local", "_only_local", "_prefer_nodes:nope", "_only_nodes:nope,here"]
        {
            assert_eq!(taken(text), Ok(all.clone()), "{text}");
        }
        assert_eq!(taken("_shards:2"), Ok(vec![2]));
        assert_eq!(taken("_shards:3,1|_local"), Ok(vec![1, 3]));
        assert_eq!(taken("_shards:1|"), Ok(vec![1]));
        assert_eq!(taken("_shards:9,-1"), Ok(vec![]));
        assert_eq!(taken("_shards:"), Ok(vec![]));
        for (text, told) in [
            ("_foo", "no Preference for [_foo]"),
            ("_foo:1", "no Preference for [_foo]"),
            ("_shards", "no Preference for [_shards]"),
            ("_shards:1|mine", "no Preference for [mine]"),
            ("_only_nodes", "no Preference for [_only_nodes]"),
            ("_shards:x", "For input string: \"x\""),
            ("_only_nodes:nope", "no data nodes with criteria [nope] found for shard: [i][0]"),
            ("_only_nodes:data:x", "[x] is no flag"),
            ("_only_nodes:a,b", "no data nodes with criterion [a,b] found for shard: [i][0]"),
            ("_shards:2|_only_nodes:a", "no data nodes with criteria [a] found for shard: [i][2]"),
        ] {
            assert_eq!(taken(text), Err(told.to_owned()), "{text}");
        }
        assert!(read("mine").is_ok_and(|it| !it.is_none()));
        assert!(Preference::default().is_none());
    }
}
