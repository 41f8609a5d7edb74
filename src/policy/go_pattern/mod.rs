//! Patterns in the syntax of Go's `regexp` package, judged with the `regex` crate.
//!
//! The two syntaxes look alike and differ in much: in what Go takes literally (`[a&&b]`, `a{,3}`, `\<`), keeps to ASCII
//! (`\d`, `\b`) or refuses (`a**`, `a{1001}`, `\p{Latn}`). So a pattern is read here by Go's rules, as
//! `go doc regexp/syntax` states them and Go 1.26 applies them, and written anew in a part of `regex`'s syntax that
//! means the same. Only whether a text matches is kept: capturing changes nothing about that, nor does laziness.
//!
//! What is known to differ: Go matches a literal surrogate (`\x{D800}`) at the start of a pattern with U+FFFD; U+1171E
//! is a nonspacing mark to Go and a spacing one here; and with `(?i)` the sets of `\p{..}` take in U+A7CB and U+A7DC,
//! that of `Lu` also their small letters U+0264 and U+019B, that of `LC` U+0345.

mod names;

use names::{ASCII_CLASSES, CATEGORIES, SCRIPTS};

/// Go's bound on a counted repetition, and on the product of those within each other.
const MOST_COPIES: u32 = 1000;

/// Bounds of this module, where Go has wider ones: patterns come from a cluster and are not trusted.
const MOST_PATTERN_BYTES: usize = 4 << 10;
const MOST_COMPILED_BYTES: usize = 2 << 20;

/// `regex` compiles by recursion. At this depth, as it counts it, an unoptimized build keeps within a stack of 2 MiB.
const MOST_NESTING: u32 = 128;

/// How `regex` writes the set of no characters.
const NO_CHARACTER: &str = r"\P{Any}";

/// Why a pattern does not compile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// Go refuses it, for this reason.
    #[error("error parsing regexp: {0}")]
    Refused(String),
    /// Go might take it, but it goes beyond the bounds of this module.
    #[error("pattern too large to judge: {0}")]
    TooLarge(&'static str),
}

/// A pattern as Go's `regexp` package takes it.
#[derive(Clone, Debug)]
pub struct GoPattern(regex::Regex);

impl GoPattern {
    /// Compiles a pattern by the rules of Go's `regexp/syntax` with the flags `syntax.Perl`, as `regexp.Compile` does.
    ///
    /// # Errors
    ///
    /// Where Go refuses the pattern, with Go's reason: `error parsing regexp: missing closing ]`. Also where Go would
    /// take the pattern but it goes beyond the bounds of this module: longer than 4 KiB, larger than 2 MiB compiled,
    /// or nested deeper than some 30 groups.
    pub fn compile(pattern: &str) -> Result<Self, PatternError> {
        if pattern.len() > MOST_PATTERN_BYTES {
            return Err(too_large("it is longer than 4 KiB"));
        }
        let translation = Reader::new(pattern).translate()?;
        regex::RegexBuilder::new(&translation)
            .size_limit(MOST_COMPILED_BYTES)
            .nest_limit(MOST_NESTING)
            .build()
            .map(Self)
            .map_err(|error| match error {
                regex::Error::CompiledTooBig(_) => too_large("it takes more than 2 MiB compiled"),
                _ => too_large("it nests too deeply"),
            })
    }

    /// Whether the text holds a match, anywhere in it, as Go's `regexp.MatchString` says.
    #[must_use]
    pub fn is_match(&self, text: &str) -> bool {
        // Not `is_match`: where `\B` holds within a character, that stops there and misses a match that began before.
        self.0.find(text).is_some()
    }
}

/// Reads a pattern from left to right and writes its translation.
struct Reader<'p> {
    rest: &'p str,
    translation: String,
    /// What a repetition would repeat: the last element of the sequence being read.
    last: Option<Element>,
    /// The most copies of an element before the last in the group being read, and so for each group around it.
    copies: u32,
    copies_around: Vec<u32>,
}

#[derive(Clone, Copy)]
struct Element {
    /// Where its translation ends. Flags may follow that a repetition does not concern.
    end: usize,
    /// The largest product of counted repetitions within each other.
    copies: u32,
}

impl<'p> Reader<'p> {
    fn new(pattern: &'p str) -> Self {
        Reader { rest: pattern, translation: String::new(), last: None, copies: 1, copies_around: Vec::new() }
    }

    fn translate(mut self) -> Result<String, PatternError> {
        let mut after_repetition = false;
        while !self.rest.is_empty() {
            after_repetition = self.translate_next(after_repetition)?;
        }
        if self.copies_around.is_empty() { Ok(self.translation) } else { Err(refused("missing closing )")) }
    }

    /// Says whether what it read is a repetition, since Go refuses another one right after it.
    fn translate_next(&mut self, after_repetition: bool) -> Result<bool, PatternError> {
        if let Some(set) = self.set_escape()? {
            self.push(&set);
            return Ok(false);
        }
        match self.next().unwrap_or_default() {
            '*' => return self.repeat(0, None, after_repetition),
            '+' => return self.repeat(1, None, after_repetition),
            '?' => return self.repeat(0, Some(1), after_repetition),
            '{' => match self.counts() {
                Some((least, most)) => return self.repeat(least, most, after_repetition),
                None => self.push_literal('{'),
            },
            '(' => self.open()?,
            ')' => self.close()?,
            '[' => self.class()?,
            '\\' => self.escape()?,
            '|' => {
                self.settle();
                self.translation.push('|');
            }
            same @ ('.' | '^' | '$') => self.push(&same.to_string()),
            literal => self.push_literal(literal),
        }
        Ok(false)
    }

    fn next(&mut self) -> Option<char> {
        let mut characters = self.rest.chars();
        let next = characters.next();
        self.rest = characters.as_str();
        next
    }

    fn take(&mut self, prefix: &str) -> bool {
        let after = self.rest.strip_prefix(prefix);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    fn take_before(&mut self, end: &str) -> Option<&'p str> {
        let (taken, after) = self.rest.split_once(end)?;
        self.rest = after;
        Some(taken)
    }

    fn push(&mut self, translation: &str) {
        self.settle();
        self.translation.push_str(translation);
        self.last = Some(Element { end: self.translation.len(), copies: 1 });
    }

    /// Counts the last element in, as no repetition can follow it any more.
    fn settle(&mut self) {
        self.copies = self.last.take().map_or(self.copies, |last| last.copies.max(self.copies));
    }

    fn push_literal(&mut self, literal: char) {
        self.push(&codes(literal.into(), literal.into()));
    }

    fn repeat(&mut self, least: u32, most: Option<u32>, after_repetition: bool) -> Result<bool, PatternError> {
        if least.max(most.unwrap_or(0)) > MOST_COPIES || most.is_some_and(|most| most < least) {
            return Err(refused("invalid repeat count"));
        }
        // Laziness.
        self.take("?");
        if after_repetition {
            return Err(refused("invalid nested repetition operator"));
        }
        let Element { end, copies } = self.last.ok_or_else(|| refused("missing argument to repetition operator"))?;
        let copies = match most.unwrap_or(least.max(1)) {
            // Go does not look into what is repeated no times.
            0 => 1,
            times => times * copies,
        };
        if copies > MOST_COPIES {
            return Err(refused("invalid repeat count"));
        }
        // Always in braces, as `regex` would take a `?` after another repetition for laziness.
        let operator = format!("{{{least},{}}}", most.map_or(String::new(), |most| most.to_string()));
        self.translation.insert_str(end, &operator);
        self.last = Some(Element { end: end + operator.len(), copies });
        Ok(true)
    }

    /// Reads the counts after a `{`. Without any, the brace is a literal.
    fn counts(&mut self) -> Option<(u32, Option<u32>)> {
        let (inside, after) = self.rest.split_once('}')?;
        let (least, most) = inside.split_once(',').unwrap_or((inside, inside));
        let counts = (number(least)?, if most.is_empty() { None } else { Some(number(most)?) });
        self.rest = after;
        Some(counts)
    }

    /// Reads what follows a `(`.
    fn open(&mut self) -> Result<(), PatternError> {
        if self.take("?P<") || self.take("?<") {
            let name = self.take_before(">").unwrap_or_default();
            if name.is_empty() || !name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric()) {
                return Err(refused("invalid named capture"));
            }
        } else if self.take("?") {
            return self.flags();
        }
        self.enter("");
        Ok(())
    }

    /// Reads flags and whether they hold in a group of their own or from here to the end of the one around.
    fn flags(&mut self) -> Result<(), PatternError> {
        let (mut set, mut cleared, mut clearing) = (String::new(), String::new(), false);
        while let Some(letter) = self.next() {
            match letter {
                // `regex` refuses a flag named twice.
                'i' | 'm' | 's' | 'U' => {
                    set = set.replace(letter, "");
                    cleared = cleared.replace(letter, "");
                    if clearing { &mut cleared } else { &mut set }.push(letter);
                }
                '-' if !clearing => clearing = true,
                ':' | ')' if clearing && cleared.is_empty() => break,
                ':' | ')' => {
                    let flags = if clearing { set + "-" + &cleared } else { set };
                    if letter == ':' {
                        self.enter(&flags);
                    } else if !flags.is_empty() {
                        self.translation.extend(["(?", &flags, ")"]);
                    }
                    return Ok(());
                }
                _ => break,
            }
        }
        Err(refused("invalid or unsupported Perl syntax"))
    }

    fn enter(&mut self, flags: &str) {
        self.settle();
        self.translation.extend(["(?", flags, ":"]);
        self.copies_around.push(std::mem::replace(&mut self.copies, 1));
    }

    fn close(&mut self) -> Result<(), PatternError> {
        let around = self.copies_around.pop().ok_or_else(|| refused("unexpected )"))?;
        self.settle();
        self.translation.push(')');
        self.last = Some(Element { end: self.translation.len(), copies: self.copies });
        self.copies = around;
        Ok(())
    }

    /// Reads what follows a `\` outside of a class, unless it stands for a set.
    fn escape(&mut self) -> Result<(), PatternError> {
        for (letter, same) in [("A", r"\A"), ("z", r"\z"), ("b", r"(?-u:\b)"), ("B", r"(?-u:\B)")] {
            if self.take(letter) {
                self.push(same);
                return Ok(());
            }
        }
        if self.take("Q") {
            let quoted = self.take_before(r"\E").unwrap_or_else(|| std::mem::take(&mut self.rest));
            quoted.chars().for_each(|literal| self.push_literal(literal));
        } else {
            let code = self.character_escape()?;
            self.push(&codes(code, code));
        }
        Ok(())
    }

    /// Reads an escape that stands for a set, if one comes next: `\d`, `\pN`, `\p{Name}` and their like.
    fn set_escape(&mut self) -> Result<Option<String>, PatternError> {
        let set = match self.rest.get(..2) {
            Some(r"\d") => "[0-9]",
            Some(r"\D") => "[^0-9]",
            Some(r"\s") => r"[\t\n\f\r ]",
            Some(r"\S") => r"[^\t\n\f\r ]",
            Some(r"\w") => "[0-9A-Za-z_]",
            Some(r"\W") => "[^0-9A-Za-z_]",
            Some(r"\p" | r"\P") => return self.named_set().map(Some),
            _ => return Ok(None),
        };
        self.rest = &self.rest[2..];
        Ok(Some(set.to_owned()))
    }

    fn named_set(&mut self) -> Result<String, PatternError> {
        let (escape, named) = self.rest.split_at(2);
        let name = named.strip_prefix('{').map_or_else(|| named.split_at_checked(1), |braced| braced.split_once('}'));
        let (name, after) = name.unwrap_or_default();
        self.rest = after;
        let plain = name.strip_prefix('^').unwrap_or(name);
        let set = unicode_set(plain).ok_or_else(|| refused("invalid character class range"))?;
        let negated = (escape == r"\P") != (plain != name);
        Ok(format!("[{}{set}]", if negated { "^" } else { "" }))
    }

    /// Reads what follows the `\` of an escape that stands for one character. Its code may be that of a surrogate.
    fn character_escape(&mut self) -> Result<u32, PatternError> {
        let first = self.next().ok_or_else(|| refused("trailing backslash at end of expression"))?;
        let code = match first {
            'a' => Some(7),
            't' => Some(9),
            'n' => Some(10),
            'v' => Some(11),
            'f' => Some(12),
            'r' => Some(13),
            'x' => self.hexadecimal(),
            '0'..='7' => self.octal(first),
            _ => Some(first.into()).filter(|_| first.is_ascii() && !first.is_ascii_alphanumeric()),
        };
        code.ok_or_else(|| refused("invalid escape sequence"))
    }

    /// Reads two digits, or any number of them in braces.
    fn hexadecimal(&mut self) -> Option<u32> {
        if !self.take("{") {
            return Some(self.next()?.to_digit(16)? * 16 + self.next()?.to_digit(16)?);
        }
        let digits = self.take_before("}").filter(|digits| !digits.is_empty())?;
        digits.chars().try_fold(0, |code, digit| {
            Some(code * 16 + digit.to_digit(16)?).filter(|code| *code <= u32::from(char::MAX))
        })
    }

    /// Reads up to two more digits. A lone digit other than 0 would be a back reference, which Go does not have.
    fn octal(&mut self, first: char) -> Option<u32> {
        let more = self.rest.chars().take(2).take_while(|c| c.is_digit(8)).count();
        let (digits, after) = self.rest.split_at(more);
        self.rest = after;
        let code = u32::from_str_radix(&format!("{first}{digits}"), 8).ok();
        code.filter(|_| first == '0' || more > 0)
    }

    /// Reads what follows a `[`. A `]` that comes first is a literal.
    fn class(&mut self) -> Result<(), PatternError> {
        let mut class = String::from(if self.take("^") { "[^" } else { "[" });
        class += &self.class_item()?;
        while !self.take("]") {
            class += &self.class_item()?;
        }
        self.push(&(class + "]"));
        Ok(())
    }

    fn class_item(&mut self) -> Result<String, PatternError> {
        // Without a `:]` anywhere after it, even `[:` is two literals.
        if let Some((name, after)) = self.rest.strip_prefix("[:").and_then(|inside| inside.split_once(":]")) {
            self.rest = after;
            let known = listed(ASCII_CLASSES, name.strip_prefix('^').unwrap_or(name));
            return if known { Ok(format!("[:{name}:]")) } else { Err(refused("invalid character class range")) };
        }
        if let Some(set) = self.set_escape()? {
            return Ok(set);
        }
        let low = self.class_character()?;
        // A `-` that comes last is a literal.
        let single = self.rest == "-" || self.rest.starts_with("-]") || !self.take("-");
        let high = if single { low } else { self.class_character()? };
        if low <= high { Ok(codes(low, high)) } else { Err(refused("invalid character class range")) }
    }

    fn class_character(&mut self) -> Result<u32, PatternError> {
        match self.next() {
            Some('\\') => self.character_escape(),
            Some(literal) => Ok(literal.into()),
            None => Err(refused("missing closing ]")),
        }
    }
}

fn refused(reason: &str) -> PatternError {
    PatternError::Refused(reason.to_owned())
}

fn too_large(how: &'static str) -> PatternError {
    PatternError::TooLarge(how)
}

fn listed(names: &str, name: &str) -> bool {
    names.split(' ').any(|listed| listed == name)
}

/// Reads a decimal number without leading zeros. One too large to hold is too large for a count all the same.
fn number(digits: &str) -> Option<u32> {
    let decimal = digits.chars().all(|digit| digit.is_ascii_digit()) && !digits.is_empty();
    let plain = decimal && (digits == "0" || !digits.starts_with('0'));
    plain.then(|| digits.parse().unwrap_or(u32::MAX))
}

/// The characters with these codes, alone or in a class. Go lets a pattern name surrogates, which no text holds.
fn codes(low: u32, high: u32) -> String {
    let low = char::from_u32(low).unwrap_or('\u{E000}');
    let high = char::from_u32(high).unwrap_or('\u{D7FF}');
    match (u32::from(low), u32::from(high)) {
        (low, high) if low > high => NO_CHARACTER.to_owned(),
        (low, high) if low == high => format!(r"\x{{{low:X}}}"),
        (low, high) => format!(r"\x{{{low:X}}}-\x{{{high:X}}}"),
    }
}

/// What Go knows by a name in `\p{..}`, to stand in a class. As of Go 1.25, case, underscores, hyphens and spaces in
/// the name do not matter. Go's tables are those of Unicode 15.0, so newer characters have no category or script.
fn unicode_set(name: &str) -> Option<String> {
    let mut name = name.replace(['_', '-', ' '], "").to_ascii_lowercase();
    name.get_mut(..1)?.make_ascii_uppercase();
    let set = match name.as_str() {
        "Any" => r"\p{Any}",
        "Ascii" => r"\x00-\x7F",
        "Assigned" => r"\P{gc=Cn}&&\p{Age=15.0}",
        "C" | "Other" => r"\p{gc=C}\P{Age=15.0}",
        "Cn" | "Unassigned" => r"\p{gc=Cn}\P{Age=15.0}",
        "Cs" | "Surrogate" => NO_CHARACTER,
        script if listed(SCRIPTS, script) => &format!(r"\p{{sc={script}}}&&\p{{Age=15.0}}"),
        category if listed(CATEGORIES, category) => &format!(r"\p{{gc={category}}}&&\p{{Age=15.0}}"),
        _ => return None,
    };
    Some(set.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{GoPattern, PatternError};

    #[derive(Debug, PartialEq)]
    enum Answer {
        Matches,
        DoesNot,
        Refused,
    }
    use Answer::{DoesNot, Matches, Refused};

    const POD: &str = "Pod default/js-0 has condition DisruptionTarget matching FailJob rule at index 0";
    const CONTAINER: &str =
        "Container main for pod default/js-0 failed with exit code 42 matching FailJob rule at index 1";

    /// Pattern, text, and what Go 1.26 answered.
    const ANSWERS: &[(&str, &str, Answer)] = &[
        // Patterns as they are written for JobSets.
        (".*exit code 42.*", CONTAINER, Matches),
        (".*exit code 42.*", POD, DoesNot),
        ("^Pod .* has condition", POD, Matches),
        ("condition DisruptionTarget", POD, Matches),
        (r"exit code (?:4[0-9]|5\d)\b", CONTAINER, Matches),
        ("pod$", "a pod\n", DoesNot),
        ("(?m)pod$", "a pod\nb", Matches),
        ("one.two", "one\ntwo", DoesNot),
        ("(?s)one.two", "one\ntwo", Matches),
        ("(?m)a$", "a\r\n", DoesNot),
        // Literal in Go, not in `regex`.
        ("a{,3}", "a{,3}", Matches),
        ("a{,3}", "aa", DoesNot),
        ("a{01}", "a{01}", Matches),
        ("[a&&b]", "&", Matches),
        ("[a--b]", "-", Refused),
        ("[a~~b]", "~", Matches),
        ("[[a]b]", "ab]", Matches),
        ("[[:a]", ":", Matches),
        (r"\<a\>", "<a>", Matches),
        (r"\b{start}", "a{start}", Matches),
        (r"\Qa.b\E.", "a.bc", Matches),
        (r"a\Q\E*b", "b", Matches),
        ("[]a]", "]", Matches),
        ("[^]a]", "]", DoesNot),
        ("[a-]", "-", Matches),
        (r"[\d-z]", "-", Matches),
        ("[+-[:digit:]", "9", Matches),
        (r"\-\_\ \#", "-_ #", Matches),
        // ASCII in Go, Unicode in `regex`.
        (r"\w", "\u{E9}", DoesNot),
        (r"\W", "\u{E9}", Matches),
        (r"\s", "\u{A0}", DoesNot),
        (r"\s", "\u{B}", DoesNot),
        (r"\Bb", "\u{E9}b", DoesNot),
        (r"s\x{e9}??[a-c]|\B", "s\u{E9}a", Matches),
        // Case.
        ("(?i)k", "\u{212A}", Matches),
        (r"(?i)\w", "\u{17F}", Matches),
        (r"(?i)\W", "\u{212A}", DoesNot),
        (r"(?i)\P{Lu}", "a", DoesNot),
        ("a(?i)b|c", "C", Matches),
        ("(?:a(?i)b)c", "aBC", DoesNot),
        (r"(?i)\x{3c3}", "\u{3C2}", Matches),
        ("(?i)[[:^lower:]]", "A", DoesNot),
        // Repetitions.
        ("a**", "", Refused),
        ("a{2}{3}", "", Refused),
        ("a*(?i)*", "", Matches),
        ("^(?:a+(?i)?)$", "", Matches),
        ("(|*)", "", Refused),
        ("a{1001}", "", Refused),
        ("(?:a{32}){32}", "", Refused),
        ("(?:(?:a{1000}){0}){1000}", "", Matches),
        // Groups and flags.
        ("(?P<n>a)(?P<n>b)", "ab", Matches),
        ("(?<1n>a)", "a", Matches),
        ("(?x)a", "a", Refused),
        ("(?ii)A", "a", Matches),
        ("(?i-i)A", "a", DoesNot),
        ("(?)a", "a", Matches),
        // Escapes and classes.
        (r"\123", "S", Matches),
        (r"\07", "\u{7}", Matches),
        (r"\08", "\u{0}8", Matches),
        (r"\1", "1", Refused),
        (r"\x{0000000041}", "A", Matches),
        (r"[^\x{D800}]", "a", Matches),
        (r"a\x{D800}*", "a", Matches),
        (r"\C", "a", Refused),
        (r"\Z", "", Refused),
        (r"[a-\d]", "a", Refused),
        (r"[\b]", "a", Refused),
        ("[[:foo:]]", "f", Refused),
        (r"[^\x00-\x{10FFFF}]", "a", DoesNot),
        // Unicode's names. U+1C89 is a letter as of Unicode 16.
        (r"\p{Greek}", "\u{3B1}", Matches),
        (r"\p{^Greek}", "\u{3B1}", DoesNot),
        (r"\p{greek}", "\u{3B1}", Matches),
        (r"\p{Letter}", "a", Matches),
        (r"\p{uppercase letter}", "A", Matches),
        (r"\p{Cn}", "\u{FFFE}", Matches),
        (r"\pL", "\u{1C89}", DoesNot),
        (r"\p{Zl}", "\u{2028}", Matches),
        (r"\p{Latn}", "a", Refused),
        (r"\p{IsLu}", "A", Refused),
        (r"\p{Alphabetic}", "a", Refused),
        (r"\p{Old_Italic}", "", Refused),
        (r"\pX", "X", Refused),
    ];

    /// Pattern and the reason for which Go 1.26 refused it.
    const REASONS: &[(&str, &str)] = &[
        (r"[a", "missing closing ]"),
        (r"(a", "missing closing )"),
        (r"a)", "unexpected )"),
        (r"*", "missing argument to repetition operator"),
        (r"a**", "invalid nested repetition operator"),
        (r"a{1001}", "invalid repeat count"),
        (r"[b-a]", "invalid character class range"),
        (r"\pX", "invalid character class range"),
        (r"\1", "invalid escape sequence"),
        (r"\", "trailing backslash at end of expression"),
        (r"(?<n", "invalid named capture"),
        (r"(?=a)", "invalid or unsupported Perl syntax"),
    ];

    #[test]
    fn answers_are_those_of_go() {
        for (pattern, text, expected) in ANSWERS {
            let answer = match GoPattern::compile(pattern) {
                Ok(compiled) if compiled.is_match(text) => Matches,
                Ok(_) => DoesNot,
                Err(_) => Refused,
            };
            assert_eq!(answer, *expected, "{pattern:?} on {text:?}");
        }
    }

    #[test]
    fn reasons_are_those_of_go() {
        for (pattern, reason) in REASONS {
            assert_eq!(GoPattern::compile(pattern).unwrap_err(), PatternError::Refused((*reason).to_owned()));
        }
    }

    #[test]
    fn patterns_beyond_the_bounds_are_refused_as_such() {
        let long = "a".repeat(4 * 1024 + 1);
        let deep = "a".to_owned() + &"(?i)*".repeat(1000);
        for pattern in [&long, &deep] {
            let refusal = GoPattern::compile(pattern).unwrap_err();
            assert!(matches!(refusal, PatternError::TooLarge(_)), "{refusal}");
        }
        let nested = "(a|b".repeat(30) + &")*".repeat(30);
        for pattern in [&long[1..], &nested] {
            assert!(GoPattern::compile(pattern).is_ok());
        }
    }
}
