//! The judgement at the end of a log: a tail that was never acknowledged, or rot?
//!
//! A log ends where the next batch should be and is not good. That is a torn tail, which no one
//! was promised, only if nothing that can still be read says otherwise:
//!
//! * no batch, before or after, says that the missing one was synced;
//! * no batch stands further behind it than batches may be under way at once
//!   ([`IN_FLIGHT_MAX`]): a later one is begun only when the missing one is synced;
//! * no later file is in use: a file is begun only when all batches of the one before are synced;
//! * where the missing batch should begin stands nothing that was meant for another place.
//!
//! A header counts as a witness even where its payload is torn: it tells what was known when it
//! was written.
//!
//! Not here: finding the witnesses (`reader`).

use crate::{IN_FLIGHT_MAX, LogPosition};

/// A batch header of this log that was found at or after the bad place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Witness {
    /// Where in its file.
    pub(crate) offset: u64,
    /// Its place in the log.
    pub(crate) position: LogPosition,
    /// What it knew to be synced.
    pub(crate) synced: LogPosition,
}

/// Judges the end of a log: `missing` should lie at `offset` and does not; `synced` is the highest
/// position that good batches or a manifest say is durable. The error says what speaks against a
/// torn tail.
pub(crate) fn judge(
    missing: LogPosition,
    offset: u64,
    synced: LogPosition,
    witnesses: &[Witness],
) -> Result<(), String> {
    if missing <= synced {
        return Err(format!("batch {missing} is not good, but was synced: up to {synced}"));
    }
    for witness in witnesses {
        let Witness { offset: at, position, synced } = *witness;
        if missing <= synced {
            return Err(format!(
                "batch {missing} is not good, but batch {position} at {at} knew it synced"
            ));
        }
        if position.0 >= missing.0.saturating_add(IN_FLIGHT_MAX) {
            return Err(format!(
                "batch {missing} is not good, but batch {position} at {at} was begun, which waits for it"
            ));
        }
        if position < missing || (position != missing) == (at == offset) {
            return Err(format!(
                "batch {missing} should be at {offset}, batch {position} is at {at}"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn witness(offset: u64, position: u64, synced: u64) -> Witness {
        Witness { offset, position: LogPosition(position), synced: LogPosition(synced) }
    }

    #[test]
    fn nothing_behind_is_a_torn_tail() {
        assert_eq!(judge(LogPosition(5), 4096, LogPosition(4), &[]), Ok(()));
        assert_eq!(judge(LogPosition(1), 4096, LogPosition(0), &[]), Ok(()));
    }

    #[test]
    fn batches_of_the_same_window_do_not_speak_against_it() {
        let later = [witness(4096, 5, 3), witness(8192, 6, 4), witness(12288, 8, 4)];
        assert_eq!(judge(LogPosition(5), 4096, LogPosition(4), &later), Ok(()));
    }

    #[test]
    fn a_synced_batch_is_not_torn() {
        assert!(judge(LogPosition(5), 4096, LogPosition(5), &[]).is_err());
        assert!(judge(LogPosition(5), 4096, LogPosition(4), &[witness(8192, 6, 5)]).is_err());
    }

    #[test]
    fn a_batch_beyond_the_window_proves_that_it_was_synced() {
        assert!(judge(LogPosition(5), 4096, LogPosition(4), &[witness(8192, 9, 4)]).is_err());
        assert!(judge(LogPosition(5), 4096, LogPosition(4), &[witness(8192, 8, 4)]).is_ok());
    }

    #[test]
    fn a_batch_in_the_wrong_place_is_no_torn_tail() {
        assert!(judge(LogPosition(5), 4096, LogPosition(4), &[witness(4096, 6, 4)]).is_err());
        assert!(judge(LogPosition(5), 4096, LogPosition(4), &[witness(8192, 5, 4)]).is_err());
        assert!(judge(LogPosition(5), 4096, LogPosition(4), &[witness(8192, 3, 2)]).is_err());
    }
}
