//! Judging an operation: a pure function of what it asks and how the document stands.
//!
//! The rules are Elasticsearch's (`InternalEngine`, `VersionType`): versions count from 1, deletes
//! count too, a delete of a missing document takes a version, and a create after a remembered delete
//! counts on. An external version must be above (or not below) the one that stands, also where that is
//! of a remembered delete.
//!
//! Not here: sequence numbers and the log (`write`), doing it (`apply`).

use base::planted::{Fault, planted};

use crate::error::Conflict;
use crate::operation::{Check, Outcome};
use crate::versions::Standing;

/// Clients read a version as a signed number of 64 bits; behind the highest, counting ends.
const VERSION_MAX: u64 = i64::MAX as u64;

/// What an operation is about to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    /// Put a document.
    Index,
    /// Put a document where there is none.
    Create,
    /// Take one away.
    Delete,
}

/// What it will do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// The document's version after it.
    pub(crate) version: u64,
    /// What it will have done.
    pub(crate) outcome: Outcome,
}

/// Judges an operation.
pub(crate) fn judge(wish: Wish, check: Check, standing: Standing) -> Result<Verdict, Conflict> {
    let is_present = matches!(standing, Standing::Present(_));
    let current = standing.stamp().map(|stamp| stamp.version);
    let counted = current.map_or(1, |version| version.saturating_add(1).min(VERSION_MAX));
    if (wish == Wish::Create || check == Check::Absent)
        && let Standing::Present(stamp) = standing
    {
        return Err(Conflict::Exists { version: stamp.version });
    }
    let version = match check {
        Check::None | Check::Absent => counted,
        Check::SeqNo { seq_no, term } => {
            let required = (seq_no, term);
            match standing {
                Standing::Present(stamp) if (stamp.seq_no, stamp.term) == required => counted,
                Standing::Present(_) if planted(Fault::IgnoreCondition) => counted,
                Standing::Present(stamp) => {
                    let current = Some((stamp.seq_no, stamp.term));
                    return Err(Conflict::SeqNo { required, current });
                }
                Standing::Absent | Standing::Deleted(_) => {
                    return Err(Conflict::SeqNo { required, current: None });
                }
            }
        }
        Check::External(provided) => match current {
            Some(current) if current >= provided => {
                return Err(Conflict::Version { current, provided, or_equal: false });
            }
            _ => provided,
        },
        Check::ExternalGte(provided) => match current {
            Some(current) if current > provided => {
                return Err(Conflict::Version { current, provided, or_equal: true });
            }
            _ => provided,
        },
    };
    let outcome = match (wish, is_present) {
        (Wish::Delete, true) => Outcome::Deleted,
        (Wish::Delete, false) => Outcome::NotFound,
        (_, true) => Outcome::Updated,
        (_, false) => Outcome::Created,
    };
    Ok(Verdict { version, outcome })
}

#[cfg(test)]
mod tests {
    use base::{PrimaryTerm, SeqNo};

    use super::*;
    use crate::buffer::stored::Stamp;

    const STAMP: Stamp = Stamp { seq_no: SeqNo(6), term: PrimaryTerm(2), version: 5 };
    const PRESENT: Standing = Standing::Present(STAMP);
    const DELETED: Standing = Standing::Deleted(STAMP);
    const ABSENT: Standing = Standing::Absent;

    fn at(seq_no: u64, term: u64) -> Check {
        Check::SeqNo { seq_no: SeqNo(seq_no), term: PrimaryTerm(term) }
    }

    fn version(wish: Wish, check: Check, standing: Standing) -> Option<u64> {
        judge(wish, check, standing).ok().map(|verdict| verdict.version)
    }

    /// Each wish on each standing without a check, as Elasticsearch answers.
    #[test]
    fn versions_count_through_deletes() {
        let table = [
            (Wish::Index, ABSENT, Some((1, Outcome::Created))),
            (Wish::Index, DELETED, Some((6, Outcome::Created))),
            (Wish::Index, PRESENT, Some((6, Outcome::Updated))),
            (Wish::Create, ABSENT, Some((1, Outcome::Created))),
            (Wish::Create, DELETED, Some((6, Outcome::Created))),
            (Wish::Create, PRESENT, None),
            (Wish::Delete, ABSENT, Some((1, Outcome::NotFound))),
            (Wish::Delete, DELETED, Some((6, Outcome::NotFound))),
            (Wish::Delete, PRESENT, Some((6, Outcome::Deleted))),
        ];
        for (wish, standing, expected) in table {
            let found = judge(wish, Check::None, standing).ok();
            let found = found.map(|verdict| (verdict.version, verdict.outcome));
            assert_eq!(found, expected, "{wish:?} {standing:?}");
        }
        assert_eq!(judge(Wish::Create, Check::None, PRESENT), Err(Conflict::Exists { version: 5 }));
    }

    /// What is asked for where nothing stands is done there as without that check, and nowhere else.
    #[test]
    fn absence_is_a_condition_of_each_wish() {
        for wish in [Wish::Index, Wish::Create, Wish::Delete] {
            for standing in [ABSENT, DELETED] {
                let (asked, free) =
                    (judge(wish, Check::Absent, standing), judge(wish, Check::None, standing));
                assert!(free.is_ok() && asked == free, "{wish:?} {standing:?}: {asked:?}");
            }
            let exists = Err(Conflict::Exists { version: 5 });
            assert_eq!(judge(wish, Check::Absent, PRESENT), exists, "{wish:?}");
        }
    }

    #[test]
    fn sequence_number_and_term_must_both_be_those_of_a_document_that_is_there() {
        for wish in [Wish::Index, Wish::Delete] {
            assert_eq!(version(wish, at(6, 2), PRESENT), Some(6));
            for check in [at(5, 2), at(6, 1), at(7, 2)] {
                let Check::SeqNo { seq_no, term } = check else { unreachable!("made above") };
                let current = Some((STAMP.seq_no, STAMP.term));
                let expected = Conflict::SeqNo { required: (seq_no, term), current };
                assert_eq!(judge(wish, check, PRESENT), Err(expected));
            }
            for standing in [ABSENT, DELETED] {
                let required = (SeqNo(6), PrimaryTerm(2));
                let expected = Conflict::SeqNo { required, current: None };
                assert_eq!(judge(wish, at(6, 2), standing), Err(expected));
            }
        }
    }

    #[test]
    fn external_version_must_be_above_and_becomes_the_version() {
        for wish in [Wish::Index, Wish::Delete] {
            for standing in [PRESENT, DELETED] {
                for (provided, taken) in [(4, false), (5, false), (6, true), (99, true)] {
                    let found = version(wish, Check::External(provided), standing);
                    assert_eq!(found, taken.then_some(provided));
                }
                for (provided, taken) in [(4, false), (5, true), (6, true)] {
                    let found = version(wish, Check::ExternalGte(provided), standing);
                    assert_eq!(found, taken.then_some(provided));
                }
            }
            assert_eq!(version(wish, Check::External(0), ABSENT), Some(0));
        }
        let expected = Conflict::Version { current: 5, provided: 5, or_equal: false };
        assert_eq!(judge(Wish::Index, Check::External(5), PRESENT), Err(expected));
    }

    #[test]
    fn internal_counting_goes_on_from_an_external_version() {
        let high = Standing::Present(Stamp { version: 41, ..STAMP });
        assert_eq!(version(Wish::Index, Check::None, high), Some(42));
        let highest = Standing::Present(Stamp { version: VERSION_MAX, ..STAMP });
        assert_eq!(version(Wish::Index, Check::None, highest), Some(VERSION_MAX), "no overflow");
    }
}
