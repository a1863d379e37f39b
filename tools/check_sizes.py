#!/usr/bin/env python3
"""Keeps files small: no source over 600 lines without a listed reason; prints median and p90."""
import pathlib
import subprocess
import sys

LIMIT = 600
# path: why it may be longer
REASONS = {
    'src/store/schema.def': 'one table for the whole store',
    'src/format/records.def': 'one table for the whole format',
}
SUFFIXES = ('.h', '.cpp', '.c', '.py', '.ts', '.def', '.sh', '.css')


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    names = subprocess.run(['git', '-C', str(root), 'ls-files'], capture_output=True, text=True).stdout.split('\n')
    sizes = {}
    for name in names:
        path = root / name
        if path.suffix in SUFFIXES and path.is_file():
            sizes[name] = len(path.read_text(errors='replace').splitlines())
    if not sizes:  # not a git checkout: nothing to judge
        print('sizes: no tracked files found')
        return 0
    ordered = sorted(sizes.values())
    print(f'sizes: {len(ordered)} files, {sum(ordered)} lines, median {ordered[len(ordered) // 2]}, '
          f'p90 {ordered[len(ordered) * 9 // 10]}, max {ordered[-1]}')
    long = {name: lines for name, lines in sizes.items() if lines > LIMIT and name not in REASONS}
    for name, lines in sorted(long.items(), key=lambda item: -item[1]):
        print(f'{name}: {lines} lines, over {LIMIT}: split it, or list the reason in tools/check_sizes.py')
    return 1 if long else 0


if __name__ == '__main__':
    sys.exit(main())
