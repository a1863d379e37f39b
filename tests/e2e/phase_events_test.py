"""The events behind the breakdown add up to it: every phase of every process, CPU and GPU, of every
input that the tests have, by the tables alone."""
import collections
import csv
import io
import lzma
import pathlib
import tempfile
import unittest

from recorded import BATCHLIGHT, SOURCE, run

TESTS = pathlib.Path(SOURCE, "tests")
NSYS = TESTS / "recordings" / "nsys-2025.3"


def table(name, path):
    done = run(BATCHLIGHT, "table", name, "-f", "csv", path)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return list(csv.DictReader(io.StringIO(done.stdout)))


def number(row, name):
    column = next(key for key in row if key == name or key.startswith(name + " ("))
    return float(row[column]) if row[column] else None


class PhaseEvents(unittest.TestCase):
    def compare(self, path):
        """True: the input has steps."""
        events = table("phase_events", path)
        phases, parts = table("phases", path), table("gpu_parts", path)
        sums = collections.defaultdict(float)
        shares = collections.defaultdict(float)
        for row in events:
            key = (row["Rank"], row["PID"], row["Track"], row["Phase"])
            sums[key] += number(row, "Total")
            shares[key] += number(row, "Share")
            self.assertGreater(number(row, "Longest"), 0)
            self.assertLessEqual(number(row, "Longest"), number(row, "Total"))
            self.assertGreater(number(row, "Count per Step"), 0)
        for key, share in shares.items():
            self.assertAlmostEqual(share, 100, delta=0.6, msg=key)  # of numbers with two digits
        ours = sorted((rank, phase, total) for (rank, _, track, phase), total in sums.items() if track == "CPU")
        theirs = sorted((row["Rank"], row["Phase"], number(row, "Total")) for row in phases
                        if number(row, "Total") > 0)
        self.assertEqual(ours, theirs)
        ours = sorted((pid, track, phase, total) for (_, pid, track, phase), total in sums.items()
                      if track != "CPU")
        theirs = sorted((row["PID"], f'GPU {row["Device"]}', row["Part"], number(row, "Total")) for row in parts)
        self.assertEqual(ours, theirs)
        return bool(phases)

    def test_recordings(self):
        recordings = sorted((TESTS / "recordings").glob("*.batchlight"))
        with_steps = [path.stem for path in recordings if self.compare(path)]
        for name in ("h200_train", "h200_two_ranks", "h200_compile", "h200_tuned_gpt2"):
            self.assertIn(name, with_steps)

    def test_nsys_exports(self):
        packed = [NSYS / "train5.sqlite.xz", *sorted((NSYS / "captures").glob("*.sqlite.xz"))]
        with_steps = 0
        for path in packed:
            with self.subTest(path.name), tempfile.TemporaryDirectory() as folder:
                plain = pathlib.Path(folder, path.stem)
                plain.write_bytes(lzma.decompress(path.read_bytes()))
                with_steps += self.compare(plain)
        self.assertGreater(with_steps, 3)

    def test_kineto_trace(self):
        self.assertTrue(self.compare(TESTS / "kineto" / "training.json"))

    def test_a_run_without_steps_says_so(self):
        done = run(BATCHLIGHT, "table", "phase_events", TESTS / "recordings" / "version_1.batchlight")
        self.assertEqual(done.returncode, 0)
        self.assertIn("no rows: no step was found", done.stderr)


if __name__ == "__main__":
    unittest.main()
