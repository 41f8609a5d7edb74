//! Fields cut out of what `-o json` prints: JSONPath templates and custom columns, as kubectl has them.

use std::io::{self, Write};

use serde_json::Value;
use thiserror::Error;
use unicode_width::UnicodeWidthStr;

use super::text::is_hidden;
use crate::jsonpath::{EvaluateError, Missing, NoPath, ParseError, Printing, Template, go_value, whole_path};

/// Narrowest that a column may be, and what parts it from the next: those of kubectl's tables.
const NARROWEST: usize = 6;
const GAP: usize = 3;

/// What to cut out, and how to print it.
#[derive(Clone, Debug)]
pub enum Fields {
    /// By a template, of the whole document.
    Template {
        /// The template.
        template: Template,
        /// As it was written.
        text: String,
        /// Whether what each part of it finds is printed as a JSON array.
        as_json: bool,
        /// Whether what is missing is an error.
        missing: Missing,
        /// Whether what is printed may reach a terminal.
        printing: Printing,
    },
    /// In columns, of each of the documents that are rows.
    Columns(Columns),
}

/// Why fields were not printed.
#[derive(Debug, Error)]
pub enum FieldsError {
    /// They could not be written.
    #[error("cannot write")]
    Io(#[from] io::Error),
    /// The template does not apply to the document.
    #[error("error executing jsonpath {text:?}: {why}")]
    Template {
        /// The template.
        text: String,
        /// Why.
        why: EvaluateError,
    },
}

/// Columns of a table, each with a head and a path.
#[derive(Clone, Debug)]
pub struct Columns(Vec<Column>);

#[derive(Clone, Debug)]
struct Column {
    head: String,
    path: String,
    template: Template,
}

/// Why custom columns are none, in kubectl's words.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ColumnsError {
    /// No head, or no path.
    #[error("unexpected custom-columns spec: {0}, expected <header>:<json-path-expr>")]
    NoPair(String),
    /// The path is none.
    #[error(transparent)]
    NoPath(#[from] NoPath),
    /// The path is none.
    #[error(transparent)]
    Parse(#[from] ParseError),
    /// A file without the line of heads, or that of paths.
    #[error("a line of heads and a line of paths are expected, both parted by blanks")]
    NoLines,
    /// Lines of different lengths.
    #[error("number of headers ({heads}) and field specifications ({paths}) don't match")]
    Uneven {
        /// Heads.
        heads: usize,
        /// Paths.
        paths: usize,
    },
}

impl Columns {
    /// `HEAD:PATH,HEAD:PATH`.
    ///
    /// # Errors
    ///
    /// Where that is not what it is.
    pub fn parse(spec: &str) -> Result<Self, ColumnsError> {
        let columns = spec.split(',').map(|pair| {
            let (head, path) = pair.split_once(':').ok_or_else(|| ColumnsError::NoPair(pair.to_owned()))?;
            Column::new(head, path)
        });
        Ok(Self(columns.collect::<Result<_, _>>()?))
    }

    /// A line of heads and a line of paths.
    ///
    /// # Errors
    ///
    /// Where that is not what it is.
    pub fn parse_file(text: &str) -> Result<Self, ColumnsError> {
        let mut lines = text.lines();
        let (Some(heads), Some(paths)) = (lines.next(), lines.next()) else { return Err(ColumnsError::NoLines) };
        let heads: Vec<&str> = heads.split_whitespace().collect();
        let paths: Vec<&str> = paths.split_whitespace().collect();
        if heads.len() != paths.len() {
            return Err(ColumnsError::Uneven { heads: heads.len(), paths: paths.len() });
        }
        let columns = heads.into_iter().zip(paths).map(|(head, path)| Column::new(head, path));
        Ok(Self(columns.collect::<Result<_, _>>()?))
    }

    /// Prints a row a document.
    ///
    /// # Errors
    ///
    /// Where a path does not apply to one, or the output cannot be written.
    pub fn print(&self, rows: &[Value], headers: bool, out: &mut impl Write) -> Result<(), FieldsError> {
        let heads = headers.then(|| Ok(self.0.iter().map(|column| cell(&column.head)).collect()));
        let cells = rows.iter().map(|row| self.0.iter().map(|column| column.of(row)).collect());
        let lines = heads.into_iter().chain(cells).collect::<Result<Vec<Vec<String>>, FieldsError>>()?;
        let widths: Vec<usize> = (0..self.0.len())
            .map(|at| lines.iter().map(|line| line[at].width() + GAP).max().unwrap_or(0).max(NARROWEST))
            .collect();
        for line in &lines {
            for (at, cell) in line.iter().enumerate() {
                out.write_all(cell.as_bytes())?;
                if at + 1 < line.len() {
                    write!(out, "{:gap$}", "", gap = widths[at] - cell.width())?;
                }
            }
            out.write_all(b"\n")?;
        }
        Ok(())
    }
}

impl Column {
    fn new(head: &str, path: &str) -> Result<Self, ColumnsError> {
        let path = whole_path(path)?;
        Ok(Self { head: head.to_owned(), template: Template::parse(&path)?, path })
    }

    fn of(&self, document: &Value) -> Result<String, FieldsError> {
        let found = self.template.find(document, Missing::Allowed);
        let found = found.map_err(|why| FieldsError::Template { text: self.path.clone(), why })?;
        if found.first().is_none_or(Vec::is_empty) {
            return Ok("<none>".to_owned());
        }
        let values: Vec<String> = found.into_iter().flatten().map(|item| cell(&go_value(item))).collect();
        Ok(values.join(","))
    }
}

/// A cell on one line. Escapes and carriage returns are shown as kubectl shows them; line ends and tabs, which break
/// kubectl's tables, are blanks, and what else acts on a terminal is taken out.
fn cell(text: &str) -> String {
    let mut cell = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\u{1b}' => cell.push_str("^["),
            '\r' => cell.push_str("\\r"),
            '\n' | '\t' | '\u{b}' | '\u{c}' => cell.push(' '),
            c if is_hidden(c) => {}
            c => cell.push(c),
        }
    }
    cell
}

impl Fields {
    /// Prints them: a template's of the whole document, columns of the rows.
    ///
    /// # Errors
    ///
    /// Where a path does not apply, or the output cannot be written.
    pub fn print(
        &self,
        document: &Value,
        rows: &[Value],
        headers: bool,
        out: &mut impl Write,
    ) -> Result<(), FieldsError> {
        let (template, text, as_json, missing, printing) = match self {
            Self::Columns(columns) => return columns.print(rows, headers, out),
            Self::Template { template, text, as_json, missing, printing } => {
                (template, text, as_json, missing, printing)
            }
        };
        let found = template.find(document, *missing);
        let found = found.map_err(|why| FieldsError::Template { text: text.clone(), why })?;
        for items in &found {
            if *as_json { printing.json(items, out) } else { printing.text(items, out) }?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn printed(columns: Result<Columns, ColumnsError>, headers: bool) -> String {
        let rows = [
            json!({"name": "a", "tags": ["x", {"y": 1.0}], "size": 1_000_000.5}),
            json!({"name": "longer\u{1b}[31m\nthan\u{7}\rthat", "tags": [], "size": null}),
        ];
        let mut out = Vec::new();
        match columns.map(|columns| columns.print(&rows, headers, &mut out)) {
            Ok(Ok(())) => String::from_utf8(out).unwrap(),
            Ok(Err(error)) => error.to_string(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn columns_are_laid_out_as_kubectl_does() {
        assert_eq!(
            printed(Columns::parse("N:.name,S:size,TAGS:{.tags[*]},NO:.x.y"), true),
            [
                "N                         S               TAGS         NO",
                "a                         1.0000005e+06   x,map[y:1]   <none>",
                "longer^[[31m than\\rthat   <nil>           <none>       <none>",
                "",
            ]
            .join("\n")
        );
        assert_eq!(
            printed(Columns::parse("N:.name,TAGS:.tags"), false).lines().next(),
            Some("a                         [x map[y:1]]")
        );
        assert_eq!(printed(Columns::parse("A:.size,B:"), true).lines().last(), Some("<nil>           <none>"));
    }

    #[test]
    fn what_are_no_columns_is_refused_in_kubectls_words() {
        for (columns, words) in [
            (Columns::parse("NAME"), "unexpected custom-columns spec: NAME, expected <header>:<json-path-expr>"),
            (Columns::parse("N:.a,"), "unexpected custom-columns spec: , expected <header>:<json-path-expr>"),
            (Columns::parse("N:{.a}{.b}"), "unexpected path string, expected a 'name1.name2' or '.name1.name2' or"),
            (Columns::parse("N:.a[x]"), "invalid array index x"),
            (Columns::parse_file("N"), "a line of heads and a line of paths are expected"),
            (Columns::parse_file("A B\n.a"), "number of headers (2) and field specifications (1) don't match"),
            (Columns::parse("N:.name[0]"), "error executing jsonpath \"{.name[0]}\": string is not array or slice"),
        ] {
            let said = printed(columns, true);
            assert!(said.starts_with(words), "{said}");
        }
        assert!(printed(Columns::parse_file("NAME  SIZE\n{.name} size\n"), true).starts_with("NAME "));
    }
}
