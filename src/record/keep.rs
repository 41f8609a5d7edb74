//! Reduces an object to what is kept of it. What is not named is left out, so that a field of tomorrow, and a secret in it,
//! is recorded only once someone has thought of it.

use serde::ser::{Serialize, SerializeMap as _, Serializer};
use serde_json::{Map, Value};

use super::secrets::Marker;
use super::shapes;

/// What is kept of a value.
pub(super) enum Keep {
    /// A scalar, or a list of scalars. Anything else in its place is left out.
    Leaf,
    /// A map of scalars, whatever its keys: labels, quantities.
    Texts,
    /// These members of an object.
    Members(&'static [(&'static str, Keep)]),
    /// All items of a list, each reduced alike.
    Each(&'static Keep),
    /// The metadata of an object, and its spec and status reduced.
    Object(&'static Keep, &'static Keep),
    /// What a function makes of it.
    With(fn(&Value, &Policy) -> Option<Value>),
}

/// How much is kept.
pub struct Policy {
    /// Whether commands, arguments and the last words of containers are left out, too.
    pub redact: bool,
    /// Stands for values that are not recorded, so that one can be told from another.
    pub marker: Marker,
}

impl Policy {
    /// What is kept of an object; `None` for a kind that is not recorded, and for what is no object.
    pub fn keep(&self, kind: &str, api_version: &str, object: &Value) -> Option<Kept> {
        let Value::Object(fields) = shapes::of(kind)?.reduce(object, self)? else { return None };
        Some(Kept { kind: kind.to_owned(), api_version: api_version.to_owned(), fields })
    }
}

/// An object as it is recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    /// Its `kind`.
    pub kind: String,
    /// Its `apiVersion`.
    pub api_version: String,
    /// Its other members.
    pub fields: Map<String, Value>,
}

/// `kind` and `apiVersion` come first, as in what the API server writes: whoever reads it need not look further for them.
impl Serialize for Kept {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("kind", &self.kind)?;
        map.serialize_entry("apiVersion", &self.api_version)?;
        for (name, value) in &self.fields {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl Keep {
    /// What is kept of `value`; `None` for nothing.
    pub(super) fn reduce(&self, value: &Value, policy: &Policy) -> Option<Value> {
        match self {
            Self::Leaf => leaf(value),
            Self::Texts => {
                let texts = value.as_object()?.iter().filter(|(_, value)| is_scalar(value));
                Some(Value::Object(texts.map(|(key, value)| (key.clone(), value.clone())).collect()))
            }
            Self::Members(members) => {
                let object = value.as_object()?;
                let kept = members.iter().filter_map(|(name, keep)| {
                    let value = object.get(*name).filter(|value| !value.is_null())?;
                    Some(((*name).to_owned(), keep.reduce(value, policy)?))
                });
                Some(Value::Object(kept.collect()))
            }
            Self::Each(keep) => {
                let items = value.as_array()?.iter().filter_map(|item| keep.reduce(item, policy));
                Some(Value::Array(items.collect()))
            }
            Self::Object(spec, status) => {
                let parts = [("metadata", &shapes::METADATA), ("spec", *spec), ("status", *status)];
                let object = value.as_object()?;
                let kept = parts.into_iter().filter_map(|(name, keep)| {
                    let value = object.get(name).filter(|value| !value.is_null())?;
                    Some((name.to_owned(), keep.reduce(value, policy)?))
                });
                Some(Value::Object(kept.collect()))
            }
            Self::With(make) => make(value, policy),
        }
    }
}

fn is_scalar(value: &Value) -> bool {
    !matches!(value, Value::Object(_) | Value::Array(_))
}

fn leaf(value: &Value) -> Option<Value> {
    match value {
        Value::Object(_) => None,
        Value::Array(items) => items.iter().all(is_scalar).then(|| value.clone()),
        scalar => Some(scalar.clone()),
    }
}
