use super::*;

#[test]
fn scripts_are_split_as_a_shell_does() {
    const YES: &str = "-; saves yes; /c/x; -; resumes ?; durable yes Claim c; -";
    let scripts = [
        "python t.py --ckpt_dir /c/x",
        "set -ex; cd /app && exec python t.py --ckpt_dir=/c/x",
        "pip install -q foo | tail -1\npython t.py \\\n  --lr 1 \\\n  --ckpt_dir \\\n  /c/x &\nwait",
        "python t.py --ckpt_dir '/c/x'",
        "python t.py --ckpt_dir \"/c/x\" > /tmp/log 2>&1",
        "python t.py --ckpt_dir='/c'\"/x\"",
        "python t.py --ckpt_dir /c\\/x",
        "OMP_NUM_THREADS=1 nohup env A=b python t.py --ckpt_dir /c/x",
        "X=/c; python t.py --ckpt_dir $X/x",
        "export X=\"/c\"\npython t.py --ckpt_dir \"${X}/x\"",
        "python t.py --ckpt_dir ${NOPE:-/c/x}",
        "D=/c python u.py; python t.py --ckpt_dir ${NOPE:-/c}/x",
        "ARGS=\"--ckpt_dir /c/x\"; python t.py $ARGS",
        "ARGS='--lr 1'; ARGS+=' --ckpt_dir /c/x'; python t.py $ARGS",
        "ARGS=(--lr 1\n  # a comment\n  --ckpt_dir /c/x)\npython t.py ${ARGS[@]}",
        "ARGS=(--lr 1); ARGS+=(--ckpt_dir \"/c/x\"); python t.py \"${ARGS[@]}\"",
        "if true; then python t.py --ckpt_dir /c/x; fi",
        "cat <<EOF > a.yaml\nckpt_dir: /other\n--ckpt_dir /other\nEOF\npython t.py --ckpt_dir /c/x",
        "bash -c 'python t.py --ckpt_dir /c/x'",
        "bash -euo pipefail -c \"python t.py --ckpt_dir /c/x\"",
        "timeout 3600 sh -c \"exec python t.py --ckpt_dir '/c/x'\"",
        "eval \"python t.py --ckpt_dir /c/x\"",
        "cd /c && python t.py --ckpt_dir x",
        "cd /c; cd y; python t.py --ckpt_dir ../x",
        "export CHECKPOINT_DIR=/c/x; ./train.sh",
        "CKPT_DIR=/c/x ./train.sh",
        "python t.py --ckpt_dir $'/c/x'",
        "python t.py '--ckpt_dir' /c/x # --ckpt_dir /other",
        "(python t.py --ckpt_dir /c/x)",
        "python t.py --ckpt_dir /other --ckpt_dir /c/x",
    ];
    let differ: Vec<String> = scripts
        .iter()
        .map(|script| (script, told(&bash(script).claim("/c", "c").detect())))
        // What is told as written is relative there.
        .filter(|(script, is)| is != YES && !(script.starts_with("cd /c") && is.contains("durable yes Claim c")))
        .map(|(script, is)| format!("{script}\n{is}"))
        .collect();
    assert!(differ.is_empty(), "{}", differ.join("\n\n"));
}

#[test]
fn shells_are_known_by_their_names_and_options() {
    let split = |command: &[&'static str], args: &[&'static str]| {
        exec("x").claim("/c", "c").with(|container| {
            container.command = command.to_vec();
            container.args = args.to_vec();
        })
    };
    let yes = "-; saves yes; /c; -; resumes ?; durable yes Claim c; -";
    check(&[
        (split(&["sh", "-c"], &["python t.py --ckpt_dir /c"]), yes),
        (split(&["/usr/bin/env", "bash", "-lc", "python t.py --ckpt_dir /c"], &[]), yes),
        (split(&["tini", "--", "bash", "-exo", "pipefail", "-c"], &["python t.py --ckpt_dir /c"]), yes),
        (split(&["bash", "-c", "exec \"$@\"", "--"], &["python", "t.py", "--ckpt_dir", "/c"]), yes),
        (split(&[], &["--ckpt_dir", "/c"]), yes),
        (split(&["bash", "run.sh"], &["--ckpt_dir=/c"]), yes),
    ]);
}

#[test]
fn variables_are_replaced_where_they_are_told() {
    check(&[
        (
            exec("python t.py --ckpt_dir $(ROOT)/$(RUN)").env("ROOT", "/c").env("RUN", "r").claim("/c", "c"),
            "-; saves yes; /c/r; -; resumes ?; durable yes Claim c; -",
        ),
        // A value refers to those before it only.
        (
            exec("python t.py --ckpt_dir $(B)").env("B", "$(A)/b").env("A", "/c"),
            "-; saves yes; $(A)/b; -; resumes ?; durable ? Unknown; -",
        ),
        (
            exec("python t.py --ckpt_dir $(B)").env("A", "/c").env("B", "$(A)/b").claim("/c", "c"),
            "-; saves yes; /c/b; -; resumes ?; durable yes Claim c; -",
        ),
        // The kubelet does not replace these, and no shell sees them.
        (
            exec("python t.py --ckpt_dir $ROOT/x").env("ROOT", "/c"),
            "-; saves yes; $ROOT/x; -; resumes ?; durable ? Unknown; -",
        ),
        (
            exec("python t.py --ckpt_dir $$(ROOT)/x").env("ROOT", "/c"),
            "-; saves yes; $(ROOT)/x; -; resumes ?; durable ? Unknown; -",
        ),
        (
            bash("python t.py --ckpt_dir $ROOT/$(hostname)").env("ROOT", "/c").claim("/c", "c"),
            "-; saves yes; /c/$(hostname); -; resumes ?; durable yes Claim c; -",
        ),
        (
            bash("python t.py --ckpt_dir $(ROOT)/${RUN:-r1}").env("ROOT", "gs://b").env_from("RUN"),
            "-; saves yes; gs://b/${RUN:-r1}; -; resumes ?; durable yes ObjectStore; -",
        ),
        (
            bash("python t.py --ckpt_dir ${ROOT?}/${RUN%/}").env("ROOT", "/c").claim("/c", "c"),
            "-; saves yes; /c/${RUN%/}; -; resumes ?; durable yes Claim c; -",
        ),
        // What is set in a branch may not be.
        (
            bash("if [ -n \"$Y\" ]; then D=/c; fi; python t.py --ckpt_dir $D"),
            "-; saves yes; $D; -; resumes ?; durable ? Unknown; -",
        ),
        (
            exec("torchrun pretrain_gpt.py --train-iters 9 --save $(D) --load $(D)").env_from("D"),
            "Megatron-LM; saves yes; $(D); -; resumes yes; durable ? Unknown; -",
        ),
        (
            bash("torchrun pretrain_gpt.py --train-iters 9 --save /c/$POD_NAME --load /c/$POD_NAME").claim("/c", "c"),
            "Megatron-LM; saves yes; /c/$POD_NAME; -; resumes ?; durable yes Claim c; -",
        ),
    ]);
}

/// Not even their names are told: what is a default without them need not hold.
#[test]
fn variables_from_a_config_map_may_be_any() {
    let default = "python t.py --ckpt_dir ${CKPT:-/c} --resume=${RESUME:-false}";
    check(&[
        (bash(default), "-; saves yes; /c; -; resumes no; durable no ContainerDisk; -"),
        (bash(default).all_env_from(), "-; saves yes; ${CKPT:-/c}; -; resumes ?; durable ? Unknown; -"),
        (
            bash(default).all_env_from().env("CKPT", "gs://b"),
            "-; saves yes; gs://b; -; resumes ?; durable yes ObjectStore; -",
        ),
        (
            bash("CKPT=/c; python t.py --ckpt_dir ${CKPT:-/d}").all_env_from(),
            "-; saves yes; /c; -; resumes ?; durable no ContainerDisk; -",
        ),
    ]);
}
