"""What somebody types who has not read the documentation: it works, or one line says what to type."""
import csv
import io
import json
import lzma
import os
import pathlib
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from recorded import BATCHLIGHT, SOURCE, on_terminal, run  # noqa: E402

RECORDINGS = pathlib.Path(SOURCE, "tests", "recordings")
RUN = RECORDINGS / "h200_train.batchlight"
READERS = (["summary"], ["table", "kernels"], ["tree"], ["analyze"], ["stats", "-r", "cuda_gpu_kern_sum"],
           ["report", "-f", "-o", "REPORT"], ["export", "-f", "-t", "csv", "-o", "EXPORT"])


class FirstUse(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="batchlight-e2e-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def words(self, words):
        return [self.folder / word if word.isupper() else word for word in words]

    def tool(self, *words, code=0):
        done = run(BATCHLIGHT, *words, cwd=self.folder)
        self.assertEqual(done.returncode, code, (words, done.stderr))
        if code == 2:
            self.assertRegex(done.stderr, "^batchlight: ")
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        return done

    def test_the_run_comes_first_or_by_name(self):
        for reader in READERS:
            verb, *flags = self.words(reader)
            outputs = [self.tool(verb, RUN, *flags).stdout, self.tool(verb, *flags, RUN).stdout,
                       self.tool(verb, *flags, "--run", RUN).stdout,
                       self.tool(verb, "--run=" + str(RUN), *flags).stdout]
            self.assertEqual(len(set(outputs)), 1, verb)
            self.assertIn("RUN", self.tool(verb, "--help").stdout)
        for words in ([RUN], ["--run", RUN], ["--nsys_database", RUN]):
            name = words[0].name if words[0] == RUN else words[0].strip("-")
            self.tool("dlprof", "--output_path", self.folder, "--profile_name", name, "--reports", "summary", *words)
            written = sorted(self.folder.glob(name + "_*.csv"))
            self.assertEqual(len(written), 2, written)
            self.assertEqual([file.read_text() for file in written],
                             [file.read_text() for file in sorted(self.folder.glob(RUN.name + "_*.csv"))])

    def test_table_says_which_of_its_two_words_is_missing(self):
        for words, said in ((["table", RUN], "which table?"), (["table", "kernels"], "no RUN given"),
                            (["table"], "no RUN given"),
                            (["table", RUN, "kernals"], "no table kernals; did you mean kernels"),
                            (["table", "kernals", RUN], "no table kernals; did you mean kernels")):
            self.assertIn(said, self.tool(*words, code=2).stderr)

    def test_f_is_the_format_of_what_is_printed_and_replaces_what_is_written(self):
        for verb in (["table", RUN, "copies"], ["stats", "-r", "cuda_gpu_mem_time_sum", RUN],
                     ["analyze", RUN]):
            self.assertIn(",", self.tool(*verb, "-f", "csv").stdout.splitlines()[0])
            for wrong in ("true", RUN):
                said = self.tool(*verb, "-f", wrong, code=2).stderr
                self.assertIn("-f is --format here, and --force-overwrite has no short form", said)
        for verb, said in (["report", "a page and a CSV of every table"], ["export", "that of -t"]):
            self.assertIn(said, self.tool(verb, "-f", "csv", RUN, code=2).stderr)
        json.loads(self.tool("doctor", "-f", "json").stdout)
        # As nsys has it, and with RUN where a word could be the flag's.
        for words in (["-f", "true", RUN], ["-f", RUN], [RUN, "--force-overwrite=true"], [RUN, "-f"]):
            self.tool("report", "-o", "REPORT", *words)
        self.assertIn("REPORT", self.tool("report", "-f", "false", "-o", "REPORT", RUN, code=4).stderr)

    def test_steps_and_ranks_that_are_not_there(self):
        for reader in READERS:
            verb, *flags = self.words(reader)
            if verb in ("stats", "export"):
                continue
            for wrong in (["--step-key", "nope"], ["--rank", "5"], ["--first-step", "1000"]):
                done = self.tool(verb, RUN, *flags, *wrong, code=2)
                self.assertEqual(done.stdout, "")
        self.assertFalse((self.folder / "REPORT").exists())
        self.tool("export", "-t", "chrome", "-o", self.folder / "t.json", "--rank", "5", RUN, code=2)
        self.tool("diff", RUN, RUN, "--step-key", "nope", code=2)
        self.tool("analyze", "-r", "gpu_gaps", "--step-key", "nope", RUN, code=2)

    def test_files_that_only_nsys_reads(self):
        shutil.copy(RUN, self.folder / "two.nsys-rep")  # whatever is in it
        for reader in READERS + (["kernels"], ["dlprof"]):
            verb, *flags = self.words(reader)
            done = self.tool(verb, *flags, "two.nsys-rep", code=3)
            self.assertIn("nsys export -t sqlite two.nsys-rep", done.stderr)
            self.assertIn("then give two.sqlite", done.stderr)
        export = lzma.decompress((RECORDINGS / "nsys-2025.3" / "train5.sqlite.xz").read_bytes())
        (self.folder / "two.sqlite").write_bytes(export)
        for reader in READERS:
            verb, *flags = self.words(reader)
            # What it says of the run, but for the name in commands that read it.
            told = [self.tool(verb, *flags, name).stdout.partition("\nFiles")[0].replace(name, "two")
                    for name in ("two.nsys-rep", "two.sqlite")]
            self.assertEqual(told[0], told[1])

    def test_tree_has_as_many_rows_as_asked_for(self):
        def rows(*flags):
            lines = self.tool("tree", RUN, *flags).stdout.splitlines()[2:]
            return lines[:next(i for i, line in enumerate(lines) if line.startswith("  and ") or not line)]
        self.assertEqual([len(rows("--rows", n)) for n in (1, 3, 12)], [1, 3, 12])
        self.assertGreater(len(rows()), 20)

    def test_a_table_fits_the_terminal_and_has_units(self):
        for columns in (80, 120):
            for name in ("kernels", "steps", "operators", "phase_events", "waits", "processes"):
                code, text = on_terminal(columns, "table", RUN, name)
                self.assertEqual(code, 0)
                widest = max(map(len, text.splitlines()), default=0)
                self.assertLessEqual(widest, columns, name + text)
        text = self.tool("table", RUN, "steps").stdout
        self.assertIn("Duration (ms)", text)
        self.assertIn("Duration (ns)", self.tool("table", RUN, "steps", "--timeunit", "ns").stdout)
        rows = csv.DictReader(io.StringIO(self.tool("table", RUN, "steps", "-f", "csv").stdout.strip()))
        self.assertIn("Duration (ns)", next(rows))

    def test_analyze_fits_the_terminal(self):
        for columns in (60, 100):
            code, text = on_terminal(columns, "analyze", RUN)
            self.assertEqual(code, 0)
            self.assertIn("   Seen: ", text)
            # Patches and commands are copied as they are.
            lines = [line for line in text.splitlines() if not line.startswith(("     ", "   View: "))]
            self.assertLessEqual(max(map(len, lines)), columns, text)
        self.assertGreater(max(map(len, self.tool("analyze", RUN).stdout.splitlines())), 100)

    def test_a_script_is_not_a_program(self):
        (self.folder / "gan.py").write_text("print(1)\n")
        for words in (["gan.py"], ["./gan.py"]):
            done = run(BATCHLIGHT, "profile", *words, cwd=self.folder)
            self.assertIn("did you mean `python3 %s`?" % words[0], done.stderr)

    def test_what_a_run_lacks_is_not_spoken_of(self):
        events = []
        for step in range(12):
            for name, kind, start, end in (("ProfilerStep#%d" % step, "user_annotation", 0, 900),
                                           ("aten::mm", "cpu_op", 100, 500),
                                           ("Optimizer.step#SGD.step", "user_annotation", 600, 800)):
                events.append({"ph": "X", "cat": kind, "name": name, "pid": 1, "tid": 1,
                               "ts": 1000 * step + start, "dur": end - start})
        (self.folder / "cpu.json").write_text(json.dumps({"traceEvents": events}))
        for words in (["summary"], ["tree"], ["analyze"]):
            text = self.tool(*words, "cpu.json").stdout
            self.assertTrue(text)
            self.assertNotRegex(text, r"GPU|CUDA|[Kk]ernel", words)

    def test_what_is_not_read_of_a_foreign_file_is_a_footnote(self):
        trace = {"traceEvents": [
            {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 5},
            {"ph": "X", "cat": "python_function", "name": "f", "pid": 1, "tid": 1, "ts": 1, "dur": 9}]}
        (self.folder / "trace.json").write_text(json.dumps(trace))
        text = self.tool("summary", "trace.json").stdout
        self.assertNotIn("!", text)
        self.assertNotIn("unknown", text)
        self.assertIn("\nNotes\n  1 event has no table", text)
        self.assertLess(text.index("aten::mm"), text.index("Notes"))
        self.assertNotIn("no table", self.tool("tree", "trace.json").stderr)
        (self.folder / "cut.json").write_text(json.dumps(trace)[:-30])  # that one matters
        text = self.tool("summary", "cut.json").stdout
        self.assertLess(text.index("the file ends in the middle"), text.index("Steps"))

    def test_a_launcher_without_events_is_a_footnote(self):
        for name in ("two_ranks", "nccl"):  # their steps come from an NVTX range
            packed = RECORDINGS / "nsys-2025.3" / "captures" / f"{name}.sqlite.xz"
            (self.folder / "run.sqlite").write_bytes(lzma.decompress(packed.read_bytes()))
            text = self.tool("summary", "run.sqlite").stdout
            self.assertNotIn("\n!", text)
            self.assertIn("\nNotes\n  one process has no NVTX events, others have", text)


if __name__ == "__main__":
    unittest.main()
