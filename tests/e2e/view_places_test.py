"""Where batchlight view opens: a step, moment or name that the recording lacks is said in the terminal, in one
line, and the timeline opens all the same."""
import pathlib
import tempfile
import unittest

from recorded import BATCHLIGHT, SOURCE, run

RECORDINGS = pathlib.Path(SOURCE, "tests", "recordings")
TRAIN = RECORDINGS / "h200_train.batchlight"


class ViewPlacesTest(unittest.TestCase):
    def said(self, *words, runs=(TRAIN,)):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder, "page.html")
            done = run(BATCHLIGHT, "view", "--html", page, *words, *runs)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(page.exists())
        return [line for line in done.stderr.splitlines() if line.startswith("WARNING: ")]

    def test_what_the_recording_lacks_is_said_in_one_line(self):
        for words, reason in ((["--step", "9999"], r" has no step 9999: its steps go from 0 to 7$"),
                              (["--at", "20s"], r" has nothing at 20s: its events lie between \d+\.\d{3} s and \d+\.\d{3} s$"),
                              (["--find", "AdamW.setp"], r' has no event with "AdamW.setp" in its name; did you mean .*AdamW\.step.*\?$'),
                              (["--find", "qqqqqqqqqqqq\x1b[2J"], r' in its name; the names with most time are "[^"]+", "[^"]+" and "[^"]+"$')):
            lines = self.said(*words)
            self.assertEqual(len(lines), 1, lines)
            self.assertIn(str(TRAIN), lines[0])
            self.assertRegex(lines[0], reason)
            self.assertNotIn("\x1b", lines[0])

    def test_what_is_there_needs_no_words(self):
        for words in (["--step", "3"], ["--at", "250ms"], ["--find", "adamw"], []):
            self.assertEqual(self.said(*words), [], words)


if __name__ == "__main__":
    unittest.main()
