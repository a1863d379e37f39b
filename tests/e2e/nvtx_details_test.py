"""What a program says with NVTX beside the message (domain, category, color, payload), on ranges and
marks: in traces, tables and on the page."""
import csv
import io
import json
import lzma
import os
import pathlib
import shutil
import sqlite3
import tempfile
import unittest

from recorded import BATCHLIGHT, SOURCE, run
from trace_exports_test import fields

NV = pathlib.Path(SOURCE, "tests", "recordings", "nsys-2025.3", "captures", "nv.sqlite.xz")
MARK = {"Domain": "my domain", "Category": "cat seven", "Color": "#ff8000", "Payload": "-5"}


class NvtxDetails(unittest.TestCase):
    """nsys's capture of a C program, with what its marks lack added."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="bl_nvtx_")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.source = os.path.join(cls.folder, "nv.sqlite")
        pathlib.Path(cls.source).write_bytes(lzma.decompress(NV.read_bytes()))
        with sqlite3.connect(cls.source) as database:
            database.execute("UPDATE NVTX_EVENTS SET domainId = 1, category = 7, int64Value = -5, "
                             "color = 4294934528 WHERE eventType = 34 AND start < 362000000")
        database.close()

    def export(self, kind):
        path = pathlib.Path(self.folder, "out." + kind)
        done = run(BATCHLIGHT, "export", "-q", "-t", kind, "-o", path, self.source)
        self.assertEqual(done.returncode, 0, done.stderr)
        return path.read_bytes()

    def rows(self, table):
        done = run(BATCHLIGHT, "table", table, self.source, "-f", "csv")
        self.assertEqual(done.returncode, 0, done.stderr)
        return list(csv.DictReader(io.StringIO(done.stdout)))

    def test_chrome(self):
        events = json.loads(self.export("chrome"))["traceEvents"]
        of = lambda phase, name: [e.get("args", {}) for e in events
                                  if e["ph"] == phase and e["name"] == name]
        told = [{key: args.get(key) for key in MARK} for args in of("X", 'registered, "quoted"')]
        self.assertEqual(len(told), 5)
        self.assertEqual(told[1], {"Domain": "my domain", "Category": "cat seven",
                                   "Color": "#00ff01", "Payload": "1.5"})
        starts = of("b", 'registered, "quoted"')
        self.assertEqual(starts[2]["Payload"], "3")
        self.assertFalse(set(MARK) & set(of("X", "inner")[0]))
        marks = of("i", "mark, one")
        self.assertEqual(marks[0], MARK)
        self.assertEqual(marks[1], {})

    def test_perfetto(self):
        notes = []
        for _, packet in fields(self.export("perfetto")):
            for number, event in fields(packet):
                if number == 11:
                    texts = [dict(fields(value)) for field, value in fields(event) if field == 4]
                    notes.append({text[10].decode(): text[6].decode() for text in texts if 6 in text})
        self.assertIn({key.lower(): value for key, value in MARK.items()}, notes)
        self.assertEqual(sum(note.get("category") == "cat seven" for note in notes), 5 + 5 + 1)
        self.assertIn({"domain": "my domain", "category": "cat seven", "color": "#00ff01",
                       "payload": "1.5"}, notes)

    def test_tables(self):
        marks = self.rows("nvtx_marks")
        self.assertEqual(len(marks), 5)
        self.assertEqual({key: marks[0][key] for key in MARK}, MARK)
        self.assertEqual({key: marks[1][key] for key in MARK}, dict.fromkeys(MARK, ""))
        self.assertEqual({row["Message"] for row in marks}, {"mark, one"})
        ranges = {(row["Range"], row["Style"]): row for row in self.rows("nvtx_ranges")}
        told = ranges['registered, "quoted"', "PushPop"]
        self.assertEqual((told["Domain"], told["Category"], told["Color"], told["Payload"]),
                         ("my domain", "cat seven", "#00ff00", "0 to 6"))
        self.assertEqual(ranges["inner", "PushPop"]["Payload"], "")

    def test_columns_that_no_range_fills_are_left_out(self):
        plain = os.path.join(SOURCE, "tests", "recordings", "h200_train.batchlight")
        done = run(BATCHLIGHT, "table", "nvtx_ranges", plain, "-f", "csv")
        self.assertNotIn("Payload", done.stdout)

    def test_page(self):
        out = os.path.join(self.folder, "report")
        done = run(BATCHLIGHT, "report", "-o", out, self.source)
        self.assertEqual(done.returncode, 0, done.stderr)
        names = os.listdir(out)
        self.assertLessEqual({"nvtx_marks.csv", "nvtx_ranges.csv"}, set(names))
        page = pathlib.Path(out, "index.html").read_text()
        for said in ("NVTX marks", "mark, one", "cat seven", "#ff8000", "0 to 6"):
            self.assertIn(said, page)


if __name__ == "__main__":
    unittest.main()
