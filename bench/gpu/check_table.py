"""The rows of check.py: one verdict each, printed as they come and as a table at the end."""
import json
import os
import re
import shlex
import subprocess
import sys

MET, NOT_MET, UNKNOWN = "met", "NOT MET", "not measured"
# How much of what nsys adds to a step of the launch preset may be added: with --pytorch=none, and as it is.
SHARE_OF_NSYS = {"none": 0.4, "defaults": 0.5}


def share_interval(row):
    """Of a row of overhead.py."""
    return f"{row['share_low']:.3f} to {row['share_high']:.3f}; " if row.get("share_low") is not None else ""


class Table:
    def __init__(self, only):
        self.only = re.compile(only)
        self.rows = []

    def wanted(self, *names):
        return any(self.only.search(name) for name in names)

    def add(self, name, aim, measured, met):
        """`met`: True, False, or None where nothing could be measured (`measured` says why)."""
        verdict = UNKNOWN if met is None else MET if met else NOT_MET
        self.rows.append({"name": name, "aim": aim, "measured": measured, "verdict": verdict})
        print(f"{verdict:13} {name}: {measured} (aim: {aim})", flush=True)

    def at_most(self, name, limit, value, unit="", detail=""):
        if value is None:
            return self.add(name, f"{limit}{unit}", detail or "no result", None)
        text = f"{value:.3f}{unit}" + (f", {detail}" if detail else "")
        self.add(name, f"at most {limit}{unit}", text, value <= limit)

    def show(self):
        widths = [max(len(row[key]) for row in self.rows) for key in ("verdict", "name", "aim")]
        print()
        for row in self.rows:
            print(f"{row['verdict']:{widths[0]}}  {row['name']:{widths[1]}}  {row['aim']:{widths[2]}}"
                  f"  {row['measured']}")
        counts = {verdict: sum(row["verdict"] == verdict for row in self.rows)
                  for verdict in (MET, NOT_MET, UNKNOWN)}
        print("\n" + ", ".join(f"{count} {verdict}" for verdict, count in counts.items()))
        return 1 if counts[NOT_MET] else 0

    def save(self, path):
        with open(path, "w") as file:
            json.dump(self.rows, file, indent=1)


class Done:
    """A command that was run: status, what it said."""

    def __init__(self, command, log, timeout=600, **variables):
        command = [str(word) for word in command]
        try:
            done = subprocess.run(command, env={**os.environ, **variables}, timeout=timeout, text=True,
                                  errors="replace", stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.status, self.text = done.returncode, done.stdout
        except subprocess.TimeoutExpired as expired:
            said = expired.stdout or ""
            self.text = said if isinstance(said, str) else said.decode(errors="replace")
            self.status = "timeout"
        except OSError as error:
            self.status, self.text = "not started", str(error)
        with open(log, "a") as file:
            file.write(f"$ {shlex.join(command)}\n{self.text}\n[exit {self.status}]\n\n")

    def find(self, pattern):
        found = re.search(pattern, self.text)
        return found[1] if found else None

    def last_line(self):
        return next((line for line in reversed(self.text.splitlines()) if line.strip()), "")


def first_existing(*paths):
    return next((path for path in paths if path and os.path.exists(path)), None)


def say(text):
    print(f"-- {text}", file=sys.stderr, flush=True)
