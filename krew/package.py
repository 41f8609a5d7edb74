#!/usr/bin/env python3
"""Makes what a release consists of: binaries, archives, and the manifest for krew.

    package.py build TARGET                 build one binary with the profile `dist`, and print its path
    package.py documents TOOL DIR           write what goes with the binary: LICENSE, completions, man pages
    package.py archive PLATFORM BINARY DOCUMENTS
                                            pack one archive; PLATFORM is linux-amd64, ...
    package.py manifest VERSION             fill krew/sigapps.yaml with what lies in the folder of archives
    package.py local VERSION                all of it, for what can be built on this machine

Archives are flat, and equal bytes in give equal bytes out: names are sorted, times are SOURCE_DATE_EPOCH's, owners are nobody.
Needs Python 3.9 and nothing beside; runs on Linux, macOS and Windows.
"""

import argparse
import gzip
import hashlib
import io
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOOL = "kubectl-sigapps"

# The platforms of a release, by krew's words for them, and what Rust calls them. Linux is static, so that one binary runs on
# every distribution and in an empty image.
PLATFORMS = {
    "linux-amd64": "x86_64-unknown-linux-musl",
    "linux-arm64": "aarch64-unknown-linux-musl",
    "darwin-amd64": "x86_64-apple-darwin",
    "darwin-arm64": "aarch64-apple-darwin",
    "windows-amd64": "x86_64-pc-windows-msvc",
}

# Bytes of a binary: it is fetched into CI jobs and containers, and read from disk at each call.
LARGEST = 10_000_000


class Refused(Exception):
    """What was asked for cannot be made; the text says why, and what to do."""


def cargo_field(name, root=ROOT):
    """A field of the first table of Cargo.toml that has it, `[package]`."""
    package = (root / "Cargo.toml").read_text(encoding="utf-8").split("[package]", 1)[1]
    found = re.search(rf'^{re.escape(name)} = "(.*)"$', package, re.M)
    if not found:
        raise Refused(f"Cargo.toml has no {name}")
    return found[1]


def tag_of(version, root=ROOT):
    """`v0.1.0` of `0.1.0` or `v0.1.0`, if it is the version that is built."""
    number = version.removeprefix("v")
    built = cargo_field("version", root)
    if number != built:
        raise Refused(f"{version} is not the version in Cargo.toml, {built}: what is packed would call itself {built}")
    return f"v{number}"


def of_commit(variable, form):
    """What an environment variable says, else the last commit, by a format of `git log`."""
    asked = ["git", "log", "-1", f"--format={form}"]
    given = os.environ.get(variable)
    return given or subprocess.run(asked, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def source_date():
    """Seconds since 1970 of the last commit, or what SOURCE_DATE_EPOCH says: reproducible-builds.org."""
    return int(of_commit("SOURCE_DATE_EPOCH", "%ct"))


# Build


def rustflags(target, root=ROOT):
    """Flags under which a binary tells neither where it was built nor by whom, and needs no library that may be missing."""
    home = Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo")
    # A longer path wins over a shorter one if it comes later.
    flags = [f"--remap-path-prefix={home}=/cargo", f"--remap-path-prefix={root}=/source"]
    if target.endswith(("-msvc", "-gnu")):
        # Windows: no redistributable of Visual C++ to be installed first. Linux: the stand-in for musl.
        flags += ["-C", "target-feature=+crt-static"]
    if "-linux-" in target:
        # With `panic = "abort"` nothing unwinds. Windows cannot do without these tables.
        flags += ["-C", "force-unwind-tables=no"]
    return "\x1f".join(flags)


def build(target, root=ROOT):
    """Builds for one target as a release is built; the path of the binary."""
    # On Linux, Zig is the C compiler and the linker for whatever machine and libc; elsewhere the platform's own are right.
    zig = target.endswith("-musl") and shutil.which("cargo-zigbuild")
    command = ["cargo", "zigbuild" if zig else "build", "--locked", "--profile", "dist", "--target", target]
    environment = dict(os.environ, CARGO_ENCODED_RUSTFLAGS=rustflags(target, root), CARGO_INCREMENTAL="0")
    environment.update(SOURCE_DATE_EPOCH=str(source_date()))
    environment.update(KUBECTL_SIGAPPS_COMMIT=of_commit("KUBECTL_SIGAPPS_COMMIT", "%H"))
    subprocess.run(command, cwd=root, env=environment, check=True, stdout=sys.stderr)
    folder = Path(os.environ.get("CARGO_TARGET_DIR") or root / "target")
    path = folder / target / "dist" / (TOOL + (".exe" if "windows" in target else ""))
    if path.stat().st_size > LARGEST:
        raise Refused(f"{path} has {path.stat().st_size} bytes, more than {LARGEST}: look at what a new dependency brings along")
    return path


def has_target(target):
    """Whether Rust's standard library for it is installed."""
    asked = ["rustc", "--print", "target-libdir", "--target", target]
    found = subprocess.run(asked, capture_output=True, text=True)
    return found.returncode == 0 and any(Path(found.stdout.strip()).glob("libstd-*"))


def this_platform():
    machine = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}
    system, machine = platform.system().lower(), machine.get(platform.machine().lower(), platform.machine())
    return f"{system}-{machine}"


def target_here(name):
    """What to build a platform's binary as on this machine, or why it cannot be built."""
    target = PLATFORMS[name]
    system = name.split("-")[0]
    if system != platform.system().lower():
        raise Refused(f"{name} is built on {system}")
    if has_target(target) and (system != "linux" or shutil.which("cargo-zigbuild") or can_link_musl(name)):
        return target
    if name == "linux-" + this_platform().split("-")[1] and system == "linux":
        stand_in = target.replace("-musl", "-gnu")
        print(f"note: {name} is linked statically with glibc, in the place of {target}, which is not installed or has no "
              "linker: good to try here, not to be released", file=sys.stderr)
        return stand_in
    raise Refused(f"{name} needs `rustup target add {target}` and cargo-zigbuild")


def can_link_musl(name):
    return name == this_platform() and bool(shutil.which("musl-gcc"))


# Archives


def write_documents(tool, folder, root=ROOT):
    """What every archive holds beside the binary. `tool` runs on this machine, whichever the archives are for."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(root / "LICENSE", folder)
    for file in sorted((root / "completions").iterdir()):
        shutil.copy(file, folder)
    subprocess.run([tool, "man", folder], check=True)


def members(binary, documents):
    """(name, bytes, mode) of each file of an archive, in order."""
    executable = TOOL + (".exe" if binary.suffix == ".exe" else "")
    found = {executable: (binary.read_bytes(), 0o755)}
    for file in documents.iterdir():
        if not file.is_file():
            raise Refused(f"{file} is no file: archives are flat")
        # kubectl runs it, so that it has to be executable as well.
        found[file.name] = (file.read_bytes(), 0o755 if file.name.startswith("kubectl_complete") else 0o644)
    if "LICENSE" not in found:
        raise Refused(f"{documents} has no LICENSE, which krew asks for in each archive")
    return [(name, *found[name]) for name in sorted(found)]


def archive_name(name, tag):
    return f"{TOOL}-{tag}-{PLATFORMS[name]}" + (".zip" if name.startswith("windows") else ".tar.gz")


def pack(path, files, seconds):
    """A flat tar.gz or zip, by the name."""
    (zip_files if path.suffix == ".zip" else tar_files)(path, files, seconds)


def tar_files(path, files, seconds):
    # The time in gzip's own header is the archive's, else it would be now; its name field is left out.
    with open(path, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, seconds) as packed:
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
            for name, content, mode in files:
                entry = tarfile.TarInfo(name)
                entry.size, entry.mode, entry.mtime = len(content), mode, seconds
                archive.addfile(entry, io.BytesIO(content))


def zip_files(path, files, seconds):
    # Zip knows no time before 1980, and no odd seconds.
    when = max(time.gmtime(seconds)[:6], (1980, 1, 1, 0, 0, 0))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content, mode in files:
            entry = zipfile.ZipInfo(name, when)
            # Else it would differ with the system on which it is made.
            entry.create_system = 3
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, mode << 16
            archive.writestr(entry, content)


def archive(name, binary, documents, folder, root=ROOT):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / archive_name(name, tag_of(cargo_field("version", root), root))
    pack(path, members(binary, documents), source_date())
    return path


# Manifest

ADDRESS = re.compile(r'\{\{ *addURIAndSha "([^"]*)" \.TagName \| indent (\d+) *\}\}')


def render(template, tag, folder, incomplete=False, base=None):
    """The template with version, addresses and checksums.

    A platform without an archive in `folder` is refused, or, if `incomplete`, left out. `base` stands in for the address of
    the release. Returns the text, and the names of the archives that are missing.
    """
    head, listed = template.split("\n  platforms:\n", 1)
    missing, kept = [], []
    for entry in re.split(r"^(?=    - )", listed, flags=re.M)[1:]:
        address, indent = ADDRESS.search(entry).groups()
        address = address.replace("{{ .TagName }}", tag)
        path = folder / address.rsplit("/", 1)[1]
        if not path.is_file():
            missing.append(path.name)
            continue
        if base:
            address = f"{base}/{path.name}"
        lines = f"uri: {address}\n{' ' * int(indent)}sha256: {sha256(path)}"
        kept.append(ADDRESS.sub(lambda _: lines, entry))
    if missing and not incomplete:
        raise Refused(f"{', '.join(missing)} not in {folder}")
    if not kept:
        raise Refused(f"no archive of {tag} in {folder}")
    return head.replace("{{ .TagName }}", tag) + "\n  platforms:\n" + "".join(kept), missing


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def write_manifest(tag, folder, incomplete):
    template = (ROOT / "krew" / "sigapps.yaml").read_text(encoding="utf-8")
    text, missing = render(template, tag, folder, incomplete)
    path = folder / "sigapps.yaml"
    path.write_text(text, encoding="utf-8", newline="\n")
    for name in missing:
        print(f"note: {name} is not there, and so not in the manifest", file=sys.stderr)
    validator = build_go_tool("validate-krew-manifest", folder)
    # Without -skip-install it would fetch the archives from the release, which is not there yet.
    subprocess.run([validator, "-manifest", path, "-skip-install"], check=True)
    return path


def build_go_tool(name, folder):
    """A program of krew's, built from its Go module; go.sum in krew/tools says which bytes."""
    path = (folder / ".tools" / (name + (".exe" if os.name == "nt" else ""))).resolve()
    command = ["go", "build", "-mod=readonly", "-o", path, f"sigs.k8s.io/krew/cmd/{name}"]
    subprocess.run(command, cwd=ROOT / "krew" / "tools", check=True)
    return path


# All at once


def local(tag, folder, given):
    """Archives of what was given and of what can be built here, their checksums, and a manifest of them."""
    binaries = dict(given)
    for name in PLATFORMS:
        if name in binaries:
            continue
        if given and name != this_platform():
            continue
        try:
            binaries[name] = build(target_here(name))
        except Refused as why:
            print(f"left out: {why}", file=sys.stderr)
    if this_platform() not in binaries:
        raise Refused(f"no binary for {this_platform()}, which has to write the man pages")
    shutil.rmtree(folder / "documents", ignore_errors=True)
    write_documents(binaries[this_platform()], folder / "documents")
    paths = [archive(name, binary, folder / "documents", folder) for name, binary in binaries.items()]
    checksums = "".join(f"{sha256(path)}  {path.name}\n" for path in sorted(paths))
    (folder / "SHA256SUMS").write_text(checksums, encoding="utf-8", newline="\n")
    write_manifest(tag, folder, incomplete=True)
    return paths


def platform_and_path(text):
    name, _, path = text.partition("=")
    if name not in PLATFORMS or not path:
        raise argparse.ArgumentTypeError(f"{text}: PLATFORM=PATH is wanted, PLATFORM one of {', '.join(PLATFORMS)}")
    return name, Path(path)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dist", type=Path, default=ROOT / "dist", help="the folder of archives [dist]")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("build").add_argument("target", choices=PLATFORMS.values())
    documents = commands.add_parser("documents")
    documents.add_argument("tool", type=Path)
    documents.add_argument("folder", type=Path)
    packing = commands.add_parser("archive")
    packing.add_argument("platform", choices=PLATFORMS)
    packing.add_argument("binary", type=Path)
    packing.add_argument("documents", type=Path)
    commands.add_parser("manifest").add_argument("version")
    everything = commands.add_parser("local")
    everything.add_argument("version")
    everything.add_argument("--binary", type=platform_and_path, action="append", default=[],
                            metavar="PLATFORM=PATH", help="a binary that is there; then only this machine's is built")
    asked = parser.parse_args(arguments)
    if asked.command == "build":
        print(build(asked.target))
    elif asked.command == "documents":
        write_documents(asked.tool, asked.folder)
    elif asked.command == "archive":
        print(archive(asked.platform, asked.binary, asked.documents, asked.dist))
    elif asked.command == "manifest":
        print(write_manifest(tag_of(asked.version), asked.dist, incomplete=False))
    else:
        for path in local(tag_of(asked.version), asked.dist, asked.binary):
            print(path)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Refused as why:
        sys.exit(f"error: {why}")
    except subprocess.CalledProcessError as failed:
        sys.exit(f"error: {failed}")
