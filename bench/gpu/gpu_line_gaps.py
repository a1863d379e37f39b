#!/usr/bin/env python3
"""Checks on a GPU what `table lines` says of idle time, waits and copies: a program that keeps the GPU idle for a
known time in one line, waits for it in another and copies known bytes in a third.

    bench/gpu/gpu_line_gaps.py [--build build/release] [--python python3] [--steps 30]

Prints one line a check; exit status 1 if one fails. Needs PyTorch for CUDA; about half a minute.
"""
import json
import pathlib
import re
import sys
import tempfile

from gpu_lines import Checks, argument_parser, run, value

PROGRAM = '''
import time, torch
device = "cuda"
a = torch.rand(4096, 4096, device=device)
host = torch.rand(1 << 20).pin_memory()
def spin(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end: pass  # spin
for step in range({steps}):
    for _ in range(4):
        b = a @ a  # work
    total = b.sum()
    float(total.item())  # wait
    spin(0.01)
    moved = host.to(device)  # copied
    torch.cuda.synchronize()
'''
SPUN_S = 0.01
COPIED_BYTES = 4 << 20


def main():
    arguments = argument_parser(__doc__).parse_args()
    program = pathlib.Path(arguments.build) / 'bin/batchlight'
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        script, recording = pathlib.Path(folder) / 'train.py', pathlib.Path(folder) / 'run.batchlight'
        script.write_text(PROGRAM.format(steps=arguments.steps))
        run(program, 'profile', '--python-lines=gpu', '--pytorch=autograd-shapes-nvtx',
            '--python-sampling-frequency=1000', '--control-steps=none', '-o', recording, arguments.python, script)
        lines = json.loads(run(program, 'table', 'lines', '-f', 'json', recording))
    rows = {}
    for row in lines:
        comment = re.search(r'# (\w+)$', row['Source'] or '')
        name = comment[1] if comment else row['What']
        rows.setdefault(name, row)
        print(f'      idle {value(row, "Idle Caused") / 1e6:9.2f} ms  waits {value(row, "Waits") / 1e6:9.2f} ms  copied '
              f'{value(row, "Copied"):>11}  on GPU {value(row, "GPU Copied"):>11}  {row["Source"] or row["What"]}')
    spun_ns = value(rows['spin'], 'Idle Caused') if 'spin' in rows else 0
    expected_ns = arguments.steps * SPUN_S * 1e9
    checks.expect(0.8 * expected_ns <= spun_ns <= 1.1 * expected_ns,
                  f'the line that keeps the GPU idle: {spun_ns / 1e6:.1f} ms of {expected_ns / 1e6:.1f}')
    work_ns = value(rows['work'], 'GPU')
    waited_ns = value(rows['wait'], 'Waits')
    checks.expect(0.5 * work_ns <= waited_ns <= 1.1 * work_ns,
                  f'the line that waits: {waited_ns / 1e6:.1f} ms, for work of {work_ns / 1e6:.1f} ms')
    # Its first launches load code, which waits once.
    checks.expect(value(rows['work'], 'Waits') <= 0.01 * waited_ns, 'the line that launches waits for nothing')
    wanted = arguments.steps * COPIED_BYTES
    for column in ('Copied', 'GPU Copied'):
        checks.expect(value(rows['copied'], column) == wanted, f'{column}: {value(rows["copied"], column)} of {wanted}')
    sys.exit(checks.failed != 0)


if __name__ == '__main__':
    main()
