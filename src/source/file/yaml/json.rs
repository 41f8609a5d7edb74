//! One piece of YAML to JSON, so that the rest of the house reads only that.

use std::fmt::{self, Display};

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_saphyr::options::NonFiniteFloatPolicy;

use crate::source::splitter::LARGEST_OBJECT;

/// Deeper nesting is not read: the parser recurses, with large frames, and a pod is twelve deep.
const DEEPEST: u32 = 64;

/// Writes the one YAML document `yaml` as JSON to `json`, whose capacity is used again.
///
/// # Errors
/// Says why it cannot be read. A document whose aliases would make it larger than an object may be is an error, too.
pub(super) fn to_json(yaml: &[u8], json: &mut Vec<u8>) -> Result<(), String> {
    json.clear();
    let text = std::str::from_utf8(yaml).map_err(|error| format!("not UTF-8 after {} bytes", error.valid_up_to()))?;
    let options = serde_saphyr::options! {
        budget: budget(),
        emit_comments: false,
        with_snippet: false,
        // `reason: No` means what it says, as in YAML 1.2.
        strict_booleans: true,
        // A bomb of aliases upon aliases; no object that holds something has as many nodes.
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: 100_000 },
        // Python's writer leaves hashes that happen to hold digits alone without quotes; kubectl's quotes them.
        leading_zero_numbers_as_strings: true,
        non_finite_float_policy: NonFiniteFloatPolicy::AsString,
        ignore_binary_tag_for_string: true,
    };
    serde_saphyr::with_deserializer_from_str_with_options(text, options, |deserializer| {
        Value { json, depth: 0 }.deserialize(deserializer)
    })
    .map_err(|error| {
        let text = error.to_string();
        text.lines().next().unwrap_or("not YAML").trim_end_matches(':').to_owned()
    })
}

/// The default budget refuses large objects; what goes in and comes out is bounded by bytes here. Depth has to be bounded
/// by the parser, which recurses.
fn budget() -> Option<serde_saphyr::Budget> {
    serde_saphyr::budget! {
        flow_nesting_limit: DEEPEST as usize,
        max_depth: DEEPEST as usize,
        max_events: usize::MAX,
        max_nodes: usize::MAX,
        max_aliases: usize::MAX,
        max_anchors: usize::MAX,
        max_total_scalar_bytes: usize::MAX,
        max_merge_keys: usize::MAX,
        enforce_alias_anchor_ratio: false,
    }
}

/// Writes the value that is read.
struct Value<'a> {
    json: &'a mut Vec<u8>,
    depth: u32,
}

impl Value<'_> {
    fn plain<E: Error>(self, value: impl Display) -> Result<(), E> {
        use std::io::Write as _;
        write!(self.json, "{value}").map_err(E::custom)
    }

    fn inner<E: Error>(&mut self) -> Result<Value<'_>, E> {
        if self.depth == DEEPEST {
            return Err(E::custom(format!("nested deeper than {DEEPEST} levels")));
        }
        if self.json.len() > LARGEST_OBJECT {
            return Err(E::custom("larger than 16 MiB with its aliases written out"));
        }
        Ok(Value { json: self.json, depth: self.depth + 1 })
    }
}

impl<'de> DeserializeSeed<'de> for Value<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Value<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E: Error>(self, v: bool) -> Result<(), E> {
        self.plain(v)
    }

    fn visit_i64<E: Error>(self, v: i64) -> Result<(), E> {
        self.plain(v)
    }

    fn visit_u64<E: Error>(self, v: u64) -> Result<(), E> {
        self.plain(v)
    }

    fn visit_f64<E: Error>(self, v: f64) -> Result<(), E> {
        serde_json::to_writer(self.json, &v).map_err(E::custom)
    }

    fn visit_str<E: Error>(self, v: &str) -> Result<(), E> {
        serde_json::to_writer(self.json, v).map_err(E::custom)
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.plain("null")
    }

    fn visit_none<E: Error>(self) -> Result<(), E> {
        self.plain("null")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<(), A::Error> {
        self.json.push(b'[');
        let begins = self.json.len();
        loop {
            let written = self.json.len();
            if written > begins {
                self.json.push(b',');
            }
            if seq.next_element_seed(self.inner()?)?.is_none() {
                self.json.truncate(written);
                self.json.push(b']');
                return Ok(());
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        self.json.push(b'{');
        let begins = self.json.len();
        loop {
            let written = self.json.len();
            if written > begins {
                self.json.push(b',');
            }
            if map.next_key_seed(Key(self.json))?.is_none() {
                self.json.truncate(written);
                self.json.push(b'}');
                return Ok(());
            }
            self.json.push(b':');
            map.next_value_seed(self.inner()?)?;
        }
    }
}

/// Writes a key, which in JSON is a string whatever it is in YAML.
struct Key<'a>(&'a mut Vec<u8>);

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Key<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a plain key")
    }

    fn visit_str<E: Error>(self, v: &str) -> Result<(), E> {
        serde_json::to_writer(self.0, v).map_err(E::custom)
    }

    fn visit_bool<E: Error>(self, v: bool) -> Result<(), E> {
        self.visit_str(&v.to_string())
    }

    fn visit_i64<E: Error>(self, v: i64) -> Result<(), E> {
        self.visit_str(&v.to_string())
    }

    fn visit_u64<E: Error>(self, v: u64) -> Result<(), E> {
        self.visit_str(&v.to_string())
    }

    fn visit_f64<E: Error>(self, v: f64) -> Result<(), E> {
        self.visit_str(&v.to_string())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.visit_str("null")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Err(A::Error::custom("a mapping as a key"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(yaml: &str) -> Result<String, String> {
        let mut json = Vec::new();
        to_json(yaml.as_bytes(), &mut json).map(|()| String::from_utf8(json).unwrap())
    }

    #[test]
    fn values_keep_their_types() {
        for (yaml, expected) in [
            ("a: 1\nb: \"1\"\nc: '007'\nd: -5\ne: 1.5\n", r#"{"a":1,"b":"1","c":"007","d":-5,"e":1.5}"#),
            (
                "a: true\nb: no\nc: \"true\"\nd: null\ne: ~\nf:\n",
                r#"{"a":true,"b":"no","c":"true","d":null,"e":null,"f":null}"#,
            ),
            ("8080: x\ntrue: y\n", r#"{"8080":"x","true":"y"}"#),
            ("t: 2026-11-30T09:12:05Z\n", r#"{"t":"2026-11-30T09:12:05Z"}"#),
            ("a: []\nb: {}\nc: [1, [2]]\n", r#"{"a":[],"b":{},"c":[1,[2]]}"#),
            ("a: |\n  x\n  y\nb: >-\n  x\n  y\n", r#"{"a":"x\ny\n","b":"x y"}"#),
            ("a: &x {b: 1}\nc: *x\n", r#"{"a":{"b":1},"c":{"b":1}}"#),
            ("{a: \"x\\ty\", b: [1,],}", r#"{"a":"x\ty","b":[1]}"#),
            ("a: 18446744073709551615\nb: .inf\n", r#"{"a":18446744073709551615,"b":".inf"}"#),
        ] {
            assert_eq!(json(yaml).as_deref(), Ok(expected), "{yaml}");
        }
    }

    #[test]
    fn aliases_upon_aliases_are_given_up_soon() {
        let first = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
        let yaml = (1..12).fold(first, |yaml, level| {
            let alias = vec![format!("*a{}", level - 1); 9].join(", ");
            format!("{yaml}a{level}: &a{level} [{alias}]\n")
        });
        assert!(json(&yaml).is_err());
    }

    #[test]
    fn what_is_nested_too_deep_is_an_error_and_no_crash() {
        for depth in [200, 100_000] {
            assert!(json(&"[".repeat(depth)).is_err());
            assert!(json(&format!("{}1{}", "{a: ".repeat(depth), "}".repeat(depth))).is_err());
        }
        let block = (0..2000).fold(String::new(), |block, level| block + &" ".repeat(level) + "a:\n");
        assert!(json(&block).is_err());
    }
}
