//! One tree of fields in memory for indices that have equal ones, as those of one template or data stream do.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::state::Index;

/// `index` with the mapping of one of `others` in place of its own, where those say the same.
pub(crate) fn shared(others: &BTreeMap<Arc<str>, Arc<Index>>, mut index: Index) -> Index {
    let before = others.get(&index.name);
    if before.is_some_and(|before| Arc::ptr_eq(&before.mapping, &index.mapping)) {
        return index;
    }
    for other in others.values() {
        // Analyzers are part of a mapping.
        if index.mapping.likeness() != other.mapping.likeness()
            || !index.settings.means_the_same_to_mappings(&other.settings)
        {
            continue;
        }
        if let Some(mapping) = index.mapping.shared_with(&other.mapping) {
            let is_same = mapping.version() == other.mapping.version();
            index.mapping = if is_same { Arc::clone(&other.mapping) } else { Arc::new(mapping) };
            break;
        }
    }
    index
}

/// Trees of indices that are read one after the other.
#[derive(Default)]
pub(crate) struct Known(BTreeMap<u64, Vec<Arc<Index>>>);

impl Known {
    /// As [`shared`], beside those that were seen before.
    pub(crate) fn shared(&mut self, index: Index) -> Arc<Index> {
        let likeness = index.mapping.likeness();
        let alike = self.0.entry(likeness).or_default();
        let others = alike.iter().map(|index| (Arc::clone(&index.name), Arc::clone(index)));
        let index = Arc::new(shared(&others.collect(), index));
        if !alike.iter().any(|other| other.mapping.tree() == index.mapping.tree()) {
            alike.push(Arc::clone(&index));
        }
        index
    }
}

#[cfg(test)]
mod tests {
    use json::json;

    use crate::apply::{Outcome, apply};
    use crate::command::{Command, NewIndex};
    use crate::state::State;

    fn with(
        state: &State,
        number: u8,
        name: &str,
        body: json::Value,
        settings: json::Value,
    ) -> State {
        let new = NewIndex { mappings: body, settings, ..NewIndex::new(name, [number; 16], 0) };
        let (state, outcome) = apply(state, &Command::CreateIndex(new));
        assert_eq!(outcome, Outcome::Done);
        state
    }

    fn tree(state: &State, name: &str) -> usize {
        state.index(name).expect("made").mapping.tree()
    }

    #[test]
    fn equal_mappings_are_one_in_memory_and_after_a_start() {
        let body = || json!({"properties": {"a": {"type": "text"}, "b": {"type": "long"}}});
        let state = with(&State::default(), 1, "one", body(), json!({}));
        let state = with(&state, 2, "two", body(), json!({"index.number_of_shards": "3"}));
        let state =
            with(&state, 3, "other", json!({"properties": {"a": {"type": "text"}}}), json!({}));
        let coerce = json!({"index.mapping.coerce": "false"});
        let state = with(&state, 4, "strict", body(), coerce);
        let is_so = |state: &State| {
            assert_eq!(tree(state, "one"), tree(state, "two"));
            assert_ne!(tree(state, "one"), tree(state, "other"));
            assert_ne!(tree(state, "one"), tree(state, "strict"), "settings are part of it");
        };
        is_so(&state);
        let mut bytes = Vec::new();
        consensus::State::encode(&state, &mut bytes);
        let read =
            <State as consensus::State>::decode(crate::codec::FORMAT, &bytes).expect("sound");
        is_so(&read);
    }

    #[test]
    fn an_index_that_grows_leaves_the_others_as_they_are() {
        let body = || json!({"properties": {"a": {"type": "text"}}});
        let state = with(&State::default(), 1, "one", body(), json!({}));
        let state = with(&state, 2, "two", body(), json!({}));
        let mappings = json!({"properties": {"b": {"type": "long"}}});
        let put =
            |uuid: u8| Command::PutMapping { uuids: vec![[uuid; 16]], mappings: mappings.clone() };
        let (grown, outcome) = apply(&state, &put(1));
        assert_eq!(outcome, Outcome::Done);
        assert!(grown.index("two").expect("made").mapping.field("b").is_none());
        let (both, _) = apply(&grown, &put(2));
        assert_eq!(tree(&both, "one"), tree(&both, "two"), "they meet again");
    }
}
