//! What may be asked of the cluster state. Commands carry everything that chance or a clock gives
//! (ids, times), so that `apply` is pure.

use json::Value;
use mapping::Delta;

/// A change.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Gives the cluster its id, once.
    Bootstrap {
        /// The id.
        uuid: [u8; 16],
    },
    /// Makes an index.
    CreateIndex {
        /// Its name.
        name: String,
        /// Its id, from chance.
        uuid: [u8; 16],
        /// Now.
        created_ms: i64,
        /// `settings` of the request; an object.
        settings: Value,
        /// `mappings` of the request; an object.
        mappings: Value,
        /// `aliases` of the request; an object.
        aliases: Value,
    },
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
    },
    /// Opens or closes indices.
    SetOpen {
        /// Ids.
        uuids: Vec<[u8; 16]>,
        /// Open or closed.
        open: bool,
    },
}
