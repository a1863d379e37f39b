"""A running `batchlight view` and what it answers, for tests."""
import http.client
import json
import os
import pathlib
import re
import struct
import subprocess
import time

from recorded import BATCHLIGHT, LONG_S, SOURCE

RECORDINGS = pathlib.Path(SOURCE, "tests", "recordings")
TRAIN = RECORDINGS / "h200_train.batchlight"


class Viewer:
    """A running `batchlight view`."""

    def __init__(self, *words, wait=True):
        self.tool = subprocess.Popen([BATCHLIGHT, "view", "--no-browser"] + [str(w) for w in words],
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                     universal_newlines=True)
        self.url = self.tool.stdout.readline().strip()
        if not self.url:
            raise AssertionError(self.tool.communicate()[1])
        found = re.match(r"http://127\.0\.0\.1:(\d+)/#token=([0-9a-f]{64})(.*)$", self.url)
        self.port, self.token, self.rest = int(found[1]), found[2], found[3]
        if wait and "--socket" not in words and "--idle" not in words:
            self.wait_until_read()

    def cpu_s(self):
        fields = pathlib.Path("/proc/%d/stat" % self.tool.pid).read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def wait_until_read(self):
        limit = time.time() + LONG_S
        while not all(run["ready"] for run in self.get("status")["runs"]):
            if time.time() > limit:
                raise AssertionError("reading never ends")
            time.sleep(0.05)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.tool.kill()
        self.tool.communicate()

    def ask(self, method, target, body=None, **headers):
        """(status, headers, bytes)"""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LONG_S)
        headers = {key.replace("_", "-"): value for key, value in headers.items()}
        connection.request(method, target, body, headers)
        answer = connection.getresponse()
        result = answer.status, dict(answer.getheaders()), answer.read()
        connection.close()
        return result

    def call(self, name, request=None, **headers):
        headers.setdefault("Authorization", "Bearer " + self.token)
        status, _, body = self.ask("POST", "/api/1/" + name, json.dumps(request or {}), **headers)
        return status, body

    def get(self, name, request=None):
        status, body = self.call(name, request)
        if status != 200:
            raise AssertionError("%s: %d %s" % (name, status, body))
        return body if name == "view" else json.loads(body)


def columns_of(body):
    """The answer of `view`, by the layout of docs/design/0016-timeline.md."""
    magic, version, flags, start, end, step, rows, items, samples, generation = struct.unpack_from(
        "<IHHqqqIIII", body)
    assert (magic, version) == (0x56544c42, 1)
    at = 48
    heads = [struct.unpack_from("<4I", body, at + 16 * i) for i in range(rows)]
    at += 16 * rows
    columns = {}
    for name, code, count in [(name, "I", items) for name in ("start", "width", "ref", "name", "count")] + [
            ("busy", "B", items), ("flags", "B", items), ("sample_start", "I", samples)] + [
                (name, "d", samples) for name in ("min", "max", "last")]:
        at = (at + 7) // 8 * 8
        columns[name] = struct.unpack_from("<%d%s" % (count, code), body, at)
        at += struct.calcsize("<%d%s" % (count, code))
    assert (at + 7) // 8 * 8 == len(body)
    return {"from": start, "to": end, "step": step, "rows": heads, "columns": columns, "changed": flags & 1}
