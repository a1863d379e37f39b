"""`batchlight stats` and `analyze` on a real nsys export: the bytes of nsys where there are any,
goldens of our own for every other report, and what goes wrong (outputs: nsys_outputs_test.py)."""
import csv
import io
import json
import lzma
import os
import shutil
import sqlite3
import struct
import subprocess
import sys
import tarfile
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from nsys_files import DATA, PROGRAM, SOURCE, NsysFiles  # noqa: E402

RECORDINGS = os.path.join(SOURCE, "tests", "recordings")
EXPECTED = os.path.join(DATA, "expected")


def unpack_capture(name, folder):
    path = os.path.join(folder, name + ".sqlite")
    with lzma.open(os.path.join(DATA, "captures", name + ".sqlite.xz")) as packed:
        with open(path, "wb") as out:
            shutil.copyfileobj(packed, out)
    return path


def report_list():
    """[(name, {"help": ..., "older": ...})] as the program's table has them."""
    text = subprocess.run([PROGRAM, "stats", "--help-reports", "ALL"], capture_output=True,
                          check=True, timeout=60).stdout.decode()
    reports = []
    for line in text.splitlines():
        if line.startswith("      Older names: "):
            reports[-1][1]["older"] = line.split(": ", 1)[1]
        elif line.startswith("      "):
            reports[-1][1].setdefault("help", line.strip())
        else:
            reports.append((line.split()[0].split("[")[0], {}))
    return reports


OURS = os.path.join(DATA, "ours")

# Reports without a file of nsys's, with their arguments.
OWN_GOLDENS = [
    "cuda_api_gpu_sum", "cuda_api_trace", "cuda_gpu_kern_gb_sum", "cuda_gpu_kern_sum:base",
    "cuda_gpu_kern_sum:mangled", "cuda_gpu_kern_sum:nvtx-name:base", "cuda_gpu_trace",
    "cuda_kern_exec_sum:base", "cuda_kern_exec_trace:base", "nvtx_gpu_proj_sum",
    "nvtx_gpu_proj_trace", "nvtx_pushpop_sum", "nvtx_startend_sum",
]
OWN_RECIPE_GOLDENS = [
    "cuda_gpu_kern_hist", "cuda_gpu_kern_pace:base", "cuda_gpu_time_util_map:bins=10", "nvtx_pace",
    "nvtx_gpu_proj_pace",
]
OWN_RANK_GOLDENS = ["nccl_sum", "nccl_gpu_proj_sum", "nccl_gpu_overlap_trace"]  # of two_ranks
OWN_OS_GOLDENS = ["osrt_trace"]  # of um
GOLDEN_LINES = 120  # of a long trace the first lines are kept


class SameBytes(NsysFiles):
    def check(self, name, *args, verb="stats", written=None):
        out = tempfile.mkdtemp(dir=self.folder)
        self.run_tool(verb, "-q", *args, "-o", os.path.join(out, "train5"), self.sqlite)
        with open(os.path.join(out, written or name), "rb") as ours:
            with open(os.path.join(EXPECTED, name), "rb") as theirs:
                self.assertEqual(ours.read(), theirs.read(), name)

    def test_reports(self):
        for report in ("cuda_api_sum", "cuda_gpu_kern_sum", "cuda_gpu_mem_size_sum",
                       "cuda_gpu_mem_time_sum", "cuda_gpu_sum", "nvtx_kern_sum",
                       "nvtx_pushpop_trace", "nvtx_sum"):
            with self.subTest(report):
                self.check(f"train5_{report}.csv", "-r", report, "-f", "csv")

    def test_old_names(self):
        self.check("train5_cuda_gpu_kern_sum.csv", "-r", "gpukernsum", "-f", "csv")
        self.check("train5_nvtx_sum.csv", "-r", "nvtxsum", "-f", "csv")

    def test_filter_by_range(self):
        self.check("train5_cuda_gpu_kern_sum_nvtx=step-3.csv", "-r", "cuda_gpu_kern_sum",
                   "-f", "csv", "--filter-nvtx", "step/3")

    def test_formats(self):
        for form, written in (("column", "txt"), ("table", "txt"), ("hdoc", "html"),
                              ("json", "json")):
            with self.subTest(form):
                suffix = form if written == "json" else f"{form}.{written}"
                self.check(f"train5_nvtx_sum.{suffix}", "-r", "nvtx_sum", "-f", form,
                           written=f"train5_nvtx_sum.{written}")


    def test_gpu_gaps(self):
        """On the console, which ends every table with a blank line."""
        name = "train5_analyze_gpu_gaps_gap=1_rows=20.csv"
        done = self.run_tool("analyze", "-q", "-r", "gpu_gaps:gap=1:rows=20", "-f", "csv",
                             self.sqlite)
        with open(os.path.join(EXPECTED, name), "rb") as theirs:
            self.assertEqual(done.stdout, theirs.read())


class WhatOneReportReads(NsysFiles):
    """Of a recording of our own only what the reports need is read, which changes no report."""

    def reports(self, recording, *reports):
        out = tempfile.mkdtemp(dir=self.folder)
        self.run_tool("stats", "-q", "-r", ",".join(reports), "-f", "csv",
                      "-o", os.path.join(out, "r"), recording)
        files = {}
        for name in os.listdir(out):
            with open(os.path.join(out, name), "rb") as file:
                files[name] = file.read()
        return files

    def test_each_report_alone_as_with_all_others(self):
        recording = os.path.join(RECORDINGS, "h200_two_ranks.batchlight")
        names = [name for name, _ in report_list()] + ["cuda_gpu_kern_sum:nvtx-name"]
        together = self.reports(recording, *names)
        self.assertGreater(len(together), 10)
        alone = {}
        for name in names:
            alone.update(self.reports(recording, name))
        self.assertEqual(alone.keys(), together.keys())
        for name, text in together.items():
            self.assertEqual(alone[name], text, name)


class Rules(NsysFiles):
    def rows(self, *args):
        text = self.run_tool("analyze", "-q", "-f", "csv", *args, self.sqlite).stdout.decode()
        return list(csv.DictReader(io.StringIO(text.strip())))

    def test_pageable_copies(self):
        rows = self.rows("-r", "cuda_memcpy_async:rows=-1")
        self.assertEqual(len(rows), 67)  # every host to device copy of the file
        self.assertEqual({row["Src Kind"] for row in rows}, {"Pageable"})
        durations = [int(row["Duration (ns)"]) for row in rows]
        self.assertEqual(durations, sorted(durations, reverse=True))
        self.assertEqual(rows[0]["API Name"], "cudaMemcpyAsync_v3020")

    def test_blocking_waits_and_options(self):
        rows = self.rows("-r", "cuda_api_sync:rows=5:start=7000000000")
        self.assertTrue(all(int(row["Start (ns)"]) >= 7_000_000_000 for row in rows))
        self.assertLessEqual(len(rows), 5)
        self.assertEqual(self.rows("-r", "cuda_api_sync:process=1"), [])
        inside = self.rows("-r", "gpu_gaps:gap=0.01:rows=-1:nvtx=forward")
        self.assertTrue(inside)
        third = self.rows("-r", "gpu_gaps:gap=0.01:rows=-1:nvtx=forward/2")
        self.assertTrue(third)
        self.assertLess(max(int(row["Start (ns)"]) for row in inside),
                        min(int(row["Start (ns)"]) for row in third))
        self.assertTrue(all(int(row["Start (ns)"]) < 7_269_446_691 for row in inside))

    def test_low_utilization(self):
        rows = self.rows("-r", "gpu_time_util:chunks=100:threshold=10")
        self.assertTrue(rows)
        self.assertTrue(all(float(row["In-Use (%)"]) < 10 for row in rows))

    def test_findings_and_gate(self):
        done = self.run_tool("analyze", self.sqlite)
        text = done.stdout.decode()
        self.assertTrue(text.lstrip().startswith("** What to change"), text[:200])
        self.assertIn("launch-bound", text)
        self.assertIn("Gain:", text)
        self.assertNotIn("cuda_memcpy_async", text)  # nsys's rules are asked for
        self.assertIn(b"-r all", done.stderr)
        everything = self.run_tool("analyze", "-r", "all", self.sqlite).stdout.decode()
        self.assertTrue(everything.startswith(text))
        self.assertIn("(cuda_memcpy_async)", everything)
        compat = self.run_tool("analyze", "--nsys-compat", self.sqlite).stdout
        self.assertIn(b"(gpu_time_util)", compat)
        done = self.run_tool("analyze", "--filter-time", "/1s", self.sqlite)
        self.assertIn(b"--filter-time and --filter-nvtx change nothing", done.stderr)
        self.run_tool("analyze", "-r", "gpu_gaps", "--fail-on", "launch-bound", self.sqlite,
                      code=1)
        self.run_tool("analyze", "-r", "gpu_gaps", "--fail-on", "tf32-off", self.sqlite)
        done = self.run_tool("analyze", "-r", "gpu_gap", self.sqlite, code=2)
        self.assertIn(b"did you mean gpu_gaps", done.stderr)
        self.run_tool("analyze", "-r", "gpu_gaps:gap=x", self.sqlite, code=2)
        self.run_tool("analyze", "-r", "gpu_gaps:rowz=1", self.sqlite, code=2)
        self.assertIn(b"gpu_time_util", self.run_tool("analyze", "--help-rules").stdout)


class OwnGoldens(NsysFiles):
    def check(self, name, text):
        lines = text.splitlines(keepends=True)
        kept = "".join(lines[:GOLDEN_LINES])
        kept += f"... {len(lines)} lines\n" if len(lines) > GOLDEN_LINES else ""
        path = os.path.join(OURS, name)
        if os.environ.get("UPDATE_GOLDEN") == "1":
            with open(path, "w", encoding="utf-8") as golden:
                golden.write(kept)
        with open(path, encoding="utf-8") as golden:
            self.assertEqual(kept, golden.read())

    def test_reports(self):
        for spec in OWN_GOLDENS + OWN_RECIPE_GOLDENS:
            with self.subTest(spec):
                self.check(spec.replace(":", "_") + ".csv",
                           self.stats("-r", spec, "-f", "csv").stdout.decode())

    def test_reports_of_ranks(self):
        ranks = unpack_capture("two_ranks", self.folder)
        for spec in OWN_RANK_GOLDENS:
            with self.subTest(spec):
                done = self.run_tool("stats", "-q", "-r", spec, "-f", "csv", ranks)
                self.check(spec + ".csv", done.stdout.decode())

    def test_reports_of_calls_of_the_system(self):
        capture = unpack_capture("um", self.folder)
        for spec in OWN_OS_GOLDENS:
            with self.subTest(spec):
                done = self.run_tool("stats", "-q", "-r", spec, "-f", "csv", capture)
                self.check(spec + ".csv", done.stdout.decode())

    def test_no_data(self):
        """nsys's words for reports without data; those of the default set stand in default.txt."""
        names = [name for name, more in report_list() if more.get("help") == "Not recorded."]
        done = subprocess.run([PROGRAM, "stats", "--nsys-compat", "-r", ",".join(names),
                               "train5.sqlite"], cwd=self.folder, capture_output=True, timeout=120)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.check("no_data.txt", done.stdout.decode())


class EveryReport(NsysFiles):
    """README.md beside the databases says for each report what it is compared with."""

    def table(self):
        with open(os.path.join(DATA, "README.md"), encoding="utf-8") as readme:
            rows = [line.split("|")[1:-1] for line in readme if line.startswith("| `")]
        rows = [[cell.strip() for cell in row] for row in rows]
        return {row[0].strip("`"): row[1:] for row in rows if len(row) == 3}

    def golden(self, where):
        """The bytes of "expected/NAME", "ours/NAME" or "captures/NAME: FILE"."""
        path, _, member = where.partition(": ")
        if not member:
            with open(os.path.join(DATA, path), "rb") as golden:
                return golden.read()
        with tarfile.open(os.path.join(DATA, path + ".expected.tar.xz")) as archive:
            names = [name for name in archive.getnames() if os.path.basename(name) == member]
            self.assertEqual(len(names), 1, where)
            return archive.extractfile(names[0]).read()

    def test_has_a_golden(self):
        table = self.table()
        reports = dict(report_list())
        self.assertGreater(len(reports), 45)
        self.assertEqual(sorted(table), sorted(reports), "README.md lists every report")
        for name, (old_names, where) in table.items():
            with self.subTest(name):
                self.assertEqual(old_names.replace("`", ""), reports[name].get("older", ""))
                golden = self.golden(where.strip("`"))
                if where.strip("`").endswith(".txt"):  # a console, of which it is a part
                    self.assertIn(f"{name}.py]".encode(), golden)
                else:
                    self.assertIn(f"_{name}", "_" + os.path.basename(where.replace(": ", "/")))
                    self.assertGreater(len(golden.splitlines()), 1)

    def test_old_names(self):
        for name, more in report_list():
            for old_name in more.get("older", "").split():
                with self.subTest(old_name):
                    new, old = (self.stats("-r", n, "-f", "csv") for n in (name, old_name))
                    self.assertEqual((new.stdout, new.stderr), (old.stdout, old.stderr))

    def test_every_report_in_every_format_and_output(self):
        """Whatever nsys's three lists may hold, for all reports at once."""
        names = [name for name, _ in report_list()]
        forms = ["column", "table", "csv", "tsv", "json", "hdoc", "htable", "markdown"]
        for form in forms:
            with self.subTest(form):
                base = self.path("every_" + form)
                self.stats("-q", "-r", ",".join(names), "-f", form, "-o", base)
                console = self.stats("-q", "-r", ",".join(names), "-f", form, "-o", "-").stdout
                piped = self.stats("-q", "-r", ",".join(names), "-f", form, "-o", "@cat").stdout
                files = b""
                separated = b""
                for name in names:
                    (path,) = [os.path.join(self.folder, file) for file in os.listdir(self.folder)
                               if os.path.splitext(file)[0] == f"every_{form}_{name}"]
                    with open(path, "rb") as written:
                        data = written.read()
                    files += data
                    # As nsys: a blank line after rows, none after an array without any.
                    separated += data + (b"\n" if data not in (b"", b"[\n]\n") else b"")
                    if form == "json" and data:
                        json.loads(data)
                self.assertEqual(piped, files)
                self.assertEqual(console, separated)

    def test_traces_add_up_to_summaries(self):
        """Independent of the goldens: the sum over a trace is the summary's total."""
        trace = list(csv.DictReader(io.StringIO(
            self.stats("-r", "cuda_gpu_trace", "-f", "csv").stdout.decode())))
        by_name = {}
        for row in trace:
            by_name[row["Name"]] = by_name.get(row["Name"], 0) + int(row["Duration (ns)"])
        total = list(csv.DictReader(io.StringIO(
            self.stats("-r", "cuda_gpu_sum", "-f", "csv").stdout.decode())))
        self.assertEqual({row["Operation"]: int(row["Total Time (ns)"]) for row in total}, by_name)
        self.assertEqual([int(row["Start (ns)"]) for row in trace],
                         sorted(int(row["Start (ns)"]) for row in trace))


class Recipes(NsysFiles):
    def rows(self, *args):
        text = self.run_tool("stats", "-q", "-f", "csv", *args).stdout.decode()
        return list(csv.DictReader(io.StringIO(text)))

    def test_histogram_counts_every_kernel(self):
        rows = self.rows("-r", "cuda_gpu_kern_hist", self.sqlite)
        self.assertEqual(sum(int(row["Instances"]) for row in rows), 5806)
        self.assertTrue(all(int(row["From (ns)"]) < int(row["To (ns)"]) for row in rows))

    def test_pace(self):
        rows = self.rows("-r", "nvtx_pace:range=forward", self.sqlite)
        self.assertEqual(len(rows), 8)
        self.assertEqual(int(rows[3]["Since Previous Start (ns)"]),
                         int(rows[3]["Start (ns)"]) - int(rows[2]["Start (ns)"]))
        projected = self.rows("-r", "nvtx_gpu_proj_pace:range=step", self.sqlite)
        self.assertEqual(len(projected), 8)
        with sqlite3.connect(self.sqlite) as database:
            (largest,), = database.execute(
                "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL GROUP BY shortName "
                "ORDER BY sum(end - start) DESC LIMIT 1").fetchall()
        self.assertEqual(len(self.rows("-r", "cuda_gpu_kern_pace:base", self.sqlite)), largest)
        self.stats("-r", "nvtx_pace:range=none", code=2)

    def test_utilization_map_adds_up(self):
        fine = self.rows("-r", "cuda_gpu_time_util_map:bins=50", self.sqlite)
        coarse = self.rows("-r", "cuda_gpu_time_util_map:bins=1", self.sqlite)
        self.assertEqual(len(fine), 50)
        mean = sum(float(row["In-Use (%)"]) * (int(row["End (ns)"]) - int(row["Start (ns)"]))
                   for row in fine) / (int(fine[-1]["End (ns)"]) - int(fine[0]["Start (ns)"]))
        self.assertAlmostEqual(mean, float(coarse[0]["In-Use (%)"]), delta=0.1)

    def test_several_ranks(self):
        rows = self.rows("-r", "nvtx_pace", self.sqlite, self.sqlite)
        self.assertEqual([row["Rank"] for row in rows], ["0"] * 8 + ["1"] * 8)
        done = self.run_tool("stats", "-r", "nvtx_sum", self.sqlite, self.sqlite)
        self.assertIn(b"is the same run as", done.stderr)

    def test_pictures(self):
        import xml.etree.ElementTree
        for report in ("cuda_gpu_kern_hist", "cuda_gpu_kern_pace:base", "nvtx_pace",
                       "cuda_gpu_time_util_map:bins=20"):
            base = os.path.join(self.folder, "picture")
            self.run_tool("stats", "-q", "-f", "svg,png", "-r", f"{report},{report}", "-o", base,
                          "--force-overwrite", self.sqlite, self.sqlite)
            stem = base + "_" + report.replace(":", "_")
            root = xml.etree.ElementTree.parse(stem + ".svg").getroot()
            self.assertGreater(len(list(root)), 10)
            with open(stem + ".png", "rb") as picture:
                self.assertEqual(picture.read(8), b"\x89PNG\r\n\x1a\n")
        done = self.stats("-q", "-f", "svg", "-r", "nvtx_sum", code=2)
        self.assertIn(b"has no picture", done.stderr)

    def test_ranks_are_true_and_unique(self):
        """RANK of the process wins over the place, and one recording may hold several ranks."""
        recordings = os.path.dirname(DATA)
        both = os.path.join(recordings, "h200_two_ranks.batchlight")
        for report in ("cuda_gpu_kern_hist", "cuda_gpu_kern_pace", "nvtx_pace",
                       "nvtx_gpu_proj_pace:range=ncclAllReduce@NCCL", "cuda_gpu_time_util_map",
                       "nccl_sum", "nccl_gpu_proj_sum", "nccl_gpu_overlap_trace"):
            with self.subTest(report):
                ranks = [row["Rank"] for row in self.rows("-r", report, both)]
                self.assertEqual(sorted(set(ranks)), ["0", "1"])
                self.assertEqual(ranks, sorted(ranks))
        rows = self.rows("-r", "cuda_gpu_kern_hist", self.sqlite, both)
        self.assertEqual(sorted({row["Rank"] for row in rows}), ["0", "1", "2"])
        self.assertEqual(rows[0]["Rank"], "2")  # the first input does not know: what is left
        count = sum(int(row["Instances"]) for row in rows if row["Rank"] == "2")
        self.assertEqual(count, 5806)
        done = self.run_tool("stats", "-f", "csv", "-r", "cuda_gpu_kern_hist", self.sqlite, both)
        self.assertIn(b"train5.sqlite does not say the rank: taken as rank 2", done.stderr)

    def test_the_parts_of_ranks_are_the_whole(self):
        both = os.path.join(os.path.dirname(DATA), "h200_two_ranks.batchlight")
        parts = self.rows("-r", "cuda_gpu_kern_hist", both)
        whole = self.rows("-r", "cuda_gpu_kern_sum", both)
        self.assertEqual(sum(int(row["Instances"]) for row in parts),
                         sum(int(row["Instances"]) for row in whole if row["Instances"]))

    def test_nccl_without_nccl(self):
        for report in ("nccl_sum", "nccl_gpu_proj_sum", "nccl_gpu_overlap_trace"):
            self.assertIn(b"does not contain NCCL", self.stats("-r", report).stderr)


class Payloads(NsysFiles):
    """What NCCL says of its calls: nsys puts a table of contents before the bytes."""

    @staticmethod
    def blobs(path):
        with sqlite3.connect(path) as database:
            return sorted(row[0] for row in database.execute(
                "SELECT binaryData FROM NVTX_EVENTS WHERE binaryData IS NOT NULL"))

    def collectives(self, path):
        text = self.run_tool("table", "collectives", path, "-f", "csv").stdout.decode()
        return list(csv.DictReader(io.StringIO(text)))

    def test_of_nsys(self):
        theirs = unpack_capture("two_ranks", self.folder)
        again = self.path("two_ranks_again.sqlite")
        self.run_tool("export", "-q", "-t", "sqlite", "-o", again, theirs)
        self.assertGreater(len(self.blobs(theirs)), 20)
        self.assertEqual(self.blobs(again), self.blobs(theirs))
        done = self.run_tool("stats", "-r", "nccl_sum", "-f", "csv", theirs)
        self.assertNotIn(b"does not say the rank", done.stderr)  # NCCL's own number
        self.assertIn(b"\n1,", done.stdout)
        sizes = {row["Operation"]: row["Ranks"] for row in self.collectives(theirs)}
        self.assertEqual(set(sizes.values()), {"2"})
        self.assertGreater(max(float(row["Algorithm GB/s"]) for row in self.collectives(theirs)), 0)

    def test_of_recordings(self):
        recording = os.path.join(os.path.dirname(DATA), "h200_two_ranks.batchlight")
        export = self.path("payloads.sqlite")
        self.run_tool("export", "-q", "-t", "sqlite", "-o", export, recording)
        self.assertTrue(self.blobs(export))
        for blob in self.blobs(export):
            count, _, size, place = struct.unpack_from("<4Q", blob)
            self.assertEqual((count, place, len(blob)), (1, 32, 32 + size))
        self.assertEqual(self.collectives(export), self.collectives(recording))


class WrongUse(NsysFiles):
    def test_report_names(self):
        done = self.stats("-r", "nvtx_smu", code=2)
        self.assertIn(b"did you mean nvtx_sum", done.stderr)
        self.assertIn(b"has no argument", self.stats("-r", "nvtx_sum:base", code=2).stderr)
        self.assertIn(b"begins with a name", self.stats("-r", ",nvtx_sum", code=2).stderr)

    def test_arguments_of_reports(self):
        """Before anything is read, so also where the report has no data."""
        for spec, words in (
                ("um_sum:rows=x", b'rows= takes a whole number, -1 for all, not "x"'),
                ("um_sum:rows", b"rows= takes a whole number"),
                ("um_sum:row=3", b"did you mean rows?"),
                ("network_congestion:ticks_threshold=-1", b"ticks_threshold= takes a number"),
                ("cuda_gpu_kern_sum:base:mangled", b"base and mangled exclude each other"),
                ("cuda_gpu_kern_sum:base=1", b"base takes no value"),
                ("cuda_gpu_kern_hist:bins=0", b"from 1 to 100000"),
                ("nvtx_pace:range=fowrard", b"did you mean forward?"),
                ("nvtx_pace:range=", b"range= needs a name")):
            with self.subTest(spec):
                self.assertIn(words, self.stats("-r", spec, code=2).stderr)

    def test_options_of_rules(self):
        for spec, words in (
                ("gpu_gaps:rows=x", b"rows= takes a whole number"),
                ("gpu_gaps:gap=nan", b"gap= takes a number of ms"),
                ("gpu_gaps:chunks=3", b"has no argument"),
                ("gpu_gaps:start=5:end=3", b"rule gpu_gaps: end= is before start="),
                ("gpu_time_util:chunks=1001", b"chunks= takes a number from 1 to 1000"),
                ("gpu_gaps:nvtx=stp/3", b"did you mean step?"),
                ("gpu_gaps:nvtx=step/99", b"has 8 instances"),
                ("gpu_gaps:nvtx=", b"nvtx= needs a name")):
            with self.subTest(spec):
                done = self.run_tool("analyze", "-r", spec, self.sqlite, code=2)
                self.assertIn(words, done.stderr)

    def test_formats_and_units(self):
        self.assertIn(b"no format", self.stats("-f", "xml", code=2).stderr)
        self.assertIn(b"no argument", self.stats("-f", "csv:wide", code=2).stderr)
        self.assertIn(b"did you mean nohdr", self.stats("-f", "csv:nohd", code=2).stderr)
        for unit in ("ratio=%", "addr=hex", "gid=gidint", "mem=B", "ts=ms:dur=us"):
            self.stats("-q", "-r", "nvtx_sum", "-f", "csv:" + unit)
        for unit in ("ratio=x", "addr=oct", "gid=1", "mem=ms", "ts=B"):
            self.stats("-q", "-r", "nvtx_sum", "-f", "csv:" + unit, code=2)
        self.assertIn(b"time unit", self.stats("--timeunit", "weeks", code=2).stderr)
        for text in ("x/y", "1x/", "1/2/3", "1 s/2s", "nan/"):
            self.assertIn(b"not a time", self.stats("--filter-time", text, code=2).stderr)
        for text in ("", "/", "8"):
            self.assertIn(b"takes [start]/[end]", self.stats("--filter-time", text, code=2).stderr)
        self.assertIn(b"before the start", self.stats("--filter-time", "9/8", code=2).stderr)
        self.assertIn(b"may be", self.stats("--timeunit", "m", code=2).stderr)

    def test_filter_range(self):
        done = self.stats("--filter-nvtx", "setp", code=2)
        self.assertIn(b"did you mean step", done.stderr)
        self.assertIn(b"has 8 instances", self.stats("--filter-nvtx", "step/99", code=2).stderr)
        self.assertIn(b"takes RANGE", self.stats("--filter-nvtx", "", code=2).stderr)
        self.assertIn(b"takes RANGE", self.run_tool("analyze", "--filter-nvtx", "", self.sqlite,
                                                    code=2).stderr)

    def test_help(self):
        self.assertIn(b"cuda_gpu_kern_sum", self.run_tool("stats", "--help-reports").stdout)
        self.assertIn(b"gpukernsum",
                      self.run_tool("stats", "--help-reports", "cuda_gpu_kern_sum").stdout)
        for verb in ("stats", "analyze"):
            for form in ("", "=ALL"):
                text = self.run_tool(verb, "--help-formats" + form).stdout
                self.assertIn(b"  column[", text)
                self.assertIn(b"  csv[", text)
            text = self.run_tool(verb, "--help-formats", "csv").stdout
            self.assertIn(b"  csv[:<unit>][:nohdr]", text)
            self.assertNotIn(b"  column[", text)
            self.assertIn(b"did you mean csv",
                          self.run_tool(verb, "--help-formats", "csvv", code=2).stderr)

    def test_flags(self):
        self.assertIn(b"unknown flag --quite; did you mean --quiet",
                      self.stats("--quite", code=2).stderr)
        self.assertIn(b"did you mean --filter-nvtx",
                      self.stats("--filter-nvt=x", code=2).stderr)
        self.assertIn(b"no folder nowhere", self.stats("--report-dir", "nowhere", code=2).stderr)

    def test_inputs(self):
        self.run_tool("stats", os.path.join(self.folder, "absent.sqlite"), code=3)
        done = self.run_tool("stats", os.path.join(self.folder, "absent.nsys-rep"), code=3)
        self.assertIn(b"nsys export", done.stderr)


class Scripts(NsysFiles):
    """--report-dir: reports of the user's own, as nsys runs them."""

    SCRIPT = """import sqlite3, sys
database = sqlite3.connect(sys.argv[1])
least = int(sys.argv[2].split("=")[1]) if len(sys.argv) > 2 else 0
print("Total Time (ns),Share (%),Calls,Name")
rows = database.execute("SELECT sum(r.end-r.start) t, count(*) n, s.value FROM "
    "CUPTI_ACTIVITY_KIND_RUNTIME r JOIN StringIds s ON s.id=r.nameId GROUP BY 3 ORDER BY 1 DESC")
for t, n, name in rows:
    if n >= least:
        print(f'{t},{n / 4:.2f},{n},"a ""quoted"", {name}"')
"""

    def script(self, name, text):
        folder = self.path("scripts")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, name + ".py"), "w", encoding="utf-8") as out:
            out.write(text)
        return folder

    def test_rows_are_formatted_as_ours(self):
        folder = self.script("my_calls", self.SCRIPT)
        text = self.stats("-q", "--report-dir", folder, "-r", "my_calls:least=5000", "-f",
                          "csv", "--timeunit", "ms").stdout.decode()
        self.assertEqual(text.splitlines()[0], "Total Time (ms),Share (%),Calls,Name")
        rows = [r for r in csv.reader(text.splitlines()[1:]) if r and "cudaLaunchKernel_" in r[3]]
        self.assertEqual(rows[0], ["87.7553", "1317.50", "5270", 'a "quoted", cudaLaunchKernel_v7000'])
        column = self.stats("-q", "--report-dir", folder, "-r", "my_calls,cuda_api_sum").stdout
        self.assertIn(b"** my_calls (my_calls):", column)
        self.assertIn(b"87,755,322", column)
        self.assertIn(b"** CUDA API Summary", column)
        self.assertIn(b"my_calls -- script",
                      self.run_tool("stats", "--report-dir", folder, "--help-reports").stdout)

    def test_before_the_built_in_ones_and_on_recordings(self):
        folder = self.script("cuda_api_sum", "import sqlite3, sys\nprint('Events')\nprint(sqlite3."
                             "connect(sys.argv[1]).execute('SELECT count(*) FROM "
                             "CUPTI_ACTIVITY_KIND_KERNEL').fetchone()[0])")
        mine = self.stats("-q", "--report-dir", folder, "-r", "cuda_api_sum", "-f", "csv").stdout
        self.assertEqual(mine, b"Events\n5806\n\n")
        recording = os.path.join(os.path.dirname(DATA), "h200_train.batchlight")
        done = self.run_tool("stats", "-q", "--report-dir", folder, "-r", "cuda_api_sum", "-f", "csv",
                             recording)
        self.assertGreater(int(done.stdout.split()[1]), 0)
        os.remove(os.path.join(folder, "cuda_api_sum.py"))

    def test_failures_are_named(self):
        folder = self.script("breaks", "import sys\nsys.exit('no such table')")
        done = self.stats("--report-dir", folder, "-r", "breaks", code=3)
        self.assertIn(b"no such table", done.stderr)
        self.assertIn(b"breaks.py failed with exit code 1", done.stderr)
        self.script("uneven", "print('a,b')\nprint('1,2')\nprint('3')")
        done = self.stats("--report-dir", folder, "-r", "uneven", code=3)
        self.assertIn(b"row 2", done.stderr)
        self.stats("--report-dir", folder, "-r", "breaks", "--filter-time", "1s/2s", code=2)


if __name__ == "__main__":
    unittest.main()
