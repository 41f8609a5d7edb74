//! One stream of bytes to the intake, whatever it holds.

use std::fs::File;
use std::io::{self, Cursor, Read};

use super::account::{Account, Refusal};
use super::format::{self, Format, HEAD};
use super::utf16::Utf16;
use super::walk::{Input, STDIN, is_data};
use super::{FileError, ahead, gunzip, yaml};
use crate::source::{Ending, Intake};

/// Layers (archives, compression, UTF-16) around objects that are taken off.
const DEEPEST: u32 = 5;

/// Reads one input. Only one that was named and cannot be opened is an error.
pub(super) fn read_input(input: Input, intake: &mut Intake) -> Result<Account, FileError> {
    let opened: io::Result<Box<dyn Read + Send>> = if input.path == STDIN {
        Ok(Box::new(io::stdin()))
    } else {
        File::open(&input.path).map(|file| Box::new(file) as _)
    };
    let mut account = Account::of(input);
    match opened {
        Ok(reader) => {
            let before = intake.recognised();
            Reading { intake, account: &mut account, entry: None, depth: 0 }.outermost(reader);
            account.objects = intake.recognised() - before;
        }
        Err(error) if account.found => account.cut(format!("cannot be read: {error}"), None),
        Err(error) => return Err(FileError::cannot_open(&account.path, error)),
    }
    Ok(account)
}

/// The reading of one stream.
struct Reading<'a> {
    intake: &'a mut Intake,
    account: &'a mut Account,
    /// The file's name in the archive that it stands in.
    entry: Option<&'a str>,
    /// Layers taken off so far.
    depth: u32,
}

impl Reading<'_> {
    /// A stream of its own rather than a part of another: if it is large, unpacking and splitting it is done on threads
    /// beside this one.
    fn outermost(&mut self, mut reader: Box<dyn Read + Send + '_>) {
        let (head, error) = read_head(&mut reader);
        match format::detect(&head) {
            Format::Gzip if self.depth == 0 => {
                self.depth += 1;
                let packed = Cursor::new(head).chain(Failing(error)).chain(reader);
                gunzip::on_thread(packed, |unpacked| self.outermost(Box::new(unpacked)));
            }
            Format::Json(at) if head.len() == HEAD => {
                self.tell_leading_text(&head[..at]);
                let mut stream = Cursor::new(head);
                stream.set_position(at as u64);
                let ending = ahead::read_json(stream.chain(Failing(error)).chain(reader), self.intake);
                self.ended(ending, at as u64);
            }
            _ => self.with_head(head, error, &mut reader),
        }
    }

    fn any(&mut self, reader: &mut dyn Read) {
        let (head, error) = read_head(reader);
        self.with_head(head, error, reader);
    }

    fn with_head(&mut self, head: Vec<u8>, error: Option<io::Error>, reader: &mut dyn Read) {
        if let (true, Some(error)) = (head.is_empty(), &error) {
            return self.cut(error);
        }
        let format = format::detect(&head);
        let begins = begins(&head);
        let is_layer = matches!(format, Format::Gzip | Format::Tar | Format::Utf16(_));
        if is_layer && self.depth == DEEPEST {
            return self.account.cut("archives within archives too deep; not read".to_owned(), self.entry);
        }
        let skipped = match format {
            Format::Json(at) | Format::Yaml(at) => at,
            _ => 0,
        };
        self.tell_leading_text(&head[..skipped]);
        let mut stream = Cursor::new(head);
        stream.set_position(skipped as u64);
        let mut stream = stream.chain(Failing(error)).chain(reader);
        self.depth += u32::from(is_layer);
        match format {
            Format::Json(_) => self.json(&mut stream, skipped as u64),
            Format::Yaml(_) => {
                let before = self.intake.untitled_lists();
                let ending = yaml::read(&mut stream, self.intake);
                let is_cut = matches!(ending, Ok(Ending::Whole)) && self.intake.untitled_lists() > before;
                self.ended(ending, skipped as u64);
                if is_cut {
                    let why =
                        "the list has no kind, which stands behind its items: it was cut off at the end of a line";
                    self.account.cut(why.to_owned(), self.entry);
                }
            }
            Format::Gzip => self.any(&mut gunzip::in_place(stream)),
            Format::Tar => self.archive(&mut stream),
            Format::Utf16(order) => self.any(&mut Utf16::new(stream, order)),
            Format::Empty => self.refuse(Refusal::Empty),
            Format::Packed(packer) => self.refuse(Refusal::Packed(packer)),
            Format::Other => self.refuse(Refusal::NotData { begins }),
        }
        self.depth -= u32::from(is_layer);
    }

    fn json(&mut self, stream: &mut dyn Read, base: u64) {
        let ending = self.intake.read_json(stream);
        self.ended(ending, base);
    }

    /// Each file in a tar archive is read as one of its own, if its name tells that it may hold objects.
    fn archive(&mut self, stream: &mut dyn Read) {
        let mut archive = tar::Archive::new(stream);
        let entries = match archive.entries() {
            Ok(entries) => entries,
            Err(error) => return self.cut(&error),
        };
        for entry in entries {
            let mut entry = match entry {
                Ok(entry) => entry,
                // Behind a damaged header nothing can be found.
                Err(error) => return self.cut(&error),
            };
            let Ok(path) = entry.path() else { continue };
            if !entry.header().entry_type().is_file() || !is_data(&path) {
                continue;
            }
            let name = path.to_string_lossy().into_owned();
            let entry_name = match self.entry {
                Some(outer) => format!("{outer}: {name}"),
                None => name,
            };
            Reading { intake: self.intake, account: self.account, entry: Some(&entry_name), depth: self.depth }
                .any(&mut entry);
        }
    }

    fn ended(&mut self, ending: io::Result<Ending>, base: u64) {
        self.account.skip(self.intake.take_skipped(), self.entry, base);
        match ending {
            Ok(Ending::Whole) => {}
            Ok(Ending::Truncated) => {
                self.account.cut("cut off in the middle; what is whole was read".to_owned(), self.entry);
            }
            Ok(Ending::Empty) => self.refuse(Refusal::Empty),
            Err(error) => self.cut(&error),
        }
    }

    /// Reading stopped before the stream's end.
    fn cut(&mut self, error: &io::Error) {
        let why = match error.kind() {
            io::ErrorKind::UnexpectedEof => "the packed data is cut off".to_owned(),
            _ => error.to_string(),
        };
        self.account.cut(format!("cannot be read to its end: {why}; what came before was read"), self.entry);
    }

    /// A file in an archive that is not for us is passed over in silence, unless it cannot be told what it holds.
    fn refuse(&mut self, refusal: Refusal) {
        match (self.entry, refusal) {
            (None, refusal) => self.account.refusal = Some(refusal),
            (Some(entry), Refusal::Packed(packer)) => {
                self.account.cut(format!("packed with {}; not read", packer.name), Some(entry));
            }
            (Some(_), _) => {}
        }
    }

    /// Comments and white space before the first object are nothing to tell.
    fn tell_leading_text(&mut self, text: &[u8]) {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let mut lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        if let Some(line) = lines.find(|line| !line.is_empty() && !line.starts_with(b"#")) {
            let note = format!("text before the first object was passed over: {:?}", begins(line));
            self.account.note(note, self.entry);
        }
    }
}

/// The first bytes of a stream, fewer only at its end or before an error: what precedes that, counts.
fn read_head(reader: &mut dyn Read) -> (Vec<u8>, Option<io::Error>) {
    let mut head = Vec::with_capacity(HEAD);
    let read = reader.take(HEAD as u64).read_to_end(&mut head);
    (head, read.err())
}

/// Gives the error that ended the head to whoever reads on behind it: the reader itself may tell it but once.
struct Failing(Option<io::Error>);

impl Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

/// The first characters, to show.
fn begins(head: &[u8]) -> String {
    const SHOWN: usize = 40;
    let text = String::from_utf8_lossy(&head[..head.len().min(4 * SHOWN)]);
    let line = text.trim_start_matches('\u{feff}').trim().lines().next().unwrap_or_default();
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
