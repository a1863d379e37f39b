"""The build for 64-bit ARM (preset aarch64), run by qemu: the program answers what this one answers,
byte for byte, programs with the injected library record their NVTX ranges, and the wheel is one of that
processor. Skipped where it was not built or qemu is not there."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

from recorded import LONG_S, SOURCE
from same_answers import READING, answer, files_of, here, make_inputs

BUILD = pathlib.Path(os.environ.get("BATCHLIGHT_AARCH64", os.path.join(SOURCE, "build", "aarch64")))
ROOT = pathlib.Path(SOURCE, "build", "aarch64-sysroot")
QEMU = shutil.which("qemu-aarch64-static")
AUDITWHEEL = pathlib.Path(SOURCE, "build", "auditwheel", "bin", "auditwheel")
PROGRAM = BUILD / "bin" / "batchlight"
LIBRARY = BUILD / "lib" / "libbatchlight_inject.so"
CLIENT = BUILD / "test" / "nvtx_client"

sys.path.insert(0, os.path.join(SOURCE, "tests", "inject"))
from live_folder import LiveFolder


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

    def test_records_nvtx_ranges(self):
        live = LiveFolder(str(LIBRARY))
        done = subprocess.run([QEMU, "-L", str(ROOT), "-E", f"LD_PRELOAD={LIBRARY}", str(CLIENT), "basics"],
                              env=live.environment(preload=False), capture_output=True, timeout=10 * LONG_S)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(done.stdout.decode().splitlines()[:4], ["push 0", "push 1", "pop 1", "pop 0"])
        (process,) = live.processes()
        self.assertEqual([record.message for record in process.records("RangePush")],
                         ["outer", "w\u00efde \u4e2d \U0001f600", ""])
        ticks = [record.ticks for record in process.records("RangePush", "RangePop", "Mark")]
        self.assertEqual(ticks, sorted(ticks))
        for words in (["summary", live.path], ["trace", "dump", live.path]):
            self.assertEqual(answer([QEMU, str(PROGRAM)], words, self.place), here(words, self.place))

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
