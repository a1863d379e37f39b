"""Programs that forbid themselves calls of the kernel, which the recorder in them then cannot make either."""
import os
import re
import signal
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from recorded import FAULT_PROGRAM, SOURCE, InFolder, count, run  # noqa: E402

WARM_UP = 10  # operators that every mode of the program records first


class TheProgramConfinesItself(InFolder):
    def test_seccomp_strict(self):
        done = self.profile(FAULT_PROGRAM, "strict", 50)
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertEqual(count(self.opens(), "OpEnd"), WARM_UP + 50)
        self.assertIn("seccomp's strict mode", done.stderr)

    def test_a_seccomp_filter_that_kills_the_recorder(self):
        self.assertEqual(run(FAULT_PROGRAM, "forbids", 100_000).returncode, 0)
        done = self.profile(FAULT_PROGRAM, "forbids", 100_000)
        self.assertEqual(done.returncode, 128 + signal.SIGSYS, done.stderr)
        self.assertIn("SIGSYS, likely a seccomp filter", done.stderr)
        self.assertGreaterEqual(count(self.opens(), "OpEnd"), WARM_UP)
        again = self.profile("-o", "of-a-child", "sh", "-c", FAULT_PROGRAM + " forbids 100000; true")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual(again.stderr.count("likely a seccomp filter"), 1, again.stderr)
        without = self.profile("-o", "without", "env", "-u", "LD_PRELOAD", FAULT_PROGRAM, "forbids",
                               100_000)
        self.assertEqual(without.returncode, 0, without.stderr)

    def listed(self):
        """The recorder's calls as docs/security.md has them: (in every program, in some)."""
        with open(os.path.join(SOURCE, "docs", "security.md")) as file:
            text = file.read()
        lists = re.search(r"  - always: (.*?)\n  - (with Python.*?)\n- ", text, re.DOTALL)
        return [set(re.findall(r"`([a-z0-9_]+)`", part)) for part in lists.groups()]

    def test_a_filter_that_lets_the_listed_calls_through(self):
        own = ("brk clone clone3 exit exit_group futex madvise mmap mprotect munmap rseq rt_sigaction "
               "rt_sigprocmask set_robust_list wait4")
        self.environment["CALLS"] = own
        self.assertEqual(run(FAULT_PROGRAM, "confined", 100_000, env=self.environment).returncode, 0)
        always, _ = self.listed()
        self.environment["CALLS"] += " " + " ".join(always)
        done = self.profile(FAULT_PROGRAM, "confined", 100_000)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("SIGSYS", done.stderr)
        self.assertGreaterEqual(count(self.opens(), "OpEnd"), 200_000)
        # Each is there for a reason. The second is of a child's first ones.
        for missing in ("fallocate", "getppid"):
            self.environment["CALLS"] = " ".join(always - {missing}) + " " + own
            done = self.profile("-f", FAULT_PROGRAM, "confined", 100_000)
            self.assertIn("SIGSYS", done.stderr, missing)

    def test_all_of_the_recorders_calls_are_listed(self):
        of_the_program = set("clock_gettime execve exit_group setpgid setresuid setreuid setsid setuid wait4 waitid".split())
        made = set()
        for folder, _, names in os.walk(os.path.join(SOURCE, "src", "inject")):
            for name in names:
                if name.endswith((".cpp", ".h")) and not name.endswith("_test.cpp") and "testing" not in folder:
                    with open(os.path.join(folder, name)) as file:
                        made |= set(re.findall(r"\bSYS_([a-z0-9_]+)", file.read()))
        always, some = self.listed()
        self.assertEqual(made - of_the_program, always | some)


if __name__ == "__main__":
    unittest.main()
