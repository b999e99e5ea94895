//! What the line of a request says once for all items of its body: each of them has it, and its answer tells it again,
//! where it fails several times.

use crate::params::Params;
use crate::router::PathParams;
use crate::table::Api;

/// Names of this length are in what is reckoned for items anyway.
const FREE_BYTES: usize = 32;

/// What a name of a list takes beside its text.
const NAME_BYTES: usize = 32;

/// How many bytes a value of such a body takes more because of it.
pub(super) fn bytes_each(api: Api, path: &PathParams, params: &Params) -> usize {
    // How often an item has it, by how many values the shortest item is: four of a bulk, two of a search, and one of
    // a document that is read. Measured with items that fail, whose answers are the longest.
    let copies = match api {
        Api::Bulk => 2,
        Api::MultiSearch | Api::MultiSearchTemplate => 8,
        Api::MultiGet | Api::MultiTermVectors => 16,
        _ => return 0,
    };
    let said = ["index", "routing", "pipeline"].map(|name| params.text(name));
    let said = said.into_iter().chain([path.get("index")]).flatten();
    let bytes = |text: &str| text.len() + NAME_BYTES * text.matches(',').count();
    said.map(bytes).sum::<usize>().saturating_sub(FREE_BYTES).saturating_mul(copies)
}

#[cfg(test)]
mod tests {
    use http::Target;

    use super::*;

    fn each(api: Api, line: &str) -> usize {
        let target = Target::new(line.as_bytes());
        let params = Params::parse(&target).expect("it reads");
        bytes_each(api, &PathParams::default(), &params)
    }

    #[test]
    fn what_is_long_counts_for_each_item() {
        let long = format!("/_bulk?routing={}", "r".repeat(1_032));
        assert_eq!(each(Api::Bulk, &long), 2_000);
        assert_eq!(each(Api::MultiGet, &long), 16_000);
        assert_eq!(each(Api::Search, &long), 0);
        assert_eq!(each(Api::Bulk, "/_bulk?routing=someone&pipeline=a&refresh=wait_for"), 0);
        let list = format!("/_msearch?routing={}", "p,".repeat(100));
        assert_eq!(each(Api::MultiSearch, &list), (200 + 3_200 - 32) * 8);
    }
}
