"""What the tests of the injected library share: arguments, a live folder per test, clients."""

import functools
import sys
import unittest

from live_folder import LiveFolder

LIBRARY = ""  # empty: it is part of the clients, which are built with a sanitizer
CLIENTS = []  # the same program, built with different NVTX headers
NVTX_KINDS = ("RangePush", "RangePushEx", "RangePop", "RangePopDomain", "RangeStart", "RangeEnd",
              "Mark", "PayloadBlob", "PopPayload")


def needs_library(test):
    """For tests that other programs than the clients take part in, or that sanitizers cannot run."""

    @functools.wraps(test)
    def run(self):
        if not LIBRARY:
            self.skipTest("not with a sanitizer")
        test(self)

    return run


class InjectCase(unittest.TestCase):
    def session(self, **members):
        return LiveFolder(LIBRARY, **members)

    def run_client(self, folder, *arguments, client=0, status=0, **options):
        """Runs a client to its end; its output lines."""
        done = folder.run(CLIENTS[client], *map(str, arguments), capture_output=True, **options)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(done.stderr, b"")
        return done.stdout.decode().splitlines()

    def only_process(self, folder):
        processes = folder.processes()
        self.assertEqual(len(processes), 1, [process.path for process in processes])
        return processes[0]


def main():
    global LIBRARY, CLIENTS
    LIBRARY, *CLIENTS = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
