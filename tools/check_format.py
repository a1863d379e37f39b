#!/usr/bin/env python3
"""Checks that C++ and TypeScript are as clang-format writes them; `--fix` rewrites what is not.

    tools/check_format.py [--fix] [PATH...]

Other versions of clang-format break lines elsewhere, so only the one of Debian 12 judges; status 77
(skipped) without it.
"""
import argparse
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
VERSION = 14
SUFFIXES = ('.h', '.cpp', '.c', '.cu', '.ts')
FOLDERS = ('src', 'web', 'tests', 'bench', 'examples')
BATCH = 25  # files a run of clang-format
SKIPPED = 77

# Not yet formatted.
KNOWN = {
    'src/ingest/nsys/nsys_unite.h',
    'src/store/store_test.cpp',
    'src/store/tables.cpp',
    'src/store/tables.h',
}


def clang_format():
    for name in (f'clang-format-{VERSION}', 'clang-format'):
        program = shutil.which(name)
        if program is None:
            continue
        said = subprocess.run([program, '--version'], capture_output=True, text=True).stdout
        if f'version {VERSION}.' in said:
            return program
    return None


def sources():
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob('*')):
            name = str(path.relative_to(ROOT))
            if path.suffix in SUFFIXES and name not in KNOWN:
                yield name


def unformatted(program, names):
    """Those of `names` that clang-format would change."""
    done = subprocess.run([program, '--dry-run', '--ferror-limit=1', *names], cwd=ROOT,
                          capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    warned = {line.split(':')[0] for line in done.stderr.splitlines() if ': warning: ' in line}
    return [name for name in names if name in warned]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--fix', action='store_true', help='rewrite them')
    parser.add_argument('paths', nargs='*', metavar='PATH')
    options = parser.parse_args()
    program = clang_format()
    if program is None:
        print(f'format: there is no clang-format {VERSION} (apt-get install clang-format)')
        return SKIPPED
    names = [os.path.relpath(path, ROOT) for path in options.paths] or list(sources())
    batches = [names[i:i + BATCH] for i in range(0, len(names), BATCH)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = sum(pool.map(lambda batch: unformatted(program, batch), batches), [])
    if found and options.fix:
        subprocess.run([program, '-i', *found], cwd=ROOT, check=True)
        print('format: rewrote ' + ' '.join(found))
        return 0
    for name in found:
        print(f'{name}: not formatted: tools/check_format.py --fix')
    print(f'format: {len(names)} files, {len(found)} not formatted')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
