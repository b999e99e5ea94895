//! Tables of `_cat`: columns of text, or JSON.
//!
//! A column is as wide as its longest cell (and its header, where that is shown); cells are joined
//! by one space. Right-aligned ones pad left, the others right, but for the last column. Details
//! are those of Elasticsearch (shapes.md, "Cat: layout"). Where several columns share another name,
//! it is the last one's.
//!
//! Cells are reckoned only for columns that are shown or sorted by: a table of a thousand indices
//! has some two hundred columns, and most callers want ten.
//!
//! Memory is taken for what the cells hold, as they come, and for the whole text before it is written: one long cell
//! makes its column wide in every row.

use std::borrow::Cow;
use std::cmp::Ordering;

use base::hash::Set;
use engine::ops::stats::Stats;
use engine::{Error, Result};
use json::Writer;
use json::path::glob;

use super::units;
use crate::params::Params;

/// Where a column's cells come from.
pub enum Source<R> {
    /// The row itself.
    Row(fn(&R) -> Cell),
    /// The row's statistics, where it has some.
    Stats(fn(&Stats) -> Cell),
}

/// A column that a table may show.
pub struct Column<R> {
    /// Its name.
    pub name: Cow<'static, str>,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// Shown unless others are asked for.
    pub shown: bool,
    /// Numbers stand at the right.
    pub right: bool,
    /// For `help`.
    pub about: &'static str,
    /// Its cells.
    pub source: Source<R>,
}

/// A row of a table.
pub trait Row {
    /// Its statistics, where the table has columns of such.
    fn stats(&self) -> Option<&Stats> {
        None
    }

    /// About how many bytes its longest cells take, where they may be long.
    fn long_bytes(&self) -> usize {
        0
    }
}

/// A column that is shown, its cells at the left.
pub fn left<R>(
    name: &'static str,
    aliases: &'static [&'static str],
    about: &'static str,
    cell: fn(&R) -> Cell,
) -> Column<R> {
    let source = Source::Row(cell);
    Column { name: Cow::Borrowed(name), aliases, shown: true, right: false, about, source }
}

/// The same, its cells at the right.
pub fn right<R>(
    name: &'static str,
    aliases: &'static [&'static str],
    about: &'static str,
    cell: fn(&R) -> Cell,
) -> Column<R> {
    Column { right: true, ..left(name, aliases, about, cell) }
}

/// The same, shown only where it is asked for.
pub fn hidden<R>(column: Column<R>) -> Column<R> {
    Column { shown: false, ..column }
}

/// One cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Nothing known.
    Empty,
    /// A word.
    Text(String),
    /// A word of a list, and its place in it, by which it is sorted.
    Listed(usize, &'static str),
    /// A count.
    Count(u64),
    /// A number of a sequence, -1 before the first.
    Number(i64),
    /// A size, printed with its unit.
    Bytes(u64),
    /// A time in nanoseconds, printed with its unit.
    Nanos(u64),
}

impl Cell {
    /// A time in microseconds, of which milliseconds count.
    pub fn micros(time_us: u64) -> Self {
        Self::Nanos(time_us / 1_000 * 1_000_000)
    }

    /// A word of a list; one that is not there comes last.
    pub fn listed(list: &[&str], word: &'static str) -> Self {
        Self::Listed(list.iter().position(|it| *it == word).unwrap_or(list.len()), word)
    }

    /// Bytes of its text.
    fn text_bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.capacity(),
            _ => 0,
        }
    }

    /// What an option holds.
    pub fn option(cell: Option<impl Into<Self>>) -> Self {
        cell.map_or(Self::Empty, Into::into)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<i64> for Cell {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<usize> for Cell {
    fn from(count: usize) -> Self {
        Self::Count(count as u64)
    }
}

impl From<u64> for Cell {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

impl From<u32> for Cell {
    fn from(count: u32) -> Self {
        Self::Count(u64::from(count))
    }
}

/// A table: its columns, and its rows.
pub struct Table<R> {
    /// Columns.
    pub columns: Vec<Column<R>>,
    /// Rows.
    pub rows: Vec<R>,
}

/// What was asked for.
#[derive(Clone, Debug, Default)]
pub struct Wish {
    header: bool,
    columns: Option<Vec<String>>,
    order: Vec<String>,
    bytes: Option<String>,
    time: Option<String>,
    help: bool,
    /// Each column that is asked for by name is followed by its twin for primaries alone, where it has one.
    primaries_too: bool,
}

impl Wish {
    /// Reads `v`, `h`, `s`, `bytes`, `time`, `help`, `pri`.
    ///
    /// # Errors
    /// Flags that are none.
    pub fn read(params: &Params) -> Result<Self> {
        let word = |name: &str| params.text(name).map(str::to_owned);
        Ok(Self {
            header: params.flag("v", false)?,
            columns: params.text("h").map(|_| params.list("h")),
            order: params.list("s"),
            bytes: word("bytes"),
            time: word("time"),
            help: params.flag("help", false)?,
            primaries_too: params.flag("pri", false)?,
        })
    }

    /// About how many cells of a row of `columns` are reckoned, and how many names are looked up for that.
    pub fn cells<R>(&self, columns: &[Column<R>]) -> usize {
        let shown = match &self.columns {
            None => columns.iter().filter(|column| column.shown).count(),
            Some(names) if names.iter().any(|name| name.contains('*')) => {
                columns.len() + names.len()
            }
            Some(names) => names.len() << u32::from(self.primaries_too),
        };
        shown + self.order.len()
    }

    /// Only the columns are wanted, not the table.
    pub fn wants_help(&self) -> bool {
        self.help
    }
}

/// The columns of a table in words, one a line.
pub fn help<R>(columns: &[Column<R>]) -> String {
    let rows: Vec<[String; 3]> = columns
        .iter()
        .map(|column| {
            [column.name.clone().into_owned(), column.aliases.join(","), column.about.to_owned()]
        })
        .collect();
    let width = |at: usize| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
    let widths = [width(0), width(1), width(2)];
    let mut out = String::new();
    for row in &rows {
        let cells: Vec<String> =
            row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        out.push_str(&cells.join(" | "));
        out.push('\n');
    }
    out
}

/// Takes memory, or refuses.
pub type Take<'t> = &'t mut dyn FnMut(usize) -> Result<()>;

/// Memory is taken in steps of so much.
const STEP_BYTES: usize = 64 << 10;

/// A vector that grows by doubling holds, while it moves, so many times what was put into it.
const MOVING: usize = 3;

/// Memory that is taken for a table while it is laid out.
struct Paid<'t> {
    take: Take<'t>,
    ahead: usize,
}

impl Paid<'_> {
    fn pay(&mut self, bytes: usize) -> Result<()> {
        if let Some(lacking) = bytes.checked_sub(self.ahead).filter(|lacking| *lacking > 0) {
            let step = lacking.max(STEP_BYTES);
            (self.take)(step)?;
            self.ahead += step;
        }
        self.ahead -= bytes;
        Ok(())
    }
}

impl<R: Row> Table<R> {
    fn cell(&self, column: usize, row: &R) -> Cell {
        match self.columns[column].source {
            Source::Row(cell) => cell(row),
            Source::Stats(cell) => row.stats().map_or(Cell::Empty, cell),
        }
    }

    /// The table as text.
    ///
    /// # Errors
    /// A sort key that is no column; what `take` says.
    pub fn text(&self, wish: &Wish, take: Take<'_>) -> Result<String> {
        let mut paid = Paid { take, ahead: 0 };
        let shown = self.shown(wish);
        let rows = self.sorted(wish, &mut paid)?;
        let header = if wish.header { shown.as_slice() } else { &[] };
        let lines = rows.len() + usize::from(!header.is_empty());
        // All cells in one text, with the end of each.
        paid.pay(lines * shown.len() * size_of::<usize>())?;
        let (mut words, mut ends) = (String::new(), Vec::with_capacity(lines * shown.len()));
        // Of each column: its width, and the characters in it.
        let mut columns = vec![(0, 0); shown.len()];
        let mut put = |at: usize, word: &str| {
            paid.pay(MOVING * word.len())?;
            let (width, characters) = &mut columns[at];
            let here = word.chars().count();
            *width = here.max(*width);
            *characters += here;
            words.push_str(word);
            ends.push(words.len());
            Ok(())
        };
        header.iter().enumerate().try_for_each(|(at, (_, name))| put(at, name))?;
        for row in &rows {
            for (at, (column, _)) in shown.iter().enumerate() {
                put(at, print(self.cell(*column, row), wish).as_deref().unwrap_or_default())?;
            }
        }
        let pads = |at: usize| self.columns[shown[at].0].right || at + 1 < shown.len();
        let padding = columns.iter().enumerate().filter(|(at, _)| pads(*at));
        let padding: usize = padding.map(|(_, (width, all))| lines * width - all).sum();
        let size = words.len() + padding + lines * shown.len().max(1);
        paid.pay(size)?;
        let mut out = String::with_capacity(size);
        let mut begin = 0;
        for line in ends.chunks(shown.len().max(1)) {
            for (at, end) in line.iter().enumerate() {
                let (cell, width) = (&words[begin..*end], columns[at].0);
                begin = *end;
                if at > 0 {
                    out.push(' ');
                }
                let pad = width - cell.chars().count();
                if self.columns[shown[at].0].right {
                    out.extend(std::iter::repeat_n(' ', pad));
                    out.push_str(cell);
                } else {
                    out.push_str(cell);
                    if pads(at) {
                        out.extend(std::iter::repeat_n(' ', pad));
                    }
                }
            }
            out.push('\n');
        }
        if shown.is_empty() {
            // Lines without columns.
            out.extend(std::iter::repeat_n('\n', rows.len() + usize::from(wish.header)));
        }
        Ok(out)
    }

    /// The table as JSON: an array of objects, all values text or null.
    ///
    /// # Errors
    /// A sort key that is no column; what `take` says.
    pub fn json(&self, wish: &Wish, writer: &mut Writer<'_>, take: Take<'_>) -> Result<()> {
        let mut paid = Paid { take, ahead: 0 };
        let shown = self.shown(wish);
        writer.begin_array();
        let names: usize = shown.iter().map(|(_, name)| json::str_bytes(name) + ",:".len()).sum();
        for row in self.sorted(wish, &mut paid)? {
            paid.pay(MOVING * (names + "{},".len()))?;
            writer.begin_object();
            for (at, name) in &shown {
                writer.key(name);
                match print(self.cell(*at, row), wish) {
                    Some(text) => {
                        paid.pay(MOVING * json::str_bytes(&text))?;
                        writer.str(&text)
                    }
                    None => {
                        paid.pay(MOVING * "null".len())?;
                        writer.null()
                    }
                };
            }
            writer.end_object();
        }
        writer.end_array();
        Ok(())
    }

    /// Columns to show, with the names they were asked for by; unknown and repeated ones are
    /// dropped.
    fn shown(&self, wish: &Wish) -> Vec<(usize, String)> {
        let Some(wanted) = &wish.columns else {
            let all = self.columns.iter().enumerate();
            return all
                .filter(|(_, column)| column.shown)
                .map(|(at, column)| (at, column.name.clone().into_owned()))
                .collect();
        };
        let mut shown: Vec<(usize, String)> = Vec::new();
        let mut known: Set<String> = Set::default();
        let mut add = |at: usize, named: String| {
            if known.insert(named.clone()) {
                shown.push((at, named));
            }
        };
        let mut show = |at: usize, named: &str| {
            add(at, named.to_owned());
            let twin = || self.whole(&format!("pri.{}", self.columns[at].name));
            if let Some(twin) = wish.primaries_too.then(twin).flatten() {
                add(twin, format!("pri.{named}"));
            }
        };
        let mut asked: Set<&str> = Set::default();
        for name in wanted.iter().filter(|name| asked.insert(name.as_str())) {
            if name.contains('*') {
                let fits = |column: &Column<R>| {
                    let mut names =
                        std::iter::once(&*column.name).chain(column.aliases.iter().copied());
                    names.any(|own| glob(name.as_bytes(), own.as_bytes()))
                };
                let all = self.columns.iter().enumerate();
                all.filter(|(_, column)| fits(column)).for_each(|(at, it)| show(at, &it.name));
            } else if let Some(at) = self.whole(name).or_else(|| self.named(name)) {
                show(at, name);
            }
        }
        shown
    }

    /// The column of this name.
    fn whole(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// The last column that has this name among its own.
    fn named(&self, name: &str) -> Option<usize> {
        let has = |column: &Column<R>| column.name == name || column.aliases.contains(&name);
        self.columns.iter().rposition(has)
    }

    fn sorted(&self, wish: &Wish, paid: &mut Paid<'_>) -> Result<Vec<&R>> {
        let mut keys: Vec<(usize, bool)> = Vec::new();
        let mut asked: Set<&str> = Set::default();
        for key in wish.order.iter().filter(|key| asked.insert(key.as_str())) {
            let (name, down) = match (key.strip_suffix(":desc"), key.strip_suffix(":asc")) {
                (Some(name), _) => (name, true),
                (_, Some(name)) => (name, false),
                _ => (key.as_str(), false),
            };
            let Some(at) = self.named(name) else {
                return Err(Error::new(
                    500,
                    "unsupported_operation_exception",
                    format!("Unable to sort by unknown sort key `{name}`"),
                ));
            };
            // What was sorted by once is settled.
            if !keys.iter().any(|(known, _)| *known == at) {
                keys.push((at, down));
            }
        }
        paid.pay(self.rows.len() * size_of::<&R>())?;
        if keys.is_empty() {
            return Ok(self.rows.iter().collect());
        }
        let mut rows: Vec<(Vec<Cell>, &R)> = Vec::with_capacity(self.rows.len());
        for row in &self.rows {
            let cells: Vec<Cell> = keys.iter().map(|(at, _)| self.cell(*at, row)).collect();
            let texts = cells.iter().map(Cell::text_bytes).sum::<usize>();
            paid.pay(size_of::<(Vec<Cell>, &R)>() + cells.len() * size_of::<Cell>() + texts)?;
            rows.push((cells, row));
        }
        rows.sort_by(|(a, _), (b, _)| {
            keys.iter().enumerate().fold(Ordering::Equal, |order, (at, (_, down))| {
                let this = compare(&a[at], &b[at]);
                order.then(if *down { this.reverse() } else { this })
            })
        });
        Ok(rows.into_iter().map(|(_, row)| row).collect())
    }
}

/// Empty first, numbers by value, words by letters, whatever they look like: an order that goes by the
/// one for some words and by the other for some is none, and sorting by it panics.
fn compare(a: &Cell, b: &Cell) -> Ordering {
    use Cell::{Bytes, Count, Empty, Listed, Nanos, Number, Text};
    match (a, b) {
        (Listed(a, _), Listed(b, _)) => a.cmp(b),
        (Number(a), Number(b)) => a.cmp(b),
        (Number(a), Count(b) | Bytes(b) | Nanos(b)) => i128::from(*a).cmp(&i128::from(*b)),
        (Count(a) | Bytes(a) | Nanos(a), Number(b)) => i128::from(*a).cmp(&i128::from(*b)),
        (Count(a) | Bytes(a) | Nanos(a), Count(b) | Bytes(b) | Nanos(b)) => a.cmp(b),
        (Text(a), Text(b)) => a.cmp(b),
        (Empty, Empty) => Ordering::Equal,
        (Empty, _) => Ordering::Less,
        (_, Empty) => Ordering::Greater,
        (Text(_), _) => Ordering::Greater,
        (_, Text(_)) => Ordering::Less,
        (Listed(..), _) => Ordering::Greater,
        (_, Listed(..)) => Ordering::Less,
    }
}

fn print(cell: Cell, wish: &Wish) -> Option<String> {
    match cell {
        Cell::Empty => None,
        Cell::Text(text) => Some(text),
        Cell::Listed(_, word) => Some(word.to_owned()),
        Cell::Count(count) => Some(count.to_string()),
        Cell::Number(number) => Some(number.to_string()),
        Cell::Bytes(count) => {
            let unit = wish.bytes.as_deref().and_then(|unit| units::bytes_in(count, unit));
            Some(unit.map_or_else(|| units::bytes(count), |whole| whole.to_string()))
        }
        Cell::Nanos(count) => {
            let unit = wish.time.as_deref().and_then(|unit| units::nanos_in(count, unit));
            Some(unit.map_or_else(|| units::nanos(count), |whole| whole.to_string()))
        }
    }
}

#[cfg(test)]
mod tests {
    use http::Target;

    use super::*;

    struct Index(&'static str, &'static str, Cell, Cell);

    impl Row for Index {}

    fn columns() -> Vec<Column<Index>> {
        vec![
            left("health", &["h"], "colour", |row: &Index| row.0.into()),
            left("index", &["i", "idx"], "name", |row: &Index| row.1.into()),
            right("docs.count", &["dc"], "docs", |row: &Index| row.2.clone()),
            right("store.size", &["ss"], "size", |row: &Index| row.3.clone()),
            hidden(left("note", &["ss", "index"], "a note", |_| "x".into())),
            hidden(right("time", &[], "a time", |_| Cell::Nanos(1_500_000))),
        ]
    }

    /// Names that stand again were looked up again, and compared with all before them.
    #[test]
    fn names_that_stand_again_are_looked_up_once() {
        let table =
            Table { columns: columns(), rows: vec![Index("green", "a", 1u64.into(), 2u64.into())] };
        let names = vec!["*"; 10_000].join(",");
        let keys = vec!["index"; 10_000].join(",");
        let text = |query: &str| table.text(&wish(query), &mut |_| Ok(())).expect("a table");
        assert_eq!(text(&format!("v&h={names}&s={keys}")), text("v&h=*&s=index"));
        assert_eq!(text("h=ss,ss,index"), text("h=ss,index"));
    }

    #[test]
    fn cells_are_reckoned_before_the_table_is_laid_out() {
        let columns = columns();
        for (query, cells) in
            [("", 4), ("h=index,dc", 2), ("h=index&s=a,b", 3), ("h=i*", 7), ("h=dc&pri", 2)]
        {
            assert_eq!(wish(query).cells(&columns), cells, "{query}");
        }
    }

    /// What a table takes; or where it was refused, above `most`.
    fn taken(table: &Table<Index>, query: &str, most: usize) -> std::result::Result<usize, usize> {
        let mut taken = 0;
        let text = table.text(&wish(query), &mut |bytes| {
            taken += bytes;
            match taken > most {
                true => Err(Error::no_memory("cat", bytes, most)),
                false => Ok(()),
            }
        });
        text.map(|_| taken).map_err(|_| taken)
    }

    /// A thousand of them ended the process: nobody had counted what one cell makes of all others.
    #[test]
    fn memory_is_taken_for_what_cells_hold_and_for_their_columns() {
        const LONG: &str = match std::str::from_utf8(&[b'x'; 10_000]) {
            Ok(text) => text,
            Err(_) => "",
        };
        let row = |name| Index("green", name, Cell::Count(1), Cell::Empty);
        let rows = std::iter::once(row(LONG)).chain((0..200).map(|_| row("a"))).collect();
        let table = Table { columns: columns(), rows };
        let all = 201 * LONG.len();
        let told = taken(&table, "h=index,health", usize::MAX).expect("it has room");
        assert!((all..all + all / 10).contains(&told), "{told}");
        assert!(taken(&table, "h=index,health", all / 2).is_err());
        // As JSON a cell is as long as its escapes, six bytes each, and is paid before it is written.
        const CONTROL: &str = match std::str::from_utf8(&[1; 1_000]) {
            Ok(text) => text,
            Err(_) => "",
        };
        let json = |count: usize| {
            let table =
                Table { columns: columns(), rows: (0..count).map(|_| row(CONTROL)).collect() };
            let (mut paid, mut body) = (0, Vec::new());
            let take = &mut |bytes| {
                paid += bytes;
                if paid > 2 * STEP_BYTES { Err(Error::no_memory("cat", bytes, 0)) } else { Ok(()) }
            };
            let told = table.json(&wish("h=i,idx,index"), &mut Writer::new(&mut body), take);
            (told.is_ok(), body.len())
        };
        let (fits, bytes) = json(1);
        assert!(fits && bytes > 3 * 6 * CONTROL.len(), "{bytes}");
        let (fits, bytes) = json(20);
        assert!(!fits && bytes <= 2 * STEP_BYTES / MOVING, "{bytes}");
        // The last column is no wider than its cells.
        let told = taken(&table, "h=health,index&s=index", usize::MAX).expect("it has room");
        assert!(told < all / 10, "{told}");
        let once = taken(&table, "h=health&s=index", usize::MAX).expect("it has room");
        let often = format!("h=health&s={}", "i,idx,index:desc,".repeat(400));
        assert_eq!(taken(&table, &often, usize::MAX), Ok(once), "a key counts once");
        assert!((LONG.len()..all / 10).contains(&once), "{once}");
    }

    fn table() -> Table<Index> {
        Table {
            columns: columns(),
            rows: vec![
                Index("green", "b", Cell::Count(5), Cell::Bytes(16_179)),
                Index("yellow", "alpha", Cell::Count(1_000), Cell::Bytes(225)),
                Index("green", "c", Cell::Empty, Cell::Empty),
            ],
        }
    }

    fn wish(query: &str) -> Wish {
        let target = format!("/?{query}");
        Wish::read(&Params::parse(&Target::new(target.as_bytes())).expect("good")).expect("good")
    }

    fn text(query: &str) -> String {
        table().text(&wish(query), &mut |_| Ok(())).expect("good")
    }

    #[test]
    fn columns_line_up() {
        assert_eq!(
            text(""),
            "green  b        5 15.7kb\nyellow alpha 1000   225b\ngreen  c                \n"
        );
        assert_eq!(text("v&h=i,dc"), "i       dc\nb        5\nalpha 1000\nc         \n");
        // The last column is not padded, unless its numbers stand at the right.
        assert_eq!(text("h=dc,i&s=i"), "1000 alpha\n   5 b\n     c\n");
    }

    #[test]
    fn columns_are_chosen_by_any_name() {
        assert_eq!(text("h=note"), "x\nx\nx\n");
        assert_eq!(
            text("h=*.size,nothing,dc,store.size&bytes=b&v").lines().next(),
            Some("store.size   dc")
        );
        assert_eq!(text("h=store.size&bytes=kb"), "15\n 0\n  \n");
        // A pattern may be one of another name; the column is shown by its own.
        assert_eq!(text("h=id*,d*&v").lines().next(), Some("index docs.count"));
        // A shared name is the last column's, but not one that is a column's own.
        assert_eq!(text("h=ss"), "x\nx\nx\n");
        assert_eq!(text("h=index"), "b\nalpha\nc\n");
    }

    #[test]
    fn rows_are_sorted_with_the_empty_first() {
        assert_eq!(text("h=i&s=docs.count:desc"), "alpha\nb\nc\n");
        assert_eq!(text("h=i&s=dc"), "c\nb\nalpha\n");
        assert_eq!(text("h=i&s=health,store.size:desc"), "b\nc\nalpha\n");
        for key in ["nope", "index:descending", "index:DESC", "index:", "index:desc:x"] {
            let error =
                table().text(&wish(&format!("s={key}")), &mut |_| Ok(())).expect_err("unknown");
            assert_eq!(
                (error.status, error.reason),
                (500, format!("Unable to sort by unknown sort key `{key}`"))
            );
        }
    }

    /// Texts of which two looked like numbers were compared as such, and one panicked in the sort.
    #[test]
    fn words_that_look_like_numbers_are_words() {
        let names = ["9", "10", "100", "5", "1e3", "1f", "NaN", "inf", "-0", "0"];
        let rows = names.iter().cycle().take(1_000);
        let rows = rows.map(|name| Index("green", name, Cell::Empty, Cell::Empty)).collect();
        let table = Table { columns: columns(), rows };
        let sorted = table.text(&wish("h=i&s=i"), &mut |_| Ok(())).expect("good");
        let mut lines: Vec<&str> = sorted.lines().collect();
        lines.dedup();
        assert_eq!(lines, ["-0", "0", "10", "100", "1e3", "1f", "5", "9", "NaN", "inf"]);
    }

    #[test]
    fn json_cells_are_text_or_null() {
        let mut out = Vec::new();
        table()
            .json(&wish("h=i,docs.count,store.size"), &mut Writer::new(&mut out), &mut |_| Ok(()))
            .expect("good");
        assert_eq!(
            String::from_utf8(out).expect("UTF-8"),
            r#"[{"i":"b","docs.count":"5","store.size":"15.7kb"},{"i":"alpha","docs.count":"1000","store.size":"225b"},{"i":"c","docs.count":null,"store.size":null}]"#
        );
    }

    #[test]
    fn help_names_every_column() {
        assert_eq!(help(&columns()).lines().nth(1), Some("index      | i,idx    | name  "));
    }
}
