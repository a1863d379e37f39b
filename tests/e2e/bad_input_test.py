"""Inputs that are wrong, on every command: an error that says what and where, or a result and a
note of what was left out. Never a partial output."""
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from nsys_files import PROGRAM, SOURCE, NsysFiles  # noqa: E402

KERNELS = "CUPTI_ACTIVITY_KIND_KERNEL"
CALLS = "CUPTI_ACTIVITY_KIND_RUNTIME"
COPIES = "CUPTI_ACTIVITY_KIND_MEMCPY"
GOOD = '{"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": %d, "dur": 2}'
EVENTS = [GOOD % (10 * i) for i in range(5)]


def trace(events):
    return '{"schemaVersion": 1, "traceEvents": [' + ",\n".join(events) + "]}"


class BadInput(NsysFiles):
    def commands(self, path):
        """Every command that reads an input, and the output that it would write."""
        out = self.path("out")
        return {
            "summary": (["summary", path], None),
            "summary --json": (["summary", "--json", path], None),
            "stats": (["stats", path], None),
            "stats -o": (["stats", "-r", "cuda_gpu_sum", "-f", "csv", "-o", out, path], out),
            "analyze": (["analyze", path], None),
            "report": (["report", path, "-o", out], out),
            "diff": (["diff", path, path], None),
            "table": (["table", "kernels", path], None),
            "tree": (["tree", path], None),
            "dlprof": (["dlprof", "--nsys_database=" + path, "--reports=summary",
                        "--output_path=" + self.folder], self.path("dlprof_summary.csv")),
            **{"export " + form: (["export", "-t", form, "-o", out, path], out)
               for form in ("sqlite", "chrome", "perfetto", "jsonlines", "csv", "speedscope")},
        }

    def written(self):
        return {name for name in os.listdir(self.folder)
                if name.startswith(("out", "dlprof_")) or "partial" in name or "tmp" in name}

    def clean(self):
        for name in self.written():
            place = self.path(name)
            shutil.rmtree(place) if os.path.isdir(place) else os.remove(place)

    def fails(self, path, *words, user=None):
        """Exit code 3, a message that starts alike, nothing on stdout, nothing written."""
        for name, (command, _) in self.commands(path).items():
            with self.subTest(command=name, input=os.path.basename(path)):
                done = subprocess.run([PROGRAM, *command], capture_output=True, timeout=60,
                                      user=user)
                said = done.stderr.decode(errors="replace")
                self.assertEqual(done.returncode, 3, said)
                self.assertTrue(said.startswith("batchlight: "), said)
                self.assertIn(os.path.basename(path), said)
                for word in words:
                    self.assertIn(word, said)
                self.assertEqual(done.stdout, b"")
                self.assertEqual(self.written(), set())

    def says(self, path, *words):
        """A result, and what was left out in every view."""
        for name, (command, output) in self.commands(path).items():
            with self.subTest(command=name, input=os.path.basename(path)):
                done = self.run_tool(*command)
                text = " ".join((done.stdout + done.stderr).decode(errors="replace").split())
                for word in words:
                    self.assertIn(word, text)
                if output and not name.startswith("stats"):
                    self.assertTrue(os.path.exists(output), name)
                self.clean()

    def file(self, name, content):
        with open(self.path(name), "wb") as out:
            out.write(content.encode() if isinstance(content, str) else content)
        return self.path(name)

    def database(self, name, *statements):
        path = self.path(name)
        shutil.copy(self.sqlite, path)
        with sqlite3.connect(path) as database:
            for statement in statements:
                database.execute(statement)
        return path


class NoInputAtAll(BadInput):
    def test_places_that_are_no_files(self):
        self.fails(self.path("missing.sqlite"), "No such file")
        os.mkdir(self.path("folder"))
        self.fails(self.path("folder"))
        os.mkfifo(self.path("fifo"))
        self.fails(self.path("fifo"), "not a regular file")

    def test_files_of_other_kinds(self):
        self.fails(self.file("empty.json", ""), "not a batchlight recording")
        self.fails(self.file("noise.json", b"\x00\xff" * 500), "not a batchlight recording")
        self.fails(self.file("text.txt", "hello\n"), "not a batchlight recording")

    @unittest.skipIf(os.geteuid() != 0, "only root can become nobody")
    def test_not_readable(self):
        path = self.file("secret.json", trace(EVENTS))
        os.chmod(path, 0)
        os.chmod(self.folder, 0o777)
        probe = subprocess.run([PROGRAM, "--version"], capture_output=True, user=65534)
        if probe.returncode != 0:
            self.skipTest("nobody cannot run the program here")
        self.fails(path, "Permission denied", user=65534)


class Databases(BadInput):
    def test_of_other_programs(self):
        path = self.path("other.sqlite")
        with sqlite3.connect(path) as database:
            database.execute("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)")
        self.fails(path, "not an nsys export")
        path = self.path("no_tables.sqlite")
        with sqlite3.connect(path) as database:
            database.execute("PRAGMA user_version=1")
        self.fails(path, "not an nsys export")

    def test_locked_by_another_process(self):
        path = self.database("locked.sqlite")
        holder = subprocess.Popen(
            [sys.executable, "-c", "import sqlite3, sys\n"
             f"database = sqlite3.connect({path!r}, isolation_level=None)\n"
             "database.execute('BEGIN EXCLUSIVE')\nprint('held', flush=True)\nsys.stdin.read()"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            self.assertEqual(holder.stdout.readline(), b"held\n")
            self.fails(path, "locked by another program")
        finally:
            holder.communicate()
        self.run_tool("summary", path)

    def test_left_behind_by_a_writer_that_died(self):
        path = self.database("hot.sqlite")
        subprocess.run(
            [sys.executable, "-c", "import os, sqlite3\n"
             f"database = sqlite3.connect({path!r}, isolation_level=None)\n"
             "database.execute('PRAGMA cache_size=2')\ndatabase.execute('BEGIN')\n"
             f"database.execute('UPDATE {CALLS} SET start=0')\nos._exit(1)"], check=False)
        self.assertTrue(os.path.exists(path + "-journal"))
        self.fails(path, "interrupted while it wrote the file", "hot.sqlite-journal")

    def write_and_die(self, path, *statements):
        subprocess.run(
            [sys.executable, "-c", "import os, sqlite3, sys\n"
             "database = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
             "for statement in sys.argv[2:]: database.execute(statement)\n"
             "os._exit(0)", path, *statements], check=True)

    def linked(self, path):
        """A link to it in another folder, under another name."""
        folder = self.path("elsewhere")
        os.makedirs(folder, exist_ok=True)
        link = os.path.join(folder, "link.sqlite")
        os.symlink(os.path.relpath(path, folder), link)
        self.addCleanup(os.unlink, link)
        return link

    def test_what_lies_beside_the_file_counts_not_what_lies_beside_a_link(self):
        path = self.database("left.sqlite")
        self.write_and_die(path, "PRAGMA cache_size=2", "BEGIN", f"UPDATE {CALLS} SET start=0")
        self.fails(self.linked(path), "interrupted while it wrote the file", "left.sqlite-journal")

    def test_a_log_is_read_through_a_link_too(self):
        path = self.database("logged.sqlite")
        self.write_and_die(path, "PRAGMA journal_mode=WAL",
                           f"DELETE FROM {CALLS} WHERE rowid % 2 = 0")
        words = ["stats", "-q", "-f", "csv", "-r", "cuda_api_sum"]
        direct = self.run_tool(*words, path).stdout
        self.assertNotEqual(direct, self.run_tool(*words, self.database("whole.sqlite")).stdout)
        self.assertEqual(self.run_tool(*words, self.linked(path)).stdout, direct)

    @unittest.skipUnless(os.geteuid() == 0, "only root can make another user's log")
    def test_a_log_of_another_user(self):
        path = self.database("log.sqlite")
        subprocess.run(
            [sys.executable, "-c", "import os, sqlite3\n"
             f"database = sqlite3.connect({path!r}, isolation_level=None)\n"
             "database.execute('PRAGMA journal_mode=WAL')\n"
             f"database.execute('UPDATE {CALLS} SET start=0')\nos._exit(1)"], check=False)
        self.run_tool("summary", path)
        os.chown(path + "-wal", 65534, 65534)
        self.fails(path, "interrupted while it wrote the file", "log.sqlite-wal")

    def test_what_lies_beside_a_file_is_left_alone(self):
        path = self.database("alone.sqlite", "PRAGMA journal_mode=WAL")
        names = set(os.listdir(os.path.dirname(path)))
        self.run_tool("summary", path)
        self.assertEqual(set(os.listdir(os.path.dirname(path))), names)
        for suffix in ("-journal", "-wal", "-shm"):
            os.mkfifo(path + suffix)
        self.run_tool("summary", path)
        odd = self.database("what?is#this%41.sqlite")
        self.run_tool("summary", odd)

    def test_cut_anywhere(self):
        with open(self.sqlite, "rb") as whole:
            content = whole.read()
        for part in (1, 99, 100, 4095, 4096, 12288, len(content) // 3, len(content) - 1):
            self.run_tool("summary", self.file("cut.sqlite", content[:part]), code=3)
        self.fails(self.file("cut.sqlite", content[:len(content) // 2]), "damaged or cut short")

    def test_text_where_a_number_belongs(self):
        path = self.database("text.sqlite", f"DELETE FROM {KERNELS} WHERE rowid < 5",
                             f"UPDATE {KERNELS} SET gridX='wide' WHERE rowid=17")
        self.fails(path, f"table {KERNELS}, rowid 17", "gridX", '"wide"')
        path = self.database("blob.sqlite", f"UPDATE {KERNELS} SET gridX=x'001b61' WHERE rowid=17")
        self.fails(path, r'holds "\x00\x1ba" where a whole number belongs')

    def test_a_missing_start_is_no_time_zero(self):
        path = self.database("null.sqlite",
                             f"CREATE TABLE k AS SELECT * FROM {KERNELS}", f"DROP TABLE {KERNELS}",
                             f"ALTER TABLE k RENAME TO {KERNELS}",
                             f"DELETE FROM {KERNELS} WHERE rowid < 3",
                             f"UPDATE {KERNELS} SET start=NULL WHERE rowid IN (8, 9)")
        self.says(path, f"table {KERNELS}: 2 row(s) have no start or no end and are left out "
                        "(first: rowid 8)")
        starts = self.run_tool("stats", "-q", "-f", "csv", "-r", "cuda_gpu_trace", path).stdout
        self.assertNotIn(b"\n0,", starts)

    def test_values_that_cannot_be(self):
        path = self.database(
            "values.sqlite",
            f"UPDATE {KERNELS} SET demangledName=999999 WHERE rowid IN (4, 6)",
            f"UPDATE {KERNELS} SET end=start-1 WHERE rowid=8",
            f"UPDATE {KERNELS} SET start=-9223372036854775808 WHERE rowid=9",
            f"UPDATE {KERNELS} SET deviceId=9223372036854775807 WHERE rowid=10",
            f"UPDATE {COPIES} SET bytes=9223372036854775807 WHERE rowid IN (2, 3, 4)",
            f"UPDATE {COPIES} SET bytes=-5 WHERE rowid=5",
            f"UPDATE {CALLS} SET start=-100, end=-50 WHERE rowid=3")
        self.says(path,
                  f"table {KERNELS}: 2 row(s) name a string that the file does not have "
                  "(first: rowid 4)",
                  f"table {KERNELS}: 1 row(s) end before they start and are left out "
                  "(first: rowid 8)",
                  f"table {KERNELS}: 1 row(s) have a time that cannot be",
                  f"table {KERNELS}: 1 row(s) hold a number beyond the range of its column, taken "
                  "as absent (first: rowid 10)",
                  f"table {COPIES}: 4 row(s) have a size that cannot be (negative, or beyond 2^53 "
                  "bytes) and are left out (first: rowid 2)",
                  f"table {CALLS}: 1 row(s) start before time 0 (first: rowid 3)")

    def test_sums_that_would_overflow(self):
        """Rows that can be, one by one, but not together: no total is negative."""
        day = 86_400_000_000_000
        path = self.database(
            "sums.sqlite", f"UPDATE {KERNELS} SET end=start+{90 * day}",
            f"UPDATE {COPIES} SET bytes={1 << 52}",
            f"UPDATE {COPIES} SET end=start+{90 * day}")
        self.says(path, "have a time that cannot be")
        for report in ("cuda_gpu_sum", "cuda_gpu_kern_sum", "cuda_gpu_mem_size_sum",
                       "cuda_gpu_mem_time_sum", "cuda_kern_exec_sum", "nvtx_gpu_proj_sum"):
            done = self.run_tool("stats", "-q", "-f", "csv", "-r", report, path)
            self.assertNotRegex(done.stdout.decode(), r"(^|,)-\d", report)

    def test_a_schema_that_nobody_knows(self):
        for version, word in ((("3", "29"), "3.29 is newer than 3.28"),
                              (("4", "0"), "4.0 is newer than 3.28"),
                              (("3", "15"), "3.15 is older than 3.16"),
                              (("2", "20"), "2.20 is older than 3.16")):
            path = self.database(
                "schema.sqlite", *(f"UPDATE META_DATA_EXPORT SET value='{number}' WHERE "
                                   f"name='EXPORT_SCHEMA_VERSION_{part}'"
                                   for part, number in zip(("MAJOR", "MINOR"), version)))
            done = self.run_tool("stats", "-r", "cuda_gpu_sum", path)
            self.assertIn("schema " + word, done.stderr.decode())
        for minor in range(16, 29):
            path = self.database("schema.sqlite", f"UPDATE META_DATA_EXPORT SET value='{minor}' "
                                                  "WHERE name='EXPORT_SCHEMA_VERSION_MINOR'")
            self.assertNotIn(b"schema", self.run_tool("stats", "-r", "cuda_gpu_sum", path).stderr)


class Traces(BadInput):
    def test_cut_in_the_middle(self):
        text = trace(EVENTS)
        path = self.file("cut.json", text[:-40])
        self.says(path, f"the file ends in the middle of an event, at byte {len(text) - 40}: "
                        "4 events before that were kept")
        self.fails(self.file("stump.json", text[:60]), "before the first whole event")

    def test_values_that_cannot_be(self):
        bad = ['{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": "abc"}',
               '{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1e300}',
               '{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": -5}']
        text = trace(EVENTS + bad)
        self.says(self.file("values.json", text), "3 event(s) have a ts or dur that is not a "
                  f"number, negative or out of range and are left out (first: at byte "
                  f"{text.index(bad[0])})")
        self.fails(self.file("all_bad.json", trace(bad)), "3 event(s) have a ts or dur")

    def test_quotes_and_bytes_that_are_not_utf8(self):
        raw = GOOD.replace("aten::add", 'a "b" c') % 7
        text = trace(EVENTS + [raw])
        self.says(self.file("quotes.json", text),
                  f"1 event(s) are not valid JSON and are left out (first: at byte "
                  f"{text.index(raw)})")
        odd = GOOD.replace("aten::add", "line\\nquote\\\"comma,tab\\tend\udcff\udcc3") % 7
        path = self.file("odd.json", trace(EVENTS + [odd]).encode("utf-8", "surrogateescape"))
        for form in ("sqlite", "chrome", "perfetto", "jsonlines", "csv", "folded", "speedscope"):
            self.run_tool("export", "-q", "-t", form, "-o", self.path("out"), path)
            if form in ("chrome", "speedscope"):
                with open(self.path("out"), encoding="utf-8") as out:
                    self.assertIn('line\nquote"comma,tab\tend', str(json.load(out)).replace(
                        "\\n", "\n").replace("\\t", "\t").replace("\\'", "'"))
            self.clean()

    def test_without_events(self):
        self.fails(self.file("none.json", trace([])), "a trace without events")
        self.fails(self.file("other.json", '{"a": [1, 2]}'), "no traceEvents")


if __name__ == "__main__":
    unittest.main()
