//! The bytes of a file, page by page: pages of zeros take no room, and equal pages are shared by the
//! copies of a file. Logs are filled with zeros before their first use, so most pages are zeros.

use std::rc::Rc;

/// Bytes of a page.
const PAGE: usize = 4096;

/// A page; `None` is zeros.
type Page = Option<Rc<[u8; PAGE]>>;

/// The bytes of a file, or of a write.
#[derive(Clone, Debug, Default)]
pub(crate) struct Image {
    pages: Vec<Page>,
    len: usize,
}

impl Image {
    pub(crate) fn new(bytes: &[u8]) -> Self {
        Self { pages: bytes.chunks(PAGE).map(page).collect(), len: bytes.len() }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Cuts, or goes on with zeros.
    pub(crate) fn resize(&mut self, len: usize) {
        if len < self.len && !len.is_multiple_of(PAGE) {
            let at = len / PAGE;
            if let Some(page) = &mut self.pages[at] {
                Rc::make_mut(page)[len % PAGE..].fill(0);
            }
        }
        self.pages.resize(len.div_ceil(PAGE), None);
        self.len = len;
    }

    /// Puts bytes at any offset; what lies between the end and them becomes zeros.
    pub(crate) fn put(&mut self, offset: usize, bytes: &[u8]) {
        let end = offset + bytes.len();
        if self.len < end {
            self.resize(end);
        }
        let (mut at, mut rest) = (offset, bytes);
        while !rest.is_empty() {
            let inside = at % PAGE;
            let (part, later) = rest.split_at(rest.len().min(PAGE - inside));
            let place = &mut self.pages[at / PAGE];
            if part.len() == PAGE {
                *place = page(part);
            } else if place.is_some() || part.iter().any(|byte| *byte != 0) {
                let held = place.get_or_insert_with(|| Rc::new([0; PAGE]));
                Rc::make_mut(held)[inside..inside + part.len()].copy_from_slice(part);
            }
            (at, rest) = (at + part.len(), later);
        }
    }

    /// Puts the first `len` bytes of a write at `offset`, a multiple of the page.
    pub(crate) fn put_image(&mut self, offset: usize, written: &Self, len: usize) {
        assert_eq!(offset % PAGE, 0, "writes begin at a page");
        assert!(len <= written.len, "no more than was written");
        let end = offset + len;
        if self.len < end {
            self.resize(end);
        }
        let whole = len / PAGE;
        let first = offset / PAGE;
        self.pages[first..first + whole].clone_from_slice(&written.pages[..whole]);
        if !len.is_multiple_of(PAGE) {
            let rest = written.read(whole * PAGE, len % PAGE).expect("it is that long");
            self.put(offset + whole * PAGE, &rest);
        }
    }

    /// `None` where it ends before.
    pub(crate) fn read(&self, offset: usize, len: usize) -> Option<Vec<u8>> {
        let end = offset.checked_add(len).filter(|end| *end <= self.len)?;
        let mut bytes = vec![0; len];
        let mut at = offset;
        while at < end {
            let inside = at % PAGE;
            let count = (end - at).min(PAGE - inside);
            if let Some(page) = &self.pages[at / PAGE] {
                bytes[at - offset..at - offset + count]
                    .copy_from_slice(&page[inside..inside + count]);
            }
            at += count;
        }
        Some(bytes)
    }

    /// Flips the bits of `mask` in one byte, which is there.
    pub(crate) fn flip(&mut self, at: usize, mask: u8) {
        assert!(at < self.len, "a byte of the file");
        let page = self.pages[at / PAGE].get_or_insert_with(|| Rc::new([0; PAGE]));
        Rc::make_mut(page)[at % PAGE] ^= mask;
    }

    pub(crate) fn to_vec(&self) -> Vec<u8> {
        self.read(0, self.len).expect("as long as it is")
    }
}

fn page(bytes: &[u8]) -> Page {
    if bytes.iter().all(|byte| *byte == 0) {
        return None;
    }
    let mut page = [0; PAGE];
    page[..bytes.len()].copy_from_slice(bytes);
    Some(Rc::new(page))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::Chance;

    #[test]
    fn an_image_is_a_row_of_bytes() {
        let mut chance = Chance::new(7);
        for _ in 0..200 {
            let (mut image, mut model) = (Image::default(), Vec::<u8>::new());
            for _ in 0..20 {
                let mut bytes = vec![0; chance.below(9000) as usize];
                if chance.percent(70) {
                    chance.fill(&mut bytes);
                }
                let mut offset = chance.below(20_000) as usize;
                match chance.below(4) {
                    0 => {
                        offset -= offset % PAGE;
                        let len = chance.between(0, bytes.len() as u64) as usize;
                        image.put_image(offset, &Image::new(&bytes), len);
                        bytes.truncate(len);
                    }
                    1 => {
                        image.resize(offset);
                        model.resize(offset, 0);
                        continue;
                    }
                    2 if !model.is_empty() => {
                        let at = chance.below(model.len() as u64) as usize;
                        image.flip(at, 4);
                        model[at] ^= 4;
                        continue;
                    }
                    _ => image.put(offset, &bytes),
                }
                let end = offset + bytes.len();
                model.resize(model.len().max(end), 0);
                model[offset..end].copy_from_slice(&bytes);
            }
            assert_eq!(image.len(), model.len());
            assert!(image.to_vec() == model);
            assert!(image.read(1, model.len()).is_none());
        }
    }
}
