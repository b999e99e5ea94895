//! Characters of which some are taken out on a way through them, without moving all behind each.

use std::ops::{Index, IndexMut, Range};

/// Characters, with a gap where the last ones were taken out.
#[derive(Debug)]
pub(super) struct Gap {
    chars: Vec<char>,
    /// Characters before the gap.
    start: usize,
    /// Places in the gap.
    len: usize,
    /// Characters that were moved so far.
    moved: usize,
}

impl Gap {
    pub(super) fn of(chars: Vec<char>) -> Self {
        Self { chars, start: 0, len: 0, moved: 0 }
    }

    /// Changes characters in place; answers how many were moved.
    pub(super) fn edit(text: &mut Vec<char>, change: impl FnOnce(&mut Self)) -> usize {
        let mut gap = Self::of(std::mem::take(text));
        change(&mut gap);
        gap.chars.drain(gap.start..gap.start + gap.len);
        *text = gap.chars;
        gap.moved
    }

    pub(super) fn len(&self) -> usize {
        self.chars.len() - self.len
    }

    fn place(&self, at: usize) -> usize {
        if at < self.start { at } else { at + self.len }
    }

    pub(super) fn get(&self, at: usize) -> Option<char> {
        self.chars.get(self.place(at)).copied()
    }

    pub(super) fn remove(&mut self, at: usize) {
        self.drain(at..at + 1);
    }

    /// Takes those within `range` out.
    pub(super) fn drain(&mut self, range: Range<usize>) {
        let Range { start, end } = range;
        if start > self.start {
            self.chars.copy_within(self.start + self.len..start + self.len, self.start);
        } else {
            self.chars.copy_within(start..self.start, start + self.len);
        }
        self.moved += start.abs_diff(self.start);
        self.start = start;
        self.len += end - start;
    }
}

impl Index<usize> for Gap {
    type Output = char;

    fn index(&self, at: usize) -> &char {
        &self.chars[self.place(at)]
    }
}

impl IndexMut<usize> for Gap {
    fn index_mut(&mut self, at: usize) -> &mut char {
        let place = self.place(at);
        &mut self.chars[place]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_out_is_gone_and_the_rest_stays_in_order() {
        let mut text: Vec<char> = "0123456789".chars().collect();
        Gap::edit(&mut text, |gap| {
            gap.remove(2);
            gap.drain(5..7);
            assert_eq!(
                (gap[4], gap[5], gap.get(6), gap.get(7), gap.len()),
                ('5', '8', Some('9'), None, 7)
            );
            gap.remove(1);
            gap[1] = 'x';
            gap.remove(gap.len() - 1);
        });
        assert_eq!(text.into_iter().collect::<String>(), "0x458");
    }
}
