"""python3 -m unittest discover --start-directory krew"""

import contextlib
import io
import re
import tarfile
import tempfile
import unittest
import zipfile
from pathlib import Path

import package

TEMPLATE = (package.ROOT / "krew" / "sigapps.yaml").read_text(encoding="utf-8")
TAG = "v1.2.3"


class Folder(unittest.TestCase):
    """With a temporary folder, and in it what an archive is made of."""

    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.folder = Path(made.name)
        self.binary = self.folder / "kubectl-sigapps"
        self.binary.write_bytes(b"a binary")
        self.documents = self.folder / "documents"
        self.documents.mkdir()
        for name in ("LICENSE", "kubectl-sigapps.1", "kubectl_complete-sigapps"):
            (self.documents / name).write_text(name)

    def packed(self, name):
        path = self.folder / name
        package.pack(path, package.members(self.binary, self.documents), 1_000_000_001)
        return path

    def archives(self, *platforms):
        for name in platforms:
            (self.folder / package.archive_name(name, TAG)).write_bytes(name.encode())


class Archives(Folder):
    def test_a_tar_is_flat_and_has_the_modes_that_run(self):
        with tarfile.open(self.packed("a.tar.gz")) as archive:
            found = {entry.name: entry.mode for entry in archive}
        self.assertEqual(found, {"LICENSE": 0o644, "kubectl-sigapps": 0o755, "kubectl-sigapps.1": 0o644,
                                 "kubectl_complete-sigapps": 0o755})

    def test_a_zip_holds_the_executable_by_its_name_on_windows(self):
        self.binary = self.binary.rename(self.folder / "any.exe")
        with zipfile.ZipFile(self.packed("a.zip")) as archive:
            self.assertIn("kubectl-sigapps.exe", archive.namelist())
            self.assertEqual(archive.read("kubectl-sigapps.exe"), b"a binary")

    def test_equal_files_give_equal_bytes(self):
        for suffix in (".tar.gz", ".zip"):
            first = self.packed("a" + suffix).read_bytes()
            for file in self.documents.iterdir():
                file.touch()
            self.assertEqual(self.packed("b" + suffix).read_bytes(), first, suffix)

    def test_without_a_licence_nothing_is_packed(self):
        (self.documents / "LICENSE").unlink()
        with self.assertRaisesRegex(package.Refused, "LICENSE"):
            self.packed("a.zip")

    def test_a_folder_would_not_be_flat(self):
        (self.documents / "completions").mkdir()
        with self.assertRaisesRegex(package.Refused, "flat"):
            self.packed("a.zip")


class Manifest(Folder):
    def test_each_platform_has_its_archive_and_its_checksum(self):
        self.archives(*package.PLATFORMS)
        text, missing = package.render(TEMPLATE, TAG, self.folder)
        self.assertEqual(missing, [])
        self.assertNotIn("{{", text)
        self.assertIn(f"\n  version: {TAG}\n", text)
        entries = re.findall(r"os: (\w+)\n +arch: (\w+)\n      uri: (\S+)\n      sha256: (\w{64})\n", text)
        self.assertEqual([f"{system}-{machine}" for system, machine, *_ in entries], list(package.PLATFORMS))
        for system, machine, address, checksum in entries:
            path = self.folder / package.archive_name(f"{system}-{machine}", TAG)
            self.assertEqual(address, f"{package.cargo_field('repository')}/releases/download/{TAG}/{path.name}")
            self.assertEqual(checksum, package.sha256(path))

    def test_a_release_without_one_of_the_archives_is_refused(self):
        self.archives("linux-amd64", "linux-arm64", "darwin-amd64", "windows-amd64")
        with self.assertRaisesRegex(package.Refused, "aarch64-apple-darwin"):
            package.render(TEMPLATE, TAG, self.folder)

    def test_a_local_one_leaves_out_what_is_missing_and_names_it(self):
        self.archives("linux-amd64")
        text, missing = package.render(TEMPLATE, TAG, self.folder, incomplete=True)
        self.assertEqual(len(missing), 4)
        self.assertEqual(text.count("- selector:"), 1)
        self.assertIn("x86_64-unknown-linux-musl", text)

    def test_what_krew_index_asks_for_holds(self):
        short = re.search(r"shortDescription: (.*)", TEMPLATE)[1]
        self.assertLessEqual(len(short), 50)
        description = re.search(r"  description: \|\n((?:    .*\n)+)", TEMPLATE)[1]
        self.assertLessEqual(max(map(len, description.splitlines())), 80)
        self.assertNotIn("kubectl sigapps", description, "a description has no usage")
        self.assertIn(f"homepage: {package.cargo_field('repository')}\n", TEMPLATE)


class Version(unittest.TestCase):
    def test_a_version_is_taken_with_and_without_v(self):
        version = package.cargo_field("version")
        self.assertEqual({package.tag_of(version), package.tag_of("v" + version)}, {"v" + version})

    def test_another_version_than_that_of_cargo_is_refused(self):
        with self.assertRaisesRegex(package.Refused, "Cargo.toml"):
            package.tag_of("v99.0.0")


class Arguments(unittest.TestCase):
    def test_a_binary_is_given_for_a_platform_that_there_is(self):
        self.assertEqual(package.platform_and_path("linux-arm64=a=b"), ("linux-arm64", Path("a=b")))
        with contextlib.redirect_stderr(io.StringIO()) as said, self.assertRaises(SystemExit):
            package.main(["local", "1.0.0", "--binary", "plan9-mips=a"])
        self.assertIn("windows-amd64", said.getvalue())


if __name__ == "__main__":
    unittest.main()
