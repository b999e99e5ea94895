//! Settings of the whole cluster: two layers over the defaults, changed by
//! `PUT /_cluster/settings`.
//!
//! Always true
//! 1. What is held was known and readable when it was set.
//! 2. A transient value stands before a persistent one, that before the default.
//!
//! Both layers are kept in the cluster state. Elasticsearch forgets transient ones when the whole
//! cluster stops; so do we: [`ClusterSettings::after_restart`].
//!
//! Not here: what a setting does (where it is read), settings of a node (`tools`, `config`).

use std::collections::BTreeMap;
use std::time::Duration;

use base::units::{self, is_no_size};
use json::{Object, Value};

use crate::cluster_settings_table::{TABLE, find, find_by};
use crate::command::Rules;
use crate::error::{Error, Result};
use crate::settings::{
    Share, addresses, check_text, flatten as flat, is_time, no_text, place, takes_sizes,
};
use crate::settings_table::{Kind, Type};

/// May the whole cluster have a setting of this name, set while it runs?
pub fn is_dynamic(name: &str) -> bool {
    find(name).is_some_and(|known| known.kind == Kind::Dynamic)
}

/// One layer: flat names, texts or lists of texts.
pub type Layer = BTreeMap<String, Value>;

/// Marks of a disk that fills, each with its name in sentences.
const WATERMARKS: [(&str, &str); 3] = [
    ("cluster.routing.allocation.disk.watermark.low", "low"),
    ("cluster.routing.allocation.disk.watermark.high", "high"),
    ("cluster.routing.allocation.disk.watermark.flood_stage", "flood stage"),
];

/// Behind a mark's name: the most that it leaves.
const MAX_HEADROOM: &str = ".max_headroom";

/// The settings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClusterSettings {
    persistent: Layer,
    transient: Layer,
}

impl ClusterSettings {
    /// What outlives a restart.
    pub fn persistent(&self) -> &Layer {
        &self.persistent
    }

    /// What does not.
    pub fn transient(&self) -> &Layer {
        &self.transient
    }

    /// These settings with both updates worked in; a null takes a setting back, and a null at a
    /// name with stars all settings of such names.
    ///
    /// # Errors
    /// A setting that is unknown, one of a node, a value that cannot be read.
    pub fn update(&self, persistent: &Value, transient: &Value) -> Result<Self> {
        self.update_by(Rules::Now, persistent, transient)
    }

    /// As [`ClusterSettings::update`], by these rules.
    ///
    /// # Errors
    /// As there.
    pub fn update_by(&self, rules: Rules, persistent: &Value, transient: &Value) -> Result<Self> {
        // What is wrong with the transient ones is told first.
        let transient = changed(&self.transient, ("transient", rules), transient)?;
        let persistent = changed(&self.persistent, ("persistent", rules), persistent)?;
        let settings = Self { persistent, transient };
        settings.check_watermarks()?;
        settings.check_headrooms()?;
        settings.check_keep_alives()?;
        Ok(settings)
    }

    /// The fuller a disk, the higher the mark.
    fn check_watermarks(&self) -> Result<()> {
        let texts = WATERMARKS.map(|(name, _)| self.text(name).unwrap_or_default());
        let mut marks = Vec::with_capacity(texts.len());
        for ((name, _), text) in WATERMARKS.iter().zip(texts) {
            marks.push(Share::parse(name, text)?);
        }
        for at in 0..marks.len() - 1 {
            let word = match (marks[at], marks[at + 1]) {
                (Share::Percent(low), Share::Percent(high)) if low > high => "more",
                (Share::Bytes(low), Share::Bytes(high)) if low < high => "less",
                (Share::Percent(_), Share::Percent(_)) | (Share::Bytes(_), Share::Bytes(_)) => {
                    continue;
                }
                _ => {
                    let [(a, _), (b, _), (c, _)] = WATERMARKS;
                    let [low, high, flood] = texts;
                    return Err(Error::argument(format!(
                        "unable to consistently parse [{a}={low}], [{b}={high}], and [{c}={flood}] as \
                         percentage or bytes"
                    )));
                }
            };
            return Err(Error::argument(format!(
                "{} disk watermark [{}] {word} than {} disk watermark [{}]",
                WATERMARKS[at].1,
                texts[at],
                WATERMARKS[at + 1].1,
                texts[at + 1]
            )));
        }
        Ok(())
    }

    /// The higher the mark, the less room above it.
    fn check_headrooms(&self) -> Result<()> {
        let rooms = WATERMARKS.map(|(name, word)| {
            let name = format!("{name}{MAX_HEADROOM}");
            let text = self.text(&name).unwrap_or_default().to_owned();
            (word, units::bytes(&name, &text).ok().flatten(), text)
        });
        for pair in rooms.windows(2) {
            let [(low, lower, lower_text), (high, upper, upper_text)] = pair else { continue };
            if let (Some(lower), Some(upper)) = (lower, upper)
                && lower < upper
            {
                return Err(Error::argument(format!(
                    "{low} disk max headroom [{lower_text}] less than {high} disk max headroom \
                     [{upper_text}]"
                )));
            }
        }
        Ok(())
    }

    fn check_keep_alives(&self) -> Result<()> {
        let [usual, most] = ["search.default_keep_alive", "search.max_keep_alive"];
        if self.time(usual) <= self.time(most) {
            return Ok(());
        }
        let text = |name| self.text(name).unwrap_or_default();
        Err(Error::argument(format!(
            "Default keep alive setting for request [{usual}] should be smaller than max keep alive \
             [{most}], was ({} > {})",
            text(usual),
            text(most)
        )))
    }

    /// Without the transient layer.
    #[must_use]
    pub fn after_restart(&self) -> Self {
        Self { persistent: self.persistent.clone(), transient: Layer::new() }
    }

    /// Restores what [`ClusterSettings::to_json`] gave.
    pub fn from_json(value: &Value) -> Self {
        let layer = |key: &str| {
            let object = value.get(key).and_then(Value::as_object);
            let pairs = object.map(Object::iter).into_iter().flatten();
            pairs.map(|(name, value)| (name.to_owned(), value.clone())).collect()
        };
        Self { persistent: layer("persistent"), transient: layer("transient") }
    }

    /// Both layers, flat.
    pub fn to_json(&self) -> Value {
        let mut object = Object::new();
        object.insert("persistent", render(&self.persistent, true));
        object.insert("transient", render(&self.transient, true));
        Value::Object(object)
    }

    /// The text that counts; the default's where none was set. `None` for a list, or a name that
    /// has no default.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.value(name) {
            Some(value) => value.as_str(),
            None => find(name).map(|known| known.default),
        }
    }

    /// The most that a watermark in percent leaves, as text; `-1` for as much as it says. Whoever set a mark means
    /// it: with any of them set, the headrooms that were not have no default, as in Elasticsearch.
    pub fn headroom(&self, mark: &str) -> &str {
        let name = format!("{mark}{MAX_HEADROOM}");
        match (self.value(&name), find(&name)) {
            (Some(value), _) => value.as_str().unwrap_or_default(),
            (None, Some(known)) if !self.marks_are_set(mark) => known.default,
            (None, _) => "-1",
        }
    }

    /// Was this mark set, or one that belongs to it?
    fn marks_are_set(&self, mark: &str) -> bool {
        let together = WATERMARKS.iter().any(|(name, _)| *name == mark);
        if together {
            WATERMARKS.iter().any(|(name, _)| self.value(name).is_some())
        } else {
            self.value(mark).is_some()
        }
    }

    /// A truth that counts.
    pub fn flag(&self, name: &str) -> bool {
        self.text(name) == Some("true")
    }

    /// An integer that counts.
    pub fn int(&self, name: &str) -> Option<i64> {
        self.text(name)?.parse().ok()
    }

    /// A time that counts; `None` for none and for `-1`.
    pub fn time(&self, name: &str) -> Option<Duration> {
        units::time(name, self.text(name)?).ok().flatten()
    }

    /// A size in bytes that counts.
    pub fn bytes(&self, name: &str) -> Option<u64> {
        units::bytes(name, self.text(name)?).ok().flatten()
    }

    /// The members of a list that count, of a text its parts between commas.
    pub fn list(&self, name: &str) -> Vec<String> {
        if let Some(items) = self.value(name).and_then(Value::as_array) {
            return items.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        }
        let text = self.text(name).unwrap_or_default();
        text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
    }

    /// What was set at that name, in the layer that counts.
    fn value(&self, name: &str) -> Option<&Value> {
        self.transient.get(name).or_else(|| self.persistent.get(name))
    }

    /// Defaults of all known settings that neither layer has.
    pub fn defaults(&self) -> Layer {
        TABLE
            .iter()
            .filter(|known| !known.name.ends_with('.') && self.value(known.name).is_none())
            .map(|known| {
                let value = match known.ty {
                    Type::List if known.default.is_empty() => Value::Array(Vec::new()),
                    Type::List if known.default.contains(',') => {
                        Value::Array(known.default.split(',').map(Value::from).collect())
                    }
                    _ => match known.name.strip_suffix(MAX_HEADROOM) {
                        Some(mark) => Value::from(self.headroom(mark)),
                        None => Value::from(known.default),
                    },
                };
                (known.name.to_owned(), value)
            })
            .collect()
    }
}

/// A layer as it is shown: flat, or nested at its dots.
pub fn render(layer: &Layer, flat: bool) -> Value {
    let mut root = Object::new();
    for (name, value) in layer {
        if flat {
            root.insert(name.as_str(), value.clone());
        } else {
            place(&mut root, name, value);
        }
    }
    Value::Object(root)
}

/// What an update sets, flat, without what it takes back.
///
/// # Errors
/// A body that is no object.
pub fn set_by(update: &Value) -> Result<Layer> {
    let mut flat = flatten(update)?;
    flat.retain(|_, value| !value.is_null());
    Ok(flat)
}

/// What an update names, flattened; a null takes a setting back. Null is an empty update.
///
/// # Errors
/// As [`set_by`].
pub fn flatten(update: &Value) -> Result<Layer> {
    if update.is_null() { Ok(Layer::new()) } else { flat(update) }
}

/// The text of a value of this setting that is a size of a number that is not whole: `1.5gb`.
pub fn fraction<'v>(name: &str, value: &'v Value) -> Option<&'v str> {
    crate::settings::fraction_as(find(name)?.ty, value)
}

/// `action.auto_create_index`, where an update sets it: `true`, `false`, or patterns of which each names
/// something.
///
/// # Errors
/// In Elasticsearch's words.
pub fn check_patterns(update: &Value) -> Result<()> {
    const NAME: &str = "action.auto_create_index";
    let set = set_by(update)?;
    let text = match set.get(NAME) {
        None => return Ok(()),
        Some(Value::Array(items)) => {
            items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(",")
        }
        Some(value) => value.as_str().unwrap_or_default().to_owned(),
    };
    for pattern in text.split(',').map(str::trim).filter(|_| !text.is_empty()) {
        let lacks = match pattern {
            "" => "be either [true, false, or a comma separated list of index patterns]",
            "-" => "contain an index name after [-]",
            "+" => "contain an index name after [+]",
            _ => continue,
        };
        let reason = format!("Can't parse [{text}] for setting [{NAME}] must {lacks}");
        return Err(Error::argument(reason));
    }
    Ok(())
}

/// Before the names of settings that an older version took.
const ARCHIVED: &str = "archived.";

fn changed(layer: &Layer, (title, rules): (&str, Rules), update: &Value) -> Result<Layer> {
    let mut layer = layer.clone();
    for (name, value) in flatten(update)? {
        if value.is_null() && name.contains('*') {
            layer.retain(|held, _| !json::path::glob(name.as_bytes(), held.as_bytes()));
            continue;
        }
        if value.is_null() && name.starts_with(ARCHIVED) {
            // What no version knows any more may be taken back, there or not.
            layer.remove(&name);
            continue;
        }
        check((title, rules), &name, &value)?;
        if value.is_null() {
            layer.remove(&name);
        } else {
            layer.insert(name, value);
        }
    }
    Ok(layer)
}

/// Why this is no time for a setting that is one, where its unit is `M`.
pub fn no_minutes(name: &str, text: &str) -> Option<String> {
    find(name).filter(|known| is_time(known.ty)).and_then(|_| units::no_minutes(name, text))
}

fn check((title, rules): (&str, Rules), name: &str, value: &Value) -> Result<()> {
    let Some(known) = find_by(rules, name) else {
        return Err(Error::argument(format!("{title} setting [{name}], not recognized")));
    };
    if known.kind != Kind::Dynamic {
        return Err(Error::argument(format!(
            "{title} setting [{name}], not dynamically updateable"
        )));
    }
    match value {
        Value::Null => Ok(()),
        // As a whole text it stands for no size at all.
        Value::String(text) if is_no_size(text) && takes_sizes(known.ty) => match rules {
            Rules::Before => Err(no_text(known, name, value)),
            Rules::Former | Rules::Now => check_text(known, "-1"),
        },
        Value::String(text) => {
            check_text(known, text)?;
            if known.name.ends_with('.') { addresses(name, text) } else { Ok(()) }
        }
        Value::Array(_) if known.ty == Type::List => Ok(()),
        // Of a family whose names are the caller's, those that end so are lists.
        Value::Array(hosts) if known.name == "cluster.remote." && name.ends_with(".seeds") => {
            hosts.iter().filter_map(Value::as_str).try_for_each(|host| addresses(name, host))
        }
        // A text is read of a list as Java prints it, which any text setting takes; those that choose nodes read
        // lists.
        Value::Array(items) if known.ty == Type::Text && rules != Rules::Before => {
            let texts = items.iter().filter_map(Value::as_str);
            texts.filter(|_| known.name.ends_with('.')).try_for_each(|text| addresses(name, text))
        }
        other => Err(no_text(known, name, other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Value {
        json::parse(text.as_bytes()).expect("good JSON")
    }

    fn set(text: &str) -> Result<ClusterSettings> {
        ClusterSettings::default().update(&value(text), &Value::Null)
    }

    #[test]
    fn headrooms_have_no_default_where_a_mark_is_set() {
        const MARK: &str = "cluster.routing.allocation.disk.watermark";
        let told = |set: &ClusterSettings| {
            let defaults = set.defaults();
            ["low", "high", "flood_stage", "flood_stage.frozen"].map(|mark| {
                let name = format!("{MARK}.{mark}.max_headroom");
                let shown = defaults.get(&name).and_then(Value::as_str).map(str::to_owned);
                assert!(shown.is_none_or(|shown| shown == set.headroom(&format!("{MARK}.{mark}"))));
                set.headroom(&format!("{MARK}.{mark}")).to_owned()
            })
        };
        assert_eq!(told(&ClusterSettings::default()), ["4GB", "2GB", "1GB", "20GB"]);
        let high = set(&format!(r#"{{"{MARK}.high":"91%"}}"#)).expect("it is fine");
        assert_eq!(told(&high), ["-1", "-1", "-1", "20GB"]);
        let room = json::json!({(format!("{MARK}.low.max_headroom")): "5gb"});
        let room = high.update(&room, &Value::Null).expect("it is fine");
        assert_eq!(told(&room), ["5gb", "-1", "-1", "20GB"]);
        let frozen = set(&format!(r#"{{"{MARK}.flood_stage.frozen":"91%"}}"#)).expect("it is fine");
        assert_eq!(told(&frozen), ["4GB", "2GB", "1GB", "-1"]);
    }

    #[test]
    fn patterns_of_indices_that_writes_make_name_something() {
        let told = |text: &str| {
            let update = json::json!({"action": {"auto_create_index": text}});
            check_patterns(&update).err().map(|error| error.to_string())
        };
        for fine in ["true", "false", "", "a*", "-a*, +b", "*"] {
            assert_eq!(told(fine), None, "{fine}");
        }
        for (text, lacks) in [
            ("a*,-", "contain an index name after [-]"),
            ("+", "contain an index name after [+]"),
            (",,,", "be either [true, false, or a comma separated list of index patterns]"),
            ("a, ,b", "be either [true, false, or a comma separated list of index patterns]"),
        ] {
            let reason =
                format!("Can't parse [{text}] for setting [action.auto_create_index] must {lacks}");
            assert_eq!(told(text), Some(reason));
        }
        assert!(check_patterns(&json::json!({"action.auto_create_index": ["a", "-"]})).is_err());
    }

    #[test]
    fn a_transient_value_stands_before_a_persistent_one() {
        let settings = ClusterSettings::default();
        assert!(settings.flag("action.destructive_requires_name"));
        assert_eq!(settings.int("search.max_buckets"), Some(65_536));
        let settings = settings
            .update(
                &value(r#"{"search":{"max_buckets":10},"action.destructive_requires_name":false}"#),
                &value(r#"{"search.max_buckets":"20"}"#),
            )
            .expect("good settings");
        assert_eq!(settings.int("search.max_buckets"), Some(20));
        assert!(!settings.flag("action.destructive_requires_name"));
        assert_eq!(settings.after_restart().int("search.max_buckets"), Some(10));
        let restored = ClusterSettings::from_json(&settings.to_json());
        assert_eq!(restored, settings);
        let nested = render(settings.persistent(), false);
        assert_eq!(
            json::to_string(&nested),
            r#"{"action":{"destructive_requires_name":"false"},"search":{"max_buckets":"10"}}"#
        );
        assert!(!settings.defaults().contains_key("search.max_buckets"));
    }

    #[test]
    fn nulls_take_back() {
        let settings = set(r#"{"search.max_buckets":1,"search.max_open_scroll_context":2}"#);
        let settings = settings.expect("good settings");
        let one = settings.update(&value(r#"{"search":{"max_buckets":null}}"#), &Value::Null);
        assert_eq!(one.expect("good").persistent().len(), 1);
        let all = settings.update(&value(r#"{"search.*":null}"#), &Value::Null);
        assert!(all.expect("good").persistent().is_empty());
        let archived = settings.update(&value(r#"{"archived.x":null}"#), &Value::Null);
        assert_eq!(archived.expect("good"), settings);
        let others = settings.update(&value(r#"{"archived.x":null,"nope.y":null}"#), &Value::Null);
        let others = others.expect_err("unknown").to_string();
        assert!(others.starts_with("persistent setting [nope.y], not recognized"), "{others}");
    }

    #[test]
    fn refusals_are_elasticsearchs() {
        for (body, reason) in [
            (r#"{"foo.bar":1}"#, "persistent setting [foo.bar], not recognized"),
            (
                r#"{"search.max_bucket":1}"#,
                "persistent setting [search.max_bucket], not recognized",
            ),
            (
                r#"{"search.keep_alive_interval":-1}"#,
                "failed to parse value [-1] for setting [search.keep_alive_interval], must be >= [0ms]",
            ),
            (
                r#"{"indices.recovery.recovery_activity_timeout":-1}"#,
                "failed to parse value [-1] for setting [indices.recovery.recovery_activity_timeout], must be >= [0s]",
            ),
            (r#"{"path.data":"x"}"#, "persistent setting [path.data], not dynamically updateable"),
            (
                r#"{"search.max_buckets":"x"}"#,
                "Failed to parse value [x] for setting [search.max_buckets]",
            ),
            (
                r#"{"search.max_buckets":-2}"#,
                "Failed to parse value [-2] for setting [search.max_buckets] must be >= 0",
            ),
            (
                r#"{"action.destructive_requires_name":"yes"}"#,
                "Failed to parse value [yes] as only [true] or [false] are allowed.",
            ),
            (r#"{"logger.org.x":"loud"}"#, "Unknown level constant [LOUD]."),
            (
                r#"{"cluster.info.update.interval":"1s"}"#,
                "failed to parse value [1s] for setting [cluster.info.update.interval], must be >= \
                 [10s]",
            ),
            (
                r#"{"cluster.routing.allocation.disk.watermark.low":"full"}"#,
                "unable to parse [cluster.routing.allocation.disk.watermark.low=full] as either \
                 percentage or bytes",
            ),
            (
                r#"{"cluster.routing.allocation.disk.watermark.low":"99%"}"#,
                "low disk watermark [99%] more than high disk watermark [90%]",
            ),
            (
                r#"{"cluster.routing.allocation.disk.watermark":{"high":"0.97"}}"#,
                "high disk watermark [0.97] more than flood stage disk watermark [95%]",
            ),
            (
                r#"{"cluster.routing.allocation.disk.watermark.low":"10gb"}"#,
                "unable to consistently parse [cluster.routing.allocation.disk.watermark.low=10gb], \
                 [cluster.routing.allocation.disk.watermark.high=90%], and \
                 [cluster.routing.allocation.disk.watermark.flood_stage=95%] as percentage or bytes",
            ),
            (
                r#"{"cluster.routing.allocation.disk.watermark":{"low":"1gb","high":"2gb",
                     "flood_stage":"500mb"}}"#,
                "low disk watermark [1gb] less than high disk watermark [2gb]",
            ),
            (
                r#"{"cluster.routing.allocation.disk.watermark.low.max_headroom":"1gb"}"#,
                "low disk max headroom [1gb] less than high disk max headroom [2GB]",
            ),
            (
                r#"{"search.max_keep_alive":"1m"}"#,
                "Default keep alive setting for request [search.default_keep_alive] should be \
                 smaller than max keep alive [search.max_keep_alive], was (5m > 1m)",
            ),
            (
                r#"{"indices.breaker.total.limit":"110%"}"#,
                "percentage should be in [0-100], got [110]",
            ),
            (
                r#"{"script.max_compilations_rate":"many"}"#,
                "parameter must contain a positive integer and a timevalue, i.e. 10/1m, but was \
                 [many]",
            ),
            (r#"{"cluster.routing.rebalance.enable":"no"}"#, "Illegal rebalance.enable value [NO]"),
            (
                r#"{"cluster.routing.allocation.balance.threshold":0.5}"#,
                "Failed to parse value [0.5] for setting \
                 [cluster.routing.allocation.balance.threshold] must be >= 1.0",
            ),
        ] {
            assert_eq!(set(body).expect_err(body).to_string(), reason);
        }
        assert!(set(r#"{"cluster.routing.allocation.exclude._name":"a"}"#).is_ok());
        assert!(set(r#"{"action.auto_create_index":["a*","-b*"]}"#).is_ok());
        assert!(set(r#"{"logger._root":"debug","logger.org.x":"TRACE"}"#).is_ok());
        assert!(
            set(r#"{"cluster.routing.allocation.disk.watermark":{"low":"3gb","high":"2gb",
                     "flood_stage":"1gb"}}"#)
            .is_ok()
        );
    }
}
