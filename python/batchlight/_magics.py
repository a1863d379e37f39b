"""%load_ext batchlight: %lprun, with the flags of line_profiler's, and %prun's for all threads."""
import getopt
import importlib
import sys

from .exact import Profile


class NoFunction(ValueError):
    pass


def register(shell):
    def lprun(line, cell=None):
        """%lprun -f FUNCTION [-f ...] [-m MODULE] [-r] [-s] [-z] [-u UNIT] [-T FILE] STATEMENT

        Times every line of these functions while the statement runs, on all threads.
        -f  a function, method or class            -m  all functions of a module
        -T  write the text to this file            -u  unit of the times in seconds (1e-6)
        -z  without functions that did not run     -r  return the Profile
        """
        return _lprun(shell, line, cell)

    def cprun(line, cell=None):
        """%cprun [-l LIMIT] [-s KEY] [-D FILE] [-q] [-r] STATEMENT: %prun's flags, for all threads."""
        return _cprun(shell, line, cell)

    for magic in (lprun, cprun):
        shell.register_magic_function(magic, "line_cell")


def _lprun(shell, line, cell):
    flags, statement = _parse(line, "rszf:m:T:u:")
    functions = [_evaluated(shell, value) for name, value in flags if name == "-f"]
    for name, value in flags:
        if name == "-m":
            module = importlib.import_module(value)
            functions += [member for member in vars(module).values()
                          if getattr(member, "__module__", None) == module.__name__]
    if not functions:
        raise NoFunction("%lprun needs -f FUNCTION or -m MODULE")
    chosen = dict(flags)
    profile = Profile(builtins=False, lines=functions)
    _run(shell, profile, statement, cell)
    text = _written(lambda out: profile.print_lines(
        float(chosen.get("-u", 1e-6)), "-z" in chosen, out))
    if "-T" in chosen:
        with open(chosen["-T"], "w", encoding="utf-8") as file:
            file.write(text)
        print("*** Profile printout saved to text file %r." % chosen["-T"])
    sys.stdout.write(text)
    return profile if "-r" in chosen else None


def _cprun(shell, line, cell):
    import pstats
    flags, statement = _parse(line, "qrl:s:D:")
    chosen = dict(flags)
    profile = Profile()
    _run(shell, profile, statement, cell)
    if "-D" in chosen:
        profile.dump_stats(chosen["-D"])
    if "-q" not in chosen:
        stats = pstats.Stats(profile).strip_dirs().sort_stats(
            *[value for name, value in flags if name == "-s"] or ["time"])
        stats.print_stats(*[_limit(value) for name, value in flags if name == "-l"])
    return profile if "-r" in chosen else None


def _limit(text):
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def _parse(line, letters):
    try:
        flags, rest = getopt.getopt(line.split(" "), letters)
    except getopt.GetoptError as error:
        raise NoFunction(str(error)) from None
    return flags, " ".join(rest)


def _evaluated(shell, name):
    try:
        return eval(name, shell.user_ns)
    except Exception as error:
        raise NoFunction("-f %s: %s: %s" % (name, type(error).__name__, error)) from None


def _run(shell, profile, statement, cell):
    code = compile("\n".join(part for part in (statement, cell) if part), "<lprun>", "exec")
    try:
        profile.runctx(code, shell.user_ns, shell.user_ns)
    except SystemExit:
        print("*** SystemExit exception caught in code being profiled.")
    except KeyboardInterrupt:
        print("*** KeyboardInterrupt exception caught in code being profiled.")


def _written(write):
    import io
    out = io.StringIO()
    write(out)
    return out.getvalue()
