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

import event_file

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = os.path.join(os.environ["BATCHLIGHT_BUILD"], "bin", "batchlight")
EXPORT = next(iter((ROOT / "tests" / "recordings").rglob("train5.sqlite.xz")), None)


def dlprof(*arguments, cwd=None):
    return subprocess.run([PROGRAM, "dlprof", *arguments], capture_output=True, text=True, cwd=cwd,
                          timeout=120)


def summary_of(folder):
    rows = csv.DictReader(
        pathlib.Path(folder, "dlprof_summary.csv").read_text().splitlines()[1:])
    return {row["Metric"]: row["Value"] for row in rows}


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

    def test_means_are_over_the_iterations_that_count(self):
        """Two of the eight are warm-up, and part of no mean unless they are asked for."""
        out, _ = self.run_reports("--reports=summary")
        rows = summary_of(out)
        done = subprocess.run([PROGRAM, "summary", "--json", self.database], capture_output=True, text=True)
        step = json.loads(done.stdout)["steps"]["processes"][0]["duration"]
        self.assertEqual(int(rows["Profiled Iterations"]), step["count"])
        self.assertAlmostEqual(int(rows["Average Iteration Time (ns)"]), step["mean_ns"], delta=1)
        out, _ = self.run_reports("--reports=summary", "--iter_start=0", "--iter_stop=7")
        self.assertEqual(summary_of(out)["Profiled Iterations"], "8")

    def test_key_node_and_profile_name(self):
        out, _ = self.run_reports("--reports=summary", "--key_node=optimizer_step",
                                  "--profile_name=mine", "--suppress_tb_files=true")
        self.assertTrue((out / "mine_summary.csv").exists())
        self.assertFalse((out / "event_files").exists())

    def test_event_file_as_tensorboard_reads_it(self):
        out, _ = self.run_reports("--tb_dir=tb", "--reports=summary,iteration")
        found = list(event_file.summaries(next((out / "tb").iterdir()).read_bytes()))
        times = [value for tag, _, _, value in found if tag == "iteration time (ms)"]
        rows = list(csv.reader((out / "dlprof_summary.csv").read_text().splitlines()[2:]))
        self.assertEqual(len(times), int(dict(row[:2] for row in rows)["Total Iterations"]))
        tags = {plugin: [tag for tag, _, kind, _ in found if kind == plugin]
                for plugin in ("histograms", "images", "text")}
        self.assertEqual(tags["histograms"], ["steady iteration times (ms)"])
        for tag, _, plugin, value in found:
            if plugin == "histograms":
                self.check_histogram(value, times)
            elif plugin == "images":  # width and height as text, then the picture
                dtype, sizes, (width, height, png) = value
                self.assertEqual((dtype, sizes, png[:8]), (7, [3], b"\x89PNG\r\n\x1a\n"), tag)
                self.assertEqual((int(width), int(height)), struct.unpack_from(">II", png, 16), tag)
            elif plugin == "text":
                self.assertEqual(value[:2], (7, []), tag)
                self.assertTrue(value[2][0].startswith(b"|"), tag)

    def check_histogram(self, value, times):
        """Rows of left edge, right edge, count as doubles: the buckets of the histograms plugin."""
        dtype, sizes, content = value
        self.assertEqual((dtype, sizes[1], len(content)), (2, 3, sizes[0] * 24))
        buckets = list(struct.iter_unpack("<ddd", content))
        for left, right in zip(buckets, buckets[1:]):
            self.assertEqual(left[1], right[0])
        counted = sum(count for _, _, count in buckets)
        inside = [time for time in times if buckets[0][0] - 1e-4 <= time <= buckets[-1][1] + 1e-4]
        self.assertEqual(counted, len(inside))
        self.assertGreater(counted, 2)
        self.assertAlmostEqual(min(inside), buckets[0][0], 3)
        self.assertAlmostEqual(max(inside), buckets[-1][1], 3)

    def test_existing_files_are_kept_without_force(self):
        out, _ = self.run_reports("--reports=summary")
        again = dlprof(f"--nsys_database={self.database}", f"--output_path={out}", "--reports=summary")
        self.assertEqual(again.returncode, 4)
        forced = dlprof(f"--nsys_database={self.database}", f"--output_path={out}", "--force=true",
                        "--reports=summary")
        self.assertEqual(forced.returncode, 0, forced.stderr)

    def test_wrong_words_are_usage_errors_with_help(self):
        for argument, hint in (("--reports=sumary", "did you mean summary"),
                               ("--formats=xml", "csv, json"), ("--mode=tensorflow1", "pytorch"),
                               ("--force=maybe", "--force"), ("--iter_strat=2", "--iter_start"),
                               ("--iter_start=-1", "from 0"), ("--iter_stop=-1", "--iter_stop"),
                               ("--no-such=1", "--help")):
            done = dlprof(f"--nsys_database={self.database}",
                          f"--output_path={tempfile.mkdtemp(dir=self.folder.name)}", argument)
            self.assertEqual(done.returncode, 2, argument)
            self.assertRegex(done.stderr, "^batchlight: ")
            self.assertIn(hint, done.stderr)

    def test_what_is_not_in_the_run_is_an_error(self):
        for argument, said in (("--key_node=optimzer_step", "did you mean optimizer_step"),
                               ("--key_op=zzz", "most frequent names are backward"),
                               ("--iter_start=99", "steps 0 to 7, none from 99"),
                               ("--domains=NCLC", "there are: default")):
            with tempfile.TemporaryDirectory(dir=self.folder.name) as out:
                done = dlprof(f"--nsys_database={self.database}", f"--output_path={out}",
                              "--reports=all", argument)
                self.assertEqual((done.returncode, os.listdir(out)), (2, []), argument)
                self.assertRegex(done.stderr, "^batchlight: ")
                self.assertIn(said, done.stderr)

    def test_a_range_of_iterations_may_end_later_than_the_run(self):
        out, done = self.run_reports("--reports=summary", "--iter_stop=99")
        self.assertIn("iterations 0 to 7", done.stderr)
        rows = summary_of(out)
        self.assertEqual((rows["Profiled Iterations"], rows["Total Iterations"]), ("8", "8"))

    def test_one_of_two_domains(self):
        out, done = self.run_reports("--reports=summary", "--domains=NCLC,default")
        self.assertIn("no domain NCLC", done.stderr)
        self.assertTrue((out / "dlprof_default_summary.csv").exists())

    def test_short_options_as_in_dlprofs_help(self):
        out, _ = self.run_reports("--reports=kernel", "-f=true", "-b=true", "-m=simple", "-v=quiet")
        self.assertFalse((out / "event_files").exists())
        self.assertIn("SIMPLE_MODE", (out / "dlprof_kernel.csv").read_text())
        for flag in ("-V", "--version"):
            done = dlprof(flag)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("batchlight ", done.stdout)

    def test_every_column_has_a_meaning(self):
        out, _ = self.run_reports("--reports=all")
        for row in csv.DictReader((out / "dlprof_columns.csv").read_text().splitlines()[1:]):
            self.assertNotEqual(row["Meaning"], "", row)


class SameTotals(unittest.TestCase):
    """All GPU work of the range is in the reports, whatever the op nodes are."""

    def test_modes_agree(self):
        for name in ("h200_train", "h200_graph_node", "h200_two_ranks", "h200_compile"):
            totals = {}
            for mode in ("pytorch", "simple"):
                with tempfile.TemporaryDirectory() as folder:
                    done = dlprof(f"--nsys_database={ROOT}/tests/recordings/{name}.batchlight",
                                  "--reports=all", f"--output_path={folder}", f"--mode={mode}")
                    self.assertEqual(done.returncode, 0, done.stderr)
                    rows = list(csv.DictReader(
                        pathlib.Path(folder, "dlprof_detailed.csv").read_text().splitlines()[1:]))
                    summary = summary_of(folder)
                total = int(summary["Total GPU Time (ns)"])
                self.assertEqual(sum(int(row["Total GPU Time (ns)"]) for row in rows), total)
                self.assertEqual(total, sum(int(summary[part + " (ns)"]) for part in (
                    "Using TC", "Not Using TC", "Memory")))
                self.assertEqual(total, sum(int(summary[part + " (ns)"]) for part in (
                    "Ops Using TC", "Eligible Ops Not Using TC", "Other Ops")))
                self.assertEqual(summary["GPU 0"], "NVIDIA H200")
                totals[mode] = total
                if mode == "simple":
                    self.assertEqual(len(rows), 1)
                    self.assertEqual(rows[0]["Total CPU Time (ns)"], summary["Wall Clock Time (ns)"])
            # A call that a step's border cuts may count for either step.
            self.assertAlmostEqual(totals["pytorch"] / totals["simple"], 1, places=3, msg=name)


@unittest.skipIf(EXPORT is None, "no nsys export in tests/recordings")
class GraphTest(unittest.TestCase):
    """An nsys capture of graphs recorded as a whole, in ranges "step 0", "step 1", ..."""

    def test_graphs_are_gpu_time_of_one_op(self):
        with tempfile.TemporaryDirectory() as folder:
            database = os.path.join(folder, "graph.sqlite")
            with open(database, "wb") as file:
                packed = EXPORT.parent / "captures" / "graph.sqlite.xz"
                file.write(lzma.decompress(packed.read_bytes()))
            done = dlprof(f"--nsys_database={database}", "--reports=all", f"--output_path={folder}")
            self.assertEqual(done.returncode, 0, done.stderr)
            rows = list(csv.DictReader(
                pathlib.Path(folder, "dlprof_detailed.csv").read_text().splitlines()[1:]))
            self.assertEqual([(row["Op Name"], row["No. Calls"]) for row in rows], [("step", "8")])
            summary = summary_of(folder)
            self.assertEqual(summary["CUDA Graphs (ns)"], rows[0]["Total GPU Time (ns)"])
            self.assertGreater(int(summary["CUDA Graphs (ns)"]), 100_000)


class RunTest(unittest.TestCase):
    def test_runs_the_program_and_passes_its_exit_code(self):
        with tempfile.TemporaryDirectory() as folder:
            done = dlprof("--mode=simple", "--reports=summary", f"--output_path={folder}",
                          "--nsys_base_name=base", "--", sys.executable, "-c", "raise SystemExit(3)")
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertTrue(os.path.exists(os.path.join(folder, "base.batchlight")))

    def test_program_follows_the_options_as_in_dlprof(self):
        with tempfile.TemporaryDirectory() as folder:
            words = ["-m", "simple", f"--output_path={folder}", "-b=true", "--reports", "summary",
                     sys.executable, "-c", "import sys; print(sys.argv[1:])", "--reports=x", "-f=y"]
            done = dlprof(*words)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("['--reports=x', '-f=y']", done.stdout)
            os.remove(os.path.join(folder, "nsys_profile.batchlight"))
            again = dlprof(*words)
            self.assertEqual(again.returncode, 4, "before the program is run")
            self.assertIn("dlprof_summary.csv exists", again.stderr)
            self.assertFalse(os.path.exists(os.path.join(folder, "nsys_profile.batchlight")))

    def test_another_recording_under_the_name_of_this_one_is_not_read(self):
        """As who may write the folder can put it there."""
        with tempfile.TemporaryDirectory() as folder:
            exchange = os.path.join(folder, "exchange")
            pathlib.Path(exchange).write_text(
                "#!/bin/sh\ncd %s; mv nsys_profile.batchlight away; ln -s %s nsys_profile.batchlight\n"
                % (folder, ROOT / "tests" / "recordings" / "h200_train.batchlight"))
            os.chmod(exchange, 0o755)
            done = dlprof("--nsys_opts=-t none --after-report-ready " + exchange, "--reports=summary",
                          f"--output_path={folder}", "--", "true")
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn("is no longer what was recorded", done.stderr)
            self.assertFalse(os.path.exists(os.path.join(folder, "dlprof_summary.csv")))

    def test_what_profile_refuses_is_said_once(self):
        with tempfile.TemporaryDirectory() as folder:
            done = dlprof("--nsys_opts=-t bogus", f"--output_path={folder}", sys.executable, "-V")
            self.assertEqual(done.returncode, 2)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

    def test_key_node_by_the_names_that_are_shown(self):
        recording = ROOT / "tests" / "recordings" / "h200_train.batchlight"
        for key in ("AdamW.step", "head", "head/Linear", "encoder.layers.0.attention",
                    "torch.autograd.backward"):
            with tempfile.TemporaryDirectory() as folder:
                done = dlprof(f"--nsys_database={recording}", f"--key_node={key}",
                              "--reports=summary", f"--output_path={folder}")
                self.assertNotIn("nothing that was recorded", done.stderr)
                self.assertEqual(summary_of(folder)["Total Iterations"], "8", key)

    def test_nothing_to_do(self):
        self.assertEqual(dlprof().returncode, 2)


if __name__ == "__main__":
    unittest.main()
