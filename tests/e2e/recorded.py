"""Runs the batchlight program and reads what it recorded through `batchlight trace dump`."""
import collections
import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("BATCHLIGHT_BUILD", os.path.join(SOURCE, "build", "dev"))
BATCHLIGHT = os.path.join(BUILD, "bin", "batchlight")
FAULT_PROGRAM = os.path.join(BUILD, "test", "fault_program")

LONG_S = 60  # a loaded machine may leave a program without a processor for seconds

Record = collections.namedtuple("Record", "kind pid tid fields")


def run(*words, **options):
    """subprocess.run, text, output captured, with a limit."""
    for stream in ("stdout", "stderr"):
        options.setdefault(stream, subprocess.PIPE)
    options.setdefault("stdin", subprocess.DEVNULL)
    options.setdefault("timeout", 2 * LONG_S)
    return subprocess.run([str(word) for word in words], universal_newlines=True, **options)


def mount_namespaces_work():
    return run("unshare", "-rm", "true").returncode == 0


# What a command says where others could exchange its temporary files.
SHARED_PLACE = re.compile("batchlight: other users could exchange the temporary files in .*\n")


def run_where_all_write_tmp(*words, **options):
    """Runs a command in a folder of its own of a /tmp of mode 0777, as containers get one as a volume."""
    return run("unshare", "-rm", "sh", "-c",
               'mount -t tmpfs -o mode=0777 none /tmp && mkdir -m 0700 /tmp/mine && cd /tmp/mine && exec "$@"',
               "sh", *words, **options)


def why_no_samples():
    """Why the processors cannot be sampled here; None if they can."""
    done = run(BATCHLIGHT, "doctor", "-f", "json")
    (check,) = [row for row in json.loads(done.stdout) if row["area"] == "CPU samples"]
    return None if check["finding"] == "ok" else check["what"]


# Runs its arguments under a seccomp filter that refuses perf_event_open, as a container's profile does.
REFUSE_PERF = """
import ctypes, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
NUMBER = {"x86_64": 298, "aarch64": 241}[os.uname().machine]
code = b"".join(struct.pack("HBBI", *i) for i in (
    (0x20, 0, 0, 0), (0x15, 0, 1, NUMBER), (0x06, 0, 0, 0x00050000 | 1), (0x06, 0, 0, 0x7fff0000)))
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, ctypes.byref(Program(4, code))) == 0
os.execv(sys.argv[1], sys.argv[1:])
"""


def on_terminal(columns, *words, **environment):
    """(exit code, output) of the tool where stdout is a terminal of so many columns."""
    main, other = pty.openpty()
    subprocess.run(["stty", "cols", str(columns), "rows", "50"], stdin=other, check=True)
    tool = subprocess.Popen([BATCHLIGHT] + [str(word) for word in words], stdout=other, stdin=other,
                            stderr=subprocess.DEVNULL,
                            env=dict({"TERM": "xterm", "LC_ALL": "C.UTF-8"}, **environment))
    os.close(other)
    output, limit = b"", time.time() + LONG_S
    while time.time() < limit:
        if not select.select([main], [], [], 1)[0]:
            continue
        try:
            piece = os.read(main, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        output += piece
    os.close(main)
    return tool.wait(LONG_S), output.decode().replace("\r", "")


def dump(path):
    """Every record of a recording, sealed or live."""
    done = run(BATCHLIGHT, "trace", "dump", path, errors="surrogateescape")
    if done.returncode != 0:
        raise AssertionError("trace dump %s: %s" % (path, done.stderr))
    records, pid, tid = [], 0, 0
    for line in done.stdout.splitlines():
        if line.startswith("chunk "):
            fields = fields_of(line)
            pid, tid = int(fields["pid"]), int(fields["tid"])
        elif line.startswith("+"):
            words = line.split(" ", 2)
            records.append(Record(words[1], pid, tid, fields_of(words[2]) if words[2:] else {}))
    return records


def fields_of(text):
    return {key: quoted if value.startswith('"') else value
            for key, value, quoted in re.findall(r'(\w+)=("((?:[^"\\]|\\.)*)"|\S+)', text)}


def count(records, kind, pid=None):
    return sum(1 for r in records if r.kind == kind and pid in (None, r.pid))


def statuses(records):
    """{pid: wait status} of the processes whose end is known."""
    return {int(r.fields["pid"]): int(r.fields.get("wait_status", 0))
            for r in records if r.kind == "ProcessStatus" and r.fields.get("known") == "1"}


class InFolder(unittest.TestCase):
    """A test in an empty folder, with sessions of its own. What it started is gone when it ends,
    however it ends."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="batchlight-e2e-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.runtime = tempfile.mkdtemp(prefix="batchlight-run-")
        self.addCleanup(shutil.rmtree, self.runtime, ignore_errors=True)
        self.environment = dict(os.environ, XDG_RUNTIME_DIR=self.runtime)
        self.addCleanup(self.kill_processes)

    def table(self, name, *flags):
        """Rows of a table of run.batchlight: {title without unit: value}."""
        done = self.batchlight("table", name, "-f", "json", *flags, "run.batchlight")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = json.loads(done.stdout) if done.stdout.strip() else []
        return [{re.sub(r" \(.*\)$", "", key): value for key, value in row.items()} for row in rows]

    def processes(self):
        """The pids of this test's tools and programs, known by their runtime folder."""
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/environ" % pid, "rb") as environ:
                    if os.fsencode("XDG_RUNTIME_DIR=" + self.runtime) in environ.read():
                        yield int(pid)
            except OSError:
                continue  # ended meanwhile, or somebody else's

    def kill_processes(self):
        for pid in self.processes():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass  # ended meanwhile

    def begin(self, *words, **options):
        """A tool that runs beside the test."""
        for stream in ("stdin", "stdout", "stderr"):
            options.setdefault(stream, subprocess.DEVNULL)
        tool = subprocess.Popen([BATCHLIGHT] + [str(word) for word in words], cwd=self.folder,
                                env=self.environment, universal_newlines=True, **options)

        def end():
            self.kill_processes()
            for stream in (tool.stdin, tool.stdout, tool.stderr):
                if stream:
                    stream.close()
            tool.wait(LONG_S)

        self.addCleanup(end)
        return tool

    def until(self, condition, what):
        """Waits until the condition holds; `what` to say if it does not come to that."""
        end = time.monotonic() + LONG_S
        while not condition():
            self.assertLess(time.monotonic(), end, what)
            time.sleep(0.01)

    def batchlight(self, *words, **options):
        options.setdefault("cwd", self.folder)
        options.setdefault("env", self.environment)
        return run(BATCHLIGHT, *words, **options)

    def profile(self, *words, **options):
        return self.batchlight("profile", "-t", "none", "--pytorch=autograd-nvtx", *words, **options)

    def path(self, name):
        return os.path.join(self.folder, name)

    def text(self, name):
        """What a file holds; nothing while it is not there."""
        try:
            with open(self.path(name)) as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def files(self):
        return sorted(os.listdir(self.folder))

    def opens(self, name="report1.batchlight"):
        """The records, after a look that the summary works too."""
        done = self.batchlight("summary", name)
        self.assertEqual(done.returncode, 0, done.stderr)
        return dump(self.path(name))
