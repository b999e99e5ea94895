//! `function_score` and its functions.

use json::spanned::{Kind as Json, Node};

use super::context::{Fault, Read, boost, float, is_value, members, scalar, text, unsupported};
use super::{query, script, suggest};
use crate::ast::{
    Decay, DecayForm, Factor, Function, FunctionKind, FunctionScore, Modifier, MultiValue,
    Node as Ask, Query, ScoreMode,
};
use crate::error::{Error, Kind};

/// Functions that are known.
const FUNCTIONS: [&str; 6] =
    ["exp", "field_value_factor", "gauss", "linear", "random_score", "script_score"];

const MISPLACED: &str = "already found [functions] array, now encountering ";

/// `function_score`.
pub fn function_score(body: &Node, depth: u32) -> Read<Query> {
    const NAME: &str = "function_score";
    let mut inner = None;
    let mut functions: Vec<Function> = Vec::new();
    let (mut array, mut single, mut weight) = (false, None::<String>, None);
    let mut found = FunctionScore {
        query: Query::all(),
        functions: Vec::new(),
        score_mode: ScoreMode::Multiply,
        boost_mode: ScoreMode::Multiply,
        max_boost: f32::MAX,
        min_score: None,
        single: false,
    };
    let (mut factor, mut name) = (1.0, None);
    for member in members(body) {
        let (key, value) = (member.key.as_str(), &member.value);
        let misplaced = |what: &str| {
            let reason = format!("failed to parse [{NAME}] query. {what}");
            Fault::parsing(value.at, reason)
        };
        match (key, &value.kind) {
            ("query", Json::Object(_)) => {
                if inner.is_some() {
                    return Err(misplaced("[query] is already defined."));
                }
                inner = Some(query::read(value, depth)?);
            }
            ("functions", Json::Array(nodes)) => {
                if let Some(first) = &single {
                    return Err(misplaced(&format!(
                        "already found [{first}], now encountering [functions]."
                    )));
                }
                if weight.is_some() {
                    return Err(misplaced("already found [weight], now encountering [functions]."));
                }
                array = true;
                for node in nodes {
                    functions.push(function(node, depth)?);
                }
            }
            ("score_mode", _) if is_value(value) => found.score_mode = score_mode(value)?,
            ("boost_mode", _) if is_value(value) => found.boost_mode = boost_mode(value)?,
            ("max_boost", _) if is_value(value) => found.max_boost = float(value)?,
            ("min_score", _) if is_value(value) => found.min_score = Some(float(value)?),
            ("boost", _) if is_value(value) => factor = boost(value)?,
            ("_name", _) if is_value(value) => name = Some(text(value)?),
            ("weight", _) if is_value(value) => {
                if array {
                    return Err(misplaced(&format!("{MISPLACED}[weight].")));
                }
                weight = Some(self::weight(value)?);
            }
            (_, Json::Object(_)) => {
                if let Some(first) = &single {
                    return Err(misplaced(&format!(
                        "already found function [{first}], now encountering [{key}]. use \
                         [functions] array if you want to define several functions."
                    )));
                }
                if array {
                    return Err(misplaced(&format!("{MISPLACED}[{key}].")));
                }
                single = Some(key.to_owned());
                let kind = Some(kind(key, value)?);
                functions.push(Function { filter: None, weight: None, kind });
            }
            _ if is_value(value) => {
                return Err(misplaced(&format!("field [{key}] is not supported")));
            }
            _ => return Err(unsupported(NAME, key, value)),
        }
    }
    if let Some(weight) = weight {
        match functions.first_mut() {
            Some(function) => function.weight = Some(weight),
            None => functions.push(Function { filter: None, weight: Some(weight), kind: None }),
        }
    }
    found.single = !array;
    found.query = inner.unwrap_or_else(Query::all);
    found.functions = functions;
    Ok(Query { node: Ask::FunctionScore(Box::new(found)), boost: factor, name })
}

/// One of `functions`.
fn function(node: &Node, depth: u32) -> Read<Function> {
    let Json::Object(members) = &node.kind else {
        let reason = format!(
            "failed to parse [function_score]. malformed query, expected a [START_OBJECT] while \
             parsing functions but got a [{}] instead",
            node.token()
        );
        return Err(Fault::parsing(node.at, reason));
    };
    let mut found = Function { filter: None, weight: None, kind: None };
    for member in members {
        let (key, value) = (member.key.as_str(), &member.value);
        match (key, &value.kind) {
            ("weight", _) if is_value(value) => found.weight = Some(weight(value)?),
            ("filter", Json::Object(_)) => found.filter = Some(query::read(value, depth)?),
            (_, Json::Object(_)) => {
                if found.kind.is_some() {
                    let reason = "failed to parse function_score functions. already found \
                                  function, now encountering another one";
                    return Err(Fault::parsing(value.at, reason));
                }
                found.kind = Some(kind(key, value)?);
            }
            _ => {
                let reason = format!(
                    "failed to parse [function_score] query. field [{key}] is not supported"
                );
                return Err(Fault::parsing(value.at, reason));
            }
        }
    }
    if found.kind.is_none() && found.weight.is_none() {
        let reason = "failed to parse [function_score] query. an entry in functions list is \
                      missing a function.";
        return Err(Fault::parsing(node.end, reason));
    }
    Ok(found)
}

/// By what a function's score is multiplied.
fn weight(value: &Node) -> Read<f32> {
    let weight = float(value)?;
    // `Float.compare` tells a negative zero from zero.
    if weight < 0.0 || weight == 0.0 && weight.is_sign_negative() {
        let reason = "[weight] cannot be negative for a filtering function";
        return Err(Fault::illegal(value.at, reason));
    }
    Ok(weight)
}

fn score_mode(value: &Node) -> Read<ScoreMode> {
    let word = text(value)?;
    Ok(match word.to_ascii_lowercase().as_str() {
        "multiply" => ScoreMode::Multiply,
        "sum" => ScoreMode::Sum,
        "avg" => ScoreMode::Avg,
        "first" => ScoreMode::First,
        "max" => ScoreMode::Max,
        "min" => ScoreMode::Min,
        _ => return Err(no_constant("FunctionScoreQuery.ScoreMode", &word, value)),
    })
}

fn boost_mode(value: &Node) -> Read<ScoreMode> {
    let word = text(value)?;
    Ok(match word.to_ascii_lowercase().as_str() {
        "multiply" => ScoreMode::Multiply,
        "replace" => ScoreMode::First,
        "sum" => ScoreMode::Sum,
        "avg" => ScoreMode::Avg,
        "max" => ScoreMode::Max,
        "min" => ScoreMode::Min,
        _ => return Err(no_constant("CombineFunction", &word, value)),
    })
}

fn no_constant(class: &str, word: &str, value: &Node) -> Fault {
    let reason = format!(
        "No enum constant org.elasticsearch.common.lucene.search.function.{class}.{}",
        word.to_uppercase()
    );
    Fault::illegal(value.at, reason)
}

fn kind(name: &str, body: &Node) -> Read<FunctionKind> {
    Ok(match name {
        "random_score" => random(body)?,
        "field_value_factor" => FunctionKind::Factor(factor(body)?),
        "gauss" => FunctionKind::Decay(decay(DecayForm::Gauss, body)?),
        "exp" => FunctionKind::Decay(decay(DecayForm::Exp, body)?),
        "linear" => FunctionKind::Decay(decay(DecayForm::Linear, body)?),
        "script_score" => FunctionKind::Script(Box::new(script::function(body)?)),
        _ => {
            let near = suggest::near(name, FUNCTIONS);
            let reason = format!("{} unknown field [{name}]{near}", body.at);
            return Err(Fault { error: Error::new(Kind::NamedObject, reason), at: body.at });
        }
    })
}

fn random(body: &Node) -> Read<FunctionKind> {
    let (mut seed, mut field) = (None, None);
    for member in members(body) {
        let (key, value) = (member.key.as_str(), &member.value);
        match (key, &value.kind) {
            ("seed", Json::Number(number)) => {
                let wide = number.as_i64().unwrap_or_else(|| number.as_f64() as i64);
                // Elasticsearch folds a long into an int.
                seed = Some(match i32::try_from(wide) {
                    Ok(_) => wide,
                    Err(_) => i64::from((wide ^ (wide >> 32)) as i32),
                });
            }
            ("seed", Json::String(word)) => {
                let hash = word
                    .encode_utf16()
                    .fold(0i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)));
                seed = Some(i64::from(hash));
            }
            ("seed", Json::Null) => {}
            ("field", _) if is_value(value) => field = Some(text(value)?),
            _ => {
                let reason = format!("random_score query does not support [{key}]");
                return Err(Fault::parsing(value.at, reason));
            }
        }
    }
    if field.is_some() && seed.is_none() {
        let reason = "Required [seed] if [field] is given in [random_score]";
        return Err(Fault::illegal(body.end, reason));
    }
    Ok(FunctionKind::Random(seed, field))
}

fn factor(body: &Node) -> Read<Factor> {
    let mut field = None;
    let (mut factor, mut modifier, mut missing) = (1.0, Modifier::None, None);
    for member in members(body) {
        let (key, value) = (member.key.as_str(), &member.value);
        match (key, &value.kind) {
            (_, Json::Array(_)) if matches!(key, "factor" | "modifier" | "field") => {
                let reason =
                    format!("[field_value_factor] field [{key}] does not support lists or objects");
                return Err(Fault::parsing(value.at, reason));
            }
            ("field", _) if is_value(value) => field = Some(text(value)?),
            ("factor", _) if is_value(value) => factor = float(value)?,
            ("modifier", _) if is_value(value) => modifier = self::modifier(value)?,
            ("missing", _) if is_value(value) => missing = Some(double(value)?),
            _ => {
                let reason = format!("field_value_factor query does not support [{key}]");
                return Err(Fault::parsing(value.at, reason));
            }
        }
    }
    let Some(field) = field else {
        let reason = "[field_value_factor] required field 'field' missing";
        return Err(Fault::parsing(body.end, reason));
    };
    Ok(Factor { field, factor, modifier, missing })
}

/// A double: a number, or a string that holds one.
pub fn double(node: &Node) -> Read<f64> {
    let text = text(node)?;
    text.trim().parse().map_err(|_| Fault { error: Error::number(&text), at: node.at })
}

fn modifier(value: &Node) -> Read<Modifier> {
    const ALL: [Modifier; 10] = [
        Modifier::None,
        Modifier::Log,
        Modifier::Log1p,
        Modifier::Log2p,
        Modifier::Ln,
        Modifier::Ln1p,
        Modifier::Ln2p,
        Modifier::Square,
        Modifier::Sqrt,
        Modifier::Reciprocal,
    ];
    let word = text(value)?;
    let same = |modifier: &Modifier| modifier.name().eq_ignore_ascii_case(&word);
    ALL.into_iter()
        .find(same)
        .ok_or_else(|| no_constant("FieldValueFactorFunction.Modifier", &word, value))
}

fn decay(form: DecayForm, body: &Node) -> Read<Decay> {
    let mut found: Option<Decay> = None;
    let mut multi = MultiValue::Min;
    for member in members(body) {
        let (key, value) = (member.key.as_str(), &member.value);
        match (key, &value.kind) {
            ("multi_value_mode", _) => multi = multi_value(value)?,
            (_, Json::Object(_)) => found = Some(decay_of(form, key, value)?),
            _ => {
                let reason = format!("malformed score function score parameters: {key}");
                return Err(Fault::parsing(value.at, reason));
            }
        }
    }
    let Some(mut found) = found else {
        return Err(Fault::parsing(body.end, "malformed score function score parameters."));
    };
    found.multi = multi;
    Ok(found)
}

fn decay_of(form: DecayForm, field: &str, body: &Node) -> Read<Decay> {
    let mut found = Decay {
        form,
        field: field.to_owned(),
        origin: None,
        scale: None,
        offset: None,
        decay: 0.5,
        multi: MultiValue::Min,
    };
    for member in members(body) {
        let (key, value) = (member.key.as_str(), &member.value);
        match key {
            "origin" => found.origin = Some(value.to_value()),
            "scale" => found.scale = scalar(value)?,
            "offset" => found.offset = scalar(value)?,
            "decay" => found.decay = double(value)?,
            _ => {
                let reason = format!("parameter [{key}] not supported!");
                return Err(Fault { error: Error::new(Kind::Parse, reason), at: value.at });
            }
        }
    }
    Ok(found)
}

fn multi_value(value: &Node) -> Read<MultiValue> {
    let word = text(value)?;
    Ok(match word.to_ascii_lowercase().as_str() {
        "min" => MultiValue::Min,
        "max" => MultiValue::Max,
        "avg" => MultiValue::Avg,
        "sum" => MultiValue::Sum,
        _ => return Err(Fault::illegal(value.at, format!("Illegal sort mode: {word}"))),
    })
}
