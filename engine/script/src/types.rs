//! Types that a script can name, and what may become what.

use crate::error::Fault;

/// A type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// No value.
    Void,
    /// The type of `null`.
    Null,
    /// `def`: known when it runs.
    Def,
    /// `boolean`.
    Bool,
    /// `byte`.
    Byte,
    /// `short`.
    Short,
    /// `char`.
    Char,
    /// `int`.
    Int,
    /// `long`.
    Long,
    /// `float`.
    Float,
    /// `double`.
    Double,
    /// A class, by its place in [`CLASSES`].
    Class(u16),
    /// An array: how many dimensions, of what.
    Array(u8, &'static Type),
}

/// A class that scripts know: its short name, its Java name, its kind.
#[derive(Debug)]
pub struct Class {
    /// As scripts write it.
    pub name: &'static str,
    /// With its package.
    pub java: &'static str,
    /// What values it takes.
    pub kind: ClassKind,
}

/// What values a class takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClassKind {
    /// Everything (`Object`, interfaces that many things are).
    Any,
    /// Numbers of any width.
    Number,
    /// One primitive type's box.
    Boxed(Type),
    /// Strings.
    Text,
    /// Strings and builders of them.
    CharSequence,
    /// Lists and sets.
    Collection,
    /// Lists.
    List,
    /// Sets.
    Set,
    /// Maps.
    Map,
    /// Anything that can be walked through.
    Iterable,
    /// Iterators.
    Iterator,
    /// `StringBuilder`.
    Builder,
    /// Entries of maps.
    Entry,
    /// Of `java.time`.
    Date,
    /// Lambdas.
    Function,
    /// Patterns.
    Pattern,
    /// Matchers.
    Matcher,
    /// Exceptions.
    Exception,
    /// Has no values, only static members, or values that are not told apart.
    Other,
}

macro_rules! classes {
    ($($name:literal $java:literal $kind:expr;)*) => {
        /// All classes.
        pub static CLASSES: &[Class] = &[$(Class { name: $name, java: $java, kind: $kind }),*];
    };
}

use ClassKind as K;

classes! {
    "Object" "java.lang.Object" K::Any;
    "String" "java.lang.String" K::Text;
    "Number" "java.lang.Number" K::Number;
    "Boolean" "java.lang.Boolean" K::Boxed(Type::Bool);
    "Byte" "java.lang.Byte" K::Boxed(Type::Byte);
    "Short" "java.lang.Short" K::Boxed(Type::Short);
    "Character" "java.lang.Character" K::Boxed(Type::Char);
    "Integer" "java.lang.Integer" K::Boxed(Type::Int);
    "Long" "java.lang.Long" K::Boxed(Type::Long);
    "Float" "java.lang.Float" K::Boxed(Type::Float);
    "Double" "java.lang.Double" K::Boxed(Type::Double);
    "CharSequence" "java.lang.CharSequence" K::CharSequence;
    "Comparable" "java.lang.Comparable" K::Any;
    "Iterable" "java.lang.Iterable" K::Iterable;
    "Math" "java.lang.Math" K::Other;
    "StrictMath" "java.lang.StrictMath" K::Other;
    "StringBuilder" "java.lang.StringBuilder" K::Builder;
    "StringBuffer" "java.lang.StringBuffer" K::Builder;
    "Exception" "java.lang.Exception" K::Exception;
    "RuntimeException" "java.lang.RuntimeException" K::Exception;
    "IllegalArgumentException" "java.lang.IllegalArgumentException" K::Exception;
    "IllegalStateException" "java.lang.IllegalStateException" K::Exception;
    "ArithmeticException" "java.lang.ArithmeticException" K::Exception;
    "NullPointerException" "java.lang.NullPointerException" K::Exception;
    "NumberFormatException" "java.lang.NumberFormatException" K::Exception;
    "ClassCastException" "java.lang.ClassCastException" K::Exception;
    "IndexOutOfBoundsException" "java.lang.IndexOutOfBoundsException" K::Exception;
    "UnsupportedOperationException" "java.lang.UnsupportedOperationException" K::Exception;
    "DateTimeException" "java.time.DateTimeException" K::Exception;
    "DateTimeParseException" "java.time.format.DateTimeParseException" K::Exception;
    "Collection" "java.util.Collection" K::Collection;
    "Collections" "java.util.Collections" K::Other;
    "Arrays" "java.util.Arrays" K::Other;
    "Objects" "java.util.Objects" K::Other;
    "List" "java.util.List" K::List;
    "ArrayList" "java.util.ArrayList" K::List;
    "LinkedList" "java.util.LinkedList" K::List;
    "Set" "java.util.Set" K::Set;
    "HashSet" "java.util.HashSet" K::Set;
    "LinkedHashSet" "java.util.LinkedHashSet" K::Set;
    "TreeSet" "java.util.TreeSet" K::Set;
    "Map" "java.util.Map" K::Map;
    "HashMap" "java.util.HashMap" K::Map;
    "LinkedHashMap" "java.util.LinkedHashMap" K::Map;
    "TreeMap" "java.util.TreeMap" K::Map;
    "Map.Entry" "java.util.Map.Entry" K::Entry;
    "Iterator" "java.util.Iterator" K::Iterator;
    "ListIterator" "java.util.ListIterator" K::Iterator;
    "Optional" "java.util.Optional" K::Any;
    "UUID" "java.util.UUID" K::Other;
    "Random" "java.util.Random" K::Other;
    "Locale" "java.util.Locale" K::Other;
    "StringJoiner" "java.util.StringJoiner" K::Other;
    "StringTokenizer" "java.util.StringTokenizer" K::Iterator;
    "Base64" "java.util.Base64" K::Other;
    "Comparator" "java.util.Comparator" K::Function;
    "Function" "java.util.function.Function" K::Function;
    "BiFunction" "java.util.function.BiFunction" K::Function;
    "Predicate" "java.util.function.Predicate" K::Function;
    "BiPredicate" "java.util.function.BiPredicate" K::Function;
    "Consumer" "java.util.function.Consumer" K::Function;
    "BiConsumer" "java.util.function.BiConsumer" K::Function;
    "Supplier" "java.util.function.Supplier" K::Function;
    "UnaryOperator" "java.util.function.UnaryOperator" K::Function;
    "BinaryOperator" "java.util.function.BinaryOperator" K::Function;
    "Collectors" "java.util.stream.Collectors" K::Other;
    "Stream" "java.util.stream.Stream" K::Any;
    "IntStream" "java.util.stream.IntStream" K::Any;
    "Pattern" "java.util.regex.Pattern" K::Pattern;
    "Matcher" "java.util.regex.Matcher" K::Matcher;
    "ZonedDateTime" "java.time.ZonedDateTime" K::Date;
    "OffsetDateTime" "java.time.OffsetDateTime" K::Date;
    "LocalDateTime" "java.time.LocalDateTime" K::Date;
    "LocalDate" "java.time.LocalDate" K::Date;
    "LocalTime" "java.time.LocalTime" K::Date;
    "Instant" "java.time.Instant" K::Date;
    "Duration" "java.time.Duration" K::Date;
    "Period" "java.time.Period" K::Date;
    "ZoneId" "java.time.ZoneId" K::Date;
    "ZoneOffset" "java.time.ZoneOffset" K::Date;
    "DayOfWeek" "java.time.DayOfWeek" K::Date;
    "Month" "java.time.Month" K::Date;
    "ChronoUnit" "java.time.temporal.ChronoUnit" K::Date;
    "ChronoField" "java.time.temporal.ChronoField" K::Date;
    "DateTimeFormatter" "java.time.format.DateTimeFormatter" K::Date;
    "TemporalUnit" "java.time.temporal.TemporalUnit" K::Date;
    "Temporal" "java.time.temporal.Temporal" K::Date;
    "TextStyle" "java.time.format.TextStyle" K::Date;
    "JodaCompatibleZonedDateTime" "org.elasticsearch.script.JodaCompatibleZonedDateTime" K::Date;
    "MovingFunctions" "org.elasticsearch.search.aggregations.pipeline.MovingFunctions" K::Other;
    "GeoPoint" "org.elasticsearch.common.geo.GeoPoint" K::Any;
    "Debug" "org.elasticsearch.painless.api.Debug" K::Other;
}

impl Type {
    /// The type of a name: a primitive, `def`, or a class by its short or its long name.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "void" => Self::Void,
            "def" => Self::Def,
            "boolean" => Self::Bool,
            "byte" => Self::Byte,
            "short" => Self::Short,
            "char" => Self::Char,
            "int" => Self::Int,
            "long" => Self::Long,
            "float" => Self::Float,
            "double" => Self::Double,
            _ => {
                let found =
                    CLASSES.iter().position(|class| class.name == name || class.java == name);
                Self::Class(found? as u16)
            }
        })
    }

    /// The class of strings.
    pub const TEXT: Self = Self::Class(1);

    /// The class.
    pub fn class(self) -> Option<&'static Class> {
        match self {
            Self::Class(at) => CLASSES.get(usize::from(at)),
            _ => None,
        }
    }

    /// A number's type.
    pub const fn is_numeric(self) -> bool {
        self.rank().is_some()
    }

    /// How wide a number's type is, from `byte` to `double`.
    pub const fn rank(self) -> Option<u8> {
        Some(match self {
            Self::Byte => 0,
            Self::Short => 1,
            Self::Char => 2,
            Self::Int => 3,
            Self::Long => 4,
            Self::Float => 5,
            Self::Double => 6,
            _ => return None,
        })
    }

    /// Neither class, array nor `def`.
    pub const fn is_primitive(self) -> bool {
        self.is_numeric() || matches!(self, Self::Bool)
    }

    /// What arithmetic makes of it.
    pub const fn promoted(self) -> Self {
        match self {
            Self::Byte | Self::Short | Self::Char => Self::Int,
            other => other,
        }
    }

    /// As Java writes it.
    pub fn java(self) -> String {
        match self {
            Self::Void => "void".to_owned(),
            Self::Null => "null".to_owned(),
            Self::Def => "def".to_owned(),
            Self::Bool => "boolean".to_owned(),
            Self::Byte => "byte".to_owned(),
            Self::Short => "short".to_owned(),
            Self::Char => "char".to_owned(),
            Self::Int => "int".to_owned(),
            Self::Long => "long".to_owned(),
            Self::Float => "float".to_owned(),
            Self::Double => "double".to_owned(),
            Self::Class(at) => CLASSES[usize::from(at)].java.to_owned(),
            Self::Array(dims, of) => format!("{}{}", of.java(), "[]".repeat(usize::from(dims))),
        }
    }

    /// An array of it.
    pub fn array(self, dims: u8) -> Self {
        const fn leak(of: &'static Type) -> &'static Type {
            of
        }
        let of: &'static Type = match self {
            Self::Bool => leak(&Type::Bool),
            Self::Byte => leak(&Type::Byte),
            Self::Short => leak(&Type::Short),
            Self::Char => leak(&Type::Char),
            Self::Int => leak(&Type::Int),
            Self::Long => leak(&Type::Long),
            Self::Float => leak(&Type::Float),
            Self::Double => leak(&Type::Double),
            Self::Class(1) => leak(&Type::TEXT),
            Self::Class(0) => leak(&Type::Class(0)),
            // Elements of other classes are looked at when they are used.
            _ => leak(&Type::Def),
        };
        Self::Array(dims, of)
    }

    /// The type of an array's elements.
    pub fn element(self) -> Self {
        match self {
            Self::Array(1, of) => *of,
            Self::Array(dims, of) => Self::Array(dims - 1, of),
            _ => Self::Def,
        }
    }
}

/// What it takes to make a value of one type one of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Nothing.
    None,
    /// A change of form, or a look at what it is.
    Cast,
}

/// May a value become one of another type?
///
/// # Errors
/// `Cannot cast from [a] to [b].`
pub fn change(from: Type, to: Type, explicit: bool) -> Result<Change, Fault> {
    let refused =
        || Err(Fault::cast(format!("Cannot cast from [{}] to [{}].", from.java(), to.java())));
    if from == to {
        return Ok(Change::None);
    }
    match (from, to) {
        (Type::Void, _) | (_, Type::Void) => refused(),
        (_, Type::Def) => Ok(Change::None),
        (Type::Def, _) => Ok(Change::Cast),
        (Type::Null, to) if to.is_primitive() => refused(),
        (Type::Null, _) => Ok(Change::None),
        (from, to) if from.is_numeric() && to.is_numeric() => {
            let widens = from.rank() < to.rank()
                && to != Type::Char
                && !(from == Type::Char && to == Type::Short);
            if widens || explicit { Ok(Change::Cast) } else { refused() }
        }
        (Type::Class(1), Type::Char) | (Type::Char, Type::Class(1)) if explicit => Ok(Change::Cast),
        (from, to) if from.is_primitive() => match to.class().map(|class| class.kind) {
            Some(ClassKind::Any) => Ok(Change::None),
            Some(ClassKind::Number) if from.is_numeric() => Ok(Change::None),
            Some(ClassKind::Boxed(of)) if of == from => Ok(Change::None),
            Some(ClassKind::Boxed(of)) => change(from, of, explicit).or_else(|_| refused()),
            _ => refused(),
        },
        (from, to) if to.is_primitive() => match from.class().map(|class| class.kind) {
            Some(ClassKind::Any) if explicit => Ok(Change::Cast),
            Some(ClassKind::Number) if explicit && to.is_numeric() => Ok(Change::Cast),
            Some(ClassKind::Boxed(of)) => {
                change(of, to, explicit).map(|_| Change::Cast).or_else(|_| refused())
            }
            _ => refused(),
        },
        (Type::Class(a), Type::Class(b)) => {
            let (a, b) = (CLASSES[usize::from(a)].kind, CLASSES[usize::from(b)].kind);
            if related(a, b) { Ok(Change::Cast) } else { refused() }
        }
        (Type::Array(..), Type::Class(b)) => match CLASSES[usize::from(b)].kind {
            ClassKind::Any => Ok(Change::None),
            _ => refused(),
        },
        (Type::Class(a), Type::Array(..)) => match CLASSES[usize::from(a)].kind {
            ClassKind::Any => Ok(Change::Cast),
            _ => refused(),
        },
        _ => Ok(Change::Cast),
    }
}

/// Can a value be of both kinds?
fn related(a: ClassKind, b: ClassKind) -> bool {
    let one = |a: ClassKind, b: ClassKind| match (a, b) {
        (K::Any, _) => true,
        (K::Number, K::Boxed(of)) => of.is_numeric() && of != Type::Char,
        (K::CharSequence, K::Text | K::Builder) => true,
        (K::Collection, K::List | K::Set) => true,
        (K::Iterable, K::Collection | K::List | K::Set) => true,
        _ => false,
    };
    a == b || one(a, b) || one(b, a)
}
