//! Whether a start finds again what another saved.

use super::*;

/// What is told of resuming, where the place has `$(RUN)` or `$RUN` in it.
fn resumes(pod: &Pod) -> Answer {
    pod.detect().resumes.answer
}

#[test]
fn a_place_named_for_a_field_of_the_pod_is_not_surely_found_again() {
    for (path, answer) in [
        ("metadata.name", Answer::Unknown),
        ("metadata.uid", Answer::Unknown),
        ("status.podIP", Answer::Unknown),
        ("spec.nodeName", Answer::Unknown),
        ("metadata.annotations['jobset.sigs.k8s.io/restart-attempt']", Answer::Unknown),
        ("metadata.labels['jobset.sigs.k8s.io/job-restart-attempt']", Answer::Unknown),
        ("metadata.labels['batch.kubernetes.io/controller-uid']", Answer::Unknown),
        ("metadata.labels['controller-uid']", Answer::Unknown),
        ("metadata.labels[\"pod-template-hash\"]", Answer::Unknown),
        ("metadata.annotations['cni.example.com/interface']", Answer::Unknown),
        ("metadata.newer", Answer::Unknown),
        ("", Answer::Unknown),
        ("metadata.namespace", Answer::Yes),
        ("spec.serviceAccountName", Answer::Yes),
        ("metadata.annotations['jobset.sigs.k8s.io/jobset-name']", Answer::Yes),
        ("metadata.annotations['batch.kubernetes.io/job-completion-index']", Answer::Yes),
        ("metadata.labels['job-name']", Answer::Yes),
        ("metadata.labels['run']", Answer::Yes),
    ] {
        let base = "python3 -m maxtext.train maxtext/configs/base.yml base_output_directory=gs://b run_name=";
        let told = |line: &str, of: fn(&str) -> Pod<'_>| resumes(&of(line).field("RUN", path));
        assert_eq!(told(&format!("{base}$(RUN)"), exec), answer, "MaxText, {path}");
        assert_eq!(told(&format!("{base}$(RUN)"), bash), answer, "MaxText in a script, {path}");
        assert_eq!(told(&format!("export X=a-$RUN; {base}${{X}}"), bash), answer, "MaxText by a variable, {path}");
        let megatron = "torchrun pretrain_gpt.py --save /c/$(RUN) --load /c/$(RUN)";
        assert_eq!(told(megatron, exec), answer, "Megatron-LM, {path}");
        assert_eq!(told("python t.py --ckpt_dir /c/$(RUN) --resume", exec), answer, "a script of the user's, {path}");
        let through = bash("python t.py --ckpt_dir $D --resume").field("RUN", path).env("D", "/c/$(RUN)");
        assert_eq!(resumes(&through), answer, "by another variable, {path}");
        let own = exec("./train --resume").field("CKPT_DIR", path);
        assert_eq!(resumes(&own), answer, "as a variable of the program's, {path}");
    }
    let base = "python3 -m maxtext.train maxtext/configs/base.yml base_output_directory=gs://b";
    let by_variable = exec(base).field("JOBSET_NAME", "metadata.labels['jobset.sigs.k8s.io/jobset-name']");
    assert_eq!(resumes(&by_variable), Answer::Yes);
    assert_eq!(resumes(&exec(base).field("JOBSET_NAME", "metadata.uid")), Answer::Unknown);
    let own = exec("python3 -m maxtext.train maxtext/configs/base.yml").env_from("M_BASE_OUTPUT_DIRECTORY");
    assert_eq!(own.detect().signs[0].value, None, "what comes from elsewhere is not told");
    let told_of = |resumes: &str| {
        format!(
            "MaxText; saves yes; $(M_BASE_OUTPUT_DIRECTORY)/$(M_RUN_NAME)/checkpoints; 10000 steps (the default); resumes \
             {resumes}; durable ? Unknown; -"
        )
    };
    check(&[
        (own.clone().env_from("M_RUN_NAME"), &told_of("yes")),
        (own.field("M_RUN_NAME", "metadata.name"), &told_of("?")),
    ]);
}

#[test]
fn a_place_that_a_shell_makes_is_found_again_only_if_it_makes_the_same() {
    for (made, answer) in [
        ("$(cat /proc/sys/kernel/random/uuid)", Answer::No),
        ("`cat /proc/sys/kernel/random/uuid`", Answer::No),
        ("$EPOCHSECONDS", Answer::No),
        ("${EPOCHREALTIME}", Answer::No),
        ("$RANDOM", Answer::No),
        ("$SRANDOM", Answer::No),
        ("$(uuidgen)", Answer::No),
        ("$(date)", Answer::No),
        ("$(date +%Y%m%d-%H%M%S)", Answer::No),
        ("$(mktemp -d)", Answer::No),
        ("$(openssl rand -hex 4)", Answer::No),
        ("$(python3 -c 'import uuid; print(uuid.uuid4())')", Answer::Unknown),
        // On the same day, and where it was kept, it is the same.
        ("$(date +%F)", Answer::Unknown),
        ("$(date -r /c/started +%s)", Answer::Unknown),
        ("$(cat /c/run.uuid || uuidgen)", Answer::Unknown),
        ("$(uuidgen | tee /c/id)", Answer::Unknown),
        ("${RUN_ID:-$(uuidgen)}", Answer::No),
        ("${OF_MAP:-$(uuidgen)}", Answer::Unknown),
        ("$(hostname)", Answer::Unknown),
        ("$(uname -n)", Answer::Unknown),
        ("$(./name.sh)", Answer::Unknown),
        ("$(cat /c/name)", Answer::Unknown),
        ("$HOSTNAME", Answer::Unknown),
        ("${MY_POD_NAME##*-}", Answer::Unknown),
        ("$NOT_SET_HERE", Answer::Unknown),
        ("$1", Answer::Unknown),
        // The kubelet halves the dollars.
        ("$$$$", Answer::Unknown),
        ("$OF_MAP", Answer::Yes),
        ("${OF_MAP%/}", Answer::Yes),
        ("${OF_MAP:-x}", Answer::Yes),
        ("$JOB_COMPLETION_INDEX", Answer::Yes),
        ("$(pwd)", Answer::Yes),
        ("$(basename /a/b)", Answer::Yes),
        ("fixed", Answer::Yes),
    ] {
        for script in [
            format!("torchrun pretrain_gpt.py --save /c/{made} --load /c/{made}"),
            format!("R={made}; torchrun pretrain_gpt.py --save /c/$R --load /c/$R"),
            format!("python t.py --ckpt_dir /c/{made} --resume"),
            format!("python3 -m maxtext.train maxtext/configs/base.yml base_output_directory=/c run_name={made}"),
        ] {
            assert_eq!(resumes(&bash(&script).env_from("OF_MAP")), answer, "{script}");
        }
    }
    let from_file =
        exec("python t.py --ckpt_dir /c/$(RUN) --resume").with(|container| container.env.push(("RUN", Value::Unknown)));
    assert_eq!(resumes(&from_file), Answer::Unknown);
    // No shell and no kubelet replaces it; what the program makes of it is not known.
    assert_eq!(resumes(&exec("python t.py --ckpt_dir /c/$RUN --resume").env("RUN", "r")), Answer::Unknown);
}
