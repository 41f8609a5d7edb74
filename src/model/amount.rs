use std::fmt;

use serde::Deserialize;

use super::Text;

/// A number of pods, or a share of them, as `maxUnavailable` takes either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// So many.
    Number(u32),
    /// So many of a hundred.
    Percent(u32),
}

impl Amount {
    /// How many of `all` that is; a share is rounded up, as the controller of `DaemonSet`s does.
    ///
    /// Source: `GetScaledValueFromIntOrPercent(…, true)` in `pkg/controller/daemon/util/daemonset_util.go`.
    pub fn of(self, all: u32) -> u32 {
        match self {
            Self::Number(number) => number,
            Self::Percent(percent) => {
                u32::try_from((u64::from(all) * u64::from(percent)).div_ceil(100)).unwrap_or(u32::MAX)
            }
        }
    }
}

impl Amount {
    /// The same with a share rounded down, as the controller of `StatefulSet`s does.
    ///
    /// Source: `getStatefulSetMaxUnavailable` in `pkg/controller/statefulset/stateful_set_utils.go`.
    pub fn of_rounded_down(self, all: u32) -> u32 {
        match self {
            Self::Number(number) => number,
            Self::Percent(percent) => u32::try_from(u64::from(all) * u64::from(percent) / 100).unwrap_or(u32::MAX),
        }
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Percent(percent) => write!(f, "{percent}%"),
        }
    }
}

/// The same, as it is read: an integer or a string.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum AmountView<'a> {
    Number(i64),
    #[serde(borrow)]
    Text(Text<'a>),
    /// Anything else is as good as absent.
    Other(serde::de::IgnoredAny),
}

impl AmountView<'_> {
    pub(super) fn amount(&self) -> Option<Amount> {
        match self {
            Self::Number(number) => Some(Amount::Number(u32::try_from(*number).ok()?)),
            Self::Text(text) => match text.strip_suffix('%') {
                Some(percent) => Some(Amount::Percent(percent.parse().ok()?)),
                None => Some(Amount::Number(text.parse().ok()?)),
            },
            Self::Other(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_in_both_forms_and_shares_are_rounded_up() {
        for (written, all, number) in [
            ("1", 12, Some(1)),
            ("\"25%\"", 12, Some(3)),
            ("\"25%\"", 3, Some(1)),
            ("\"10%\"", 101, Some(11)),
            ("\"2\"", 9, Some(2)),
            ("\"many\"", 9, None),
            ("-1", 9, None),
            ("{}", 9, None),
        ] {
            let view: AmountView = serde_json::from_str(written).unwrap();
            assert_eq!(view.amount().map(|amount| amount.of(all)), number, "{written} of {all}");
        }
    }
}
