"""batchlight dlprof as a user of DLProf types it: offline on a real nsys export, and on a program."""
import csv
import json
import lzma
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = os.path.join(os.environ["BATCHLIGHT_BUILD"], "bin", "batchlight")
EXPORT = next(iter((ROOT / "tests" / "recordings").rglob("train5.sqlite.xz")), None)


def dlprof(*arguments, cwd=None):
    return subprocess.run([PROGRAM, "dlprof", *arguments], capture_output=True, text=True, cwd=cwd,
                          timeout=120)


@unittest.skipIf(EXPORT is None, "no nsys export in tests/recordings")
class OfflineTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.database = os.path.join(cls.folder.name, "train5.sqlite")
        with open(cls.database, "wb") as file:
            file.write(lzma.decompress(EXPORT.read_bytes()))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def run_reports(self, *arguments):
        out = tempfile.mkdtemp(dir=self.folder.name)
        done = dlprof(f"--nsys_database={self.database}", f"--output_path={out}", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return pathlib.Path(out), done

    def test_all_reports_in_both_formats(self):
        out, done = self.run_reports("--reports=all", "--formats=csv,json")
        for name in ("summary", "detailed", "kernel", "iteration", "tensor_core", "op_type",
                     "group_node", "expert_systems"):
            text = (out / f"dlprof_{name}.csv").read_text()
            self.assertTrue(text.splitlines()[0].endswith("Report"), name)
            self.assertEqual(len(json.loads((out / f"dlprof_{name}.json").read_text())), 1, name)
        self.assertIn("Expert Systems Feedback", done.stdout)
        self.assertIn("bound by launches", done.stdout)

    def test_iteration_range_drops_the_rest(self):
        out, _ = self.run_reports("--reports=iteration", "--iter_start=2", "--iter_stop=3")
        rows = list(csv.DictReader((out / "dlprof_iteration.csv").read_text().splitlines()[1:]))
        self.assertEqual({row["Iteration"] for row in rows}, {"2", "3"})

    def test_key_node_and_profile_name(self):
        out, _ = self.run_reports("--reports=summary", "--key_node=optimizer_step",
                                  "--profile_name=mine", "--suppress_tb_files=true")
        self.assertTrue((out / "mine_summary.csv").exists())
        self.assertFalse((out / "event_files").exists())

    def test_event_file_is_framed(self):
        out, _ = self.run_reports("--tb_dir=tb")
        data = next((out / "tb").iterdir()).read_bytes()
        records = 0
        while data:
            (length,) = struct.unpack_from("<Q", data)
            data = data[8 + 4 + length + 4:]
            records += 1
        self.assertGreater(records, 10)

    def test_existing_files_are_kept_without_force(self):
        out, _ = self.run_reports("--reports=summary")
        again = dlprof(f"--nsys_database={self.database}", f"--output_path={out}", "--reports=summary")
        self.assertEqual(again.returncode, 4)
        forced = dlprof(f"--nsys_database={self.database}", f"--output_path={out}", "--force=true",
                        "--reports=summary")
        self.assertEqual(forced.returncode, 0, forced.stderr)

    def test_wrong_names_are_usage_errors_with_help(self):
        for argument, hint in (("--reports=sumary", "summary"), ("--domains=NCLC", "default"),
                               ("--iter_start=99", "0 to")):
            done = dlprof(f"--nsys_database={self.database}", argument,
                          f"--output_path={tempfile.mkdtemp(dir=self.folder.name)}")
            self.assertEqual(done.returncode, 2, argument)
            self.assertIn(hint, done.stderr)


class RunTest(unittest.TestCase):
    def test_runs_the_program_and_passes_its_exit_code(self):
        with tempfile.TemporaryDirectory() as folder:
            done = dlprof("--mode=simple", "--reports=summary", f"--output_path={folder}",
                          "--nsys_base_name=base", "--", sys.executable, "-c", "raise SystemExit(3)")
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertTrue(os.path.exists(os.path.join(folder, "base.batchlight")))

    def test_nothing_to_do(self):
        self.assertEqual(dlprof().returncode, 2)


if __name__ == "__main__":
    unittest.main()
