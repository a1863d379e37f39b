"""Runs the batchlight program and reads what it recorded through `batchlight trace dump`."""
import collections
import os
import re
import shutil
import subprocess
import tempfile
import unittest

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("BATCHLIGHT_BUILD", os.path.join(SOURCE, "build", "dev"))
BATCHLIGHT = os.path.join(BUILD, "bin", "batchlight")
FAULT_PROGRAM = os.path.join(BUILD, "test", "fault_program")

Record = collections.namedtuple("Record", "kind pid tid fields")


def run(*words, **options):
    """subprocess.run, text, output captured, with a limit."""
    for stream in ("stdout", "stderr"):
        options.setdefault(stream, subprocess.PIPE)
    options.setdefault("stdin", subprocess.DEVNULL)
    options.setdefault("timeout", 120)
    return subprocess.run([str(word) for word in words], universal_newlines=True, **options)


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
    """A test in an empty folder, with sessions of its own."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="batchlight-e2e-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.runtime = tempfile.mkdtemp(prefix="batchlight-run-")
        self.addCleanup(shutil.rmtree, self.runtime, ignore_errors=True)
        self.environment = dict(os.environ, XDG_RUNTIME_DIR=self.runtime)

    def batchlight(self, *words, **options):
        options.setdefault("cwd", self.folder)
        options.setdefault("env", self.environment)
        return run(BATCHLIGHT, *words, **options)

    def profile(self, *words, **options):
        return self.batchlight("profile", "-t", "none", "--pytorch=autograd-nvtx", *words, **options)

    def path(self, name):
        return os.path.join(self.folder, name)

    def files(self):
        return sorted(os.listdir(self.folder))

    def opens(self, name="report1.batchlight"):
        """The records, after a look that the summary works too."""
        done = self.batchlight("summary", name)
        self.assertEqual(done.returncode, 0, done.stderr)
        return dump(self.path(name))
