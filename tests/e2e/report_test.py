"""batchlight report as a user types it: what lies in the folder, that its numbers are nsys's own, and
what is said when something is in the way."""
import csv
import json
import lzma
import os
import pathlib
import re
import struct
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = os.path.join(os.environ["BATCHLIGHT_BUILD"], "bin", "batchlight")
RECORDINGS = ROOT / "tests" / "recordings" / "nsys-2025.3"


def report(*arguments, cwd=None):
    return subprocess.run([PROGRAM, "report", *map(str, arguments)], capture_output=True, text=True,
                          cwd=cwd)


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.reader(file))


class ReportTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.input = cls.folder / "train5.sqlite"
        cls.input.write_bytes(lzma.decompress((RECORDINGS / "train5.sqlite.xz").read_bytes()))
        done = report(cls.input)
        assert done.returncode == 0, done.stderr
        cls.stdout = done.stdout
        cls.out = cls.folder / "train5_report"

    def test_the_folder_is_named_after_the_input(self):
        self.assertEqual(self.stdout.strip(), str(self.out / "index.html"))
        left = [path.name for path in self.folder.iterdir() if "partial" in path.name]
        self.assertEqual(left, [])

    def test_summaries_are_those_of_nsys(self):
        for name, expected in (("gpukernsum", "cuda_gpu_kern_sum"), ("cudaapisum", "cuda_api_sum")):
            ours = rows_of(self.out / f"{name}.csv")
            theirs = rows_of(RECORDINGS / "expected" / f"train5_{expected}.csv")
            self.assertEqual(ours[0], theirs[0])
            self.assertEqual(len(ours), len(theirs))
            for mine, nsys in zip(ours[1:], theirs[1:]):
                self.assertEqual(mine[-1], nsys[-1])
                self.assertEqual([float(cell) for cell in mine[:-1]],
                                 [float(cell) for cell in nsys[:-1]])

    def test_phases_add_up_to_the_step(self):
        header, *rows = rows_of(self.out / "steps.csv")
        first = header.index("Duration (ns)") + 1
        self.assertGreater(len(header), first + 2)
        for row in rows:
            self.assertEqual(sum(int(cell or 0) for cell in row[first:]), int(row[first - 1]))

    def test_names_are_real_and_numbers_have_units(self):
        text = (self.out / "README_snippet.md").read_text()
        self.assertIn("`sum_functor · reduce_kernel`", text)
        self.assertRegex(text, r"A step takes [\d.]+ ms")
        self.assertNotIn("(arb)", text)
        names = [row[0] for row in rows_of(self.out / "kernels.csv")[1:]]
        self.assertTrue(any(name.startswith("void at::native::reduce_kernel<") for name in names))

    def test_pictures_are_pictures(self):
        for name in ("top10.png", "top10_kernels.png"):
            data = (self.out / name).read_bytes()
            self.assertEqual(data[:8], b"\x89PNG\r\n\x1a\n")
            width, height = struct.unpack(">II", data[16:24])
            self.assertEqual(width, 1800)
            self.assertGreater(height, 300)

    def test_the_page_holds_its_data(self):
        html = (self.out / "index.html").read_text()
        data = re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.S)[1]
        page = json.loads(data)
        self.assertEqual(page["title"], "train.py")
        self.assertEqual(len(page["training"][0]["tracks"]), 2)
        self.assertIn("launch-bound", [finding["rule"] for finding in page["advice"]])
        for table in page["tables"]:
            self.assertEqual(len(rows_of(self.out / table["csv"])) - 1, table["total_rows"])

    def test_memory_over_time(self):
        """A run on an H200 with --cuda-memory-usage: one curve for each kind of memory."""
        out = self.folder / "memory"
        recording = RECORDINGS.parent / "h200_memory.batchlight"
        self.assertEqual(report("-o", out, recording).returncode, 0)
        html = (out / "index.html").read_text()
        data = re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.S)[1]
        curves = {curve["title"].split(", ")[1]: curve
                  for curve in json.loads(data)["gpu"]["memory"]}
        mib = 1 << 20
        self.assertEqual(curves["pinned memory"]["peak_bytes"], 3 * mib)
        self.assertEqual(curves["managed memory"]["bytes"], [5 * mib, 0])
        device = curves["device memory"]
        self.assertEqual(device["peak_bytes"], 207140952)
        self.assertEqual(max(device["bytes"]), device["peak_bytes"])
        self.assertIn(1071144 + 10 * mib, device["bytes"])

    def test_nothing_is_overwritten_unasked(self):
        again = report(self.input)
        self.assertEqual(again.returncode, 4)
        self.assertIn("-f", again.stderr)
        note = self.out / "notes.txt"
        note.write_text("mine")
        self.assertEqual(report("-f", self.input).returncode, 0)
        self.assertEqual(note.read_text(), "mine")

    def test_errors_name_the_path(self):
        for arguments, code in (((self.folder / "absent.batchlight",), 3), ((ROOT / "LICENSE",), 3),
                                (("-o", "/proc/no/report", self.input), 4),
                                (("-o", self.input, self.input), 4), ((), 2),
                                (("--no-such-flag", self.input), 2)):
            done = report(*arguments)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertEqual(done.stdout, "")
            if code > 2:
                self.assertIn(str(arguments[-1 if code == 3 else 1]), done.stderr)

    def test_two_reports_are_compared_on_a_page(self):
        page = self.folder / "diff.html"
        done = subprocess.run([PROGRAM, "diff", "-f", "html", "-o", page, self.input, self.input],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('"kind":"diff"', page.read_text())


if __name__ == "__main__":
    unittest.main()
