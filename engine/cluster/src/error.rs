//! Why a command was refused, with the facts that Elasticsearch's words need.
//!
//! Status codes and the JSON form are given above.

use std::fmt;

/// Answer of what a command asks.
pub type Result<T> = std::result::Result<T, Error>;

/// A refusal; nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// `invalid_index_name_exception`.
    IndexName {
        /// The name.
        name: String,
        /// What is wrong with it: `must be lowercase`.
        why: String,
    },
    /// `invalid_alias_name_exception`.
    AliasName {
        /// The name.
        name: String,
        /// What is wrong with it, punctuation in front included.
        why: String,
    },
    /// `resource_already_exists_exception`.
    Exists {
        /// The index.
        name: String,
        /// Its uuid, text form.
        uuid: String,
    },
    /// `resource_already_exists_exception` of a data stream.
    StreamExists {
        /// Its name.
        name: String,
    },
    /// `index_not_found_exception`.
    NotFound {
        /// The name (or uuid) that nothing bears.
        name: String,
    },
    /// `aliases_not_found_exception`.
    AliasesMissing {
        /// Names, none of which is there.
        names: Vec<String>,
    },
    /// `index_template_missing_exception`.
    TemplateMissing {
        /// The name as asked for.
        name: String,
    },
    /// `invalid_index_template_exception`.
    Template {
        /// The template.
        name: String,
        /// What is wrong with it.
        why: String,
    },
    /// `illegal_argument_exception`: a setting that is unknown, not allowed or cannot be read.
    Argument {
        /// For people.
        reason: String,
        /// The text that is no number, where that is the cause.
        number: Option<String>,
    },
    /// An `illegal_argument_exception` with a cause.
    Because {
        /// For people.
        reason: String,
        /// The cause.
        cause: Box<Error>,
    },
    /// What was to be rolled over writes no more to the index to which it wrote when it was looked at:
    /// whoever looks again is told what it is now.
    Moved {
        /// The alias or data stream.
        target: String,
    },
    /// `illegal_state_exception`: what was asked does not fit what is there.
    State {
        /// For people.
        reason: String,
    },
    /// `validation_exception`: the problems, counted where they are shown.
    Invalid {
        /// One sentence each.
        problems: Vec<String>,
    },
    /// `parse_exception`: a body that cannot be read.
    Parse {
        /// For people.
        reason: String,
    },
    /// A mapping that is wrong or cannot be changed so.
    Mapping(mapping::Error),
}

impl Error {
    /// An `illegal_argument_exception`.
    pub fn argument(reason: impl Into<String>) -> Self {
        Self::Argument { reason: reason.into(), number: None }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::IndexName { name, why } => write!(f, "Invalid index name [{name}], {why}"),
            Self::AliasName { name, why } => write!(f, "Invalid alias name [{name}]{why}"),
            Self::Exists { name, uuid } => write!(f, "index [{name}/{uuid}] already exists"),
            Self::StreamExists { name } => write!(f, "data_stream [{name}] already exists"),
            Self::NotFound { name } => write!(f, "no such index [{name}]"),
            Self::AliasesMissing { names } => write!(f, "aliases [{}] missing", names.join(",")),
            Self::TemplateMissing { name } => write!(f, "index_template [{name}] missing"),
            Self::Template { name, why } => {
                write!(f, "index_template [{name}] invalid, cause [{why}]")
            }
            Self::Moved { target } => {
                write!(f, "rollover target [{target}] has been changed meanwhile")
            }
            Self::Argument { reason, .. }
            | Self::Because { reason, .. }
            | Self::State { reason }
            | Self::Parse { reason } => f.write_str(reason),
            Self::Invalid { problems } => {
                f.write_str("Validation Failed: ")?;
                for (at, problem) in problems.iter().enumerate() {
                    write!(f, "{}: {problem};", at + 1)?;
                }
                Ok(())
            }
            Self::Mapping(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl From<mapping::Error> for Error {
    fn from(error: mapping::Error) -> Self {
        Self::Mapping(error)
    }
}
