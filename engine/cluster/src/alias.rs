//! Aliases: what one says of an index, how a request words it, how it is shown.

use std::sync::Arc;

use json::{Object, Value};
use mapping::types::boolean;

use crate::error::{Error, Result};

/// An alias, seen from one index. Its clones share what may be long.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Alias {
    /// Narrows searches through it.
    pub filter: Option<Arc<Value>>,
    /// Routing of writes through it.
    pub index_routing: Option<Arc<str>>,
    /// Routing of searches through it.
    pub search_routing: Option<Arc<str>>,
    /// Writes through it go to this index.
    pub is_write_index: Option<bool>,
    /// Hidden from wildcards.
    pub is_hidden: Option<bool>,
}

/// One change of aliases; the names are concrete.
#[derive(Clone, Debug, PartialEq)]
pub enum AliasAction {
    /// Sets an alias of an index, or replaces it.
    Add {
        /// Id of the index.
        uuid: [u8; 16],
        /// Name of the alias.
        name: String,
        /// What it says.
        alias: Alias,
    },
    /// Takes an alias from an index.
    Remove {
        /// Id of the index.
        uuid: [u8; 16],
        /// Name of the alias.
        name: String,
    },
    /// Takes those of some aliases from some indices that are there when the command has its turn; what
    /// the same command sets stays.
    RemoveAny {
        /// Ids of the indices; those that are gone are passed over.
        uuids: Vec<[u8; 16]>,
        /// Names of the aliases.
        names: Vec<String>,
        /// The command is refused where none is there.
        must_exist: bool,
    },
    /// Takes a whole index away.
    RemoveIndex {
        /// Its id.
        uuid: [u8; 16],
    },
}

impl Alias {
    /// Reads what a request says of alias `name`. Keys that are not an alias's are passed over, as
    /// Elasticsearch does; whoever is stricter looks first.
    ///
    /// # Errors
    /// A value of a wrong kind.
    pub fn parse(name: &str, body: &Value) -> Result<Self> {
        let mut alias = Self::default();
        let Some(object) = body.as_object() else {
            return Err(Error::argument(format!("alias [{name}] must be an object")));
        };
        let mut routing = None;
        for (key, value) in object.iter() {
            let text = || match value {
                Value::String(text) => Ok(Some(Arc::from(text.as_str()))),
                Value::Number(number) => Ok(Some(Arc::from(number.text()))),
                Value::Null => Ok(None),
                _ => Err(Error::argument(format!("alias [{name}]: [{key}] must be a text"))),
            };
            let flag = || match value {
                Value::Bool(flag) => Ok(Some(*flag)),
                Value::Null => Ok(None),
                Value::String(text) if text == "true" || text == "false" => {
                    Ok(Some(text == "true"))
                }
                _ => {
                    let text = value.as_str().map_or_else(|| json::to_string(value), str::to_owned);
                    Err(Error::argument(boolean::neither(&text)))
                }
            };
            match key {
                "filter" => match value {
                    Value::Object(filter) => {
                        alias.filter = (!filter.is_empty()).then(|| Arc::new(value.clone()));
                    }
                    Value::Null => {}
                    // A query as text: Elasticsearch takes it too.
                    Value::String(text) => {
                        let filter = json::parse(text.as_bytes()).map_err(|_| {
                            Error::argument(format!("failed to parse filter for alias [{name}]"))
                        })?;
                        alias.filter = Some(Arc::new(filter));
                    }
                    _ => {
                        return Err(Error::argument(format!(
                            "failed to parse filter for alias [{name}]"
                        )));
                    }
                },
                "routing" => routing = text()?,
                "index_routing" | "indexRouting" | "index-routing" => {
                    alias.index_routing = text()?;
                }
                "search_routing" | "searchRouting" | "search-routing" => {
                    alias.search_routing = text()?;
                }
                "is_write_index" => alias.is_write_index = flag()?,
                "is_hidden" => alias.is_hidden = flag()?,
                _ => {}
            }
        }
        if let Some(routing) = routing {
            alias.index_routing.get_or_insert_with(|| Arc::clone(&routing));
            alias.search_routing.get_or_insert(routing);
        }
        if let Some(routing) = &alias.index_routing
            && routing.contains(',')
        {
            return Err(Error::argument(format!(
                "alias [{name}] has several index routing values associated with it"
            )));
        }
        Ok(alias)
    }

    /// Restores what [`Alias::to_json`] gave.
    pub fn from_json(body: &Value) -> Self {
        let text = |key: &str| body.get(key).and_then(Value::as_str).map(Arc::from);
        let flag = |key: &str| body.get(key).and_then(Value::as_bool);
        Self {
            filter: body.get("filter").cloned().map(Arc::new),
            index_routing: text("index_routing"),
            search_routing: text("search_routing"),
            is_write_index: flag("is_write_index"),
            is_hidden: flag("is_hidden"),
        }
    }

    /// As `GET /_alias` shows it.
    pub fn to_json(&self) -> Value {
        let mut object = Object::new();
        if let Some(filter) = &self.filter {
            object.insert("filter", Value::clone(filter));
        }
        if let Some(routing) = &self.index_routing {
            object.insert("index_routing", &**routing);
        }
        if let Some(routing) = &self.search_routing {
            object.insert("search_routing", &**routing);
        }
        if let Some(flag) = self.is_write_index {
            object.insert("is_write_index", flag);
        }
        if let Some(flag) = self.is_hidden {
            object.insert("is_hidden", flag);
        }
        Value::Object(object)
    }
}

#[cfg(test)]
mod tests {
    use json::json;

    use super::*;

    #[test]
    fn routing_fills_what_is_not_said_apart() {
        let alias = Alias::parse("a", &json!({"index_routing": "i", "routing": 7}));
        let alias = alias.expect("reads");
        assert_eq!(alias.index_routing.as_deref(), Some("i"));
        assert_eq!(alias.search_routing.as_deref(), Some("7"));
        assert_eq!(Alias::from_json(&alias.to_json()), alias);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (body, word) in [
            (json!({"filter": 1}), "failed to parse filter for alias [a]"),
            (json!({"is_hidden": 1}), "only [true] or [false]"),
            (json!({"routing": "a,b"}), "several index routing values"),
            (json!(7), "must be an object"),
        ] {
            let error = Alias::parse("a", &body).expect_err(word).to_string();
            assert!(error.contains(word), "{error}");
        }
    }
}
