"""A stretch of time is read without what lies outside of it. What comes out is what a whole read gives
for the same stretch: each report of `stats`, each table of `export -t sqlite`."""
import os
import shutil
import sqlite3
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from recorded import BATCHLIGHT, SOURCE, run  # noqa: E402

NAMES = ("train", "two_ranks", "tuned_gpt2", "page_faults", "graph_node")
# Its rows depend on ranges outside of the window: beside it all reports get a whole read.
READS_ALL_TIME = "nvtx_pushpop_trace"
CREATES_DOMAIN = 75  # eventType: stands in every file that has one of its ranges
# Numbered among the rows that are written.
NUMBERED = ("rangeId", "eventId")


def columns_of(database, table):
    return [row[1] for row in database.execute("PRAGMA table_info('%s')" % table)]


class TimeWindows(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="bl_windows_")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.whole = {}
        for name in NAMES:
            cls.whole[name] = cls.exported(name, name + ".sqlite")
        cls.reports = [
            line.split()[0].split(":")[0].split("[")[0]
            for line in cls.tool("stats", "--help-reports").stdout.splitlines() if " -- " in line]

    @classmethod
    def tool(cls, *words):
        done = run(BATCHLIGHT, *words, cwd=cls.folder)
        assert done.returncode == 0, (words, done.stderr)
        return done

    @classmethod
    def recording(cls, name):
        return os.path.join(SOURCE, "tests", "recordings", "h200_%s.batchlight" % name)

    @classmethod
    def exported(cls, name, file, *flags):
        cls.tool("export", "-q", "-f", "-t", "sqlite", "-o", file, *flags, cls.recording(name))
        database = sqlite3.connect(os.path.join(cls.folder, file))
        cls.addClassCleanup(database.close)
        return database

    @staticmethod
    def tables(database):
        """Of events."""
        names = [name for name, in database.execute(
            "SELECT name FROM sqlite_master WHERE type='table'")]
        return [name for name in names if {"start", "end"} <= set(columns_of(database, name))]

    def windows(self, name):
        """Pieces of where the GPU worked, and of the beginning."""
        (begin, end), = self.whole[name].execute(
            "SELECT min(start), max(end) FROM CUPTI_ACTIVITY_KIND_KERNEL")
        tenth = (end - begin) // 10
        return [(0, begin), (begin + 3 * tenth, begin + 5 * tenth), (end - tenth, end + tenth),
                (end + 10 ** 12, end + 2 * 10 ** 12)]

    def rows(self, database, table, where=""):
        shown = ['"%s"' % name for name in columns_of(database, table) if name not in NUMBERED]
        return sorted(map(repr, database.execute(
            "SELECT %s FROM %s %s" % (", ".join(shown), table, where))))

    def test_export(self):
        compared = 0
        for name in NAMES:
            whole = self.whole[name]
            for first, last in self.windows(name):
                part = self.exported(name, "part.sqlite", "--times", "%d/%d" % (first, last))
                there = self.tables(part)
                for table in self.tables(whole):
                    where = "WHERE start >= %d AND coalesce(end, start) <= %d" % (first, last)
                    if "eventType" in columns_of(whole, table):
                        where += " OR eventType = %d" % CREATES_DOMAIN
                    expected = self.rows(whole, table, where)
                    found = self.rows(part, table) if table in there else []
                    with self.subTest(recording=name, table=table, window=(first, last)):
                        self.assertEqual(found, expected)
                    compared += len(expected)
        self.assertGreater(compared, 10_000)

    def report_files(self, name, window, report, *more):
        """{file: CSV}"""
        out = os.path.join(self.folder, "stats")
        shutil.rmtree(out, ignore_errors=True)
        os.mkdir(out)
        self.tool("stats", "-q", "-f", "csv", "-o", os.path.join(out, "x"), "-r",
                  ",".join([report, *more]), "--filter-time", "%dns/%dns" % window,
                  self.recording(name))
        files = {}
        for file in os.listdir(out):
            if not any(other in file for other in more):
                with open(os.path.join(out, file)) as text:
                    files[file] = text.read()
        return files

    def test_stats(self):
        reports = [report for report in self.reports if report != READS_ALL_TIME]
        self.assertGreater(len(reports), 40)
        compared = 0
        for name in NAMES:
            for window in self.windows(name)[1:3]:
                for report in [*reports, "cuda_gpu_kern_sum:nvtx-name"]:
                    part = self.report_files(name, window, report)
                    whole = self.report_files(name, window, report, READS_ALL_TIME)
                    with self.subTest(recording=name, report=report, window=window):
                        self.assertEqual(part, whole)
                    compared += sum(map(len, part.values()))
        self.assertGreater(compared, 1_000_000)


if __name__ == "__main__":
    unittest.main()
