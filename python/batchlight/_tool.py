"""The program `batchlight`, for those parts of the package that need it."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile

from . import _private_folder

_HERE = os.path.dirname(os.path.abspath(__file__))


class ToolError(RuntimeError):
    """Why the program gave no answer; the text says what to do."""


def find_tool():
    """Beside this Python, beside this package (PREFIX/share/batchlight/python), on PATH."""
    beside_package = os.path.join(_HERE, *[os.pardir] * 4, "bin", "batchlight")
    for path in (os.path.join(os.path.dirname(sys.executable or ""), "batchlight"), beside_package):
        if os.path.isabs(path) and os.access(path, os.X_OK):
            return os.path.normpath(path)
    # Not where the present folder leads, which may be anybody's.
    places = os.environ.get("PATH", os.defpath).split(os.pathsep)
    found = shutil.which("batchlight", path=os.pathsep.join(filter(os.path.isabs, places)) or os.devnull)
    if not found:
        raise ToolError("the program `batchlight` is not on PATH: pip install batchlight, or add its folder")
    return found


def said(error):
    """What the program wrote on standard error, as the text of an exception."""
    lines = [line[len("batchlight: "):] if line.startswith("batchlight: ") else line
             for line in error.splitlines() if line.strip()]
    return "\n".join(lines) or "batchlight ended without a reason"


def for_terminal(name):
    """Without what acts on a terminal instead of being shown."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in name)


class Shown:
    """Standard output for names, and lines, of the program: on a terminal they do nothing but being shown."""

    def write(self, text):
        if sys.stdout is not None:
            if sys.stdout.isatty():
                text = "".join(letter if letter in "\n\t" else for_terminal(letter) for letter in text)
            sys.stdout.write(text)


# What is sent to whoever started a program reaches it: the profiler passes it on.
_PASSED_ON = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGINT")]


def _call(command, **options):
    """As subprocess.call(), and in the child's place for who signals this process. What a terminal sends to both
    comes to the profiler twice, which tells it apart."""
    child, early = None, []

    def pass_on(number, _):
        if child is None:
            early.append(number)
        else:
            child.send_signal(number)

    before = {number: signal.signal(number, pass_on) for number in _PASSED_ON
              if signal.getsignal(number) is not signal.SIG_IGN}
    try:
        child = subprocess.Popen(command, **options)
        for number in early:
            child.send_signal(number)
        return child.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def output_of(*words):
    """What the program prints, as bytes."""
    done = subprocess.run([find_tool()] + list(words), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        raise ToolError(said(done.stderr.decode(errors="replace")))
    return done.stdout


def record(flags, command, recording):
    """Runs a command under the profiler, without a word of the profiler's. Its exit status."""
    if sys.stdout is not None:  # it is None where whoever started us closed it
        sys.stdout.flush()
    # The command gets our standard error; what the tool says there is of use only if it fails.
    try:
        error = os.dup(2)
    except OSError:  # closed
        error = -1
    else:
        os.set_inheritable(error, True)
    try:
        if error < 0:
            status = _call([find_tool(), "profile"] + flags + ["--"] + command)
            if not os.path.exists(recording):
                raise ToolError("there is no recording; the lines above say why")
            return status
        with tempfile.TemporaryFile(dir=temporary_place()) as own:
            # No shell in between: those drop variables whose names they could not set themselves.
            status = _call([find_tool(), "profile"] + flags + ["--"] + command, stderr=own, close_fds=False,
                           env=dict(os.environ, BATCHLIGHT_PROGRAM_STDERR=str(error)))
            if not os.path.exists(recording):
                own.seek(0)
                raise ToolError(said(own.read().decode(errors="replace")))
            return status
    finally:
        if error >= 0:
            os.close(error)


def when_written(write, status, recording, folder, out):
    """Writes the results of a program that ended with `status`, and returns that. Where they cannot be written
    the recording is kept, and the status of a program that failed too."""
    try:
        write()
    except (ToolError, OSError) as problem:
        where = _kept(recording, out) if recording.startswith(folder) else recording
        text = "batchlight: %s; the recording is kept: %s" % (problem, where)
        if status == 0:
            sys.exit(text)
        if sys.stderr is not None:
            print(text, file=sys.stderr)
    return status


_said_of = []  # the place with a fault


def temporary_place():
    """The folder for what is there for a while. The first time that others could exchange what is made there, a line
    says so. Errors: ToolError."""
    try:
        place, fault = _private_folder.temporary_place()
    except _private_folder.NotPrivate as why:
        raise ToolError(str(why))
    if fault and not _said_of and sys.stderr is not None:
        print("batchlight: other users could exchange the temporary files in %s: %s; set TMPDIR to a folder where "
              "they cannot" % (place, fault), file=sys.stderr)
        _said_of.append(place)
    return place


def _kept(recording, out):
    """Where a recording in a temporary folder is now: in this one, or in one that stays. Nobody else may read it."""
    place = os.path.basename(out) + ".batchlight"
    try:
        target = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except OSError:
        target = -1
    if target >= 0:
        try:
            with open(recording, "rb") as source, open(target, "wb") as file:
                shutil.copyfileobj(source, file)
            return place
        except OSError:
            os.unlink(place)
    try:  # takes no room
        place = os.path.join(tempfile.mkdtemp(prefix="batchlight_kept_", dir=temporary_place()), "run.batchlight")
        os.rename(recording, place)
        return place
    except (OSError, ToolError) as problem:
        return "nowhere (%s)" % problem
