"""Parquet and Arrow: pyarrow and DuckDB find in them what the other exports say. They are in the
environment that tools/install_readers.sh makes; without it the tests are skipped, and say so."""
import csv
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from recorded import BATCHLIGHT, BUILD, SOURCE, on_terminal, run  # noqa: E402

READERS = os.environ.get("BATCHLIGHT_READERS", os.path.join(os.path.dirname(BUILD), "readers"))
PYTHON = os.path.join(READERS, "bin", "python")
SCRIPT = os.path.join(SOURCE, "tests", "e2e", "readers", "columns.py")
RECORDINGS = os.path.join(SOURCE, "tests", "recordings")
TWO_RANKS = os.path.join(RECORDINGS, "h200_two_ranks.batchlight")


class Columnar(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="bl_columnar_")
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def export(self, kind, *words, code=0):
        done = run(BATCHLIGHT, "export", "-q", "-t", kind, "-o", self.path(kind), *words)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr

    def read(self, *words):
        """{table: what readers.columns found}, of both formats."""
        for kind in ("parquet", "arrow"):
            self.export(kind, *words)
        done = run(PYTHON, SCRIPT, self.path("parquet"), self.path("arrow"))
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def csv_rows(self, table):
        with open(os.path.join(self.path("csv"), table + ".csv"), newline="", encoding="utf-8",
                  errors="replace") as file:
            rows = list(csv.reader(file))
        return {name: [row[i] for row in rows[1:]] for i, name in enumerate(rows[0])}

    def trace(self, events):
        with open(self.path("trace.json"), "w", encoding="ascii") as file:
            json.dump({"schemaVersion": 1, "traceEvents": events}, file)
        return self.path("trace.json")


def operator(number, name):
    return {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": number * 10,
            "dur": 5, "args": {}}


class Tables(Columnar):
    def same(self, table, name, ours, theirs):
        """A cell of csv and the same one here."""
        if theirs is None:  # no value: empty, or a number that stands for none
            self.assertIn(ours, ("", "0", "-2147483648", "-9223372036854775808"), (table, name))
        elif isinstance(theirs, bool):
            self.assertEqual(ours, "1" if theirs else "0", (table, name))
        elif isinstance(theirs, float):
            self.assertEqual(float(ours), theirs, (table, name))
        elif isinstance(theirs, int):
            self.assertEqual(ours, str(theirs), (table, name))

    def test_what_csv_says(self):
        for recording in ("h200_two_ranks", "h200_train", "h200_tuned_gpt2", "h200_page_faults"):
            for kind in ("csv", "parquet", "arrow"):
                shutil.rmtree(self.path(kind), ignore_errors=True)
            source = os.path.join(RECORDINGS, recording + ".batchlight")
            self.export("csv", source)
            found = self.read(source)
            self.assertEqual(sorted(found), sorted(name[:-4] for name in os.listdir(self.path("csv"))))
            for table, columns in found.items():
                of_csv = self.csv_rows(table)
                for name, values in columns["rows"].items():
                    if name == "rank" and name not in of_csv:
                        continue
                    text = columns["types"][name] in ("string", "binary")
                    self.assertEqual(len(values), len(of_csv[name]), (table, name))
                    for ours, theirs in zip(of_csv[name], values):
                        if not text:
                            self.same(table, name, ours, theirs)
                        elif columns["types"][name] == "string" and not ours.isdigit():
                            self.assertEqual(theirs or "", ours, (table, name))

    def test_types_and_units(self):
        found = self.read(TWO_RANKS)
        kernels, copies = found["kernels"], found["memcpys"]
        self.assertEqual(kernels["types"]["start_ns"], "int64")
        self.assertEqual(kernels["types"]["graph_node"], "uint64")
        self.assertEqual(kernels["units"]["end_ns"], "ns")
        self.assertEqual(copies["units"]["bytes"], "bytes")
        self.assertEqual(set(kernels["rows"]["rank"]), {0, 1})
        self.assertLess(set(copies["rows"]["copy_kind"]), {"Host-to-Device", "Device-to-Host",
                                                      "Device-to-Device", "Peer-to-Peer"})
        self.assertEqual(kernels["facts"]["batchlight.table"], "kernels")
        help_of = json.loads(kernels["facts"]["batchlight.columns"])
        self.assertEqual(help_of["start_ns"], {"unit": "ns"})
        self.assertEqual(found["nvtx_payload_blobs"]["types"]["bytes"], "binary")

    def test_times_since_the_epoch_are_timestamps(self):
        since_start = self.read("--tables", "^kernels$", TWO_RANKS)["kernels"]
        for kind in ("parquet", "arrow"):
            shutil.rmtree(self.path(kind))
        kernels = self.read("--tables", "^kernels$", "--ts-normalize", "true", TWO_RANKS)["kernels"]
        self.assertEqual(kernels["types"]["start_ns"], "timestamp[ns, tz=UTC]")
        start = int(kernels["facts"]["batchlight.session_start_utc_ns"])
        self.assertEqual(kernels["rows"]["start_ns"],
                         [start + ns for ns in since_start["rows"]["start_ns"]])

    def test_tables_without_rows(self):
        some = self.read(TWO_RANKS)
        for kind in ("parquet", "arrow"):
            shutil.rmtree(self.path(kind))
        everything = self.read("--lazy", "false", TWO_RANKS)
        self.assertGreater(len(everything), len(some) + 20)
        self.assertNotIn("os_calls", some)
        calls = everything["os_calls"]
        self.assertEqual((calls["rows"]["start_ns"], calls["types"]["start_ns"]), ([], "int64"))

    def test_many_rows_are_several_groups(self):
        count = 140000
        names = ["aten::mm", "aten::add_", "aten::" + "x" * 300]
        source = self.trace([operator(i, names[i * i % 3]) for i in range(count)])
        calls = self.read(source)["operator_calls"]
        self.assertEqual((calls["groups"], calls["batches"]), (2, 2))
        self.assertEqual(calls["rows"]["name"], [names[i * i % 3] for i in range(count)])
        self.assertEqual(calls["rows"]["row"], list(range(count)))
        # Texts have a dictionary.
        self.assertLess(os.path.getsize(os.path.join(self.path("parquet"), "operator_calls.parquet")),
                        count * 30)

    def test_names_made_to_harm(self):
        names = ["'; DROP TABLE kernels; --", "a\0b", "line\nend\r\n", "\t\"quoted\"", "\u202egnp",
                 "\ud800 alone", "", "\U0001f600", "=cmd()", "n" * 3000000, "../../etc/passwd"]
        source = self.trace([operator(i, name) for i, name in enumerate(names)])
        rows = self.read(source)["operator_calls"]["rows"]["name"]
        self.export("jsonlines", source)
        with open(self.path("jsonlines"), encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        self.assertEqual(rows, [line["name"] for line in lines if line["table"] == "operator_calls"])
        self.assertEqual(len(rows), len(names))

    def test_names_that_are_no_utf8(self):
        text = self.path("odd.txt")
        with open(text, "w", encoding="ascii") as file:
            file.write('chunk pid=5 tid=5 attach_ns=100 clock=monotonic base_ticks=0 base_ns=0\n'
                       '+1 RangePush message="a\\xffb"\n+2 RangePush message="a\\xfeb"\n'
                       '+3 RangePop\n+4 RangePop\n')
        live = self.path("odd.batchlight.live")
        done = run(BATCHLIGHT, "trace", "assemble", text, "-o", live)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.read(live)["nvtx_ranges"]["rows"]["message"], ["a\ufffdb"] * 2)


class Outputs(Columnar):
    def test_a_folder_is_replaced_with_force_alone(self):
        self.export("parquet", TWO_RANKS)
        self.assertIn("--force-overwrite", self.export("parquet", TWO_RANKS, code=4))
        self.export("parquet", "-f", "--tables", "^gpus$", TWO_RANKS)
        self.assertEqual(os.listdir(self.path("parquet")), ["gpus.parquet"])

    def test_what_columns_cannot_do_is_said(self):
        self.assertIn("--append adds to a folder of tables (-t csv)",
                      self.export("parquet", "--append", TWO_RANKS, code=2))
        done = run(BATCHLIGHT, "export", "-t", "arrow", "-o", "-", TWO_RANKS)
        self.assertEqual(done.returncode, 2)
        self.assertIn("is a folder of files", done.stderr)

    def test_a_full_disk(self):
        for kind in ("parquet", "arrow"):
            limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))
            done = run(BATCHLIGHT, "export", "-t", kind, "-o", self.path(kind), TWO_RANKS,
                       preexec_fn=limit)
            self.assertEqual(done.returncode, 4, done.stderr)
            self.assertEqual(os.listdir(self.folder), [])


class Results(Columnar):
    """`table -f` and `stats -f`."""

    def table(self, *words):
        return subprocess.run([BATCHLIGHT, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=120)

    def found(self, contents):
        """What readers find in {name: (parquet, arrow)}."""
        for place, kind in enumerate(("parquet", "arrow")):
            os.makedirs(self.path(kind), exist_ok=True)
            for name, content in contents.items():
                with open(os.path.join(self.path(kind), name + "." + kind), "wb") as file:
                    file.write(content[place])
        done = run(PYTHON, SCRIPT, self.path("parquet"), self.path("arrow"))
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_tables_have_the_cells_of_json(self):
        names = [line.split()[0] for line in run(BATCHLIGHT, "table", "--list").stdout.splitlines()]
        self.assertGreater(len(names), 30)
        contents, cells = {}, {}
        for name in set(names[::9] + ["figures", "kernels", "steps"]):
            outputs = [self.table("table", name, "-f", kind, TWO_RANKS)
                       for kind in ("parquet", "arrow", "json")]
            self.assertEqual([output.returncode for output in outputs], [0, 0, 0], name)
            contents[name] = [output.stdout for output in outputs[:2]]
            cells[name] = json.loads(outputs[2].stdout or "[]")
        for name, found in self.found(contents).items():
            rows = cells[name]
            if not rows:
                self.assertEqual(next(iter(found["rows"].values()), []), [], name)
                continue
            self.assertEqual(len(found["rows"]), len(rows[0]), name)
            for column, values in found["rows"].items():
                stem = column.rsplit(" (", 1)[0]
                key = column if column in rows[0] else stem if stem in rows[0] else stem + " (B)"
                for row, value in zip(rows, values):
                    if isinstance(value, float):
                        self.assertAlmostEqual(row[key], value, places=1, msg=(name, column))
                    else:
                        self.assertEqual(row[key], "" if value is None else value, (name, column))

    def test_reports_of_stats_are_files(self):
        for kind in ("parquet", "arrow"):
            done = run(BATCHLIGHT, "stats", "-q", "-r", "cuda_gpu_kern_sum,cuda_api_sum", "-f", kind,
                       "-o", self.path("run"), TWO_RANKS)
            self.assertEqual(done.returncode, 0, done.stderr)
        content = []
        for kind in ("parquet", "arrow"):
            with open(self.path("run_cuda_gpu_kern_sum." + kind), "rb") as file:
                content.append(file.read())
        found = self.found({"kernels": content})["kernels"]
        self.assertEqual(sum(found["rows"]["Instances"]), 316)
        self.assertTrue(os.path.exists(self.path("run_cuda_api_sum.parquet")))
        several = self.table("stats", "-r", "cuda_gpu_kern_sum,cuda_api_sum", "-f", "parquet", TWO_RANKS)
        self.assertEqual(several.returncode, 2)
        self.assertIn(b"standard output takes one table of parquet", several.stderr)

    def test_bytes_do_not_go_to_a_terminal(self):
        code, said = on_terminal(80, "table", "kernels", "-f", "arrow", TWO_RANKS)
        self.assertEqual((code, "ARROW" in said), (2, False))


if __name__ == "__main__":
    if not os.path.exists(PYTHON):
        print("skipped: no other readers in %s (tools/install_readers.sh %s installs them)" %
              (READERS, READERS))
        sys.exit(77)
    unittest.main()
