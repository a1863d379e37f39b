"""What the readers of cProfile's, kernprof's and speedscope's files say of ours, as JSON:
python_counts.py FILE.pstats FILE.lprof FILE.speedscope. Runs in the readers' environment."""
import io
import json
import pstats
import sys

import gprof2dot
import line_profiler
import snakeviz.stats
from runsnakerun import pstatsloader, speedscopeloader


def of_pstats(path):
    text = io.StringIO()
    stats = pstats.Stats(path, stream=text).strip_dirs().sort_stats("cumulative")
    stats.print_stats("counted_program").print_callers("fib").print_callees("fib")
    rows = pstats.Stats(path).stats.items()
    return {"text": text.getvalue(),
            "functions": {"%s:%d(%s)" % key: [calls, primitive, round(own * 1e9), round(total * 1e9)]
                          for key, (primitive, calls, own, total, _) in rows}}


def of_snakeviz(path):
    stats = pstats.Stats(path)
    return {"rows": {row[6]: row[0][1] for row in snakeviz.stats.table_rows(stats)},
            "drawn": snakeviz.stats.json_stats(stats)}


def of_gprof2dot(path):
    profile = gprof2dot.PstatsParser(path).parse()
    dot = io.StringIO()
    gprof2dot.DotWriter(dot).graph(profile, gprof2dot.TEMPERATURE_COLORMAP)
    functions = profile.functions
    return {"dot": dot.getvalue(),
            "called": {function.name: function.called for function in functions.values()},
            "calls": [[caller.name, functions[call.callee_id].name]
                      for caller in functions.values() for call in caller.calls.values()]}


def of_line_profiler(path):
    stats = line_profiler.load_stats(path)
    text = io.StringIO()
    line_profiler.show_text(stats.timings, stats.unit, stream=text)
    return {"timings": [[*function, lines] for function, lines in stats.timings.items()],
            "unit": stats.unit, "text": text.getvalue()}


def of_runsnakerun(counts, stacks):
    loader = pstatsloader.PStatsLoader(counts)
    root = loader.get_root("functions")  # of several threads one that it makes itself
    rows = [row for row in loader.get_rows("functions").values()
            if isinstance(row, pstatsloader.PStatRow)]
    profiles = speedscopeloader.SpeedScopeFile(filename=stacks).profiles
    return {"rows": {"%s:%d(%s)" % row.key: [row.recursive, row.calls] for row in rows},
            "calls": [["%s:%d(%s)" % row.key, "%s:%d(%s)" % child.key] for row in rows
                      for child in row.children],
            "outermost": [child.name for child in root.children],
            "profiles": [{"name": profile.name, "unit": profile.unit, "total": profile.root.cumulative,
                          "end": profile.endValue,
                          "outermost": {place.name: place.cumulative for place in profile.roots}}
                         for profile in profiles]}


counts, lines, stacks = sys.argv[1:]
json.dump({"runsnakerun": of_runsnakerun(counts, stacks), "pstats": of_pstats(counts), "snakeviz": of_snakeviz(counts),
           "gprof2dot": of_gprof2dot(counts), "line_profiler": of_line_profiler(lines)}, sys.stdout)
