//! What fields without words hold: numbers, kept once for the points and for the column that are made
//! of them; points of two dimensions; byte strings of columns.

use super::rows::{Rows, Slab};

/// The numbers of one field.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    /// Points are made of them.
    pub(crate) indexed: bool,
    /// A column is made of them.
    pub(crate) column: bool,
    /// Documents, rising; one may stand several times.
    docs: Rows<u32>,
    /// The sortable value of each.
    values: Rows<i64>,
}

impl Numbers {
    /// Bytes of memory held.
    pub(crate) fn size_bytes(&self) -> usize {
        self.docs.size_bytes() + self.values.size_bytes()
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

/// Values of one field that are all as long: points of two dimensions.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// Bytes of a value.
    width: usize,
    /// Documents, rising; one may stand several times.
    docs: Rows<u32>,
    /// The values, one after the other.
    bytes: Slab,
}

impl Places {
    /// Bytes of memory held.
    pub(crate) fn size_bytes(&self) -> usize {
        self.docs.size_bytes() + self.bytes.size_bytes()
    }

    /// Takes a value of a document.
    pub(crate) fn add(&mut self, doc: u32, value: &[u8]) {
        debug_assert!(self.docs.is_empty() || self.width == value.len(), "one shape a field");
        self.width = value.len();
        self.docs.push(doc);
        self.bytes.put(value);
    }

    /// Bytes of a value.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// All (document, value), in document order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &[u8])> {
        let width = self.width.max(1);
        let values = self.bytes.blocks().flat_map(move |block| block.chunks_exact(width));
        self.docs.iter().copied().zip(values)
    }
}

/// Byte strings of one field; several of one document are joined when they are sealed.
#[derive(Debug, Default)]
pub(crate) struct Strings {
    /// Documents, rising, each with the address and the length of its string.
    docs: Rows<(u32, u32, u32)>,
    bytes: Slab,
}

impl Strings {
    /// Bytes of memory held.
    pub(crate) fn size_bytes(&self) -> usize {
        self.docs.size_bytes() + self.bytes.size_bytes()
    }

    /// Takes a string of a document.
    pub(crate) fn add(&mut self, doc: u32, bytes: &[u8]) {
        let len = u32::try_from(bytes.len()).expect("a buffer is sealed long before 4 GiB");
        self.docs.push((doc, self.bytes.put(bytes), len));
    }

    /// All (document, string), in document order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &[u8])> {
        self.docs.iter().map(|&(doc, start, len)| (doc, self.bytes.get(start, len)))
    }
}
