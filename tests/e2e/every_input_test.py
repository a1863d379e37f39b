"""Every command on every kind of input: a result, or a line that says why there is none. Never a
crash, silence or an empty file."""
import csv
import json
import lzma
import os
import pathlib
import tempfile
import unittest

from recorded import BATCHLIGHT, SOURCE, run

RECORDINGS = pathlib.Path(SOURCE, "tests", "recordings")
EXPORT_TYPES = ("sqlite", "jsonlines", "csv", "chrome", "perfetto", "folded", "speedscope")
REPORTS = ("summary", "detail", "kernel", "iteration", "tensor", "op_type", "group_node",
           "expert_systems")


def table_names():
    lines = run(BATCHLIGHT, "table", "--list").stdout.splitlines()
    return [line.split()[0] for line in lines if line.strip()]


def on_every_input(test):
    def run_all(self):
        for kind, path in self.inputs.items():
            with self.subTest(input=kind):
                test(self, kind, path)
    return run_all


class EveryInputTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.out = pathlib.Path(cls.folder.name)
        nsys = cls.out / "train5.sqlite"
        nsys.write_bytes(
            lzma.decompress((RECORDINGS / "nsys-2025.3" / "train5.sqlite.xz").read_bytes()))
        cls.inputs = {
            "recording": RECORDINGS / "h200_train.batchlight",
            "ranks": RECORDINGS / "h200_two_ranks.batchlight",
            "graph": RECORDINGS / "h200_graph_node.batchlight",
            "no GPU": RECORDINGS / "version_1.batchlight",
            "live folder": RECORDINGS / "version_1.batchlight.live",
            "nsys export": nsys,
            "kineto": pathlib.Path(SOURCE, "tests", "kineto", "training.json"),
        }

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def answer(self, *words):
        """What a command that must answer printed; or, where it gives none, its one reason."""
        done = run(BATCHLIGHT, *words, errors="replace")
        text = done.stdout + done.stderr
        self.assertIn(done.returncode, (0, 1, 2, 3, 4, 5), text[-500:])
        self.assertNotIn("terminate called", text)
        self.assertTrue(text.strip(), "silence")
        if done.returncode != 0:
            self.assertTrue(done.stderr.startswith("batchlight"), done.stderr[-500:])
            self.assertLessEqual(len(done.stderr.splitlines()), 3, done.stderr[-500:])
        return done

    def assert_filled(self, folder):
        files = [file for file in pathlib.Path(folder).rglob("*") if file.is_file()]
        self.assertTrue(files, "no file was written")
        for file in files:
            self.assertGreater(file.stat().st_size, 0, file.name)
        return files

    @on_every_input
    def test_summary(self, kind, path):
        self.assertEqual(self.answer("summary", path).returncode, 0)
        json.loads(self.answer("summary", "--json", path).stdout)

    @on_every_input
    def test_stats(self, kind, path):
        self.assertEqual(self.answer("stats", "-q", path).returncode, 0)
        self.assertEqual(
            self.answer("stats", "-r", "cuda_gpu_kern_sum,nvtx_sum", "-f", "json", path).returncode, 0)

    @on_every_input
    def test_analyze(self, kind, path):
        self.assertEqual(self.answer("analyze", path).returncode, 0)

    @on_every_input
    def test_report(self, kind, path):
        folder = self.out / ("report " + kind)
        self.assertEqual(self.answer("report", path, "-o", folder).returncode, 0)
        page = next(f for f in self.assert_filled(folder) if f.name == "index.html").read_text()
        self.assertIn("</html>", page)

    @on_every_input
    def test_diff_with_itself_finds_nothing(self, kind, path):
        done = self.answer("diff", path, path)
        if done.returncode == 0:
            self.assertNotIn("slower by", done.stdout.splitlines()[0])

    @on_every_input
    def test_every_table(self, kind, path):
        names = table_names()
        self.assertGreater(len(names), 10)
        for name in names:
            with self.subTest(table=name):
                done = self.answer("table", name, path, "-f", "csv")
                if done.returncode == 0 and done.stdout:
                    self.assertGreater(len(next(csv.reader(done.stdout.splitlines()))), 1)

    @on_every_input
    def test_every_dlprof_report(self, kind, path):
        folder = self.out / ("dlprof " + kind)
        folder.mkdir()
        done = self.answer("dlprof", f"--nsys_database={path}", "--reports=all",
                           "--formats=csv,json", f"--output_path={folder}",
                           "--dump_model_data=true")
        self.assertEqual(done.returncode, 0)
        names = {file.name for file in self.assert_filled(folder)}
        self.assertEqual(len([n for n in names if n.endswith(".csv")]), len(REPORTS) + 1, names)
        self.assertTrue(any("tfevents" in name for name in names))
        for file in folder.glob("*.json"):
            json.loads(file.read_text())
        for name in ("detailed", "op_type"):  # a run with work has ops
            rows = (folder / f"dlprof_{name}.csv").read_text().splitlines()
            self.assertGreater(len(rows), 2, name)

    @on_every_input
    def test_every_dlprof_option(self, kind, path):
        options = (["--mode=simple"], ["--iter_start=0", "--iter_stop=0"], ["--domains=default"],
                   ["--formats=json"], ["--profile_name=mine"], ["--verbosity=quiet"],
                   ["--verbosity=diagnostic"], ["--suppress_tb_files=true"], ["--tb_dir=tb"],
                   ["--key_op=no such op"], ["--force=true"])
        for extra in options:
            with self.subTest(option=extra):
                folder = pathlib.Path(tempfile.mkdtemp(dir=self.out))
                done = run(BATCHLIGHT, "dlprof", f"--nsys_database={path}", "--reports=summary",
                           f"--output_path={folder}", *extra)
                if extra[0].startswith("--key_op"):
                    self.assertEqual(done.returncode, 2, done.stderr)
                    self.assertIn("no such op", done.stderr)
                    continue
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assert_filled(folder)
                if "quiet" in extra[0]:
                    self.assertEqual(done.stdout + done.stderr, "")

    @on_every_input
    def test_every_export(self, kind, path):
        for form in EXPORT_TYPES:
            with self.subTest(type=form):
                output = self.out / f"{kind}.{form}"
                done = self.answer("export", "-t", form, "-o", output, path)
                if done.returncode == 0 and output.is_dir():
                    self.assert_filled(output)
                elif done.returncode == 0:
                    self.assertGreater(output.stat().st_size, 0)
                else:
                    self.assertFalse(output.exists())


if __name__ == "__main__":
    unittest.main()
