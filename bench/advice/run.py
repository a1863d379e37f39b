#!/usr/bin/env python3
"""How often is what batchlight says of a program right? Runs programs that know the truth of themselves.

    bench/advice/run.py [--build build/release] [--python PY] [--only NAME ...] [--output FILE]
    bench/advice/run.py --again FOLDER      # the recordings that --keep left, read by this build

Each program runs alone and with the advised change (--rounds of both in turn, for the true gain) and
once under `batchlight profile` (for what is said, against that very run). Prints a row a program and the
score. README.md beside this file says what counts as right.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import score
from requirements import as_for, missing
from truth import read_header

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM_SECONDS = 300


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--build', default='build/release', help='build folder with bin/batchlight')
    parser.add_argument('--python', default='/usr/bin/python3', help='the Python that has PyTorch')
    parser.add_argument('--only', action='append', default=[], metavar='NAME', help='these programs only')
    parser.add_argument('--jobs', type=int, default=1, help='programs at a time; 1 for clean times')
    parser.add_argument('--rounds', type=int, default=2, help='runs with and without the change')
    parser.add_argument('--output', help='results as JSON; with --only the others in it stay')
    parser.add_argument('--keep', type=pathlib.Path, metavar='FOLDER', help='recordings and truths stay there')
    parser.add_argument('--again', type=pathlib.Path, metavar='FOLDER',
                        help='run nothing: read what --keep left with this build')
    parser.add_argument('--print', dest='show', metavar='FILE', help='print a file of results, run nothing')
    return parser.parse_args()


def find_programs(only):
    paths = {path.stem: path for path in sorted(HERE.glob('programs/*/*.py'))}
    unknown = [name for name in only if name not in paths]
    if unknown:
        sys.exit(f'no program {", ".join(unknown)}; there are: {" ".join(paths)}')
    return [path for name, path in paths.items() if not only or name in only]


def run_program(command, folder):
    """Runs it in `folder`, temporary files included; the truth it wrote, or why there is none."""
    truth_path = folder / 'truth.json'
    environment = {**os.environ, 'PYTHONPATH': str(HERE), 'BENCH_TRUTH': str(truth_path),
                   'TMPDIR': str(folder), 'HF_HUB_OFFLINE': '1'}
    try:
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True,
                              timeout=PROGRAM_SECONDS, errors='replace')
    except subprocess.TimeoutExpired:
        return None, f'over {PROGRAM_SECONDS} s'
    if done.returncode != 0 or not truth_path.exists():
        lines = (done.stderr or done.stdout).strip().splitlines() or ['']
        return None, f'exit {done.returncode}: {lines[-1][:100]}'
    truth = json.loads(truth_path.read_text())
    truth_path.unlink()
    return truth, ''


def read_json(command):
    done = subprocess.run(command, capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 and done.stdout.strip() else None


def measure(path, options, batchlight):
    """One row of the results: truth alone, truth with the change, truth recorded, and what is said."""
    header = as_for(read_header(path), options.python)
    row = {'program': path.stem, 'group': path.parent.name, 'header': header, 'alone': [], 'changed': [],
           'skipped': missing(header, options.python)}
    if row['skipped']:
        return row
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for _ in range(options.rounds if header['advice'] != 'none' else 0):
            for key, flags in (('alone', []), ('changed', ['--fixed'])):
                truth, problem = run_program([options.python, str(path), *flags], folder)
                if truth is None:
                    return {**row, 'failed': f'{key}: {problem}'}
                row[key].append(truth)
        recording = str(folder / 'run.batchlight')
        command = [batchlight, 'profile', '-f', 'true', '-o', recording, options.python, str(path)]
        row['recorded'], problem = run_program(command, folder)
        if row['recorded'] is None:
            return {**row, 'failed': f'recorded: {problem}'}
        row['recorded']['advice'] = header['advice'].split('|')
        row['said'] = what_is_said(recording, batchlight)
        if options.keep:
            options.keep.mkdir(parents=True, exist_ok=True)
            shutil.copy(recording, options.keep / f'{path.stem}.batchlight')
            (options.keep / f'{path.stem}.json').write_text(json.dumps(row))
    return row


def what_is_said(recording, batchlight):
    summary = read_json([batchlight, 'summary', '--json', str(recording)])
    advice = read_json([batchlight, 'table', 'advice', '-f', 'json', str(recording)])
    return {'summary': score.short_summary(summary), 'advice': advice or []}


def measure_again(path, options, batchlight):
    """The row that --keep left, with the header and what is said as they are today."""
    kept = options.again / f'{path.stem}.json'
    header = as_for(read_header(path), options.python)
    if not kept.exists():
        return {'program': path.stem, 'group': path.parent.name, 'header': header, 'skipped': 'not kept'}
    row = {**json.loads(kept.read_text()), 'header': header}
    row['recorded']['advice'] = header['advice'].split('|')
    return {**row, 'said': what_is_said(kept.with_suffix('.batchlight'), batchlight)}


def known_rules(batchlight):
    text = subprocess.run([batchlight, 'analyze', '--help-rules'], capture_output=True, text=True).stdout
    return set(re.findall(r'^  ([a-z0-9-]+)$', text, re.MULTILINE))


def save(options, rows, machine):
    if not options.output:
        return
    output = pathlib.Path(options.output)
    kept = json.loads(output.read_text())['rows'] if options.only and output.exists() else []
    names = {row['program'] for row in rows}
    merged = [row for row in kept if row['program'] not in names] + rows
    output.write_text(json.dumps({**machine, 'rows': sorted(merged, key=lambda r: r['program'])}, indent=1))


def main():
    options = parse_options()
    if options.show:
        results = json.loads(pathlib.Path(options.show).read_text())
        return score.print_results(results['rows'], set(results['rules']))
    batchlight = str(pathlib.Path(options.build).resolve() / 'bin' / 'batchlight')
    version = 'import sys, torch; print(sys.version.split()[0], torch.__version__)'
    python, torch = subprocess.run([options.python, '-c', version], check=True, capture_output=True,
                                   text=True).stdout.split()
    machine = {'python': python, 'torch': torch, 'processors': os.cpu_count(),
               'rules': sorted(known_rules(batchlight))}
    rows = []
    programs = find_programs(options.only)
    look = measure_again if options.again else measure
    for row in score.in_turn(options.jobs, programs, lambda path: look(path, options, batchlight)):
        rows.append(row)
        print(score.line_of(row), flush=True)
        save(options, rows, machine)
    print(f'\nPython {python}, PyTorch {torch}, {os.cpu_count()} processors')
    score.print_results(rows, set(machine['rules']), with_rows=False)
    return 0


if __name__ == '__main__':
    sys.exit(main())
