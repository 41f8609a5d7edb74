//! `man`: manual pages, for whoever packages the tool. They are the help in another form, and so are made with each release
//! and kept nowhere.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, Command, CommandFactory, ValueHint};
use clap_mangen::Man;

use super::{Arguments, ExitCode};

const EXAMPLES: &str = "\
Examples:
  # All pages, into a folder
  kubectl-sigapps man target/man";

#[derive(Debug, Args)]
#[command(before_help = EXAMPLES)]
pub(super) struct ManArgs {
    /// The folder to write the pages to, made if it is not there
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    folder: PathBuf,
}

impl ManArgs {
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        let folder = &self.folder;
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let mut root = Arguments::command().disable_help_subcommand(true);
        root.build();
        let shown: Vec<&Command> = root.get_subcommands().filter(|command| !command.is_hide_set()).collect();
        let names: Vec<String> = shown.iter().map(|command| page_name(Some(command))).collect();
        write(folder, root.clone(), &page_name(None), &names)?;
        for command in shown {
            write(folder, command.clone(), &page_name(Some(command)), &[page_name(None)])?;
        }
        Ok(ExitCode::Success)
    }
}

/// A subcommand's page is called `kubectl-sigapps-failures`, as git names its own.
fn page_name(command: Option<&Command>) -> String {
    match command {
        Some(command) => format!("kubectl-sigapps-{}", command.get_name()),
        None => "kubectl-sigapps".to_owned(),
    }
}

fn write(folder: &Path, command: Command, name: &str, see_also: &[String]) -> anyhow::Result<()> {
    let path = folder.join(format!("{name}.1"));
    let mut page = Vec::new();
    render(command, name, see_also, &mut page)?;
    fs::write(&path, in_ascii(&page)).with_context(|| format!("cannot write {}", path.display()))
}

/// What is beyond ASCII in groff's own form: read as Latin-1, it would come out as something else.
fn in_ascii(page: &[u8]) -> String {
    let page = String::from_utf8_lossy(page);
    page.chars().map(|c| if c.is_ascii() { c.to_string() } else { format!("\\[u{:04X}]", u32::from(c)) }).collect()
}

/// The sections in the order of the help, under the names that manual pages have for them. No date stands in it: the same
/// source makes the same page.
fn render(mut command: Command, name: &str, see_also: &[String], out: &mut Vec<u8>) -> io::Result<()> {
    let examples = text_of(command.get_before_help());
    let exit_codes = text_of(command.get_after_help());
    // A line of all forty flags tells nothing.
    let usage = command.render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").trim().to_owned();
    let page = Man::new(command.display_name(name.to_owned()).override_usage(usage)).title(name);
    // Of the heading an empty date would be left out, and the version take its place.
    let source = concat!("kubectl-sigapps ", env!("CARGO_PKG_VERSION"));
    writeln!(out, ".TH \"{}\" 1 \"\" \"{source}\" \"kubectl sigapps\"", name.to_uppercase().replace('-', "\\-"))?;
    page.render_name_section(out)?;
    page.render_synopsis_section(out)?;
    as_it_stands("EXAMPLES", &examples, out)?;
    page.render_options_section(out)?;
    if see_also.len() > 1 {
        page.render_subcommands_section(out)?;
    }
    as_it_stands("EXIT STATUS", &exit_codes, out)?;
    writeln!(out, ".SH \"SEE ALSO\"")?;
    let others = see_also.iter().map(String::as_str).chain(["kubectl"]);
    let others: Vec<String> = others.map(|name| format!("\\fB{}\\fR(1)", name.replace('-', "\\-"))).collect();
    writeln!(out, "{}", others.join(", "))
}

/// The text below its heading.
fn text_of(help: Option<&clap::builder::StyledStr>) -> String {
    let text = help.map(ToString::to_string).unwrap_or_default();
    text.split_once('\n').map(|(_, text)| text.to_owned()).unwrap_or_default()
}

/// A section whose lines are kept as they are.
fn as_it_stands(heading: &str, text: &str, out: &mut Vec<u8>) -> io::Result<()> {
    writeln!(out, ".SH \"{heading}\"\n.nf")?;
    for line in text.lines() {
        // A dash is one that is typed, a dot or quote at the beginning no request.
        let line = line.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq").replace('`', "\\(ga");
        let line = line.replace('^', "\\(ha").replace('~', "\\(ti");
        writeln!(out, "{}{line}", if line.starts_with('.') { "\\&" } else { "" })?;
    }
    writeln!(out, ".fi")
}
