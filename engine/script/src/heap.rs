//! What a run works with: values of one word or two, objects by number.
//!
//! Strings lie one after the other in one text, objects in one list. Both only grow during a run and
//! are cut back after it, so that the next run of the same script allocates nothing for strings and
//! numbers. What lies below [`Heap::freeze`]'s mark (parameters) stays between runs and may not be
//! changed: it could then refer to what is gone.

use std::cell::Cell;

use crate::date::Date;
use crate::error::Fault;
use crate::limits::{HEAP_BYTES_MAX, LOOKED_MAX};
use crate::map::Map;
use crate::pattern::{Matcher, Pattern};
use crate::types::Type;

/// A value.
#[derive(Clone, Copy, Debug, Default)]
pub enum Value {
    /// `null`.
    #[default]
    Null,
    /// `boolean`.
    Bool(bool),
    /// `byte`.
    Byte(i8),
    /// `short`.
    Short(i16),
    /// `char`: one UTF-16 unit.
    Char(u16),
    /// `int`.
    Int(i32),
    /// `long`.
    Long(i64),
    /// `float`.
    Float(f32),
    /// `double`.
    Double(f64),
    /// A string: where it lies in the heap's text.
    Text(u32, u32),
    /// An object.
    Object(Ref),
    /// `doc`.
    Doc,
    /// `doc['f']`: the host's number of the field.
    Field(u32),
}

/// An object's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ref(pub(crate) u32);

/// An object.
#[derive(Clone, Debug)]
pub enum Object {
    /// `ArrayList`.
    List(Vec<Value>),
    /// An array; the type of its elements.
    Array(Type, Vec<Value>),
    /// A map of any kind.
    Map(Map),
    /// A set: the keys of a map.
    Set(Map),
    /// `StringBuilder`.
    Builder(String),
    /// Elements not yet given.
    Iterator(Vec<Value>, usize, Option<Ref>),
    /// `Map.Entry`: its map, its key.
    Entry(Ref, Value),
    /// Anything of `java.time`.
    Date(Box<Date>),
    /// A lambda: its function, what it captured.
    Closure(u32, Vec<Value>),
    /// `A::b`: the class, the program's text of the name.
    Reference(Type, u32),
    /// `Pattern`.
    Pattern(Box<Pattern>),
    /// `Matcher`.
    Matcher(Box<Matcher>),
    /// A stream, worked off at each step.
    Stream(Vec<Value>),
    /// `Optional`.
    Optional(Option<Value>),
    /// `GeoPoint`.
    Place(f64, f64),
    /// An exception: its class in snake case, its message.
    Exception(String, Option<String>),
    /// A comparator that the library makes.
    Comparator(Comparator),
    /// `java.util.Random`.
    Random(i64),
    /// A class as a value of its own: `this`.
    This,
}

/// How a comparator of the library compares.
#[derive(Clone, Copy, Debug)]
pub enum Comparator {
    /// As the values say.
    Natural,
    /// The other way round.
    Reverse,
    /// By what a function makes of them.
    By(Value),
    /// Another, the other way round.
    Reversed(Value),
}

/// Room that stays between runs: of strings, and of objects.
const KEPT_BYTES: usize = 64 << 10;

/// Strings and objects of a run.
#[derive(Debug, Default)]
pub struct Heap {
    text: String,
    objects: Vec<Object>,
    used_bytes: usize,
    /// How much it may take, where that is less than [`HEAP_BYTES_MAX`].
    limit_bytes: Option<usize>,
    /// More was asked for than it may take.
    is_short: bool,
    /// Work that operations did beyond their one step, not yet reckoned.
    work: Cell<u64>,
    /// An operation looked at too many parts of values: what it found is of no use.
    is_lost: Cell<bool>,
    frozen_objects: usize,
    frozen_text: usize,
    frozen_bytes: usize,
}

impl Heap {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// What is there now stays, and may not be changed.
    pub fn freeze(&mut self) {
        self.frozen_objects = self.objects.len();
        self.frozen_text = self.text.len();
        self.frozen_bytes = self.used_bytes;
    }

    /// Forgets what came after the last [`Heap::freeze`].
    pub fn reset(&mut self) {
        self.objects.truncate(self.frozen_objects);
        self.text.truncate(self.frozen_text);
        // One run that took much is no reason to hold it until the last.
        if self.text.capacity() > KEPT_BYTES {
            self.text.shrink_to(KEPT_BYTES);
        }
        if self.objects.capacity() > KEPT_BYTES / size_of::<Object>() {
            self.objects.shrink_to(KEPT_BYTES / size_of::<Object>());
        }
        self.used_bytes = self.frozen_bytes;
        self.is_lost.set(false);
    }

    /// Counts bytes that a run takes.
    ///
    /// # Errors
    /// When it has taken too many.
    pub fn charge(&mut self, bytes: usize) -> Result<(), Fault> {
        self.used_bytes = self.used_bytes.saturating_add(bytes);
        self.spend(bytes);
        let limit = self.limit_bytes();
        if self.used_bytes > limit {
            self.is_short = true;
            return Err(Fault::limit(
                "circuit_breaking_exception",
                format!("[script] Data too large, a script may use [{limit}] bytes"),
            ));
        }
        Ok(())
    }

    /// Lets it take no more than `bytes`, whoever counts them.
    pub fn limit(&mut self, bytes: usize) {
        self.limit_bytes = Some(bytes.min(HEAP_BYTES_MAX));
    }

    /// How much it may take.
    pub fn limit_bytes(&self) -> usize {
        self.limit_bytes.unwrap_or(HEAP_BYTES_MAX)
    }

    /// Notes that something found too little memory.
    pub fn fall_short(&mut self) {
        self.is_short = true;
    }

    /// Whether anything found too little memory: with more it might end otherwise.
    pub fn is_short(&self) -> bool {
        self.is_short
    }

    /// Counts work that an operation does on so many bytes: a long text looked through is many steps.
    #[inline]
    pub fn spend(&mut self, bytes: usize) {
        *self.work.get_mut() += (bytes / 8) as u64;
    }

    /// A comparison, or a hash code, looks at a value with so many parts: false where those of one operation are too
    /// many. Lists may hold each other twice, and sixty of them are a value without end.
    pub(crate) fn looks(&self, parts: usize) -> bool {
        let work = self.work.get().saturating_add(1 + parts as u64);
        self.work.set(work);
        if work > LOOKED_MAX {
            self.is_lost.set(true);
        }
        !self.is_lost.get()
    }

    /// An operation could not look at all that it should.
    pub(crate) fn is_lost(&self) -> bool {
        self.is_lost.get()
    }

    /// The work done since this was asked last, in steps.
    #[inline]
    pub(crate) fn take_work(&mut self) -> u64 {
        std::mem::take(self.work.get_mut())
    }

    /// A string.
    ///
    /// # Errors
    /// Too much memory.
    pub fn string(&mut self, text: &str) -> Result<Value, Fault> {
        self.charge(text.len())?;
        let at = self.text.len() as u32;
        self.text.push_str(text);
        Ok(Value::Text(at, text.len() as u32))
    }

    /// Two strings as one; a string that was made last grows where it lies.
    pub(crate) fn join(&mut self, left: (u32, u32), right: &str) -> Result<Value, Fault> {
        let (at, len) = left;
        if (at + len) as usize == self.text.len() && at as usize >= self.frozen_text {
            self.charge(right.len())?;
            self.text.push_str(right);
            return Ok(Value::Text(at, len + right.len() as u32));
        }
        self.charge(len as usize + right.len())?;
        let start = self.text.len() as u32;
        self.text.extend_from_within(at as usize..(at + len) as usize);
        self.text.push_str(right);
        Ok(Value::Text(start, len + right.len() as u32))
    }

    /// The text of a string.
    pub fn text(&self, at: u32, len: u32) -> &str {
        &self.text[at as usize..(at + len) as usize]
    }

    /// The text of a value that is a string.
    pub fn as_text(&self, value: Value) -> Option<&str> {
        match value {
            Value::Text(at, len) => Some(self.text(at, len)),
            _ => None,
        }
    }

    /// A new object.
    ///
    /// # Errors
    /// Too much memory.
    pub fn object(&mut self, object: Object) -> Result<Value, Fault> {
        let bytes = 48
            + match &object {
                Object::List(items)
                | Object::Array(_, items)
                | Object::Iterator(items, ..)
                | Object::Closure(_, items)
                | Object::Stream(items) => 16 * items.len(),
                Object::Map(map) | Object::Set(map) => 48 * map.len(),
                Object::Builder(text) => text.len(),
                Object::Pattern(_) => 1024,
                Object::Matcher(matcher) => matcher.len_bytes() + 64,
                _ => 16,
            };
        self.charge(bytes)?;
        self.objects.push(object);
        Ok(Value::Object(Ref(self.objects.len() as u32 - 1)))
    }

    /// A list.
    ///
    /// # Errors
    /// Too much memory.
    pub fn list(&mut self, items: Vec<Value>) -> Result<Value, Fault> {
        self.object(Object::List(items))
    }

    /// An object.
    pub fn get(&self, at: Ref) -> &Object {
        &self.objects[at.0 as usize]
    }

    /// The object of a value that is one.
    pub fn as_object(&self, value: Value) -> Option<&Object> {
        match value {
            Value::Object(at) => Some(self.get(at)),
            _ => None,
        }
    }

    /// An object, to change.
    ///
    /// # Errors
    /// It may not be changed.
    pub fn get_mut(&mut self, at: Ref) -> Result<&mut Object, Fault> {
        if (at.0 as usize) < self.frozen_objects {
            return Err(Fault::frozen());
        }
        Ok(&mut self.objects[at.0 as usize])
    }

    /// Takes an object's insides out for a moment, so that others can be looked at beside it; it
    /// must be put back with [`Heap::put_back`].
    pub(crate) fn take(&mut self, at: Ref) -> Object {
        std::mem::replace(&mut self.objects[at.0 as usize], Object::This)
    }

    /// See [`Heap::take`].
    pub(crate) fn put_back(&mut self, at: Ref, object: Object) {
        self.objects[at.0 as usize] = object;
    }

    /// Is it one of those that may not be changed?
    pub(crate) fn is_frozen(&self, at: Ref) -> bool {
        (at.0 as usize) < self.frozen_objects
    }

    /// Puts a value under a string key of a map.
    ///
    /// # Errors
    /// No map, a map that may not be changed, too much memory.
    pub fn insert(&mut self, map: Ref, key: &str, value: Value) -> Result<(), Fault> {
        let key = self.string(key)?;
        self.insert_value(map, key, value).map(|_| ())
    }

    /// Puts a value under a key; the value that was there.
    pub(crate) fn insert_value(
        &mut self,
        map: Ref,
        key: Value,
        value: Value,
    ) -> Result<Option<Value>, Fault> {
        if self.is_frozen(map) {
            return Err(Fault::frozen());
        }
        self.charge(48)?;
        let mut object = self.take(map);
        let before = match &mut object {
            Object::Map(inner) | Object::Set(inner) => inner.insert(self, key, value),
            _ => None,
        };
        self.put_back(map, object);
        Ok(before)
    }

    /// The value under a key of a map.
    pub(crate) fn lookup(&self, map: Ref, key: Value) -> Option<Value> {
        match self.get(map) {
            Object::Map(inner) | Object::Set(inner) => inner.get(self, key),
            _ => None,
        }
    }

    /// The value under a string key of a map.
    pub fn member(&self, map: Ref, key: &str) -> Option<Value> {
        match self.get(map) {
            Object::Map(inner) => inner.get_text(self, key),
            _ => None,
        }
    }
}
