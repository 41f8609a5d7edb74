use std::fmt;
use std::sync::Arc;

/// An object's `metadata.uid`. The API server makes UUIDs, kept in 16 bytes; anything else, as hand-written files
/// hold, is kept as it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Uid {
    /// A UUID in its canonical lower-case form.
    Uuid([u8; 16]),
    /// Any other text.
    Other(Arc<str>),
}

impl Uid {
    /// Reads a uid; `None` where it is empty.
    pub fn parse(text: &str) -> Option<Self> {
        if text.is_empty() {
            return None;
        }
        Some(Self::parse_uuid(text.as_bytes()).unwrap_or_else(|| Self::Other(text.into())))
    }

    fn parse_uuid(text: &[u8]) -> Option<Self> {
        if text.len() != 36 {
            return None;
        }
        let mut bytes = [0; 16];
        let mut nibbles = 0;
        for (position, &c) in text.iter().enumerate() {
            if matches!(position, 8 | 13 | 18 | 23) {
                if c != b'-' {
                    return None;
                }
                continue;
            }
            let value = match c {
                b'0'..=b'9' => c - b'0',
                b'a'..=b'f' => c - b'a' + 10,
                _ => return None,
            };
            bytes[nibbles / 2] |= if nibbles % 2 == 0 { value << 4 } else { value };
            nibbles += 1;
        }
        Some(Self::Uuid(bytes))
    }
}

impl fmt::Display for Uid {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Uuid(bytes) => {
                for (position, byte) in bytes.iter().enumerate() {
                    if matches!(position, 4 | 6 | 8 | 10) {
                        f.write_str("-")?;
                    }
                    write!(f, "{byte:02x}")?;
                }
                Ok(())
            }
            Self::Other(text) => f.write_str(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_uid_is_printed_as_it_was_read() {
        for text in ["36a228b0-9c2d-4e5f-8a9b-0123456789ab", "36A228B0-9C2D-4E5F-8A9B-0123456789AB", "my-uid", "x"] {
            assert_eq!(Uid::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Uid::parse(""), None);
        assert!(matches!(Uid::parse("36a228b0-9c2d-4e5f-8a9b-0123456789ab"), Some(Uid::Uuid(_))));
    }
}
