//! What may be asked of the cluster state. Commands carry everything that chance or a clock gives
//! (ids, times), so that `apply` is pure.

use json::Value;
use mapping::Delta;

use crate::alias::AliasAction;
use crate::data_stream::{DataStream, StreamChange};
use crate::state::Rollover;
use crate::template::{ComponentTemplate, IndexTemplate, LegacyTemplate, Part};

/// A change.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Gives the cluster its id and the time when it was made, each once.
    Bootstrap {
        /// The id.
        uuid: [u8; 16],
        /// Milliseconds since 1970; none in a log from before the time was kept.
        created_ms: Option<i64>,
    },
    /// Makes an index.
    CreateIndex(NewIndex),
    /// Takes indices away, all or none; names that are gone already are passed over.
    DeleteIndices {
        /// Ids.
        uuids: Vec<[u8; 16]>,
    },
    /// Works a mapping into indices, all or none.
    PutMapping {
        /// Ids.
        uuids: Vec<[u8; 16]>,
        /// The body of the request.
        mappings: Value,
    },
    /// Adds the fields that documents brought along; each is answered on its own.
    AddFields {
        /// Id of the index and its new fields.
        deltas: Vec<([u8; 16], Delta)>,
    },
    /// Changes settings, of all or none.
    PutSettings {
        /// Ids.
        uuids: Vec<[u8; 16]>,
        /// The settings of the request.
        settings: Value,
        /// What is set stays.
        preserve: bool,
        /// How they are judged.
        rules: Rules,
    },
    /// Opens or closes indices.
    SetOpen {
        /// Ids.
        uuids: Vec<[u8; 16]>,
        /// Open or closed.
        open: bool,
        /// How it is counted.
        rules: Rules,
    },
    /// All documents were copied into an index that was made from another: it serves from now on.
    EndCopy {
        /// Its id.
        uuid: [u8; 16],
    },
    /// Keeps with an index what took its writes away.
    NoteRollover {
        /// Its id.
        uuid: [u8; 16],
        /// The alias or data stream.
        target: String,
        /// What held, and when.
        rollover: Rollover,
    },
    /// Changes aliases, all or none.
    UpdateAliases {
        /// In order.
        actions: Vec<AliasAction>,
    },
    /// Sets an index template.
    PutIndexTemplate {
        /// Its name.
        name: String,
        /// What it says.
        template: IndexTemplate,
        /// There must be none of that name.
        create: bool,
    },
    /// Sets a component template.
    PutComponentTemplate {
        /// Its name.
        name: String,
        /// What it says.
        template: ComponentTemplate,
        /// There must be none of that name.
        create: bool,
    },
    /// Sets a template of the old kind.
    PutLegacyTemplate {
        /// Its name.
        name: String,
        /// What it says.
        template: LegacyTemplate,
        /// There must be none of that name.
        create: bool,
    },
    /// Takes templates away, all or none.
    DeleteTemplates {
        /// Of which kind.
        kind: TemplateKind,
        /// Names, all of which are there.
        names: Vec<String>,
    },
    /// Begins a data stream, as its template says; its first index is made in the same change.
    StartStream {
        /// Its name.
        name: String,
        /// Its first index.
        index: String,
    },
    /// Makes a data stream of an alias: its indices, hidden from then on, the one that takes writes last.
    MigrateAlias {
        /// The alias, and the stream.
        name: String,
    },
    /// Puts indices into data streams, or takes them out; all or none.
    ModifyStreams {
        /// One after the other.
        changes: Vec<StreamChange>,
    },
    /// Gives the writes of a data stream to another index, which is there.
    RollStream {
        /// Its name.
        name: String,
        /// The index that had the writes.
        from: String,
        /// The index that has them from now on.
        index: String,
        /// The generation that this one was named by.
        generation: u64,
    },
    /// Gives the writes of an alias to another index, which is there, with what it says of the one that
    /// had them.
    RollAlias {
        /// Its name.
        name: String,
        /// Id of the index that had the writes.
        from: [u8; 16],
        /// The index that has them from now on.
        index: String,
    },
    /// The next write to a data stream rolls it over first.
    MarkStream {
        /// Its name.
        name: String,
    },
    /// Sets a data stream, or replaces it; its indices are there. (Older logs have it: it says what a
    /// stream shall be, whatever others made of it meanwhile.)
    PutDataStream {
        /// What it is.
        stream: DataStream,
        /// There must be none of that name.
        create: bool,
    },
    /// Takes data streams away, with their indices.
    DeleteDataStreams {
        /// Names; those that are gone already are passed over.
        names: Vec<String>,
    },
    /// Stores a script, or replaces it.
    PutScript {
        /// Its id.
        id: String,
        /// Language and source: an object.
        script: Value,
    },
    /// Forgets a stored script; one that is gone already is passed over.
    DeleteScript {
        /// Its id.
        id: String,
    },
    /// Changes settings of the cluster; a null takes one back.
    PutClusterSettings {
        /// Those that outlive a restart.
        persistent: Value,
        /// Those that do not.
        transient: Value,
        /// How they are judged.
        rules: Rules,
    },
    /// Says of more nodes that they shall have no vote.
    AddVotingExclusions {
        /// Id and name of each; those that are known are passed over.
        nodes: Vec<(String, String)>,
        /// So many may be excluded.
        most: u64,
    },
    /// Says which nodes shall have no vote.
    SetVotingExclusions {
        /// Id and name of each.
        nodes: Vec<(String, String)>,
    },
    /// Several changes, all or none.
    Batch(Vec<Command>),
    /// A change that leaves its moment behind, for those who ask since when something is so.
    At {
        /// Now, milliseconds since 1970.
        now_ms: i64,
        /// The change.
        command: Box<Command>,
    },
}

/// How a full disk takes a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    /// It waits until there is room.
    Waits,
    /// It is taken, but not into the last of the room.
    Careful,
    /// It is taken as long as anything is: it gives room back.
    Pressing,
}

/// Do the names of all settings begin so?
fn all_begin(settings: &Value, start: &str) -> bool {
    if settings.is_null() {
        return true;
    }
    match crate::settings::flatten(settings) {
        Ok(flat) => flat.keys().all(|name| name.starts_with(start)),
        Err(_) => false,
    }
}

/// By which rules settings are changed, and indices opened and closed: a log is done again as it was done at first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rules {
    /// Those of logs before them. Of an index: limits of mappings are numbers of 32 bits, and
    /// `index.fielddata.cache` is set at creation only (before version 6). Of the cluster: no list is taken for a
    /// text, `-1b` is no size, and fewer names are known; who opens or closes changes no setting that counts
    /// (before version 7). Of indices that are made: as [`Rules::Former`] (before version 8).
    Before,
    /// Those of versions 6 and 7: fewer names of settings are known.
    Former,
    /// Those of today.
    #[default]
    Now,
}

/// An index to be made.
#[derive(Clone, Debug, PartialEq)]
pub struct NewIndex {
    /// Its name.
    pub name: String,
    /// The name as it was given: perhaps date math, which a rollover works out anew.
    pub provided: String,
    /// Its id, from chance.
    pub uuid: [u8; 16],
    /// Now.
    pub created_ms: i64,
    /// `settings` of the request; an object.
    pub settings: Value,
    /// `mappings` of the request; an object.
    pub mappings: Value,
    /// `aliases` of the request; an object.
    pub aliases: Value,
    /// Templates are worked in already: none is asked.
    pub composed: bool,
    /// The data stream that it is for, which names the template.
    pub stream: Option<String>,
    /// Id of the index whose documents it is to have.
    pub source: Option<[u8; 16]>,
    /// By which rules its settings are judged.
    pub rules: Rules,
}

impl NewIndex {
    /// An index of which nothing is said.
    pub fn new(name: &str, uuid: [u8; 16], created_ms: i64) -> Self {
        Self {
            name: name.to_owned(),
            provided: name.to_owned(),
            uuid,
            created_ms,
            settings: Value::object(),
            mappings: Value::object(),
            aliases: Value::object(),
            composed: false,
            stream: None,
            source: None,
            rules: Rules::Now,
        }
    }
}

impl Command {
    /// The command with its moment, where it leaves one behind: it deletes, closes or opens indices, or
    /// changes how many replicas they have.
    #[must_use]
    pub fn at(self, now_ms: i64) -> Self {
        if !self.leaves_a_moment() {
            return self;
        }
        Self::At { now_ms, command: Box::new(self) }
    }

    /// The change itself, without its moment.
    pub(crate) fn inner(&self) -> &Self {
        match self {
            Self::At { command, .. } => command.inner(),
            other => other,
        }
    }

    fn leaves_a_moment(&self) -> bool {
        match self {
            Self::DeleteIndices { .. }
            | Self::DeleteDataStreams { .. }
            | Self::SetOpen { .. }
            | Self::PutSettings { .. } => true,
            // Its own.
            Self::At { .. } => false,
            Self::Bootstrap { .. }
            | Self::CreateIndex(_)
            | Self::PutMapping { .. }
            | Self::AddFields { .. }
            | Self::EndCopy { .. }
            | Self::NoteRollover { .. }
            | Self::PutIndexTemplate { .. }
            | Self::PutComponentTemplate { .. }
            | Self::PutLegacyTemplate { .. }
            | Self::DeleteTemplates { .. }
            | Self::StartStream { .. }
            | Self::MigrateAlias { .. }
            | Self::ModifyStreams { .. }
            | Self::RollStream { .. }
            | Self::RollAlias { .. }
            | Self::MarkStream { .. }
            | Self::PutDataStream { .. }
            | Self::PutScript { .. }
            | Self::DeleteScript { .. }
            | Self::PutClusterSettings { .. }
            | Self::AddVotingExclusions { .. }
            | Self::SetVotingExclusions { .. } => false,
            Self::UpdateAliases { actions } => {
                actions.iter().any(|action| matches!(action, AliasAction::RemoveIndex { .. }))
            }
            Self::Batch(commands) => commands.iter().any(Self::leaves_a_moment),
        }
    }

    /// What a full disk does with it. Setting a block, and taking it back, may be asked for again and again; an
    /// index is deleted once.
    pub fn urgency(&self) -> Urgency {
        match self.inner() {
            Self::DeleteIndices { .. } | Self::DeleteDataStreams { .. } => Urgency::Pressing,
            Self::UpdateAliases { actions }
                if actions
                    .iter()
                    .all(|action| matches!(action, AliasAction::RemoveIndex { .. })) =>
            {
                Urgency::Pressing
            }
            Self::Bootstrap { .. } => Urgency::Careful,
            Self::PutSettings { settings, .. } if all_begin(settings, "index.blocks.") => {
                Urgency::Careful
            }
            Self::PutClusterSettings { persistent, transient, .. }
                if all_begin(persistent, "cluster.blocks.")
                    && all_begin(transient, "cluster.blocks.") =>
            {
                Urgency::Careful
            }
            Self::Batch(commands) => {
                commands.iter().map(Self::urgency).min().unwrap_or(Urgency::Waits)
            }
            _ => Urgency::Waits,
        }
    }

    /// The indices that it makes.
    pub fn new_indices(&self) -> Vec<&NewIndex> {
        match self.inner() {
            Self::CreateIndex(new) => vec![new],
            Self::Batch(commands) => commands.iter().flat_map(Self::new_indices).collect(),
            _ => Vec::new(),
        }
    }
}

impl Command {
    /// The aliases that it sets, or that a template of it will set.
    pub fn aliases(&self) -> Vec<&str> {
        fn keys(part: &Part) -> impl Iterator<Item = &str> {
            part.aliases.iter().flat_map(|aliases| aliases.keys().map(String::as_str))
        }
        match self.inner() {
            Self::CreateIndex(new) => {
                let aliases = new.aliases.as_object();
                aliases
                    .into_iter()
                    .flat_map(|aliases| aliases.iter())
                    .map(|(name, _)| name)
                    .collect()
            }
            Self::UpdateAliases { actions } => actions
                .iter()
                .filter_map(|action| match action {
                    AliasAction::Add { name, .. } => Some(name.as_str()),
                    AliasAction::Remove { .. }
                    | AliasAction::RemoveAny { .. }
                    | AliasAction::RemoveIndex { .. } => None,
                })
                .collect(),
            Self::PutIndexTemplate { template, .. } => {
                template.template.iter().flat_map(keys).collect()
            }
            Self::PutComponentTemplate { template, .. } => keys(&template.template).collect(),
            Self::PutLegacyTemplate { template, .. } => keys(&template.part).collect(),
            Self::RollAlias { name, .. } => vec![name],
            Self::Batch(commands) => commands.iter().flat_map(Self::aliases).collect(),
            _ => Vec::new(),
        }
    }

    /// The names, aliases aside, that it gives to indices and data streams.
    pub fn names(&self) -> Vec<&str> {
        match self.inner() {
            Self::CreateIndex(new) => vec![&new.name],
            Self::StartStream { name, .. } | Self::MigrateAlias { name } => vec![name],
            Self::PutDataStream { stream, .. } => vec![&stream.name],
            Self::Batch(commands) => commands.iter().flat_map(Self::names).collect(),
            _ => Vec::new(),
        }
    }
}

/// The three kinds of templates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TemplateKind {
    /// `_index_template`.
    Index,
    /// `_component_template`.
    Component,
    /// `_template`.
    Legacy,
}
