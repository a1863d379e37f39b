"""python -m batchlight kernprof: kernprof's flags, for all threads. What it takes and we do not is
refused with a reason."""
import argparse
import json
import os
import sys

from ._lines_text import text_of_lines
from ._own_folder import OwnFolder, write_beside
from ._run import split, stats_of
from ._tool import Shown, ToolError, output_of, record, when_written

_PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_kernprof_program.py")


def _parser():
    parser = argparse.ArgumentParser(
        prog="batchlight kernprof", allow_abbrev=False,
        usage="batchlight kernprof [-l] [-b] [-o FILE] [-s SETUP] [-v] [-u UNIT] [-z] [-p MODULE,...] "
              "[--top N] [--top-of RUN] "
              "(script | -m module) [argument ...]",
        description="Runs a program and counts it as kernprof does. Flags of `batchlight profile` may "
                    "go in between, as --FLAG=VALUE.")
    add = parser.add_argument
    add("-l", "--line-by-line", action="store_true", help="time lines, of functions under @profile; "
        "without it calls of functions are counted")
    add("-b", "--builtin", action="store_true",
        help="count only what runs under @profile, `with profile:` or profile.enable()")
    add("-o", "--outfile", metavar="FILE", help="default: SCRIPT.lprof with -l, else SCRIPT.prof")
    add("-s", "--setup", metavar="FILE", help="Python file to run before, uncounted")
    add("-v", "--view", action="store_true", help="print the results too")
    add("-u", "--unit", type=float, default=1e-6, help="of printed times, in seconds (1e-6)")
    add("-z", "--skip-zero", action="store_true", help="print no functions that did not run")
    add("-p", "--prof-mod", action="append", default=[], metavar="MODULE,...",
        help="with -l: modules, functions, classes or files whose lines are timed too")
    add("--top", type=int, metavar="N", help="with -l: time the lines of the N functions of your own code that "
        "take most processor time by samples of a first run; the program runs twice")
    add("--top-of", metavar="RUN", help="take them from the samples of this recording; N is 5 unless --top says")
    add("-m", dest="module", metavar="MODULE", help="the program is a module")
    add("-r", "--rich", action="store_true", help=argparse.SUPPRESS)
    add("-i", "--output-interval", nargs="?", const=0, help=argparse.SUPPRESS)
    add("--prof-imports", action="store_true", help=argparse.SUPPRESS)
    return parser


def _refuse(parser, flags):
    if flags.rich:
        parser.error("-r: there are no colours; -v prints plain text, and `python -m line_profiler -r` "
                     "reads the file")
    if flags.output_interval is not None:
        parser.error("-i: a recording can be read while it is written: --output=NAME, then `batchlight "
                     "export -t lprof NAME.batchlight.live`")
    if flags.prof_imports:
        parser.error("--prof-imports: name the modules with -p")
    if flags.prof_mod and not flags.line_by_line:
        parser.error("-p needs -l")
    if (flags.top is not None or flags.top_of) and not flags.line_by_line:
        parser.error("--top needs -l")
    if flags.top is not None and flags.top < 1:
        parser.error("--top: a number of functions, 1 or more")


def _patterns(targets):
    """--lines of what -p names: a file, a module, or a function, class or method of one."""
    patterns = []
    for target in (one for targets in targets for one in targets.split(",") if one):
        if target.endswith(".py") or os.path.exists(target):
            path = os.path.abspath(target)
            patterns.append(path if path.endswith(".py") else path + "/*.py")
            continue
        patterns.append(target)
        parts = target.split(".")
        for at in range(1, len(parts)):
            module, name = ".".join(parts[:at]), ".".join(parts[at:])
            patterns += ["%s:%s" % (module, name), "%s:%s.*" % (module, name)]
    return patterns


def main(words):
    parser = _parser()
    flags, profile, program = split(parser, words)
    _refuse(parser, flags)
    if flags.module is None and not program:
        parser.error("no script to run")
    script = flags.module if flags.module is not None else program[0]
    out = flags.outfile or os.path.basename(script) + (".lprof" if flags.line_by_line else ".prof")
    if flags.module is None and not os.path.exists(script):
        parser.error("there is no %s" % script)
    with OwnFolder("batchlight_") as folder:
        recording = os.path.join(folder, "run.batchlight")
        for word in profile:
            if word.startswith("--output="):
                recording = word.partition("=")[2]
        if not recording.endswith(".batchlight"):
            recording += ".batchlight"
        def command(kind):
            return [sys.executable, _PROGRAM, kind, os.path.abspath(flags.setup) if flags.setup else "",
                    "-m" if flags.module is not None else "", script] + (
                        program if flags.module is not None else program[1:])
        top = _top(parser, flags, command("calls"), os.path.join(folder, "first.batchlight"))
        status = record(
            _flags(flags, profile, recording, top),
            command(_kind_of_lines(profile) if flags.line_by_line else
                    "regions" if flags.builtin else "calls"), recording)
        return when_written(lambda: _write(flags, recording, out), status, recording, folder, out)


_OWN_SHARE = 0.05


def _top(parser, flags, command, first):
    """Patterns of the functions that --top asks for."""
    if flags.top is None and not flags.top_of:
        return []
    if not flags.top_of:
        record(["--trace=python", "--pytorch=none", "--output=" + first], command, first)
    rows = json.loads(output_of("table", "python_samples", "-f", "json", flags.top_of or first).decode() or "[]")
    rows = [row for row in rows if row["Total CPU (ns)"] > 0 and _is_own(row["File"], row["Function"])]
    # Of a script that only calls its main function one line has all the time: nothing to be seen.
    rows = [row for row in rows if row["Function"] != "<module>"
            or row["Self CPU (ns)"] >= _OWN_SHARE * row["Total CPU (ns)"]] or rows
    rows.sort(key=lambda row: (-row["Total CPU (ns)"], -row["Self CPU (ns)"]))
    patterns = []
    for row in rows:
        pattern = "%s:%s" % (row["File"], row["Function"])
        if pattern not in patterns:
            patterns.append(pattern)
    if not patterns:
        parser.error("--top: samples found no function of your own code; -p names functions")
    return patterns[:flags.top or 5]


def _is_own(file, function):
    """Of the user's own code, in a file; not a comprehension, which is part of its function."""
    if not file.startswith("/") or not file.endswith(".py") or "," in file or file == _PROGRAM:
        return False
    if "-packages/" in file or "/lib/python3" in file or "/lib64/python3" in file:
        return False
    return not function.rpartition(".")[2].startswith("<") or function == "<module>"


def _kind_of_lines(profile):
    has_memory = any(word.startswith("--python-memory=") and not word.endswith("=none") for word in profile)
    return "memory" if has_memory else "lines"


def _flags(flags, profile, recording, top):
    words = ["--trace=python", "--pytorch=none", "--output=" + recording]
    if flags.line_by_line:
        words.append("--lines=" + ",".join(["@profile"] + _patterns(flags.prof_mod) + top))
    elif not flags.builtin:
        words.append("--python-trace=builtins")
    given = {word.partition("=")[0] for word in profile}
    return [word for word in words if word.partition("=")[0] not in given] + profile


def _write(flags, recording, out):
    kind = "lprof" if flags.line_by_line else "pstats"
    data = None
    if flags.view and not flags.line_by_line or not flags.outfile:
        data = output_of("export", "-q", "-t", kind, "-o", "-", recording)
    if flags.outfile:
        output_of("export", "-q", "-f", "-t", kind, "-o", out, recording)
    else:  # nobody named this file
        try:
            write_beside(out, data)
        except OSError as problem:
            raise ToolError("cannot write %s: %s; choose another place with -o" % (out, problem.strerror))
    print("Wrote profile results to %s" % out, file=Shown())
    if flags.line_by_line and flags.view:
        rows = json.loads(output_of("table", "python_lines", "-f", "json", recording).decode())
        print(text_of_lines(rows, flags.unit, flags.skip_zero), end="", file=Shown())
    elif flags.view:
        stats_of(data, stream=Shown()).print_stats()
