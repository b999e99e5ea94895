//! Structure as rkyv archives: written once, checked once, then read in place.
//!
//! This is the fence around the one unsafe call: reading an archive without checking it again.
//! Checking costs 2.6 ms for 100 MB of structs, and a query looks at several archives; so a
//! [`Checked`] is made by a full check (`bytecheck`) and keeps the very bytes that were checked.
//!
//! Always true
//! 1. The bytes of a [`Checked`] do not change while it lives, and start at a multiple of 16.
//! 2. An archive holds numbers, vectors of numbers and structs of these: no `Rc`, no hash map.
//!
//! Layout (little-endian; rkyv 0.8, its defaults)
//!
//! The root struct is the last bytes of the archive; everything it refers to stands before it. A
//! struct's members lie in the order of its definition. Each begins at a multiple of its measure, which
//! is the size of the largest number in it, and 4 for a vector; the struct is padded with zeros to a
//! multiple of its own. A vector is 8 bytes, two numbers of 4: where its first item stands, counted from
//! the first of these 8 (signed), then how many there are; its items lie one after the other.
//!
//! Example: a struct of a number of 4 bytes, 7, and a vector of numbers of 2 bytes, 1 and 2, is
//! `01 00 02 00 | 07 00 00 00 | f8 ff ff ff 02 00 00 00`.
//!
//! Absent: meaning. The check proves that reading stays inside the bytes; whether an offset read
//! out of an archive points anywhere sensible is for the reader to test.

use std::marker::PhantomData;

use env::Bytes;
use rkyv::api::high::{HighSerializer, HighValidator};
use rkyv::bytecheck::CheckBytes;
use rkyv::rancor;
use rkyv::ser::allocator::ArenaHandle;
use rkyv::util::AlignedVec;
use rkyv::{Archive, Portable, Serialize};

/// What can be read as an archive.
pub trait Root: Archive + 'static
where
    Self::Archived: Portable + for<'a> CheckBytes<HighValidator<'a, rancor::Failure>>,
{
}

impl<T> Root for T
where
    T: Archive + 'static,
    T::Archived: Portable + for<'a> CheckBytes<HighValidator<'a, rancor::Failure>>,
{
}

/// The archive of `value`.
pub fn write<T>(value: &T) -> AlignedVec
where
    T: for<'a> Serialize<HighSerializer<AlignedVec, ArenaHandle<'a>, rancor::Failure>>,
{
    rkyv::to_bytes::<rancor::Failure>(value).expect("vectors of numbers always serialise")
}

/// The bytes are not an archive of the type asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAnArchive;

/// An archive of a `T` that was checked.
pub struct Checked<T> {
    bytes: Held,
    kind: PhantomData<fn() -> T>,
}

/// Who keeps the bytes.
enum Held {
    /// They lie aligned where they are.
    Shared(Bytes),
    /// They had to be copied to lie aligned.
    Copied(AlignedVec),
}

impl<T: Archive> Checked<T>
where
    T::Archived: Portable + for<'a> CheckBytes<HighValidator<'a, rancor::Failure>>,
{
    /// Checks `bytes`, which must be exactly the archive: the root stands at its end.
    pub fn shared(bytes: Bytes) -> Result<Self, NotAnArchive> {
        if bytes.as_ptr().align_offset(AlignedVec::<16>::ALIGNMENT) != 0 {
            return Self::copied(&bytes);
        }
        Self::check(Held::Shared(bytes))
    }

    /// Checks a copy of `bytes`.
    pub fn copied(bytes: &[u8]) -> Result<Self, NotAnArchive> {
        let mut copy = AlignedVec::with_capacity(bytes.len());
        copy.extend_from_slice(bytes);
        Self::check(Held::Copied(copy))
    }

    fn check(bytes: Held) -> Result<Self, NotAnArchive> {
        rkyv::access::<T::Archived, rancor::Failure>(bytes.slice()).map_err(|_| NotAnArchive)?;
        Ok(Self { bytes, kind: PhantomData })
    }

    /// The root.
    #[inline]
    #[allow(unsafe_code, reason = "the fence of this file")]
    pub fn get(&self) -> &T::Archived {
        // SAFETY: a `Checked` is only made by `check`, which validated these bytes as this type.
        // They are the same bytes now: an `AlignedVec` that nobody else holds, or `Bytes`, which
        // promise to be read-only and to answer the same each time.
        unsafe { rkyv::access_unchecked::<T::Archived>(self.bytes.slice()) }
    }
}

impl Held {
    #[inline]
    fn slice(&self) -> &[u8] {
        match self {
            Self::Shared(bytes) => bytes,
            Self::Copied(bytes) => bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rkyv::Deserialize;

    #[derive(Archive, Serialize, Deserialize, Clone, Debug, PartialEq)]
    struct Sample {
        number: u32,
        list: Vec<u64>,
        bytes: Vec<u8>,
    }

    fn sample() -> Sample {
        Sample { number: 7, list: vec![1, 2, u64::MAX], bytes: b"term".to_vec() }
    }

    #[derive(Archive, Serialize)]
    struct Small {
        number: u32,
        list: Vec<u16>,
    }

    #[test]
    fn an_archive_lies_as_its_head_says() {
        let bytes = write(&Small { number: 7, list: vec![1, 2] });
        assert_eq!(bytes[..], [1, 0, 2, 0, 7, 0, 0, 0, 0xf8, 0xff, 0xff, 0xff, 2, 0, 0, 0]);
    }

    #[test]
    fn written_is_read_wherever_it_lies() {
        let bytes = write(&sample());
        for shift in 0..16 {
            let mut place = vec![0; shift];
            place.extend_from_slice(&bytes);
            let end = place.len();
            let place = Bytes::from(place).slice(shift..end).expect("in range");
            let checked = Checked::<Sample>::shared(place).expect("just written");
            assert_eq!(checked.get().number, 7);
            assert_eq!(checked.get().list.last().map(|last| last.to_native()), Some(u64::MAX));
            assert_eq!(checked.get().bytes.as_slice(), b"term");
        }
    }

    #[test]
    fn each_cut_is_refused_or_safe() {
        let bytes = write(&sample());
        for len in 0..bytes.len() {
            if let Ok(checked) = Checked::<Sample>::copied(&bytes[..len]) {
                let _ = checked.get().list.iter().count();
            }
        }
    }

    proptest! {
        #[test]
        fn foreign_bytes_are_refused_or_safe(bytes in prop::collection::vec(any::<u8>(), 0..96)) {
            if let Ok(checked) = Checked::<Sample>::copied(&bytes) {
                let _ = checked.get().list.iter().map(|value| value.to_native()).max();
                let _ = checked.get().bytes.len();
            }
        }

        #[test]
        fn flipped_bits_are_refused_or_safe(bit in 0usize..8 * 64) {
            let mut bytes = write(&sample());
            let bit = bit % (bytes.len() * 8);
            bytes[bit / 8] ^= 1 << (bit % 8);
            if let Ok(checked) = Checked::<Sample>::copied(&bytes) {
                let _ = checked.get().list.iter().map(|value| value.to_native()).max();
            }
        }
    }
}
