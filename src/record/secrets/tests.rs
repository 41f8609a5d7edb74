use super::*;

#[test]
fn every_pattern_of_this_room_holds() {
    for (name, pattern) in [
        ("shapes", &forms::SHAPES),
        ("address", &forms::IN_ADDRESS),
        ("query parameter", &forms::IN_QUERY),
        ("query", &forms::QUERY),
        ("assignment", &text::ASSIGNS),
        ("flag", &text::FLAG),
        ("prose", &text::NAMED_IN_PROSE),
        ("program", &programs::NAME),
        ("command", &QUOTED_COMMAND),
    ] {
        assert!(pattern.is_some(), "{name}");
    }
}

#[test]
fn values_of_what_is_named_like_a_secret_go_and_nothing_else() {
    for (text, is) in [
        ("--token=abc", "--token=(hidden)"),
        ("--hf-token=abc", "--hf-token=(hidden)"),
        ("--tokenizer=llama", "--tokenizer=llama"),
        ("--max-tokens=4096", "--max-tokens=4096"),
        ("--apiKey=abc", "--apiKey=(hidden)"),
        ("--token=$(HF_TOKEN)", "--token=$(HF_TOKEN)"),
        ("--save=/ckpt --password abc --lr 3e-4", "--save=/ckpt --password (hidden) --lr 3e-4"),
        ("export DB_PASSWORD='a b'; run", "export DB_PASSWORD=(hidden); run"),
        ("echo '{\"secret\": \"abc\"}'", "echo '{\"secret\": (hidden)}'"),
        ("curl -H 'Authorization: Bearer abcdefghijklmnop' x", "curl -H 'Authorization: (hidden)' x"),
        ("curl -H 'X-Api-Key: a b' x", "curl -H 'X-Api-Key: (hidden)' x"),
        ("pip install https://me:pw@host/x", "pip install https://(hidden)@host/x"),
        ("https://a.blob/c?sig=abc&se=1", "https://a.blob/c?sig=(hidden)&se=1"),
        ("https://h/c?X-Amz-Signature=abc&se=1", "https://h/c?X-Amz-Signature=(hidden)&se=1"),
        ("login hf_abcdefghijklmnopqrstuvwx", "login (hidden)"),
        ("AKIAABCDEFGHIJKLMNOP", "(hidden)"),
        ("gs://bucket/run", "gs://bucket/run"),
        ("s3://bucket/run@2", "s3://bucket/run@2"),
        ("$(KEY)=x", "$(KEY)=x"),
        ("cd $PWD && PWD=/x run", "cd $PWD && PWD=/x run"),
        ("pulling ghcr.io/x/auth-token:1.2", "pulling ghcr.io/x/auth-token:1.2"),
        ("TOKEN=abc python train.py --save /ckpt", "TOKEN=(hidden) python train.py --save /ckpt"),
        ("curl -s -u me:abc http://x | python -u train.py", "curl -s -u (hidden) http://x | python -u train.py"),
        ("curl \\\n  -u me:abc \\\n  -H 'X: y'\nrun", "curl \\\n  -u (hidden) \\\n  -H 'X: y'\nrun"),
        ("sh -c 'mysql -h db -pabc && mkdir -p /ckpt'", "sh -c 'mysql -h db -p(hidden) && mkdir -p /ckpt'"),
        ("wandb login --relogin abc; run", "wandb login --relogin (hidden); run"),
        (
            "login failed: password=abc for user; token ABCDEFG",
            "login failed: password=(hidden) for user; token (hidden)",
        ),
        ("the token has expired, password is wrong", "the token has expired, password is wrong"),
        ("db:\n  password: a b c\n  host: x", "db:\n  password: (hidden)\n  host: x"),
        ("cookie: a=b; c=d\nnext", "cookie: (hidden)\nnext"),
        ("volume \"token-vol\" : secret \"x\" not found", "volume \"token-vol\" : secret \"x\" not found"),
        ("auth: permission denied", "auth: permission denied"),
    ] {
        assert_eq!(without_secrets(text), is);
    }
}

/// One secret in every place where one is known for one, in each of the ways in which it may be written there.
#[test]
fn a_secret_goes_whole_however_it_is_written() {
    const SECRET: &str = "hunter2";
    let values = [
        "hunter2",
        "a,hunter2",
        "a;hunter2",
        "a&hunter2",
        "a'hunter2",
        "a\"hunter2",
        "-hunter2",
        "--hunter2x",
        "${X}hunter2",
        "$hunter2",
        "$(echo hunter2)",
        "a b hunter2",
        "(hunter2",
        "hunter2)",
        "a\nhunter2",
        "it''s hunter2",
        "a\\hunter2",
        "héhunter2",
    ];
    let names = [
        "--password",
        "--db-password",
        "--apiKey",
        "--passphrase",
        "--auth",
        "--pass",
        "--credentials",
        "--wandb.key",
        "PGPASSWORD",
        "AWS_SECRET_ACCESS_KEY",
        "Pwd",
        "--connection-string",
        "--dsn",
        "--SharedAccessKey",
    ];
    for value in values {
        for name in names {
            let mut words = vec![format!("{name}={value}")];
            if name.starts_with('-') {
                words.extend([name.to_owned(), value.to_owned()]);
            }
            none_is_left(&words, SECRET);
        }
        for before in [&["curl"][..], &["curl", "-s"]] {
            let mut line: Vec<String> = before.iter().map(|word| (*word).to_owned()).collect();
            line.extend(["-u".to_owned(), format!("me:{value}")]);
            none_is_left(&line, SECRET);
        }
        none_is_left(&["mysql".to_owned(), format!("-p{value}")], SECRET);
        none_is_left(&["redis-cli".to_owned(), "-a".to_owned(), value.to_owned()], SECRET);
    }
    for word in [
        "-phunter2",
        "--header=PRIVATE-TOKEN: hunter2",
        "X-Api-Key: a hunter2",
        "--dsn=postgres://u:p@ss/hunter2@db/x",
        "echo \"password\":\"a\\\"hunter2\"",
        "{\\\"token\\\": \\\"hunter2\\\"}",
        "--token\nhunter2",
        "export PGPASSWORD=hunter2",
        "PASSWORD=$(echo hunter2) run",
        "AccountKey=hunter2==;EndpointSuffix=core",
        "https://h/?X-Goog-Credential=hunter2",
        "sshpass -p hunter2 ssh x",
        "docker login -u me -p hunter2 host",
        "aws configure set aws_secret_access_key hunter2",
    ] {
        none_is_left(&[word.to_owned()], SECRET);
    }
}

#[track_caller]
fn none_is_left(words: &[String], secret: &str) {
    for of_command in [true, false] {
        let mut line = CommandLine::new();
        if of_command {
            line.begins(words);
        }
        let kept: Vec<String> = words.iter().map(|word| line.word(word)).collect();
        // Without the program's name, `-u` and `-a` may be anything.
        let is_known = of_command || words[0].starts_with('-') || words.len() == 1;
        assert!(!is_known || !kept.concat().contains(secret), "{words:?} as {kept:?}");
    }
}

#[test]
fn what_a_runtime_quotes_of_a_command_goes_where_commands_are_left_out() {
    let policy = |redact| Policy { redact, marker: Marker::new(&[1; KEY_BYTES]) };
    let said = Value::from("failed to start: exec: \"my-secret-tool\": not found in $PATH");
    assert_eq!(message(&said, &policy(true)).unwrap(), "failed to start: exec: (hidden): not found in $PATH");
    assert_eq!(message(&said, &policy(false)).unwrap(), said);
}

#[test]
fn equal_values_have_equal_marks_and_another_key_gives_others() {
    let (one, other) = (Marker::new(&[1; KEY_BYTES]), Marker::new(&[2; KEY_BYTES]));
    assert_eq!(one.mark("hunter2"), one.mark("hunter2"));
    assert_ne!(one.mark("hunter2"), one.mark("hunter3"));
    assert_ne!(one.mark("hunter2"), other.mark("hunter2"));
    assert!(!one.mark("hunter2").contains("hunter2"));
    assert_ne!(Marker::random_key().unwrap(), Marker::random_key().unwrap());
}
