//! How many names one request may hold against how many patterns.
//!
//! Patterns and names are each as many as a request is long, or as requests before it have made: to hold all
//! against all is a product that nothing else bounds, and goes on when whoever asked has left.

/// Steps of one request, at most: some tens of milliseconds.
pub const STEPS_MAX: usize = 64 << 20;

/// What it costs to tell that a name is not the one that is meant.
const STEPS_OF_NAME: usize = 4;

/// What a list of patterns costs each name that is held against it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Of any name.
    fixed: usize,
    /// Of each byte of it.
    of_byte: usize,
}

impl Cost {
    /// Of a list in which `*` stands for any text.
    pub fn of<'p>(patterns: impl IntoIterator<Item = &'p str>) -> Self {
        patterns.into_iter().fold(Self::default(), |sum, pattern| {
            let (fixed, of_byte) = match pattern.contains('*') {
                true => (pattern.len() + 1, 1),
                false => (STEPS_OF_NAME, 0),
            };
            Self { fixed: sum.fixed + fixed, of_byte: sum.of_byte + of_byte }
        })
    }

    /// Of this name.
    pub const fn steps(&self, name: &str) -> usize {
        self.fixed + self.of_byte * name.len()
    }
}

/// What one request may still ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steps(usize);

impl Steps {
    /// So many.
    pub const fn new(most: usize) -> Self {
        Self(most)
    }

    /// Counts `steps`; false where they are more than are left.
    #[must_use]
    pub const fn spend(&mut self, steps: usize) -> bool {
        let is_enough = steps <= self.0;
        self.0 = self.0.saturating_sub(steps);
        is_enough
    }
}

impl Default for Steps {
    fn default() -> Self {
        Self::new(STEPS_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_cost_what_they_and_the_names_are_long() {
        let cost = Cost::of(["logs-*", "a"]);
        assert_eq!(cost.steps(""), 7 + STEPS_OF_NAME);
        assert_eq!(cost.steps("logs-1"), 7 + STEPS_OF_NAME + 6);
        assert_eq!(Cost::of([]).steps("logs-1"), 0);
    }

    #[test]
    fn what_is_spent_is_gone() {
        let mut steps = Steps::default();
        assert!(steps.spend(STEPS_MAX - 1));
        assert!(steps.spend(1));
        assert!(!steps.spend(1));
    }
}
