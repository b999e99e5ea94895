//! The numbers of one field, kept once for the points and for the column that are made of them.

/// The numbers of one field.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    /// Points are made of them.
    pub(crate) indexed: bool,
    /// A column is made of them.
    pub(crate) column: bool,
    /// Documents, rising; one may stand several times.
    docs: Vec<u32>,
    /// The sortable value of each.
    values: Vec<i64>,
}

impl Numbers {
    /// Bytes of memory held.
    pub(crate) fn size_bytes(&self) -> usize {
        self.docs.capacity() * size_of::<u32>() + self.values.capacity() * size_of::<i64>()
    }

    /// Takes a number of a document.
    pub(crate) fn add(&mut self, doc: u32, value: i64, indexed: bool, column: bool) {
        debug_assert!(self.docs.last().is_none_or(|last| *last <= doc), "documents come in order");
        // A mapping cannot change either answer for a field that exists.
        self.indexed |= indexed;
        self.column |= column;
        self.docs.push(doc);
        self.values.push(value);
    }

    /// All (document, number), in document order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, i64)> {
        self.docs.iter().copied().zip(self.values.iter().copied())
    }

    /// How many.
    pub(crate) fn len(&self) -> usize {
        self.docs.len()
    }
}
