"""What stands in the way of recording CUDA is said in the summary, and the program runs."""

import os
import subprocess
import tempfile
import unittest

BUILD = os.path.abspath(os.environ["BATCHLIGHT_BUILD"])
PROGRAM = os.path.join(BUILD, "bin", "batchlight")
TRAINING = os.path.join(BUILD, "test", "fake_training")


class Reasons(unittest.TestCase):
    def summary(self, **faults):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [PROGRAM, "profile", "-t", "cuda", "-o", os.path.join(folder, "run"), "--",
                 TRAINING, "launches=100", "end=exit"],
                env=dict(os.environ, **faults), text=True, timeout=100,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("seconds=", done.stdout, "the program ran to its end")
        return " ".join(done.stderr.split())

    def test_all_is_well(self):
        self.assertNotIn("! cuda:", self.summary())

    def test_another_profiler(self):
        self.assertIn("! cuda: another profiler uses CUPTI in this process",
                      self.summary(FAKE_CUPTI_SUBSCRIBE="39"))

    def test_no_permission(self):
        self.assertIn("! cuda: the driver lets only administrators profile",
                      self.summary(FAKE_CUPTI_ENABLE="35"))

    def test_too_old(self):
        self.assertIn("! cuda: CUPTI is older than CUDA 12.0: update CUDA",
                      self.summary(FAKE_CUPTI_VERSION="18"))

    def test_too_new(self):
        self.assertIn("! cuda: CUPTI is newer than CUDA 13",
                      self.summary(FAKE_CUPTI_VERSION="140000"))


if __name__ == "__main__":
    unittest.main()
