use super::*;

/// A small linear congruential generator: the same words on each run.
struct Words(u64);

impl Words {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % below
    }

    fn text(&mut self) -> String {
        let pieces = [
            "'",
            "\"",
            "\\",
            "\n",
            "$",
            "${",
            "}",
            "$(",
            ")",
            "(",
            "`",
            "<<",
            "<<EOF",
            ">",
            "&",
            "|",
            ";",
            "#",
            "=",
            "+=",
            " ",
            "é",
            "🚀",
            "\u{0}",
            "--",
            "--save",
            "--save=",
            "A",
            "A=(",
            "${A[@]}",
            "${A:-",
            "${A:=",
            "$((",
            "$$",
            "if ",
            "fi ",
            "eval ",
            "bash -c ",
            "cd ",
            "export ",
            "/c",
            "://",
            "@",
            "gs://",
            "..",
            "python t.py --ckpt_dir ",
            "maxtext",
            "run_name=",
            "torchtitan",
            "tune run ",
            "exp_manager.a=",
            "null",
            "-1",
            "\r\n",
            "*",
            "~",
        ];
        (0..self.next(40)).map(|_| pieces[self.next(pieces.len())]).collect()
    }
}

#[test]
fn nothing_makes_it_panic() {
    let mut words = Words(7);
    for _ in 0..20_000 {
        let texts: Vec<String> = (0..6).map(|_| words.text()).collect();
        let [first, second, third, name, path, volume] = &texts[..] else { unreachable!() };
        let pod = bash(first).env("A", second).env("B", third).env_from(name).claim(path, volume);
        pod.annotation("podsnapshot.gke.io/ps-name", first).detect();
        let mut pod = exec("python t.py --save").env(first, second).dir(volume).claim(path, name);
        pod.template.containers[0].args.extend([&**third, name, path]);
        pod.detect();
    }
}

/// Input of which each step would take all that came before: it would not end while anybody waits.
#[test]
fn odd_input_ends_soon() {
    let doubling: Vec<(String, String)> = (0..60)
        .map(|n| (format!("V{n}"), if n == 0 { "ab".to_owned() } else { format!("$(V{})$(V{})", n - 1, n - 1) }))
        .collect();
    let mut pod = exec("python t.py --ckpt_dir $(V59)/$(V9)");
    for (name, value) in &doubling {
        pod = pod.env(name, value);
    }
    assert!(pod.detect().saves.place.is_some_and(|place| place.len() < 2000));
    let circle = exec("python t.py --ckpt_dir $(A)").env("A", "$(B)").env("B", "$(A)");
    assert_eq!(circle.detect().saves.place.as_deref(), Some("$(B)"));
    bash("A=$A$A$A; A=$A$A; python t.py --ckpt_dir $A").env("A", "xyz").detect();
    for piece in
        ["${A:-", "$(", "(", "'", "\"", "if ", "A=1 ", "--a b ", "x;", "<<E\n", "`", "A+=x;", "$A ", "é\\", "eval '"]
    {
        let script = piece.repeat(100_000 / piece.len());
        bash(&script).env("A", &"v".repeat(4000)).detect();
        exec(&script).detect();
    }
}

#[test]
fn secrets_are_not_shown() {
    let pods = [
        exec("python t.py --ckpt_dir s3://$(AWS_KEY):$(AWS_SECRET)@b/x")
            .env("AWS_KEY", "hush")
            .env("AWS_SECRET", "hush"),
        exec("python t.py --ckpt_dir s3://me:hush@b/x --password hush --wandb-key=hush"),
        exec("python t.py --ckpt_dir https://a/b?sig=hush --resume_from_checkpoint https://u:hush@a/b"),
        bash("export HF_TOKEN=hush; login --token $HF_TOKEN; python t.py --ckpt_dir /c/$HF_TOKEN"),
        exec("./run").env("CHECKPOINT_DIR", "s3://k:hush@b").env("OTHER", "hush"),
        exec("torchrun pretrain_gpt.py --save s3://k:hush@b --load s3://k:hush@c"),
        exec("./run").env("API_PASS", "hush").claim("/checkpoints", "c"),
    ];
    for pod in pods {
        let found = pod.detect();
        assert!(!found.signs.is_empty());
        assert!(!format!("{found:?}").contains("hush"), "{found:?}");
    }
}

#[test]
fn signs_tell_where_they_stand() {
    let found = exec("python t.py --ckpt_dir=$(D) --resume")
        .env("D", "/c")
        .env("CKPT_DIR", "/e")
        .env_from("SAVE_PATH")
        .detect();
    let signs = [
        sign("trainer", "env[name=CKPT_DIR]", "/e"),
        sign("trainer", "args[1]", "--ckpt_dir=/c"),
        sign("trainer", "args[2]", "--resume"),
    ];
    assert_eq!(found.signs, signs);
    let script = bash("python t.py --ckpt_dir /c").detect();
    assert_eq!(script.signs, [sign("trainer", "args[0]", "--ckpt_dir /c")]);
}

#[test]
fn words_never_say_that_a_checkpoint_exists() {
    let found = exec("torchrun pretrain_gpt.py --train-iters 9 --save /c --load /c").detect();
    assert_eq!(found.saves.why, "Megatron-LM is given a place; configured to save to /c (--save)");
    let jit = exec("python t.py --output_dir /o --enable_jit_checkpoint").detect();
    let why = "--enable_jit_checkpoint saves on SIGTERM; step and save must end within 30 s \
               (terminationGracePeriodSeconds, Kubernetes' default)";
    assert_eq!(jit.sigterm.map(|sigterm| sigterm.why).as_deref(), Some(why));
}
