#!/usr/bin/env python3
"""dump.py N FILE [--gzip]: a dump of N pods and their Jobs, as `kubectl get pods,jobs -A -o json` prints it.

About 13 KB a pod: 100,000 pods are 1.3 GB. The same N gives the same bytes. Every Job is Indexed with 50 pods, has a
podFailurePolicy and a status that agrees with its pods: five of fifty succeeded, the others failed in nine ways.
"""
import argparse
import gzip
import json
import re
import sys

PODS_PER_JOB = 50
IMAGE = "registry.example/ml/train/megatron:24.11-cu126"

# By index modulo ten: exit code, reason, message.
TRACE = (
    "Traceback (most recent call last):\n"
    '  File "/app/train.py", line 812, in <module>\n    main()\n'
    '  File "/app/train.py", line 640, in main\n'
)
ENDINGS = [
    (137, "OOMKilled", None),
    (42, "Error", TRACE + 'ValueError: unknown optimizer "adamww" in config.yaml'),
    (1, "Error", TRACE + "RuntimeError: NCCL error in: ProcessGroupNCCL.cpp:2120, unhandled system error, rank @{index}"),
    (143, "Error", None),
    (139, "Error", None),
    (1, "Error", None),
    (0, "Completed", None),
    (137, "Error", None),
    (255, "Error", None),
    (134, "Error", None),
]
DISRUPTED, SUCCEEDED = 3, 6


def container():
    env = {
        "JOB_NAME": "@{job}",
        "NCCL_DEBUG": "INFO",
        "NCCL_IB_DISABLE": "0",
        "MASTER_ADDR": "@{job}-workers-0-0.@{job}",
        "MASTER_PORT": "29500",
        "WORLD_SIZE": "50",
        "CHECKPOINT_DIR": "s3://checkpoints/@{job}",
    }
    field = {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.labels['batch.kubernetes.io/job-completion-index']"}}
    size = {"cpu": "96", "memory": "900Gi", "nvidia.com/gpu": "8"}
    return {
        "args": ["--config=/etc/train/config.yaml", "--resume=auto"],
        "command": ["python3", "/app/train.py"],
        "env": [{"name": name, "value": value} for name, value in env.items()]
        + [{"name": "JOB_COMPLETION_INDEX", "valueFrom": field}],
        "image": IMAGE,
        "imagePullPolicy": "IfNotPresent",
        "name": "main",
        "resources": {"limits": size, "requests": size},
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": [
            {"mountPath": "/dev/shm", "name": "shm"},
            {"mountPath": "/etc/train", "name": "config", "readOnly": True},
        ],
    }


def template():
    """The pod's spec as its Job has it."""
    return {
        "containers": [container()],
        "dnsPolicy": "ClusterFirst",
        "nodeSelector": {"example.com/accelerator": "h100-80gb"},
        "priorityClassName": "train-high",
        "restartPolicy": "Never",
        "schedulerName": "default-scheduler",
        "securityContext": {},
        "serviceAccount": "trainer",
        "serviceAccountName": "trainer",
        "terminationGracePeriodSeconds": 30,
        "tolerations": [{"effect": "NoSchedule", "key": "nvidia.com/gpu", "operator": "Exists"}],
        "volumes": [
            {"emptyDir": {"medium": "Memory", "sizeLimit": "64Gi"}, "name": "shm"},
            {"configMap": {"defaultMode": 420, "name": "@{job}-config"}, "name": "config"},
        ],
    }


def spec():
    """The pod's spec after admission and scheduling."""
    given = template()
    token = "kube-api-access-x2x4z"
    given["containers"][0]["volumeMounts"].append(
        {"mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "name": token, "readOnly": True}
    )
    sources = [
        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
        {"configMap": {"items": [{"key": "ca.crt", "path": "ca.crt"}], "name": "kube-root-ca.crt"}},
        {"downwardAPI": {"items": [{"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}, "path": "namespace"}]}},
    ]
    given["volumes"].append({"name": token, "projected": {"defaultMode": 420, "sources": sources}})
    for key in ("not-ready", "unreachable"):
        given["tolerations"].append(
            {"effect": "NoExecute", "key": f"node.kubernetes.io/{key}", "operator": "Exists", "tolerationSeconds": 300}
        )
    given.update(
        enableServiceLinks=True,
        hostname="@{job}-@{index}",
        nodeName="@{node}",
        preemptionPolicy="PreemptLowerPriority",
        priority=1000,
        subdomain="@{job}",
    )
    return dict(sorted(given.items()))


def conditions(way):
    ended = "PodCompleted" if way == SUCCEEDED else "PodFailed"
    listed = []
    if way == DISRUPTED:
        listed.append(
            {
                "lastProbeTime": None,
                "lastTransitionTime": "@{end}",
                "message": "Taint manager: deleting due to NoExecute taint",
                "reason": "DeletionByTaintManager",
                "status": "True",
                "type": "DisruptionTarget",
            }
        )
    for kind, status, reason in [
        ("PodReadyToStartContainers", "False", None),
        ("Initialized", "True", "PodCompleted" if way == SUCCEEDED else None),
        ("Ready", "False", ended),
        ("ContainersReady", "False", ended),
        ("PodScheduled", "True", None),
    ]:
        condition = {"lastProbeTime": None, "lastTransitionTime": "@{start}"}
        if reason:
            condition["reason"] = reason
        listed.append(condition | {"status": status, "type": kind})
    return listed


def pod(way):
    code, reason, message = ENDINGS[way]
    terminated = {"containerID": "containerd://@{id64}", "exitCode": code, "finishedAt": "@{end}"}
    if message:
        terminated["message"] = message
    terminated |= {"reason": reason, "startedAt": "@{start}"}
    jobset = {
        "jobset.sigs.k8s.io/global-replicas": "4",
        "jobset.sigs.k8s.io/job-index": "0",
        "jobset.sigs.k8s.io/job-key": "@{job40}",
        "jobset.sigs.k8s.io/jobset-name": "@{jobset}",
        "jobset.sigs.k8s.io/replicatedjob-name": "workers",
        "jobset.sigs.k8s.io/replicatedjob-replicas": "4",
        "jobset.sigs.k8s.io/restart-attempt": "0",
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "annotations": {"batch.kubernetes.io/job-completion-index": "@{index}", **jobset},
            "creationTimestamp": "@{start}",
            "generateName": "@{job}-@{index}-",
            "labels": {
                "batch.kubernetes.io/controller-uid": "@{jobuid}",
                "batch.kubernetes.io/job-completion-index": "@{index}",
                "batch.kubernetes.io/job-name": "@{job}",
                "controller-uid": "@{jobuid}",
                "job-name": "@{job}",
                **jobset,
                "kueue.x-k8s.io/podset": "workers",
                "kueue.x-k8s.io/queue-name": "@{namespace}-queue",
            },
            "name": "@{job}-@{index}-@{suffix}",
            "namespace": "@{namespace}",
            "ownerReferences": [
                {
                    "apiVersion": "batch/v1",
                    "blockOwnerDeletion": True,
                    "controller": True,
                    "kind": "Job",
                    "name": "@{job}",
                    "uid": "@{jobuid}",
                }
            ],
            "resourceVersion": "@{version}",
            "uid": "@{uid}",
        },
        "spec": spec(),
        "status": {
            "conditions": conditions(way),
            "containerStatuses": [
                {
                    "containerID": "containerd://@{id64}",
                    "image": IMAGE,
                    "imageID": "registry.example/ml/train/megatron@sha256:@{job64}",
                    "lastState": {},
                    "name": "main",
                    "ready": False,
                    "restartCount": 0,
                    "started": False,
                    "state": {"terminated": terminated},
                }
            ],
            "hostIP": "@{hostip}",
            "hostIPs": [{"ip": "@{hostip}"}],
            "phase": "Succeeded" if way == SUCCEEDED else "Failed",
            "podIP": "@{podip}",
            "podIPs": [{"ip": "@{podip}"}],
            "qosClass": "Guaranteed",
            "startTime": "@{start}",
        },
    }


def job(pods):
    """A Job of so many pods, every index of which was tried once."""
    ways = [index % 10 for index in range(pods)]
    succeeded = ways.count(SUCCEEDED)
    failed_indexes = [index for index in range(pods) if index % 10 != SUCCEEDED]
    condition = {
        "lastProbeTime": "@{jobend}",
        "lastTransitionTime": "@{jobend}",
        "message": "Job has failed indexes",
        "reason": "FailedIndexes",
        "status": "True",
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "creationTimestamp": "@{start}",
            "generation": 1,
            "labels": {"kueue.x-k8s.io/queue-name": "@{namespace}-queue"},
            "name": "@{job}",
            "namespace": "@{namespace}",
            "resourceVersion": "@{version}",
            "uid": "@{jobuid}",
        },
        "spec": {
            "backoffLimit": 2147483647,
            "backoffLimitPerIndex": 0,
            "completionMode": "Indexed",
            "completions": pods,
            "manualSelector": False,
            "parallelism": pods,
            "podFailurePolicy": {
                "rules": [
                    {
                        "action": "FailIndex",
                        "onExitCodes": {"containerName": "main", "operator": "In", "values": [42]},
                        "onPodConditions": None,
                    },
                    {"action": "Count", "onPodConditions": [{"status": "True", "type": "DisruptionTarget"}]},
                ]
            },
            "podReplacementPolicy": "Failed",
            "selector": {"matchLabels": {"batch.kubernetes.io/controller-uid": "@{jobuid}"}},
            "suspend": False,
            "template": {
                "metadata": {
                    "labels": {
                        "batch.kubernetes.io/controller-uid": "@{jobuid}",
                        "batch.kubernetes.io/job-name": "@{job}",
                    }
                },
                "spec": template(),
            },
        },
        "status": {
            "completedIndexes": runs(index for index in range(pods) if index % 10 == SUCCEEDED),
            "conditions": [condition | {"type": "FailureTarget"}, condition | {"type": "Failed"}],
            "failed": pods - succeeded,
            "failedIndexes": runs(failed_indexes),
            "ready": 0,
            "startTime": "@{start}",
            "succeeded": succeeded,
            "terminating": 0,
            "uncountedTerminatedPods": {},
        },
    }


def runs(indexes):
    """Indexes as Kubernetes writes them: 0-5,7."""
    found = []
    for index in indexes:
        if found and found[-1][-1] == index - 1:
            found[-1].append(index)
        else:
            found.append([index])
    words = {1: "{0}", 2: "{0},{1}"}
    return ",".join(words.get(len(run), "{0}-{1}").format(run[0], run[-1]) for run in found)


class Printed:
    """An object printed once, with gaps that are filled for each copy: printing 1.3 GB anew takes minutes."""

    def __init__(self, thing):
        text = json.dumps(thing, indent=4).replace("\n", "\n        ")
        self.parts = re.split(r"@\{(\w+)\}", text)
        self.names = self.parts[1::2]

    def write(self, values):
        self.parts[1::2] = [values[name] for name in self.names]
        return "".join(self.parts)


def values_of_job(number):
    uid = f"{number:08x}-9c2d-4e5f-8a9b-{number * 7919:012x}"
    day = f"2026-11-{1 + number % 28:02d}T{number % 23:02d}"
    return {
        "job": f"train-llm-{number // 4:05d}-workers-{number % 4}",
        "jobset": f"train-llm-{number // 4:05d}",
        "jobuid": uid,
        "job40": f"{number * 2654435761 % 2**64:040x}",
        "job64": f"{number // 100:064x}",
        "namespace": f"team-{number // 4 % 40:02d}",
        "start": f"{day}:00:00Z",
        "jobend": f"{day}:59:59Z",
        "version": str(900_000_000 + number),
        "day": day,  # for its pods
    }


def values_of_pod(number, of_job):
    index = number % PODS_PER_JOB
    node = number % 3000
    return of_job | {
        "index": str(index),
        "suffix": f"{number * 48271 % 60466176:05x}"[-5:],
        "uid": f"{number:08x}-1c2d-4e5f-8a9b-{number * 7919 % 2**48:012x}",
        "id64": f"{number:064x}",
        "node": f"gpu-node-{node:04d}",
        "version": str(800_000_000 + number),
        "end": f"{of_job['day']}:{5 + index:02d}:{number * 7 % 60:02d}Z",
        "hostip": f"10.{node // 250}.{node % 250}.1",
        "podip": f"10.{node // 250}.{node % 250}.{2 + number % 250}",
    }


def objects(pods):
    """All pods, then all Jobs, as kubectl lists them."""
    printed = [Printed(pod(way)) for way in range(10)]
    jobs = range((pods + PODS_PER_JOB - 1) // PODS_PER_JOB)
    for number in jobs:
        of_job = values_of_job(number)
        for place in range(number * PODS_PER_JOB, min(pods, (number + 1) * PODS_PER_JOB)):
            yield printed[place % 10].write(values_of_pod(place, of_job))
    whole = Printed(job(PODS_PER_JOB))
    for number in jobs:
        here = min(PODS_PER_JOB, pods - number * PODS_PER_JOB)
        shape = whole if here == PODS_PER_JOB else Printed(job(here))
        yield shape.write(values_of_job(number))


def write(pods, file):
    file.write(b'{\n    "apiVersion": "v1",\n    "items": [')
    for number, text in enumerate(objects(pods)):
        file.write((",\n        " if number else "\n        ").encode() + text.encode())
    file.write(b'\n    ],\n    "kind": "List",\n    "metadata": {\n        "resourceVersion": ""\n    }\n}\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("pods", type=int, metavar="N")
    parser.add_argument("file", metavar="FILE", help="- for standard output")
    parser.add_argument("--gzip", action="store_true", help="pack it")
    given = parser.parse_args()
    raw = sys.stdout.buffer if given.file == "-" else open(given.file, "wb", buffering=1 << 20)
    with raw:
        if given.gzip:
            with gzip.GzipFile(filename="", mode="wb", compresslevel=1, fileobj=raw, mtime=0) as packed:
                write(given.pods, packed)
        else:
            write(given.pods, raw)


if __name__ == "__main__":
    main()
