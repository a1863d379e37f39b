"""summary and diff as a user runs them: on a terminal, into a file, with gates, with bad input."""
import json
import os
import re
import shutil
import tempfile
import unittest

from recorded import BATCHLIGHT, SOURCE, on_terminal, run

MS = 1000000


def loop_text(forward_ms, steps):
    """A training loop of `steps` steps of 6 ms + forward_ms, as `trace dump` would print it."""
    lines = ["chunk pid=5 tid=5 attach_ns=100 clock=monotonic base_ticks=0 base_ns=0",
             '+1 ProcessStart parent_pid=1 executable="/usr/bin/python3" '
             'command_line="train.py" start_ns=1']
    at = MS
    for step in range(steps):
        phases = (("DataLoaderNext", 4, 1), ("forward", None, forward_ms),
                  ("backward", 1, 3), ("AdamW.step", 2, 1.5 + 0.01 * (step % 3)))
        for name, phase, length in phases:
            end = at + int(length * MS)
            if phase is None:
                lines.append('+%d ModuleBegin path="Net" class_name="Net"' % at)
                lines.append('+%d OpBegin name="aten::mm" sequence=%d' % (at + 1000, step))
                lines.append("+%d OpEnd" % (end - 1000))
                lines.append("+%d ModuleEnd" % end)
            else:
                lines.append('+%d PhaseBegin phase=%d name="%s"' % (at, phase, name))
                lines.append("+%d PhaseEnd" % end)
            at = end + MS // 10
    return "\n".join(lines) + "\n"


class SummaryTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="batchlight-summary-")
        cls.fast = cls.make("fast", 4, 30)
        cls.slow = cls.make("slow", 5, 30)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    @classmethod
    def make(cls, name, forward_ms, steps):
        text = os.path.join(cls.folder, name + ".txt")
        with open(text, "w") as file:
            file.write(loop_text(forward_ms, steps))
        path = os.path.join(cls.folder, name + ".batchlight.live")
        done = run(BATCHLIGHT, "trace", "assemble", text, "-o", path)
        assert done.returncode == 0, done.stderr
        return path

    def test_the_readme_shows_what_the_summary_prints(self):
        with open(os.path.join(SOURCE, "README.md")) as file:
            shown = re.search(r"```\n(Steps\n.*?)```", file.read(), re.S).group(1)
        run_of_example = os.path.join(SOURCE, "tests/recordings/h200_train.batchlight")
        done = run(BATCHLIGHT, "summary", run_of_example, env={"LC_ALL": "C.UTF-8"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(shown, done.stdout)

    def test_summary_names_steps_phases_modules_and_operators(self):
        done = run(BATCHLIGHT, "summary", self.fast, env={"LC_ALL": "C.UTF-8"})
        self.assertEqual(done.returncode, 0, done.stderr)
        for words in ("30 steps, from the end of \"AdamW.step\" to the next", "data loading",
                      "forward", "backward", "optimizer", "Net", "aten::mm", "median 9.91 ms"):
            self.assertIn(words, done.stdout)
        self.assertNotIn("\x1b", done.stdout)

    def test_json_adds_up(self):
        done = run(BATCHLIGHT, "summary", "--json", self.fast)
        process = json.loads(done.stdout)["steps"]["processes"][0]
        self.assertEqual(process["source"], "optimizer_step")
        self.assertEqual(len(process["durations_ns"]), 30)
        self.assertEqual(sum(phase["time"]["total_ns"] for phase in process["phases"]),
                         process["duration"]["total_ns"])

    def test_a_range_of_steps_and_a_key(self):
        done = run(BATCHLIGHT, "summary", "--json", "--first-step", 10, "--last-step", 19, self.fast)
        self.assertEqual(json.loads(done.stdout)["steps"]["processes"][0]["duration"]["count"], 10)

    def test_every_command_with_steps_takes_the_same_options(self):
        for words in (["summary"], ["table", "steps"], ["tree"], ["analyze", "-r", "advice"],
                      ["report", "-f", "-o", os.path.join(self.folder, "out")],
                      ["export", "-f", "-t", "chrome", "-o", os.path.join(self.folder, "t.json")],
                      ["diff", self.fast]):
            for flags in (["--step-key", "AdamW.step", "--first-step", 3, "--last-step", 9],
                          ["--key", "AdamW.step", "--iter-start", 3, "--iter-stop", 9]):
                done = run(BATCHLIGHT, *words, *flags, self.fast)
                self.assertEqual(done.returncode, 0, (words, done.stderr))
            done = run(BATCHLIGHT, *words, "--first-step", 9, "--last-step", 3, self.fast)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn("--last-step 3", done.stderr)
            for flags, said in ((["--step-key", "aten::mn"], "did you mean aten::mm?"),
                                (["--step-key", "nope"], 'named "nope"'),
                                (["--rank", 5], "no training process has rank 5"),
                                (["--first-step", 99], "steps 0 to 29, none from 99 on")):
                done = run(BATCHLIGHT, *words, *flags, self.fast)
                self.assertEqual((done.returncode, done.stdout), (2, ""), words)
                self.assertIn(said, done.stderr)

    def test_a_table_of_the_whole_run_takes_no_steps(self):
        for table in ("threads", "files"):
            done = run(BATCHLIGHT, "table", table, "--first-step", 3, self.fast)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(f"table {table} is of the whole run", done.stderr)

    def test_report_is_of_the_steps_that_count(self):
        folder = os.path.join(self.folder, "part")
        done = run(BATCHLIGHT, "report", "-o", folder, "--first-step", 10, "--last-step", 19,
                   self.fast)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(os.path.join(folder, "steps.csv")) as file:
            self.assertEqual(sum("excluded" in line for line in file), 20)

    def on_terminal(self, columns, **environment):
        code, output = on_terminal(columns, "summary", self.fast, **environment)
        self.assertEqual(code, 0)
        return output

    def test_colour_is_for_terminals_that_want_it(self):
        coloured = self.on_terminal(80)
        self.assertIn("\x1b[", coloured)
        plain = self.on_terminal(80, NO_COLOR="1")
        self.assertNotIn("\x1b", plain)
        self.assertEqual(re.sub(r"\x1b\[[0-9;]*m", "", coloured), plain)
        self.assertNotIn("\x1b", self.on_terminal(80, TERM="dumb"))

    def test_it_fits_the_terminal_and_its_characters(self):
        for columns in (60, 80, 120):
            text = self.on_terminal(columns, NO_COLOR="1")
            self.assertLessEqual(max(len(line) for line in text.splitlines()
                                     if self.fast not in line), columns)
        self.assertTrue(self.on_terminal(80, NO_COLOR="1", LC_ALL="C").isascii())

    def test_diff_finds_the_slower_forward(self):
        done = run(BATCHLIGHT, "diff", self.fast, self.slow, "-f", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        diff = json.loads(done.stdout)
        self.assertTrue(diff["sure"])
        self.assertAlmostEqual(diff["difference_ns"], MS, delta=50000)
        self.assertEqual(diff["lists"]["phases"]["changes"][0]["name"], "forward")
        for part in diff["lists"].values():
            self.assertAlmostEqual(sum(c["b_ns"] - c["a_ns"] for c in part["changes"]),
                                   part["b_ns"] - part["a_ns"], delta=100)
        same = run(BATCHLIGHT, "diff", self.fast, self.fast)
        self.assertIn("no difference in step time", same.stdout)

    def test_gates_set_the_exit_code(self):
        def gate(text, *words):
            return run(BATCHLIGHT, "diff", self.fast, self.slow, "--fail-on", text, *words)
        failed = gate("step>3%")
        self.assertEqual(failed.returncode, 1)
        self.assertIn("gate step>3% failed", failed.stderr)
        self.assertEqual(gate("step>30%").returncode, 0)
        self.assertEqual(gate("backward>1%,forward>0.5ms").returncode, 1)
        self.assertEqual(gate("step>many").returncode, 2)
        unknown = gate("forwart>1%")
        self.assertEqual(unknown.returncode, 2)
        self.assertIn("did you mean forward", unknown.stderr)

    def test_markdown_and_csv_go_to_a_file(self):
        path = os.path.join(self.folder, "diff.md")
        done = run(BATCHLIGHT, "diff", self.fast, self.slow, "-f", "markdown", "-o", path)
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        with open(path) as file:
            self.assertTrue(file.read().startswith("**batchlight diff**: B is slower by"))
        nowhere = os.path.join(self.folder, "no", "such", "folder")
        done = run(BATCHLIGHT, "diff", self.fast, self.slow, "-f", "csv", "-o", nowhere)
        self.assertEqual(done.returncode, 4)
        self.assertIn(nowhere, done.stderr)

    def test_bad_input_is_a_clear_line(self):
        for words in (("summary", "/no/such/file"), ("diff", self.fast, "/no/such/file")):
            done = run(BATCHLIGHT, *words)
            self.assertEqual(done.returncode, 3)
            self.assertIn("/no/such/file", done.stderr)
            self.assertEqual(done.stdout, "")
        empty = self.make("empty", 1, 0)
        done = run(BATCHLIGHT, "diff", self.fast, empty, "--fail-on", "step>3%")
        self.assertEqual(done.returncode, 3)
        self.assertIn("in the second recording: no steps", done.stderr)


if __name__ == "__main__":
    unittest.main()
