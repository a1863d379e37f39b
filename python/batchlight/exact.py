"""Functions and lines of a part of the program, counted exactly, with or without `batchlight profile`.

    from batchlight import exact
    with exact.Profile() as profile:
        train()
    profile.print_stats("cumulative")

Profile, run and runctx have the names and arguments of cProfile's, so `import batchlight.exact as
cProfile` works too; unlike cProfile they count all threads. (batchlight.Profile is another one: the
nvtx package's, which makes ranges.)
"""
import os
import sys

from . import _session
from ._codes import codes_of
from ._lines_text import text_of_lines

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_running = None  # Profile


class Profile:
    """cProfile.Profile. `lines`: functions whose lines are timed too, as line_profiler does."""

    def __init__(self, builtins=True, lines=()):
        self._builtins = builtins
        self._codes = set().union(*(codes_of(function) for function in lines)) if lines else set()
        self._sums = {}
        self._line_sums = {}  # (function, line) -> row
        self.stats = {}

    def enable(self):
        global _running
        if _running is not None:
            raise ValueError("another Profile is enabled: one at a time")
        _session.join()
        from _batchlight._bridge import _exact, _exact_lines
        if not hasattr(sys, "monitoring") and sys.getprofile() is not None:
            raise ValueError("another profiler has this thread's profile function (before Python 3.12 "
                             "there is one)")
        self._before = _exact.counted
        self._functions = _session.functions() if self._before is not None else {}
        self._lines = _session.lines() if self._codes and self._before is not None else []
        patterns = self._before.lines if self._before else ()
        if self._codes:
            _exact_lines.decorated.update(self._codes)
            patterns += (_exact_lines.DECORATED,)
        _running = self
        self._exact = _exact
        _exact.count(_exact.Wanted(calls=True, builtins=self._builtins, lines=patterns))

    def disable(self):
        global _running
        if _running is not self:
            return
        self._exact.count(self._before or self._exact.Wanted())
        _running = None
        _add(self._sums, _difference(_session.functions(), self._functions))
        if self._codes:
            self._add_lines(_session.lines())

    def __enter__(self):
        self.enable()
        return self

    def __exit__(self, *_):
        self.disable()

    def create_stats(self):
        """For pstats.Stats(profile)."""
        self.disable()
        self.stats = dict(self._sums)

    def sort_stats(self, *keys):
        import pstats
        return pstats.Stats(self).sort_stats(*keys)

    def print_stats(self, sort=-1):
        keys = sort if isinstance(sort, tuple) else (sort,)
        import pstats
        pstats.Stats(self).strip_dirs().sort_stats(*keys).print_stats()

    def dump_stats(self, file):
        import marshal
        self.create_stats()
        with open(file, "wb") as out:
            marshal.dump(self.stats, out)

    def print_lines(self, unit=1e-6, skip_zero=False, stream=None):
        """The lines of `lines`, as line_profiler prints them."""
        self.disable()
        (stream or sys.stdout).write(text_of_lines(self.line_rows(), unit, skip_zero))

    def line_rows(self):
        return [self._line_sums[key] for key in sorted(self._line_sums)]

    def run(self, statement):
        import __main__
        return self.runctx(statement, vars(__main__), vars(__main__))

    def runctx(self, statement, globals, locals):
        with self:
            exec(statement, globals, locals)
        return self

    def runcall(self, function, *arguments, **named):
        with self:
            return function(*arguments, **named)

    def _add_lines(self, rows):
        before = {(row["Function"], row["Line #"]): row for row in self._lines}
        places = {(code.co_filename, code.co_firstlineno) for code in self._codes}
        for row in rows:
            key = row["Function"], row["Line #"]
            path, _, rest = row["Function"].rpartition(":")
            if (path, int(rest.partition("(")[0])) not in places:
                continue
            sums = self._line_sums.setdefault(key, dict(row, **{"Hits": 0, "Time (ns)": 0}))
            for column in ("Hits", "Time (ns)"):
                sums[column] += (row[column] or 0) - (before.get(key, {}).get(column) or 0)


def _ours(function):
    return function[0].lstrip("<").startswith(_PACKAGE)  # the recorder is not counted


def _minus(values, others):
    return tuple(a - b for a, b in zip(values, others))


_NOTHING = (0, 0, 0, 0)


def _difference(after, before):
    """What came since, without ourselves and what we called."""
    result = {}
    for function, (primitive, calls, own, total, callers) in after.items():
        was = before.get(function, _NOTHING + ({},))
        if calls == was[1] or _ours(function):
            continue
        values = _minus((primitive, calls, own, total), was)
        by = {}
        for caller, made in callers.items():
            made = _minus(made, was[4].get(caller, _NOTHING))
            if made[0] and _ours(caller):
                values = _minus(values, (made[1], made[0], made[2], made[3]))
            elif made[0]:
                by[caller] = made
        if values[1] > 0:
            result[function] = values + (by,)
    return result


def _add(sums, more):
    for function, values in more.items():
        if function in sums:
            known = sums[function]
            callers = dict(known[4])
            for caller, made in values[4].items():
                callers[caller] = tuple(map(sum, zip(callers.get(caller, (0, 0, 0, 0)), made)))
            values = tuple(map(sum, zip(known[:4], values[:4]))) + (callers,)
        sums[function] = values


def run(statement, filename=None, sort=-1):
    """cProfile.run: runs a statement in __main__; prints, or writes for pstats."""
    import __main__
    runctx(statement, vars(__main__), vars(__main__), filename, sort)


def runctx(statement, globals, locals, filename=None, sort=-1):
    profile = Profile()
    try:
        profile.runctx(statement, globals, locals)
    except SystemExit:
        pass
    if filename is not None:
        profile.dump_stats(filename)
    else:
        profile.print_stats(sort)
