#!/usr/bin/env python3
"""Installs what krew/package.py made as a user would, with the real krew and kubectl, on the machine's own platform.

    smoke.py [--dist dist] [--kubectl PATH] VERSION

It reaches for nothing beyond this machine: krew's root is a temporary folder, the index is a local Git repository, and what krew
downloads through the index comes from a server on the loopback address. Both ways are gone:

  by file   krew install --manifest --archive, as the review of a plugin does it; a changed archive is refused
  by index  krew index add, install, upgrade and uninstall: the custom index that docs/krew.md tells of
"""

import argparse
import functools
import http.server
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import package

OLD_TAG = "v0.0.1"


class Failed(Exception):
    """What a user would have met."""


class Krew:
    """krew with a root of its own, and kubectl with krew's folder in its PATH."""

    def __init__(self, krew, kubectl, scratch):
        self.krew, self.kubectl, self.root = krew, kubectl, scratch / "root"
        home = scratch / "home"
        home.mkdir()
        # Nothing of the user's own: neither a plugin of the same name nor a kubeconfig that would be asked.
        path = os.pathsep.join([str(self.root / "bin"), *system_path()])
        self.environment = dict(os.environ, KREW_ROOT=str(self.root), KREW_NO_UPGRADE_CHECK="1", HOME=str(home),
                                USERPROFILE=str(home), KUBECONFIG="", PATH=path, GIT_CONFIG_GLOBAL=os.devnull)

    def run(self, *arguments, fails=False):
        """Output of krew. What it says goes on to stderr."""
        return self._run([self.krew, *arguments], fails)

    def plugin(self, *arguments, fails=False):
        """Output of `kubectl sigapps`."""
        return self._run([self.kubectl, "sigapps", *arguments], fails)

    def _run(self, command, fails):
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        said = f"{' '.join(map(str, command))}: {done.returncode}\n{done.stdout}{done.stderr}"
        print(said, file=sys.stderr)
        if fails != (done.returncode != 0):
            raise Failed(f"this should have {'failed' if fails else 'succeeded'}: {said}")
        return done.stdout + (done.stderr if fails else "")


def system_path():
    """The PATH without folders that hold a kubectl-sigapps: what is tried is what krew installed."""
    folders = os.environ["PATH"].split(os.pathsep)
    return [folder for folder in folders if not shutil.which(package.TOOL, path=folder)]


def expect(holds, what):
    if not holds:
        raise Failed(what)


def by_file(krew, manifest, archive, version, scratch):
    """krew install --manifest --archive, and that krew looks at the checksum at all."""
    changed = scratch / archive.name
    changed.write_bytes(archive.read_bytes() + b"\0")
    refused = krew.run("install", "--manifest", manifest, "--archive", changed, fails=True)
    expect("checksum" in refused.lower(), f"a changed archive is refused for another reason: {refused}")
    krew.run("install", "--manifest", manifest, "--archive", archive)
    runs(krew, version)
    found = {file.name for file in (krew.root / "store" / "sigapps" / f"v{version}").iterdir()}
    expect("LICENSE" in found, f"the LICENSE is not installed: {found}")
    krew.run("uninstall", "sigapps")
    is_gone(krew)


def by_index(krew, template, tag, dist, index, base):
    """An index that first has an old release of it, then this one."""
    def publish(as_tag):
        text, _ = package.render(template, tag, dist, incomplete=True, base=base)
        (index / "plugins" / "sigapps.yaml").write_text(text.replace(f"version: {tag}\n", f"version: {as_tag}\n"))
        commit(index, f"sigapps {as_tag}")

    publish(OLD_TAG)
    krew.run("index", "add", "mine", index.as_uri())
    expect("mine/sigapps" in krew.run("search", "sigapps"), "krew search does not find it in the index")
    krew.run("install", "mine/sigapps")
    expect(installed(krew) == OLD_TAG, f"installed is {installed(krew)}, not {OLD_TAG}")
    runs(krew, tag.removeprefix("v"))
    publish(tag)
    krew.run("update")
    krew.run("upgrade", "sigapps")
    expect(installed(krew) == tag, f"after the upgrade {installed(krew)} is installed, not {tag}")
    runs(krew, tag.removeprefix("v"))
    krew.run("uninstall", "sigapps")
    is_gone(krew)


def runs(krew, version):
    """kubectl finds it, it is the version that was packed, and it works: it reads a recording."""
    told = krew.plugin("version")
    expect(version in told, f"kubectl sigapps version does not tell {version}: {told}")
    recording = package.ROOT / "examples" / "cluster.json.gz"
    expect("job.batch/" in krew.plugin("failures", "-f", recording, "-o", "name"), "it finds no failure in the example")


def is_gone(krew):
    expect("unknown command" in krew.plugin("version", fails=True), "kubectl still finds it")
    expect(not installed(krew), f"krew still lists {installed(krew)}")


def installed(krew):
    """The version of the receipt that krew keeps of an installed plugin, or None. `krew list` tells it only to a terminal."""
    listed = any("sigapps" in line for line in krew.run("list").splitlines())
    receipt = krew.root / "receipts" / "sigapps.yaml"
    expect(listed == receipt.is_file(), f"krew lists it: {listed}, but {receipt} says otherwise")
    return re.search(r"^  version: (\S+)$", receipt.read_text(), re.M)[1] if listed else None


def commit(index, message):
    who = ["-c", "user.name=smoke", "-c", "user.email=smoke@localhost", "-c", "commit.gpgsign=false"]
    for arguments in (["add", "."], [*who, "commit", "--quiet", "--message", message]):
        subprocess.run(["git", "-C", index, *arguments], check=True)


def serve(folder):
    """A server of a folder's files on the loopback address; its URL."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=folder)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def default_kubectl():
    """The one that the cluster tests build, else the one in PATH."""
    assets = os.environ.get("KUBEBUILDER_ASSETS")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    built = (Path(assets) if assets else cache / "kubectl-sigapps-cluster" / "bin") / "kubectl"
    return built if built.is_file() else shutil.which("kubectl")


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dist", type=Path, default=package.ROOT / "dist", help="the folder of archives [dist]")
    parser.add_argument("--kubectl", type=Path, default=default_kubectl())
    parser.add_argument("version")
    asked = parser.parse_args(arguments)
    tag, dist = package.tag_of(asked.version), asked.dist.resolve()
    if not asked.kubectl:
        raise Failed("kubectl is missing: it is what runs a plugin; name one with --kubectl")
    archive = dist / package.archive_name(package.this_platform(), tag)
    krew = package.build_go_tool("krew", dist)
    template = (package.ROOT / "krew" / "sigapps.yaml").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch).resolve()
        index = scratch / "index"
        (index / "plugins").mkdir(parents=True)
        subprocess.run(["git", "init", "--quiet", "--initial-branch=main", index], check=True)
        trial = Krew(krew, asked.kubectl.resolve(), scratch)
        by_index(trial, template, tag, dist, index, serve(dist))
        # Uninstalling asks for an index to be there, and there is one by now.
        by_file(trial, dist / "sigapps.yaml", archive, tag.removeprefix("v"), scratch)
    print(f"krew installs, upgrades and removes {archive.name}, and kubectl runs it")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (Failed, package.Refused) as why:
        sys.exit(f"error: {why}")
