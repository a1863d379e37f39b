#!/usr/bin/env python3
"""Checks `table lines` on a GPU: the rows add up to the kernels, copies and sets, nearly all of it is
on a line or a named row, and a line's forward and backward agree with CUDA events around it.

    bench/gpu/gpu_lines.py [--build build/release] [--python python3]

Prints one line a check; exit status 1 if one fails. Needs PyTorch for CUDA.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

PROGRAM = '''
import json, torch
torch.backends.cuda.matmul.allow_tf32 = False
device = "cuda"
a = torch.rand(2048, 2048, device=device, requires_grad=True)
b = torch.rand(2048, 2048, device=device)
steps = {steps}
def event():
    made = torch.cuda.Event(enable_timing=True)
    made.record()
    return made
optimizer = torch.optim.SGD([a], lr=1e-9)
times = []
for step in range(steps):
    begin = event()
    one = a @ b  # one
    after_one = event()
    three = ((one @ b) @ b) @ b  # three
    after_three = event()
    loss = three.sum()  # sum
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    times.append((begin, after_one, after_three))
torch.cuda.synchronize()
print(json.dumps(dict(one=sum(x.elapsed_time(y) for x, y, _ in times),
                      three=sum(y.elapsed_time(z) for _, y, z in times))))
'''


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f'{words[0]}: {done.stderr}')
    return done.stdout


def value(row, name):
    return next(number for key, number in row.items() if key == name or key.startswith(name + ' ('))


class Checks:
    failed = 0

    def expect(self, good, text):
        print(('ok    ' if good else 'FAILS ') + text)
        self.failed += not good


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--build', default='build/release')
    parser.add_argument('--python', default='python3')
    parser.add_argument('--steps', type=int, default=30)
    arguments = parser.parse_args()
    program = pathlib.Path(arguments.build) / 'bin/batchlight'
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        script, recording = pathlib.Path(folder) / 'train.py', pathlib.Path(folder) / 'run.batchlight'
        script.write_text(PROGRAM.format(steps=arguments.steps))
        out = run(program, 'profile', '--python-lines=gpu', '--control-steps=none', '-o', recording, arguments.python, script)
        events_ms = json.loads(re.search(r'^\{.*\}$', out, re.M)[0])
        lines = json.loads(run(program, 'table', 'lines', '-f', 'json', recording))
        work_ns = 0
        for record in map(json.loads, run(program, 'export', '-t', 'jsonlines', '-o', '-', recording).splitlines()):
            if str(record.get('table', record.get('type', ''))) in ('kernels', 'memcpys', 'memsets'):
                work_ns += record['end_ns'] - record['start_ns']
    total_ns = sum(value(row, 'GPU') for row in lines)
    if work_ns:
        checks.expect(total_ns == work_ns, f'rows add up to the work: {total_ns} ns of {work_ns}')
    named_ns = sum(value(row, 'GPU') for row in lines if row['What'] != 'no line known')
    checks.expect(named_ns >= 0.98 * total_ns, f'on a line or a named row: {named_ns / total_ns:.2%}')
    rows = {match[1]: row for row in lines if (match := re.search(r'# (\w+)$', row['Source'] or ''))}
    for name, calls in (('one', arguments.steps), ('three', 3 * arguments.steps)):
        forward_ms = value(rows[name], 'GPU Forward') / 1e6
        checks.expect(rows[name]['Calls'] == calls, f'{name}: {rows[name]["Calls"]} calls')
        # The events also measure the gaps between kernels.
        checks.expect(0.9 * events_ms[name] <= forward_ms <= 1.02 * events_ms[name],
                      f'{name}: forward {forward_ms:.2f} ms, CUDA events {events_ms[name]:.2f} ms')
    # b needs no gradient: backward of a product is one product.
    for name in ('one', 'three'):
        ratio = value(rows[name], 'GPU Backward') / value(rows[name], 'GPU Forward')
        checks.expect(0.8 <= ratio <= 1.25, f'{name}: backward / forward {ratio:.2f}')
    checks.expect(any(row['What'] == 'optimizer' for row in lines), 'the optimizer has a row')
    sys.exit(checks.failed != 0)


if __name__ == '__main__':
    main()
