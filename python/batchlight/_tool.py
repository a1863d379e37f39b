"""The program `batchlight`, for those parts of the package that need it."""
import os
import shutil
import subprocess
import sys
import tempfile

_LAST_OF_SHELL = 9  # descriptors with two digits are not every shell's

_HERE = os.path.dirname(os.path.abspath(__file__))


class ToolError(RuntimeError):
    """Why the program gave no answer; the text says what to do."""


def find_tool():
    """Beside this Python, beside this package (PREFIX/share/batchlight/python), on PATH."""
    beside_package = os.path.join(_HERE, *[os.pardir] * 4, "bin", "batchlight")
    for path in (os.path.join(os.path.dirname(sys.executable or ""), "batchlight"), beside_package):
        if os.access(path, os.X_OK):
            return os.path.normpath(path)
    found = shutil.which("batchlight")
    if not found:
        raise ToolError("the program `batchlight` is not on PATH: pip install batchlight, or add its folder")
    return found


def said(error):
    """What the program wrote on standard error, as the text of an exception."""
    lines = [line for line in error.splitlines() if line.strip()]
    return "\n".join(lines) or "batchlight ended without a reason"


def output_of(*words):
    """What the program prints, as bytes."""
    done = subprocess.run([find_tool()] + list(words), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        raise ToolError(said(done.stderr.decode(errors="replace")))
    return done.stdout


def record(flags, command, recording):
    """Runs a command under the profiler, without a word of the profiler's. Its exit status."""
    sys.stdout.flush()
    # The command gets our standard error; what the tool says there is of use only if it fails.
    error = os.dup(2)
    os.set_inheritable(error, True)
    try:
        if error > _LAST_OF_SHELL:  # both go to ours then
            status = subprocess.call([find_tool(), "profile"] + flags + ["--"] + command)
            if not os.path.exists(recording):
                raise ToolError("there is no recording; the lines above say why")
            return status
        with tempfile.TemporaryFile() as own:
            status = subprocess.call(
                [find_tool(), "profile"] + flags +
                ["--", "/bin/sh", "-c", 'exec "$0" "$@" 2>&%d %d>&-' % (error, error)] + command,
                stderr=own, close_fds=False)
            if not os.path.exists(recording):
                own.seek(0)
                raise ToolError(said(own.read().decode(errors="replace")))
            return status
    finally:
        os.close(error)
