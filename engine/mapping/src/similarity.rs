//! How a field scores: what `index.similarity` may define, read and judged in Elasticsearch's words.
//!
//! Only what was asked for stands here; the formulas are `search/score`'s. A definition is read whole:
//! its type decides which settings it may have. Deliberately absent: `scripted`, which runs a script.

use std::collections::BTreeMap;

use crate::{Error, Result};

/// How a field scores.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Similarity {
    /// BM25 with its saturation and its weight of the length.
    Bm25 {
        /// Saturation of the term frequency: not negative, finite.
        k1: f32,
        /// Weight of the length: 0 to 1.
        b: f32,
    },
    /// A term that is there counts its boost.
    Boolean,
    /// One of the models that count words, not only documents.
    Model(Model),
}

impl Default for Similarity {
    fn default() -> Self {
        Self::Bm25 { k1: 1.2, b: 0.75 }
    }
}

/// A model of how words are spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Model {
    /// Divergence from randomness (Amati and van Rijsbergen, 2002).
    Dfr(Basic, AfterEffect, Normalization),
    /// Divergence from independence (Kocabaş, Dinçer and Karaoğlan, 2014).
    Dfi(Independence),
    /// Information-based (Clinchant and Gaussier, 2010).
    Ib(Distribution, Lambda, Normalization),
    /// Language model with Dirichlet priors, of this `mu`: not negative, finite.
    Dirichlet(f32),
    /// Language model smoothed by Jelinek and Mercer, with this `lambda`: above 0, at most 1.
    JelinekMercer(f32),
}

/// How surprising a frequency is (`basic_model`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basic {
    /// `g`: geometric approximation of Bose and Einstein.
    G,
    /// `if`: inverse term frequency.
    If,
    /// `in`: inverse document frequency.
    In,
    /// `ine`: inverse expected document frequency.
    Ine,
}

/// What the second occurrence is worth less (`after_effect`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterEffect {
    /// `b`: the ratio of two Bernoulli processes.
    B,
    /// `l`: Laplace's law of succession.
    L,
}

/// What a frequency counts in a field of some length (`normalization`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Normalization {
    /// `no`: itself.
    No,
    /// `h1`, with its `c`.
    H1(f32),
    /// `h2`, with its `c`.
    H2(f32),
    /// `h3`, with its `c`, which papers call `mu`.
    H3(f32),
    /// `z`, with its `z`: above 0, below 0.5.
    Z(f32),
}

/// How far a frequency is from the expected one (`independence_measure`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Independence {
    /// `standardized`.
    Standardized,
    /// `saturated`.
    Saturated,
    /// `chisquared`.
    ChiSquared,
}

/// How frequencies are spread (`distribution`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// `ll`: log-logistic.
    Ll,
    /// `spl`: smoothed power law.
    Spl,
}

/// Its parameter (`lambda`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lambda {
    /// `df`: by documents.
    Df,
    /// `ttf`: by occurrences.
    Ttf,
}

/// The settings of one definition, by name.
pub type Settings<'a> = BTreeMap<&'a str, &'a str>;

const NORMALIZATIONS: [&str; 5] = [
    "normalization",
    "normalization.h1.c",
    "normalization.h2.c",
    "normalization.h3.c",
    "normalization.z.z",
];

impl Similarity {
    /// The similarity that `index.similarity.{name}` defines.
    ///
    /// # Errors
    /// A type, a setting or a value that is none.
    pub fn parse(name: &str, settings: &Settings<'_>) -> Result<Self> {
        if ["BM25", "boolean", "DFR", "DFI", "IB", "LMDirichlet", "LMJelinekMercer", "scripted"]
            .contains(&name)
        {
            return wrong(format!("Cannot redefine built-in Similarity [{name}]"));
        }
        let Some(kind) = settings.get("type") else {
            return wrong(format!("Similarity [{name}] must have an associated type"));
        };
        let definition = Definition { name, kind, settings };
        match kind.to_ascii_lowercase().as_str() {
            "bm25" => definition.bm25(),
            "boolean" => definition.only(&[]).map(|()| Self::Boolean),
            "dfr" => definition.dfr(),
            "dfi" => definition.dfi(),
            "ib" => definition.ib(),
            "lmdirichlet" => definition.dirichlet(),
            "lmjelinekmercer" => definition.jelinek_mercer(),
            _ => wrong(format!("Unknown Similarity type [{kind}] for [{name}]")),
        }
    }
}

/// One definition as it is read.
struct Definition<'a> {
    name: &'a str,
    kind: &'a str,
    settings: &'a Settings<'a>,
}

impl Definition<'_> {
    fn bm25(&self) -> Result<Similarity> {
        self.only(&["k1", "b", "discount_overlaps"])?;
        let (k1, b) = (self.float("k1", 1.2)?, self.float("b", 0.75)?);
        if !(k1 >= 0.0 && k1.is_finite()) {
            return wrong(format!("illegal k1 value: {k1:?}, must be a non-negative finite value"));
        }
        if !(0.0..=1.0).contains(&b) {
            return wrong(format!("illegal b value: {b:?}, must be between 0 and 1"));
        }
        // Tokens of one place count once in a length, whatever else is asked for.
        if self.settings.get("discount_overlaps").is_some_and(|text| *text != "true") {
            return wrong(format!(
                "[discount_overlaps] of Similarity [{}] must be [true]",
                self.name
            ));
        }
        Ok(Similarity::Bm25 { k1, b })
    }

    fn dfr(&self) -> Result<Similarity> {
        let known = ["basic_model", "after_effect"];
        self.only(&[&known[..], &NORMALIZATIONS].concat())?;
        let basic = match self.word("basic_model") {
            "g" => Basic::G,
            "if" => Basic::If,
            "in" => Basic::In,
            "ine" => Basic::Ine,
            old @ ("be" | "d" | "p") => {
                return wrong(format!(
                    "Basic model [{old}] isn't supported anymore, please use another model."
                ));
            }
            other => {
                return wrong(format!(
                    "Unsupported BasicModel [{other}], expected one of [ine, in, g, if]"
                ));
            }
        };
        let after = match self.word("after_effect") {
            "b" => AfterEffect::B,
            "l" => AfterEffect::L,
            "no" => {
                return wrong(
                    "After effect [no] isn't supported anymore, please use another effect.",
                );
            }
            other => {
                return wrong(format!("Unsupported AfterEffect [{other}], expected one of [b, l]"));
            }
        };
        Ok(Similarity::Model(Model::Dfr(basic, after, self.normalization()?)))
    }

    fn dfi(&self) -> Result<Similarity> {
        self.only(&["independence_measure"])?;
        let measure = match self.word("independence_measure") {
            "standardized" => Independence::Standardized,
            "saturated" => Independence::Saturated,
            "chisquared" => Independence::ChiSquared,
            other => {
                return wrong(format!(
                    "Unsupported IndependenceMeasure [{other}], expected one of [standardized, \
                     saturated, chisquared]"
                ));
            }
        };
        Ok(Similarity::Model(Model::Dfi(measure)))
    }

    fn ib(&self) -> Result<Similarity> {
        self.only(&[&["distribution", "lambda"][..], &NORMALIZATIONS].concat())?;
        let distribution = match self.word("distribution") {
            "ll" => Distribution::Ll,
            "spl" => Distribution::Spl,
            other => return wrong(format!("Unsupported Distribution [{other}]")),
        };
        let lambda = match self.word("lambda") {
            "df" => Lambda::Df,
            "ttf" => Lambda::Ttf,
            other => return wrong(format!("Unsupported Lambda [{other}]")),
        };
        Ok(Similarity::Model(Model::Ib(distribution, lambda, self.normalization()?)))
    }

    fn dirichlet(&self) -> Result<Similarity> {
        self.only(&["mu"])?;
        let mu = self.float("mu", 2000.0)?;
        self.not_negative("mu", mu)?;
        Ok(Similarity::Model(Model::Dirichlet(mu)))
    }

    fn jelinek_mercer(&self) -> Result<Similarity> {
        self.only(&["lambda"])?;
        let lambda = self.float("lambda", 0.1)?;
        if !(lambda > 0.0 && lambda <= 1.0) {
            return wrong("lambda must be in the range (0 .. 1]");
        }
        Ok(Similarity::Model(Model::JelinekMercer(lambda)))
    }

    fn normalization(&self) -> Result<Normalization> {
        Ok(match self.word("normalization") {
            "no" => Normalization::No,
            "h1" => Normalization::H1(self.factor("normalization.h1.c", "c", 1.0)?),
            "h2" => Normalization::H2(self.factor("normalization.h2.c", "c", 1.0)?),
            "h3" => Normalization::H3(self.factor("normalization.h3.c", "mu", 800.0)?),
            "z" => {
                let z = self.float("normalization.z.z", 0.3)?;
                if !(z > 0.0 && z < 0.5) {
                    return wrong(format!(
                        "illegal z value: {z:?}, must be in the range (0 .. 0.5)"
                    ));
                }
                Normalization::Z(z)
            }
            other => return wrong(format!("Unsupported Normalization [{other}]")),
        })
    }

    fn factor(&self, setting: &str, name: &str, default: f32) -> Result<f32> {
        let value = self.float(setting, default)?;
        self.not_negative(name, value)?;
        Ok(value)
    }

    fn not_negative(&self, name: &str, value: f32) -> Result<()> {
        if value >= 0.0 && value.is_finite() {
            return Ok(());
        }
        wrong(format!("illegal {name} value: {value:?}, must be a non-negative finite value"))
    }

    /// A word; `null` where it is not said, as Elasticsearch shows it.
    fn word(&self, setting: &str) -> &str {
        self.settings.get(setting).copied().unwrap_or("null")
    }

    fn float(&self, setting: &str, default: f32) -> Result<f32> {
        let Some(text) = self.settings.get(setting) else { return Ok(default) };
        text.parse().or_else(|_| {
            let full = format!("index.similarity.{}.{setting}", self.name);
            wrong(format!("Failed to parse value [{text}] for setting [{full}]"))
        })
    }

    /// Refuses every setting but these and the type.
    fn only(&self, known: &[&str]) -> Result<()> {
        let unknown: Vec<&str> = self
            .settings
            .keys()
            .copied()
            .filter(|key| *key != "type" && !known.contains(key))
            .collect();
        if unknown.is_empty() {
            return Ok(());
        }
        wrong(format!(
            "Unknown settings for similarity of type [{}]: [{}]",
            self.kind,
            unknown.join(", ")
        ))
    }
}

fn wrong<T>(reason: impl Into<String>) -> Result<T> {
    Err(Error::illegal_argument(reason.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(settings: &[(&str, &str)]) -> std::result::Result<Similarity, String> {
        let settings = settings.iter().copied().collect();
        Similarity::parse("mine", &settings).map_err(|error| error.to_string())
    }

    #[test]
    fn each_type_is_read_with_its_settings() {
        use Model::*;
        let model = |settings: &[(&str, &str)]| match parse(settings) {
            Ok(Similarity::Model(model)) => model,
            other => panic!("{other:?}"),
        };
        let dfr = [("type", "DFR"), ("basic_model", "ine"), ("after_effect", "l")];
        let with = |more: &[(&'static str, &'static str)]| model(&[&dfr[..], more].concat());
        assert_eq!(
            with(&[("normalization", "h2"), ("normalization.h2.c", "3.0")]),
            Dfr(Basic::Ine, AfterEffect::L, Normalization::H2(3.0))
        );
        assert_eq!(
            with(&[("normalization", "h3")]),
            Dfr(Basic::Ine, AfterEffect::L, Normalization::H3(800.0))
        );
        assert_eq!(
            model(&[
                ("type", "IB"),
                ("distribution", "spl"),
                ("lambda", "ttf"),
                ("normalization", "z"),
            ]),
            Ib(Distribution::Spl, Lambda::Ttf, Normalization::Z(0.3))
        );
        let dfi = [("type", "DFI"), ("independence_measure", "chisquared")];
        assert_eq!(model(&dfi), Dfi(Independence::ChiSquared));
        assert_eq!(model(&[("type", "LMDirichlet")]), Dirichlet(2000.0));
        assert_eq!(model(&[("type", "LMJelinekMercer"), ("lambda", "0.7")]), JelinekMercer(0.7));
        assert_eq!(parse(&[("type", "boolean")]), Ok(Similarity::Boolean));
        assert_eq!(
            parse(&[("type", "BM25"), ("b", "0")]),
            Ok(Similarity::Bm25 { k1: 1.2, b: 0.0 })
        );
    }

    #[test]
    fn wrong_definitions_are_refused_in_elasticsearchs_words() {
        for (settings, reason) in [
            (&[][..], "Similarity [mine] must have an associated type"),
            (&[("type", "x")], "Unknown Similarity type [x] for [mine]"),
            (
                &[("type", "BM25"), ("c", "1"), ("a", "1")],
                "Unknown settings for similarity of type [BM25]: [a, c]",
            ),
            (&[("type", "BM25"), ("b", "1.5")], "illegal b value: 1.5, must be between 0 and 1"),
            (
                &[("type", "DFR"), ("basic_model", "be")],
                "Basic model [be] isn't supported anymore, please use another model.",
            ),
            (&[("type", "DFR")], "Unsupported BasicModel [null], expected one of [ine, in, g, if]"),
            (
                &[("type", "IB"), ("distribution", "ll"), ("lambda", "df"), ("normalization", "q")],
                "Unsupported Normalization [q]",
            ),
            (
                &[("type", "LMDirichlet"), ("mu", "-1")],
                "illegal mu value: -1.0, must be a non-negative finite value",
            ),
            (
                &[("type", "LMJelinekMercer"), ("lambda", "0")],
                "lambda must be in the range (0 .. 1]",
            ),
        ] {
            assert_eq!(parse(settings), Err(reason.to_owned()));
        }
        let redefined = Similarity::parse("BM25", &Settings::new()).expect_err("it is built in");
        assert_eq!(redefined.to_string(), "Cannot redefine built-in Similarity [BM25]");
    }
}
