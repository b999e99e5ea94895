//! How long a change takes to be worked out, about: whether it would hold a core.
//!
//! Counted in values of JSON and in fields of the mappings that are made anew, of which each takes half a
//! microsecond; in texts by what they may be at worst, a line of words that all mean the same: a rule for each two
//! of them. What templates bring counts where they are worked in. The count ends where it is enough, so asking costs
//! little however large a change is.

use json::Value;

use crate::alias::AliasAction;
use crate::command::{Command, NewIndex};
use crate::settings::IndexSettings;
use crate::state::State;
use crate::template::{IndexTemplate, Part};

/// So many rules of synonyms take as long as a value.
const RULES: usize = 3;

/// In a longer text no words are counted: it takes long.
const TEXT_BYTES: usize = 4 << 10;

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
                self.take(new.source.map_or(0, |uuid| state.fields_of(uuid)));
                self.fitting(state, new);
                // It may bring some, of its own or of a template.
                self.names(state);
            }
            Command::DeleteIndices { .. } | Command::DeleteDataStreams { .. } => self.names(state),
            Command::UpdateAliases { actions } => {
                self.take(actions.len());
                self.names(state);
                for action in actions {
                    if self.0 == 0 {
                        return;
                    }
                    if let AliasAction::Add { alias, .. } = action {
                        alias.filter.iter().for_each(|filter| self.value(filter));
                    }
                }
            }
            Command::PutIndexTemplate { template, .. } => self.template(state, template),
            Command::PutComponentTemplate { name, template, .. } => {
                self.part(&template.template);
                // Those that are made of it are checked with it.
                for user in state.templates.index.values() {
                    if self.0 == 0 {
                        return;
                    }
                    if user.composed_of.contains(name) {
                        self.template(state, user);
                    }
                }
            }
            Command::PutLegacyTemplate { template, .. } => self.part(&template.part),
            Command::PutClusterSettings { persistent, transient, .. } => {
                self.value(persistent);
                self.value(transient);
            }
            _ => {}
        }
    }

    /// The table of aliases is made anew: each name with each of its indices.
    fn names(&mut self, state: &State) {
        for indices in state.aliases.values() {
            if self.0 == 0 {
                return;
            }
            self.take(1 + indices.len());
        }
    }

    /// The templates that fit a new index.
    fn fitting(&mut self, state: &State, new: &NewIndex) {
        if self.0 == 0 || new.composed {
            return;
        }
        let settings = IndexSettings::parse_part(&new.settings);
        let hidden = settings.is_ok_and(|settings| settings.flag("index.hidden"));
        let asked = new.stream.as_deref().unwrap_or(&new.name);
        match state.templates.find(asked, hidden && new.stream.is_none()) {
            Some((_, template)) => self.template(state, template),
            None => {
                for (_, legacy) in state.templates.find_legacy(asked, hidden) {
                    self.part(&legacy.part);
                }
            }
        }
    }

    /// A template with its components.
    fn template(&mut self, state: &State, template: &IndexTemplate) {
        template.template.iter().for_each(|part| self.part(part));
        for name in &template.composed_of {
            if self.0 == 0 {
                return;
            }
            self.take(1);
            let component = state.templates.component.get(name.as_str());
            component.iter().for_each(|component| self.part(&component.template));
        }
    }

    fn part(&mut self, part: &Part) {
        for (_, value) in part.settings.iter().flat_map(|settings| settings.iter()) {
            self.value(value);
        }
        self.take(part.aliases.as_ref().map_or(0, |aliases| aliases.len()));
        part.mappings.iter().for_each(|mappings| self.value(mappings));
    }

    fn text(&mut self, text: &str) {
        // A word of a rule has a comma behind it.
        let words = match text.len() > TEXT_BYTES {
            true => text.len(),
            false => text.bytes().filter(|byte| *byte == b',').count(),
        };
        self.take(words.saturating_mul(words) / RULES);
    }

    fn value(&mut self, value: &Value) {
        if self.0 == 0 {
            return;
        }
        self.take(1);
        match value {
            Value::Object(members) => members.iter().for_each(|(_, member)| self.value(member)),
            Value::Array(items) => items.iter().for_each(|item| self.value(item)),
            Value::String(text) => self.text(text),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use json::json;
    use mapping::Delta;

    use super::*;
    use crate::alias::Alias;
    use crate::apply::apply;
    use crate::command::NewIndex;
    use crate::template::{ComponentTemplate, LegacyTemplate};

    fn uuid(number: u16) -> [u8; 16] {
        let mut uuid = [0; 16];
        uuid[..2].copy_from_slice(&number.to_le_bytes());
        uuid
    }

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

    #[test]
    fn a_table_of_aliases_is_made_anew_by_all_that_change_it() {
        // The story: a few hundred names of a hundred and fifty indices each were counted as a few hundred.
        let add = |number: u16, name: usize| AliasAction::Add {
            uuid: uuid(number),
            name: format!("a{name}"),
            alias: Alias::default(),
        };
        let new = |number| NewIndex::new(&format!("i{number}"), uuid(number), 0);
        let indices = (0..50).map(|number| Command::CreateIndex(new(number)));
        let empty = indices.fold(State::default(), |state, command| apply(&state, &command).0);
        let some = |names: usize| {
            let actions = (0..50).flat_map(|number| (0..names).map(move |name| add(number, name)));
            apply(&empty, &Command::UpdateAliases { actions: actions.collect() }).0
        };
        let changes = [
            Command::UpdateAliases { actions: vec![add(1, 0)] },
            Command::DeleteIndices { uuids: vec![uuid(2)] },
            Command::CreateIndex(new(50)),
        ];
        for change in changes {
            assert!(!some(5).takes_long(&change), "{change:?}");
            assert!(some(25).takes_long(&change), "{change:?}");
        }
    }

    #[test]
    fn what_templates_bring_counts_where_they_are_worked_in() {
        // The story: an index that was asked for in a few words took a core for as long as its templates said.
        let part = |count| Part { mappings: Some(fields(count)), ..Part::default() };
        let component = |count| Command::PutComponentTemplate {
            name: "c".to_owned(),
            template: ComponentTemplate { template: part(count), ..ComponentTemplate::default() },
            create: false,
        };
        let index = IndexTemplate {
            patterns: vec!["a*".to_owned()],
            composed_of: vec!["c".to_owned()],
            ..IndexTemplate::default()
        };
        let index =
            Command::PutIndexTemplate { name: "t".to_owned(), template: index, create: false };
        let template = LegacyTemplate {
            patterns: vec!["b*".to_owned()],
            part: part(900),
            ..LegacyTemplate::default()
        };
        let legacy = Command::PutLegacyTemplate { name: "l".to_owned(), template, create: false };
        let made = [component(900), index.clone(), legacy]
            .iter()
            .fold(State::default(), |state, command| apply(&state, command).0);
        let new = |name| NewIndex::new(name, [1; 16], 0);
        for (name, long) in [("a", true), ("b", true), ("c", false)] {
            assert_eq!(made.takes_long(&Command::CreateIndex(new(name))), long, "{name}");
        }
        let composed = NewIndex { composed: true, ..new("a") };
        assert!(!made.takes_long(&Command::CreateIndex(composed)), "it brings all along");
        let stream = NewIndex { stream: Some("a".to_owned()), ..new("c") };
        assert!(made.takes_long(&Command::CreateIndex(stream)));
        // They are checked with what they are made of, and with what is made of them.
        assert!(made.takes_long(&index));
        assert!(!State::default().takes_long(&component(100)));
        let few = apply(&made, &component(100)).0;
        assert!(!few.takes_long(&index));
        let whole = IndexTemplate {
            patterns: vec!["a*".to_owned()],
            template: Some(part(900)),
            composed_of: vec!["c".to_owned()],
            ..IndexTemplate::default()
        };
        let whole =
            Command::PutIndexTemplate { name: "t".to_owned(), template: whole, create: false };
        assert!(apply(&few, &whole).0.takes_long(&component(1)));
    }
}
