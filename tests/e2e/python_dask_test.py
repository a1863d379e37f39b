#!/usr/bin/env python3
"""--dask=functions-trace with real clusters: a scheduler and two workers, each a process, of every Dask that is
here (Debian's, and the current one in build/dask: tools/requirements-dask.txt). Each task is a range under the
name of its key, in the worker that ran it; the job computes what it does without us."""
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from recorded import BATCHLIGHT, BUILD, InFolder, run  # noqa: E402

ENVIRONMENT = os.environ.get("BATCHLIGHT_DASK", os.path.join(os.path.dirname(BUILD), "dask"))
PROGRAM = """\
import dask
from dask.distributed import Client, LocalCluster

def double(x):
    return 2 * x

async def later(x):
    return x

if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        with Client(cluster) as client:
            doubled = client.map(double, range(8))
            print(client.submit(sum, doubled).result())
            print(client.submit(later, 5).result())
    print(dask.delayed(double)(dask.delayed(double)(3)).compute(scheduler="threads"))
"""
SLOW_S = 400  # several interpreters that import much, on a loaded machine


def dasks():
    """{"Dask 2022.12.1": its python}."""
    found = {}
    for python in ("/usr/bin/python3", os.path.join(ENVIRONMENT, "bin", "python")):
        if os.path.exists(python):
            done = run(python, "-c", "import distributed; print('Dask', distributed.__version__)")
            if done.returncode == 0:
                found[done.stdout.strip()] = python
    return found


class Dask(InFolder):
    def job(self, python, *flags):
        """The table of ranges: {(domain, name): row}."""
        with open(self.path("job.py"), "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        done = run(BATCHLIGHT, "profile", *flags, "-o", self.path("run"), "-f", "true",
                   python, self.path("job.py"), timeout=SLOW_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.splitlines()[:3], ["56", "5", "12"])
        table = run(BATCHLIGHT, "table", "nvtx_ranges", "-f", "json", self.path("run.batchlight"))
        return {row["Range"]: row for row in json.loads(table.stdout) if row["Domain"] == "Dask"} \
            if table.returncode == 0 else {}

    def test_tasks_scheduler_and_client(self):
        found = dasks()
        if not found:
            self.skipTest("no Dask here: apt install python3-distributed")
        for version, python in found.items():
            with self.subTest(version):
                rows = self.job(python, "--dask=functions-trace", "--pytorch=none")
                # Eight in the workers, and two of the last line in this process's own pool.
                self.assertEqual(rows["double"]["Calls"], 10, sorted(rows))
                self.assertEqual(rows["sum"]["Calls"], 1)
                self.assertEqual(rows["later"]["Calls"], 1)
                self.assertEqual(rows["double"]["Category"], "task")
                self.assertGreaterEqual(rows["distributed.scheduler.Scheduler.transitions"]["Calls"], 1)
                self.assertEqual(rows["distributed.client.Client.map"]["Calls"], 1)
                self.in_workers_of_their_own()

    def in_workers_of_their_own(self):
        text = run(BATCHLIGHT, "trace", "dump", self.path("run.batchlight")).stdout
        pids, names, pid = set(), set(), None
        for line in text.splitlines():
            if line.startswith("chunk"):
                pid = line.split("pid=")[1].split()[0]
            elif 'message="double"' in line:
                pids.add(pid)
            elif " ThreadName " in line and "Dask " in line:
                names.add(line.split('name="')[1].rstrip('"'))
        self.assertGreaterEqual(len(pids), 2)  # this process, and at least one worker
        self.assertLessEqual({"Dask Scheduler", "Dask Worker"}, names)

    def test_off_unless_asked_for(self):
        for version, python in list(dasks().items())[:1]:
            with self.subTest(version):
                self.assertEqual(self.job(python, "--pytorch=none"), {})


if __name__ == "__main__":
    unittest.main()
