use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};

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
        let scale = match suffix {
            "" => 1.0,
            "n" => 1e-9,
            "u" => 1e-6,
            "m" => 1e-3,
            "k" => 1e3,
            "M" => 1e6,
            "G" => 1e9,
            "T" => 1e12,
            "P" => 1e15,
            "E" => 1e18,
            "Ki" => 1024.0,
            "Mi" => 1024.0_f64.powi(2),
            "Gi" => 1024.0_f64.powi(3),
            "Ti" => 1024.0_f64.powi(4),
            "Pi" => 1024.0_f64.powi(5),
            "Ei" => 1024.0_f64.powi(6),
            // The exponent form, "12e6".
            _ => return text.parse().ok(),
        };
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
