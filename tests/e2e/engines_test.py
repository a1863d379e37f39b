"""`ranks` by every engine: the same bytes from this process, from the nodes of a Slurm job and from
the workers of a Dask cluster, also when workers die, files lie on the nodes' own disks, or a node sees
them later than the others. Both clusters are real: Slurm and Dask of Debian's packages
(tools/packages-test.txt)."""
import csv
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from recorded import BATCHLIGHT, LONG_S, SOURCE, InFolder, run  # noqa: E402
from slurm_cluster import SlurmCluster, why_no_slurm  # noqa: E402

RANKS = 4
PROGRAM = """
import batchlight, sys, time
for _ in range(10):
    with batchlight.annotate("step"), batchlight.annotate("of rank " + sys.argv[1]):
        time.sleep(0.005)
"""
TWO_RANKS = os.path.join(SOURCE, "tests", "recordings", "h200_two_ranks.batchlight")
# In the place of the program on the workers: its first call for a task does something else.
FIRST_CALL = """#!/bin/sh
if [ "$2" = %(task)s ] && mkdir %(folder)s/first 2>/dev/null; then %(first)s; fi
exec %(program)s "$@"
"""
# Each node's first look finds an empty folder.
SEES_NOTHING = """#!/bin/sh
if [ "$2" = list ] && mkdir %(folder)s/first.$SLURMD_NODENAME 2>/dev/null; then
  exec unshare --mount sh -c 'mount -t tmpfs none %(folder)s/run; exec %(program)s "$@"' sh "$@"
fi
exec %(program)s "$@"
"""


class OfAnEngine(InFolder):
    def setUp(self):
        super().setUp()
        share = os.path.join(os.path.dirname(os.path.dirname(BATCHLIGHT)), "share", "batchlight")
        self.environment["PYTHONPATH"] = os.path.join(share, "python")
        # The client is Debian's Python, whichever runs this test.
        self.environment["PATH"] = "/usr/bin:" + self.environment.get("PATH", "")
        with open(self.path("program.py"), "w") as file:
            file.write(PROGRAM)
        os.mkdir(self.path("run"))

    def record(self):
        for rank in range(RANKS):
            done = self.batchlight("profile", "-o", "run/r%d" % rank, "--", sys.executable,
                                   "program.py", rank,
                                   env=dict(self.environment, RANK=str(rank), WORLD_SIZE=str(RANKS)))
            self.assertEqual(done.returncode, 0, done.stderr)

    def ranks(self, engine, *words, before=(), **environment):
        done = run(*before, BATCHLIGHT, "ranks", "--json", "--engine", engine, *words,
                   cwd=self.folder, env=dict(self.environment, **environment), timeout=4 * LONG_S)
        return done

    def check_same(self, engine, *words, before=(), **environment):
        """What the engine said beside the result, which is that of this process."""
        here = self.ranks("local", *words)
        self.assertEqual(here.returncode, 0, here.stderr)
        there = self.ranks(engine, *words, before=before, **environment)
        self.assertEqual(there.returncode, 0, there.stderr)
        self.assertEqual(there.stdout, here.stdout)
        return there.stderr

    def recipe(self, folder, *words, before=(), **environment):
        """{name of a file: its bytes} of what a recipe writes."""
        done = run(*before, BATCHLIGHT, "recipe", "--csv", "-o", folder, *words, cwd=self.folder,
                   env=dict(self.environment, **environment), timeout=4 * LONG_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        files = {}
        for name in os.listdir(self.path(folder)):
            with open(os.path.join(self.path(folder), name), "rb") as file:
                files[name] = file.read()
        return files

    def worker(self, text, **fields):
        path = self.path("worker.sh")
        with open(path, "w") as file:
            file.write(text % dict(fields, folder=self.folder, program=BATCHLIGHT))
        os.chmod(path, 0o755)
        return path


class Local(OfAnEngine):
    def test_unknown_engines(self):
        for engine in ("slurms", "slurm:x", "local:1", "dusk:a"):
            done = self.ranks(engine, TWO_RANKS)
            self.assertEqual(done.returncode, 2, engine)
            self.assertIn("--engine " + engine, done.stderr)

    def test_no_job(self):
        environment = {name: value for name, value in self.environment.items()
                       if not name.startswith("SLURM")}
        done = run(BATCHLIGHT, "ranks", "--engine", "slurm", TWO_RANKS, env=environment)
        self.assertEqual(done.returncode, 2)
        self.assertIn("salloc", done.stderr)

    def test_no_dask(self):
        os.mkdir(self.path("bin"))
        with open(self.path("bin/python3"), "w") as file:
            file.write("#!/bin/sh\nexec %s -S \"$@\"\n" % sys.executable)
        os.chmod(self.path("bin/python3"), 0o755)
        done = self.ranks("dask:tcp://127.0.0.1:9", TWO_RANKS, PATH=self.path("bin") + ":/usr/bin:/bin",
                          PYTHONPATH="")
        self.assertEqual(done.returncode, 2)
        self.assertIn("distributed", done.stderr)

    def test_no_cluster_is_started(self):
        """Any user of the machine could have its workers run what he likes."""
        os.mkdir(self.path("bin"))
        with open(self.path("bin/python3"), "w") as file:
            file.write("#!/bin/sh\necho >%s\nexit 1\n" % self.path("started"))
        os.chmod(self.path("bin/python3"), 0o755)
        alone = {"PATH": self.path("bin") + ":/usr/bin:/bin", "DASK_SCHEDULER_ADDRESS": "",
                 "NSYS_DASK_SCHEDULER_FILE": ""}
        self.assertEqual(self.check_same("dask", TWO_RANKS, **alone), "")
        self.assertEqual(self.recipe("there", "nvtx_sum", TWO_RANKS, "--mode", "dask-futures", **alone),
                         self.recipe("here", "nvtx_sum", TWO_RANKS))
        self.assertNotIn("started", os.listdir(self.folder))

    def test_a_page(self):
        self.record()
        done = self.batchlight("ranks", "--html", "page.html", "run")
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("page.html")) as file:
            page = file.read()
        self.assertIn(done.stdout.splitlines()[0], page)
        data = json.loads(re.search(r'id="data">(.*?)</script>', page).group(1))
        self.assertEqual(data["rank_maps"]["lines"], [str(rank) for rank in range(RANKS)])
        by_phase, by_step = data["rank_maps"]["maps"]
        self.assertIn("of rank #", by_phase["columns"])  # names differ in numbers alone
        self.assertEqual({len(line) for line in by_phase["share"]}, {len(by_phase["columns"])})
        self.assertEqual({len(line) for line in by_step["share"]}, {len(by_step["columns"])})

    def test_the_verb_of_workers_is_not_for_people(self):
        for words in ((), ("partial",), ("partial", "--", "a.batchlight"), ("other", "--")):
            self.assertEqual(run(BATCHLIGHT, "work", *words).returncode, 2, words)


class Recipes(OfAnEngine):
    def names(self):
        """{recipe: whether it is here}."""
        done = run(BATCHLIGHT, "recipe", "--list")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [line.split(" -- ", 1) for line in done.stdout.splitlines()]
        return {name.split("[")[0]: not why.startswith("not here: ") for name, why in lines}

    def test_every_recipe(self):
        names = self.names()
        self.assertGreater(len(names), 35)
        written = []
        for name, here in names.items():
            done = run(BATCHLIGHT, "recipe", name, TWO_RANKS, cwd=self.folder)
            if not here:
                self.assertEqual(done.returncode, 2, name)
                self.assertIn("is not here: ", done.stderr)
            elif done.returncode == 0:
                self.assertEqual(done.stdout, name + "-1\n")
                self.assertIn("files.parquet", os.listdir(self.path(name + "-1")))
                written.append(name)
            else:
                self.assertEqual(done.returncode, 3, name + done.stderr)
                self.assertIn("does not contain", done.stderr)
        self.assertGreaterEqual(len(written), 15, written)
        for name in ("cuda_gpu_kern_sum", "nccl_gpu_time_util_map", "cuda_gpu_kern_hist"):
            self.assertIn(name + ".svg", os.listdir(self.path(name + "-1")))

    def test_sums_are_those_of_stats(self):
        files = self.recipe("out", "cuda_gpu_kern_sum", TWO_RANKS)
        self.assertEqual(sorted(files), ["all_stats.csv", "all_stats.parquet", "cuda_gpu_kern_sum.svg",
                                         "files.csv", "files.parquet", "rank_stats.csv",
                                         "rank_stats.parquet"])
        rows = list(csv.DictReader(io.StringIO(files["all_stats.csv"].decode())))
        done = run(BATCHLIGHT, "stats", "-r", "cuda_gpu_kern_sum", "-f", "csv", TWO_RANKS)
        expected = list(csv.DictReader(io.StringIO(done.stdout)))
        for ours, theirs in (("Total Time (ns)", "Total Time (ns)"), ("Instances", "Instances"),
                             ("Min (ns)", "Min (ns)"), ("Max (ns)", "Max (ns)")):
            self.assertEqual(sorted((row["Name"], row[ours]) for row in rows),
                             sorted((row["Name"], row[theirs]) for row in expected))
        ranks = csv.DictReader(io.StringIO(files["rank_stats.csv"].decode()))
        self.assertEqual({row["Rank"] for row in ranks}, {"0", "1"})

    def test_modes_and_mistakes(self):
        here = self.recipe("a", "nvtx_sum", "--mode", "none", "--input", TWO_RANKS)
        self.assertEqual(self.recipe("b", "nvtx_sum", TWO_RANKS), here)
        for words, code in ((("nvtx_sum", TWO_RANKS, "-o", "a"), 4), (("nvtx_sun", TWO_RANKS), 2),
                            ((), 2), (("nvtx_sum",), 2), (("nvtx_sum:bins=3", TWO_RANKS), 2),
                            (("nvtx_pace:range=no such", TWO_RANKS), 2), (("nvtx_sum", "no.file"), 3),
                            (("nvtx_sum", TWO_RANKS, "--mode", "none", "--engine", "local"), 2)):
            done = run(BATCHLIGHT, "recipe", *words, cwd=self.folder)
            self.assertEqual(done.returncode, code, (words, done.stderr))
        self.recipe("a", "nvtx_sum", TWO_RANKS, "--force-overwrite")


@unittest.skipIf(why_no_slurm(), why_no_slurm())
class Slurm(SlurmCluster, OfAnEngine):
    ALLOCATE = ("salloc", "--quiet", "-N4")

    def setUp(self):
        super().setUp()
        os.mkdir(self.path("disk"))
        self.set_up_slurm()

    def test_same_bytes_as_here(self):
        self.record()
        self.assertEqual(self.check_same("slurm", "run", before=self.ALLOCATE), "")
        self.check_same("slurm", TWO_RANKS, before=self.ALLOCATE)  # all of it is read
        here = self.recipe("here", "nvtx_sum", "run")
        self.assertEqual(self.recipe("there", "nvtx_sum", "run", "--engine", "slurm",
                                     before=self.ALLOCATE), here)
        job = subprocess.Popen(["srun", "-N2", "sleep", "1000"], env=self.environment,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(lambda: (job.kill(), job.wait()))
        number, limit = "", time.time() + LONG_S
        while not number and time.time() < limit:
            number = run("squeue", "-h", "-t", "R", "-o", "%A", env=self.environment).stdout.strip()
        self.check_same("slurm:" + number, "run")
        ended = self.ranks("slurm:4000000", "run")
        self.assertEqual(ended.returncode, 2)

    def test_a_worker_that_is_killed(self):
        self.record()
        worker = self.worker(FIRST_CALL, task="partial", first="kill -9 $$")
        said = self.check_same("slurm", "run", before=self.ALLOCATE, BATCHLIGHT_WORKER=worker)
        self.assertIn("recordings are read again", said)
        nobody = self.worker("#!/bin/sh\nkill -9 $$\n")
        failed = self.ranks("slurm", "run", before=self.ALLOCATE, BATCHLIGHT_WORKER=nobody)
        self.assertEqual(failed.returncode, 2, failed.stdout)
        self.assertIn("none of the machines", failed.stderr)

    def test_a_file_system_that_lags(self):
        self.record()
        worker = self.worker(SEES_NOTHING)
        said = self.check_same("slurm", "run", before=self.ALLOCATE, BATCHLIGHT_WORKER=worker)
        self.assertEqual(said, "")

    def test_disks_of_the_nodes(self):
        done = run("srun", "-N4", "-n4", BATCHLIGHT, "profile", "-o", "disk/r%q{SLURM_PROCID}", "--",
                   "sh", "-c", "exec %s program.py $SLURM_PROCID" % sys.executable,
                   cwd=self.folder, env=self.environment, timeout=4 * LONG_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(os.listdir(self.path("disk")), [])
        done = self.ranks("slurm", "disk", before=self.ALLOCATE)
        self.assertEqual(done.returncode, 0, done.stderr)
        job = json.loads(done.stdout)
        self.assertEqual([rank["rank"] for rank in job["ranks"]], list(range(RANKS)))
        nowhere = self.ranks("slurm", "run", before=self.ALLOCATE)
        self.assertEqual(nowhere.returncode, 3)
        self.assertIn("there is no recording in run", nowhere.stderr)


class DaskCluster(OfAnEngine):
    PYTHON = None  # that has it

    @classmethod
    def setUpClass(cls):
        if cls.PYTHON is None or not os.path.exists(cls.PYTHON) or run(
                cls.PYTHON, "-c", "import distributed").returncode != 0:
            raise unittest.SkipTest("no Dask of %s here" % cls.__name__)

    def setUp(self):
        super().setUp()
        folder = os.path.dirname(self.PYTHON)
        self.environment["PATH"] = folder + ":" + self.environment["PATH"]
        self.dask = os.path.join(folder, "dask")
        self.started = []
        self.addCleanup(self.end_all)
        self.start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
                   "--scheduler-file", "cluster.json")
        limit = time.time() + LONG_S
        while not os.path.exists(self.path("cluster.json")) and time.time() < limit:
            time.sleep(0.1)
        self.workers = [self.start("worker", "--scheduler-file", "cluster.json", "--nthreads", "1",
                                   "--no-dashboard", "--no-nanny", "--name", name)
                        for name in ("a", "b")]

    def start(self, *words):
        log = open(self.path("%s%d.log" % (words[0], len(self.started))), "w")
        self.addCleanup(log.close)
        process = subprocess.Popen([self.dask, *words], cwd=self.folder, env=self.environment,
                                   stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.started.append(process)
        return process

    def end_all(self):
        for process in self.started:
            process.send_signal(signal.SIGKILL)
            process.wait(LONG_S)

    def test_same_bytes_as_here(self):
        self.record()
        self.assertEqual(self.check_same("dask:cluster.json", "run"), "")
        with open(self.path("cluster.json")) as file:
            address = json.load(file)["address"]
        self.check_same("dask:" + address, TWO_RANKS)
        self.check_same("dask", "run", DASK_SCHEDULER_ADDRESS=address)
        here = self.recipe("here", "nvtx_pace:range=step", "run")
        self.assertEqual(self.recipe("there", "nvtx_pace:range=step", "run", "--mode", "dask-futures",
                                     NSYS_DASK_SCHEDULER_FILE="cluster.json"), here)

    def test_a_worker_that_is_killed(self):
        self.record()
        # What runs the program is the worker itself.
        worker = self.worker(FIRST_CALL, task="partial", first="kill -9 $PPID; exit 1")
        self.check_same("dask:cluster.json", "run", BATCHLIGHT_WORKER=worker)
        limit = time.time() + LONG_S
        while time.time() < limit and all(each.poll() is None for each in self.workers):
            time.sleep(0.1)
        self.assertEqual(sorted(each.poll() is None for each in self.workers), [False, True])

    def test_a_file_system_that_lags(self):
        self.record()
        worker = self.worker(SEES_NOTHING)
        said = self.check_same("dask:cluster.json", "run", BATCHLIGHT_WORKER=worker)
        self.assertEqual(said, "")

    def test_files_of_others_name_no_scheduler(self):
        with open(self.path("cluster.json")) as file:
            address = json.load(file)["address"]
        # An address that is also the name of a file, which somebody made who may write here.
        os.makedirs(self.path(os.path.dirname(address)))
        with open(self.path(address), "w") as file:
            file.write('{"address": "tcp://127.0.0.1:9"}')
        self.check_same("dask:" + address, TWO_RANKS)
        shutil.copy(self.path("cluster.json"), self.path("other.json"))
        os.chmod(self.path("other.json"), 0o666)
        os.mkfifo(self.path("pipe.json"))
        names = {"other.json": "other users may write it", "pipe.json": "no regular file"}
        if os.geteuid() == 0:
            shutil.copy(self.path("cluster.json"), self.path("nobodys.json"))
            os.chown(self.path("nobodys.json"), 65534, 65534)
            names["nobodys.json"] = "another user"
        for name, why in names.items():
            done = self.ranks("dask:" + name, TWO_RANKS)
            self.assertEqual(done.returncode, 2, name)
            self.assertIn(why, done.stderr)

    def test_no_cluster(self):
        done = self.ranks("dask:no-such-file.json", "run")
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn("--engine dask", done.stderr)


class DaskOfDebian(DaskCluster):
    PYTHON = "/usr/bin/python3"


class DaskOfPypi(DaskCluster):
    """Its current one: tools/install_readers.sh build/dask tools/requirements-dask.txt."""
    PYTHON = os.path.join(SOURCE, "build", "dask", "bin", "python3")


def load_tests(loader, _, __):
    """All but the class that those of Dask share."""
    cases = (Local, Recipes, Slurm, DaskOfDebian, DaskOfPypi)
    return unittest.TestSuite(loader.loadTestsFromTestCase(case) for case in cases)


if __name__ == "__main__":
    unittest.main()
