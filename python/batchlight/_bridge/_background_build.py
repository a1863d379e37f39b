"""Builds a library for the program without holding it up: it waits a minute at most.

The compiler is started by a shell that is no child of the program. What is not ready in time goes on
beside the program, and is there for the next run. One process builds: the shell keeps the lock that
the process took, and the others, this run's ranks and later runs, see it.
"""
import os
import time

from ._standard import standard


def _wait_s():
    try:
        return float(os.environ["BATCHLIGHT_BUILD_WAIT"])
    except (KeyError, ValueError):
        return 60


WAIT_S = _wait_s()  # for a build, this process's or another's
LONGEST_S = 600  # of one call of the compiler, which is ended then
REMEMBER_S = 3600  # a build that failed is not tried again so long


class NotBuilt(Exception):
    """Why, as the end of a sentence for people."""


class Build:
    """`commands`: tried in turn, each makes `library` + ".part". `key`: a failure is that of the same
    key only; a line that changes when the compiler does."""

    def __init__(self, library, commands, key):
        self.library = library
        self.part = library + ".part"
        self.commands = commands
        self.key = key
        folder = os.path.dirname(library)
        self.log = os.path.join(folder, "build.log")
        self.lock = os.path.join(folder, "lock")

    def wait(self, is_built, starts, environment):
        """Returns when is_built() is true. `starts`: called if this process begins the build."""
        end = time.monotonic() + WAIT_S
        begun = False
        while not is_built():
            if self.has_failed():
                raise NotBuilt("it could not be built (see %s)" % self.log)
            lock, is_sure = self._try_lock()
            if lock is not None and not begun:
                with lock:
                    if is_built():
                        return
                    starts()
                    self._start(lock, environment)
                begun = True
            elif lock is not None:
                lock.close()
                if is_sure and not is_built() and not self.has_failed():
                    raise NotBuilt("its build was ended")
            if time.monotonic() > end:
                raise NotBuilt("it was not ready after %d s: the build goes on, for the next run"
                               % WAIT_S)
            if lock is None and not begun and self._age_s() > WAIT_S:
                raise NotBuilt("its build has gone on for %d s already: it is for a later run"
                               % self._age_s())
            time.sleep(0.02)

    def has_failed(self):
        """Whether these tools failed a short while ago: for another rank, or in an earlier run."""
        try:
            with open(self.log) as file:
                same = file.readline().rstrip("\n") == self.key
            return same and time.time() - os.stat(self.log).st_mtime < REMEMBER_S
        except (OSError, ValueError):
            return False

    def _try_lock(self):
        """The locked file, or None if another process has it; and whether that is sure, which it is
        not on a file system without locks."""
        fcntl = standard("fcntl")
        file = open(self.lock, "a")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return file, True
        except BlockingIOError:
            file.close()
            return None, True
        except OSError:
            return file, False

    def _age_s(self):
        try:
            return time.time() - os.stat(self.lock).st_mtime
        except OSError:
            return 0

    def _start(self, lock, environment):
        subprocess = standard("subprocess")
        os.utime(self.lock)
        # Its own session: Ctrl-C is for the program. The outer shell ends at once. In the library's folder: in
        # the present one others may have put what a compiler looks for.
        shell = subprocess.Popen(
            ["/bin/sh", "-c", "(%s) &" % self._script()], env=environment, pass_fds=[lock.fileno()],
            cwd=os.path.dirname(self.library),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True)
        try:
            shell.wait(WAIT_S)
        except subprocess.TimeoutExpired:
            pass

    def _script(self):
        shlex, shutil = standard("shlex"), standard("shutil")
        limit = "timeout -k 10 %d " % LONGEST_S if shutil.which("timeout") else ""
        said = ["%s.log%d" % (self.part, i) for i in range(len(self.commands))]
        tries = ["%s%s >%s 2>&1" % (limit, " ".join(map(shlex.quote, command)), shlex.quote(log))
                 for command, log in zip(self.commands, said)]
        names = dict(part=shlex.quote(self.part), library=shlex.quote(self.library),
                     key=shlex.quote(self.key), log=shlex.quote(self.log),
                     first=shlex.quote(said[0]), said=" ".join(map(shlex.quote, said)),
                     tries=" || ".join(tries))
        return ("umask 077; if {tries}; then rm -f {said}; mv -f {part} {library}; "
                "else printf '%s\\n' {key} >{part}; cat {first} >>{part}; rm -f {said}; "
                "mv -f {part} {log}; fi".format(**names))
