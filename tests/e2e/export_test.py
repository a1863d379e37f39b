"""`batchlight export`: what is written can be read back as the same recording, by us and as SQLite,
JSON and CSV; selections, clocks, and outputs that are already there."""
import csv
import json
import os
import sqlite3
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from nsys_files import SOURCE, NsysFiles  # noqa: E402

REPORTS = ("cuda_api_gpu_sum,cuda_gpu_trace,cuda_api_trace,cuda_kern_exec_trace,nvtx_kern_sum,"
           "nvtx_pushpop_trace,nvtx_gpu_proj_trace,cuda_gpu_kern_gb_sum")


def rows(path, query):
    with sqlite3.connect(path) as database:
        return database.execute(query).fetchall()


def tables(path):
    return {name for (name,) in rows(path, "SELECT name FROM sqlite_master WHERE type='table'")}


class Sqlite(NsysFiles):
    def export(self, name, *args, code=0):
        out = self.path(name)
        done = self.run_tool("export", "-q", "-t", "sqlite", "-o", out, *args, self.sqlite,
                             code=code)
        return out if code == 0 else done

    def test_round_trip_gives_the_same_reports(self):
        out = self.export("again.sqlite")
        ours = self.run_tool("stats", "-q", "-f", "csv", "-r", REPORTS, self.sqlite).stdout
        again = self.run_tool("stats", "-q", "-f", "csv", "-r", REPORTS, out).stdout
        self.assertGreater(len(ours), 1_000_000)
        self.assertEqual(ours, again)

    def test_shape(self):
        out = self.export("shape.sqlite")
        self.assertEqual(rows(out, "PRAGMA integrity_check"), [("ok",)])
        self.assertEqual(rows(out, "SELECT value FROM META_DATA_EXPORT WHERE "
                                   "name='EXPORT_SCHEMA_VERSION'"), [("3.25.0",)])
        self.assertEqual(rows(out, "PRAGMA page_size"), [(4096,)])
        # What nsys's users join on: every event has a process that is listed.
        self.assertEqual(rows(out, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL k LEFT JOIN "
                                   "PROCESSES p ON p.globalPid = k.globalPid WHERE p.pid IS NULL"),
                         [(0,)])
        self.assertEqual(rows(out, "SELECT label FROM ENUM_CUDA_MEMCPY_OPER WHERE id=1"),
                         [("Host-to-Device",)])

    def test_same_rows_as_nsys(self):
        out = self.export("rows.sqlite")
        for query in (
                "SELECT k.start, k.end, k.correlationId, k.globalPid, k.gridX, k.blockX, s.value "
                "FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = demangledName "
                "ORDER BY 1, 3",
                "SELECT r.start, r.end, r.globalTid, r.correlationId, s.value FROM "
                "CUPTI_ACTIVITY_KIND_RUNTIME r JOIN StringIds s ON s.id = nameId ORDER BY 1, 4",
                "SELECT start, end, eventType, text, globalTid, domainId FROM NVTX_EVENTS "
                "ORDER BY 1",
                "SELECT start, end, bytes, copyKind, srcKind, dstKind FROM "
                "CUPTI_ACTIVITY_KIND_MEMCPY ORDER BY 1"):
            self.assertEqual(rows(self.sqlite, query), rows(out, query))

    def test_lazy(self):
        lazy = tables(self.export("lazy.sqlite"))
        whole = tables(self.export("whole.sqlite", "--lazy", "false"))
        self.assertNotIn("OSRT_API", lazy)
        self.assertIn("OSRT_API", whole)
        self.assertLess(lazy, whole)

    def test_selection(self):
        out = self.export("some.sqlite", "--tables", "nvtx,^cupti.*memcpy$")
        self.assertEqual({t for t in tables(out) if not t.startswith("ENUM_")},
                         {"NVTX_EVENTS", "CUPTI_ACTIVITY_KIND_MEMCPY", "StringIds"})
        strict = self.export("strict.sqlite", "--times", "7900ms/7910ms")
        loose = self.export("loose.sqlite", "--times", ":7900ms/7910ms:")
        count = "SELECT count(*) FROM NVTX_EVENTS WHERE text='step'"
        self.assertEqual(rows(strict, count), [(0,)])
        self.assertEqual(rows(loose, count), [(2,)])
        self.assertIn(b"regular expression", self.export("bad.sqlite", "--tables", "[",
                                                         code=2).stderr)

    def test_clocks(self):
        first = "SELECT min(start) FROM NVTX_EVENTS"
        (start,) = rows(self.sqlite, first)[0]
        self.assertEqual(rows(self.export("shift.sqlite", "--ts-shift", "-1000"), first),
                         [(start - 1000,)])
        (epoch,) = rows(self.sqlite, "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME")[0]
        self.assertEqual(rows(self.export("utc.sqlite", "--ts-normalize", "true"), first),
                         [(start + epoch,)])

    def test_outputs_that_exist(self):
        out = self.export("twice.sqlite")
        self.assertIn(b"--force-overwrite", self.export("twice.sqlite", code=4).stderr)
        self.export("twice.sqlite", "-f")
        self.export("twice.sqlite", "--force-overwrite", "true")
        done = self.run_tool("export", "-f", "-o", self.sqlite, self.sqlite, code=2)
        self.assertIn(b"the input itself", done.stderr)
        done = self.run_tool("export", "-o", self.path("none/x.sqlite"), self.sqlite, code=4)
        self.assertEqual([name for name in os.listdir(self.folder) if "partial" in name], [])
        self.assertTrue(os.path.exists(out))

    def test_unknown_type(self):
        done = self.run_tool("export", "-t", "sqllite", self.sqlite, code=2)
        self.assertIn(b"did you mean sqlite", done.stderr)


class OperatorsAsNvtx(NsysFiles):
    """As SQL for recordings of nsys --pytorch=autograd-nvtx looks for them."""

    TRACE = os.path.join(SOURCE, "tests", "kineto", "h200", "one_gpu.json.gz")
    SQL = ("SELECT substr(text, 1, instr(text, ',') - 1), count(*), sum(end - start) FROM NVTX_EVENTS "
           "WHERE eventType = 59 AND text LIKE '%, op_id = %' GROUP BY 1 ORDER BY 1")

    def export(self, name, source, *flags):
        out = self.path(name)
        done = self.run_tool("export", "-q", "-o", out, *flags, source)
        self.assertEqual(done.stderr, b"")
        return out

    def operators(self, source):
        table = self.run_tool("table", "operators", source, "-f", "csv").stdout.decode()
        return sorted((row["Operator"], int(row["Calls"])) for row in csv.DictReader(
            table.strip().splitlines()))

    def test_every_operator_is_a_range(self):
        plain = self.export("plain.sqlite", self.TRACE)
        out = self.export("operators.sqlite", self.TRACE, "--operators-as-nvtx")
        self.assertEqual(rows(plain, self.SQL), [])
        found = rows(out, self.SQL)
        self.assertEqual([row[:2] for row in found], self.operators(self.TRACE))
        times = rows(plain, "SELECT s.value, sum(end_ns - start_ns) FROM BATCHLIGHT_OPERATOR_CALLS o "
                            "JOIN StringIds s ON s.id = o.name GROUP BY 1 ORDER BY 1")
        self.assertEqual([(row[0], row[2]) for row in found], times)
        texts = [text for (text,) in rows(out, "SELECT text FROM NVTX_EVENTS WHERE text LIKE "
                                               "'aten::addmm, %'")]
        self.assertRegex(texts[0], r"^aten::addmm, seq = \d+, op_id = \d+, sizes = \[\[\d+")
        self.assertEqual(len(set(texts)), len(texts))
        ordered = rows(out, "SELECT start FROM NVTX_EVENTS WHERE eventType != 75 ORDER BY eventId")
        self.assertEqual(ordered, sorted(ordered))

    def test_what_has_them_gets_no_second_ones(self):
        first = self.export("first.sqlite", self.TRACE, "--operators-as-nvtx")
        with sqlite3.connect(first) as database:  # as nsys leaves it
            database.execute("DROP TABLE BATCHLIGHT_OPERATOR_CALLS")
        database.close()
        self.assertEqual(self.operators(first), self.operators(self.TRACE))
        again = self.export("again.sqlite", first, "--operators-as-nvtx")
        self.assertEqual(rows(again, self.SQL), rows(first, self.SQL))

    def test_other_formats_have_no_such_table(self):
        done = self.run_tool("export", "-t", "chrome", "-o", self.path("t.json"), self.TRACE,
                             "--operators-as-nvtx")
        self.assertIn(b"--operators-as-nvtx changes nothing in -t chrome", done.stderr)


class Inputs(NsysFiles):
    def test_what_a_cut_file_lost_is_said_in_every_view(self):
        sample = os.path.join(os.path.dirname(__file__), "..", "kineto", "training.json")
        with open(sample, "rb") as whole, open(self.path("cut.json"), "wb") as cut:
            cut.write(whole.read(4000))
        for command in (("stats", "-r", "cuda_api_sum"),
                        ("export", "-t", "jsonlines", "-o", self.path("cut.jsonl"))):
            done = self.run_tool(*command, self.path("cut.json"))
            self.assertIn("NOTE: " + self.path("cut.json") + ": the file ends in the middle",
                          done.stderr.decode())

    def test_no_table_and_no_compression_are_said(self):
        done = self.run_tool("export", "-t", "jsonlines", "-o", self.path("none.jsonl"),
                             "--tables", "SCHED_EVENTS", self.sqlite)
        self.assertIn("no table with rows matches --tables=SCHED_EVENTS", done.stderr.decode())
        done = self.run_tool("export", "-t", "chrome", "-o", self.path("t.json.gz"), self.sqlite,
                             code=2)
        self.assertIn("does not compress", done.stderr.decode())


class Text(NsysFiles):
    def test_jsonlines(self):
        out = self.path("all.jsonl")
        self.run_tool("export", "-q", "-t", "jsonlines", "-o", out, self.sqlite)
        counts = {}
        with open(out, encoding="utf-8") as lines:
            for line in lines:
                event = json.loads(line)
                counts[event["table"]] = counts.get(event["table"], 0) + 1
        self.assertEqual(counts["kernels"], 5806)
        self.assertEqual(counts["api_calls"], 14941)
        self.assertEqual(counts["nvtx_ranges"], 40)

    def test_csv_folder(self):
        out = self.path("tables")
        self.run_tool("export", "-q", "-t", "csv", "-o", out, self.sqlite)
        with open(os.path.join(out, "kernels.csv"), encoding="utf-8", newline="") as table:
            kernels = list(csv.DictReader(table))
        self.assertEqual(len(kernels), 5806)
        self.assertEqual(kernels[0]["process_pid"], "430")
        self.run_tool("export", "-q", "-t", "csv", "-o", out, self.sqlite, code=4)
        self.run_tool("export", "-q", "-t", "csv", "-o", out, "--append", self.sqlite)
        with open(os.path.join(out, "kernels.csv"), encoding="utf-8", newline="") as table:
            self.assertEqual(len(list(csv.DictReader(table))), 2 * 5806)

    def test_a_shift_moves_times_and_no_durations(self):
        text = os.path.join(SOURCE, "tests", "recordings", "os_calls.txt")
        live = self.path("os_calls.batchlight.live")
        self.run_tool("trace", "assemble", text, "-o", live)

        def columns(name, *flags):
            out = self.path(name)
            self.run_tool("export", "-q", "-t", "csv", "-o", out, *flags, live)
            with open(os.path.join(out, "os_files.csv"), encoding="utf-8", newline="") as table:
                return {key: int(value or 0) for key, value in next(csv.DictReader(table)).items()
                        if key.endswith("_ns")}

        still, moved = columns("still"), columns("moved", "--ts-shift", "1000000")
        self.assertEqual(sorted(still), ["end_ns", "read_ns", "slowest_ns", "start_ns", "write_ns"])
        for key, value in still.items():
            shift = 1000000 if key in ("start_ns", "end_ns") else 0
            self.assertEqual(moved[key], value + shift, key)


if __name__ == "__main__":
    unittest.main()
