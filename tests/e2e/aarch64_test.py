"""The build for 64-bit ARM (preset aarch64), run by qemu: the program answers what this one answers,
byte for byte, records the NVTX ranges of a program, and the wheel is one of that
processor. Skipped where it was not built or qemu is not there."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

from recorded import LONG_S, SOURCE, dump, statuses
from same_answers import READING, answer, files_of, here, make_inputs

BUILD = pathlib.Path(os.environ.get("BATCHLIGHT_AARCH64", os.path.join(SOURCE, "build", "aarch64")))
ROOT = pathlib.Path(SOURCE, "build", "aarch64-sysroot")
QEMU = shutil.which("qemu-aarch64-static")
AUDITWHEEL = pathlib.Path(SOURCE, "build", "auditwheel", "bin", "auditwheel")
PROGRAM = BUILD / "bin" / "batchlight"
LIBRARY = BUILD / "lib" / "libbatchlight_inject.so"
CLIENT = BUILD / "test" / "nvtx_client"


class Aarch64Test(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.place = pathlib.Path(folder.name)

    def test_answers_as_on_x86(self):
        ours, theirs = self.place / "x86", self.place / "arm"
        make_inputs(ours)
        make_inputs(theirs)
        for words in READING:
            with self.subTest(words=" ".join(words)):
                self.assertEqual(answer([QEMU, str(PROGRAM)], words, theirs), here(words, ours))
        written, expected = files_of(theirs), files_of(ours)
        self.assertEqual(set(written), set(expected))
        for name, content in expected.items():
            self.assertEqual(written[name], content, name)

    def profile(self, *words):
        """Of the ARM program, of an ARM program; both start in qemu, which passes exec on to this machine's kernel."""
        return subprocess.run([QEMU, str(PROGRAM), "profile", "-t", "nvtx", "--stats=false", "-o", "run.batchlight",
                               QEMU, "-L", str(ROOT), str(CLIENT), *words],
                              cwd=self.place, capture_output=True, timeout=10 * LONG_S)

    def test_profile_records_nvtx_ranges(self):
        done = self.profile("basics")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.decode().splitlines()[:4], ["push 0", "push 1", "pop 1", "pop 0"])
        self.assertEqual([path.name for path in self.place.iterdir()], ["run.batchlight"])  # sealed
        records = dump(self.place / "run.batchlight")
        self.assertEqual([record.fields.get("message", "") for record in records if record.kind == "RangePush"],
                         ["outer", "w\u00efde \u4e2d \U0001f600", ""])
        (status,) = statuses(records).values()
        self.assertEqual(status, 0)
        dumped = ["trace", "dump", "run.batchlight"]
        self.assertEqual(answer([QEMU, str(PROGRAM)], dumped, self.place), here(dumped, self.place))

    def test_profile_passes_the_exit_code_on(self):
        self.assertEqual(self.profile("_exit", "3").returncode, 3)
        records = dump(self.place / "run.batchlight")
        self.assertEqual([record.fields["message"] for record in records if record.kind == "Mark"], ["last"])
        (status,) = statuses(records).values()
        self.assertEqual(os.WEXITSTATUS(status), 3)

    def make_wheel(self):
        return subprocess.run([sys.executable, os.path.join(SOURCE, "tools", "make_wheel.py"), BUILD, self.place],
                              capture_output=True, text=True, check=True).stdout.strip()

    @unittest.skipUnless(AUDITWHEEL.exists(), "no auditwheel here (tools/install_readers.sh)")
    def test_auditwheel_agrees_with_the_tag(self):
        shown = subprocess.run([AUDITWHEEL, "show", self.make_wheel()], capture_output=True, text=True, check=True)
        self.assertRegex(" ".join(shown.stdout.split()),
                         'is consistent with the following platform tag: "manylinux_2_17_aarch64"')

    def test_wheel(self):
        wheel = self.make_wheel()
        self.assertTrue(wheel.endswith("-py3-none-manylinux2014_aarch64.whl"), wheel)
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                content = archive.read(name)
                if content.startswith(b"\x7fELF"):
                    self.assertEqual(int.from_bytes(content[18:20], "little"), 183, name)
            (program,) = [name for name in archive.namelist() if name.endswith(".data/scripts/batchlight")]
            archive.extract(program, self.place)
        os.chmod(self.place / program, 0o755)
        code, output, errors = answer([QEMU, str(self.place / program)], ["version"], self.place)
        self.assertEqual((code, errors), (0, b""))
        self.assertEqual((code, output, errors), here(["version"], self.place))


if __name__ == "__main__":
    if QEMU is None:
        print("skipped: there is no qemu-aarch64-static (apt-get install qemu-user-static)")
        sys.exit(77)
    if not LIBRARY.exists():
        print(f"skipped: there is no {LIBRARY} (tools/aarch64_sysroot.sh && tools/build.sh aarch64 batchlight manual python_package nvtx_client)")
        sys.exit(77)
    unittest.main(verbosity=2)
