//! The lines of an export, each with its number.

use std::io::{BufRead, Read};

use serde_json::{Map, Value};

use super::KIND;
use crate::sqlite::schema::KNOWN;
use crate::transfer::{FORMAT, LONGEST_LINE, TransferError};

/// A line after the first.
pub(super) enum Line {
    Row { table: String, row: Map<String, Value> },
    End { rows: u64 },
}

pub(super) struct Lines<'a> {
    read: &'a mut dyn BufRead,
    number: u64,
}

impl<'a> Lines<'a> {
    pub(super) fn new(read: &'a mut dyn BufRead) -> Self {
        Self { read, number: 0 }
    }

    /// Returns the error for the line that was read last.
    pub(super) fn wrong(&self, why: impl Into<String>) -> TransferError {
        TransferError::Line { line: self.number, why: why.into() }
    }

    /// Reads the first line, and returns the schema of the file.
    pub(super) fn head(&mut self) -> Result<usize, TransferError> {
        let head = self.object()?;
        if head.get("convoke").and_then(Value::as_str) != Some(KIND) {
            return Err(self.wrong("the file does not begin like a store export"));
        }
        let number = |name: &str| head.get(name).and_then(Value::as_u64);
        let version = number("version").ok_or_else(|| self.wrong("it has no `version`"))?;
        if version != FORMAT {
            return Err(TransferError::Newer { what: "format", found: version, known: FORMAT });
        }
        let schema = number("schema").filter(|schema| *schema > 0);
        let schema = schema.ok_or_else(|| self.wrong("it has no `schema`"))?;
        match usize::try_from(schema) {
            Ok(schema) if schema <= KNOWN => Ok(schema),
            Ok(_) | Err(_) => {
                Err(TransferError::Newer { what: "schema", found: schema, known: KNOWN as u64 })
            }
        }
    }

    /// Reads the next line.
    pub(super) fn next(&mut self) -> Result<Line, TransferError> {
        let mut line = self.object()?;
        if line.get("end") == Some(&Value::Bool(true)) && line.len() == 2 {
            let rows = line.get("rows").and_then(Value::as_u64);
            let rows = rows.ok_or_else(|| self.wrong("the last line does not count the rows"))?;
            return Ok(Line::End { rows });
        }
        let keys = (line.len(), line.remove("table"), line.remove("row"));
        match keys {
            (2, Some(Value::String(table)), Some(Value::Object(row))) => {
                Ok(Line::Row { table, row })
            }
            _ => Err(self.wrong("not a row: it must have `table` and `row` and nothing else")),
        }
    }

    /// Refuses text behind the last line.
    pub(super) fn nothing_more(&mut self) -> Result<(), TransferError> {
        let mut rest = [0];
        self.number += 1;
        match self.read.read(&mut rest) {
            Ok(0) => Ok(()),
            Ok(_) => Err(self.wrong("it follows the last line")),
            Err(error) => Err(TransferError::Read(error)),
        }
    }

    fn object(&mut self) -> Result<Map<String, Value>, TransferError> {
        self.number += 1;
        let mut bytes = Vec::new();
        let mut limited = (&mut *self.read).take(LONGEST_LINE);
        limited.read_until(b'\n', &mut bytes).map_err(TransferError::Read)?;
        if bytes.pop_if(|byte| *byte == b'\n').is_none() {
            let is_long = bytes.len() as u64 >= LONGEST_LINE;
            let why = if is_long { "it is too long" } else { "the file ends before its last line" };
            return Err(self.wrong(why));
        }
        let text = String::from_utf8(bytes).map_err(|_| self.wrong("it is not UTF-8"))?;
        match serde_json::from_str(&text) {
            Ok(Value::Object(object)) => Ok(object),
            Ok(_) => Err(self.wrong("it is not a JSON object")),
            Err(error) => Err(self.wrong(format!("not valid JSON: {error}"))),
        }
    }
}
