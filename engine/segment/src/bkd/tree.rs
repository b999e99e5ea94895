//! A BKD tree that is open: which documents have a point inside some bounds?
//!
//! Always true
//! 1. A cell that lies wholly inside is taken without looking at its values; a cell outside costs
//!    the look at its box.
//! 2. A [`Walk`] goes in steps of so many leaves, and can name the leaves of its next step before
//!    it reads them.
//! 3. Deleted documents are found too; who asks takes them out.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use base::FieldNo;

use crate::error::{Error, Result};
use crate::reader::Segment;
use crate::section::{File, Missing, Section};
use crate::toc::SectionKind;

use super::LEAF_POINTS;
use super::inner::{Inner, Node, root};
use super::leaf::Leaf;
use super::point::{Bounds, Relation, Shape};
use super::region::Region;
use super::sink::Sink;

/// An open tree.
#[derive(Clone, Debug)]
pub struct Bkd(Arc<Open>);

#[derive(Debug)]
struct Open {
    inner: Inner,
    body: Section,
    /// Number of documents of the segment.
    doc_count: u32,
}

impl Segment {
    /// The points of a field; `None` where no document has one.
    pub fn points(&self, field: FieldNo) -> Option<&Bkd> {
        self.field(field)?.points()
    }
}

impl Bkd {
    /// Opens the tree of `field`, if the file has one.
    pub(crate) fn open(file: &Arc<File>, field: FieldNo) -> Result<Option<Self>> {
        let Some(head) = file.section(SectionKind::PointsHead, field) else { return Ok(None) };
        let body = file
            .section(SectionKind::PointsBody, field)
            .ok_or_else(|| head.malformed(0, "a tree has a head and a body"))?;
        let doc_count = file.doc_count();
        let inner = Inner::open(head.shared()?, body.len(), doc_count)
            .map_err(|what| head.malformed(0, what))?;
        Ok(Some(Self(Arc::new(Open { inner, body, doc_count }))))
    }

    /// The shape of the points.
    pub fn shape(&self) -> Shape {
        self.0.inner.shape()
    }

    /// Number of points, those of deleted documents included.
    pub fn point_count(&self) -> u64 {
        self.0.inner.point_count()
    }

    /// Number of documents that have a point, deleted ones included. Where it equals
    /// [`Bkd::point_count`], no document has two.
    pub fn doc_count(&self) -> u32 {
        self.0.inner.doc_count()
    }

    /// The smallest box that holds all points: its packed lowest and highest.
    pub fn range(&self) -> (&[u8], &[u8]) {
        self.0.inner.bounds(root(self.0.inner.leaf_count()))
    }

    /// Begins to walk through the points inside `bounds`.
    ///
    /// # Panics
    ///
    /// Where the bounds have another shape.
    pub fn walk(&self, bounds: Bounds) -> Walk {
        assert_eq!(bounds.shape(), self.shape(), "bounds of the tree's shape");
        let is_empty = bounds.is_empty();
        let mut walk = self.walk_region(bounds);
        if is_empty {
            walk.stack.clear();
        }
        walk
    }

    /// Begins to walk through the points inside `region`, which knows the tree's shape.
    pub fn walk_region<R: Region>(&self, region: R) -> Walk<R> {
        let stack = vec![root(self.0.inner.leaf_count())];
        Walk { tree: self.clone(), region, stack, next: VecDeque::new() }
    }

    /// Gives the documents of all points inside `bounds` to `sink`, in one go.
    pub fn visit(&self, bounds: &Bounds, sink: &mut impl Sink) -> Result<()> {
        let mut walk = self.walk(*bounds);
        while walk.step(usize::MAX, sink)? == Progress::More {}
        Ok(())
    }

    /// How many points lie inside `bounds`. Reads only leaves that cross the bounds' edge.
    pub fn count(&self, bounds: &Bounds) -> Result<u64> {
        let count = self.walk(*bounds).count(usize::MAX)?;
        Ok(count.expect("no tree has so many leaves"))
    }

    /// About how many points lie inside `bounds`, without reading a leaf: half of those in leaves
    /// that cross the edge.
    pub fn estimate(&self, bounds: &Bounds) -> u64 {
        self.walk(*bounds).estimate()
    }

    /// Number of leaves.
    pub(super) fn leaf_count(&self) -> usize {
        self.0.inner.leaf_count()
    }

    /// Bytes of the leaf `number`.
    pub(super) fn leaf_bytes(&self, number: usize) -> u64 {
        let range = self.0.inner.leaf_range(number);
        range.end - range.start
    }

    /// Looks through the leaf `number`.
    pub(super) fn leaf(&self, number: usize) -> Result<Leaf<'_>> {
        let bytes = self.0.body.bytes(self.0.inner.leaf_range(number))?;
        let leaf = Leaf::parse(self.shape(), bytes, self.0.doc_count)
            .map_err(|what| self.malformed(number, what))?;
        if leaf.count() as u64 != self.0.inner.points_of(number..number + 1) {
            return Err(self.malformed(number, "a leaf has as many points as the head says"));
        }
        Ok(leaf)
    }

    /// The error of a leaf that makes no sense.
    pub(super) fn malformed(&self, leaf: usize, what: &'static str) -> Error {
        self.0.body.malformed(self.0.inner.leaf_range(leaf).start, what)
    }

    /// Reads and checks everything, and gives what is wrong to `damage`.
    pub(crate) fn verify(&self, damage: &mut dyn FnMut(Error)) {
        if let Err(what) = self.0.inner.verify() {
            damage(self.malformed(0, what));
        }
        let mut docs = crate::bytes::bitmap::Bitmap::new(self.0.doc_count);
        for number in 0..self.leaf_count() {
            match self.verify_leaf(number) {
                Ok(found) => found.into_iter().for_each(|doc| {
                    docs.insert(doc);
                }),
                Err(error) => damage(error),
            }
        }
        if docs.count() != self.doc_count() {
            damage(self.malformed(0, "the head counts other documents than the leaves hold"));
        }
    }

    /// Checks a leaf against its box and its own promises; gives its documents.
    fn verify_leaf(&self, number: usize) -> Result<Vec<u32>> {
        let leaf = self.leaf(number)?;
        let mut docs = [0; LEAF_POINTS];
        let docs = leaf.docs(&mut docs).map_err(|what| self.malformed(number, what))?;
        let shape = self.shape();
        let (low, high) = self.0.inner.leaf_bounds(number);
        let cell = Bounds::new(shape, low, high);
        let mut before = None;
        let mut wrong = None;
        leaf.for_each_value(|value, point| {
            if !cell.contains(value) {
                wrong = Some("a point lies inside the box of its leaf");
            }
            let key = (shape.number(value, leaf.sort_dim()), docs[point]);
            if before.is_some_and(|before| before > key) {
                wrong = Some("points are sorted by the leaf's dimension and document");
            }
            before = Some(key);
        });
        match wrong {
            Some(what) => Err(self.malformed(number, what)),
            None => Ok(docs.to_vec()),
        }
    }
}

/// What a step left to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Leaves are left.
    More,
    /// All points were given.
    Done,
}

/// Cells in the order of leaves.
#[derive(Clone, Debug)]
enum Cell {
    /// Leaves that lie wholly inside.
    Inside(Range<usize>),
    /// A leaf whose values must be looked at.
    Crosses(usize),
}

/// A way through a tree, leaf after leaf.
#[derive(Clone, Debug)]
pub struct Walk<R = Bounds> {
    tree: Bkd,
    region: R,
    /// Nodes not yet looked at, the next one last. As deep as the tree, for each level one.
    stack: Vec<Node>,
    /// Cells that [`Walk::prepare`] found.
    next: VecDeque<Cell>,
}

impl<R: Region> Walk<R> {
    /// How many points are left; `None` where more than `leaves` would have to be read for it.
    pub fn count(mut self, leaves: usize) -> Result<Option<u64>> {
        let mut count = 0;
        let mut left = leaves;
        while let Some(cell) = self.cell() {
            match cell {
                Cell::Inside(leaves) => count += self.tree.0.inner.points_of(leaves),
                Cell::Crosses(number) => {
                    if left == 0 {
                        return Ok(None);
                    }
                    left -= 1;
                    let leaf = self.tree.leaf(number)?;
                    self.region.matching(&leaf, |points| count += points.len() as u64);
                }
            }
        }
        Ok(Some(count))
    }

    /// About how many points are left, without reading a leaf: half of those in leaves that cross
    /// the edge.
    pub fn estimate(mut self) -> u64 {
        let mut estimate = 0;
        while let Some(cell) = self.cell() {
            estimate += match cell {
                Cell::Inside(leaves) => self.tree.0.inner.points_of(leaves),
                Cell::Crosses(leaf) => self.tree.0.inner.points_of(leaf..leaf + 1).div_ceil(2),
            };
        }
        estimate
    }

    /// Names the leaves that the next step of `leaves` will read and that are not there.
    pub fn prepare(&mut self, leaves: usize, missing: &mut Missing) -> Result<()> {
        let mut left = leaves;
        let mut at = 0;
        while left > 0 {
            if at == self.next.len() {
                let Some(cell) = self.descend() else { break };
                self.next.push_back(cell);
            }
            let range = match &self.next[at] {
                Cell::Inside(range) => range.start..range.end.min(range.start.saturating_add(left)),
                Cell::Crosses(leaf) => *leaf..leaf + 1,
            };
            left -= range.len();
            for leaf in range {
                self.tree.0.body.need(self.tree.0.inner.leaf_range(leaf), missing)?;
            }
            at += 1;
        }
        Ok(())
    }

    /// Reads `leaves` more leaves, and gives the documents of their points inside the bounds to
    /// `sink`. A leaf takes about a microsecond.
    pub fn step(&mut self, leaves: usize, sink: &mut impl Sink) -> Result<Progress> {
        let mut docs = [0; LEAF_POINTS];
        let mut left = leaves;
        while left > 0 {
            let Some(cell) = self.cell() else { return Ok(Progress::Done) };
            match cell {
                Cell::Inside(mut range) => {
                    while left > 0
                        && let Some(number) = range.next()
                    {
                        let leaf = self.tree.leaf(number)?;
                        let docs = leaf.docs(&mut docs);
                        sink.docs(docs.map_err(|what| self.tree.malformed(number, what))?);
                        left -= 1;
                    }
                    if !range.is_empty() {
                        self.next.push_front(Cell::Inside(range));
                    }
                }
                Cell::Crosses(number) => {
                    let leaf = self.tree.leaf(number)?;
                    let docs = leaf.docs(&mut docs);
                    let docs = docs.map_err(|what| self.tree.malformed(number, what))?;
                    self.region.matching(&leaf, |points| sink.docs(&docs[points]));
                    left -= 1;
                }
            }
        }
        Ok(if self.is_done() { Progress::Done } else { Progress::More })
    }

    /// Whether no cell is left; a node on the stack may still turn out to lie outside.
    fn is_done(&self) -> bool {
        self.next.is_empty() && self.stack.is_empty()
    }

    /// The next cell that is not outside.
    fn cell(&mut self) -> Option<Cell> {
        self.next.pop_front().or_else(|| self.descend())
    }

    /// Goes down to the next cell that is not outside.
    fn descend(&mut self) -> Option<Cell> {
        while let Some(node) = self.stack.pop() {
            let (low, high) = self.tree.0.inner.bounds(node);
            match self.region.relation(low, high) {
                Relation::Outside => {}
                Relation::Inside => return Some(Cell::Inside(node.leaves())),
                Relation::Crosses => match node.leaf() {
                    Some(leaf) => return Some(Cell::Crosses(leaf)),
                    None => {
                        let (left, right) = node.halves();
                        self.stack.push(right);
                        self.stack.push(left);
                    }
                },
            }
        }
        None
    }
}
