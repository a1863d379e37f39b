"""Jobs that real launchers start: Open MPI, torchrun, and a Slurm of four nodes on this machine, all from
Debian's packages (tools/packages-test.txt)."""
import importlib.util
import json
import os
import re
import shutil
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from recorded import BATCHLIGHT, LONG_S, SOURCE, InFolder, run  # noqa: E402
from slurm_cluster import SlurmCluster, why_no_slurm  # noqa: E402

STEPS = 12
# Every rank has steps with a range of its own.
PROGRAM = """
import batchlight, sys, time
rank = int(sys.argv[1])
for _ in range(%d):
    with batchlight.annotate("step"):
        with batchlight.annotate("of rank " + "abcd"[rank]):
            time.sleep(0.01)
""" % STEPS
# As torchrun does on each node: two ranks, told apart by variables.
TWO_RANKS = """#!/bin/sh
for local in 0 1; do
  RANK=$((SLURM_NODEID * 2 + local)) WORLD_SIZE=4 LOCAL_RANK=$local \\
    sh -c '"$@" "$RANK"' sh "$@" &
done
wait
"""


class OfALauncher(InFolder):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("run"))
        with open(os.path.join(SOURCE, "src", "format", "launchers.def")) as file:
            for variable in re.findall(r'"([A-Z_]+)"', file.read()):
                self.environment.pop(variable, None)
        share = os.path.join(os.path.dirname(os.path.dirname(BATCHLIGHT)), "share", "batchlight")
        self.environment["PYTHONPATH"] = os.path.join(share, "python")
        with open(self.path("program.py"), "w") as file:
            file.write(PROGRAM)

    def start(self, *words):
        done = run(*words, cwd=self.folder, env=self.environment, timeout=4 * LONG_S)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stderr  # stdout is the programs'

    def program(self, variable):
        """The program as rank $variable, as a launcher starts it."""
        return ["sh", "-c", "exec %s program.py $%s" % (sys.executable, variable)]

    def job(self, *recordings):
        done = run(BATCHLIGHT, "ranks", "--json", *(self.path(each) for each in recordings))
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def check_job(self, job, files, ranks):
        self.assertEqual(job["notes"], [])
        self.assertEqual(job["recordings"], files)
        self.assertEqual(job["world_size"], ranks)
        self.assertEqual([rank["rank"] for rank in job["ranks"]], list(range(ranks)))
        for rank in job["ranks"]:
            self.assertIn("of rank " + "abcd"[rank["rank"]], rank["phases_ns"])
            self.assertGreater(rank["steps"], STEPS // 2)

    def check_printed(self, text):
        """Rank 0 prints the summary, every other one a line."""
        self.assertEqual(text.count("Next\n"), 1, text)


@unittest.skipUnless(shutil.which("mpirun"), "no Open MPI here (openmpi-bin)")
class OpenMpi(OfALauncher):
    MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "3"]

    def test_a_file_a_rank(self):
        printed = self.start(*self.MPIRUN, BATCHLIGHT, "profile", "-o",
                             "run/r%q{OMPI_COMM_WORLD_RANK}", "--",
                             *self.program("OMPI_COMM_WORLD_RANK"))
        self.check_printed(printed)
        self.assertEqual(sorted(os.listdir(self.path("run"))),
                         ["r%d.batchlight" % rank for rank in range(3)])
        self.check_job(self.job("run"), files=3, ranks=3)

    def test_one_file_of_all(self):
        self.start(BATCHLIGHT, "profile", "-o", "all", "--", *self.MPIRUN,
                   *self.program("OMPI_COMM_WORLD_RANK"))
        self.check_job(self.job("all.batchlight"), files=1, ranks=3)

    def test_some_ranks(self):
        self.start(*self.MPIRUN, BATCHLIGHT, "profile", "--ranks", "0,2", "-o",
                   "run/r%q{OMPI_COMM_WORLD_RANK}", "--", *self.program("OMPI_COMM_WORLD_RANK"))
        self.assertEqual(sorted(os.listdir(self.path("run"))), ["r0.batchlight", "r2.batchlight"])
        (note,) = self.job("run")["notes"]
        self.assertIn("1 of 3 ranks are missing (1)", note)

    def test_a_rank_that_fails_ends_the_job_and_is_kept(self):
        done = run(*self.MPIRUN, BATCHLIGHT, "profile", "-o", "run/r%q{OMPI_COMM_WORLD_RANK}", "--",
                   "sh", "-c", "%s program.py $OMPI_COMM_WORLD_RANK; exit $OMPI_COMM_WORLD_RANK"
                   % sys.executable, cwd=self.folder, env=self.environment, timeout=4 * LONG_S)
        self.assertIn(done.returncode, (1, 2), done.stdout + done.stderr)
        sealed = [name for name in os.listdir(self.path("run")) if name.endswith(".batchlight")]
        self.assertTrue(sealed, done.stderr)
        for name in sealed:
            summary = run(BATCHLIGHT, "summary", self.path("run/" + name))
            self.assertEqual(summary.returncode, 0, name + summary.stderr)


@unittest.skipUnless(importlib.util.find_spec("torch"), "this Python has no torch")
class Torchrun(OfALauncher):
    def torchrun(self, *words):
        """Two workers that meet at a free port. Debian's 1.13 fails without -r and -t."""
        return [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", "2", "--rdzv_backend", "c10d",
                "--rdzv_endpoint", "localhost:0", "--log_dir", self.path("logs"), "-r", "1", "-t", "1", "--no_python",
                *words]

    def test_a_file_a_rank(self):
        printed = self.start(*self.torchrun(BATCHLIGHT, "profile", "-o", "run/r%q{RANK}", "--", *self.program("RANK")))
        self.check_printed(printed)
        self.assertEqual(sorted(os.listdir(self.path("run"))), ["r0.batchlight", "r1.batchlight"])
        self.check_job(self.job("run"), files=2, ranks=2)

    def test_one_file_of_all(self):
        self.start(BATCHLIGHT, "profile", "-o", "all", "--", *self.torchrun(*self.program("RANK")))
        self.check_job(self.job("all.batchlight"), files=1, ranks=2)


@unittest.skipIf(why_no_slurm(), why_no_slurm())
class Slurm(SlurmCluster, OfALauncher):
    def setUp(self):
        super().setUp()
        self.set_up_slurm()

    def test_a_file_a_rank(self):
        printed = self.start("srun", "-N4", "-n4", BATCHLIGHT, "profile", "-o",
                             "run/r%q{SLURM_PROCID}", "--", *self.program("SLURM_PROCID"))
        self.check_printed(printed)
        job = self.job("run")
        self.check_job(job, files=4, ranks=4)
        text = run(BATCHLIGHT, "ranks", self.path("run")).stdout
        self.assertIn("4 ranks", text)

    def test_a_file_a_node(self):
        with open(self.path("two_ranks.sh"), "w") as file:
            file.write(TWO_RANKS)
        self.start("srun", "-N2", "--ntasks-per-node=1", BATCHLIGHT, "profile", "-o",
                   "run/node%q{SLURM_NODEID}", "--", "sh", "two_ranks.sh", sys.executable,
                   "program.py")
        self.assertEqual(sorted(os.listdir(self.path("run"))),
                         ["node0.batchlight", "node1.batchlight"])
        self.check_job(self.job("run"), files=2, ranks=4)

    def test_two_jobs_in_one_folder_are_said(self):
        for job in ("a", "b"):
            self.start("srun", "-N1", "-n2", BATCHLIGHT, "profile", "-o",
                       "run/%s%%q{SLURM_PROCID}" % job, "--", *self.program("SLURM_PROCID"))
        done = run(BATCHLIGHT, "ranks", self.path("run"))
        self.assertEqual(done.returncode, 3, done.stdout)
        self.assertIn("SLURM_JOB_ID", done.stderr)
        one = self.job("run/a0.batchlight", "run/a1.batchlight")
        self.check_job(one, files=2, ranks=2)


if __name__ == "__main__":
    unittest.main()
