#!/usr/bin/env python3
"""clang-tidy on what was changed; prints the findings, status 1 if there are any.

    tools/check_tidy.py [--base REV] [--build build/dev] [PATH...]

Without PATHs: the files that differ from REV (HEAD by default) or that git does not track yet. For a
header, the first of x.cpp, x_test.cpp and the sources that include it is checked. Takes some 5 s of
processor time a file, so the test run leaves it out; for the whole tree there is the preset `tidy`.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def git(*arguments):
    done = subprocess.run(['git', '-C', ROOT, *arguments], capture_output=True, text=True)
    return done.stdout.splitlines()


def changed(base):
    return git('diff', '--name-only', '--diff-filter=d', base) + git('ls-files', '--others', '--exclude-standard')


def includers(header):
    """Sources that include it, else those that include a header that does."""
    files = git('grep', '-l', '-F', f'#include "{header}"', '--', 'src', 'tests', 'bench')
    found = [file for file in files if file.endswith('.cpp')]
    return found or [source for file in files[:1] for source in includers(file.removeprefix('src/'))]


def sources(paths, compiled):
    """The compiled files that show what `paths` hold."""
    for path in paths:
        if path in compiled:
            yield path
        elif path.endswith('.h'):
            stem = path.removesuffix('.h')
            candidates = [f'{stem}.cpp', f'{stem}_test.cpp', *includers(path.removeprefix('src/'))]
            yield from [file for file in candidates if file in compiled][:1]


def without_headers(database, folder):
    """The compile commands without GCC's precompiled headers, which clang-tidy cannot read."""
    entries = json.loads(database.read_text())
    for entry in entries:
        entry['command'] = re.sub(r' -Winvalid-pch| -include \S*cmake_pch\.hxx| -fpch-preprocess', '', entry['command'])
    (pathlib.Path(folder) / database.name).write_text(json.dumps(entries))


def check(tidy, build, path):
    done = subprocess.run([tidy, '-p', build, '--quiet', path], cwd=ROOT, capture_output=True, text=True)
    # A file that cannot be read is reported on the error output only.
    return done.stdout or (done.stderr if done.returncode else '')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--base', default='HEAD')
    parser.add_argument('--build', default='build/dev', help='a configured build folder')
    parser.add_argument('paths', nargs='*', metavar='PATH')
    options = parser.parse_args()
    tidy = shutil.which('clang-tidy-14') or shutil.which('clang-tidy')
    database = ROOT / options.build / 'compile_commands.json'
    if tidy is None or not database.exists():
        sys.exit('check_tidy: ' + (f'there is no {database}: run cmake --preset dev' if tidy else
                                   'clang-tidy is missing: apt-get install clang-tidy'))
    compiled = {os.path.relpath(entry['file'], ROOT) for entry in json.loads(database.read_text())}
    paths = [os.path.relpath(path, ROOT) for path in options.paths] or changed(options.base)
    wanted = sorted(set(sources(paths, compiled)))
    failed = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        without_headers(database, folder)
        for findings in pool.map(lambda path: check(tidy, folder, path), wanted):
            failed += bool(findings)
            sys.stdout.write(findings)
    print(f'check_tidy: {len(wanted)} files, {failed} with findings')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
