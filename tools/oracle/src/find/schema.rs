//! A mapping, flat: each field by its whole name.

use std::collections::BTreeMap;

use json::Value;

/// A field that values are indexed under.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its whole name.
    pub name: String,
    /// Its type.
    pub kind: String,
    /// All it was defined with.
    pub params: Value,
    /// Names of its sub-fields.
    pub subs: Vec<String>,
    /// Names of the fields that get its values too.
    pub copies: Vec<String>,
}

impl Field {
    /// A parameter that is text.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.params.get(key).and_then(Value::as_str)
    }

    /// A parameter that is true or false.
    pub fn flag(&self, key: &str, otherwise: bool) -> bool {
        self.params.get(key).and_then(Value::as_bool).unwrap_or(otherwise)
    }

    /// Holds whole numbers?
    pub fn is_whole(&self) -> bool {
        matches!(self.kind.as_str(), "byte" | "short" | "integer" | "long" | "unsigned_long")
    }

    /// Holds numbers with fractions?
    pub fn is_fraction(&self) -> bool {
        matches!(self.kind.as_str(), "half_float" | "float" | "double" | "scaled_float")
    }

    /// Holds numbers of any kind?
    pub fn is_number(&self) -> bool {
        self.is_whole() || self.is_fraction()
    }

    /// Holds moments?
    pub fn is_date(&self) -> bool {
        matches!(self.kind.as_str(), "date" | "date_nanos")
    }

    /// Holds ranges?
    pub fn is_range(&self) -> bool {
        self.kind.ends_with("_range")
    }

    /// Has it values to sort and aggregate by?
    pub fn has_column(&self) -> bool {
        self.kind != "text" && self.flag("doc_values", true)
    }
}

/// All fields of an index.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    /// By whole name.
    pub fields: BTreeMap<String, Field>,
    /// Names of nested objects.
    pub nested: Vec<String>,
    /// Names that stand for others.
    pub aliases: BTreeMap<String, String>,
}

impl Schema {
    /// Reads `{"properties": …}`.
    pub fn read(mapping: &Value) -> Self {
        let mut schema = Self::default();
        schema.walk(mapping, "");
        schema
    }

    /// The field of a name or of an alias.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.get(self.aliases.get(name).map_or(name, String::as_str))
    }

    fn walk(&mut self, mapping: &Value, prefix: &str) {
        let Some(properties) = mapping.get("properties").and_then(Value::as_object) else { return };
        for (key, params) in properties.iter() {
            let name = if prefix.is_empty() { key.to_owned() } else { format!("{prefix}.{key}") };
            match params.get("type").and_then(Value::as_str).unwrap_or("object") {
                "nested" => {
                    self.nested.push(name.clone());
                    self.walk(params, &name);
                }
                "object" => self.walk(params, &name),
                "alias" => {
                    let path = params.get("path").and_then(Value::as_str).unwrap_or_default();
                    self.aliases.insert(name, path.to_owned());
                }
                kind => self.leaf(name, kind, params),
            }
        }
    }

    fn leaf(&mut self, name: String, kind: &str, params: &Value) {
        let copies = match params.get("copy_to") {
            Some(Value::String(one)) => vec![one.clone()],
            Some(Value::Array(all)) => {
                all.iter().filter_map(Value::as_str).map(str::to_owned).collect()
            }
            _ => Vec::new(),
        };
        let mut subs = Vec::new();
        for (key, params) in
            params.get("fields").and_then(Value::as_object).iter().flat_map(|all| all.iter())
        {
            let sub = format!("{name}.{key}");
            let kind = params.get("type").and_then(Value::as_str).unwrap_or_default();
            subs.push(sub.clone());
            self.leaf(sub, kind, params);
        }
        let field = Field {
            name: name.clone(),
            kind: kind.to_owned(),
            params: params.clone(),
            subs,
            copies,
        };
        self.fields.insert(name, field);
    }
}
