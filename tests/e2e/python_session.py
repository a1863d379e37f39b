"""A Python program under the injected library, without the tool, and what it recorded."""
import os
import shutil
import subprocess
import sys

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(SOURCE, "tests", "inject"))
from live_folder import LiveFolder  # noqa: E402

BUILD = os.environ.get("BATCHLIGHT_BUILD", os.path.join(SOURCE, "build", "dev"))
LIBRARY = os.path.join(BUILD, "lib", "libbatchlight_inject.so")
PYTHON_PATH = os.path.join(BUILD, "share", "batchlight", "python")

NVTX, PYTHON, MODULES, OPERATORS, SHAPES = 1, 2, 4, 8, 16
ALL = NVTX | PYTHON | MODULES | OPERATORS


class PythonSession(LiveFolder):
    """`with PythonSession() as session: session.run(python, "-c", ...); session.events(...)`."""

    def __init__(self, trace=ALL, python_path=PYTHON_PATH, **members):
        super().__init__(LIBRARY, trace=trace, python_path=python_path, **members)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)

    def run(self, *command, env=None, **options):
        for stream in ("stdout", "stderr"):
            options.setdefault(stream, subprocess.PIPE)
        options.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.run([str(part) for part in command], text=True,
                              env=dict(self.environment(), **(env or {})),
                              timeout=options.pop("timeout", 300), **options)

    def events(self, *kinds):
        """The records of every process, thread by thread, in order; of these kinds if given."""
        return [record for process in self.processes() for record in process.records(*kinds)]

    def properties(self):
        return {record.key: record.value for record in self.events("Property")}

    def reasons(self):
        return [(record.feature, record.text) for record in self.events("Reason")]


def alone(*command, env=None, **options):
    """The same program without us."""
    return subprocess.run(
        [str(part) for part in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, timeout=300, env=dict(os.environ, **(env or {})),
        **options)
