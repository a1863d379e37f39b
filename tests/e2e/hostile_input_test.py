"""Inputs made to harm: numbers that are taken for others, files that unpack to a thousand times
their size, names that act on a terminal, a shell or a spreadsheet, and secrets on command lines."""
import ctypes
import gzip
import json
import os
import resource
import shlex
import shutil
import sqlite3
import struct
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from nsys_files import PROGRAM, NsysFiles  # noqa: E402
from recorded import on_terminal  # noqa: E402

GIB = 1 << 30
LONG_S = 120  # the slowest machine; what these inputs once took is hours or all memory
ESCAPES = "\x1b]0;title\x07 \x1b[31mred \u202egnp.exe \u009b2J"


def event(**fields):
    return dict({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1,
                 "dur": 1, "args": {}}, **fields)


def processor_s():
    """What the programs that have ended took of the processors."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class Hostile(NsysFiles):
    def read(self, *words, memory=4 * GIB, code=0, **options):
        """The program with little memory and time."""
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        done = subprocess.run([PROGRAM, *words], capture_output=True, timeout=LONG_S,
                              preexec_fn=limit, **options)
        self.assertEqual(done.returncode, code, done.stderr.decode(errors="replace")[-2000:])
        return done

    def write(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        return self.path(name)

    def trace(self, name, events):
        return self.write(name, json.dumps({"schemaVersion": 1, "traceEvents": events}))

    def recording(self, name, lines):
        """A live folder made of text."""
        text = self.write(name + ".txt", "chunk pid=5 tid=5 attach_ns=100 clock=monotonic "
                          "base_ticks=100 base_ns=100\n" + "\n".join(lines) + "\n")
        folder = self.path(name + ".batchlight.live")
        self.read("trace", "assemble", text, "-o", folder)
        return folder


class Numbers(Hostile):
    def test_a_device_without_a_number(self):
        # -1 is how the tracks of the CPU were marked.
        events = []
        for step in range(8):
            events += [event(cat="kernel", name="k", pid=0, tid=7, ts=1000 * step + 60, dur=40,
                             args={"device": -1, "stream": 7, "correlation": step + 1}),
                       event(cat="user_annotation", name="Optimizer.step#SGD.step",
                             ts=1000 * step + 400, dur=100)]
        path = self.trace("device.json", events)
        self.read("table", "phase_events", path)
        self.read("report", "-o", self.path("device_report"), path)

    def test_columns_that_a_table_must_have(self):
        for table, column in (("CUPTI_ACTIVITY_KIND_RUNTIME", "nameId"),
                              ("PROFILER_OVERHEAD", "nameId")):
            path = self.path("lacks_%s.sqlite" % table)
            with open(self.sqlite, "rb") as whole, open(path, "wb") as out:
                out.write(whole.read())
            with sqlite3.connect(path) as database:
                database.execute("ALTER TABLE %s DROP COLUMN %s" % (table, column))
            out = self.path("exported_%s.sqlite" % table)
            self.read("export", "-t", "sqlite", "-o", out, path)
            with sqlite3.connect(out) as database:
                text, = database.execute("SELECT DISTINCT value FROM %s JOIN StringIds ON "
                                         "StringIds.id = %s" % (table, column)).fetchall()
            self.assertEqual(text, ("",))
            self.read("summary", out)

    def test_a_computed_column(self):
        path = self.path("computed.sqlite")
        with open(self.sqlite, "rb") as whole, open(path, "wb") as out:
            out.write(whole.read())
        with sqlite3.connect(path) as database:
            database.execute("ALTER TABLE CUPTI_ACTIVITY_KIND_RUNTIME DROP COLUMN returnValue")
            database.execute("ALTER TABLE CUPTI_ACTIVITY_KIND_RUNTIME ADD COLUMN returnValue INT AS "
                             "(length(printf('%.*c', 900000000, 'x'))) VIRTUAL")
        done = self.read("summary", path)
        self.assertIn("CUPTI_ACTIVITY_KIND_RUNTIME has no column returnValue",
                      " ".join((done.stdout + done.stderr).decode().split()))


    def test_a_table_that_a_module_of_sqlite_makes(self):
        """Search indexes and the like read pages of theirs that may be anything."""
        for module in ("rtree(start, a, b)", "fts4(start, end)", "fts5(start, gridX)", "dbstat",
                       "json_each"):
            path = self.path("module.sqlite")
            with open(self.sqlite, "rb") as whole, open(path, "wb") as out:
                out.write(whole.read())
            with sqlite3.connect(path) as database:
                database.execute("PRAGMA writable_schema = ON")
                database.execute("UPDATE sqlite_master SET sql = 'CREATE VIRTUAL TABLE ' || name || ? "
                                 "WHERE name = 'CUPTI_ACTIVITY_KIND_KERNEL'", (" USING " + module,))
            done = self.read("summary", path, code=3)
            self.assertIn(b"no such module", done.stderr)

    def test_an_index_for_search_beside_the_tables(self):
        path = self.path("index.sqlite")
        with open(self.sqlite, "rb") as whole, open(path, "wb") as out:
            out.write(whole.read())
        with sqlite3.connect(path) as database:
            database.execute("CREATE VIRTUAL TABLE places USING rtree(id, low, high)")
        self.assertEqual(self.read("summary", path).stdout.count(b"no column"), 0)


class Sizes(Hostile):
    def test_an_index_that_repeats_a_block(self):
        """2 KB that would unpack to 62 GiB."""
        path = self.write("bomb.batchlight", bomb(1000))
        self.assertIn(b"damaged", self.read("summary", path).stdout)

    def test_blocks_that_claim_too_much(self):
        path = self.write("many.batchlight", bomb(60, repeat=False))
        done = self.read("summary", path, code=3)
        self.assertIn(b"claim to unpack to 3 GiB", done.stderr)

    def test_modules_inside_one_another(self):
        count = 20000
        path = self.trace("modules.json", [
            event(cat="python_function", ts=i, dur=2 * (count - i), name="nn.Module: M_%d" % i,
                  args={"Python id": i, "Python parent id": i - 1, "Python module id": i})
            for i in range(count)])
        self.read("summary", path, memory=GIB)
        self.read("tree", path, memory=GIB)
        self.read("report", "-o", self.path("modules_report"), path, memory=GIB)

    def test_steps_that_all_overlap(self):
        # It took as long as the square of them: 200 s.
        path = self.trace("overlap.json", [
            event(cat="user_annotation", name="ProfilerStep#%d" % i, ts=i, dur=200000) for i in range(400000)])
        self.assertIn(b"399998 of that name begin before", self.read("summary", path).stdout)

    def test_ranges_that_never_end(self):
        path = self.recording("open", ['+%d RangePush message="n%d"' % (i + 1, i % 50)
                                       for i in range(100000)])
        before = processor_s()
        self.read("report", "-o", self.path("open_report"), path)
        self.assertLess(processor_s() - before, 10)  # 0.3; it was 36
        out = self.path("open.folded")
        self.read("export", "-t", "folded", "-o", out, path)
        self.assertLess(os.path.getsize(out), 10 << 20)
        with open(out) as stacks:
            own = [int(line.rsplit(" ", 1)[1]) for line in stacks]
        self.assertEqual(sum(own), 100000 - 1)  # no time is lost or counted twice


class Memory(Hostile):
    """Inputs that do not say how much they need, read with little (BATCHLIGHT_MEMORY)."""

    def too_large(self, path, memory):
        done = self.read("summary", path, code=3, env=dict(os.environ, BATCHLIGHT_MEMORY=str(memory)))
        said = " ".join(done.stderr.decode().split())
        self.assertIn("cannot read %s: a part of it took" % path, said)
        self.assertIn("set BATCHLIGHT_MEMORY to the number of bytes that may be used", said)
        self.read("summary", path)

    def packed(self, name, event, count, times):
        """A packed trace of `times` times so many events."""
        part = gzip.compress((event + ",\n").encode() * count)
        return self.write(name, gzip.compress(b'{"schemaVersion":1,"traceEvents":[') + part * times +
                          gzip.compress(event.encode() + b"]}"))

    def test_a_trace_of_millions_of_small_events(self):
        self.too_large(self.packed("small.json.gz", json.dumps(event()), 20000, 50), 40 << 20)

    def test_a_database_of_many_ranges(self):
        path = self.path("ranges.sqlite")
        with open(self.sqlite, "rb") as whole, open(path, "wb") as out:
            out.write(whole.read())
        with sqlite3.connect(path) as database:
            database.execute("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
                             "WHERE i < 300000) INSERT INTO NVTX_EVENTS (start, end, eventType, "
                             "globalTid, text) SELECT i, i + 1, 60, 281479271677953, 'range ' || i "
                             "FROM n")
        self.too_large(path, 30 << 20)

    def test_an_analysis_that_takes_many_times_the_recording(self):
        # 600,000 operators with a name each: 43 MB, and 500 MB for the table of operators.
        lines = []
        for chunk in range(3):
            at = 100 + chunk * 1000000
            lines.append("chunk pid=5 tid=5 attach_ns=100 clock=monotonic base_ticks=%d base_ns=%d" % (at, at))
            lines += ['+1 OpBegin name="o%d"\n+1 OpEnd' % (chunk * 200000 + i) for i in range(200000)]
        folder = self.path("operators.batchlight.live")
        self.read("trace", "assemble", self.write("operators.txt", "\n".join(lines) + "\n"), "-o", folder)
        environment = dict(os.environ, BATCHLIGHT_MEMORY=str(150 << 20))
        done = self.read("summary", folder, code=3, env=environment)
        self.assertIn(b"out of memory; read less of the run", done.stderr)
        self.assertIn(b"BATCHLIGHT_MEMORY", done.stderr)
        self.read("stats", folder, env=environment)  # which takes 60 MB

    def test_a_trace_packed_a_thousandfold(self):
        path = self.packed("bomb.json.gz", json.dumps(event(ph="M", name="a" * 4000)), 8000, 50)
        self.assertLess(os.path.getsize(path), 20 << 20)
        done = self.read("summary", path, code=3)
        self.assertIn(b"unpacks to more than 200 times its size, as no trace does", done.stderr)

    def test_a_page_that_names_one_row_again_and_again(self):
        path = self.path("rows.sqlite")
        with sqlite3.connect(path) as database:
            database.execute("PRAGMA page_size = 65536")
            database.execute("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)")
            database.execute("CREATE TABLE NVTX_EVENTS (start INT, end INT, eventType INT, textId INT)")
            database.execute("INSERT INTO StringIds VALUES (0, ?)", ("x" * 50000,))
        self.read("summary", path)
        with open(path, "r+b") as file:
            file.seek(65536)  # StringIds: its kind, no free block, one row
            self.assertEqual(file.read(5), b"\x0d\0\0\0\1")
            file.seek(65536 + 8)
            place = file.read(2)
            file.seek(65536 + 3)
            file.write(struct.pack(">H", 5000))
            file.seek(65536 + 8)
            file.write(place * 5000)
        done = self.read("summary", path, code=3)
        self.assertIn(b"table StringIds, row", done.stderr)
        self.assertIn(b"the file is damaged", done.stderr)

    def test_events_that_begin_in_each_other(self):
        """Each could be where reading goes on after the damage before it."""
        path = self.write("nested.json", '{"schemaVersion":1,"traceEvents":[' + '{"ph":[' * 2000000)
        self.read("summary", path, code=3)


class Files(Hostile):
    def test_fifos(self):
        folder = self.recording("fifo", ['+1 RangePush message="a"', "+2 RangePop"])
        os.mkfifo(os.path.join(folder, "7-100.blp"))
        self.assertIn("7-100.blp", self.read("summary", folder).stdout.decode())
        os.mkfifo(self.path("fifo.txt2"))
        self.read("trace", "assemble", self.path("fifo.txt2"), "-o", self.path("no"), code=3)

    def test_a_full_disk_behind_standard_output(self):
        trace = self.trace("small.json", [event(ts=10 * i, dur=5) for i in range(10)])
        live = self.recording("full", ['+1 RangePush message="a"', "+2 RangePop"])
        report = self.path("full_report")
        for command in (["tree", trace], ["table", "key_averages", trace], ["summary", trace],
                        ["table", "--list"], ["trace", "dump", live],
                        ["stats", "-r", "nvtx_sum", self.sqlite],
                        ["analyze", trace], ["report", "-f", "-o", report, trace],
                        ["export", "-t", "chrome", "-o", "-", trace], ["diff", trace, trace],
                        ["doctor"], ["sessions", "list"]):
            with self.subTest(command=command[0]), open("/dev/full", "w") as full:
                done = subprocess.run([PROGRAM, *command], stdout=full, stderr=subprocess.PIPE,
                                      timeout=LONG_S)
                self.assertEqual(done.returncode, 4, done.stderr)
                self.assertIn(b"cannot write", done.stderr)


class Names(Hostile):
    def test_a_file_is_no_flag(self):
        """What the shell makes of `*` in a folder of others."""
        folder = self.path("others")
        os.mkdir(folder)
        run = os.path.join(folder, "run.json")
        shutil.copy(self.names(), run)
        for name in ("--output=@sh command", "-o@sh command"):
            with open(os.path.join(folder, "command"), "w") as file:
                file.write("echo > ran\n")
            with open(os.path.join(folder, name), "w"):
                pass
            for command in (["stats", "run.json"], ["stats", "-f", "json"], ["kernels"], ["profile"],
                            ["kernels", "-k", "reduce"], ["kernels", "--kernel", "reduce", "-f"],
                            ["profile", "-t", "none"], ["probe", "loader", "-o", "out"],
                            ["kernprof", "-l"], ["kernprof", "-o", "out"]):
                done = self.read(*command, name, "run.json", code=2, cwd=folder)
                self.assertIn(name + " is also the name of a file here", done.stderr.decode())
            self.read("summary", "--", "run.json", cwd=folder)
            os.remove(os.path.join(folder, name))
        self.assertFalse(os.path.exists(os.path.join(folder, "ran")))

    def names(self):
        names = [ESCAPES, "=HYPERLINK(1)", "@SUM(1)", "+1", "-1"]
        return self.trace("names.json", [event(name=name, ts=100 * i, dur=50)
                                         for i, name in enumerate(names * 3)])

    def test_on_a_terminal(self):
        path = self.names()
        for command in (["summary"], ["tree", "--least=0"], ["analyze"], ["table", "operators"],
                        ["table", "operators", "-f", "csv"], ["table", "operators", "-f", "markdown"],
                        ["stats"]):
            with self.subTest(command=command):
                code, text = on_terminal(200, *command, path, NO_COLOR="1")
                self.assertEqual(code, 0)
                self.assert_harmless(text)

    def assert_harmless(self, text):
        for bad in ("\x1b", "\x07", "\u202e", "\u009b"):
            self.assertNotIn(bad, text)

    def test_in_messages(self):
        path = self.write("bad" + ESCAPES.replace("/", "") + ".json", "no trace")
        done = self.read("summary", path, code=3)
        self.assert_harmless(done.stderr.decode())
        trace = self.trace("names.json", [event(name="x" + ESCAPES, ts=10 * i) for i in range(5)])
        for kind in ("folded", "jsonlines", "speedscope"):
            code, text = on_terminal(200, "export", "-q", "-t", kind, "-o", "-", trace, NO_COLOR="1")
            self.assertEqual(code, 0, text)
            self.assert_harmless(text)
        for words in (["status", "x" + ESCAPES], ["summary", "--x" + ESCAPES, path]):
            self.assert_harmless(self.read(*words, code=2).stderr.decode())

    def test_names_of_files(self):
        folder = self.path("left")
        os.mkdir(folder)
        self.write("left/" + ESCAPES.replace("/", "") + ".partial-abcdefghijklmnop", "")
        trace = self.trace("fine" + ESCAPES.replace("/", "") + ".json", [event(ts=10 * i) for i in range(5)])
        for command in (["clean", folder], ["stats", "--nsys-compat", trace], ["summary", trace]):
            with self.subTest(command=command[0]):
                code, text = on_terminal(200, *command, NO_COLOR="1")
                self.assertEqual(code, 0)
                self.assertIn("gnp.exe", text)
                self.assert_harmless(text)

    def test_a_dump_escapes_and_comes_back(self):
        folder = self.recording("dump", ['+1 RangePush message="\\x1b[31m \u202e \u9000"',
                                         "+2 RangePop"])
        text = self.read("trace", "dump", folder).stdout
        self.assert_harmless(text.decode())
        self.assertIn("\u9000", text.decode())
        again = self.path("again.batchlight.live")
        self.read("trace", "assemble", self.write("again.txt", text), "-o", again)
        self.assertEqual(self.read("trace", "dump", "--records", again).stdout,
                         self.read("trace", "dump", "--records", folder).stdout)

    def test_in_spreadsheets(self):
        path = self.names()
        self.assertIn("\n=HYPERLINK(1)", self.cells(path, "csv"))  # as it is, unless asked for
        for form in ("csv:spreadsheet", "tsv:spreadsheet"):
            text = self.cells(path, form)
            for name in ("=HYPERLINK(1)", "@SUM(1)", "+1", "-1"):
                self.assertIn("\n'" + name, text)
        self.read("export", "-t", "csv", "--spreadsheet", "-o", self.path("sheets"), path)
        with open(self.path("sheets/operator_calls.csv"), encoding="utf-8") as file:
            self.assertIn(",'=HYPERLINK(1),", file.read())
        self.read("report", "--spreadsheet", "-o", self.path("sheet_report"), path)
        with open(self.path("sheet_report/operators.csv"), encoding="utf-8") as file:
            self.assertIn("\n'=HYPERLINK(1),", file.read())

    def cells(self, path, form):
        return self.read("table", "operators", "-f", form, path).stdout.decode()

    def test_next_commands_are_words_of_a_shell(self):
        name = "it's $(touch pwned); a file.json"
        path = self.trace(name, [event(ts=10 * i) for i in range(5)])
        text = self.read("summary", path).stdout.decode()
        after = text[text.index("Next"):]
        commands = [shlex.split(line) for line in after.splitlines() if "batchlight export" in line]
        self.assertEqual(commands[0][:5], ["batchlight", "export", "-t", "sqlite", path])


class Secrets(Hostile):
    LINE = ["python3", "train.py", "--api-key=abcdef", "--hub_token", "ghijkl", "--lr", "0.1"]

    def secret_run(self):
        """A recording of an older version, which kept them."""
        return self.recording("secret", [
            '+0 ProcessStart command_line="%s" executable="/usr/bin/python3"' % "\\x00".join(self.LINE),
            '+1 Property key="session.command" value="%s"' % " ".join(self.LINE),
            '+1 Property key="environment.WANDB_API_KEY" value="mnopqr"',
            '+1 Property key="environment.RANK" value="0"',
            '+2 RangePush message="a"', "+3 RangePop"])

    def test_values_are_masked_everywhere(self):
        path = self.secret_run()
        outputs = [self.read("summary", path).stdout, self.read("summary", "--json", path).stdout]
        for form, name in (("sqlite", "s.sqlite"), ("jsonlines", "s.jsonl"), ("chrome", "s.json")):
            self.read("export", "-t", form, "-o", self.path(name), path)
            with open(self.path(name), "rb") as file:
                outputs.append(file.read())
        self.read("report", "-o", self.path("secret_report"), path)
        for name in ("index.html", "processes.csv"):
            with open(self.path("secret_report/" + name), "rb") as file:
                outputs.append(file.read())
        for output in outputs:
            for secret in (b"abcdef", b"ghijkl", b"mnopqr"):
                self.assertNotIn(secret, output)
        self.assertIn(b"--api-key=*** --hub_token *** --lr 0.1", outputs[1])

    def test_a_report_without_command_lines(self):
        path = self.secret_run()
        self.read("report", "--no-command-line", "-o", self.path("bare_report"), path)
        for name in os.listdir(self.path("bare_report")):
            with open(self.path("bare_report/" + name), "rb") as file:
                self.assertNotIn(b"--lr", file.read(), name)


def bomb(copies, repeat=True):
    """A sealed recording of blocks with 64 MiB of zeros."""
    zstd, xxhash = ctypes.CDLL("libzstd.so.1"), ctypes.CDLL("libxxhash.so.0")
    zstd.ZSTD_compressBound.restype = zstd.ZSTD_compress.restype = ctypes.c_size_t
    zstd.ZSTD_compressBound.argtypes = [ctypes.c_size_t]
    zstd.ZSTD_compress.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p,
                                   ctypes.c_size_t, ctypes.c_int]
    xxhash.XXH3_64bits.restype = ctypes.c_uint64
    xxhash.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]

    def block(kind, raw):
        room = ctypes.create_string_buffer(zstd.ZSTD_compressBound(len(raw)))
        count = zstd.ZSTD_compress(room, len(room), raw, len(raw), 3)
        packed = room.raw[:count]
        head = struct.pack("<IHHIIQ", 0x314b4c42, kind, 1, len(packed), len(raw),
                           xxhash.XXH3_64bits(packed, len(packed)))
        return head + packed + b"\0" * (-len(head + packed) % 8)

    size = 64 << 20
    chunk = struct.pack("<IHHIIIIIIIIqQqQqQ5Q", 0x314b4342, 1, 128, size, size, 5, 5, 0, 0, 0, 1, 100,
                        1000, 1000, 2 ** 40, 2 ** 40, 10 ** 9, 0, 0, 0, 0, 0)
    one = block(1, chunk + b"\0" * (size - len(chunk)))
    file = b"BLIGHT1\n" + struct.pack("<II6Q", 1, 64, *[0] * 6)
    first = len(file)
    file += one if repeat else one * copies
    index = b"".join(struct.pack("<QII", first + (0 if repeat else i * len(one)), 5, 0)
                     for i in range(copies))
    end = len(file)
    return file + block(2, index) + struct.pack("<QQ", end, copies) + b"BLIGHT1\n"


if __name__ == "__main__":
    unittest.main()
