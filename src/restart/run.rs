//! One restart from its beginning to its end.

use std::time::Duration;

use super::carry_out::{Failure, Patience};
use super::earlier::Standing;
use super::facts::Facts;
use super::folder::Folder;
use super::object::uid;
use super::plan::{Action, Plan, Step};
use super::prepare::{Verdict, dry_run, rights};
use super::record::{MANIFEST, Record};
use super::{
    Console, Kind, Order, RestartError, carry_out, cron_job, evidence, gather, job, job_set, leader_worker_set,
    rollout, sandbox,
};
use crate::model::Time;
use crate::report::{
    API_VERSION, DryRun, RefusalReason, Restart, RestartOutcome, RestartRefusal, RestartStep, StepState, WorkloadRef,
};
use crate::source::cluster::{Object, Session};

/// What is to be done: planned now, or begun by an earlier run.
struct Work {
    plan: Plan,
    uid: String,
    /// What to save; nothing where it was saved already.
    facts: Option<Facts>,
    begun: Option<(Folder, Record)>,
    /// Whether an earlier run has done it, to the last step.
    complete: bool,
}

/// How long a restart that turns out to be complete is told as that to whoever runs the command again: after that, another
/// one is meant.
const TOLD_FOR_SECONDS: i64 = 3600;

/// Restarts a workload, or goes on with a restart that an earlier run began.
///
/// An error means that nothing was changed, or that what was done could not be recorded; everything else is in what is
/// returned.
pub fn run(session: &Session, order: &Order, console: &mut dyn Console) -> Result<Restart, RestartError> {
    let at = gather::locate(session, order.kind, &order.namespace, &order.name)?;
    let mut notes: Vec<String> = Vec::new();
    let mut work = match earlier(session, order, &at, &mut notes)? {
        Some(work) => work,
        None => planned(session, order, &at)?,
    };
    work.plan.notes.splice(0..0, notes.iter().cloned());
    let mut restart = report(order, &mut work);
    if work.complete {
        restart.outcome = RestartOutcome::AlreadyDone;
        console.planned(&restart);
        return Ok(restart);
    }
    if restart.refusals.is_empty() && order.dry_run != DryRun::Client {
        check(session, order, &work.plan.steps, &mut restart);
    }
    if !restart.refusals.is_empty() {
        // The plan is not shown then, and they may be why.
        for note in &notes {
            session.say(note);
        }
        restart.outcome = RestartOutcome::Refused;
        console.planned(&restart);
        return Ok(restart);
    }
    if order.dry_run != DryRun::None {
        restart.notes.extend(names_of_this_run(order, &work.plan.steps));
        restart.next = vec![order.again_with("--yes")];
        console.planned(&restart);
        return Ok(restart);
    }
    console.planned(&restart);
    if !console.confirms(&restart) {
        restart.outcome = RestartOutcome::Declined;
        return Ok(restart);
    }
    let Some((folder, record)) = begin(session, order, &at, work, &mut restart)? else { return Ok(restart) };
    console.saved(&folder.path().display().to_string());
    let before = done_before(&record);
    carry_out_all(session, order, (&folder, record), &mut restart, console)?;
    restart.steps.splice(0..0, before);
    Ok(restart)
}

/// The time is in a name that is made anew: the next run makes another.
fn names_of_this_run(order: &Order, steps: &[Step]) -> Option<String> {
    let made = steps.iter().map(|step| &step.action).find_map(|action| match action {
        Action::Create { object, replaces: None, .. } if object.name != order.name => Some(&object.name),
        _ => None,
    })?;
    Some(format!("the name {made} is that of this dry run: each run makes a new one from the time"))
}

/// What an earlier run has done is done, whoever asks.
fn done_before(record: &Record) -> Vec<RestartStep> {
    let done = record.steps.iter().take(record.done).map(Step::report);
    let by_an_earlier_run = Some("by an earlier run".to_owned());
    done.map(|step| RestartStep { state: StepState::Done, message: by_an_earlier_run.clone(), ..step }).collect()
}

/// A restart that was begun and is to be gone on with. Records of others are closed: one without an effect is planned
/// anew, as much may have changed since, and so is one that somebody else has overtaken, which `notes` tells.
fn earlier(
    session: &Session,
    order: &Order,
    at: &Object,
    notes: &mut Vec<String>,
) -> Result<Option<Work>, RestartError> {
    let bases = order.look_in.iter().chain([&order.save_to]).map(std::path::PathBuf::as_path).collect::<Vec<_>>();
    for (folder, mut record) in Record::unfinished(&bases, session.server(), at, &mut |line| session.say(line)) {
        let begun = format!("the restart begun at {}", record.started_at);
        match standing(session, at, &record)? {
            Standing::NoEffect => {}
            Standing::Open => return Ok(Some(going_on(order, folder, record))),
            Standing::Complete(what) => {
                if record.is_like(&order.flags) && is_fresh(&record, order.now) {
                    close(session, order, &folder, &mut record);
                    return Ok(Some(complete(order, folder, record, &what)));
                }
                notes.push(format!("{begun} was completed: {what}"));
            }
            Standing::Overtaken(why) => {
                let path = folder.path().display();
                notes.push(format!("{begun} is given up: {why}; what was saved then is in {path}"));
            }
        }
        close(session, order, &folder, &mut record);
    }
    Ok(None)
}

fn standing(session: &Session, at: &Object, record: &Record) -> Result<Standing, RestartError> {
    let workload = session.get(at)?;
    let of_step = match record.left().first().map(|step| step.action.object()) {
        Some(object) if object != at => session.get(object)?,
        _ => None,
    };
    Ok(super::earlier::standing(record, workload.as_ref(), of_step.as_ref()))
}

fn is_fresh(record: &Record, now: Time) -> bool {
    let begun = Time::parse(&record.started_at);
    begun.is_some_and(|begun| now.seconds() - begun.seconds() < TOLD_FOR_SECONDS)
}

/// A dry run leaves records as they are, too.
fn close(session: &Session, order: &Order, folder: &Folder, record: &mut Record) {
    if order.dry_run != DryRun::None {
        return;
    }
    record.finished = true;
    if let Err(error) = record.save(folder) {
        // The next run judges it anew.
        session.say(&format!("an earlier restart's record stays open: {error}"));
    }
}

fn going_on(order: &Order, folder: Folder, record: Record) -> Work {
    let summary = format!(
        "the restart begun at {} is gone on with at step {} of {}",
        record.started_at,
        record.done + 1,
        record.steps.len()
    );
    let mut plan = Plan { summary, steps: record.left().to_vec(), next: record.next.clone(), ..Plan::default() };
    plan.note(format!("what was saved then is in {}", folder.path().display()));
    if order.save_logs && !record.flags.iter().any(|flag| flag == "--save-logs") {
        plan.note("--save-logs comes too late: logs are saved before the first step");
    }
    if !record.is_like(&order.flags) {
        other_flags(&mut plan, order, &folder, &record);
    }
    Work { plan, uid: record.uid.clone(), facts: None, begun: Some((folder, record)), complete: false }
}

/// What is left was planned with the flags of then: others would be passed over in silence.
fn other_flags(plan: &mut Plan, order: &Order, folder: &Folder, record: &Record) {
    let message = format!(
        "a restart of {} with other flags was begun at {} and is not completed: complete that one first, and then, if it is \
         still wanted, run this one again ({})",
        order.subject(),
        record.started_at,
        order.command_with(&order.flags)
    );
    let mut commands = vec![order.command_with(&record.flags)];
    commands.extend(by_hand(order, record, folder));
    plan.refuse(RefusalReason::UnderWay, message, commands);
}

/// What an earlier run began and did to the end.
fn complete(order: &Order, folder: Folder, record: Record, what: &str) -> Work {
    let summary = format!("the restart begun at {} is complete ({what}); nothing was changed now", record.started_at);
    let mut plan = Plan { summary, next: record.next.clone(), ..Plan::default() };
    let another = order.command_with(&order.flags);
    plan.note(format!("to restart it once more, run it again: {another}"));
    Work { plan, uid: record.uid.clone(), facts: None, begun: Some((folder, record)), complete: true }
}

fn planned(session: &Session, order: &Order, at: &Object) -> Result<Work, RestartError> {
    let Some(object) = session.get(at)? else { return Err(gather::not_found(session, at)) };
    let facts = gather::gather(session, order.kind, at, object)?;
    let mut plan = match order.kind {
        Kind::Job => job::plan(&facts, order),
        Kind::CronJob => cron_job::plan(&facts, order),
        Kind::JobSet => job_set::plan(&facts, order),
        Kind::Deployment | Kind::StatefulSet | Kind::DaemonSet => rollout::plan(&facts, order),
        Kind::LeaderWorkerSet => leader_worker_set::plan(&facts, order),
        Kind::Sandbox => sandbox::plan(&facts, order),
    };
    plan.leave_out_what_would_not_help();
    plan.notes.extend(facts.unread.iter().cloned());
    Ok(Work { plan, uid: uid(&facts.object).to_owned(), facts: Some(facts), begun: None, complete: false })
}

fn report(order: &Order, work: &mut Work) -> Restart {
    let plan = &mut work.plan;
    Restart {
        api_version: API_VERSION,
        kind: "Restart",
        subject: WorkloadRef {
            kind: order.kind.kind().into(),
            namespace: order.namespace.as_str().into(),
            name: order.name.as_str().into(),
            uid: Some(work.uid.as_str().into()),
            cluster: None,
        },
        summary: plan.summary.clone(),
        dry_run: order.dry_run,
        outcome: RestartOutcome::DryRun,
        refusals: std::mem::take(&mut plan.refusals),
        notes: plan.notes.clone(),
        loses: plan.loses.clone(),
        steps: plan.steps.iter().map(Step::report).collect(),
        saved_to: work.begun.as_ref().map(|(folder, _)| folder.path().display().to_string()),
        next: plan.next.clone(),
    }
}

/// The rights, then a dry run of every write.
fn check(session: &Session, order: &Order, steps: &[Step], restart: &mut Restart) {
    let rights_there = order.commands.kubectl(&["auth", "can-i", "--list"]);
    let (missing, unknown) = rights(session, steps, &rights_there);
    restart.notes.extend(unknown);
    if let Some(missing) = missing {
        restart.refusals.push(missing);
        return;
    }
    for (position, step) in steps.iter().enumerate() {
        match dry_run(session, &step.action, order.now) {
            Verdict::NothingSent => {}
            Verdict::Accepted => restart.steps[position].state = StepState::DryRun,
            Verdict::Rejected(error) => {
                let message = error.to_string();
                let way_out = way_out(&message);
                if order.force && way_out.is_some() {
                    restart.notes.push(format!("not checked by the server: {} ({message})", step.text));
                    continue;
                }
                restart.steps[position].state = StepState::Failed;
                restart.steps[position].message = Some(message.clone());
                restart.refusals.push(rejected(order, &step.text, &message, way_out));
            }
        }
    }
}

/// Why the server may take a write although it refuses a dry run of it.
fn way_out(message: &str) -> Option<&'static str> {
    if message.contains("exceeded quota") {
        Some("the quota counts the old one, too, which is deleted first: if that is all, go on with --force")
    } else if message.contains("does not support dry run") {
        Some("a webhook cannot be asked without consequences: go on with --force")
    } else {
        None
    }
}

fn rejected(order: &Order, step: &str, message: &str, way_out: Option<&str>) -> RestartRefusal {
    let subject = order.subject();
    let (advice, commands) = match way_out {
        Some(way_out) => (way_out, vec![order.again_with("--force")]),
        // The object as it is was taken once: what is wrong is most likely in the change.
        None if order.patch.is_some() => ("mend --patch, or else what it says, and run it again", Vec::new()),
        None => ("mend what it says, and run it again", vec![order.look()]),
    };
    RestartRefusal {
        reason: RefusalReason::DryRunFailed,
        message: format!("{subject} is left as it is, as the server would not {step}: {message}; {advice}"),
        commands,
    }
}

/// The folder and the record, on the disk before the first write; `None` where that could not be saved which was asked for.
fn begin(
    session: &Session,
    order: &Order,
    at: &Object,
    work: Work,
    restart: &mut Restart,
) -> Result<Option<(Folder, Record)>, RestartError> {
    let Work { plan, uid, facts, begun, complete: _ } = work;
    if let Some(begun) = begun {
        return Ok(Some(begun));
    }
    let time = order.now.to_string().replace([':', '-'], "");
    let name = format!("{time}-{}-{}-{}", order.namespace, order.kind.name(), order.name);
    let folder = Folder::create(&order.save_to, &name)?;
    if let Some(facts) = &facts {
        let not_saved = evidence::save(&folder, session, order.kind, facts, &plan, order.save_logs)?;
        if !not_saved.lost.is_empty() {
            refuse_to_lose(order, &not_saved.lost, &folder, restart);
            return Ok(None);
        }
        for line in not_saved.not_there {
            session.say(&format!("not saved: {line}"));
            restart.notes.push(format!("not saved: {line}"));
        }
    }
    let mut record = Record::new(session.server(), at, &uid, order.now, &plan.summary);
    record.steps = plan.steps;
    record.next = plan.next;
    record.flags.clone_from(&order.flags);
    record.save(&folder)?;
    restart.saved_to = Some(folder.path().display().to_string());
    Ok(Some((folder, record)))
}

/// Whoever asks for logs does so because they are about to be lost: the restart is not begun without them.
fn refuse_to_lose(order: &Order, lost: &[String], folder: &Folder, restart: &mut Restart) {
    let flags: Vec<String> = order.flags.iter().filter(|flag| *flag != "--save-logs").cloned().collect();
    restart.saved_to = Some(folder.path().display().to_string());
    restart.outcome = RestartOutcome::Refused;
    restart.refusals.push(RestartRefusal {
        reason: RefusalReason::LogsNotSaved,
        message: format!(
            "{} is left as it is, as not all logs could be saved before it: {}; run it again, or without --save-logs; what \
             could be saved is in {}",
            order.subject(),
            lost.join("; "),
            folder.path().display()
        ),
        commands: vec![order.commands.again(order.kind.name(), &order.name, &flags, "--yes")],
    });
}

/// Does what is left. The steps of `restart` are those.
fn carry_out_all(
    session: &Session,
    order: &Order,
    (folder, mut record): (&Folder, Record),
    restart: &mut Restart,
    console: &mut dyn Console,
) -> Result<(), RestartError> {
    // What is begun is recorded, and what is left is said, whatever ends it.
    session.heed_interrupts()?;
    for step in &mut restart.steps {
        step.state = StepState::Planned;
    }
    let left: Vec<Step> = record.left().to_vec();
    for (position, step) in left.iter().enumerate() {
        let reported = &mut restart.steps[position];
        let begun = record.under_way;
        let performed = if session.is_interrupted() {
            Err(Failure::open("interrupted before it was begun".to_owned()))
        } else {
            record.under_way = true;
            write_down(session, &record, folder, begun, &mut restart.notes)?;
            console.begins(reported);
            let write = if record.done == 0 { Duration::ZERO } else { order.timeout };
            let patience = Patience { wait: order.timeout, write };
            carry_out::perform(session, &step.action, patience, begun)
        };
        (reported.state, reported.message) = match &performed {
            Ok(message) => (StepState::Done, message.clone()),
            Err(failure) => (StepState::Failed, Some(failure.message.clone())),
        };
        console.ended(reported);
        if let Err(failure) = performed {
            record.finished = failure.overtaken;
            write_down(session, &record, folder, true, &mut restart.notes)?;
            restart.outcome = RestartOutcome::Failed;
            restart.next = how_to_go_on(order, &record, folder);
            return Ok(());
        }
        record.done += 1;
        record.under_way = false;
        record.finished = record.left().is_empty();
        write_down(session, &record, folder, true, &mut restart.notes)?;
    }
    restart.outcome = RestartOutcome::Done;
    Ok(())
}

/// Writes down how far it is. Once something may have been changed, a full disk must not end it halfway: what the cluster
/// holds tells the next run the rest.
fn write_down(
    session: &Session,
    record: &Record,
    folder: &Folder,
    begun: bool,
    notes: &mut Vec<String>,
) -> Result<(), RestartError> {
    let Err(error) = record.save(folder) else { return Ok(()) };
    if record.done == 0 && !begun {
        return Err(error);
    }
    let note = unwritten(&error);
    if !notes.contains(&note) {
        session.say(&note);
        notes.push(note);
    }
    Ok(())
}

fn unwritten(error: &RestartError) -> String {
    let what = match error {
        RestartError::Folder { path, why } => format!("{}: {why}", path.display()),
        error => error.to_string(),
    };
    format!("how far it is could not be written down ({what}); it goes on, and the cluster tells the next run the rest")
}

/// The same command; and, where the creation is what comes next, kubectl's own. Whom somebody else has overtaken looks
/// first at what they did.
fn how_to_go_on(order: &Order, record: &Record, folder: &Folder) -> Vec<String> {
    if record.finished {
        return vec![order.look()];
    }
    let mut commands = vec![order.again_with("--yes")];
    commands.extend(by_hand(order, record, folder));
    commands
}

/// kubectl's own command for the next step, where there is one. While the old object is there its name is taken, and what is
/// suspended waits for its pods.
fn by_hand(order: &Order, record: &Record, folder: &Folder) -> Option<String> {
    match &record.left().first()?.action {
        Action::Create { .. } => {
            let manifest = folder.path().join(MANIFEST).display().to_string();
            Some(order.commands.kubectl(&["create", "-f", &manifest]))
        }
        Action::Patch { object, body } if record.done > 0 => {
            Some(order.commands.merge(&object.resource, &object.name, &body.to_string()))
        }
        _ => None,
    }
}
