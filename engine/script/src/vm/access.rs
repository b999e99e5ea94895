//! Methods, members and elements of values, those of a document among them.

use super::{Host, Machine, out_of_bounds};
use crate::arith;
use crate::error::Fault;
use crate::heap::{Heap, Object, Value};
use crate::library;
use crate::op::Program;
use crate::show;
use crate::types::Type;

impl Machine {
    /// What a run gave, as it can be taken out: a field's values as a list.
    ///
    /// # Errors
    /// Too much memory.
    pub fn taken(&mut self, host: &mut dyn Host, value: Value) -> Result<Value, Fault> {
        self.plain(host, value)
    }

    /// A method of what lies below its arguments on the stack; all of them are popped.
    pub(super) fn method(
        &mut self,
        program: &Program,
        host: &mut dyn Host,
        name: &str,
        count: usize,
    ) -> Result<Value, Fault> {
        let first = self.stack.len() - count;
        let of = self.stack[first - 1];
        let value = self.method_of(program, host, of, name, first)?;
        self.stack.truncate(first - 1);
        value.ok_or_else(|| match of {
            Value::Null => no_null(name),
            _ => Fault::illegal(format!(
                "dynamic method [{}, {name}/{count}] not found",
                show::class_of(&self.heap, of)
            )),
        })
    }

    fn method_of(
        &mut self,
        program: &Program,
        host: &mut dyn Host,
        of: Value,
        name: &str,
        first: usize,
    ) -> Result<Option<Value>, Fault> {
        match of {
            Value::Null => return Ok(None),
            Value::Doc => {
                let Some(field) = self.stack.get(first).and_then(|name| self.heap.as_text(*name))
                else {
                    return Ok(None);
                };
                return Ok(match name {
                    "containsKey" => Some(Value::Bool(host.has(field))),
                    "get" => Some(Value::Field(host.field(field)?)),
                    _ => None,
                });
            }
            Value::Field(field) => {
                if let Some(found) = self.field_method(host, field, name, first)? {
                    return Ok(Some(found));
                }
                // What is left are methods of lists.
                let list = self.plain(host, of)?;
                let arguments: Vec<Value> = self.stack[first..].to_vec();
                return self.listed(program, host, list, name, &arguments);
            }
            _ => {}
        }
        let takes_function = self.stack[first..].iter().any(|argument| {
            matches!(
                self.heap.as_object(*argument),
                Some(Object::Closure(..) | Object::Reference(..) | Object::Comparator(_))
            )
        });
        if takes_function || library::compares_by_itself(&self.heap, of, name) {
            let arguments: Vec<Value> = self.stack[first..].to_vec();
            return self.listed(program, host, of, name, &arguments);
        }
        for at in first..self.stack.len() {
            if matches!(self.stack[at], Value::Field(_)) {
                self.stack[at] = self.plain(host, self.stack[at])?;
            }
        }
        library::method(&mut self.heap, of, name, &self.stack[first..])
    }

    fn listed(
        &mut self,
        program: &Program,
        host: &mut dyn Host,
        of: Value,
        name: &str,
        arguments: &[Value],
    ) -> Result<Option<Value>, Fault> {
        if let Some(found) = library::functional(self, program, host, of, name, arguments)? {
            return Ok(Some(found));
        }
        library::method(&mut self.heap, of, name, arguments)
    }

    /// `of.name`
    pub(super) fn member(
        &mut self,
        program: &Program,
        host: &mut dyn Host,
        of: Value,
        name: &str,
    ) -> Result<Value, Fault> {
        match of {
            Value::Null => Err(no_null(name)),
            Value::Doc => match name {
                "empty" | "isEmpty" => Ok(Value::Bool(false)),
                _ => Ok(Value::Field(host.field(name)?)),
            },
            Value::Field(field) => match self.field_member(host, field, name)? {
                Some(found) => Ok(found),
                None => Err(no_member(&self.heap, of, name)),
            },
            Value::Object(at) => {
                if let Some(found) = library::member(&mut self.heap, at, name)? {
                    return Ok(found);
                }
                if name == "_source" && self.heap.is_frozen(at) {
                    return host.source(&mut self.heap);
                }
                if matches!(self.heap.get(at), Object::Map(_)) {
                    return Ok(Value::Null);
                }
                self.getter(program, host, of, name)
            }
            _ => self.getter(program, host, of, name),
        }
    }

    /// `a.name` as `a.getName()` or `a.isName()`.
    fn getter(
        &mut self,
        program: &Program,
        host: &mut dyn Host,
        of: Value,
        name: &str,
    ) -> Result<Value, Fault> {
        let mut letters = name.chars();
        let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
        for prefix in ["get", "is"] {
            let getter = format!("{prefix}{first}{}", letters.as_str());
            self.stack.push(of);
            let at = self.stack.len();
            let found = self.method_of(program, host, of, &getter, at);
            self.stack.truncate(at - 1);
            if let Some(found) = found? {
                return Ok(found);
            }
        }
        Err(no_member(&self.heap, of, name))
    }

    pub(super) fn index(
        &mut self,
        host: &mut dyn Host,
        of: Value,
        index: Value,
    ) -> Result<Value, Fault> {
        match of {
            Value::Doc => {
                let name = self.heap.as_text(index).unwrap_or_default().to_owned();
                Ok(Value::Field(host.field(&name)?))
            }
            Value::Field(field) => self.value_at(host, field, index),
            Value::Null => Err(Fault::null("cannot access a value of a null def reference")),
            Value::Object(at)
                if self.heap.is_frozen(at) && self.heap.as_text(index) == Some("_source") =>
            {
                match library::index(&self.heap, of, index)? {
                    Value::Null => host.source(&mut self.heap),
                    found => Ok(found),
                }
            }
            _ => library::index(&self.heap, of, index),
        }
    }

    /// The value at a place among a field's.
    fn value_at(&mut self, host: &mut dyn Host, field: u32, at: Value) -> Result<Value, Fault> {
        let count = host.count(field);
        let at = arith::int(at);
        match usize::try_from(at) {
            Ok(place) if place < count => host.value(field, place, &mut self.heap),
            _ if count == 0 => Err(no_value()),
            _ => Err(out_of_bounds(i64::from(at), count)),
        }
    }

    pub(super) fn first(&mut self, host: &mut dyn Host, field: u32) -> Result<Value, Fault> {
        if host.count(field) == 0 {
            return Err(no_value());
        }
        host.value(field, 0, &mut self.heap)
    }

    fn field_member(
        &mut self,
        host: &mut dyn Host,
        field: u32,
        name: &str,
    ) -> Result<Option<Value>, Fault> {
        Ok(Some(match name {
            "value" => self.first(host, field)?,
            "values" => self.plain(host, Value::Field(field))?,
            "empty" => Value::Bool(host.count(field) == 0),
            "length" => Value::Int(host.count(field) as i32),
            "lat" | "lon" | "lats" | "lons" => {
                let values = self.items(host, Value::Field(field))?;
                let heap = &mut self.heap;
                let parts = values.iter().filter_map(|value| match heap.as_object(*value) {
                    Some(Object::Place(lat, lon)) => {
                        Some(Value::Double(if name.starts_with("la") { *lat } else { *lon }))
                    }
                    _ => None,
                });
                let parts: Vec<Value> = parts.collect();
                if name.ends_with('s') {
                    self.heap.object(Object::Array(Type::Double, parts))?
                } else {
                    parts.first().copied().ok_or_else(no_value)?
                }
            }
            _ => {
                // `doc['d'].date` and the like: what the first value has.
                return Ok(None);
            }
        }))
    }

    fn field_method(
        &mut self,
        host: &mut dyn Host,
        field: u32,
        name: &str,
        first: usize,
    ) -> Result<Option<Value>, Fault> {
        let arguments = &self.stack[first..];
        match (name, arguments) {
            ("size", []) => Ok(Some(Value::Int(host.count(field) as i32))),
            ("isEmpty", []) => Ok(Some(Value::Bool(host.count(field) == 0))),
            ("get", [at]) => {
                let at = *at;
                self.value_at(host, field, at).map(Some)
            }
            ("getValue", []) => self.first(host, field).map(Some),
            ("getValues", []) => self.plain(host, Value::Field(field)).map(Some),
            ("getLat", []) => self.field_member(host, field, "lat"),
            ("getLon", []) => self.field_member(host, field, "lon"),
            ("getLats", []) => self.field_member(host, field, "lats"),
            ("getLons", []) => self.field_member(host, field, "lons"),
            (
                "arcDistance"
                | "planeDistance"
                | "arcDistanceWithDefault"
                | "planeDistanceWithDefault",
                [lat, lon, or @ ..],
            ) => {
                let (lat, lon) = (arith::double(*lat), arith::double(*lon));
                let or = or.first().map(|or| arith::double(*or));
                if host.count(field) == 0
                    && let Some(or) = or
                {
                    return Ok(Some(Value::Double(or)));
                }
                let place = self.first(host, field)?;
                let Some(Object::Place(y, x)) = self.heap.as_object(place) else { return Ok(None) };
                let arc = name.starts_with("arc");
                Ok(Some(Value::Double(library::metres((*y, *x), (lat, lon), arc))))
            }
            _ => Ok(None),
        }
    }

    /// A field's values as a list; anything else as it is.
    pub(super) fn plain(&mut self, host: &mut dyn Host, value: Value) -> Result<Value, Fault> {
        match value {
            Value::Field(_) => {
                let items = self.items(host, value)?;
                self.heap.list(items)
            }
            other => Ok(other),
        }
    }

    /// What a loop goes through.
    pub(super) fn items(&mut self, host: &mut dyn Host, over: Value) -> Result<Vec<Value>, Fault> {
        match over {
            Value::Field(field) => {
                let count = host.count(field);
                let mut items = Vec::with_capacity(count);
                for at in 0..count {
                    items.push(host.value(field, at, &mut self.heap)?);
                }
                Ok(items)
            }
            _ => library::items(&mut self.heap, over),
        }
    }
}

fn no_null(name: &str) -> Fault {
    Fault::null(format!("cannot access method/field [{name}] from a null def reference"))
}

fn no_member(heap: &Heap, of: Value, name: &str) -> Fault {
    Fault::illegal(format!("dynamic getter [{}, {name}] not found", show::class_of(heap, of)))
}

fn no_value() -> Fault {
    Fault::new(
        "illegal_state_exception",
        "A document doesn't have a value for a field! Use doc[<field>].size()==0 to check if a document \
         is missing a field!",
    )
}
