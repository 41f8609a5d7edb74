#!/usr/bin/env python3
"""serve.py N FOLDER: an API server of the N pods of dump.py and their Jobs, in pages of 500, and of nothing else.

It writes the pages into FOLDER first, so that serving them costs little, then a kubeconfig, and prints its path. A watch stays
open and tells nothing.
"""
import http.server
import json
import pathlib
import re
import sys
import threading
import urllib.parse

import dump

PAGE = 500
LISTS = {
    "/api/v1/pods": "Pod",
    "/apis/batch/v1/jobs": "Job",
    "/apis/batch/v1/cronjobs": "CronJob",
    "/api/v1/events": "Event",
    "/api/v1/nodes": "Node",
    "/api/v1/persistentvolumeclaims": "PersistentVolumeClaim",
    "/apis/apps/v1/deployments": "Deployment",
    "/apis/apps/v1/replicasets": "ReplicaSet",
    "/apis/apps/v1/statefulsets": "StatefulSet",
    "/apis/apps/v1/daemonsets": "DaemonSet",
    "/apis/apps/v1/controllerrevisions": "ControllerRevision",
}


def write_pages(pods, folder):
    """PATH-KIND-NUMBER files of pages; how many there are of each kind."""
    pages, waiting = {"Pod": 0, "Job": 0}, {"Pod": [], "Job": []}

    def put(kind):
        (folder / f"{kind}-{pages[kind]}").write_text(",".join(waiting[kind]))
        pages[kind] += 1
        waiting[kind] = []

    for text in dump.objects(pods):
        value = json.loads(text)
        kind = value["kind"]
        del value["kind"], value["apiVersion"]
        waiting[kind].append(json.dumps(value, separators=(",", ":")))
        if len(waiting[kind]) == PAGE:
            put(kind)
    for kind in waiting:
        if waiting[kind]:
            put(kind)
    return pages


def handler(pages, folder):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            path, _, query = self.path.partition("?")
            asked = dict(urllib.parse.parse_qsl(query))
            kind = LISTS.get(path)
            if kind is None:
                return self.answer(404, b'{"kind":"Status","apiVersion":"v1","code":404,"reason":"NotFound"}')
            if "watch" in asked:
                self.answer_head(200)
                threading.Event().wait()
            number = int(asked.get("continue") or 0)
            last = number + 1 >= pages.get(kind, 0)
            items = b"" if number >= pages.get(kind, 0) else (folder / f"{kind}-{number}").read_bytes()
            group = re.sub(r"^/apis?/|/[a-z]+$", "", path)
            metadata = {"resourceVersion": "9"} | ({} if last else {"continue": str(number + 1)})
            head = json.dumps({"kind": f"{kind}List", "apiVersion": group, "metadata": metadata})[:-1]
            self.answer(200, head.encode() + b',"items":[' + items + b"]}")

        def answer_head(self, code, length=None):
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            if length is None:
                self.send_header("Connection", "close")
            else:
                self.send_header("Content-Length", str(length))
            self.end_headers()
            self.wfile.flush()

        def answer(self, code, body):
            self.answer_head(code, len(body))
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    return Handler


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass  # Whoever was served is gone.


def main():
    pods, folder = int(sys.argv[1]), pathlib.Path(sys.argv[2])
    server = Server(("127.0.0.1", 0), handler(write_pages(pods, folder), folder))
    config = {
        "apiVersion": "v1", "kind": "Config", "current-context": "bench",
        "clusters": [{"name": "bench", "cluster": {"server": f"http://127.0.0.1:{server.server_port}"}}],
        "users": [{"name": "bench", "user": {}}],
        "contexts": [{"name": "bench", "context": {"cluster": "bench", "user": "bench"}}],
    }
    (folder / "kubeconfig").write_text(json.dumps(config))
    print(folder / "kubeconfig", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
