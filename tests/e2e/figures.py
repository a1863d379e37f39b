"""Collects the figures of a run by name from everything that shows them: the terminal's summary, its
JSON, the page's data, the snippet and the CSV files."""
import csv
import decimal
import json
import pathlib
import re

from recorded import BATCHLIGHT, run

TIMES = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}
NUMBER = r"[\d,]+(?:\.\d+)?"


def shown(text):
    """"1,284.5 µs", "51.4 %", "12.0 steps/min" -> (value in ns, %, steps/s; what a last digit is worth)."""
    match = re.match(rf"({NUMBER})\s*(\S*)", text)
    digits = match[1].replace(",", "")
    factor = {**TIMES, "steps/min": 1 / 60}.get(match[2], 1)
    decimals = len(digits.partition(".")[2])
    return float(digits) * factor, factor * 10.0 ** -decimals


def fixed(value, decimals):
    """A number with so many decimals, ties away from zero."""
    return str(decimal.Decimal(value).quantize(decimal.Decimal(1).scaleb(-decimals),
                                               decimal.ROUND_HALF_UP))


class Views:
    """All that batchlight says about `path`; the report goes into `folder`."""

    def __init__(self, path, folder):
        self.folder = pathlib.Path(folder)
        self.text = self.of("summary", path)
        self.json = json.loads(self.of("summary", "--json", path))
        self.of("report", "-f", "-o", self.folder, path)
        html = (self.folder / "index.html").read_text()
        self.page = json.loads(re.search(
            r'<script type="application/json" id="data">(.*?)</script>', html, re.S)[1])
        self.snippet = (self.folder / "README_snippet.md").read_text()

    @staticmethod
    def of(*words):
        done = run(BATCHLIGHT, *words, env={"LC_ALL": "C.UTF-8"})
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        return done.stdout

    def csv(self, name):
        """Rows with the units cut from the names of the columns; none where there is no such file."""
        path = self.folder / f"{name}.csv"
        if not path.exists():
            return []
        with open(path, newline="") as file:
            rows = list(csv.DictReader(file))
        return [{re.sub(r" \([^)]*\)$", "", key): cell for key, cell in row.items()} for row in rows]

    def section(self, title):
        """The lines of the summary below a heading that begins with `title`, with the heading."""
        lines = self.text.splitlines()
        for start, line in enumerate(lines):
            if not line.startswith(title):
                continue
            end = start + 1
            while end < len(lines) and lines[end].startswith("  "):
                end += 1
            return lines[start:end]
        return []

    def table(self, title):
        """{header: cell} of every row of a table of the summary; the name is under ""."""
        lines = self.section(title)
        if not lines:
            return []
        heads = re.split(r"\s{2,}", lines[0].strip())[1:]
        rows = []
        for line in lines[1:]:
            cells = re.split(r"\s{2,}", re.sub(r"[▏▎▍▌▋▊▉█]+", " ", line).strip())
            if len(cells) == len(heads) + 1:
                rows.append(dict(zip(["", *heads], cells)))
        return rows

    def snippet_table(self, title):
        """Rows of the table of the snippet whose header has a cell that begins with `title`."""
        lines = self.snippet.splitlines()
        for start, line in enumerate(lines):
            if not line.startswith("|") or not any(
                    cell.strip().startswith(title) for cell in line.split("|")):
                continue
            rows = []
            for row in lines[start + 2:]:
                if not row.startswith("|"):
                    return rows
                cells = re.split(r"(?<!\\)\|", row)[1:-1]
                rows.append([cell.strip() for cell in cells])
            return rows
        return []

    def top(self, key):
        """A top list of the page; None: it has none."""
        return next((top for top in self.page["tops"] if top["key"] == key), None)

    def figure(self, name, whose=None):
        for row in self.csv("figures"):
            if row["Figure"] == name and whose in (None, row["Whose"]):
                return float(row["Value"])
        return None
