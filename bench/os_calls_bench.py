#!/usr/bin/env python3
"""What -t osrt costs a call: ns more than without, for calls below the threshold and for recorded ones.

    bench/os_calls_bench.py [--build build/release] [--rounds 5]

Runs bench/os_calls_bench in turn without a profiler, with all calls below the threshold, and with all of
them recorded; prints the smallest of the rounds.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile


def times(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f'{words[0]}: {done.stderr}')
    return {line.split()[0]: float(line.split()[1]) for line in done.stdout.splitlines() if line.count(' ') == 1}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--build', default='build/release')
    parser.add_argument('--rounds', type=int, default=5)
    arguments = parser.parse_args()
    build = pathlib.Path(arguments.build)
    bench = build / 'bench/os_calls_bench'
    with tempfile.TemporaryDirectory() as folder:
        profile = (build / 'bin/batchlight', 'profile', '-t', 'osrt', '-f', '-o', f'{folder}/run',
                   '--buffer-budget=1G')
        variants = {'plain': (bench,), 'below': (*profile, '--osrt-threshold=1000000000', bench),
                    'recorded': (*profile, '--osrt-threshold=0', bench)}
        seen = {name: [times(*words) for _ in range(arguments.rounds)] for name, words in variants.items()}
    best = {name: {call: min(row[call] for row in rows) for call in rows[0]} for name, rows in seen.items()}
    print(f'{"ns a call":14}{"plain":>10}{"below":>10}{"recorded":>10}{"+ below":>10}{"+ recorded":>12}')
    for call, plain in best['plain'].items():
        below, recorded = best['below'][call], best['recorded'][call]
        print(f'{call:14}{plain:10.1f}{below:10.1f}{recorded:10.1f}{below - plain:10.1f}{recorded - plain:12.1f}')


if __name__ == '__main__':
    main()
