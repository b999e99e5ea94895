//! From method and path to a route.
//!
//! A literal segment beats a parameter, at each segment from the left; where the literal way ends
//! nowhere, the parameter is tried. The first path found decides: another path's methods do not
//! help, as in Elasticsearch.
//!
//! A parameter that another path of the same call gives may stand in the query
//! (`/_stats?metric=docs` is `/_stats/docs`): [`Router::complete`].

use base::hash::Map;
use http::Method;
use http::target::{BadEscape, Plus, Target, decode};

use crate::params::Params;
use crate::table::{Api, Route};

/// The table as a tree.
#[derive(Debug, Default)]
pub struct Router {
    root: Node,
    /// The parameters of all the paths of a call.
    names: Map<Api, Vec<&'static str>>,
}

#[derive(Debug, Default)]
struct Node {
    literals: Vec<(&'static str, Node)>,
    parameter: Option<Box<Node>>,
    /// Routes that end here, with the names of their parameters in order.
    routes: Vec<(&'static Route, Vec<&'static str>)>,
}

/// Where a request goes.
#[derive(Debug)]
pub enum Found {
    /// To this route.
    Route(&'static Route, PathParams),
    /// Nowhere: the path is known, the method is not; the methods that are.
    WrongMethod(Vec<Method>),
    /// Nowhere.
    Nothing,
}

/// Parameters of a path, decoded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathParams {
    pairs: Vec<(&'static str, String)>,
}

impl PathParams {
    /// The parameter `name`, where the path has one.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }
}

impl Router {
    /// The tree of a table.
    ///
    /// # Panics
    /// Where two rows claim the same method and path.
    pub fn new(routes: &'static [Route]) -> Self {
        let mut router = Self::default();
        for route in routes {
            let mut node = &mut router.root;
            let mut names = Vec::new();
            for segment in route.path.split('/').filter(|segment| !segment.is_empty()) {
                let name = segment.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
                node = match name {
                    Some(name) => {
                        let of_call = router.names.entry(route.api).or_default();
                        if !of_call.contains(&name) {
                            of_call.push(name);
                        }
                        names.push(name);
                        node.parameter.get_or_insert_default()
                    }
                    None => node.literal(segment),
                };
            }
            for method in route.methods {
                assert!(node.route(*method).is_none(), "{method:?} {} twice", route.path);
            }
            node.routes.push((route, names));
        }
        router
    }

    /// What paths of this call may give.
    pub fn names(&self, api: Api) -> &[&'static str] {
        self.names.get(&api).map_or(&[], Vec::as_slice)
    }

    /// Takes from the query what the path does not give and another path of the call would. A name
    /// that is a parameter of the query in its own right stays that.
    pub fn complete(&self, route: &Route, path: &mut PathParams, params: &Params) {
        for name in self.names(route.api) {
            let Some(value) = params.text(name) else { continue };
            let mut own = route.params.iter().copied().flatten();
            if path.get(name).is_none() && !own.any(|known| known.name == *name) {
                path.pairs.push((name, value.to_owned()));
            }
        }
    }

    /// The route of a request.
    ///
    /// # Errors
    /// A broken escape in a parameter of the path.
    pub fn find(&self, method: Method, target: &Target<'_>) -> Result<Found, BadEscape> {
        let segments: Vec<&[u8]> = target.segments().collect();
        let mut values = Vec::new();
        let Some(node) = self.root.walk(&segments, &mut values) else { return Ok(Found::Nothing) };
        let Some((route, names)) = node.route(method) else {
            let mut methods: Vec<Method> =
                node.routes.iter().flat_map(|(route, _)| route.methods).copied().collect();
            methods.sort_by_key(|method| method.as_str());
            return Ok(Found::WrongMethod(methods));
        };
        let pairs = names
            .iter()
            .zip(values)
            .map(|(name, value)| Ok((*name, decode(value, Plus::Plus)?.into_owned())))
            .collect::<Result<_, BadEscape>>()?;
        Ok(Found::Route(route, PathParams { pairs }))
    }
}

impl Node {
    fn literal(&mut self, segment: &'static str) -> &mut Node {
        let at = match self.literals.iter().position(|(name, _)| *name == segment) {
            Some(at) => at,
            None => {
                self.literals.push((segment, Node::default()));
                self.literals.len() - 1
            }
        };
        &mut self.literals[at].1
    }

    fn route(&self, method: Method) -> Option<&(&'static Route, Vec<&'static str>)> {
        self.routes.iter().find(|(route, _)| route.methods.contains(&method))
    }

    fn walk<'p>(&self, segments: &[&'p [u8]], values: &mut Vec<&'p [u8]>) -> Option<&Node> {
        let Some((first, rest)) = segments.split_first() else {
            return (!self.routes.is_empty()).then_some(self);
        };
        let literal = self.literals.iter().find(|(name, _)| name.as_bytes() == *first);
        if let Some((_, node)) = literal
            && let Some(found) = node.walk(rest, values)
        {
            return Some(found);
        }
        let node = self.parameter.as_ref()?;
        values.push(first);
        let found = node.walk(rest, values);
        if found.is_none() {
            values.pop();
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Api, CatTable, ROUTES};

    fn find(method: Method, path: &str) -> Found {
        Router::new(ROUTES).find(method, &Target::new(path.as_bytes())).expect("good escapes")
    }

    fn api(method: Method, path: &str) -> Option<(Api, PathParams)> {
        match find(method, path) {
            Found::Route(route, params) => Some((route.api, params)),
            _ => None,
        }
    }

    #[test]
    fn literals_beat_parameters() {
        let (found, _) = api(Method::Get, "/_search").expect("a route");
        assert_eq!(found, Api::Search);
        let (found, params) = api(Method::Get, "/a%2Fb/_doc/x%2Fy+z?_source").expect("a route");
        assert_eq!(
            (found, params.get("index"), params.get("id")),
            (Api::Get, Some("a/b"), Some("x/y+z"))
        );
        let (found, params) = api(Method::Get, "/_cat/indices/a*").expect("a route");
        assert_eq!((found, params.get("index")), (Api::CatTable(CatTable::Indices), Some("a*")));
        // Literals that lead nowhere give way.
        let (found, params) = api(Method::Put, "/_foo").expect("a route");
        assert_eq!((found, params.get("index")), (Api::CreateIndex, Some("_foo")));
        assert_eq!(api(Method::Get, "/").map(|found| found.0), Some(Api::Info));
        assert_eq!(api(Method::Get, "/a/").map(|found| found.0), Some(Api::GetIndex));
    }

    #[test]
    fn the_first_path_decides_about_methods() {
        let methods = |method, path| match find(method, path) {
            Found::WrongMethod(methods) => methods,
            other => panic!("{other:?}"),
        };
        assert_eq!(methods(Method::Get, "/_bulk"), [Method::Post, Method::Put]);
        assert_eq!(methods(Method::Post, "/"), [Method::Delete, Method::Get, Method::Head]);
        assert_eq!(methods(Method::Get, "/a/_foo"), [Method::Post]);
        assert_eq!(methods(Method::Get, "/_cat/nope"), [Method::Post]);
        assert_eq!(
            methods(Method::Other, "/a"),
            [Method::Delete, Method::Get, Method::Head, Method::Put]
        );
        assert!(matches!(find(Method::Get, "/x/y/z/q"), Found::Nothing));
        assert!(matches!(find(Method::Get, "/x/y/z"), Found::Nothing));
    }

    #[test]
    fn what_another_path_gives_the_query_may_give() {
        let given = |target: &str, name: &str| {
            let router = Router::new(ROUTES);
            let target = Target::new(target.as_bytes());
            let Found::Route(route, mut path) = router.find(Method::Get, &target).expect("good")
            else {
                panic!("no route");
            };
            let params = Params::parse(&target).expect("good escapes");
            router.complete(route, &mut path, &params);
            path.get(name).map(str::to_owned)
        };
        for (target, name, expected) in [
            ("/_stats?metric=docs", "metric", Some("docs")),
            ("/_stats/store?metric=docs", "metric", Some("store")),
            ("/_search?index=a,b", "index", Some("a,b")),
            ("/a/_search?index=b", "index", Some("a")),
            ("/_cat/indices?index=a", "index", Some("a")),
            ("/_cat/health?index=a", "index", None),
            ("/_cat/fielddata?fields=a", "fields", None),
        ] {
            assert_eq!(given(target, name).as_deref(), expected, "{target}");
        }
    }

    #[test]
    fn broken_escapes_are_told() {
        let found = Router::new(ROUTES).find(Method::Get, &Target::new(b"/%zz"));
        assert!(found.is_err());
    }
}
