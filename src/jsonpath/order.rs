//! `--sort-by`: documents in the order of a field.

use std::cmp::Ordering;

use serde_json::Value;
use thiserror::Error;

use super::{EvaluateError, Item, Missing, NoPath, ParseError, Template, whole_path};
use crate::model::SUFFIXES;

/// Why documents have no order by a field.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum OrderError {
    /// The field is none.
    #[error(transparent)]
    NoPath(#[from] NoPath),
    /// The field is none.
    #[error(transparent)]
    Parse(#[from] ParseError),
    /// The field cannot be sought in one of them.
    #[error(transparent)]
    Evaluate(#[from] EvaluateError),
    /// None of them has it.
    #[error("couldn't find any field with path {path:?} in the list of objects")]
    Nowhere {
        /// Its whole path.
        path: String,
    },
    /// Its values have no order, or none in common.
    #[error("field {path} cannot be sorted by: it holds {holds}")]
    Unsortable {
        /// Its whole path.
        path: String,
        /// What it holds.
        holds: String,
    },
}

/// What a document is sorted by, in kubectl's order: without the field first, then with `null`.
#[derive(Clone, Debug)]
enum Key {
    Missing,
    Null,
    Int(i64),
    Float(f64),
    Text(String),
    Unsortable(&'static str),
}

impl Key {
    fn of(item: Item) -> Self {
        match item {
            Item::Json(Value::Null) | Item::Nothing => Self::Null,
            Item::Json(Value::String(text)) => Self::Text(text.clone()),
            Item::Text(text) => Self::Text(String::from_utf8_lossy(text).into_owned()),
            Item::Json(Value::Number(number)) => match number.as_i64() {
                Some(number) => Self::Int(number),
                None => Self::Float(number.as_f64().unwrap_or(f64::NAN)),
            },
            Item::Int(number) => Self::Int(number),
            Item::Float(number) => Self::Float(number),
            Item::Byte(byte) => Self::Int(byte.into()),
            Item::Json(Value::Bool(_)) | Item::Bool(_) => Self::Unsortable("true or false"),
            Item::Json(Value::Array(_)) => Self::Unsortable("a list"),
            Item::Json(Value::Object(_)) => Self::Unsortable("an object"),
        }
    }

    const fn kind(&self) -> &'static str {
        match self {
            Self::Missing | Self::Null => "nothing",
            Self::Int(_) => "whole numbers",
            Self::Float(_) => "other numbers",
            Self::Text(_) => "text",
            Self::Unsortable(kind) => kind,
        }
    }

    fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Int(one), Self::Int(two)) => one.cmp(two),
            (Self::Float(one), Self::Float(two)) => one.total_cmp(two),
            (Self::Text(one), Self::Text(two)) => one.cmp(two),
            _ => self.rank().cmp(&other.rank()),
        }
    }

    const fn rank(&self) -> u8 {
        match self {
            Self::Missing => 0,
            Self::Null => 1,
            _ => 2,
        }
    }
}

/// The positions of some documents in the order of a field, which is taken in any form of [`whole_path`]. Those that are
/// alike stay as they were.
///
/// Text that is a quantity throughout (`500m`, `1Gi`, `10`) is compared by its amount, as kubectl does.
///
/// # Errors
///
/// Where the field is none, or no document has it, or its values have no order.
pub fn order_by(path: &str, documents: &[Value]) -> Result<Vec<usize>, OrderError> {
    let path = whole_path(path)?;
    let template = Template::parse(&path)?;
    let key = |document| {
        let found = template.find(document, Missing::Allowed)?;
        Ok(found.first().and_then(|items| items.first()).map_or(Key::Missing, |item| Key::of(*item)))
    };
    let mut keys = documents.iter().map(key).collect::<Result<Vec<Key>, EvaluateError>>()?;
    if !keys.is_empty() && keys.iter().all(|key| matches!(key, Key::Missing)) {
        return Err(OrderError::Nowhere { path });
    }
    let mut kinds: Vec<&str> = keys.iter().filter(|key| key.rank() == 2).map(Key::kind).collect();
    let is_sortable = keys.iter().all(|key| !matches!(key, Key::Unsortable(_)));
    let several = kinds.len() > 1;
    kinds.sort_unstable();
    kinds.dedup();
    if several && (kinds.len() > 1 || !is_sortable) {
        return Err(OrderError::Unsortable { path, holds: kinds.join(" and ") });
    }
    weigh(&mut keys);
    let mut order: Vec<usize> = (0..documents.len()).collect();
    order.sort_by(|one, two| keys[*one].compare(&keys[*two]));
    Ok(order)
}

/// Turns text into amounts, where all of it is quantities.
fn weigh(keys: &mut [Key]) {
    let amounts: Vec<Option<f64>> = keys
        .iter()
        .map(|key| match key {
            Key::Text(text) => quantity(text),
            _ => Some(0.0),
        })
        .collect();
    if amounts.iter().all(Option::is_some) {
        for (key, amount) in keys.iter_mut().zip(amounts.into_iter().flatten()) {
            if let Key::Text(_) = key {
                *key = Key::Float(amount);
            }
        }
    }
}

/// The amount that a quantity stands for: a number with a suffix, or with an exponent.
///
/// Source: Kubernetes `apimachinery/pkg/api/resource/quantity.go`.
fn quantity(text: &str) -> Option<f64> {
    let sign = usize::from(text.starts_with(['+', '-']));
    let digits = text[sign..].find(|c: char| !(c.is_ascii_digit() || c == '.')).map_or(text.len(), |end| sign + end);
    let (number, suffix) = text.split_at(digits);
    if !number.contains(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let amount: f64 = number.parse().ok()?;
    if let Some((_, times, by)) = SUFFIXES.iter().find(|(known, ..)| *known == suffix) {
        #[allow(clippy::cast_precision_loss)] // powers of two and of ten that a float holds
        return Some(amount * *times as f64 / *by as f64);
    }
    let exponent: i32 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
    Some(amount * 10f64.powi(exponent))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn order(values: &Value) -> Result<Vec<usize>, String> {
        let documents: Vec<Value> = values.as_array().unwrap().clone();
        order_by(".a", &documents).map_err(|error| error.to_string())
    }

    #[test]
    fn what_lacks_the_field_stands_first_and_what_is_alike_as_it_was() {
        let documents = json!([{"a": 2}, {"a": null}, {"a": 1}, {}, {"a": 1, "b": 0}]);
        assert_eq!(order(&documents).unwrap(), [3, 1, 2, 4, 0]);
        assert_eq!(order(&json!([])).unwrap(), [0; 0]);
    }

    #[test]
    fn quantities_are_compared_by_amount_and_text_by_its_bytes() {
        assert_eq!(
            order(&json!([{"a": "10"}, {"a": "9"}, {"a": "1Ki"}, {"a": "500m"}, {"a": "2e3"}])).unwrap(),
            [3, 1, 0, 2, 4]
        );
        assert_eq!(order(&json!([{"a": "10"}, {"a": "9"}, {"a": "b"}])).unwrap(), [0, 1, 2], "not all are quantities");
        assert_eq!(order(&json!([{"a": "2026-11-30T09:00:00Z"}, {"a": "2026-11-29T10:00:00Z"}])).unwrap(), [1, 0]);
    }

    #[test]
    fn what_has_no_order_is_an_error() {
        for (documents, words) in [
            (json!([{"b": 1}]), "couldn't find any field with path \"{.a}\" in the list of objects"),
            (json!([{"a": true}, {"a": false}]), "field {.a} cannot be sorted by: it holds true or false"),
            (json!([{"a": 1}, {"a": "x"}]), "field {.a} cannot be sorted by: it holds text and whole numbers"),
            (json!([{"a": 1}, {"a": 1.5}]), "field {.a} cannot be sorted by: it holds other numbers and whole numbers"),
            (json!([{"a": {}}, {"a": {}}]), "field {.a} cannot be sorted by: it holds an object"),
        ] {
            assert_eq!(order(&documents).unwrap_err(), words);
        }
        assert_eq!(order(&json!([{"a": true}, {}])).unwrap(), [1, 0], "one alone is compared with nothing");
        assert!(order_by("{.a}{.b}", &[]).is_err());
        assert!(order_by("{.a[}", &[]).is_err());
    }
}
