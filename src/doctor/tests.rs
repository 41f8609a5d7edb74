use std::collections::BTreeSet;
use std::time::Duration;

use super::*;
use crate::render::{DoctorFormat, Look};
use crate::source::cluster::{
    Answer, Authority, Exchange, GroupFound, LookedAt, NamedBy, ProxyReason, ProxyUsed, ServerVersion, SignIn,
};

/// 2026-11-30T09:14:31Z, in seconds.
const NOW: i64 = 1_796_030_071;

fn way() -> Way {
    Way {
        files: vec![
            LookedAt { path: "~/.kube/config".into(), there: true, error: None },
            LookedAt { path: "/etc/more".into(), there: false, error: None },
        ],
        named_by: NamedBy::Variable,
        contexts: 3,
        name: Some("kind-dev".into()),
        namespace: Some("ml-team".into()),
        server: Some("127.0.0.1:6443".into()),
        secure: true,
        sign_in: vec![SignIn::Plugin("aws".into())],
        impersonates: None,
        proxy: Some(ProxyUsed { url: None, because: ProxyReason::Loopback }),
        authority: Some(Authority::Given),
        tls_server_name: None,
        error: None,
    }
}

/// A server that has JobSet and nothing else beside Kubernetes, and that answers each question by `answer`.
fn checkup(tiers: &[Tier], namespace: Option<&str>, answer: impl Fn(&str) -> Answer) -> Checkup {
    let groups = groups().into_iter().map(|(name, _)| {
        let versions: &[&str] = match name {
            "batch" | "apps" => &["v1"],
            "jobset.x-k8s.io" => &["v1beta1", "v1alpha2"],
            _ => &[],
        };
        let versions = versions.iter().map(ToString::to_string).collect();
        GroupFound { name: name.into(), versions, lacks: Ok(Vec::new()) }
    });
    let groups: Vec<GroupFound> = groups.collect();
    let rights = questions(tiers, namespace).into_iter().map(|question| {
        let absent = groups.iter().any(|group| group.name == question.group && group.versions.is_empty());
        let slash = if question.subresource.is_empty() { "" } else { "/" };
        let right = format!("{} {}{slash}{}", question.verb, question.resource, question.subresource);
        if absent { Answer::NotInstalled } else { answer(&right) }
    });
    Checkup {
        version: Ok(ServerVersion { git_version: "v1.37.2".into(), platform: Some("linux/amd64".into()) }),
        first: Exchange {
            sent: NOW * 1000 + 200,
            took: Duration::from_millis(48),
            date: Some("Mon, 30 Nov 2026 09:14:31 GMT".into()),
        },
        second: Some(Exchange { sent: NOW * 1000 + 260, took: Duration::from_millis(7), date: None }),
        who: Who::Named("jane".into()),
        namespace: NamespaceFound::There,
        rule_names: Ok(false),
        rights: rights.collect(),
        groups: Ok(groups),
    }
}

fn judged(all_namespaces: bool, answer: impl Fn(&str) -> Answer) -> Doctor {
    let tiers = tiers().unwrap();
    let namespace = (!all_namespaces).then_some("ml-team");
    let checkup = checkup(&tiers, namespace, answer);
    let tool = DoctorTool { version: "0.1.0".into(), commit: Some("2d0d03c".into()), platform: "linux/amd64".into() };
    let kubectl = Kubectl::default();
    let about = About { tool, all_namespaces, now: Time::from_seconds(NOW), tiers: &tiers, kubectl: &kubectl };
    judge(way(), Some(Ok(checkup)), &about)
}

fn denied(rights: &'static [&'static str]) -> impl Fn(&str) -> Answer {
    move |right| if rights.contains(&right) { Answer::Denied(None) } else { Answer::Allowed }
}

fn text(doctor: &Doctor) -> String {
    let mut out = Vec::new();
    let look = Look { width: 120, color: false, headers: true };
    crate::render::doctor(doctor, DoctorFormat::Text, look, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// docs/doctor.md shows what is printed, to the letter. `RECIPES_WRITE=1` writes it anew.
#[test]
fn the_documents_example_is_what_is_printed() {
    let printed =
        text(&judged(false, denied(&["get nodes", "get namespaces", "list nodes", "watch nodes", "delete pods"])));
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/doctor.md");
    let document = std::fs::read_to_string(path).unwrap();
    let command = "$ kubectl sigapps doctor -n ml-team\n";
    let (before, after) = document.split_once(command).unwrap();
    let (shown, rest) = after.split_once("```").unwrap();
    if std::env::var_os("RECIPES_WRITE").is_some() {
        return std::fs::write(path, format!("{before}{command}{printed}```{rest}")).unwrap();
    }
    assert_eq!(shown, printed, "{printed}");
}

#[test]
fn the_summary_counts_what_is_read_and_names_what_else_is_not_all_there() {
    for (answer, expected) in [
        (denied(&[]), "can read ns ml-team of kind-dev (v1.37.2): all rights"),
        (denied(&["delete pods"]), "can read ns ml-team of kind-dev (v1.37.2): all rights; not all for restart"),
        (
            // In the core it would be another answer; in workloads and context it is one right each.
            denied(&["list cronjobs", "get nodes"]),
            "can read ns ml-team of kind-dev (v1.37.2): all but 2 rights; not all for record",
        ),
        (
            denied(&["list pods", "get jobs"]),
            "cannot read ns ml-team of kind-dev (v1.37.2): denied: list pods, get jobs.batch",
        ),
    ]
    .map(|(answer, expected)| (Box::new(answer) as Box<dyn Fn(&str) -> Answer>, expected))
    {
        assert_eq!(judged(false, answer).summary, expected);
    }
}

#[test]
fn one_right_that_is_not_known_is_no_yes() {
    let unknown = |right: &str| match right {
        "get pods" => Answer::Unknown("no answer within 15 s".into()),
        _ => Answer::Allowed,
    };
    let doctor = judged(false, unknown);
    assert_eq!(doctor.can_read, None);
    let expected = "cannot tell whether ns ml-team of kind-dev (v1.37.2) can be read: no answer within 15 s";
    assert_eq!(doctor.summary, expected);
    assert!(doctor.grants.is_empty(), "what is not known is not asked for: {:?}", doctor.grants);
    let text = text(&doctor);
    assert!(text.contains("not known whether: get pods: no report on a Job or pod"), "{text}");
}

#[test]
fn of_all_namespaces_nodes_come_with_their_role() {
    let commands = |all| -> BTreeSet<String> {
        judged(all, denied(&["get nodes"])).grants.into_iter().flat_map(|grant| grant.commands).collect()
    };
    let all = commands(true);
    assert!(all.contains("kubectl apply -f rbac/context.yaml") && all.len() == 2, "{all:?}");
    let one = commands(false);
    assert!(
        one.contains("kubectl create clusterrole kubectl-sigapps-context-nodes --verb=get --resource=nodes"),
        "{one:?}"
    );
    assert_eq!(one.len(), 2);
}

#[test]
fn every_published_role_is_in_a_tier_and_every_resource_in_one_to_read() {
    let tiers = tiers().unwrap();
    let folder = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/rbac")).unwrap();
    for path in folder.map(|entry| entry.unwrap().path()) {
        let text = std::fs::read_to_string(&path).unwrap();
        for role in text.lines().filter_map(|line| line.strip_prefix("  name: ")) {
            let known = tiers.iter().flat_map(|tier| &tier.rights).any(|right| right.role == role);
            assert!(known || !text.contains("kind: ClusterRole\n"), "{role} of {} is in no tier", path.display());
        }
    }
    for tier in &tiers {
        assert!(!tier.rights.is_empty(), "{tier:?}");
        assert!(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(&tier.file).is_file(), "{}", tier.file);
    }
    for resource in Resource::ALL {
        let reads = |tier: &&Tier| ["core", "workloads", "context"].contains(&tier.name);
        let rights = tiers.iter().filter(reads).flat_map(|tier| &tier.rights);
        let found = rights.filter(|right| right.rbac_name() == resource.rbac_name()).count();
        assert!(found > 0, "no published role lets {} be read", resource.rbac_name());
    }
}

#[test]
fn what_is_lost_is_told_in_the_words_of_the_documents() {
    let document = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/rbac.md")).unwrap();
    let told = document.replace('`', "");
    for tier in tiers().unwrap() {
        for words in tier.without.split("; ") {
            assert!(told.contains(words), "docs/rbac.md says nothing of {words:?}");
        }
        for right in &tier.rights {
            let words = right.without(tier.name);
            assert!(told.contains(words), "docs/rbac.md says nothing of {words:?}");
        }
    }
}

#[test]
fn questions_are_asked_once_and_of_what_has_no_namespace_without_one() {
    let asked = questions(&tiers().unwrap(), Some("ml"));
    let once: BTreeSet<_> = asked.iter().collect();
    assert_eq!(once.len(), asked.len());
    let wide: BTreeSet<&str> =
        asked.iter().filter(|question| question.namespace.is_none()).map(|question| &*question.resource).collect();
    assert_eq!(wide, BTreeSet::from(["namespaces", "nodes"]));
    let log = asked.iter().find(|question| question.subresource == "log").unwrap();
    assert_eq!((log.resource.as_str(), log.verb.as_str()), ("pods", "get"));
    let named: Vec<&str> = asked.iter().map(|question| &*question.name).filter(|name| !name.is_empty()).collect();
    assert_eq!(named, ["kube-system"]);
}

#[test]
fn the_clocks_difference_is_a_sentence() {
    let mut doctor = judged(false, denied(&[]));
    for (least, most, expected) in [
        (-0.25, 0.8, "the server's and this machine's differ by at most 800 ms"),
        (299.9, 301.0, "the server's is 299.9 s to 301.0 s ahead of this machine's"),
        (-3.5, -2.4, "the server's is 2.4 s to 3.5 s behind this machine's"),
    ] {
        let clock = crate::report::DoctorClock { ahead_at_least: least, ahead_at_most: most };
        doctor.server.as_mut().unwrap().clock = Some(clock);
        assert!(text(&doctor).contains(&format!("Clock       {expected}\n")), "{}", text(&doctor));
    }
}

#[test]
fn text_of_the_cluster_does_not_move_the_cursor() {
    let doctor = judged(false, |_| Answer::Denied(Some("\u{1b}[2Jno\nway".into())));
    let text = text(&doctor);
    assert!(!text.contains('\u{1b}') && text.contains("(no way)"), "{text}");
}
