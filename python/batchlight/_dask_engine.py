"""The workers of a Dask cluster for `batchlight ... --engine dask:SCHEDULER`, which starts this with
the user's own `distributed`. Lines of JSON: the hosts of the workers first; then, for each line that
asks for a call of a program on a host, one with what it printed. Workers need nothing of ours but the
program: what they are given to run is subprocess.run."""
import json
import os
import stat
import subprocess
import sys
import threading
import time

_PATIENCE_S = 60  # until a first worker is there, and for one that is restarted
_lock = threading.Lock()


def _say(**message):
    with _lock:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


def _connect(scheduler):
    from distributed import Client
    # What may stand in a folder that others write is asked for no address that was given.
    if "://" not in scheduler and os.path.exists(scheduler):
        scheduler = _address_in(scheduler)
    return Client(scheduler, timeout=_PATIENCE_S)


def _address_in(path):
    """That of a scheduler's file, which decides who is trusted. It is read once: Dask would open the name again."""
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)) as file:
        state = os.fstat(file.fileno())
        if not stat.S_ISREG(state.st_mode):
            raise ValueError(path + " is no regular file")
        if state.st_uid not in (0, os.geteuid()):
            raise ValueError(path + " belongs to another user: give the scheduler's address")
        if state.st_mode & stat.S_IWOTH or state.st_mode & stat.S_IWGRP and not _is_group_of_one(state):
            raise ValueError("%s: other users may write it: chmod go-w" % path)
        for _ in range(10):
            try:
                file.seek(0)
                return json.load(file)["address"]
            except (KeyError, ValueError):  # it is being written
                time.sleep(0.1)
    raise ValueError(path + " names no scheduler")


def _is_group_of_one(state):
    """Whether the group is the user's own, as many systems give each one: its files have umask 002."""
    import grp
    import pwd
    try:
        group = grp.getgrgid(state.st_gid)
        owner = pwd.getpwuid(state.st_uid).pw_name
    except KeyError:
        return False
    return group.gr_name == owner and not set(group.gr_mem) - {owner}


def _slots(client):
    """{host: threads of its workers}."""
    try:
        info = client.scheduler_info(n_workers=-1)  # of later versions, which else list five
    except TypeError:
        info = client.scheduler_info()
    slots = {}
    for worker in info["workers"].values():
        slots[worker["host"]] = slots.get(worker["host"], 0) + worker["nthreads"]
    return slots


class _Calls:
    def __init__(self, client):
        self.client = client
        self.futures = {}  # call: (host, future); Dask forgets a future that nobody holds

    def begin(self, call, place, words):
        future = self.client.submit(subprocess.run, words, stdin=subprocess.DEVNULL,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                    workers=[place], allow_other_workers=False, pure=False)
        self.futures[call] = place, future
        future.add_done_callback(lambda done: self.end(call, done))

    def end(self, call, future):
        if self.futures.pop(call, None) is None:
            return
        try:
            done = future.result()
        except BaseException as problem:  # KilledWorker, CancelledError: Dask has tried more than once
            _say(call=call, failure="%s: %s" % (type(problem).__name__, problem))
            return
        failure = ""
        if done.returncode != 0:
            said = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
            failure = ": ".join(["exit code %d" % done.returncode] + said)
        _say(call=call, out=done.stdout.decode("ascii", "replace"), failure=failure)

    def watch(self):
        """Ends calls of hosts that are gone: Dask waits for these for ever."""
        missed = 0
        while True:
            time.sleep(1)
            try:
                hosts = _slots(self.client)
            except Exception as problem:
                _say(problem="the scheduler is gone: %s: %s" % (type(problem).__name__, problem))
                os._exit(1)  # main waits for a line of the tool
            gone = [call for call, (place, _) in list(self.futures.items()) if place not in hosts]
            missed = missed + 1 if gone else 0
            if missed <= _PATIENCE_S // 6:
                continue
            for call in gone:
                place, future = self.futures.pop(call, (None, None))
                if future is not None:
                    future.cancel()
                    _say(call=call, failure="%s has no worker any more" % place)


def main(words):
    try:
        client = _connect(words[0])
        client.wait_for_workers(1, timeout=_PATIENCE_S)
    except ImportError as problem:
        _say(problem="%s of %s: put the Python that has Dask's `distributed` first on PATH" % (problem, sys.executable))
        return 1
    except Exception as problem:
        _say(problem="%s: %s" % (type(problem).__name__, problem))
        return 1
    _say(places=_slots(client))
    calls = _Calls(client)
    threading.Thread(target=calls.watch, daemon=True).start()
    for line in sys.stdin:
        calls.begin(**json.loads(line))
    for _, future in list(calls.futures.values()):
        future.cancel()
    client.close()
    return 0
