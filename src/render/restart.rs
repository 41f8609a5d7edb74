use std::io::{self, Write};

use owo_colors::OwoColorize;

use super::Look;
use super::text::{one_line, wrap};
use crate::report::{DryRun, Restart, RestartOutcome, RestartStep, StepState};

/// What would be done, step by step, and what is lost by it. The first line is the answer.
pub(super) fn plan(restart: &Restart, look: Look, out: &mut impl Write) -> io::Result<()> {
    let is_done = restart.outcome == RestartOutcome::AlreadyDone;
    let verb = match restart.dry_run {
        _ if is_done => "",
        DryRun::None => "Restart ",
        DryRun::Client | DryRun::Server => "Would restart ",
    };
    let head = format!("{verb}{}: {}", subject(restart), restart.summary);
    for line in wrap(&one_line(&head), look.width) {
        writeln!(out, "{}", bold(&line, look))?;
    }
    let steps: Vec<String> = restart.steps.iter().map(|step| step.text.clone()).collect();
    section("Steps", &steps, look, out, |position| format!("{:<2} ", position + 1))?;
    section("Lost", &restart.loses, look, out, |_| "- ".to_owned())?;
    section("Notes", &restart.notes, look, out, |_| "- ".to_owned())?;
    writeln!(out)?;
    if restart.dry_run == DryRun::None && !is_done {
        writeln!(out, "Checked: the server would take {}; nothing has been changed yet", writes(restart))?;
    }
    Ok(())
}

/// `all 2 writes`.
fn writes(restart: &Restart) -> String {
    match restart.steps.iter().filter(|step| step.verb.is_some()).count() {
        1 => "the one write".to_owned(),
        writes => format!("all {writes} writes"),
    }
}

fn section(
    title: &str,
    lines: &[String],
    look: Look,
    out: &mut impl Write,
    mark: impl Fn(usize) -> String,
) -> io::Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{}", bold(title, look))?;
    for (position, line) in lines.iter().enumerate() {
        let mark = mark(position);
        let room = look.width.saturating_sub(2 + mark.len()).max(20);
        for (number, part) in wrap(&one_line(line), room).into_iter().enumerate() {
            let lead = if number == 0 { mark.clone() } else { " ".repeat(mark.len()) };
            writeln!(out, "  {lead}{part}")?;
        }
    }
    Ok(())
}

/// A step that was done, with what is to be told of it.
pub(super) fn step(step: &RestartStep, look: Look, out: &mut impl Write) -> io::Result<()> {
    let state = if step.state == StepState::Done { "done  " } else { "failed" };
    let told = step.message.as_deref().filter(|_| step.state == StepState::Done);
    let told = told.map_or_else(String::new, |message| format!(" ({message})"));
    writeln!(out, "{}  {}", bold(state, look), one_line(&format!("{}{told}", step.text)))
}

pub(super) fn end(restart: &Restart, look: Look, out: &mut impl Write) -> io::Result<()> {
    let (said, lead) = match (restart.outcome, restart.dry_run) {
        (RestartOutcome::Done, _) => (format!("Restarted {}", subject(restart)), "Look at it"),
        (RestartOutcome::AlreadyDone, _) => ("Nothing was left to do".to_owned(), "Look at it"),
        (RestartOutcome::DryRun, DryRun::Client) => {
            ("Client dry run: no write was sent, and nothing was changed".to_owned(), "To do it")
        }
        (RestartOutcome::DryRun, _) => {
            (format!("Server dry run: the server would take {}; nothing was changed", writes(restart)), "To do it")
        }
        (RestartOutcome::Declined, _) => {
            return writeln!(out, "Not restarted: {} is left as it is", subject(restart));
        }
        (RestartOutcome::Refused | RestartOutcome::Failed, _) => return Ok(()),
    };
    writeln!(out, "{}", bold(&said, look))?;
    for command in &restart.next {
        writeln!(out, "{lead}: {}", one_line(command))?;
    }
    Ok(())
}

/// One line each: what, why, and the command to run.
pub(super) fn errors(restart: &Restart) -> Vec<String> {
    match restart.outcome {
        // Whoever says no has not made an error.
        RestartOutcome::Done | RestartOutcome::DryRun | RestartOutcome::AlreadyDone | RestartOutcome::Declined => {
            Vec::new()
        }
        RestartOutcome::Refused => restart
            .refusals
            .iter()
            .map(|refusal| {
                let commands = refusal.commands.join(" or ");
                let lead = if commands.is_empty() { "" } else { ": " };
                one_line(&format!("not restarted: {}{lead}{commands}", refusal.message))
            })
            .collect(),
        RestartOutcome::Failed => vec![failed(restart)],
    }
}

fn failed(restart: &Restart) -> String {
    let texts = |state| {
        let steps = restart.steps.iter().filter(move |step| step.state == state);
        steps.map(|step| step.text.as_str()).collect::<Vec<_>>().join("; ")
    };
    let done = match texts(StepState::Done) {
        done if done.is_empty() => "nothing was done before".to_owned(),
        done => format!("done: {done}"),
    };
    let not_done = match texts(StepState::Planned) {
        steps if steps.is_empty() => String::new(),
        steps => format!("; not done: {steps}"),
    };
    let failed = restart.steps.iter().find(|step| step.state == StepState::Failed);
    let (text, why) = failed.map_or(("", ""), |step| (&step.text, step.message.as_deref().unwrap_or_default()));
    let next = restart.next.join(" or ");
    one_line(&format!("could not {text}: {why}; {done}{not_done}; to go on: {next}"))
}

/// `job/etl in namespace data`.
fn subject(restart: &Restart) -> String {
    format!("{} in namespace {}", restart.subject, restart.subject.namespace)
}

fn bold(text: &str, look: Look) -> String {
    if look.color { text.bold().to_string() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{API_VERSION, RefusalReason, RestartRefusal, WorkloadRef};

    fn restart(outcome: RestartOutcome, states: &[StepState]) -> Restart {
        let step = |(number, state): (usize, &StepState)| RestartStep {
            text: format!("take step {}", number + 1),
            verb: Some("delete"),
            resource: "jobs.batch".into(),
            name: "etl".into(),
            state: *state,
            message: (*state == StepState::Failed).then(|| "the server said no".to_owned()),
        };
        Restart {
            api_version: API_VERSION,
            kind: "Restart",
            subject: WorkloadRef {
                kind: "Job".into(),
                namespace: "data".into(),
                name: "etl".into(),
                uid: None,
                cluster: None,
            },
            summary: "the old one is made again".into(),
            dry_run: DryRun::Server,
            outcome,
            refusals: vec![RestartRefusal {
                reason: RefusalReason::Owned,
                message: "jobset/x controls it".into(),
                commands: vec!["kubectl sigapps restart jobset/x -n data".into()],
            }],
            notes: vec!["careful".into()],
            loses: vec!["its status".into()],
            steps: states.iter().enumerate().map(step).collect(),
            saved_to: None,
            next: vec!["kubectl get pods".into()],
        }
    }

    const LOOK: Look = Look { width: 80, color: false, headers: true };

    fn printed(print: impl Fn(&mut Vec<u8>) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        print(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_plan_begins_with_what_is_done_and_names_what_is_lost() {
        let restart = restart(RestartOutcome::DryRun, &[StepState::DryRun, StepState::Planned]);
        assert_eq!(
            printed(|out| plan(&restart, LOOK, out)),
            "Would restart job/etl in namespace data: the old one is made again\n\nSteps\n  1  take step 1\n  2  take \
             step 2\n\nLost\n  - its status\n\nNotes\n  - careful\n\n"
        );
        assert_eq!(
            printed(|out| end(&restart, LOOK, out)),
            "Server dry run: the server would take all 2 writes; nothing was changed\nTo do it: kubectl get pods\n"
        );
        assert!(errors(&restart).is_empty());
    }

    #[test]
    fn a_no_is_no_error() {
        let declined = restart(RestartOutcome::Declined, &[]);
        assert!(errors(&declined).is_empty());
        assert_eq!(
            printed(|out| end(&declined, LOOK, out)),
            "Not restarted: job/etl in namespace data is left as it is\n"
        );
    }

    #[test]
    fn what_went_wrong_is_one_line_with_what_to_run() {
        assert_eq!(
            errors(&restart(RestartOutcome::Refused, &[])),
            ["not restarted: jobset/x controls it: kubectl sigapps restart jobset/x -n data"]
        );
        let states = [StepState::Done, StepState::Failed, StepState::Planned];
        assert_eq!(
            errors(&restart(RestartOutcome::Failed, &states)),
            ["could not take step 2: the server said no; done: take step 1; not done: take step 3; to go on: kubectl \
              get pods"]
        );
        assert_eq!(printed(|out| end(&restart(RestartOutcome::Failed, &states), LOOK, out)), "");
    }
}
