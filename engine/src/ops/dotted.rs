//! Names that begin with a dot, which are to be allowed no more: who makes an index of such a name, or a template
//! for such names, is warned, be it hidden or not.
//!
//! Always true: a program of the maker's own stack, which says so by the header `X-Elastic-Product-Origin`, is not
//! told ([`is_for_others`]).

use crate::gate::Gate;

/// Names that the stack around Elasticsearch still makes.
const EXEMPT: [&str; 4] = [
    ".elastic-connectors-v1",
    ".elastic-connectors-sync-jobs-v1",
    ".ml-state",
    ".ml-anomalies-unrelated",
];

/// The same: the beginning, a number, and how it goes on where it must.
const EXEMPT_NUMBERED: [(&str, Option<&str>); 3] = [
    (".slo-observability.sli-v", None),
    (".slo-observability.summary-v", None),
    (".entities.v", Some(".latest.")),
];

/// The same: beginnings.
const EXEMPT_BEGINNINGS: [&str; 5] = [
    ".monitoring-es-8-",
    ".monitoring-logstash-8-",
    ".monitoring-kibana-8-",
    ".monitoring-beats-8-",
    ".monitoring-ent-search-8-",
];

const ENDS: &str = "] name begins with a dot (.), which is deprecated, and will not be allowed in a future \
                    Elasticsearch version.";

/// Warns of this name, or pattern, of a request, as it stands there.
pub(super) fn warn(gate: &dyn Gate, provided: &str) {
    // As date math.
    let bare = match provided.strip_prefix('<') {
        Some(rest) => rest.strip_suffix('>').unwrap_or(rest),
        None => provided,
    };
    if bare.starts_with('.') && !is_exempt(bare) {
        gate.warn(&format!("Index [{provided}{ENDS}"));
    }
}

fn is_exempt(name: &str) -> bool {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let is_numbered = |(begin, goes_on): &(&str, Option<&str>)| {
        name.strip_prefix(begin).is_some_and(|rest| {
            let digits = digits(rest);
            digits > 0 && goes_on.is_none_or(|goes_on| rest[digits..].starts_with(goes_on))
        })
    };
    let is_state = name
        .strip_prefix(".ml-state-")
        .is_some_and(|rest| !rest.is_empty() && digits(rest) == rest.len());
    is_state
        || EXEMPT.contains(&name)
        || EXEMPT_NUMBERED.iter().any(is_numbered)
        || EXEMPT_BEGINNINGS.iter().any(|begin| name.starts_with(begin))
}

/// Is this warning none for programs of the maker's own stack?
pub fn is_for_others(warning: &str) -> bool {
    warning.ends_with(ENDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_stack_still_makes_is_exempt() {
        for exempt in [
            ".ml-state",
            ".ml-state-21309",
            ".slo-observability.sli-v2",
            ".slo-observability.summary-v2.3-2024-01-01",
            ".entities.v92.latest.eggplant.potato",
            ".monitoring-es-8-*",
            ".monitoring-ent-search-8-mb",
            ".elastic-connectors-v1",
        ] {
            assert!(is_exempt(exempt), "{exempt}");
        }
        for other in [
            ".ml-state-",
            ".ml-state-21309x",
            ".ml-states",
            ".slo-observability.sli-v",
            ".entities.v.latest.a",
            ".entities.v1.history.a",
            ".monitoring-es-7-mb",
            ".elastic-connectors-v2",
            ".monitoring-*",
        ] {
            assert!(!is_exempt(other), "{other}");
        }
    }
}
