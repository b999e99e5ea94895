//! Faults planted on purpose, so that the simulation can show that it would find them.
//!
//! Only a build with the feature `planted` can be told to carry one out, and only `simulate` is built
//! so; everywhere else [`planted`] is constant and false, and the compiler leaves nothing of it.

/// A fault that somebody might make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The log answers without having synced.
    SkipSync,
    /// The log answers before it writes.
    AcknowledgeEarly,
    /// Of batches under way, whichever has landed is answered, in any order.
    AcknowledgeOutOfOrder,
    /// The checksum of a batch's payload is not looked at.
    SkipBatchChecksum,
    /// A new file of the log has its name before its folder is synced.
    SkipDirectorySync,
    /// A batch says of itself that it is synced.
    BelieveUnsynced,
    /// What lies behind the log's end stays there.
    LeaveTornTail,
    /// Whatever follows the last good batch is taken for a torn tail.
    TruncateTooMuch,
    /// The last batch of a log is not replayed.
    DropLastBatch,
    /// Operations that the segments hold already are applied again.
    ReplayTwice,
    /// Replay passes over the first operation that no segment holds.
    PassOverFirst,
    /// Replay counts versions from 1.
    ForgetVersion,
    /// Replay drops routing values.
    LoseRouting,
    /// The reign does not rise when the shard opens after a crash.
    KeepTerm,
    /// After a replay a number is given again.
    ReuseSeqNo,
    /// The log is shortened before the manifest is durable.
    ReleaseLogEarly,
    /// Files are removed before the manifest that names them no more is durable.
    RemoveFilesEarly,
    /// The manifest is written before the files that it names.
    ManifestFirst,
    /// The older of two manifests wins.
    WrongSlotWins,
    /// The manifest forgets which documents are deleted.
    ForgetLiveFile,
    /// The manifest forgets the deletes that are remembered.
    ForgetTombstones,
    /// A merge revives what was deleted while it ran.
    ForgetDeletesInMerge,
    /// Operations are read before they are durable.
    PublishEarly,
    /// A refresh is answered without one.
    StaleRefresh,
    /// Decisions do not see what is under way.
    ForgetUnderWay,
    /// An update changes the document that readers see, not the one under way.
    LoseUpdate,
    /// A condition on the sequence number is not looked at.
    IgnoreCondition,
    /// An operation that was done is answered as rejected.
    RejectWhatIsDone,
    /// A change of the cluster state is answered before it is durable.
    AnswerStateEarly,
    /// The log of a state is shortened beyond its snapshot.
    ReleaseStateLog,
    /// A new index is named before its shards are there.
    NameBeforeShards,
    /// The folder of an index goes before the state that names it no more is durable.
    RemoveFolderEarly,
    /// New fields are not put into the mapping that is kept.
    ForgetNewFields,
    /// A code may be redeemed again.
    RedeemTwice,
    /// A refresh token stays the newest when it is used.
    ForgetRotation,
    /// Revocations are answered before they are durable.
    RevokeEarly,
    /// The checksum of a manifest is not looked at.
    SkipManifestChecksum,
    /// The checksums of a segment are not looked at.
    SkipSegmentChecksum,
    /// Two access tokens of a grant have one number.
    ReuseSerial,
    /// Of two changes of settings the one that reaches a shard last counts, and not the newer.
    OldSettingsLast,
    /// A shard is opened while it is still being closed.
    OpenBesideClose,
    /// A copy is named whole before it is durable.
    EndCopyEarly,
    /// Rollovers of one moment do not wait for each other.
    RollAtOnce,
    /// The checksum of a segment is the same whatever a page of it holds.
    BlindChecksum,
    /// Shards that replay take memory without asking for it.
    ReplayWithoutTurns,
}

impl Fault {
    /// All that a simulation of whole nodes can notice: it does not see how much memory its process takes
    /// ([`Self::ReplayWithoutTurns`] is for the test of starts of the crate `shard`).
    pub const ALL: [Self; 44] = [
        Self::SkipSync,
        Self::AcknowledgeEarly,
        Self::AcknowledgeOutOfOrder,
        Self::SkipBatchChecksum,
        Self::SkipDirectorySync,
        Self::BelieveUnsynced,
        Self::LeaveTornTail,
        Self::TruncateTooMuch,
        Self::DropLastBatch,
        Self::ReplayTwice,
        Self::PassOverFirst,
        Self::ForgetVersion,
        Self::LoseRouting,
        Self::KeepTerm,
        Self::ReuseSeqNo,
        Self::ReleaseLogEarly,
        Self::RemoveFilesEarly,
        Self::ManifestFirst,
        Self::WrongSlotWins,
        Self::ForgetLiveFile,
        Self::ForgetTombstones,
        Self::ForgetDeletesInMerge,
        Self::PublishEarly,
        Self::StaleRefresh,
        Self::ForgetUnderWay,
        Self::LoseUpdate,
        Self::IgnoreCondition,
        Self::RejectWhatIsDone,
        Self::AnswerStateEarly,
        Self::ReleaseStateLog,
        Self::NameBeforeShards,
        Self::RemoveFolderEarly,
        Self::ForgetNewFields,
        Self::RedeemTwice,
        Self::ForgetRotation,
        Self::RevokeEarly,
        Self::SkipManifestChecksum,
        Self::SkipSegmentChecksum,
        Self::ReuseSerial,
        Self::OldSettingsLast,
        Self::OpenBesideClose,
        Self::EndCopyEarly,
        Self::RollAtOnce,
        Self::BlindChecksum,
    ];

    /// The fault of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|fault| format!("{fault:?}") == name)
    }
}

#[cfg(feature = "planted")]
thread_local! {
    static PLANTED: std::cell::Cell<Option<Fault>> = const { std::cell::Cell::new(None) };
}

/// Plants a fault in what this thread runs from now on, in place of another.
#[cfg(feature = "planted")]
pub fn plant(fault: Option<Fault>) {
    PLANTED.set(fault);
}

/// Is this fault planted?
#[cfg(feature = "planted")]
pub fn planted(fault: Fault) -> bool {
    PLANTED.get() == Some(fault)
}

/// Is this fault planted? Never.
#[cfg(not(feature = "planted"))]
#[inline(always)]
pub const fn planted(_fault: Fault) -> bool {
    false
}
