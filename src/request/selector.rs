use std::fmt;
use std::str::FromStr;

/// A label selector as kubectl's `-l` takes it: `a=b,c!=d,e in (f,g),h notin (i),j,!k`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selector {
    requirements: Vec<Requirement>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Requirement {
    key: String,
    test: Test,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Test {
    In(Vec<String>),
    NotIn(Vec<String>),
    Exists,
    Absent,
}

/// A selector that cannot be read.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "cannot read the selector {text:?} at {at:?}; it takes key=value, key!=value, key in (a,b), key notin (a,b), key, !key, joined by commas"
)]
pub struct SelectorError {
    text: String,
    at: String,
}

impl Selector {
    /// Whether everything matches.
    pub fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }

    /// Whether labels, asked for by key, meet all requirements. As in Kubernetes, `!=` and `notin` hold where the label
    /// is absent.
    pub fn matches<'a>(&self, label: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.requirements.iter().all(|requirement| requirement.matches(label(&requirement.key)))
    }

    /// Whether labels have what a requirement asks not to be there: `!=`, `notin` or `!`.
    pub fn excludes<'a>(&self, label: impl Fn(&str) -> Option<&'a str>) -> bool {
        let negative = |test: &Test| matches!(test, Test::NotIn(_) | Test::Absent);
        let mut requirements = self.requirements.iter().filter(|requirement| negative(&requirement.test));
        requirements.any(|requirement| !requirement.matches(label(&requirement.key)))
    }
}

impl Requirement {
    fn matches(&self, value: Option<&str>) -> bool {
        let among = |values: &[String]| value.is_some_and(|value| values.iter().any(|v| v == value));
        match &self.test {
            Test::In(values) => among(values),
            Test::NotIn(values) => !among(values),
            Test::Exists => value.is_some(),
            Test::Absent => value.is_none(),
        }
    }
}

impl FromStr for Selector {
    type Err = SelectorError;

    fn from_str(text: &str) -> Result<Self, SelectorError> {
        let mut requirements = Vec::new();
        for part in split_outside_parentheses(text) {
            let part = part.trim();
            if part.is_empty() && text.trim().is_empty() {
                continue;
            }
            let requirement =
                parse_requirement(part).ok_or_else(|| SelectorError { text: text.to_owned(), at: part.to_owned() })?;
            requirements.push(requirement);
        }
        Ok(Self { requirements })
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for (position, Requirement { key, test }) in self.requirements.iter().enumerate() {
            if position > 0 {
                f.write_str(",")?;
            }
            match test {
                Test::In(values) => write!(f, "{key} in ({})", values.join(","))?,
                Test::NotIn(values) => write!(f, "{key} notin ({})", values.join(","))?,
                Test::Exists => f.write_str(key)?,
                Test::Absent => write!(f, "!{key}")?,
            }
        }
        Ok(())
    }
}

fn split_outside_parentheses(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut begin) = (0_usize, 0);
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&text[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[begin..]);
    parts
}

fn parse_requirement(part: &str) -> Option<Requirement> {
    let is_name = |text: &str| {
        !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/'))
    };
    let requirement = |key: &str, test| {
        let key = key.trim();
        is_name(key).then(|| Requirement { key: key.to_owned(), test })
    };
    let is_value = |text: &str| text.is_empty() || is_name(text);
    if let Some(key) = part.strip_prefix('!') {
        return requirement(key, Test::Absent);
    }
    if let Some(list) = part.strip_suffix(')') {
        let (head, list) = list.split_once('(')?;
        let values: Vec<String> = list.split(',').map(|value| value.trim().to_owned()).collect();
        if !values.iter().all(|value| is_value(value)) {
            return None;
        }
        let (key, operator) = head.trim_end().rsplit_once(char::is_whitespace)?;
        return match operator {
            "in" => requirement(key, Test::In(values)),
            "notin" => requirement(key, Test::NotIn(values)),
            _ => None,
        };
    }
    let one = |value: &str| vec![value.trim().to_owned()];
    for (operator, negated) in [("!=", true), ("==", false), ("=", false)] {
        if let Some((key, value)) = part.split_once(operator) {
            if !is_value(value.trim()) {
                return None;
            }
            return requirement(key, if negated { Test::NotIn(one(value)) } else { Test::In(one(value)) });
        }
    }
    requirement(part, Test::Exists)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_kubectl_is_understood() {
        let labels = |key: &str| match key {
            "app" => Some("train"),
            "tier" => Some("gpu"),
            _ => None,
        };
        for (text, expected) in [
            ("", true),
            ("app=train", true),
            ("app==train,tier=gpu", true),
            ("app = other", false),
            ("app!=other", true),
            ("missing!=x", true),
            ("app in (serve, train)", true),
            ("app notin (serve,train)", false),
            ("missing notin (x)", true),
            ("tier", true),
            ("!tier", false),
            ("!missing,app", true),
        ] {
            assert_eq!(text.parse::<Selector>().unwrap().matches(labels), expected, "{text}");
        }
    }

    #[test]
    fn only_what_is_asked_not_to_be_there_excludes() {
        let labels = |key: &str| (key == "app").then_some("train");
        for (text, expected) in [
            ("app=other,tier", false),
            ("app!=train", true),
            ("tier=x,!app", true),
            ("app notin (serve)", false),
            ("!tier", false),
        ] {
            assert_eq!(text.parse::<Selector>().unwrap().excludes(labels), expected, "{text}");
        }
    }

    #[test]
    fn nonsense_is_refused_with_the_forms_there_are() {
        for text in ["app=a b", "in (a)", "app in a", "a,,b", "app ~ x", "=x"] {
            let error = text.parse::<Selector>().unwrap_err().to_string();
            assert!(error.contains("key=value"), "{error}");
        }
    }
}
