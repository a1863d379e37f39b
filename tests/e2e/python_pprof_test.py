#!/usr/bin/env python3
"""export -t pprof --stacks=...: samples and memory of a program, as a reader of protobuf and Go's pprof read
them: the same sums as the folded stacks, by function, file and line."""
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import pprof_file  # noqa: E402
from recorded import InFolder  # noqa: E402

MB = 1 << 20
PROGRAM = """\
import time

def burn():
    end = time.thread_time() + 1
    while time.thread_time() < end: pass

def hold():
    return [bytes(1 << 20) for _ in range(30)]

def pass_by():
    for _ in range(50):
        bytes(1 << 20)

held = hold()
pass_by()
burn()
"""


class Pprof(InFolder):
    def setUp(self):
        super().setUp()
        self.program = self.path("program.py")
        with open(self.program, "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        done = self.batchlight("profile", "-t", "python", "--pytorch=none", "--python-memory=exact", "-o", "run",
                               sys.executable, self.program)
        self.assertEqual(done.returncode, 0, done.stderr)

    def exported(self, stacks):
        """The profile, and the sum of the folded stacks."""
        path = self.path(stacks + ".pb")
        done = self.batchlight("export", "-q", "-f", "-t", "pprof", "--stacks=" + stacks, "-o", path,
                               "run.batchlight")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        done = self.batchlight("export", "-q", "-t", "folded", "--stacks=" + stacks, "-o", "-",
                               "run.batchlight")
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(path, "rb") as file:
            profile = pprof_file.Profile(file.read())
        folded = done.stdout.splitlines()
        self.assertEqual(profile.total(), sum(int(line.rpartition(" ")[2]) for line in folded))
        self.assertEqual(len(profile.samples), len(folded))
        self.assertTrue(all("thread" in labels for _, _, labels in profile.samples))
        return path, profile

    def bytes_of(self, profile, function):
        return sum(values[0] for stack, values, _ in profile.samples
                   if any(name.rpartition(".")[2] == function and file == self.program
                          for name, file, _ in stack))

    def test_stacks_of_one_recording(self):
        for check in (self.check_memory_at_the_peak, self.check_allocations, self.check_samples,
                      self.check_what_is_refused):
            with self.subTest(check=check.__name__):
                check()

    def check_memory_at_the_peak(self):
        _, profile = self.exported("memory")
        self.assertEqual(profile.types, [["inuse_space", "bytes"]])
        self.assertAlmostEqual(self.bytes_of(profile, "hold"), 30 * MB, delta=MB)
        self.assertLess(self.bytes_of(profile, "pass_by"), 2 * MB)
        lines = {line for stack, _, _ in profile.samples for name, file, line in stack
                 if file == self.program and name == "hold"}
        self.assertIn(8, lines)

    def check_allocations(self):
        path, profile = self.exported("allocations")
        self.assertEqual(profile.types, [["alloc_space", "bytes"]])
        self.assertAlmostEqual(self.bytes_of(profile, "hold"), 30 * MB, delta=MB)
        self.assertAlmostEqual(self.bytes_of(profile, "pass_by"), 50 * MB, delta=MB)
        if pprof_file.PPROF:
            top = pprof_file.shown(self, path, "-top", "-cum", "-unit=B")
            self.assertIn("Type: alloc_space\n", top)
            self.assertRegex(top, r" pass_by\n")

    def check_samples(self):
        path, profile = self.exported("python-samples")
        self.assertEqual(profile.types, [["time", "nanoseconds"]])
        burned = [stack for stack, _, _ in profile.samples if ("burn", self.program) in
                  {(name, file) for name, file, _ in stack}]
        self.assertTrue(burned)
        self.assertEqual({stack[-1][:2] for stack in burned}, {("<module>", self.program)})
        if pprof_file.PPROF:
            lines = pprof_file.shown(self, path, "-top", "-lines", "-unit=ns", "-nodefraction=0")
            self.assertIn(" of %dns total" % profile.total(), lines)
            self.assertIn(" burn %s:" % self.program, lines)

    def check_what_is_refused(self):
        done = self.batchlight("export", "-t", "pprof", "--stacks=calls", "run.batchlight")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("--stacks=python", done.stderr)
        done = self.batchlight("export", "-t", "pprof", "run.batchlight")  # of operators: there are none
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("--python-lines=gpu", done.stderr)
        self.assertIn("--stacks=python-samples", done.stderr)
        self.batchlight("profile", "-o", "unsampled", "true")
        done = self.batchlight("export", "-t", "pprof", "unsampled.batchlight")
        self.assertIn("--python-lines=gpu", done.stderr)
        self.assertNotIn("samples", done.stderr)  # that has none


if __name__ == "__main__":
    unittest.main()
