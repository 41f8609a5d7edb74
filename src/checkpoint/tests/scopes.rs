//! What of a script holds only in a part of it.

use super::*;

/// Where a script that ends with this saves, and whether that outlives the pod.
fn saves_to(script: &str) -> (Option<String>, Answer) {
    let pod = bash(script).dir("/ckpt").claim("/ckpt", "c");
    let found = pod.detect();
    assert_eq!(found.framework, Some("Megatron-LM"), "{script}");
    assert_eq!(found.saves.answer, Answer::Yes, "{script}");
    (found.saves.place, found.durable.answer)
}

#[test]
fn a_directory_holds_where_the_script_is_in_it() {
    use Answer::{No, Unknown, Yes};
    for (before, durable) in [
        ("", Yes),
        ("cd /tmp; ", No),
        ("(cd /tmp && pip install x); ", Yes),
        ("( cd /tmp; (cd /var); make ) ; ", Yes),
        ("(cd /tmp) && ", Yes),
        ("bash -c 'cd /tmp; make'; ", Yes),
        ("pushd /tmp; make; popd; ", Yes),
        ("pushd /tmp > /dev/null && pip install x && popd\n", Yes),
        ("pushd /tmp > /dev/null && make && popd\n", Unknown),
        ("for x in a b; do pushd $x; make; popd; done; ", Yes),
        ("pushd /tmp; pushd /var; popd; ", No),
        ("cd /tmp; cd -; ", Yes),
        ("cd /tmp; cd /var; cd - > /dev/null; ", No),
        ("cd -P /tmp; ", No),
        ("cd -- /tmp; ", No),
        ("eval 'cd /tmp'; ", No),
        ("cd /tmp; eval 'cd /ckpt'; ", Yes),
        ("mkdir -p /tmp/x && cd /tmp/x\n", No),
        ("cd /tmp || exit 1; ", No),
        ("cd /tmp &&\n", No),
        ("if true; then cd /tmp; fi; ", Unknown),
        ("[ -d /tmp/x ] && cd /tmp/x; ", Unknown),
        ("[ -d /tmp/x ] && cd /tmp/x && ", No),
        ("if true; then cd /tmp; else ", Yes),
        ("if true; then cd /tmp; ", No),
        ("for i in 1 2; do cd /tmp; done; ", Unknown),
        ("prepare() { cd /tmp; make; }\n", Unknown),
        ("function prepare {\n cd /tmp\n}\n", Unknown),
        ("{ cd /tmp; ", No),
        ("case $X in a) cd /tmp;; b) ", Yes),
        ("case $X in (a) (cd /tmp); esac; ", Yes),
        ("case $X in a) cd /tmp;; esac; ", Unknown),
        ("cd; ", Unknown),
        ("cd ~/x; ", Unknown),
        ("cd $NOT_TOLD; ", Unknown),
        ("cd $(dirname $0); ", Unknown),
        ("popd; ", Unknown),
        ("pushd; ", Unknown),
    ] {
        let script = format!("{before}python pretrain_gpt.py --save out --load out");
        assert_eq!(saves_to(&script), (Some("out".to_owned()), durable), "{script}");
    }
}

#[test]
fn a_variable_holds_where_it_is_surely_set() {
    for (before, place) in [
        ("S=/a; ", "/a"),
        ("S=/a; S=/ckpt\n", "/ckpt"),
        ("S=/a; [ -d /x ] && S=/ckpt\n", "$S"),
        ("S=/a; [[ -d /x && -w /x ]] && S=/ckpt\n", "$S"),
        ("S=/a; test -d /x && export S=/ckpt; ", "$S"),
        ("S=/a; [ -d /x ] || S=/ckpt; ", "$S"),
        ("S=/a; ./check && S=/ckpt; ", "$S"),
        ("S=/a; df | grep -q ckpt && S=/ckpt\n", "$S"),
        ("S=/a; [ -d /x ] && S=/ckpt || S=/b; ", "$S"),
        ("S=/a; [ -d /x ] && { S=/ckpt; T=1; }; ", "$S"),
        ("S=/a; [ -d /x ] &&\n\n S=/ckpt\n", "$S"),
        ("S=/a; ! mkdir /x && S=/ckpt; ", "$S"),
        ("S=/a; command -v tool && S=/ckpt; ", "$S"),
        ("[ -d /x ] && S=/ckpt && ", "/ckpt"),
        ("set -e && S=/ckpt\n", "/ckpt"),
        ("mkdir -p /ckpt && export S=/ckpt\n", "/ckpt"),
        ("S=/a; (S=/ckpt; make); ", "$S"),
        ("S=/a; bash -c 'S=/ckpt'; ", "$S"),
        ("S=/a; eval 'S=/ckpt'; ", "/ckpt"),
        ("S=/a; if true; then S=/ckpt; fi; ", "$S"),
        ("if true; then S=/ckpt; ", "/ckpt"),
        ("if true; then S=/a; else S=/ckpt; ", "/ckpt"),
        ("if true; then S=/a; else ", "$S"),
        ("S=/a; while read x; do S=/ckpt; done; ", "$S"),
        ("S=/a; for S in /b /c; do ", "$S"),
        ("S=/a; case $X in a) S=/ckpt;; esac; ", "$S"),
        ("S=/a; case $X in a) S=/b;; b) S=/ckpt; ", "/ckpt"),
        ("S=/a; f() { S=/ckpt; }; ", "$S"),
        ("S=/a; read S < /x; ", "$S"),
        ("S=/a; unset S; ", "$S"),
        ("if true; then : ${S:=/ckpt}; fi; ", "$S"),
        ("main() { S=/ckpt; ", "/ckpt"),
    ] {
        let script = format!("{before}python pretrain_gpt.py --save $S --load $S --save-interval 5");
        assert_eq!(saves_to(&script).0.as_deref(), Some(place), "{script}");
    }
    // A variable of the program's, too.
    for (before, place) in [
        ("export CHECKPOINT_DIR=/c; ", "/c"),
        ("[ -d /c ] && export CHECKPOINT_DIR=/c; ", "$CHECKPOINT_DIR"),
        ("if true; then export CHECKPOINT_DIR=/c; fi; ", "$CHECKPOINT_DIR"),
        ("if true; then export CHECKPOINT_DIR=/c; ", "/c"),
    ] {
        let found = bash(&format!("{before}./train.sh")).detect();
        assert_eq!(found.saves.place.as_deref(), Some(place), "{before}");
    }
}

#[test]
fn a_variable_that_may_be_set_leaves_open_whether_it_resumes() {
    let script = "S=/a; [ -d /x ] && S=/ckpt\npython pretrain_gpt.py --save $S --load $S";
    let told_of_it = "Megatron-LM; saves yes; $S; -; resumes ?; durable ? Unknown; -";
    check(&[(bash(script).claim("/ckpt", "c"), told_of_it)]);
}

#[test]
fn what_lies_below_a_directory_that_is_not_told_may_be_under_a_volume() {
    let on = |path: &'static str| exec("python t.py --ckpt_dir").with(|container| container.args.push(path));
    let empty = || VolumeSource::EmptyDir { memory: false };
    for path in ["~/ckpt", "out/ckpt"] {
        assert_eq!(on(path).claim("/workspace", "c").detect().durable.answer, Answer::Unknown, "{path}");
        assert_eq!(on(path).mount("/x", "v", VolumeSource::HostPath("/x")).detect().durable.answer, Answer::Unknown);
        // Wherever that is, it goes with the pod.
        assert_eq!(on(path).detect().durable.answer, Answer::No, "{path}");
        assert_eq!(on(path).mount("/x", "v", empty()).detect().durable.answer, Answer::No, "{path}");
        let config = on(path).mount("/x", "v", VolumeSource::ConfigMapOrSecret);
        assert_eq!(config.detect().durable.answer, Answer::No, "{path}");
    }
    assert_eq!(on("~/ckpt").dir("/workspace").claim("/workspace", "c").detect().durable.answer, Answer::Unknown);
}
