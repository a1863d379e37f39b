"""What the tests of the injected library share: arguments, a live folder per test, clients."""

import shutil
import sys
import unittest

from live_folder import LiveFolder

LIBRARY = ""
CLIENTS = []  # the same program, built with different NVTX headers


class InjectCase(unittest.TestCase):
    def session(self, **members):
        folder = LiveFolder(LIBRARY, **members)
        self.addCleanup(shutil.rmtree, folder.path, ignore_errors=True)
        return folder

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
