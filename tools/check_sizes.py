#!/usr/bin/env python3
"""Keeps files, functions and folders small; prints the median and the ninetieth percentile of files."""
import collections
import pathlib
import subprocess
import sys

from function_lengths import function_lengths

FILE_LINES = 600
MEDIAN_LINES = 80
P90_LINES = 230
FUNCTION_LINES = 60
FOLDER_SOURCES = 40  # tests not counted: they lie beside what they test
# path: why it may be longer
REASONS = {
    'src/store/schema.def': 'one table for the whole store',
    'src/format/records.def': 'one table for the whole format',
}
# Known faults. The list only shrinks: an entry goes when its fault is mended.
LONG_FUNCTIONS = set()
SUFFIXES = ('.h', '.cpp', '.c', '.cu', '.py', '.ts', '.def', '.sh', '.css')


def tracked(root):
    """Names of the sources that git tracks; none without git."""
    names = subprocess.run(['git', '-C', str(root), 'ls-files'], capture_output=True, text=True).stdout
    return [name for name in names.split('\n') if name.endswith(SUFFIXES) and (root / name).is_file()]


def sources(root):
    """{name: lines} of the tracked files."""
    return {name: len((root / name).read_text(errors='replace').splitlines()) for name in tracked(root)}


def is_test(path):
    return path.stem.endswith('_test') or path.stem.startswith('test_')


def file_problems(sizes):
    for name, lines in sorted(sizes.items(), key=lambda item: -item[1]):
        if lines > FILE_LINES and name not in REASONS:
            yield f'{name}: {lines} lines, over {FILE_LINES}: split it, or list the reason in tools/check_sizes.py'


def folder_problems(sizes):
    paths = map(pathlib.PurePath, sizes)
    counts = collections.Counter(str(path.parent) for path in paths if not is_test(path))
    for folder, count in sorted(counts.items()):
        if count > FOLDER_SOURCES:
            yield f'{folder}: {count} sources, over {FOLDER_SOURCES}: make rooms'


def function_problems(root, sizes):
    for name in sorted(sizes):
        for function, line, lines in function_lengths(root / name):
            if lines > FUNCTION_LINES and function not in LONG_FUNCTIONS:
                yield f'{name}:{line}: {function} has {lines} lines, over {FUNCTION_LINES}'


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    sizes = sources(root)
    if not sizes:  # not a git checkout: nothing to judge
        print('sizes: no tracked files found')
        return 0
    ordered = sorted(sizes.values())
    median, p90 = ordered[len(ordered) // 2], ordered[len(ordered) * 9 // 10]
    print(f'sizes: {len(ordered)} files, {sum(ordered)} lines, median {median}, p90 {p90}, max {ordered[-1]}')
    problems = [*file_problems(sizes), *folder_problems(sizes), *function_problems(root, sizes)]
    if median > MEDIAN_LINES or p90 > P90_LINES:
        problems.append(f'files: median over {MEDIAN_LINES} or ninetieth percentile over {P90_LINES} lines')
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
