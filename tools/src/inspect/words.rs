//! A tree of facts as lines for people: `name: value`, nested by two spaces; lists of like objects
//! become tables.

use json::{Object, Value};

/// The lines of `value`, without a line end after the last.
pub fn of(value: &Value) -> String {
    let mut lines = Vec::new();
    if let Value::Object(object) = value {
        members(object, 0, &mut lines);
    } else {
        lines.push(scalar(value));
    }
    lines.join("\n")
}

fn members(object: &Object, depth: usize, lines: &mut Vec<String>) {
    let indent = "  ".repeat(depth);
    for (name, value) in object.iter() {
        let name = name.replace('_', " ");
        match value {
            Value::Object(inner) => {
                lines.push(format!("{indent}{name}:"));
                members(inner, depth + 1, lines);
            }
            Value::Array(rows) if rows.iter().any(|row| matches!(row, Value::Object(_))) => {
                lines.push(format!("{indent}{name}: {}", rows.len()));
                table(rows, depth + 1, lines);
            }
            Value::Array(items) => {
                let items: Vec<String> = items.iter().map(scalar).collect();
                lines.push(format!("{indent}{name}: {}", items.join(", ")));
            }
            Value::Null => {}
            value => lines.push(format!("{indent}{name}: {}", scalar(value))),
        }
    }
}

/// Objects that share their members, one a line, in columns.
fn table(rows: &[Value], depth: usize, lines: &mut Vec<String>) {
    let mut names: Vec<&str> = Vec::new();
    for row in rows.iter().filter_map(Value::as_object) {
        for name in row.keys() {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    let cell = |row: &Value, name: &str| row.get(name).map_or(String::new(), scalar);
    let widths: Vec<usize> = names
        .iter()
        .map(|name| {
            let cells = rows.iter().map(|row| cell(row, name).chars().count());
            cells.max().unwrap_or(0).max(name.chars().count())
        })
        .collect();
    let line = |cells: Vec<String>| {
        let padded: Vec<String> =
            cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        format!("{}{}", "  ".repeat(depth), padded.join("  ").trim_end())
    };
    lines.push(line(names.iter().map(|name| name.replace('_', " ")).collect()));
    for row in rows {
        lines.push(line(names.iter().map(|name| cell(row, name)).collect()));
    }
}

/// A value on one line.
fn scalar(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => json::to_string(other),
    }
}

#[cfg(test)]
mod tests {
    use json::json;

    use super::*;

    #[test]
    fn facts_become_lines_and_like_objects_a_table() {
        let value = json!({
            "kind": "manifest",
            "clean": true,
            "nothing": null,
            "seq_nos": [1, 2],
            "inner": {"bytes": 5},
            "segments": [{"id": 1, "bytes": 4096}, {"id": 12, "bytes": 1, "live": "x"}],
        });
        let expected = "kind: manifest\nclean: true\nseq nos: 1, 2\ninner:\n  bytes: 5\n\
                        segments: 2\n  id  bytes  live\n  1   4096\n  12  1      x";
        assert_eq!(of(&value), expected);
    }
}
