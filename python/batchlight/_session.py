"""The recorder in a process that was not started under it: a notebook, or a script that profiles a
part of itself. A program that does nothing is started under `batchlight profile`, and this process
joins its session: it loads the library and calls what the library waits for.

The counts lie in a file that is readable at every moment; the tool reads it (`functions`, `lines`)."""
import atexit
import contextlib
import json
import marshal
import os
import signal
import subprocess
import sys

from ._own_folder import OwnFolder
from ._tool import ToolError, find_tool, output_of

_IDLE = 'echo "$BATCHLIGHT_SESSION_DIR"; echo "$LD_PRELOAD"; read -r end'
_VARIABLE = "BATCHLIGHT_SESSION_DIR"

_folder = None  # of the session that this process is in


def join():
    """After this the bridge is here, and what it counts is in folder()."""
    global _folder
    if _folder is None:
        try:
            import _batchlight_native  # noqa: F401  the program runs under the profiler
            _folder = os.environ[_VARIABLE]
        except (ImportError, KeyError):
            _folder = _start()


def functions():
    """What was counted so far, as cProfile has it: {(file, line, name): (primitive calls, calls, own
    s, total s, {caller: (calls, primitive calls, own s, total s)})}."""
    return marshal.loads(_read(b"{0", "export", "-q", "-t", "pstats", "-o", "-"))


def lines():
    """The rows of `table python_lines`."""
    return json.loads(_read(b"[]", "table", "python_lines", "-f", "json").decode())


def _read(nothing, *words):
    try:
        return output_of(*words + (_folder,))
    except ToolError as error:
        if "were counted" in str(error):
            return nothing
        raise


def _start():
    home = OwnFolder("batchlight_")
    tool = subprocess.Popen(
        [find_tool(), "profile", "-t", "python", "--pytorch=none", "-o", os.path.join(home.path, "session"),
         "/bin/sh", "-c", _IDLE],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        start_new_session=True)  # Ctrl+C is for the program
    atexit.register(_end, tool, home, os.getpid(), _identity(tool.stdin.fileno()))
    folder, libraries = (os.fsdecode(tool.stdout.readline().strip()) for _ in range(2))
    library = [path for path in libraries.replace(":", " ").split() if "libbatchlight_inject" in path]
    if not library:
        tool.stdin.close()
        raise ToolError(tool.stderr.read().decode(errors="replace") or "batchlight profile did not start")
    _load(folder, library[0])
    return folder


def _load(folder, library):
    import ctypes
    before = os.environ.get(_VARIABLE)
    os.environ[_VARIABLE] = folder
    try:
        ctypes.CDLL(library)
    finally:
        if before is None:
            del os.environ[_VARIABLE]
        else:
            os.environ[_VARIABLE] = before
    sys.audit("cpython.run_command", "")  # what an interpreter says that starts
    if "_batchlight_native" not in sys.modules:
        raise ToolError("the recorder does not work in this Python %s: `batchlight doctor` says why" %
                        sys.version.split()[0])


def _identity(fd):
    info = os.fstat(fd)
    return info.st_dev, info.st_ino


def _ask_to_end(pipe, identity):
    """Closing it would not: a child that lives on holds its end as well."""
    fd = pipe.fileno()
    if _identity(fd) != identity:  # the program has closed it, and opened something else
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGPIPE})
    try:
        os.write(fd, b"\n")
    except BrokenPipeError:
        if signal.SIGPIPE not in before:  # that signal is ours
            signal.sigtimedwait({signal.SIGPIPE}, 0)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end(tool, home, pid, identity):
    if os.getpid() != pid:  # a forked child's exit
        return
    with contextlib.suppress(OSError, ValueError):  # it is gone, or never began
        _ask_to_end(tool.stdin, identity)
    for pipe in (tool.stdin, tool.stdout, tool.stderr):
        pipe.close()
    try:
        tool.wait(60)
    except subprocess.TimeoutExpired:
        tool.kill()
        tool.wait()
    home.remove()
