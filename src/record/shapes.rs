//! What is kept of each kind: the fields that `model` reads, by their paths. Whatever is not named here is not recorded.

use super::keep::Keep::{self, Each, Leaf, Members, Object, Texts, With};
use super::template;

/// What is kept of a kind; `None` for one that is not recorded.
pub(super) fn of(kind: &str) -> Option<&'static Keep> {
    Some(match kind {
        "Pod" => &POD,
        "Job" => &JOB,
        "CronJob" => &CRON_JOB,
        "JobSet" => &JOB_SET,
        "Event" => &EVENT,
        "Node" => &NODE,
        "PersistentVolumeClaim" => &CLAIM,
        "VolumeSnapshot" => &VOLUME_SNAPSHOT,
        "PodCheckpoint" => &POD_CHECKPOINT,
        "PodSnapshot" => &POD_SNAPSHOT,
        "Deployment" => &DEPLOYMENT,
        "ReplicaSet" => &REPLICA_SET,
        "StatefulSet" => &STATEFUL_SET,
        "DaemonSet" => &DAEMON_SET,
        "ControllerRevision" => &CONTROLLER_REVISION,
        "LeaderWorkerSet" => &LEADER_WORKER_SET,
        "DisaggregatedSet" => &DISAGGREGATED_SET,
        "Sandbox" => &SANDBOX,
        "SandboxClaim" => &SANDBOX_CLAIM,
        "SandboxWarmPool" => &SANDBOX_WARM_POOL,
        "TrainJob" => &TRAIN_JOB,
        "Workload" => &QUEUED,
        _ => return None,
    })
}

/// Of labels all, as selectors may ask for any; of annotations those that are read.
pub(super) const METADATA: Keep = Members(&[
    ("name", Leaf),
    ("namespace", Leaf),
    ("uid", Leaf),
    ("resourceVersion", Leaf),
    ("creationTimestamp", Leaf),
    ("deletionTimestamp", Leaf),
    ("deletionGracePeriodSeconds", Leaf),
    ("generation", Leaf),
    ("finalizers", Leaf),
    ("labels", With(template::labels)),
    ("annotations", With(template::annotations)),
    ("ownerReferences", Each(&OWNER)),
]);

const OWNER: Keep = Members(&[
    ("apiVersion", Leaf),
    ("kind", Leaf),
    ("name", Leaf),
    ("uid", Leaf),
    ("controller", Leaf),
    ("blockOwnerDeletion", Leaf),
]);

const CONDITIONS: Keep = Each(&Members(&[
    ("type", Leaf),
    ("status", Leaf),
    ("reason", Leaf),
    ("message", With(super::secrets::message)),
    ("lastTransitionTime", Leaf),
]));

const RESOURCES: Keep = Members(&[("limits", Texts), ("requests", Texts)]);

const TEMPLATE: Keep = Members(&[("metadata", METADATA), ("spec", TEMPLATE_SPEC)]);

const TEMPLATE_SPEC: Keep = Members(&[
    ("restartPolicy", Leaf),
    ("shareProcessNamespace", Leaf),
    ("terminationGracePeriodSeconds", Leaf),
    ("resources", RESOURCES),
    ("containers", Each(&With(template::container))),
    ("initContainers", Each(&With(template::container))),
    ("volumes", Each(&With(template::volume))),
]);

/// Where checkpoints are is told by what a program is given and where its volumes are.
/// Its words are `template::container`'s.
pub(super) const TEMPLATE_CONTAINER: Keep = Members(&[
    ("name", Leaf),
    ("image", Leaf),
    ("restartPolicy", Leaf),
    ("resources", RESOURCES),
    ("workingDir", With(template::path)),
    ("env", Each(&With(template::variable))),
    ("envFrom", Each(&With(template::nothing))),
    ("volumeMounts", Each(&Members(&[("name", Leaf), ("mountPath", Leaf), ("readOnly", Leaf), ("subPathExpr", Leaf)]))),
]);

const POD_FAILURE_POLICY: Keep = Members(&[(
    "rules",
    Each(&Members(&[
        ("name", Leaf),
        ("action", Leaf),
        ("onExitCodes", Members(&[("containerName", Leaf), ("operator", Leaf), ("values", Leaf)])),
        ("onPodConditions", Each(&Members(&[("type", Leaf), ("status", Leaf)]))),
    ])),
)]);

const JOB_SPEC: Keep = Members(&[
    ("parallelism", Leaf),
    ("completions", Leaf),
    ("completionMode", Leaf),
    ("backoffLimit", Leaf),
    ("backoffLimitPerIndex", Leaf),
    ("maxFailedIndexes", Leaf),
    ("managedBy", Leaf),
    ("podReplacementPolicy", Leaf),
    ("suspend", Leaf),
    ("ttlSecondsAfterFinished", Leaf),
    ("activeDeadlineSeconds", Leaf),
    ("podFailurePolicy", POD_FAILURE_POLICY),
    ("template", TEMPLATE),
]);

const JOB_TEMPLATE: Keep = Members(&[("metadata", METADATA), ("spec", JOB_SPEC)]);

const JOB: Keep = Object(
    &JOB_SPEC,
    &Members(&[
        ("active", Leaf),
        ("ready", Leaf),
        ("succeeded", Leaf),
        ("failed", Leaf),
        ("completedIndexes", Leaf),
        ("failedIndexes", Leaf),
        ("startTime", Leaf),
        ("completionTime", Leaf),
        ("uncountedTerminatedPods", Members(&[("failed", Leaf), ("succeeded", Leaf)])),
        ("conditions", CONDITIONS),
    ]),
);

const CRON_JOB: Keep = Object(
    &Members(&[
        ("schedule", Leaf),
        ("timeZone", Leaf),
        ("concurrencyPolicy", Leaf),
        ("suspend", Leaf),
        ("failedJobsHistoryLimit", Leaf),
        ("jobTemplate", JOB_TEMPLATE),
    ]),
    &Members(&[
        ("active", Each(&Members(&[("kind", Leaf), ("name", Leaf), ("uid", Leaf)]))),
        ("lastScheduleTime", Leaf),
        ("lastSuccessfulTime", Leaf),
    ]),
);

/// Of claim templates nothing but their names is read.
const CLAIM_TEMPLATES: Keep = Each(&Members(&[("metadata", Members(&[("name", Leaf)]))]));

const JOB_SET: Keep = Object(
    &Members(&[
        ("managedBy", Leaf),
        ("suspend", Leaf),
        ("ttlSecondsAfterFinished", Leaf),
        ("startupPolicy", Members(&[("startupPolicyOrder", Leaf)])),
        (
            "failurePolicy",
            Members(&[
                ("maxRestarts", Leaf),
                ("restartStrategy", Leaf),
                (
                    "rules",
                    Each(&Members(&[
                        ("name", Leaf),
                        ("action", Leaf),
                        ("onJobFailureReasons", Leaf),
                        ("onJobFailureMessagePatterns", Leaf),
                        ("targetReplicatedJobs", Leaf),
                    ])),
                ),
            ]),
        ),
        (
            "volumeClaimPolicies",
            Each(&Members(&[
                ("templates", CLAIM_TEMPLATES),
                ("retentionPolicy", Members(&[("whenDeleted", Leaf), ("whenScaled", Leaf)])),
            ])),
        ),
        (
            "replicatedJobs",
            Each(&Members(&[
                ("name", Leaf),
                ("replicas", Leaf),
                ("dependsOn", Each(&Members(&[("name", Leaf), ("status", Leaf)]))),
                ("template", JOB_TEMPLATE),
            ])),
        ),
    ]),
    &Members(&[
        ("restarts", Leaf),
        ("restartsCountTowardsMax", Leaf),
        ("terminalState", Leaf),
        ("currentInPlaceRestartAttempt", Leaf),
        ("conditions", CONDITIONS),
        (
            "replicatedJobsStatus",
            Each(&Members(&[
                ("name", Leaf),
                ("active", Leaf),
                ("ready", Leaf),
                ("succeeded", Leaf),
                ("failed", Leaf),
                ("suspended", Leaf),
                ("jobRestarts", Leaf),
                ("jobRestartsCountTowardsMax", Leaf),
            ])),
        ),
    ]),
);

const POD_CONTAINER: Keep =
    Members(&[("name", Leaf), ("image", Leaf), ("restartPolicy", Leaf), ("resources", RESOURCES)]);

/// Of terms that name nodes: which key they ask for, and how. What they ask for is not read.
const TERMS: Keep = Each(&Members(&[
    ("matchExpressions", Each(&Members(&[("key", Leaf), ("operator", Leaf)]))),
    ("matchFields", Each(&Members(&[("key", Leaf), ("operator", Leaf)]))),
]));

const STATE: Keep = Members(&[
    ("waiting", Members(&[("reason", Leaf), ("message", With(super::secrets::message))])),
    ("running", Members(&[("startedAt", Leaf)])),
    (
        "terminated",
        Members(&[
            ("exitCode", Leaf),
            ("signal", Leaf),
            ("reason", Leaf),
            ("message", With(super::secrets::last_words)),
            ("startedAt", Leaf),
            ("finishedAt", Leaf),
        ]),
    ),
]);

const CONTAINER_STATUSES: Keep = Each(&Members(&[
    ("name", Leaf),
    ("image", Leaf),
    ("restartCount", Leaf),
    ("ready", Leaf),
    ("started", Leaf),
    ("state", STATE),
    ("lastState", STATE),
    (
        "allocatedResourcesStatus",
        Each(&Members(&[("name", Leaf), ("resources", Each(&Members(&[("resourceID", Leaf), ("health", Leaf)])))])),
    ),
]));

const POD: Keep = Object(
    &Members(&[
        ("nodeName", Leaf),
        ("restartPolicy", Leaf),
        ("resources", RESOURCES),
        ("containers", Each(&POD_CONTAINER)),
        ("initContainers", Each(&POD_CONTAINER)),
        ("nodeSelector", Members(&[("kubernetes.io/hostname", Leaf)])),
        (
            "affinity",
            Members(&[(
                "nodeAffinity",
                Members(&[(
                    "requiredDuringSchedulingIgnoredDuringExecution",
                    Members(&[("nodeSelectorTerms", TERMS)]),
                )]),
            )]),
        ),
    ]),
    &Members(&[
        ("phase", Leaf),
        ("reason", Leaf),
        ("message", With(super::secrets::message)),
        ("startTime", Leaf),
        ("conditions", CONDITIONS),
        ("containerStatuses", CONTAINER_STATUSES),
        ("initContainerStatuses", CONTAINER_STATUSES),
    ]),
);

const ABOUT: Keep = Members(&[
    ("kind", Leaf),
    ("apiVersion", Leaf),
    ("namespace", Leaf),
    ("name", Leaf),
    ("uid", Leaf),
    ("fieldPath", Leaf),
]);

const EVENT: Keep = Members(&[
    (
        "metadata",
        Members(&[
            ("name", Leaf),
            ("namespace", Leaf),
            ("uid", Leaf),
            ("resourceVersion", Leaf),
            ("creationTimestamp", Leaf),
        ]),
    ),
    ("involvedObject", ABOUT),
    ("regarding", ABOUT),
    ("type", Leaf),
    ("reason", Leaf),
    ("message", With(super::secrets::message)),
    ("note", With(super::secrets::message)),
    ("firstTimestamp", Leaf),
    ("lastTimestamp", Leaf),
    ("deprecatedFirstTimestamp", Leaf),
    ("deprecatedLastTimestamp", Leaf),
    ("eventTime", Leaf),
    ("count", Leaf),
    ("deprecatedCount", Leaf),
    ("series", Members(&[("count", Leaf), ("lastObservedTime", Leaf)])),
]);

/// The time of a heartbeat says as of when a dump was taken; a recording says that itself.
const NODE: Keep = Members(&[
    (
        "metadata",
        Members(&[
            ("name", Leaf),
            ("uid", Leaf),
            ("resourceVersion", Leaf),
            ("creationTimestamp", Leaf),
            ("deletionTimestamp", Leaf),
        ]),
    ),
    (
        "spec",
        Members(&[
            ("unschedulable", Leaf),
            ("taints", Each(&Members(&[("key", Leaf), ("value", Leaf), ("effect", Leaf), ("timeAdded", Leaf)]))),
        ]),
    ),
    ("status", Members(&[("conditions", CONDITIONS)])),
]);

const CLAIM: Keep = Object(&Members(&[("storageClassName", Leaf), ("volumeName", Leaf)]), &Members(&[("phase", Leaf)]));

const VOLUME_SNAPSHOT: Keep = Object(
    &Members(&[("source", Members(&[("persistentVolumeClaimName", Leaf)]))]),
    &Members(&[
        ("readyToUse", Leaf),
        ("creationTime", Leaf),
        ("error", Members(&[("message", With(super::secrets::message))])),
    ]),
);

const POD_CHECKPOINT: Keep = Object(
    &Members(&[("sourcePodName", Leaf)]),
    &Members(&[("nodeName", Leaf), ("completionTime", Leaf), ("conditions", CONDITIONS)]),
);

const POD_SNAPSHOT: Keep = Object(&Members(&[]), &Members(&[("conditions", CONDITIONS)]));

const ROLLING_UPDATE: Keep = Members(&[
    ("type", Leaf),
    ("rollingUpdate", Members(&[("maxUnavailable", Leaf), ("maxSurge", Leaf), ("partition", Leaf)])),
]);

const DEPLOYMENT: Keep = Object(
    &Members(&[("replicas", Leaf), ("paused", Leaf), ("progressDeadlineSeconds", Leaf), ("strategy", ROLLING_UPDATE)]),
    &Members(&[
        ("observedGeneration", Leaf),
        ("replicas", Leaf),
        ("updatedReplicas", Leaf),
        ("readyReplicas", Leaf),
        ("availableReplicas", Leaf),
        ("conditions", CONDITIONS),
    ]),
);

const REPLICA_SET: Keep = Object(
    &Members(&[("replicas", Leaf), ("template", With(template::revision))]),
    &Members(&[("replicas", Leaf), ("readyReplicas", Leaf), ("conditions", CONDITIONS)]),
);

const CONTROLLER_REVISION: Keep = Members(&[
    ("metadata", METADATA),
    ("revision", Leaf),
    ("data", Members(&[("spec", Members(&[("template", With(template::revision))]))])),
]);

const STATEFUL_SET: Keep = Object(
    &Members(&[
        ("replicas", Leaf),
        ("podManagementPolicy", Leaf),
        ("updateStrategy", ROLLING_UPDATE),
        ("ordinals", Members(&[("start", Leaf)])),
        ("volumeClaimTemplates", CLAIM_TEMPLATES),
    ]),
    &Members(&[
        ("observedGeneration", Leaf),
        ("replicas", Leaf),
        ("readyReplicas", Leaf),
        ("updatedReplicas", Leaf),
        ("currentRevision", Leaf),
        ("updateRevision", Leaf),
        ("conditions", CONDITIONS),
    ]),
);

const DAEMON_SET: Keep = Object(
    &Members(&[("updateStrategy", ROLLING_UPDATE)]),
    &Members(&[
        ("observedGeneration", Leaf),
        ("desiredNumberScheduled", Leaf),
        ("currentNumberScheduled", Leaf),
        ("numberReady", Leaf),
        ("numberUnavailable", Leaf),
        ("updatedNumberScheduled", Leaf),
        ("conditions", CONDITIONS),
    ]),
);

const LEADER_WORKER_SET: Keep = Object(
    &Members(&[
        ("replicas", Leaf),
        ("startupPolicy", Leaf),
        ("leaderWorkerTemplate", Members(&[("size", Leaf), ("restartPolicy", Leaf)])),
    ]),
    &Members(&[("replicas", Leaf), ("readyReplicas", Leaf), ("updatedReplicas", Leaf), ("conditions", CONDITIONS)]),
);

const DISAGGREGATED_SET: Keep = Object(
    &Members(&[("roles", Each(&Members(&[("name", Leaf)])))]),
    &Members(&[
        ("roleStatuses", Each(&Members(&[("name", Leaf), ("replicas", Leaf), ("readyReplicas", Leaf)]))),
        ("conditions", CONDITIONS),
    ]),
);

const NAME: Keep = Members(&[("name", Leaf)]);

const SANDBOX: Keep = Object(
    &Members(&[
        ("operatingMode", Leaf),
        ("replicas", Leaf),
        ("shutdownTime", Leaf),
        ("shutdownPolicy", Leaf),
        ("volumeClaimTemplates", CLAIM_TEMPLATES),
        (
            "podTemplate",
            Members(&[(
                "spec",
                Members(&[(
                    "volumes",
                    Each(&Members(&[("name", Leaf), ("persistentVolumeClaim", Members(&[("claimName", Leaf)]))])),
                )]),
            )]),
        ),
    ]),
    &Members(&[("conditions", CONDITIONS)]),
);

const SANDBOX_CLAIM: Keep = Object(
    &Members(&[("warmPoolRef", NAME), ("sandboxTemplateRef", NAME)]),
    &Members(&[("conditions", CONDITIONS), ("sandbox", NAME)]),
);

const SANDBOX_WARM_POOL: Keep = Object(
    &Members(&[("replicas", Leaf), ("sandboxTemplateRef", NAME)]),
    &Members(&[("replicas", Leaf), ("readyReplicas", Leaf)]),
);

const TRAIN_JOB: Keep = Object(
    &Members(&[
        ("suspend", Leaf),
        ("activeDeadlineSeconds", Leaf),
        ("managedBy", Leaf),
        ("runtimeRef", Members(&[("apiGroup", Leaf), ("kind", Leaf), ("name", Leaf)])),
    ]),
    &Members(&[("conditions", CONDITIONS)]),
);

const QUEUED: Keep = Object(
    &Members(&[
        ("active", Leaf),
        ("queueName", Leaf),
        ("priorityClassName", Leaf),
        ("priorityClassRef", NAME),
        ("priority", Leaf),
        ("maximumExecutionTimeSeconds", Leaf),
    ]),
    &Members(&[
        ("conditions", CONDITIONS),
        ("requeueState", Members(&[("count", Leaf), ("requeueAt", Leaf)])),
        ("schedulingStats", Members(&[("evictions", Each(&Members(&[("reason", Leaf), ("count", Leaf)])))])),
        ("admission", Members(&[("clusterQueue", Leaf)])),
    ]),
);
