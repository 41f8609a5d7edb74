//! Comparing two values in a filter, by the rules of Go's templates.

use std::cmp::Ordering;

use super::{EvaluateError, Item, Value};

/// What can be compared. Whole numbers of a document and of a template are alike; other numbers are another kind, so that
/// `1.5` is never compared with `1`.
enum Basic<'a> {
    Bool(bool),
    Int(i64),
    /// A byte of a string.
    Byte(u8),
    Float(f64),
    Text(&'a [u8]),
}

fn basic(item: Item<'_>) -> Result<Basic<'_>, EvaluateError> {
    Ok(match item {
        Item::Json(Value::Bool(value)) => Basic::Bool(*value),
        Item::Json(Value::String(text)) => Basic::Text(text.as_bytes()),
        Item::Json(Value::Number(number)) => match number.as_i64() {
            Some(number) => Basic::Int(number),
            None => Basic::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Item::Json(_) | Item::Nothing => return Err(EvaluateError::NotComparable),
        Item::Text(text) => Basic::Text(text),
        Item::Int(number) => Basic::Int(number),
        Item::Float(number) => Basic::Float(number),
        Item::Bool(value) => Basic::Bool(value),
        Item::Byte(byte) => Basic::Byte(byte),
    })
}

/// Whether `left operator right` holds.
pub(super) fn holds(left: Item<'_>, operator: &str, right: Item<'_>) -> Result<bool, EvaluateError> {
    Ok(match operator {
        "==" => is_equal(left, right)?,
        "!=" => !is_equal(left, right)?,
        "<" => is_less(left, right)?,
        "<=" => is_less(left, right)? || is_equal(left, right)?,
        ">" => !(is_less(left, right)? || is_equal(left, right)?),
        ">=" => !is_less(left, right)?,
        other => return Err(EvaluateError::UnknownOperator(other.to_owned())),
    })
}

#[allow(clippy::float_cmp)] // as asked for
fn is_equal(left: Item<'_>, right: Item<'_>) -> Result<bool, EvaluateError> {
    Ok(match (basic(left)?, basic(right)?) {
        (Basic::Bool(left), Basic::Bool(right)) => left == right,
        (Basic::Float(left), Basic::Float(right)) => left == right,
        (left, right) => order(&left, &right)?.is_eq(),
    })
}

fn is_less(left: Item<'_>, right: Item<'_>) -> Result<bool, EvaluateError> {
    Ok(match (basic(left)?, basic(right)?) {
        (Basic::Bool(_), Basic::Bool(_)) => return Err(EvaluateError::NotComparable),
        (Basic::Float(left), Basic::Float(right)) => left < right,
        (left, right) => order(&left, &right)?.is_lt(),
    })
}

/// Of what has an order, and is of one kind.
fn order(left: &Basic, right: &Basic) -> Result<Ordering, EvaluateError> {
    Ok(match (left, right) {
        (Basic::Int(left), Basic::Int(right)) => left.cmp(right),
        (Basic::Int(left), Basic::Byte(right)) => left.cmp(&i64::from(*right)),
        (Basic::Byte(left), Basic::Int(right)) => i64::from(*left).cmp(right),
        (Basic::Byte(left), Basic::Byte(right)) => left.cmp(right),
        (Basic::Text(left), Basic::Text(right)) => left.cmp(right),
        _ => return Err(EvaluateError::Incompatible),
    })
}
