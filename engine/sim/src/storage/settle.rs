//! What a power cut makes of what was not safe.

use std::path::PathBuf;

use super::image::Image;
use super::names::Node;
use super::{Content, SECTOR, Storage};
use crate::chance::Chance;

impl Storage {
    /// Cuts the power: writes under way may be on the disk in part, each unsynced sector and name
    /// is kept, dropped, torn or garbage.
    pub(crate) fn settle(&mut self, chance: &mut Chance) {
        for (_, (id, offset, bytes)) in std::mem::take(&mut self.in_flight) {
            if let Some(content) = self.contents.get_mut(&id) {
                content.settle_write(offset, &bytes, bytes.len(), chance);
            }
        }
        for content in self.contents.values_mut() {
            content.settle(chance);
        }
        for folder in self.folders.values_mut() {
            folder.settle(chance);
        }
        self.forget_unnamed();
    }

    /// Ends the process while the power stays: what was written is kept, and so is a random part
    /// of what was being written.
    pub(crate) fn kill(&mut self, chance: &mut Chance) {
        for number in self.in_flight.keys().copied().collect::<Vec<_>>() {
            // The kernel finishes what it was given, wholly or not at all.
            if chance.percent(50) {
                self.write_end(number);
            } else {
                self.in_flight.remove(&number);
            }
        }
        for content in self.contents.values_mut() {
            content.see_the_disk();
        }
        self.forget_unnamed();
    }

    /// Drops folders that no folder names, then files that none names.
    fn forget_unnamed(&mut self) {
        // Parents sort before children, so one pass in order sees each parent's fate first.
        for path in self.folders.keys().cloned().collect::<Vec<PathBuf>>() {
            let named = match (path.parent(), path.file_name()) {
                (Some(dir), Some(name)) => self.folders.get(dir).is_some_and(|folder| {
                    let name = name.to_string_lossy();
                    folder.volatile.get(name.as_ref()) == Some(&Node::Folder)
                        || folder.safe.get(name.as_ref()) == Some(&Node::Folder)
                }),
                _ => true,
            };
            if !named {
                self.folders.remove(&path);
            }
        }
        let named: std::collections::BTreeSet<_> =
            self.folders.values().flat_map(super::Folder::files).collect();
        let safe: std::collections::BTreeSet<_> = self
            .folders
            .values()
            .flat_map(|folder| folder.safe.values())
            .filter_map(|node| match node {
                Node::File(id) => Some(*id),
                Node::Folder => None,
            })
            .collect();
        self.contents.retain(|id, _| named.contains(id) || safe.contains(id));
    }
}

impl Content {
    /// What a failed sync threw away is read no more.
    fn see_the_disk(&mut self) {
        if !std::mem::take(&mut self.is_ahead) {
            return;
        }
        let len = self.volatile.len();
        self.volatile = self.safe.clone();
        for write in &self.unsynced {
            self.volatile.put_image(write.offset, &write.bytes, write.len);
        }
        self.volatile.resize(len);
    }

    fn settle(&mut self, chance: &mut Chance) {
        for write in std::mem::take(&mut self.unsynced) {
            self.settle_write(write.offset, &write.bytes, write.len, chance);
        }
        // A length that was not synced is anything between the safe one and the newest.
        let longest = self.volatile.len().max(self.safe_len);
        let len = match chance.below(3) {
            0 => self.safe_len,
            1 => longest,
            _ => chance.between(self.safe_len as u64, longest as u64) as usize,
        };
        self.safe.resize(len);
        self.safe_len = len;
        self.volatile = self.safe.clone();
        self.is_ahead = false;
    }

    /// Half of the writes are kept or dropped whole; in the others each sector has its own fate.
    fn settle_write(&mut self, offset: usize, bytes: &Image, len: usize, chance: &mut Chance) {
        match chance.below(4) {
            0 => self.safe.put_image(offset, bytes, len),
            1 => {}
            _ => {
                for at in (0..len).step_by(SECTOR) {
                    let sector = bytes.read(at, SECTOR.min(len - at)).expect("inside");
                    self.settle_sector(offset + at, &sector, chance);
                }
            }
        }
    }

    fn settle_sector(&mut self, offset: usize, sector: &[u8], chance: &mut Chance) {
        match chance.below(8) {
            0..=3 => self.safe.put(offset, sector),
            4 | 5 => {}
            6 => {
                let kept = chance.between(1, sector.len() as u64) as usize;
                self.safe.put(offset, &sector[..kept]);
            }
            _ => {
                let mut garbage = vec![0; sector.len()];
                chance.fill(&mut garbage);
                self.safe.put(offset, &garbage);
            }
        }
    }
}
