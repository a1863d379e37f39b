#!/usr/bin/env python3
"""What CPU samples and context switches cost, on this machine:

    bench/cpu_samples_bench.py build/release [ROUNDS]

- of a step: a loop of small work that times itself, plain and under `profile -t none` with and without
  --sample, interleaved, and with what takes its place where the kernel refuses ("timers"); processor time and
  wall time of the median step,
- of a switch: two threads on one processor that pass a byte through pipes, with and without --cpuctxsw,
- of unwinding: bench/unwind_bench (build it by name), as processor time.
Run it where nothing else runs; shares of wall time mean little on a busy machine.
"""
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'tests' / 'e2e'))
from recorded import REFUSE_PERF  # noqa: E402

STEPS = '''
import sys, time
def work(depth):
    return sum(i * i for i in range(2000)) if depth == 0 else work(depth - 1)
for _ in range(20): work(20)
times = []
for _ in range(3000):
    wall, cpu = time.perf_counter_ns(), time.process_time_ns()
    work(20)
    times.append((time.perf_counter_ns() - wall, time.process_time_ns() - cpu))
times.sort()
mean = sum(t[1] for t in times) / len(times)
print(times[len(times) // 2][0], int(mean))
'''
SWITCHES = '''
import os, threading, time
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
a, b = os.pipe(), os.pipe()
ROUNDS = 50000
def echo():
    for _ in range(ROUNDS): os.write(b[1], os.read(a[0], 1))
thread = threading.Thread(target=echo); thread.start()
cpu = time.process_time_ns()
for _ in range(ROUNDS): os.write(a[1], b'x'); os.read(b[0], 1)
thread.join()
cpu = time.process_time_ns() - cpu
print(cpu // ROUNDS, cpu // ROUNDS // 2)
'''


def measure(tool, script, flags, folder):
    command = [sys.executable, '-c', script]
    refuses = flags is not None and flags[:1] == ['refused']
    if refuses:
        flags = flags[1:]
    if flags is not None:
        command = [tool, 'profile', '-t', 'none', '--pytorch=none', '-f', '-o', f'{folder}/run', *flags, *command]
    if refuses:
        command = [sys.executable, '-c', REFUSE_PERF, *command]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return [int(word) for word in done.stdout.split()[-2:]]


def compare(tool, script, variants, rounds, folder):
    found = {name: [] for name in variants}
    for _ in range(rounds):
        for name, flags in variants.items():
            found[name].append(measure(tool, script, flags, folder))
    return {name: [statistics.median(column) for column in zip(*rows)] for name, rows in found.items()}


def main():
    build = pathlib.Path(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    tool = str(build / 'bin' / 'batchlight')
    with tempfile.TemporaryDirectory() as folder:
        steps = compare(tool, STEPS, {
            'plain': None, 'recorded, no samples': [], '199 Hz': ['-s', 'process-tree'],
            '999 Hz': ['-s', 'process-tree', '--sampling-frequency=999'],
            '199 Hz by timers': ['refused', '-s', 'process-tree'],
            '999 Hz by timers': ['refused', '-s', 'process-tree', '--sampling-frequency=999'],
            '199 Hz and switches': ['-s', 'process-tree', '--cpuctxsw=process-tree']}, rounds, folder)
        base = steps['recorded, no samples']
        for name, (wall, cpu) in steps.items():
            print(f'step, {name}: median {wall / 1e3:.1f} us ({100 * (wall / base[0] - 1):+.2f} %), '
                  f'mean processor time {cpu / 1e3:.1f} us ({100 * (cpu / base[1] - 1):+.2f} %)')
        switches = compare(tool, SWITCHES, {'none': [], 'recorded': ['--cpuctxsw=process-tree']}, rounds, folder)
        # A round trip is two threads that each give the processor up once and get it once.
        more = (switches['recorded'][0] - switches['none'][0]) / 4
        print(f'switches: {switches["none"][0]} ns a round trip, {switches["recorded"][0]} ns recorded: '
              f'{more:.0f} ns a record')
    bench = build / 'bench' / 'unwind_bench'
    if bench.exists():
        subprocess.run([bench, '200000', '30'], check=True)
    else:
        print(f'unwinding: {bench} is not built', os.linesep, end='')


if __name__ == '__main__':
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main()
