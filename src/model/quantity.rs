use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};

/// What the suffixes of quantities multiply a number by, and divide it by.
///
/// Source: Kubernetes `apimachinery/pkg/api/resource/suffix.go`.
pub(crate) const SUFFIXES: [(&str, u128, u128); 16] = [
    ("", 1, 1),
    ("k", 1000, 1),
    ("M", 1_000_000, 1),
    ("G", 1_000_000_000, 1),
    ("T", 1_000_000_000_000, 1),
    ("P", 1_000_000_000_000_000, 1),
    ("E", 1_000_000_000_000_000_000, 1),
    ("Ki", 1 << 10, 1),
    ("Mi", 1 << 20, 1),
    ("Gi", 1 << 30, 1),
    ("Ti", 1 << 40, 1),
    ("Pi", 1 << 50, 1),
    ("Ei", 1 << 60, 1),
    ("m", 1, 1000),
    ("u", 1, 1_000_000),
    ("n", 1, 1_000_000_000),
];

/// A resource quantity as it is written (`8`, `500m`, `900Gi`), from a string or, in hand-written YAML, a number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Quantity(String);

impl Quantity {
    /// The quantity as it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The value as a plain number; `None` where it is not a quantity.
    pub fn value(&self) -> Option<f64> {
        let text = self.0.trim();
        let digits = text.find(|c: char| !matches!(c, '0'..='9' | '.' | '+' | '-')).unwrap_or(text.len());
        let (number, suffix) = text.split_at(digits);
        let Some((_, times, by)) = SUFFIXES.iter().find(|(known, ..)| *known == suffix) else {
            // The exponent form, "12e6".
            return text.parse().ok();
        };
        #[allow(clippy::cast_precision_loss)] // powers of two and of ten that a float holds
        let scale = *times as f64 / *by as f64;
        Some(number.parse::<f64>().ok()? * scale)
    }
}

impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct QuantityVisitor;

        impl Visitor<'_> for QuantityVisitor {
            type Value = Quantity;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a quantity")
            }

            fn visit_str<E: Error>(self, v: &str) -> Result<Quantity, E> {
                Ok(Quantity(v.to_owned()))
            }

            fn visit_u64<E: Error>(self, v: u64) -> Result<Quantity, E> {
                Ok(Quantity(v.to_string()))
            }

            fn visit_i64<E: Error>(self, v: i64) -> Result<Quantity, E> {
                Ok(Quantity(v.to_string()))
            }

            fn visit_f64<E: Error>(self, v: f64) -> Result<Quantity, E> {
                Ok(Quantity(v.to_string()))
            }

            fn visit_unit<E: Error>(self) -> Result<Quantity, E> {
                Ok(Quantity::default())
            }
        }

        deserializer.deserialize_any(QuantityVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_are_those_of_kubernetes() {
        for (text, value) in [
            ("\"8\"", Some(8.0)),
            ("4", Some(4.0)),
            ("\"500m\"", Some(0.5)),
            ("\"1Gi\"", Some(1_073_741_824.0)),
            ("\"2k\"", Some(2000.0)),
            ("\"12e6\"", Some(12e6)),
            ("\"many\"", None),
            ("null", None),
        ] {
            assert_eq!(serde_json::from_str::<Quantity>(text).unwrap().value(), value, "{text}");
        }
    }
}
