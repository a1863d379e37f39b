#!/usr/bin/env python3
"""Checks `table lines` on a GPU: the rows add up to the kernels, copies and sets, nearly all of it is
on a line or a named row, and a line's forward and backward agree with CUDA events around it. Then the
lines of GPT-2 (transformers) and ResNet-50 (timm), with what recording them costs a step.

    bench/gpu/gpu_lines.py [--build build/release] [--python python3] [--models gpt2,resnet50]

Prints one line a check; exit status 1 if one fails. Needs PyTorch for CUDA; about two minutes. A model
whose package is not there is named and left out.
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
b @ b  # loads the library, which an event would count
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


MODELS = {
    'gpt2': ('transformers', """
from transformers import GPT2Config, GPT2LMHeadModel
model = GPT2LMHeadModel(GPT2Config()).to(device)
tokens = torch.randint(50257, (8, 512), device=device)
def loss_of():
    return model(tokens, labels=tokens).loss  # forward
"""),
    'resnet50': ('timm', """
import timm
model = timm.create_model('resnet50').to(device)
images = torch.rand(64, 3, 224, 224, device=device)
classes = torch.randint(1000, (64,), device=device)
def loss_of():
    output = model(images)  # forward
    return torch.nn.functional.cross_entropy(output, classes)  # loss
"""),
}
TRAINING = """
import json, statistics, time, torch
device = 'cuda'
torch.manual_seed(0)
{model}
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
seconds = []
for step in range(50):
    torch.cuda.synchronize()
    begin = time.perf_counter()
    with torch.autocast(device, dtype=torch.bfloat16):
        loss = loss_of()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    torch.cuda.synchronize()
    seconds.append(time.perf_counter() - begin)
print(json.dumps(dict(step_ms=statistics.median(seconds[15:]) * 1e3)))
"""


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


def work_of(program, recording):
    """Time of all kernels, copies and sets, from the events themselves."""
    out = run(program, 'export', '-q', '-t', 'jsonlines', '-o', '-', recording)
    return sum(record['end_ns'] - record['start_ns'] for record in map(json.loads, out.splitlines())
               if record['table'] in ('kernels', 'memcpys', 'memsets'))


def check_sums(checks, lines, work_ns):
    total_ns = sum(value(row, 'GPU') for row in lines)
    checks.expect(work_ns > 0 and total_ns == work_ns,
                  f'rows add up to the work: {total_ns} ns of {work_ns}')
    named_ns = sum(value(row, 'GPU') for row in lines if row['What'] != 'no line known')
    checks.expect(named_ns >= 0.98 * total_ns, f'on a line or a named row: {named_ns / total_ns:.2%}')


def show(lines, most=8):
    print(f'      {"forward ms":>11} {"backward ms":>11} {"of all":>7}  line')
    for row in lines[:most]:
        print(f'      {value(row, "GPU Forward") / 1e6:11.2f} {value(row, "GPU Backward") / 1e6:11.2f} '
              f'{value(row, "GPU %"):6.1f}%  {row["What"]}: {pathlib.Path(row["Line"] or "").name} {row["Source"] or ""}')


def check_model(checks, name, program, python, folder, most_growth):
    package, model = MODELS[name]
    found = subprocess.run([python, '-c', f'import {package}; print({package}.__path__[0])'],
                           capture_output=True, text=True)
    if found.returncode != 0:
        print(f'      {name}: left out, {python} has no {package}')
        return
    # Beside the script it is the user's own code, so that its lines are shown and not the call of it.
    (folder / package).symlink_to(found.stdout.splitlines()[-1])
    script = folder / f'{name}.py'
    script.write_text(TRAINING.format(model=model))
    flags = {'alone': None, 'recorded': [], 'with lines': ['--python-lines=gpu']}
    recordings = {kind: folder / f'{name}_{kind.split()[0]}.batchlight' for kind in flags}
    steps = {kind: [] for kind in flags}
    for kind in ('alone', 'recorded', 'with lines', 'with lines', 'recorded', 'alone'):
        words = [python, script]
        if flags[kind] is not None:
            words = [program, 'profile', '-f', 'true', '-o', recordings[kind]] + flags[kind] + words
        steps[kind].append(json.loads(re.search(r'^\{.*\}$', run(*words), re.M)[0])['step_ms'])
    best = {kind: min(times) for kind, times in steps.items()}
    growth = best['with lines'] / best['recorded'] - 1
    recording = recordings['with lines']
    lines = json.loads(run(program, 'table', 'lines', '-f', 'json', recording))
    print(f'      {name}: a step takes {best["alone"]:.2f} ms alone, {best["recorded"]:.2f} recorded, '
          f'{best["with lines"]:.2f} with lines')
    show(lines)
    check_sums(checks, lines, work_of(program, recording))
    checks.expect(growth <= most_growth, f'{name}: lines make a recorded step {growth:+.2%} longer')


def argument_parser(description):
    """With the build to check, the Python that trains, and for how many steps."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument('--build', default='build/release')
    parser.add_argument('--python', default='python3')
    parser.add_argument('--steps', type=int, default=30)
    return parser


def main():
    parser = argument_parser(__doc__)
    parser.add_argument('--models', default=','.join(MODELS), help='of gpt2, resnet50; "": none')
    parser.add_argument('--growth', type=float, default=0.02, help='of a recorded step by its lines, at most')
    arguments = parser.parse_args()
    program = pathlib.Path(arguments.build) / 'bin/batchlight'
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        script, recording = pathlib.Path(folder) / 'train.py', pathlib.Path(folder) / 'run.batchlight'
        script.write_text(PROGRAM.format(steps=arguments.steps))
        out = run(program, 'profile', '--python-lines=gpu', '--control-steps=none', '-o', recording, arguments.python, script)
        events_ms = json.loads(re.search(r'^\{.*\}$', out, re.M)[0])
        lines = json.loads(run(program, 'table', 'lines', '-f', 'json', recording))
        check_sums(checks, lines, work_of(program, recording))
        for name in filter(None, arguments.models.split(',')):
            check_model(checks, name, program, arguments.python, pathlib.Path(folder), arguments.growth)
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
