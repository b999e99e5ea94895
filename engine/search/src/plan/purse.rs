//! Memory for what a request becomes in an index, while it becomes that.
//!
//! A list of sixty thousand words may stand in a thousand clauses: what all of them become together is known only when
//! they are bound, and is then there already. So whoever binds looks up now and then whether there is still memory for
//! what was made ([`env::heap`] measures it), and stops where there is none.

use std::fmt;

use mapping::analysis::effort;

/// Of many values, after so many it is looked again.
const VALUES: usize = 1_024;

/// Pays for what is bound.
#[derive(Clone, Copy, Default)]
pub struct Purse<'a> {
    pay: Option<&'a dyn Fn() -> bool>,
}

impl fmt::Debug for Purse<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Purse").finish_non_exhaustive()
    }
}

impl<'a> Purse<'a> {
    /// `pay` takes memory for what was made since it was asked last, or says that there is none.
    pub fn of(pay: &'a dyn Fn() -> bool) -> Self {
        Self { pay: Some(pay) }
    }

    /// Is there memory for what was made, and are there steps left? Where not, what was made is dropped by whoever
    /// counts steps.
    pub fn goes_on(&self) -> bool {
        if effort::is_exhausted() {
            return false;
        }
        let is_paid = self.pay.is_none_or(|pay| pay());
        if !is_paid {
            effort::exhaust();
        }
        is_paid
    }

    /// As [`Self::goes_on`], before the value with this number of a long list: of each the steps count.
    pub fn takes_value(&self, number: usize) -> bool {
        effort::may_read_value() && (!number.is_multiple_of(VALUES) || self.goes_on())
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn what_is_not_paid_ends_the_job_at_the_next_look() {
        let left = Cell::new(3);
        let pay = || {
            left.set(left.get() - 1);
            left.get() > 0
        };
        let purse = Purse::of(&pay);
        let mut read = 0;
        let job = || {
            for number in 0..10 * VALUES {
                if !purse.takes_value(number) {
                    break;
                }
                read += 1;
            }
        };
        assert_eq!(effort::within(1 << 30, job), Err(effort::Exhausted));
        assert_eq!(read, 2 * VALUES);
        assert_eq!(left.get(), 0, "nobody asks again");
    }

    #[test]
    fn values_are_steps() {
        let purse = Purse::default();
        let job = |count: usize| (0..count).all(|number| purse.takes_value(number));
        assert_eq!(effort::within(1 << 10, || job(1_000)), Err(effort::Exhausted));
        assert!(matches!(effort::within(1 << 20, || job(1_000)), Ok((true, 1_000..))));
        assert!(job(10_000), "what nobody bounds goes on");
    }
}
