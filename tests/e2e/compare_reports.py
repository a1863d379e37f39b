#!/usr/bin/env python3
"""Compares the reports of batchlight with files that `nsys` wrote for the same database.

A folder of expectations is named like its database and holds what nsys printed with
`-o FOLDER/<group>`: <group>_<report>[_<argument>...][_<filter>].<ext>. The group says which options
nsys ran with (GROUPS); the report and its arguments are read off the name.

    compare_reports.py DATABASE.sqlite FOLDER [--program batchlight] [--lines 6] [--all]
prints every report that differs with its first differing lines, and exits 1 if one does.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

# Options of nsys by group.
GROUPS = {
    "s": ["stats", "-f", "csv"],
    "us": ["stats", "-f", "csv", "--timeunit", "usec"],
    "ft": ["stats", "-f", "csv", "--filter-time", "500ms/1500ms"],
    "fn": ["stats", "-f", "csv", "--filter-nvtx", "step/2"],
    "a": ["analyze", "-f", "csv"],
}
GROUPS.update({"f_" + form: ["stats", "-f", form]
               for form in ("column", "table", "json", "tsv", "hdoc", "htable")})
FILTER = re.compile(r"_(nvtx=step-2|start=500000000_end=1500000000)$")
ARGUMENT = re.compile(
    r"_(?=nvtx-name|base|mangled|rows=|ticks_threshold=|gap=|chunks=|(?<!ticks_)threshold=)")
RULES = ("cuda_api_sync", "cuda_memcpy_async", "cuda_memcpy_sync", "cuda_memset_sync", "gpu_gaps",
         "gpu_time_util")


def report_names(program):
    text = subprocess.run([program, "stats", "--help-reports"], capture_output=True, check=True)
    return sorted([line.split()[0].split("[")[0] for line in text.stdout.decode().splitlines()
                   if line.startswith("  ")] + list(RULES), key=len, reverse=True)


def spec_of(stem, reports):
    """"cuda_gpu_sum_nvtx-name_base" to "cuda_gpu_sum:nvtx-name:base"; None for other files."""
    stem = FILTER.sub("", stem)
    for report in reports:
        if stem == report:
            return report
        if stem.startswith(report + "_"):
            arguments = ARGUMENT.split(stem[len(report) + 1:])
            return ":".join([report] + arguments)
    return None


def expected_files(folder, reports):
    """{group: {file name: report with arguments}}"""
    found = {}
    for name in sorted(os.listdir(folder)):
        for group in sorted(GROUPS, key=len, reverse=True):
            if name.startswith(group + "_") and not name.endswith((".log", ".txt.xz")):
                spec = spec_of(os.path.splitext(name[len(group) + 1:])[0], reports)
                if spec:
                    found.setdefault(group, {})[name] = spec
                break
    return found


def compare(program, database, folder, extra=()):
    """Yields (file name, nsys's bytes, our bytes or None) of every expected file."""
    reports = report_names(program)
    with tempfile.TemporaryDirectory() as out:
        for group, files in expected_files(folder, reports).items():
            verb, *options = GROUPS[group]
            command = [program, verb, "-q", *options, *extra, "-r", ",".join(files.values()), "-o",
                       os.path.join(out, group), database]
            done = subprocess.run(command, capture_output=True, timeout=300)
            if done.returncode != 0 or done.stderr:
                print(" ".join(command), done.returncode, done.stderr.decode(errors="replace"),
                      file=sys.stderr)
            for name in files:
                with open(os.path.join(folder, name), "rb") as theirs:
                    expected = theirs.read()
                path = os.path.join(out, name)
                actual = None
                if os.path.exists(path):
                    with open(path, "rb") as ours:
                        actual = ours.read()
                yield name, expected, actual


def differing_lines(expected, actual, most):
    lines = []
    theirs, ours = expected.splitlines(), actual.splitlines()
    for row in range(max(len(theirs), len(ours))):
        pair = [side[row].decode(errors="replace") if row < len(side) else "(no line)"
                for side in (theirs, ours)]
        if pair[0] != pair[1]:
            lines += [f"   {row + 1} nsys {pair[0]}", f"   {row + 1} ours {pair[1]}"]
        if len(lines) >= 2 * most:
            break
    return lines or ["   line ends differ"]


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("database")
    parser.add_argument("folder")
    parser.add_argument("--program", default=os.path.join(here, "../../build/dev/bin/batchlight"))
    parser.add_argument("--nsys-compat", action="store_true")
    parser.add_argument("--lines", type=int, default=3)
    parser.add_argument("--all", action="store_true", help="also name the files that agree")
    flags = parser.parse_args()
    different = total = 0
    extra = ["--nsys-compat"] if flags.nsys_compat else []
    for name, expected, actual in compare(flags.program, flags.database, flags.folder, extra):
        total += 1
        if expected == actual:
            if flags.all:
                print("same   ", name)
            continue
        different += 1
        print("DIFFERS" if actual is not None else "MISSING", name)
        if actual is not None:
            print("\n".join(differing_lines(expected, actual, flags.lines)))
    print(f"{total - different} of {total} files are the same")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
