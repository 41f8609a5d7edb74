//! What a person must learn about each scenario.

/// When a scenario has been played.
pub(crate) enum Until {
    /// The Job (or JobSet) has this condition.
    Condition(&'static str),
    /// So many of its pods are Failed.
    FailedPods(usize),
    /// One of its pods waits for this reason.
    Waiting(&'static str),
    /// So many in-place restarts.
    Restarts(i64),
    /// The Job is failing while so many of its pods still terminate.
    Terminating(i64),
}

pub(crate) struct Expectation {
    pub(crate) namespace: &'static str,
    pub(crate) name: &'static str,
    pub(crate) until: Until,
    pub(crate) failures: &'static [Group],
}

/// Failures that are alike, and their number.
pub(crate) struct Group {
    pub(crate) number: Number,
    pub(crate) class: &'static str,
    /// Index and action.
    pub(crate) rule: Option<(i64, &'static str)>,
    pub(crate) exit_code: Option<i64>,
    pub(crate) reason: Option<&'static str>,
}

#[derive(Debug)]
pub(crate) enum Number {
    Exactly(i64),
    AtLeast(i64),
}

impl Group {
    const fn of(number: i64, class: &'static str) -> Self {
        Self { number: Number::Exactly(number), class, rule: None, exit_code: None, reason: None }
    }

    const fn by_rule(number: i64, index: i64, action: &'static str) -> Self {
        Self { rule: Some((index, action)), ..Self::of(number, "rule") }
    }

    const fn code(self, code: i64) -> Self {
        Self { exit_code: Some(code), ..self }
    }

    const fn reason(self, reason: &'static str) -> Self {
        Self { reason: Some(reason), ..self }
    }

    const fn or_more(self) -> Self {
        let (Number::Exactly(number) | Number::AtLeast(number)) = self.number;
        Self { number: Number::AtLeast(number), ..self }
    }
}

const fn job(namespace: &'static str, name: &'static str, until: Until, failures: &'static [Group]) -> Expectation {
    Expectation { namespace, name, until, failures }
}

pub(crate) const EXPECTATIONS: &[Expectation] = &[
    job(
        "ml-team",
        "train-config-error",
        Until::Condition("Failed"),
        &[Group::by_rule(1, 0, "FailJob").code(42), Group::of(3, "collateral")],
    ),
    job("data", "etl-nightly", Until::Condition("Failed"), &[Group::by_rule(3, 2, "Count").code(1)]),
    job("data", "thumbnails", Until::Condition("Failed"), &[Group::of(2, "noPolicy").code(137).reason("OOMKilled")]),
    job(
        "ml-team",
        "shard-eval",
        Until::Condition("Failed"),
        &[
            Group::by_rule(2, 0, "FailIndex").code(43),
            Group::by_rule(1, 1, "Ignore").code(75),
            Group::of(2, "noRule").code(1),
        ],
    ),
    job("ml-team", "sweep", Until::Condition("Failed"), &[Group::of(4, "noPolicy").code(3)]),
    job(
        "data",
        "report",
        Until::Condition("Failed"),
        &[Group::of(1, "jobLevel").reason("DeadlineExceeded"), Group::of(1, "collateral")],
    ),
    job(
        "ml-team",
        "gpu-probe",
        Until::Condition("Failed"),
        &[Group::of(2, "unmatchable").reason("UnexpectedAdmissionError")],
    ),
    job("data", "bad-image", Until::Waiting("ImagePullBackOff"), &[Group::of(1, "pending").reason("ImagePullBackOff")]),
    job(
        "data",
        "bad-config",
        Until::Waiting("CreateContainerConfigError"),
        &[Group::of(1, "pending").reason("CreateContainerConfigError")],
    ),
    job("data", "with-sidecar", Until::FailedPods(2), &[Group::by_rule(2, 0, "Ignore").or_more()]),
    job("data", "init-guard", Until::Condition("Failed"), &[Group::by_rule(1, 0, "FailJob").code(3)]),
    job("data", "flaky-onfailure", Until::Condition("Failed"), &[Group::of(2, "lost")]),
    job("ml-team", "inplace", Until::Restarts(2), &[Group::of(1, "restarting").or_more()]),
    job("ml-team", "leader-wins", Until::Condition("Complete"), &[Group::of(1, "noPolicy").code(1)]),
    job(
        "data",
        "retried-ok",
        Until::Condition("Complete"),
        &[Group::by_rule(1, 0, "Ignore").code(75), Group::of(1, "noRule").code(1)],
    ),
    job(
        "ml-team",
        "gpu-xid",
        Until::Condition("Failed"),
        &[Group::by_rule(1, 0, "FailJob"), Group::of(1, "collateral")],
    ),
    job(
        "ml-team",
        "slow-teardown",
        Until::Terminating(2),
        &[Group::by_rule(1, 0, "FailJob").code(9), Group::of(2, "collateral")],
    ),
    job(
        "ml-team",
        "race",
        Until::Condition("Failed"),
        &[Group::by_rule(2, 1, "FailJob").code(42), Group::by_rule(2, 2, "FailJob").code(1)],
    ),
    job("ml-team", "preempted", Until::Condition("Failed"), &[Group::of(1, "noPolicy").code(143)]),
];
