use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;

use arcstr::ArcStr;

/// A text of which one copy is shared ([`super::Interner`]), in the room of one pointer: pods hold many of them, and
/// there may be a hundred thousand pods.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Word(ArcStr);

impl Word {
    /// Whether there is another holder of this copy; of texts built into the binary there always is.
    pub(super) fn is_shared(&self) -> bool {
        ArcStr::strong_count(&self.0).is_none_or(|count| count > 1)
    }
}

impl Deref for Word {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Word {
    fn borrow(&self) -> &str {
        self
    }
}

impl From<&str> for Word {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl From<String> for Word {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl fmt::Debug for Word {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self)
    }
}

impl serde::Serialize for Word {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl schemars::JsonSchema for Word {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "string".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        String::json_schema(generator)
    }
}
