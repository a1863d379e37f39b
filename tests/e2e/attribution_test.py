"""GPU time by module and phase in `table attribution`, against a computation of its own from the
SQLite export: each kernel, copy and set goes to the outermost module, else the phase, that is open
on the thread of its launching call; what autograd's own threads launch to the backward pass."""
import collections
import csv
import io
import os
import sqlite3
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from recorded import InFolder  # noqa: E402

RECORDINGS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "recordings")


class Attribution(InFolder):
    def rows(self, table, recording):
        done = self.batchlight("table", table, "-f", "csv", recording)
        self.assertEqual(done.returncode, 0, done.stderr)
        return list(csv.DictReader(io.StringIO(done.stdout)))

    def spans(self, database, table, name):
        """By thread: (start, end, name) of the outermost ones."""
        strings = dict(database.execute("SELECT id, value FROM StringIds"))
        spans = collections.defaultdict(list)
        for start, end, thread, text in database.execute(
                f'SELECT start_ns, end_ns, thread, "{name}" FROM {table} ORDER BY start_ns, -end_ns'):
            if not spans[thread] or start >= spans[thread][-1][1]:
                spans[thread].append((start, end, strings.get(text, text)))
        return spans

    def gpu_time(self, name):
        """(GPU time a step by what launched it, total a step), from the export."""
        recording = os.path.join(RECORDINGS, name + ".batchlight")
        done = self.batchlight("export", "-t", "sqlite", "-o", name + ".sqlite", recording)
        self.assertEqual(done.returncode, 0, done.stderr)
        database = sqlite3.connect(self.path(name + ".sqlite"))
        # Of every rank its own steps that count.
        steps = collections.defaultdict(list)
        for row in self.rows("steps", recording):
            steps[int(row["PID"])].append(row)
        steps = [(pid, int(row["Start (ns)"]), int(row["Start (ns)"]) + int(row["Duration (ns)"]))
                 for pid, rows in steps.items() for row in rows if row["Kind"] == "steady"]
        calls = {}
        for start, thread, correlation in database.execute(
                "SELECT start, globalTid, correlationId FROM CUPTI_ACTIVITY_KIND_RUNTIME"):
            calls[thread >> 24, correlation] = start, thread
        total = collections.Counter()
        modules = self.spans(database, "BATCHLIGHT_MODULE_CALLS", "path")
        threads_of_modules = set(modules)
        self.outermost = {name for spans in modules.values() for _, _, name in spans}
        phases = self.spans(database, "BATCHLIGHT_PHASE_CALLS", "name")
        tables = {r[0] for r in database.execute("SELECT name FROM sqlite_master")}
        for kind in ("KERNEL", "MEMCPY", "MEMSET"):
            if "CUPTI_ACTIVITY_KIND_" + kind not in tables:
                continue
            for begin, end, process, correlation in database.execute(
                    f'SELECT start, "end", globalPid, correlationId FROM CUPTI_ACTIVITY_KIND_{kind}'):
                start, thread = calls[process >> 24, correlation]
                pid = process >> 24 & 0xffffff
                if not any(s[0] == pid and s[1] <= start < s[2] for s in steps):
                    continue
                owner = self.owner(modules[thread], start) or self.owner(phases[thread], start)
                if thread not in threads_of_modules:
                    owner = "backward"  # autograd's own thread
                total[owner] += end - begin
        database.close()
        count = len(steps)
        return {owner: ns / count for owner, ns in total.items()}

    @staticmethod
    def owner(spans, time):
        return next((name for start, end, name in spans if start <= time < end), None)

    # Rows of modules and phases by their outermost row; GPU work is in "GPU Self" of what launched
    # it and once more in a row of its own below that.
    def check(self, name):
        recording = os.path.join(RECORDINGS, name + ".batchlight")
        launchers, work = collections.Counter(), collections.Counter()
        owner = None
        for row in self.rows("attribution", recording):
            owner = row["Name"] if row["Level"] == "0" else owner
            side = work if row["Kind"] in ("kernel", "copy", "memset", "graph") else launchers
            side[owner] += int(row["GPU Self (ns)"])
        expected = self.gpu_time(name)
        total = sum(expected.values())
        self.assertGreater(total, 1000)
        self.assertAlmostEqual(sum(launchers.values()) / total, 1, 3)
        for owner, ns in launchers.items():
            self.assertAlmostEqual(ns, work[owner], delta=1 + ns / 1000, msg=owner)
        for owner in self.outermost & set(expected):
            ns = expected[owner]
            self.assertAlmostEqual(launchers[owner], ns, delta=1 + ns / 1000, msg=owner)
        # A range "backward" of the script may hold some more: scaling the loss, say.
        backward = sum(ns for owner, ns in expected.items() if owner and "backward" in owner)
        self.assertAlmostEqual(launchers["backward"], backward, delta=1 + backward / 200)

    def test_two_ranks(self):
        self.check("h200_two_ranks")

    def test_compiled(self):
        self.check("h200_compile")

    def test_graph_nodes(self):
        self.check("h200_graph_node")

    def test_training(self):
        self.check("h200_train")


if __name__ == "__main__":
    unittest.main()
