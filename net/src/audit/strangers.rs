//! Callers without any credential, for the audit log: a line an address and minute, which counts what
//! came since the line before. A line each would let anybody fill the log.

use std::cell::RefCell;

use base::hash::Map;

/// A stranger is noted at most this often.
const EVERY_MS: u64 = 60_000;

/// Addresses that one core tells apart; all further ones share a place.
const ADDRESSES_MAX: usize = 1_024;

/// What one core has noted lately, by address.
#[derive(Default)]
pub struct Strangers(RefCell<Map<String, Seen>>);

/// When an address was noted last, and how often it came unnoted since.
struct Seen {
    at_ms: u64,
    more: u64,
}

impl Strangers {
    /// The count for a line about a request from this address: of this one, and of those that none was
    /// written about. `None`: none is due.
    pub fn count(&self, address: &str, now_ms: u64) -> Option<u64> {
        let mut known = self.0.borrow_mut();
        if !known.contains_key(address) && known.len() >= ADDRESSES_MAX {
            // What has nothing to tell is forgotten.
            known.retain(|_, seen| seen.more > 0 || now_ms.saturating_sub(seen.at_ms) < EVERY_MS);
        }
        let is_full = !known.contains_key(address) && known.len() >= ADDRESSES_MAX;
        let place = if is_full { "" } else { address };
        match known.get_mut(place) {
            Some(seen) if now_ms.saturating_sub(seen.at_ms) < EVERY_MS => {
                seen.more += 1;
                None
            }
            Some(seen) => {
                seen.at_ms = now_ms;
                Some(1 + std::mem::take(&mut seen.more))
            }
            None => {
                known.insert(place.to_owned(), Seen { at_ms: now_ms, more: 0 });
                Some(1)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_a_line_a_minute_and_no_request_is_lost() {
        let strangers = Strangers::default();
        let mut lines = 0;
        let mut told = 0;
        for now_ms in 0..600_000 {
            if let Some(count) = strangers.count("10.0.0.1", now_ms) {
                lines += 1;
                told += count;
            }
        }
        assert_eq!(lines, 10);
        told += strangers.count("10.0.0.1", 900_000).expect("a line is due") - 1;
        assert_eq!(told, 600_000);
        assert_eq!(strangers.count("10.0.0.2", 900_000), Some(1), "another address");
    }

    #[test]
    fn many_addresses_take_no_more_than_so_much_place() {
        let strangers = Strangers::default();
        let lines = (0..100_000u32).filter(|n| strangers.count(&n.to_string(), 5).is_some());
        assert_eq!(lines.count(), ADDRESSES_MAX + 1);
        assert_eq!(strangers.0.borrow().len(), ADDRESSES_MAX + 1);
        // A minute later they are forgotten, but for the shared place, which has much to tell.
        assert_eq!(strangers.count("new", 60_005), Some(1));
        assert_eq!(strangers.0.borrow().len(), 2);
    }
}
