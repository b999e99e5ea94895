//! Prepared documents, one after the other in flat memory.

use base::FieldNo;

/// Prepared documents of one batch; may cross cores; reused after [`Arena::clear`].
#[derive(Debug, Default)]
pub struct Arena {}

/// One prepared fact about a document.
#[derive(Clone, Copy, Debug)]
pub enum Entry<'a> {
    /// The words of a text field, all values of the document together; once a field.
    Text {
        /// The field.
        field: FieldNo,
        /// Words with positions, in order of position.
        terms: Terms<'a>,
        /// Words counted for the norm (several at one position count once).
        length: u32,
    },
    /// A term of a keyword field; once a value.
    Keyword {
        /// The field.
        field: FieldNo,
        /// Its bytes.
        term: &'a [u8],
        /// Goes into the inverted index.
        indexed: bool,
        /// Goes into the column.
        column: bool,
    },
    /// A number, date or boolean; once a value.
    Number {
        /// The field.
        field: FieldNo,
        /// Its sortable value.
        value: i64,
        /// Goes into the points.
        indexed: bool,
        /// Goes into the column.
        column: bool,
    },
    /// The field has a value but no column or norm that would tell: goes to `_field_names`. Also
    /// given for a text whose every value is without words, for its norm of 0 reads as absent.
    Exists {
        /// The field.
        field: FieldNo,
    },
    /// A value was left out: the path goes to `_ignored`; once a path.
    Ignored {
        /// The field's path.
        path: &'a str,
    },
}

/// Words of a text with their positions, in order.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    bytes: &'a [u8],
}

impl<'a> Iterator for Terms<'a> {
    type Item = (&'a [u8], u32);

    fn next(&mut self) -> Option<Self::Item> {
        let _ = self.bytes;
        todo!()
    }
}

/// The entries of one document.
#[derive(Clone, Debug)]
pub struct Entries<'a> {
    arena: &'a Arena,
}

impl<'a> Iterator for Entries<'a> {
    type Item = Entry<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        let _ = self.arena;
        todo!()
    }
}

impl Arena {
    /// An empty arena.
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of documents.
    pub fn len(&self) -> usize {
        todo!()
    }

    /// True without documents.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes held, for budgets.
    pub fn size_bytes(&self) -> usize {
        todo!()
    }

    /// The entries of a document, by the number [`super::Parsed::Ready`] gave.
    pub fn entries(&self, _doc: usize) -> Entries<'_> {
        Entries { arena: self }
    }

    /// Forgets all documents, keeps the memory.
    pub fn clear(&mut self) {
        todo!()
    }
}
