"""Which process is which rank: processes that a program spawns itself, and those of every launcher,
with stand-ins that set the variables each of them sets (src/format/launchers.def)."""
import json
import os
import re
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from recorded import BATCHLIGHT, SOURCE, InFolder, run  # noqa: E402

try:
    import torch.distributed
    HAS_TORCH = torch.distributed.is_available() and torch.distributed.is_gloo_available()
except AttributeError:  # PyTorch 1.13 has no is_gloo_available
    HAS_TORCH = True
except ImportError:
    HAS_TORCH = False

STEPS = 6
SPAWNED = """
import sys, torch, torch.distributed as dist, torch.multiprocessing as mp
def work(rank, meeting):
    dist.init_process_group("gloo", init_method="file://" + meeting, rank=rank, world_size=2)
    torch.manual_seed(rank)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(16, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(%d):
        optimizer.zero_grad()
        model(torch.randn(8, 16)).sum().backward()
        optimizer.step()
    dist.destroy_process_group()
if __name__ == "__main__":
    mp.spawn(work, args=(sys.argv[1],), nprocs=2)
""" % STEPS

COMMANDS = {"torchrun, accelerate, DeepSpeed": "torchrun", "Open MPI": "mpirun", "Slurm": "srun",
            "Flux": "flux", "JSM (LSF)": "jsrun", "PALS (Cray)": "mpiexec"}
# What a launcher does: the program once for each rank, told apart by variables.
STAND_IN = """#!/bin/sh
# %(name)s
for rank in 0 1; do
  env %(variables)s "$@" > out.$rank 2>&1 || echo "FAILED $?" >> out.$rank
done
"""
# Each prints a range of its own, so that a rank's events are known.
PROGRAM = """
import batchlight, os, time
for _ in range(5):
    with batchlight.annotate("step"), batchlight.annotate("of rank " + os.environ[%r]):
        time.sleep(0.005)
"""


def launchers():
    """(name, rank, world size, local rank) of each row of the table."""
    with open(os.path.join(SOURCE, "src", "format", "launchers.def")) as file:
        return [re.findall(r'"([^"]*)"', row) for row in file if row.startswith("LAUNCHER(\"")]


def steps_of(rank, recording):
    table = run(BATCHLIGHT, "table", "steps", "--rank", rank, "-f", "json", recording)
    if table.returncode != 0:
        raise AssertionError(table.stderr)
    return json.loads(table.stdout)


class Spawned(InFolder):
    @unittest.skipUnless(HAS_TORCH, "this Python has no torch.distributed with gloo")
    def test_ranks_that_no_variable_names(self):
        with open(self.path("ddp.py"), "w") as file:
            file.write(SPAWNED)
        environment = {name: value for name, value in self.environment.items()
                       if name not in {launcher[1] for launcher in launchers()}}
        done = self.batchlight("profile", "-o", "run", "--pytorch=functions-trace", "--",
                               sys.executable, "ddp.py", self.path("meeting"), env=environment)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        pids = set()
        for rank in (0, 1):
            summary = run(BATCHLIGHT, "summary", "--rank", rank, "--json", self.path("run.batchlight"))
            self.assertEqual(summary.returncode, 0, summary.stderr)
            processes = json.loads(summary.stdout)["steps"]["processes"]
            self.assertEqual([(process["rank"], process["steps"]) for process in processes],
                             [(rank, STEPS)])
            table = steps_of(rank, self.path("run.batchlight"))
            self.assertEqual({row["PID"] for row in table}, {processes[0]["pid"]})
            pids.add(processes[0]["pid"])
        self.assertEqual(len(pids), 2)
        missing = run(BATCHLIGHT, "summary", "--rank", "2", self.path("run.batchlight"))
        self.assertEqual(missing.returncode, 2)
        self.assertIn("has rank 2; the run has 0, 1", missing.stderr)


class Launched(InFolder):
    def launcher(self, name, variables):
        """A stand-in of this name, first on the PATH."""
        words = " ".join("%s=%s" % (variable, value) for variable, value in variables.items())
        os.makedirs(self.path("bin"), exist_ok=True)
        path = os.path.join(self.folder, "bin", name)
        with open(path, "w") as file:
            file.write(STAND_IN % {"name": name, "variables": words})
        os.chmod(path, 0o755)
        return path

    def setUp(self):
        super().setUp()
        for launcher in launchers():
            for variable in filter(None, launcher[1:]):
                self.environment.pop(variable, None)
        self.environment["PYTHONPATH"] = os.path.join(os.path.dirname(os.path.dirname(BATCHLIGHT)),
                                                      "share", "batchlight", "python")

    def variables(self, launcher):
        _, rank, world_size, local_rank = launcher
        values = {rank: "$rank", world_size: "2", local_rank: "$rank"}
        return {name: value for name, value in values.items() if name}

    def program(self, launcher):
        with open(self.path("program.py"), "w") as file:
            file.write(PROGRAM % launcher[1])
        return [sys.executable, "program.py"]

    def out(self, rank):
        with open(self.path("out.%d" % rank)) as file:
            return file.read()

    def test_the_table_is_whole(self):
        self.assertGreaterEqual(len(launchers()), 11)

    def test_one_recording_of_all_ranks(self):
        for number, launcher in enumerate(launchers()):
            with self.subTest(launcher[0]):
                stand_in = self.launcher(COMMANDS.get(launcher[0], "launch%d" % number), self.variables(launcher))
                done = self.batchlight("profile", "-f", "-o", "run", "--", stand_in,
                                       *self.program(launcher), env=self.environment)
                self.assertEqual(done.returncode, 0, done.stderr)
                for rank in (0, 1):
                    table = steps_of(rank, self.path("run.batchlight"))
                    self.assertEqual({row["Rank"] for row in table}, {rank})
                missing = run(BATCHLIGHT, "summary", "--rank", "2", self.path("run.batchlight"))
                self.assertEqual(missing.returncode, 2, missing.stdout)
                per_rank = run(BATCHLIGHT, "export", "-t", "jsonlines", "--per-rank", "-o", self.path("ranks"),
                               "-f", self.path("run.batchlight"))
                self.assertEqual(per_rank.returncode, 0, per_rank.stderr)
                files = sorted(os.listdir(self.path("ranks")))
                self.assertEqual(len(files), 2, files)
                for rank, name in enumerate(files):
                    with open(os.path.join(self.path("ranks"), name)) as file:
                        found = set(re.findall(r"of rank (\d)", file.read()))
                    self.assertEqual(found, {str(rank)}, name)

    def test_a_recording_for_each_rank(self):
        for number, launcher in enumerate(launchers()):
            with self.subTest(launcher[0]):
                stand_in = self.launcher(COMMANDS.get(launcher[0], "launch%d" % number), self.variables(launcher))
                done = run(stand_in, BATCHLIGHT, "profile", "-f", "-o", "run-%%q{%s}" % launcher[1],
                           "--", *self.program(launcher), cwd=self.folder, env=self.environment)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertNotIn("FAILED", self.out(0) + self.out(1))
                self.assertGreater(len(self.out(0).splitlines()), 5, self.out(0))
                self.assertRegex(self.out(1), r"^batchlight: rank 1 is recorded; only rank 0 prints: "
                                 r"`batchlight summary \S*run-1\.batchlight`\n$")

    def test_some_ranks_are_recorded_and_the_others_run_untouched(self):
        launcher = launchers()[0]
        stand_in = self.launcher("torchrun", self.variables(launcher))
        done = run(stand_in, BATCHLIGHT, "profile", "--ranks", "1,3-9", "-o", "run-%q{RANK}", "--",
                   sys.executable, "-c", "import os; print(os.environ.get('NVTX_INJECTION64_PATH'))",
                   cwd=self.folder, env=self.environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.out(0), "None\n")
        self.assertNotIn("None", self.out(1))
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("run-")],
                         ["run-1.batchlight"])
        self.assertGreater(len(self.out(1).splitlines()), 5, "the lowest rank that is recorded prints")
        alone = self.batchlight("profile", "--ranks", "0", "--", "true")
        self.assertEqual(alone.returncode, 2)
        self.assertIn("no launcher says which rank this is", alone.stderr)


if __name__ == "__main__":
    unittest.main()
