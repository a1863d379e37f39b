"""Jobs that real launchers start: Open MPI, and a Slurm of four nodes on this machine, both from
Debian's packages (tools/packages-test.txt). Slurm's daemons live in a namespace of their own and
end with the test."""
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from recorded import BATCHLIGHT, LONG_S, SOURCE, InFolder, run  # noqa: E402

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
NODES = 4
SLURM_CONF = """
ClusterName=batchlight
SlurmctldHost=%(host)s(127.0.0.1)
SlurmctldPort=%(port)d
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=%(folder)s/munge/socket
CredType=cred/munge
StateSaveLocation=%(folder)s/state
SlurmdSpoolDir=%(folder)s/spool.%%n
SlurmctldPidFile=%(folder)s/slurmctld.pid
SlurmdPidFile=%(folder)s/slurmd.%%n.pid
SlurmctldLogFile=%(folder)s/slurmctld.log
SlurmdLogFile=%(folder)s/slurmd.%%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmdParameters=config_overrides
MpiDefault=none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
%(nodes)s
PartitionName=all Nodes=ALL Default=YES State=UP
"""
# slurmd looks for a cgroup file system, whatever it is told to use.
START = """
mount -t tmpfs none /sys/fs/cgroup
munged --foreground --force --socket=munge/socket --key-file=munge/key --pid-file=munge/pid \\
  --log-file=munge/log --seed-file=munge/seed > munged.out 2>&1 &
while ! [ -S munge/socket ]; do sleep 0.1; done
slurmctld -D -f slurm.conf > slurmctld.out 2>&1 &
for node in 1 2 3 4; do slurmd -D -N n$node -f slurm.conf > slurmd.$node.out 2>&1 & done
wait
"""


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


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


def why_no_slurm():
    for program in ("munged", "slurmctld", "slurmd", "srun"):
        if not shutil.which(program, path="/usr/sbin:/sbin:" + os.environ.get("PATH", "")):
            return "no %s here" % program
    if os.getuid() != 0 or run("unshare", "-m", "-p", "-f", "true").returncode != 0:
        return "a Slurm of its own needs root and namespaces"
    return None


@unittest.skipIf(why_no_slurm(), why_no_slurm())
class Slurm(OfALauncher):
    def setUp(self):
        super().setUp()
        host = socket.gethostname().split(".")[0]
        port, *ports = free_ports(1 + NODES)
        nodes = ["NodeName=n%d NodeHostname=%s NodeAddr=127.0.0.1 Port=%d CPUs=4 State=UNKNOWN"
                 % (node + 1, host, port_of) for node, port_of in enumerate(ports)]
        for folder in ("munge", "state"):
            os.mkdir(self.path(folder), 0o700)
        with open(self.path("munge/key"), "wb") as file:
            file.write(os.urandom(1024))
        os.chmod(self.path("munge/key"), 0o400)
        with open(self.path("slurm.conf"), "w") as file:
            file.write(SLURM_CONF % {"host": host, "port": port, "folder": self.folder,
                                     "nodes": "\n".join(nodes)})
        with open(self.path("cgroup.conf"), "w") as file:
            file.write("CgroupPlugin=cgroup/v1\n")
        self.environment["SLURM_CONF"] = self.path("slurm.conf")
        self.environment["PATH"] += ":/usr/sbin:/sbin"
        self.start_cluster()

    def start_cluster(self):
        words = ["unshare", "--mount", "--propagation", "private", "--pid", "--fork",
                 "--kill-child", "--mount-proc", "sh", "-c", START]
        cluster = subprocess.Popen(words, cwd=self.folder, env=self.environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)

        def end():
            cluster.kill()  # and with it all that is in its namespace
            cluster.wait(LONG_S)

        self.addCleanup(end)
        limit, idle = time.time() + 2 * LONG_S, ""
        while time.time() < limit and cluster.poll() is None:
            idle = run("sinfo", "-h", "-t", "idle", "-o", "%D", env=self.environment).stdout.strip()
            if idle == str(NODES):
                return
            time.sleep(0.2)
        logs = [name for name in os.listdir(self.folder) if name.endswith((".out", ".log"))]
        self.fail("no Slurm came up, idle nodes %r\n" % idle +
                  "\n".join("%s: %s" % (name, open(self.path(name)).read()[-600:]) for name in logs))

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
