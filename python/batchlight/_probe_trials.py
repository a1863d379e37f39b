"""One trial of `batchlight probe loader`: the program runs under the profiler until it has seen enough
(_bridge/_probe_loader.py), and is ended then with all that it started."""
import json
import os
import re
import signal
import subprocess
import sys
import time

from ._own_folder import OwnFolder
from ._tool import find_tool

VARIABLE = "BATCHLIGHT_PROBE_LOADER"
BEGAN = "began"  # of _bridge/_probe_loader.py, which only the program imports
MODES = ("both", "loader", "training")


class TrialFailed(Exception):
    """The program gave no figure; the text says why and what to do."""


class Trial:
    """A plan and, once it ran, its result. Figures are of the steady part: the start is left out."""

    def __init__(self, mode, **changes):
        self.mode, self.changes = mode, {k: v for k, v in changes.items() if v is not None}
        self.result, self.recording_files = None, None

    def __getitem__(self, name):
        return self.result.get(name)

    @property
    def rate(self):
        """Samples a second."""
        return self["samples"] / self["active_s"] if self["active_s"] else 0.0

    @property
    def batch_s(self):
        return self["active_s"] / self["measured"] if self["measured"] else 0.0

    def cpu_s(self):
        """Processor time for a sample, of the main process and of its workers."""
        if not self["cpu_wall_s"] or not self["parts"]:
            return 0.0
        share = self["active_s"] / self["cpu_wall_s"]  # what ran between epochs is not of the samples
        workers = self["parts"]["cpu_s"] if self["workers"] else 0.0
        return (self["main_cpu_s"] + workers) * share / self["samples"]

    def body_s(self):
        """Seconds of the loop's body for a sample: all but the wait for the next batch."""
        return (self["active_s"] - self["wait_s"]) / self["samples"] if self["samples"] else 0.0

    def receive_s(self):
        """Processor time of the main process for a sample that workers made: taking it from them."""
        if not self["workers"] or not self["cpu_wall_s"]:
            return 0.0
        return self["main_cpu_s"] * self["active_s"] / self["cpu_wall_s"] / self["samples"]

    def part_s(self, name):
        """Seconds of one worker for a sample, by what it did."""
        parts = self["parts"] or {}
        count = parts.get("batches", 0) * self["samples"] / max(1, self["measured"])
        return parts.get(name, 0.0) / count if count else 0.0

    def text(self):
        names = {"workers": "workers", "prefetch": "prefetch", "pin": "pin_memory"}
        return ", ".join("%s %s" % (names[k], v) for k, v in self.changes.items() if k in names) or "as it is"


class Runner:
    """Runs trials of one command."""

    def __init__(self, command, seconds, steps, startup_s, say):
        self.command, self.seconds, self.steps, self.startup_s = command, seconds, steps, startup_s
        self.target, self._say, self._process = None, say, None
        self._own = OwnFolder("batchlight-probe-")
        self.folder = self._own.path

    def close(self):
        self._end()
        self._own.remove()

    def run(self, trial, recorded=False):
        """With `recorded` the files that it reads are recorded too."""
        with OwnFolder(trial.mode + "-", self.folder) as own:
            return self._run_in(own, trial, recorded)

    def _run_in(self, own, trial, recorded):
        plan = dict(trial.changes, mode=trial.mode, target=self.target, seconds=self.seconds, steps=self.steps,
                    folder=own, result=os.path.join(own, "result"))
        with open(os.path.join(own, "plan"), "w") as file:
            json.dump(plan, file)
        recording = os.path.join(own, "run.batchlight")
        words = [find_tool(), "profile", "--trace=" + ("nvtx,osrt" if recorded else "nvtx"), "--pytorch=none",
                 "--stats=false", "-f", "-o", recording, "--"] + self.command
        self._say("%s, %s" % ({"both": "loader and training", "loader": "loader alone",
                               "training": "training alone"}[trial.mode], trial.text()))
        trial.result = self._result_of(words, plan, own)
        if trial["target"] is not None and self.target is None:
            self.target = trial["target"]
        if recorded:
            trial.recording_files = _files_of(recording)
        self._check(trial)
        return trial

    def _result_of(self, words, plan, own):
        with open(os.path.join(own, "output"), "w+b") as output:
            self._process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                             env=dict(os.environ, **{VARIABLE: os.path.join(own, "plan")}),
                                             start_new_session=True)
            limit = time.monotonic() + self.startup_s
            status, result, gone, began = None, None, None, False
            while status is None and time.monotonic() < limit:
                if not began and os.path.exists(os.path.join(own, BEGAN)):
                    began, limit = True, limit + 4 * self.seconds
                try:
                    status = self._process.wait(0.05)
                except subprocess.TimeoutExpired:
                    # A launcher may wait for other ranks, which nobody tells to end. A program that ends by
                    # itself tells why by its exit code.
                    result = result or _read_result(plan["result"])
                    if result is not None and not result.get("ended"):
                        gone = gone or time.monotonic()
                        if time.monotonic() > gone + 20:
                            break
            self._end()
            result = result or _read_result(plan["result"])
            if result is not None and (status in (0, None) or result.get("batches")):
                return result
            output.seek(0)
            text = output.read().decode(errors="replace")
        if status is None and began:
            raise TrialFailed("the program's loader gave batches, but too few in %d s for a steady rate; --seconds gives "
                              "it longer. Its last lines:\n%s" % (self.startup_s + 4 * self.seconds, _last_lines(text)))
        if status is None:
            raise TrialFailed("the program did not come to its training loop within %d s; --startup gives it "
                              "longer. Its last lines:\n%s" % (self.startup_s, _last_lines(text)))
        raise TrialFailed("the program ended with exit code %d before the probe saw its training loop:\n%s"
                          % (status, _last_lines(text)))

    def _check(self, trial):
        if trial["problem"]:
            raise TrialFailed(trial["problem"])
        if not trial["batches"]:
            raise TrialFailed(
                "the program iterated no torch DataLoader: the probe measures loops over "
                "torch.utils.data.DataLoader, plain, in Lightning or in Trainer" if not trial["loaders"] else
                "the loop over the DataLoader got no batch")
        if not trial["measured"]:
            raise TrialFailed("the program has too few batches (%d) for a steady rate: give it more data or "
                              "smaller batches" % trial["batches"])

    def _end(self):
        process, self._process = self._process, None
        if process is None:
            return
        for number, wait_s in ((signal.SIGTERM, 10), (signal.SIGKILL, 10)):
            if process.poll() is None:
                _signal_group(process.pid, number)
                try:
                    process.wait(wait_s)
                except subprocess.TimeoutExpired:
                    pass
        _signal_group(process.pid, signal.SIGKILL)  # what it left behind


def _read_result(path):
    """None: there is none yet."""
    if not os.path.exists(path):
        return None
    with open(path) as file:
        return json.load(file)


def _signal_group(pid, number):
    try:
        os.killpg(pid, number)
    except (ProcessLookupError, PermissionError):
        pass


def _last_lines(text, count=12):
    """The program's last words: the profiler's own come after them, from the head of its summary."""
    text = re.split("^batchlight  .* events · ", text, maxsplit=1, flags=re.MULTILINE)[0]
    lines = [line for line in text.splitlines() if line.strip()]
    return "\n".join("    " + line for line in lines[-count:]) or "    (it wrote nothing)"


def _files_of(recording):
    """[(file, seconds of reads, bytes, reads)] of the data, or None where no reads are recorded."""
    done = subprocess.run([find_tool(), "table", "files", recording, "-f", "json"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        rows = json.loads(done.stdout)
    except ValueError:
        return None
    return [row for row in rows if is_data(str(_value(row, "file", "")))]


def _value(row, start, default=0):
    for name, value in row.items():
        if name.lower().startswith(start):
            return value
    return default


def reads_of(rows):
    """(seconds, bytes) of reads in all."""
    return (sum(float(_value(row, "read time") or 0) for row in rows) / 1e9,
            sum(int(_value(row, "bytes read") or _value(row, "read (bytes") or 0) for row in rows))


def is_data(file):
    """Files of the data set, as far as names tell."""
    return (file.startswith("/") and not file.startswith(("/proc/", "/sys/", "/dev/", "/usr/", "/etc/", "/lib/"))
            and not file.endswith((".py", ".pyc", ".so", ".pth", ".dist-info")) and "/site-packages/" not in file)


def interpreter(command):
    """train.py -> python3 train.py; anything else is a command of its own."""
    return [sys.executable] + command if command[0].endswith(".py") else command
