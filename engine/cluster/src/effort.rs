//! How long a change takes to be worked out, about: whether it would hold a core.
//!
//! Counted in values of JSON and in fields of the mappings that are made anew, of which each takes half a
//! microsecond. The count ends where it is enough, so asking costs little however large a change is.

use json::Value;

use crate::command::Command;
use crate::state::State;
use crate::template::Part;

/// A change of more values and fields takes long.
const LONG: usize = 1_000;

/// What may still be counted.
struct Left(usize);

impl State {
    /// Would working this change out hold a core?
    pub fn takes_long(&self, command: &Command) -> bool {
        let mut left = Left(LONG);
        left.command(self, command);
        left.0 == 0
    }

    /// Fields that are looked at where a mapping is made anew.
    fn fields_of(&self, uuid: [u8; 16]) -> usize {
        let index = self.index_by_uuid(uuid);
        index.map_or(0, |index| usize::try_from(index.mapping.total_fields()).unwrap_or(usize::MAX))
    }
}

impl Left {
    fn take(&mut self, count: usize) {
        self.0 = self.0.saturating_sub(count);
    }

    fn command(&mut self, state: &State, command: &Command) {
        match command {
            Command::At { command, .. } => self.command(state, command),
            Command::Batch(commands) => {
                for command in commands {
                    self.command(state, command);
                }
            }
            Command::AddFields { deltas } => {
                let mut before = None;
                for (uuid, delta) in deltas {
                    if self.0 == 0 {
                        return;
                    }
                    // The table of an index is made once.
                    if before.replace(uuid) != Some(uuid) {
                        self.take(state.fields_of(*uuid));
                    }
                    self.value(delta.to_json());
                }
            }
            Command::PutMapping { uuids, mappings } => {
                for uuid in uuids {
                    if self.0 == 0 {
                        return;
                    }
                    self.take(state.fields_of(*uuid));
                    self.value(mappings);
                }
            }
            Command::PutSettings { uuids, settings, .. } => {
                for _ in uuids {
                    self.value(settings);
                }
            }
            Command::CreateIndex(new) => {
                self.value(&new.settings);
                self.value(&new.mappings);
                self.value(&new.aliases);
            }
            Command::UpdateAliases { actions } => {
                // The table of names is made anew.
                self.take(actions.len().saturating_add(state.aliases.len()));
            }
            Command::PutIndexTemplate { template, .. } => {
                template.template.iter().for_each(|part| self.part(part));
            }
            Command::PutComponentTemplate { template, .. } => self.part(&template.template),
            Command::PutLegacyTemplate { template, .. } => self.part(&template.part),
            Command::PutClusterSettings { persistent, transient } => {
                self.value(persistent);
                self.value(transient);
            }
            _ => {}
        }
    }

    fn part(&mut self, part: &Part) {
        self.take(part.settings.as_ref().map_or(0, |settings| settings.iter().count()));
        self.take(part.aliases.as_ref().map_or(0, |aliases| aliases.len()));
        part.mappings.iter().for_each(|mappings| self.value(mappings));
    }

    fn value(&mut self, value: &Value) {
        if self.0 == 0 {
            return;
        }
        self.take(1);
        match value {
            Value::Object(members) => members.iter().for_each(|(_, member)| self.value(member)),
            Value::Array(items) => items.iter().for_each(|item| self.value(item)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use json::json;
    use mapping::Delta;

    use super::*;
    use crate::apply::apply;
    use crate::command::NewIndex;

    fn fields(count: usize) -> Value {
        let field = |at: usize| (format!("f{at}"), json!({"type": "long"}));
        let mut body = json::Object::new();
        body.insert("properties", Value::Object((0..count).map(field).collect()));
        Value::Object(body)
    }

    #[test]
    fn a_change_is_long_by_what_it_says_and_by_what_it_makes_anew() {
        let create = |count: usize| {
            Command::CreateIndex(NewIndex {
                mappings: fields(count),
                ..NewIndex::new("i", [1; 16], 0)
            })
        };
        let empty = State::default();
        assert!(!empty.takes_long(&create(100)));
        assert!(empty.takes_long(&create(1_000)));
        let one = || vec![([1; 16], Delta::from_json(fields(1)))];
        assert!(!apply(&empty, &create(100)).0.takes_long(&Command::AddFields { deltas: one() }));
        let state = apply(&empty, &create(1_000)).0;
        assert!(state.takes_long(&Command::AddFields { deltas: one() }));
        let many = (0..900).flat_map(|_| one()).collect();
        assert!(empty.takes_long(&Command::AddFields { deltas: many }));
        let batch = Command::Batch(vec![create(1), create(1_000).at(5)]);
        assert!(empty.takes_long(&batch));
    }
}
