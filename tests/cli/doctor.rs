use crate::support::{project, run};

#[test]
fn without_a_cluster_it_says_so_and_tells_the_rest() {
    let ran = run(&["doctor"]).env("COLUMNS", "100").done();
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""));
    let mut lines = ran.stdout.lines();
    assert_eq!(lines.next(), Some("cannot find a cluster: no kubeconfig is there, and this is not a pod in a cluster"));
    assert!(lines.next().unwrap().starts_with("as of 20"));
    let rest: Vec<&str> = lines.collect();
    let tool = rest.iter().find(|line| line.starts_with("Tool ")).copied().unwrap_or_default();
    assert!(tool.starts_with(&format!("Tool        kubectl-sigapps {}", env!("CARGO_PKG_VERSION"))), "{tool}");
    assert_eq!(
        rest,
        [
            "",
            "Failed at   kubeconfig",
            "What to do  name one with --kubeconfig or KUBECONFIG, or have it made by what made the cluster; a",
            "            dump is read without: kubectl sigapps failures -f FILE",
            "Steps       kubeconfig FAILED, context -, settings -, credentials -, name lookup -, connection -,",
            "            TLS -, answer -, sign-in -",
            "",
            tool,
            "Kubeconfig  ~/.kube/config (not there); the default; 0 contexts",
        ]
    );
}

#[test]
fn the_kubeconfig_files_are_told_with_what_became_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let good = folder.path().join("good");
    std::fs::write(&good, "contexts: [{name: a, context: {cluster: c}}, {name: b, context: {cluster: c}}]").unwrap();
    let list = std::env::join_paths([folder.path().join("none"), good.clone()]).unwrap();
    let home = folder.path().to_str().unwrap();
    let ran = run(&["doctor"]).env("HOME", home).env("KUBECONFIG", list.to_str().unwrap()).done();
    assert!(
        ran.stdout.contains("Kubeconfig  ~/none (not there), ~/good; by KUBECONFIG; 2 contexts\n"),
        "{}",
        ran.stdout
    );
    let ran = run(&["doctor", "--kubeconfig", good.to_str().unwrap(), "--context", "c"]).done();
    assert!(
        ran.stdout.starts_with("cannot find a cluster: there is no context \"c\" in the kubeconfig; there are a, b\n")
    );
    assert!(ran.stdout.contains("/good; by --kubeconfig; 2 contexts\n"), "{}", ran.stdout);
}

#[test]
fn single_fields_are_cut_out_and_other_formats_refused() {
    let fields = |output: &str| run(&["doctor", "-o", output]).done();
    let ran = fields("jsonpath={.kind} {.problem.step}");
    assert_eq!((ran.code, ran.stdout.as_str()), (1, "Doctor kubeconfig"));
    let ran = fields("custom-columns=STEP:.problem.step");
    assert_eq!(ran.stdout, "STEP\nkubeconfig\n");
    assert!(fields("yaml").stdout.starts_with("apiVersion: kubectl-sigapps/v1alpha1\nkind: Doctor\n"));
    let ran = fields("wide");
    assert_eq!(ran.code, 2, "{ran:?}");
}

#[test]
fn usage_that_cannot_be_is_refused() {
    run(&["doctor", "-A", "-n", "ml"]).done().refused(2, &["-A and -n exclude each other"]);
    run(&["doctor", "--context", "a", "--context", "b"]).done().refused(2, &["give one --context"]);
}

#[test]
fn the_schema_is_the_published_one() {
    let published = std::fs::read_to_string(project().join("docs/schema/doctor.v1alpha1.json")).unwrap();
    assert_eq!(run(&["schema", "doctor"]).output(), published);
}

#[test]
fn the_document_names_every_field_and_value() {
    let document = std::fs::read_to_string(project().join("docs/doctor.md")).unwrap();
    let published = std::fs::read_to_string(project().join("docs/schema/doctor.v1alpha1.json")).unwrap();
    let schema: serde_json::Value = serde_json::from_str(&published).unwrap();
    let (mut properties, mut values) = Default::default();
    super::documents::walk(&schema, &mut properties, &mut values);
    let told: Vec<&str> = document.split('`').skip(1).step_by(2).flat_map(|span| span.split(['.', ' ', ','])).collect();
    let untold: Vec<&String> =
        properties.iter().chain(&values).filter(|name| !told.iter().any(|told| told == name)).collect();
    assert!(untold.is_empty(), "docs/doctor.md tells nothing of {untold:?}");
}
