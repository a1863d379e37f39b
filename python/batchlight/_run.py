"""python -m batchlight run: the flags and the output of `python -m cProfile`, for all threads."""
import argparse
import marshal
import os
import sys

from ._own_folder import OwnFolder
from ._tool import output_of, record, when_written


def _parser():
    parser = argparse.ArgumentParser(
        prog="python -m batchlight run", allow_abbrev=False,
        usage="python -m batchlight run [-o FILE] [-s SORT] [--no-builtins] [--FLAG=VALUE ...] "
              "(script | -m module | -c code) [argument ...]",
        description="Counts every call of the program exactly and prints what cProfile would. Flags of "
                    "`batchlight profile` go in between, as --FLAG=VALUE; --output=FILE keeps the "
                    "recording.")
    parser.add_argument("-o", "--outfile", metavar="FILE", help="write statistics for pstats, print nothing")
    parser.add_argument("-s", "--sort", default="cumulative", help="order of the rows, a name of pstats: "
                        "calls, cumulative, time, filename, name, ... (cumulative)")
    parser.add_argument("--no-builtins", action="store_true", help="count functions of Python alone")
    parser.add_argument("-m", dest="module", metavar="MODULE", help="the program is a module")
    parser.add_argument("-c", dest="code", metavar="CODE", help="the program is text")
    return parser


def split(parser, words):
    """(flags of the parser, flags of `batchlight profile`, program with its arguments)"""
    own, profile, words = [], [], list(words)
    takes_value = {name for action in parser._actions if action.nargs != 0
                   for name in action.option_strings}
    known = {name for action in parser._actions for name in action.option_strings}
    while words and words[0].startswith("-") and words[0] != "-":
        word = words.pop(0)
        if word == "--":
            break
        if os.path.lexists(word):
            parser.error("%s is also the name of a file here, which `*` stands for: write ./* or -- * "
                         "for files" % word)
        name = word.partition("=")[0]
        short = not word.startswith("--") and len(word) > 2 and word[:2] in known
        if name not in known and not short:
            if not word.startswith("--"):
                parser.error("unknown flag %s" % word)
            profile.append(word)
            continue
        own.append(word)
        if word in takes_value and words:
            own.append(words.pop(0))
            if word in ("-m", "-c") and parser.prog.endswith("run"):
                break
    return parser.parse_args(own), profile, words


class _Counts:
    """What pstats.Stats takes in place of a profiler."""

    def __init__(self, stats):
        self.stats = stats

    def create_stats(self):
        pass


def stats_of(data, stream=None):
    """pstats.Stats of the bytes of a file for it: whoever may write beside a file may exchange it."""
    import pstats
    return pstats.Stats(_Counts(marshal.loads(data)), stream=stream)


def main(words):
    import pstats
    parser = _parser()
    flags, profile, program = split(parser, words)
    if flags.module is not None:
        program = ["-m", flags.module] + program
    elif flags.code is not None:
        program = ["-c", flags.code] + program
    elif not program:
        parser.error("no script to run")
    known = set(pstats.Stats().get_sort_arg_defs())
    if flags.sort not in known:
        parser.error("-s %s: one of %s" % (flags.sort, ", ".join(sorted(known))))
    with OwnFolder("batchlight_") as folder:
        recording = os.path.join(folder, "run.batchlight")
        kept = [word.partition("=")[2] for word in profile if word.startswith("--output=")]
        if kept:
            recording = kept[-1] if kept[-1].endswith(".batchlight") else kept[-1] + ".batchlight"
        given = {word.partition("=")[0] for word in profile}
        flags_of_tool = [flag for flag in (
            "--trace=python", "--pytorch=none", "--python-trace=" +
            ("functions" if flags.no_builtins else "builtins"), "--output=" + recording)
            if flag.partition("=")[0] not in given]
        status = record(flags_of_tool + profile, [sys.executable] + program, recording)

        def write():
            if flags.outfile:
                output_of("export", "-q", "-f", "-t", "pstats", "-o", flags.outfile, recording)
                return
            data = output_of("export", "-q", "-t", "pstats", "-o", "-", recording)
            stats_of(data).strip_dirs().sort_stats(flags.sort).print_stats()

        return when_written(write, status, recording, folder, flags.outfile or "run")
