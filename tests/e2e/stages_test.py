"""The stages of real programs: they add up to the life of the process, and agree with its own clock."""
import json
import os
import sys
import tempfile
import textwrap
import unittest
import unittest.mock

from recorded import BATCHLIGHT, run

PYTHON = os.environ.get("BATCHLIGHT_TORCH_PYTHON", "/usr/bin/python3")

# Trains, validates and saves; prints how long it validated and what it did before the loop.
PROGRAM = """
    import json, time
    import torch
    from torch import nn
    from torch.utils.data import DataLoader, TensorDataset
    torch.set_num_threads(1)
    begin = time.perf_counter()
    words = {}
    while time.perf_counter() - begin < 0.8:
        words[str(len(words))] = len(words)
    preprocessing = time.perf_counter() - begin
    model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    data = TensorDataset(torch.rand(2000, 64), torch.randint(4, (2000,)))
    validation = 0.0
    for epoch in range(3):
        model.train()
        for x, y in DataLoader(data, 100):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
        begin = time.perf_counter()
        model.eval()
        with torch.no_grad():
            for x, y in DataLoader(data, 20):
                nn.functional.cross_entropy(model(x), y).item()
        validation += time.perf_counter() - begin
        torch.save(model.state_dict(), "model.pt")
    print(json.dumps({"validation": validation, "preprocessing": preprocessing}))
"""


def has_torch():
    return run(PYTHON, "-c", "import torch").returncode == 0


class StagesTest(unittest.TestCase):
    def record(self, program, folder):
        script = os.path.join(folder, "program.py")
        with open(script, "w") as file:
            file.write(textwrap.dedent(program))
        recording = os.path.join(folder, "run.batchlight")
        done = run(BATCHLIGHT, "profile", "-o", recording, PYTHON, script,
                   cwd=folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        shown = run(BATCHLIGHT, "summary", "--json", recording)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        return done, recording, json.loads(shown.stdout)

    @unittest.skipUnless(has_torch(), "no PyTorch")
    def test_a_training_program(self):
        with tempfile.TemporaryDirectory() as folder:
            done, recording, summary = self.record(PROGRAM, folder)
            own = json.loads([line for line in done.stdout.splitlines() if line[:1] == "{"][0])
            self.adds_up(summary)
            life, = summary["lives"]
            stages = {stage["stage"]: stage for stage in life["stages"]}
            seconds = {name: stage["total_ns"] / 1e9 for name, stage in stages.items()}
            # The program's own clock, which sees the same moments but for a few calls.
            for name, clock in own.items():
                self.assertAlmostEqual(seconds[name] / clock, 1, delta=0.15, msg=name)
            self.assertEqual(stages["validation"]["count"], 3)
            self.assertEqual(stages["checkpoint"]["count"], 3)
            imports = life["start_up"]["largest_imports"]
            self.assertEqual(imports[0]["package"], "torch")
            self.assertGreater(life["start_up"]["interpreter_ns"], 0)
            self.same_in_all_views(recording, summary)

    @unittest.skipUnless(has_torch(), "no PyTorch")
    def test_the_first_use_of_a_pytorch_is_no_import(self):
        program = """
            import json, time
            begin = time.perf_counter()
            import torch
            print(json.dumps({"import": time.perf_counter() - begin}))
            """
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as empty:
            with unittest.mock.patch.dict(os.environ, XDG_CACHE_HOME=empty):
                first = self.first_use(program, folder)
                again = self.first_use(program, folder)
        self.assertGreater(first["build"], 1)
        self.assertEqual(again["build"], 0)
        self.assertIn("batchlight: building its operator recorder", first["rows"])
        for said in (first, again):
            self.assertAlmostEqual(said["torch"] + said["build"], said["clock"], delta=0.1 + 0.02 * said["clock"])
            self.assertAlmostEqual(said["start_up"], said["torch"], delta=0.2 + 0.1 * said["torch"])

    def first_use(self, program, folder):
        """Seconds: of the program's own clock, of the import of torch in the table and in start-up, of the build."""
        for name in os.listdir(folder):
            os.remove(os.path.join(folder, name))
        done, recording, summary = self.record(program, folder)
        self.adds_up(summary)
        clock = json.loads([line for line in done.stdout.splitlines() if line[:1] == "{"][0])["import"]
        table = json.loads(run(BATCHLIGHT, "table", "imports", "-f", "json", recording).stdout)
        rows = {row["Module"].strip(): row["Total (ns)"] / 1e9 for row in reversed(table)}
        stages = {stage["stage"]: stage["total_ns"] / 1e9 for stage in summary["stages"]}
        build = rows.get("batchlight: building its operator recorder", 0)
        self.assertAlmostEqual(stages.get("batchlight: building its recorder", 0), build, places=3)
        text = run(BATCHLIGHT, "export", "-t", "importtime", "-o", "-", recording).stdout
        self.assertFalse([line for line in text.splitlines() if "building" in line])
        return {"clock": clock, "torch": rows["torch"], "build": build, "rows": rows,
                "start_up": summary["lives"][0]["start_up"]["imports_ns"] / 1e9}

    def adds_up(self, summary):
        for life in summary["lives"]:
            self.assertEqual(sum(stage["total_ns"] for stage in life["stages"]), life["wall_ns"])
            for stage in life["stages"]:
                if stage["stage"] == "start-up":
                    parts = [ns for key, ns in life["start_up"].items() if key.endswith("_ns")]
                    self.assertEqual(sum(parts), stage["total_ns"])
        self.assertEqual(summary["stages"], summary["lives"][0]["stages"])

    def same_in_all_views(self, recording, summary):
        table = json.loads(run(BATCHLIGHT, "table", "stages", "-f", "json", recording).stdout)
        self.assertEqual(
            [(row["Stage"], row["Count"], row["Total (ns)"]) for row in table],
            [(stage["stage"], stage["count"], stage["total_ns"]) for stage in summary["stages"]])
        text = run(BATCHLIGHT, "summary", recording).stdout
        self.assertIn("The run, from start to end", text)
        for stage in summary["stages"]:
            line, = [line for line in text.splitlines() if line.startswith("  %s " % stage["stage"])
                     and line.endswith(" %")][:1]
            self.assertIn("%.1f %%" % (100 * stage["share"]), line)

    def test_a_program_without_pytorch(self):
        with tempfile.TemporaryDirectory() as folder:
            _, _, summary = self.record("import json, threading, time\ntime.sleep(0.2)\n", folder)
            self.adds_up(summary)
            stages = [stage["stage"] for stage in summary["stages"]]
            self.assertEqual(stages, ["start-up", "other", "shutdown"])


if __name__ == "__main__":
    sys.exit(unittest.main())
