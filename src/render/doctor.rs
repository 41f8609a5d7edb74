use std::io::{self, Write};

use owo_colors::OwoColorize;
use unicode_width::UnicodeWidthStr;

use super::Look;
use super::text::{one_line, wrap};
use crate::report::{
    Doctor, DoctorAuthority, DoctorClock, DoctorConnection, DoctorFileState, DoctorGroup, DoctorGroupState,
    DoctorNamedBy, DoctorNamespaceState, DoctorProxyReason, DoctorRight, DoctorRightState, DoctorServer, DoctorSignIn,
    DoctorSignInBy, DoctorStepName, DoctorStepState, DoctorSupport, DoctorTier,
};
use crate::words::list_names;

/// The first line is the answer.
pub(super) fn print(doctor: &Doctor, look: Look, out: &mut impl Write) -> io::Result<()> {
    for line in wrap(&one_line(&doctor.summary), look.width) {
        writeln!(out, "{}", bold(&line, look))?;
    }
    writeln!(out, "as of {}", doctor.as_of)?;
    if let Some(problem) = &doctor.problem {
        let steps = doctor.steps.iter().map(|step| match step.state {
            DoctorStepState::Passed => format!("{} ok", step_name(step.name)),
            DoctorStepState::Failed => format!("{} FAILED", step_name(step.name)),
            DoctorStepState::NotReached => format!("{} -", step_name(step.name)),
        });
        writeln!(out)?;
        rows(
            &[
                ("Failed at".to_owned(), step_name(problem.step).to_owned()),
                ("What to do".to_owned(), problem.fix.clone()),
                ("Steps".to_owned(), steps.collect::<Vec<_>>().join(", ")),
            ],
            look,
            out,
        )?;
    }
    writeln!(out)?;
    rows(&facts(doctor), look, out)?;
    groups(doctor, look, out)?;
    tiers(doctor, look, out)?;
    missing(doctor, look, out)?;
    if !doctor.grants.is_empty() {
        title("To grant them, as somebody who may, in a clone of the project (rbac/ is a folder of it)", look, out)?;
        for grant in &doctor.grants {
            writeln!(out, "  # {}: {}", grant.tier, one_line(&grant.text))?;
            for command in &grant.commands {
                writeln!(out, "  {}", one_line(command))?;
            }
        }
    }
    if !doctor.notes.is_empty() {
        title("Notes", look, out)?;
        for note in &doctor.notes {
            hanging("  - ", &one_line(note), look, out)?;
        }
    }
    Ok(())
}

const fn step_name(step: DoctorStepName) -> &'static str {
    match step {
        DoctorStepName::Kubeconfig => "kubeconfig",
        DoctorStepName::Context => "context",
        DoctorStepName::Settings => "settings",
        DoctorStepName::Credentials => "credentials",
        DoctorStepName::NameLookup => "name lookup",
        DoctorStepName::Connection => "connection",
        DoctorStepName::Tls => "TLS",
        DoctorStepName::Answer => "answer",
        DoctorStepName::SignIn => "sign-in",
    }
}

/// Names and what is told of them.
fn facts(doctor: &Doctor) -> Vec<(String, String)> {
    let mut facts: Vec<(&str, String)> = Vec::new();
    let commit = doctor.tool.commit.as_ref().map_or_else(String::new, |commit| format!(" ({commit})"));
    facts.push(("Tool", format!("kubectl-sigapps {}{commit}, {}", doctor.tool.version, doctor.tool.platform)));
    facts.push(("Kubeconfig", kubeconfig(doctor)));
    if let Some(connection) = &doctor.connection {
        facts.push(("Context", connection.context.clone()));
        let scheme = if connection.secure { "https" } else { "http" };
        facts.push(("Server", format!("{}, {scheme}", connection.server)));
        facts.push(("Signs in", sign_in(connection)));
        facts.push(("Proxy", proxy(connection)));
        facts.push(("TLS", tls(connection)));
    }
    if let Some(server) = &doctor.server {
        facts.push(("Version", version(server)));
        facts.push(("Answers", answers(server)));
        facts.push(("Clock", server.clock.map_or_else(|| "not known: the server tells no time".to_owned(), clock)));
    }
    if let Some(namespace) = &doctor.namespace {
        let state = match namespace.state {
            DoctorNamespaceState::Ending => ", which is being deleted",
            DoctorNamespaceState::Absent => ", which is not there",
            DoctorNamespaceState::Unknown if namespace.name.is_some() && doctor.server.is_some() => {
                "; whether it is there may not be asked"
            }
            DoctorNamespaceState::There | DoctorNamespaceState::Unknown => "",
        };
        facts.push(("Namespace", format!("{}{state}", namespace.name.as_deref().unwrap_or("all"))));
    }
    for feature in &doctor.features {
        let there = feature.there.map_or("unknown", |there| if there { "yes" } else { "no" });
        facts.push(("Feature", format!("{}: {there}; {}", feature.name, feature.message)));
    }
    facts.into_iter().map(|(name, text)| (name.to_owned(), text)).collect()
}

fn kubeconfig(doctor: &Doctor) -> String {
    let files = doctor.kubeconfig.files.iter().map(|file| match (file.state, &file.message) {
        (DoctorFileState::Read, _) => file.path.clone(),
        (DoctorFileState::Absent, _) => format!("{} (not there)", file.path),
        (DoctorFileState::Unreadable, why) => format!("{} ({})", file.path, why.as_deref().unwrap_or("unreadable")),
    });
    let files: Vec<String> = files.collect();
    let by = match doctor.kubeconfig.named_by {
        DoctorNamedBy::Flag => "by --kubeconfig",
        DoctorNamedBy::Variable => "by KUBECONFIG",
        DoctorNamedBy::Default => "the default",
    };
    let contexts = match doctor.kubeconfig.contexts {
        1 => "1 context".to_owned(),
        contexts => format!("{contexts} contexts"),
    };
    if files.is_empty() {
        "none: there is no home folder".to_owned()
    } else {
        format!("{}; {by}; {contexts}", files.join(", "))
    }
}

fn sign_in(connection: &DoctorConnection) -> String {
    let one = |sign_in: &DoctorSignIn| {
        let name = sign_in.name.as_deref().unwrap_or_default();
        match sign_in.by {
            DoctorSignInBy::ServiceAccount => "the pod's service account".to_owned(),
            DoctorSignInBy::Plugin => format!("credential plugin {name}"),
            DoctorSignInBy::Token => "token".to_owned(),
            DoctorSignInBy::TokenFile => format!("token of {name}"),
            DoctorSignInBy::Certificate => "client certificate".to_owned(),
            DoctorSignInBy::Password => "name and password".to_owned(),
            DoctorSignInBy::Provider => format!("provider {name}"),
        }
    };
    let by = match &connection.sign_in[..] {
        [] => "without credentials".to_owned(),
        all => all.iter().map(one).collect::<Vec<_>>().join(", "),
    };
    match &connection.impersonates {
        Some(user) => format!("{by}; acts as {user}"),
        None => by,
    }
}

fn proxy(connection: &DoctorConnection) -> String {
    let proxy = &connection.proxy;
    let variable = proxy.variable.unwrap_or_default();
    let url = proxy.url.as_deref().unwrap_or_default();
    match proxy.because {
        DoctorProxyReason::Flag => format!("{url}, by --proxy-url"),
        DoctorProxyReason::Kubeconfig => format!("{url}, by the kubeconfig's proxy-url"),
        DoctorProxyReason::Variable => format!("{url}, by {variable}"),
        DoctorProxyReason::NoneSet => "none: none is set".to_owned(),
        DoctorProxyReason::Loopback => "none: the server is this machine".to_owned(),
        DoctorProxyReason::NoProxy => format!("none: {variable} names the server"),
    }
}

fn tls(connection: &DoctorConnection) -> String {
    let Some(tls) = &connection.tls else { return "none".to_owned() };
    let checked = match tls.authority {
        DoctorAuthority::Given => "checked against the kubeconfig's authority".to_owned(),
        DoctorAuthority::File => format!("checked against {}", tls.file.as_deref().unwrap_or("a file")),
        DoctorAuthority::System => "checked against what this machine trusts".to_owned(),
        DoctorAuthority::Unchecked => "NOT checked (insecure-skip-tls-verify)".to_owned(),
    };
    match &tls.server_name {
        Some(name) => format!("{checked}, for the name {name}"),
        None => checked,
    }
}

fn version(server: &DoctorServer) -> String {
    let [oldest, newest] = &server.tested;
    let version = server.version.as_deref().unwrap_or("not told");
    let platform = server.platform.as_ref().map_or_else(String::new, |platform| format!(", {platform}"));
    let support = match server.support {
        DoctorSupport::Tested => "tested",
        DoctorSupport::Older => "older than what is tested, read all the same",
        DoctorSupport::Newer => "newer than what is tested, read all the same",
        DoctorSupport::Unknown => "whether it is tested is not known",
    };
    format!("{version}{platform}; {support} (Kubernetes {oldest} to {newest})")
}

fn answers(server: &DoctorServer) -> String {
    let first = format!("the first, with the connection, in {}", seconds(server.first_answer_seconds));
    match server.answer_seconds {
        Some(next) => format!("in {}; {first}", seconds(next)),
        None => first,
    }
}

/// As a bound: more is not known.
fn clock(clock: DoctorClock) -> String {
    let (least, most) = (clock.ahead_at_least, clock.ahead_at_most);
    if least > 0.0 {
        format!("the server's is {} to {} ahead of this machine's", seconds(least), seconds(most))
    } else if most < 0.0 {
        format!("the server's is {} to {} behind this machine's", seconds(-most), seconds(-least))
    } else {
        format!("the server's and this machine's differ by at most {}", seconds(most.max(-least)))
    }
}

fn seconds(seconds: f64) -> String {
    if seconds < 1.0 { format!("{:.0} ms", seconds * 1000.0) } else { format!("{seconds:.1} s") }
}

fn groups(doctor: &Doctor, look: Look, out: &mut impl Write) -> io::Result<()> {
    if doctor.groups.is_empty() {
        return Ok(());
    }
    let row = |group: &DoctorGroup| {
        let told = match (group.state, &group.reads) {
            (DoctorGroupState::NotInstalled, _) => "not installed".to_owned(),
            (DoctorGroupState::Unknown, _) => {
                format!("not known: {}", group.message.as_deref().unwrap_or("the server does not tell"))
            }
            (DoctorGroupState::Served, None) => format!("{}: none that is read", group.versions.join(", ")),
            (DoctorGroupState::Served, Some(reads)) => {
                let others: Vec<&str> =
                    group.versions.iter().filter(|version| *version != reads).map(String::as_str).collect();
                let others = if others.is_empty() { String::new() } else { format!(", not {}", others.join(", ")) };
                let lacks = if group.lacks.is_empty() {
                    String::new()
                } else {
                    format!("; it lacks {}", group.lacks.join(", "))
                };
                let unsure =
                    group.message.as_ref().map_or_else(String::new, |why| format!("; what it has is not known: {why}"));
                format!("reads {reads}{others}{lacks}{unsure}")
            }
        };
        (group.name.clone(), told)
    };
    title("API groups", look, out)?;
    indented(&doctor.groups.iter().map(row).collect::<Vec<_>>(), look, out)
}

fn tiers(doctor: &Doctor, look: Look, out: &mut impl Write) -> io::Result<()> {
    if doctor.tiers.is_empty() {
        return Ok(());
    }
    let row = |tier: &DoctorTier| {
        let asked = tier.rights.len() - tier.not_installed;
        let mut told = match (tier.denied, tier.unknown) {
            (0, 0) => format!("all {asked}"),
            (denied, _) if denied == asked => format!("none of {asked}"),
            (0, unknown) if unknown == asked => "not known".to_owned(),
            (0, unknown) => format!("{} of {asked}, {unknown} not known", tier.allowed),
            (denied, 0) => format!("all but {denied} of {asked}"),
            (denied, unknown) => format!("{} of {asked}, {denied} denied, {unknown} not known", tier.allowed),
        };
        if tier.not_installed > 0 {
            told = format!("{told}; {} more are for what is not installed", tier.not_installed);
        }
        (tier.name.to_owned(), told)
    };
    title("Rights", look, out)?;
    indented(&doctor.tiers.iter().map(row).collect::<Vec<_>>(), look, out)
}

/// What is not there, with what is lost by it. Of a tier of which nothing is there, that alone is told.
fn missing(doctor: &Doctor, look: Look, out: &mut impl Write) -> io::Result<()> {
    let mut lines: Vec<(String, String)> = Vec::new();
    for tier in &doctor.tiers {
        let asked = tier.rights.len() - tier.not_installed;
        if asked > 0 && tier.denied == asked {
            let reason = reasons(tier.rights.iter());
            lines.push((tier.name.to_owned(), format!("all of it: {}{reason}", tier.without)));
            continue;
        }
        for state in [DoctorRightState::Denied, DoctorRightState::Unknown] {
            lines.extend(lost(tier, state).into_iter().map(|line| (tier.name.to_owned(), line)));
        }
    }
    if lines.is_empty() {
        return Ok(());
    }
    title("Missing, and what is lost by it", look, out)?;
    indented(&lines, look, out)
}

/// One line for all rights with which the same is lost.
fn lost(tier: &DoctorTier, state: DoctorRightState) -> Vec<String> {
    let rights: Vec<&DoctorRight> = tier.rights.iter().filter(|right| right.state == state).collect();
    let mut lost: Vec<&str> = Vec::new();
    for right in &rights {
        if !lost.contains(&right.without) {
            lost.push(right.without);
        }
    }
    let line = |without: &str| {
        let of = || rights.iter().filter(move |right| right.without == without).copied();
        let mut verbs: Vec<&str> = Vec::new();
        let mut resources: Vec<String> = Vec::new();
        for right in of() {
            let resource = match &right.name {
                Some(name) => format!("{}/{name}", right.resource),
                None => right.resource.clone(),
            };
            if !verbs.contains(&right.verb.as_str()) {
                verbs.push(&right.verb);
            }
            if !resources.contains(&resource) {
                resources.push(resource);
            }
        }
        let unknown = if state == DoctorRightState::Unknown { "not known whether: " } else { "" };
        let reasons = reasons(of());
        format!("{unknown}{} {}: {without}{reasons}", verbs.join(", "), list_names(&resources, 8))
    };
    lost.into_iter().map(line).collect()
}

/// What was said of them, each once.
fn reasons<'a>(rights: impl Iterator<Item = &'a DoctorRight>) -> String {
    let mut reasons: Vec<&str> = Vec::new();
    for reason in rights.filter_map(|right| right.reason.as_deref()) {
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    if reasons.is_empty() { String::new() } else { format!(" ({})", list_names(&reasons, 2)) }
}

fn title(title: &str, look: Look, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "\n{}", bold(title, look))
}

fn indented(rows: &[(String, String)], look: Look, out: &mut impl Write) -> io::Result<()> {
    let widest = rows.iter().map(|(name, _)| name.width()).max().unwrap_or_default();
    let mut before = "";
    for (name, text) in rows {
        // Of several rows of one name the first has it.
        let shown = if name == before { "" } else { name };
        before = name;
        hanging(&format!("  {shown}{:gap$}", "", gap = widest + 2 - shown.width()), &one_line(text), look, out)?;
    }
    Ok(())
}

fn rows(rows: &[(String, String)], look: Look, out: &mut impl Write) -> io::Result<()> {
    let widest = rows.iter().map(|(name, _)| name.width()).max().unwrap_or_default();
    for (name, text) in rows {
        hanging(&format!("{name}{:gap$}", "", gap = widest + 2 - name.width()), &one_line(text), look, out)?;
    }
    Ok(())
}

/// A text behind a lead, in lines that begin below each other.
fn hanging(lead: &str, text: &str, look: Look, out: &mut impl Write) -> io::Result<()> {
    let room = look.width.saturating_sub(lead.width()).max(20);
    for (number, part) in wrap(text, room).into_iter().enumerate() {
        if number == 0 {
            writeln!(out, "{lead}{part}")?;
        } else {
            writeln!(out, "{:lead$}{part}", "", lead = lead.width())?;
        }
    }
    Ok(())
}

fn bold(text: &str, look: Look) -> String {
    if look.color { text.bold().to_string() } else { text.to_owned() }
}
