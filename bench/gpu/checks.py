"""Checks of a script: a line each; whatever fails, the next one runs."""
import csv
import glob
import re
import shutil
import subprocess
import time

failed, skipped = [], []
started = time.time()
only = ""  # a pattern: other checks are left out


def check(name, least_s=0, limit_s=None):
    """A decorator: the function returns what is wrong. With a limit it is left out where less than `least_s` are left."""
    def run(function):
        if not re.search(only, name):
            return
        if limit_s is not None and limit_s - (time.time() - started) < least_s:
            print(f"SKIPPED: {name}: less than {least_s} s are left", flush=True)
            skipped.append(name)
            return
        print(f"== {name}", flush=True)
        begin = time.time()
        try:
            wrong = function()
        except Exception as error:  # the next one is tried all the same
            wrong = f"{type(error).__name__}: {error}"
        print(f"{'FAILED' if wrong else 'ok'}: {name} ({time.time() - begin:.1f} s)"
              f"{': ' + str(wrong) if wrong else ''}", flush=True)
        if wrong:
            failed.append(name)
    return run


def ncu(words, *flags, timeout=200):
    """Nsight Compute's rows, each a dictionary, of a program that has caches and clocks as they are."""
    found = shutil.which("ncu") or next(iter(sorted(glob.glob("/opt/nvidia/nsight-compute/*/ncu"), reverse=True)), None)
    if found is None:
        raise RuntimeError("ncu is not installed")
    done = subprocess.run([found, "--clock-control", "none", "--cache-control", "none", "--csv", *flags, *words],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=timeout)
    lines = [line for line in done.stdout.splitlines() if line.startswith('"')]
    if not lines:
        raise RuntimeError(f"ncu says nothing, exit {done.returncode}: {(done.stdout + done.stderr)[-500:]}")
    return list(csv.DictReader(lines))
