"""--control-steps, --overhead and --pytorch-depth: what goes without detail, and what is said of it."""
import json
import os
import re
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from recorded import LONG_S, InFolder, count, dump  # noqa: E402

EVALUATION = "15"  # of phases.def
PYTHON = os.environ.get("BATCHLIGHT_TEST_PYTHON", sys.executable)

LOOP = """
import torch
from torch import nn
torch.manual_seed(0)
calls = []
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(16, 16)
        self.frozen = nn.BatchNorm1d(16).eval()
    def forward(self, x):
        return torch.relu(self.frozen(self.linear(x)))
net = nn.Sequential(*[Block() for _ in range(4)])
for place, block in enumerate(net):
    block.register_forward_pre_hook(lambda *_, place=place: calls.append(place))
    block.register_forward_hook(lambda *_, place=place: calls.append(-place))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
x = torch.randn(8, 16)
"""
STEPS = """
for i in range(STEPS):
    optimizer.zero_grad()
    net(x).sum().backward()
    optimizer.step()
"""
END = """
print(sum(p.double().sum().item() for p in net.parameters()).hex(), hash(tuple(calls)))
"""
COMPILED = """
import torch._dynamo
from torch._dynamo.utils import counters
for block in net:
    block._forward_hooks.clear(); block._forward_pre_hooks.clear()
compiled = torch.compile(net, backend="eager")
for i in range(80):
    optimizer.zero_grad()
    compiled(x).sum().backward()
    optimizer.step()
print(sorted(counters["stats"].items()), dict(counters["graph_break"]))
"""
GAN = """
critic = torch.optim.SGD(nn.Linear(4, 4).parameters(), lr=0.01)
weight = critic.param_groups[0]["params"][0]
for i in range(120):
    for _ in range(2):
        critic.zero_grad()
        (weight * weight).sum().backward()
        critic.step()
    optimizer.zero_grad()
    net(x).sum().backward()
    optimizer.step()
"""
# Most of the step comes after the optimizer, inside the range.
RANGES = """
import batchlight
for i in range(100):
    with batchlight.annotate("step"):
        optimizer.zero_grad()
        net(x).sum().backward()
        optimizer.step()
        for _ in range(60):
            torch.relu(x)
"""
VALIDATES = """
for i in range(120):
    optimizer.zero_grad()
    net(x).sum().backward()
    optimizer.step()
    if i % 5 == 4:
        net.eval()
        with torch.no_grad():
            for _ in range(3): net(x)
        net.train()
"""


def has_torch():
    return subprocess.run([PYTHON, "-c", "import torch"], stderr=subprocess.DEVNULL).returncode == 0


@unittest.skipUnless(has_torch(), "no PyTorch")
class ControlSteps(InFolder):
    def record(self, loop, *flags, name="run"):
        """What the program printed, and the summary."""
        with open(self.path("train.py"), "w") as file:
            file.write(LOOP + loop + END)
        done = self.batchlight("profile", "-t", "python,nvtx", "-o", name, *flags, PYTHON, "train.py",
                               timeout=4 * LONG_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        summary = self.batchlight("summary", "--json", name + ".batchlight")
        self.assertEqual(summary.returncode, 0, summary.stderr)
        return done.stdout, json.loads(summary.stdout)

    def alone(self):
        done = subprocess.run([PYTHON, self.path("train.py")], stdout=subprocess.PIPE, text=True,
                              timeout=4 * LONG_S, env=dict(self.environment, PYTHONHASHSEED="0"))
        return done.stdout

    def kinds(self, summary):
        return summary["steps"]["processes"][0]["kinds"]

    def operators(self, summary):
        """Calls of each in a step."""
        return {row["name"]: row["calls_per_step"] for row in summary["operators"]}

    def test_are_told_apart_and_measured(self):
        steps = STEPS.replace("STEPS", "180")
        printed, summary = self.record(steps, "--control-steps", "4")
        self.assertEqual(printed, self.alone(), "the program computes the same, hooks in order")
        again, all_detail = self.record(steps, "--control-steps", "none", name="all")
        self.assertEqual(printed, again)
        kinds = self.kinds(summary)
        self.assertEqual(len(kinds), 180)
        self.assertEqual(kinds[:20].count("without detail"), 0)
        plain = kinds.count("without detail")
        # A step is so in part if the thread lost its processor between its end and the switching.
        partly = kinds.count("partly without detail")
        self.assertIn(plain + partly, range(35, 42), "one in four of those after the first 20")
        self.assertLess(partly, 10)
        self.assertEqual(self.kinds(all_detail).count("without detail"), 0)
        calls, all_calls = self.operators(summary), self.operators(all_detail)
        # What follows the last step may count as a step without detail.
        self.assertLessEqual(set(all_calls) - set(calls),
                             {"aten::_to_copy", "aten::to", "aten::item", "aten::_local_scalar_dense"})
        self.assertAlmostEqual(calls["aten::relu"], 4, delta=0.01)
        for name, each in calls.items():  # the first step may be a warm-up in one of them
            self.assertAlmostEqual(each, all_calls[name], delta=0.25, msg=name)
        for module in summary["modules"]:
            self.assertAlmostEqual(module["calls"], 180 - plain, delta=1 + partly,
                                   msg=module["path"])

        recording = summary["recording"]
        self.assertEqual(recording["steps_without_detail"], plain)
        self.assertEqual(recording["steps_with_detail"], 180 - plain)
        self.assertNotIn("measured", all_detail["recording"])
        text = re.sub(r"\s+", " ", self.batchlight("summary", "run.batchlight").stdout)
        if "measured" in recording:  # else the machine is so busy that steps differ by more than a step
            measured = recording["measured"]
            self.assertIn(measured["samples"], range(30, plain + 1))
            self.assertLessEqual(measured["low_ns"], measured["ns"])
            self.assertLessEqual(measured["ns"], measured["high_ns"])
            self.assertRegex(text, r"recording adds \S+ \S+ to a step \(\S+ %% ± \S+, measured on "
                                   r"%d control steps(; \S+ \S+ of it in steps without detail too, estimated)?\)"
                             % measured["samples"])
        self.assertRegex(text, r"operators, modules and kernels: from \d+ of 180 steps; those without "
                               r"detail take \S+ \S+ \(median\)")
        self.every_table_says_from_how_many_steps(summary, text)
        text = re.sub(r"\s+", " ", self.batchlight("summary", "all.batchlight").stdout)
        self.assertRegex(text, r"recording adds \S+ \S+ to \S+ \S+ to a step \([0-9. to]+ %, estimated\)")

        # Switching was never dear. (Aim: 50 us in the median; a busy machine may take longer.)
        switches = sorted(int(record.fields["payload"]) for record in dump(self.path("run.batchlight"))
                          if record.kind == "Mark")
        # The last one may have begun at the end of the loop, or not have ended.
        self.assertIn(len(switches), range(2 * plain - 1, 2 * (plain + partly) + 2))
        self.assertLess(switches[len(switches) // 2], 1e6)

    def every_table_says_from_how_many_steps(self, summary, text):
        kinds = self.kinds(summary)
        counted, recorded = kinds.count("steady"), len(kinds) - kinds.count("without detail")
        from_steps = summary["from_steps"]
        self.assertGreater(from_steps.pop("without_detail_median_ns"), 0)
        self.assertEqual(from_steps, {"counted": counted, "recorded": recorded, "of_run": 180})
        below = " from %d of 180 steps" % counted
        for title in ("What a step is made of", "Top modules", "Top operators"):
            table = text[text.index(title):]
            self.assertIn(below, table[:table.find(" steps ") + 7], title)
        tables = {
            "operators": "Operators, recorded in %d of 180 steps, means of %d" % (recorded, counted),
            "key_averages": "key_averages(), recorded in %d of 180 steps, means of %d" % (recorded, counted),
            "phases": ", means of %d of 180 steps" % counted,
        }
        for name, said in tables.items():
            self.assertIn(said, self.batchlight("table", name, "run.batchlight").stdout)
            self.assertNotIn(" of 180 steps", self.batchlight("table", name, "all.batchlight").stdout)
            rows = json.loads(self.batchlight("table", name, "-f", "json", "run.batchlight").stdout)
            self.assertTrue(rows)
            for row in rows:
                self.assertEqual((row["Steps Counted"], row["Steps of Run"]), (counted, 180), name)
                if name != "phases":
                    self.assertEqual(row["Steps Recorded"], recorded, name)
        # Means are of the steps that count: those of operators add up within the steps' own time.
        rows = json.loads(self.batchlight("table", "operators", "-f", "json", "run.batchlight").stdout)
        relu = [row for row in rows if row["Operator"] == "aten::relu"][0]
        self.assertAlmostEqual(relu["Calls per Step"], 4, delta=0.01)
        self.assertAlmostEqual(relu["Calls"] / recorded, 4, delta=0.1)
        self.assertNotIn("Steps Counted", self.batchlight("table", "steps", "-f", "csv", "run.batchlight").stdout)

    def test_each_process_and_the_page_say_what_they_cost(self):
        with open(self.path("train.py"), "w") as file:
            file.write(LOOP + STEPS.replace("STEPS", "120") + END)
        done = self.batchlight("profile", "-t", "python,nvtx", "-o", "two", "--control-steps", "4", "sh", "-c",
                               f"RANK=0 {PYTHON} train.py & RANK=1 {PYTHON} train.py; wait", timeout=4 * LONG_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        summary = json.loads(self.batchlight("summary", "--json", "two.batchlight").stdout)
        processes = summary["steps"]["processes"]
        self.assertEqual(len(processes), 2)
        for process in processes:
            without = [kind for kind in process["kinds"] if kind.endswith("without detail")]
            self.assertIn(len(without), range(18, 32), "one in four of the hundred after the first 20")
        self.assertEqual(self.batchlight("report", "two.batchlight", "-o", "page").returncode, 0)
        with open(self.path("page/index.html")) as page:
            text = re.sub(r"\s+", " ", page.read())
        said = re.sub(r"\s+", " ", self.batchlight("summary", "two.batchlight").stdout)
        told = re.search(r"operators, modules and kernels: from \d+ of \d+ steps", said)[0]
        self.assertTrue(told.lower() in text.lower(), told)
        from_steps = json.loads(self.batchlight("summary", "--json", "two.batchlight").stdout)["from_steps"]
        said = "from %(counted)d of %(of_run)d steps" % from_steps
        self.assertIn('"from_steps":"%s"' % said, text)
        self.assertIn("Operators, recorded in %(recorded)d of %(of_run)d steps, means of %(counted)d" % from_steps, text)
        with open(self.path("page/operators.csv")) as csv:
            self.assertTrue(next(csv).rstrip().endswith("Steps Recorded,Steps Counted,Steps of Run"))
            for row in csv:
                self.assertTrue(row.rstrip().endswith(",%(recorded)d,%(counted)d,%(of_run)d" % from_steps), row)

    def test_the_same_steps_in_every_run(self):
        steps = STEPS.replace("STEPS", "90")
        chosen = [self.kinds(self.record(steps, "--control-steps=5", name=name)[1])
                  for name in ("first", "second")]
        plain = [[i for i, kind in enumerate(kinds) if kind == "without detail"] for kinds in chosen]
        self.assertGreater(len(plain[0]), 10)
        self.assertEqual(plain[0], plain[1])

    def test_operators_down_to_a_level(self):
        steps = STEPS.replace("STEPS", "30")
        printed, summary = self.record(steps, "--pytorch-depth", "1", "--pytorch",
                                       "functions-trace-shapes")
        self.assertEqual(printed, self.alone())
        calls = self.operators(summary)
        self.assertAlmostEqual(calls["aten::relu"], 4, delta=0.01)
        self.assertIn("aten::linear", calls)
        self.assertNotIn("aten::addmm", calls, "linear calls it")
        self.assertEqual(summary["recording"]["operator_levels"], 1)
        text = re.sub(r"\s+", " ", self.batchlight("summary", "run.batchlight").stdout)
        self.assertIn("operators: the outermost 1 level (--pytorch-depth)", text)

    def test_operators_alone(self):
        """Nothing is recorded of modules, and steps are known all the same."""
        printed, summary = self.record(STEPS.replace("STEPS", "120"), "--control-steps", "4",
                                       "--pytorch", "autograd-nvtx")
        self.assertEqual(printed, self.alone())
        self.assertIn(self.kinds(summary).count("without detail"), range(18, 32))
        self.assertFalse(summary["modules"])
        self.assertAlmostEqual(self.operators(summary)["aten::relu"], 4, delta=0.01)

    def test_a_short_program_is_as_before(self):
        """With steps, but too few; one that ends in its third; without any."""
        for steps in (20, 3, 0):
            loop = STEPS.replace("STEPS", str(steps)) if steps else "for _ in range(60): net(x).sum().backward()"
            with self.subTest(steps=steps):
                printed, summary = self.record(loop, "--control-steps", "4", name="run%d" % steps)
                self.assertEqual(printed, self.alone())
                recording = dump(self.path("run%d.batchlight" % steps))
                self.assertEqual(count(recording, "Mark"), 0, "nothing was switched off")
                self.assertGreaterEqual(count(recording, "ModuleBegin"), 4 * (steps or 60))
                kinds = [kind for process in summary["steps"]["processes"] for kind in process["kinds"]]
                self.assertEqual(kinds.count("without detail"), 0)
                if steps == 20:
                    self.assertIn("estimate", summary["recording"])

    def test_one_iteration_of_several_optimizers_is_one_step(self):
        _, summary = self.record(GAN, "--control-steps", "4")
        kinds = self.kinds(summary)
        self.assertGreater(kinds.count("without detail"), 15)
        self.assertLess(kinds.count("partly without detail"), 5)

    def test_a_range_around_the_step_is_the_step(self):
        _, summary = self.record(RANGES, "--control-steps", "4")
        kinds = self.kinds(summary)
        self.assertGreater(kinds.count("without detail"), 12)
        self.assertLess(kinds.count("partly without detail"), 4)

    def test_validation_is_still_told(self):
        self.record(VALIDATES, "--control-steps=4")
        evaluations = [record for record in dump(self.path("run.batchlight"))
                       if record.kind == "PhaseBegin" and record.fields["phase"] == EVALUATION]
        self.assertEqual(len(evaluations), 24 * 3, "in steps without detail, too")

    def test_a_budget(self):
        """Detail costs much here: no more steps than fit have it."""
        _, summary = self.record(STEPS.replace("STEPS", "600"), "--overhead", "4%")
        recording = summary["recording"]
        self.assertAlmostEqual(recording["budget_share"], 0.04)
        self.assertEqual(recording["steps_with_detail"] + recording["steps_without_detail"], 600)
        self.assertGreaterEqual(recording["steps_without_detail"], 20)
        self.assertGreaterEqual(recording["steps_with_detail"], 8, "those that measure")
        text = re.sub(r"\s+", " ", self.batchlight("summary", "run.batchlight").stdout)
        if "measured" in recording:
            self.assertRegex(text, r"--overhead 4 %%( was not kept)?: \S+ %% in the mean of 600 steps, "
                                   r"%d of them with detail" % recording["steps_with_detail"])
        else:  # on a machine so busy that steps differ by more than a step
            self.assertIn("; whether --overhead was kept cannot be told", text)

    def test_nothing_is_compiled_again(self):
        check = [PYTHON, "-c", "import torch; torch.compile"]
        if subprocess.run(check, stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("this PyTorch has no torch.compile")
        printed, summary = self.record(COMPILED, "--control-steps", "4")
        self.assertGreater(self.kinds(summary).count("without detail"), 10)
        self.assertEqual(printed, self.alone())

    def test_mistakes(self):
        for flags in (["--control-steps", "1"], ["--control-steps", "some"],
                      ["--control-steps", "4", "--every", "10"], ["--overhead", "much"],
                      ["--overhead", "3%", "--steps", "1:5"], ["--overhead=0%"],
                      ["--control-steps=8", "--python-trace=functions"]):
            done = self.batchlight("profile", *flags, "true")
            self.assertEqual(done.returncode, 2, flags)
            self.assertIn("--", done.stderr)
        self.assertEqual(self.batchlight("profile", "-o", "none", "--control-steps=none", "--every=10",
                                         "true").returncode, 0)


if __name__ == "__main__":
    unittest.main()
