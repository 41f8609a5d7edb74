use std::cmp::Reverse;

use super::{Failure, RuleHit};
use crate::model::{ContainerEnd, ContainerKind, Operator, Pod, Time, ToldCondition};
use crate::report::Class;

/// What a failure died of, in the fields that are grouped by and shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Signature<'a> {
    pub(super) container: Option<&'a str>,
    pub(super) exit_code: Option<i32>,
    pub(super) reason: Option<&'a str>,
}

/// The container to blame for a pod's end where no rule named one: the app container that failed first, else the init
/// container, else the sidecar. Where none failed but one was OOM-killed (exit 0 occurs: kubernetes#131530), that one.
pub(super) fn blamed_end(pod: &Pod) -> Option<&ContainerEnd> {
    let failed = |end: &&ContainerEnd| end.exit_code != 0;
    let order = |end: &&ContainerEnd| (end.kind, end.finished_at.is_none(), end.finished_at);
    let first = pod.all_ends().filter(failed).min_by_key(order);
    first.or_else(|| pod.all_ends().find(|end| end.reason.as_deref() == Some("OOMKilled")))
}

/// The container that failed first, whatever its kind.
pub(super) fn first_failed_end(pod: &Pod) -> Option<&ContainerEnd> {
    let failed = pod.all_ends().filter(|end| end.exit_code != 0);
    failed.min_by_key(|end| (end.finished_at.is_none(), end.finished_at, end.kind))
}

/// How the app ended: its first failed container, else its last ended one.
pub(super) fn app_end(pod: &Pod) -> Option<&ContainerEnd> {
    let apps = || pod.ends.iter().filter(|end| end.kind == ContainerKind::App);
    let failed = apps().filter(|end| end.exit_code != 0).min_by_key(|end| (end.finished_at.is_none(), end.finished_at));
    failed.or_else(|| apps().min_by_key(|end| Reverse(end.finished_at)))
}

impl<'s> Failure<'s> {
    /// When a failure that happened by itself happened: the end of its container, else of the attempt.
    pub fn first_end(&self) -> Option<Time> {
        match self.class {
            Class::Rule | Class::NoRule | Class::NoPolicy | Class::Unmatchable | Class::NoJob | Class::Unknown => {
                let end = self.pod.and_then(first_failed_end).or(self.end);
                end.and_then(|end| end.finished_at).or_else(|| self.at())
            }
            Class::Collateral
            | Class::Pending
            | Class::Restarting
            | Class::NotReady
            | Class::JobLevel
            | Class::WorkloadLevel
            | Class::Lost => None,
        }
    }

    /// The container that failed: the one that matched, is to blame, fails in place, or waits.
    pub(super) fn container(&self) -> Option<&str> {
        self.end
            .map(|end| &*end.container)
            .or_else(|| self.waiting()?.container.as_deref())
            .or_else(|| self.told.as_ref()?.container.as_ref().map(|(container, _)| &**container))
    }

    /// Its exit code.
    pub(super) fn exit_code(&self) -> Option<i32> {
        self.end
            .map(|end| end.exit_code)
            .or_else(|| self.told.as_ref()?.container.as_ref().map(|(_, exit_code)| *exit_code))
    }

    /// Whether the failure is an outside disruption rather than an end of its own: the pod is a disruption target and no
    /// rule took it by its exit code.
    pub fn is_disrupted(&self) -> bool {
        self.pod.is_some_and(|pod| pod.disruption().is_some()) && !self.rule.is_some_and(|rule| rule.by_exit_code())
    }

    /// Whether the container ended because the pod was disrupted, whichever rule took the pod. An exit code that a rule
    /// lists is the app's own word, and so is an end before the disruption; the code of a signal that comes from outside, or
    /// one that a rule takes only as one of many, is what the disruption left.
    pub fn ended_by_disruption(&self) -> bool {
        let Some(disruption) = self.pod.and_then(Pod::disruption) else { return false };
        let Some(hit) = self.rule.filter(RuleHit::by_exit_code) else { return true };
        let Some(end) = self.end else { return true };
        let second = |time: Option<Time>| time.map(Time::seconds);
        let before = second(end.finished_at).zip(second(disruption.at)).is_some_and(|(ended, at)| ended < at);
        let rule = self.policy().and_then(|policy| policy.rules.get(hit.index()));
        let codes = rule.and_then(|rule| rule.on_exit_codes.as_ref());
        let is_listed = codes.is_some_and(|codes| codes.operator == Operator::In);
        !before && (is_sent(end.exit_code) || !is_listed)
    }

    /// The condition that a rule matched, with what its setter says.
    pub fn matched_condition(&self) -> Option<&'s ToldCondition> {
        let condition = self.rule?.condition?;
        let mut told = self.pod?.told_conditions().iter();
        told.find(|told| told.type_ == condition.type_ && told.status == condition.status)
    }

    /// The reason: of the wait, the matched condition, the disruption, the pod, or the container's end, in this order.
    pub fn reason(&self) -> Option<&str> {
        if let Some(waiting) = self.waiting() {
            return Some(&waiting.reason);
        }
        if self.class == Class::Pending {
            return Some("Terminating");
        }
        if self.class == Class::NotReady {
            return self.told.as_ref()?.reason.as_deref();
        }
        if let Some(told) = self.matched_condition().filter(|told| &*told.type_ != "DisruptionTarget") {
            return Some(told.reason.as_deref().unwrap_or(&told.type_));
        }
        if self.restart().is_none()
            && let Some(pod) = self.pod
        {
            let status = pod.reason();
            if self.is_disrupted() {
                let disruption = pod.disruption().and_then(|disruption| disruption.reason.as_deref());
                // The kubelet's own disruptions are told better by the pod: Evicted, Terminated, Preempting.
                let told = if disruption == Some("TerminationByKubelet") { status.or(disruption) } else { disruption };
                return told.or(Some("DisruptionTarget"));
            }
            if status.is_some() && !self.rule.is_some_and(|rule| rule.by_exit_code()) {
                return status;
            }
            if pod.is_terminating() {
                return Some("Terminating");
            }
        }
        self.end
            .and_then(|end| end.reason.as_deref())
            .or_else(|| self.pod?.reason())
            .or_else(|| self.told.as_ref()?.reason.as_deref())
    }

    /// The message that goes with the reason, as it was written.
    pub(super) fn message(&self) -> Option<&str> {
        if let Some(waiting) = self.waiting() {
            return waiting.message.as_deref();
        }
        if self.class == Class::NotReady {
            return self.told.as_ref()?.message.as_deref();
        }
        if let Some(told) = self.matched_condition().filter(|told| &*told.type_ != "DisruptionTarget") {
            return told.message.as_deref().or_else(|| self.end?.message.as_deref());
        }
        let of_end = self.end.and_then(|end| end.message.as_deref());
        if self.restart().is_some() {
            return of_end;
        }
        let of_pod = self.pod.and_then(|pod| {
            let of_disruption = pod.disruption().and_then(|disruption| disruption.message.as_deref());
            if self.is_disrupted() { of_disruption.or(pod.message()) } else { pod.message() }
        });
        let of_pod_first = self.is_disrupted()
            || (self.pod.is_some_and(|pod| pod.reason().is_some())
                && !self.rule.is_some_and(|rule| rule.by_exit_code()));
        let message = if of_pod_first { of_pod.or(of_end) } else { of_end.or(of_pod) };
        message.or_else(|| self.told.as_ref()?.message.as_deref())
    }

    /// What failures without a rule are grouped by.
    pub(super) fn signature(&self) -> Signature<'_> {
        let reason = self.reason();
        // A disrupted pod's exit code is the signal it was ended with; the disruption is the cause.
        if self.is_disrupted() || matches!(self.class, Class::Unmatchable | Class::Pending) {
            return Signature { reason, ..Signature::default() };
        }
        Signature { container: self.container(), exit_code: self.exit_code(), reason }
    }

    /// What it has in common with others, so that one of them is told of in detail. Messages are left out: they may all
    /// differ, by a time or a number.
    pub(super) fn likeness(&self) -> Likeness<'_> {
        let hidden = self.sidecar_hit().and_then(|hit| hit.app).map(|app| (&*app.outcome.container, app.exit_code));
        let rule = self.rule.map(|rule| rule.index());
        Likeness { class: self.class, rule, signature: self.signature(), hidden }
    }
}

/// What failures have in common that one of them stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Likeness<'a> {
    class: Class,
    rule: Option<usize>,
    signature: Signature<'a>,
    /// What a sidecar hides differs where its own end does not.
    hidden: Option<(&'a str, i32)>,
}

/// Whether an exit code stands for a signal that comes from outside: SIGKILL or SIGTERM.
pub fn is_sent(exit_code: i32) -> bool {
    matches!(exit_code, 137 | 143)
}

/// The signal that an exit code above 128 stands for by the shells' convention.
pub(super) fn signal_name(exit_code: i32) -> Option<&'static str> {
    Some(match exit_code.checked_sub(128)? {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        10 => "SIGUSR1",
        11 => "SIGSEGV",
        12 => "SIGUSR2",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        24 => "SIGXCPU",
        25 => "SIGXFSZ",
        31 => "SIGSYS",
        _ => return None,
    })
}
