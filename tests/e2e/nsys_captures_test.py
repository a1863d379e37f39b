"""What nsys 2025.3 printed for sixteen databases, byte for byte: its own exports of captures
on an H200, ours of recordings made there, and made-up ones (tests/recordings/nsys-2025.3/README.md)."""
import csv
import io
import lzma
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from compare_reports import compare, differing_lines  # noqa: E402
from nsys_files import DATA, PROGRAM, SOURCE  # noqa: E402

CAPTURES = os.path.join(DATA, "captures")
# Files that differ without --nsys-compat, because nsys is wrong there (docs/stats.md).
WRONG_IN_NSYS = {
    # Graphs recorded as a whole are no work to nsys; of those recorded by node it counts one.
    "graph": r"(a_gpu_gaps|a_gpu_time_util|.*_nvtx_gpu_proj_(sum|trace)).*",
    "node": r".*_nvtx_gpu_proj_(sum|trace).*",
    "h200_graph_node": r"s_nvtx_gpu_proj_(sum|trace).*",
    # Copies inside a device do not block.
    "um": r"a_cuda_memcpy_sync.*",
    # Names with quotes and line breaks.
    "nv": r"(s|us|f_column|f_json|f_table|f_tsv)_nvtx_.*",
    # A filter forgets the domains that were created before, and other processes.
    "nccl": r"fn_nvtx_(pushpop_trace|sum).*",
    # Correlation ids of two processes.
    "two_ranks": r"(a_cuda_memcpy_async|fn_).*",
    # The first rows, not those asked for.
    "lazy_false": r"(a_gpu_gaps.*rows=[23]|a_gpu_time_util.*rows=3).*",
    "h200_two_ranks": r"a_cuda_memcpy_async.*",
}
# Of these an export has what it can hold.
PART_OF_NSYS = ("ENUM_NSYS_EVENT_TYPE", "ENUM_NSYS_EVENT_CLASS")
# Rows with equal totals, in no order that could be told.
UNORDERED = {("runtimes", "s_openmp_sum.csv")}
REPORTS = (
    "cuda_api_sum,cuda_api_trace,cuda_gpu_kern_sum,cuda_gpu_kern_sum:base,"
    "cuda_gpu_kern_sum:mangled,cuda_gpu_kern_sum:nvtx-name,cuda_gpu_kern_sum:nvtx-name:base,"
    "cuda_gpu_kern_gb_sum,cuda_gpu_kern_gb_sum:nvtx-name:base,cuda_gpu_mem_time_sum,"
    "cuda_gpu_mem_size_sum,cuda_gpu_sum,cuda_gpu_sum:nvtx-name,cuda_api_gpu_sum,"
    "cuda_api_gpu_sum:base,cuda_gpu_trace,cuda_gpu_trace:nvtx-name:base,cuda_kern_exec_sum,"
    "cuda_kern_exec_sum:base,cuda_kern_exec_sum:nvtx-name,cuda_kern_exec_trace,"
    "cuda_kern_exec_trace:nvtx-name:base,nvtx_sum,nvtx_pushpop_sum,nvtx_startend_sum,"
    "nvtx_pushpop_trace,nvtx_gpu_proj_sum,nvtx_gpu_proj_trace,nvtx_kern_sum,nvtx_kern_sum:base,"
    "osrt_sum,um_sum,um_sum:rows=3,um_total_sum,um_cpu_page_faults_sum,openmp_sum,openacc_sum,"
    "mpi_event_sum,mpi_event_trace,mpi_msg_size_sum,network_congestion,syscall_sum,"
    "nvvideo_api_sum,vulkan_api_sum,opengl_khr_range_sum,dx12_gpu_marker_sum,wddm_queue_sum")


class Captures(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="nsys_captures")
        self.addCleanup(shutil.rmtree, self.folder)

    def unpack(self, name):
        """The database and the folder of what nsys printed for it."""
        database = os.path.join(self.folder, name + ".sqlite")
        packed = os.path.join(CAPTURES, name + ".sqlite.xz")
        if os.path.exists(packed):
            with lzma.open(packed) as source, open(database, "wb") as out:
                shutil.copyfileobj(source, out)
        else:
            recording = os.path.join(SOURCE, "tests", "recordings", name + ".batchlight")
            subprocess.run([PROGRAM, "export", "-q", "-t", "sqlite", "-o", database, recording],
                           check=True, timeout=120)
        expected = os.path.join(self.folder, name)
        if os.path.exists(expected):
            return database, expected
        os.mkdir(expected)
        with tarfile.open(os.path.join(CAPTURES, name + ".expected.tar.xz")) as archive:
            archive.extractall(expected)
        return database, expected

    def check(self, name, files, by_default=True):
        database, expected = self.unpack(name)
        count = 0
        for file, theirs, ours in compare(PROGRAM, database, expected, ["--nsys-compat"]):
            count += 1
            if (name, file) in UNORDERED:
                theirs, ours = (sorted(text.splitlines()) for text in (theirs, ours))
            if theirs != ours:
                lines = "\n".join(differing_lines(theirs, ours or b"", 3))
                self.fail(f"{name}: {file} differs with --nsys-compat\n{lines}")
        self.assertEqual(count, files)
        if not by_default:
            return
        wrong = re.compile(WRONG_IN_NSYS.get(name, "(?!)"))
        for file, theirs, ours in compare(PROGRAM, database, expected):
            if wrong.fullmatch(file) or (name, file) in UNORDERED:
                continue
            if theirs != ours:
                lines = "\n".join(differing_lines(theirs, ours or b"", 3))
                self.fail(f"{name}: {file} differs by default\n{lines}")

    def test_graphs(self):
        self.check("graph", 120)
        self.check("node", 120)

    def test_data_loader_with_os_runtime_and_memory_usage(self):
        self.check("loader", 129)

    def test_unified_memory(self):
        self.check("um", 120)

    def test_nvtx(self):
        self.check("nv", 120)

    def test_nccl(self):
        self.check("nccl", 129)
        self.check("two_ranks", 128)

    def test_our_own_exports(self):
        """nsys reads what `export -t sqlite` writes, and prints for it what we print."""
        for name in ("h200_train", "h200_compile", "h200_graph_node", "h200_two_ranks"):
            self.check(name, 43)

    def test_what_no_capture_has(self):
        self.check("runtimes", 9)
        self.check("gaps", 9, by_default=False)
        self.check("names", 55, by_default=False)

    def test_calls_that_are_there_twice(self):
        """With CUDA backtraces: nsys prints each call twice, we do so with --nsys-compat."""
        self.check("backtraces", 39, by_default=False)
        database = os.path.join(self.folder, "backtraces.sqlite")

        def table(report, *flags):
            done = subprocess.run([PROGRAM, "stats", "-q", "-f", "csv", "-r", report, *flags, database],
                                  capture_output=True, timeout=120, check=True)
            return list(csv.DictReader(io.StringIO(done.stdout.decode())))
        calls = table("cuda_api_sum")
        self.assertEqual(len({row["Name"] for row in calls}), len(calls))
        once = {row["Name"]: int(row["Num Calls"]) for row in calls}
        self.assertEqual((once["cudaMalloc"], once["cudaLaunchKernel"], once["cuKernelGetName"]),
                         (2, 40, 40))
        self.assertEqual(sum(once.values()), 170)
        self.assertEqual(len(table("cuda_api_sum", "--nsys-compat")), len(calls) + 11)
        self.assertEqual(len(table("cuda_kern_exec_trace")), 40)
        self.assertEqual({row["Kern Inst"] for row in table("nvtx_kern_sum")}, {"8"})

    def test_an_export_has_the_keys_and_coded_values_of_nsys(self):
        for name in ("loader", "backtraces"):
            theirs, _ = self.unpack(name)
            ours = os.path.join(self.folder, name + ".ours.sqlite")
            subprocess.run([PROGRAM, "export", "-q", "-t", "sqlite", "-o", ours, theirs],
                           check=True, timeout=120)
            with sqlite3.connect(theirs) as a, sqlite3.connect(ours) as b:
                def tables(database):
                    return {row[0] for row in database.execute(
                        "SELECT name FROM sqlite_master WHERE type = 'table'")}
                self.assertEqual([table for table in tables(a) - tables(b)
                                  if table.startswith("ENUM_")], [])
                for table in tables(a) & tables(b):
                    def columns(database, table=table):
                        return {(row[1], row[3], row[5])
                                for row in database.execute(f"PRAGMA table_info({table})")}
                    # Later versions have more columns.
                    if "_CALLCHAINS" in table or table in ("SCHED_EVENTS", "OSRT_API"):
                        self.assertEqual(columns(a) - columns(b), set(), table)
                    if table.startswith("ENUM_") and table not in PART_OF_NSYS:
                        self.assertEqual(b.execute(f"SELECT * FROM {table} ORDER BY id").fetchall(),
                                         a.execute(f"SELECT * FROM {table} ORDER BY id").fetchall())
                for table, column in (("SCHED_EVENTS", "threadState"), ("SCHED_EVENTS", "threadBlock"),
                                      ("OSRT_CALLCHAINS", "thumbCode"),
                                      ("OSRT_CALLCHAINS", "unwindMethod"),
                                      ("OSRT_API", "coalesce(nestingLevel, 0)")):
                    if table not in tables(a):
                        continue
                    counts = f"SELECT DISTINCT {column} FROM {table} ORDER BY 1"
                    self.assertEqual(b.execute(counts).fetchall(), a.execute(counts).fetchall())

    def test_tables_without_rows(self):
        """`nsys export --lazy=false`: a report has no data then, which is not to lack a table."""
        self.check("lazy_false", 39)
        database, expected = self.unpack("lazy_false")
        with open(os.path.join(expected, "console.csv.txt"), encoding="utf-8") as file:
            reports = ",".join(re.findall(r"\[(\w+)\.py\]", file.read()))
        for file, arguments in (("default.txt", []), ("console.csv.txt", ["-r", reports, "-f", "csv"])):
            done = subprocess.run([PROGRAM, "stats", "--nsys-compat", *arguments,
                                   os.path.basename(database)],
                                  cwd=self.folder, capture_output=True, timeout=120)
            with open(os.path.join(expected, file), "rb") as theirs:
                self.assertEqual(done.stdout, theirs.read(), file)
        said = subprocess.run([PROGRAM, "stats", "-r", "osrt_sum", database], capture_output=True,
                              timeout=120, check=True)
        self.assertEqual(said.stdout, b"")
        self.assertIn(b"has nothing for osrt_sum", said.stderr)

    def test_console(self):
        """Everything on the console, with the lines before and after each report."""
        for name in ("graph", "loader", "um", "nv"):
            database, expected = self.unpack(name)
            for file, arguments in (
                    ("default.txt", ["--nsys-compat"]),
                    ("console.csv.txt", ["--nsys-compat", "-r", REPORTS, "-f", "csv", "-o", "-"]),
                    ("ms.txt", ["-q", "-r", "cuda_gpu_trace,cuda_api_sum", "-f", "column",
                                "--timeunit", "msec", "-o", "-"])):
                done = subprocess.run([PROGRAM, "stats", *arguments, os.path.basename(database)],
                                      cwd=self.folder, capture_output=True, timeout=120)
                self.assertEqual(done.returncode, 0, done.stderr)
                with open(os.path.join(expected, file), "rb") as theirs:
                    self.assertEqual(done.stdout, theirs.read(), f"{name}: {file}")


if __name__ == "__main__":
    unittest.main()
