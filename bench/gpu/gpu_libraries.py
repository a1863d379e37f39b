#!/usr/bin/env python3
"""Checks on a GPU what -t cublas, cudnn and osrt record, and what the command line of the documents costs:

    bench/gpu/gpu_libraries.py [--build build/release] [--python python3] [--nsys nsys] [--rounds 3]

1. Products, convolutions and an LSTM: the libraries' main calls are there, by name, as often as PyTorch
   makes them, and nearly all kernels of products and convolutions belong to one.
2. No setters without -verbose, and more calls with it; none of either in the user's own NVTX.
3. Files that the program reads, with their bytes, and a wait that the GPU idles for.
4. Step time, in turn: plain, ours and nsys with the same flags. With nsys: the same calls of OSRT_API
   above the threshold within 5 % for those both know, and of cuBLAS.

Prints one line a check; exit status 1 if one fails. Needs PyTorch for CUDA.
"""
import argparse
import collections
import json
import pathlib
import re
import shlex
import sqlite3
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
DOCUMENTS = ('-t cuda,nvtx,osrt,cublas,cudnn -s process-tree --cpuctxsw=process-tree --cudabacktrace=all '
             '--python-backtrace=cuda')
PROGRAM = '''
import json, os, sys, time, torch
device, steps = "cuda", {steps}
torch.backends.cuda.matmul.allow_tf32 = False
data = sys.argv[1]
with open(data, "wb") as file:
    file.write(os.urandom(8 << 20))
a = torch.rand(512, 512, device=device, requires_grad=True)
half = torch.rand(512, 512, device=device).half()
conv = torch.nn.Conv2d(16, 32, 3, padding=1).to(device)
lstm = torch.nn.LSTM(64, 64).to(device)
image, sequence = torch.rand(8, 16, 64, 64, device=device), torch.rand(20, 8, 64, device=device)
for step in range(steps):
    with open(data, "rb") as file:
        got = len(file.read())
    assert got == 8 << 20
    torch.cuda.nvtx.range_push("mine")
    (a @ a).sum().backward()
    (half @ half).sum()
    torch.bmm(a.detach().view(4, 128, 512), a.detach().view(4, 512, 128))
    conv(image).sum().backward()
    lstm(sequence)[0].sum().backward()
    torch.cuda.nvtx.range_pop()
    torch.cuda.synchronize()
    time.sleep(0.01)
'''


def run(*words, **more):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, **more)
    if done.returncode != 0:
        sys.exit(f'{" ".join(map(str, words))}: {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}')
    return done.stdout + done.stderr


class Checks:
    failed = 0

    def expect(self, good, text):
        print(('ok    ' if good else 'FAILS ') + text, flush=True)
        self.failed += not good


class Check:
    def __init__(self, options, folder):
        self.options, self.folder, self.checks = options, folder, Checks()
        self.batchlight = pathlib.Path(options.build) / 'bin/batchlight'
        self.script = folder / 'train.py'
        self.script.write_text(PROGRAM.format(steps=options.steps))
        self.data = folder / 'data.bin'

    def record(self, name, *flags):
        run(self.batchlight, 'profile', *flags, '-f', '-o', self.folder / name, self.options.python,
            self.script, self.data)
        return self.folder / (name + '.batchlight')

    def table(self, recording, name):
        text = subprocess.run([self.batchlight, 'table', name, '-f', 'json', recording], capture_output=True,
                              text=True).stdout
        rows = json.loads(text) if text.strip() else []
        return [{re.sub(r' \(.*\)$', '', key): value for key, value in row.items()} for row in rows]

    def libraries(self):
        steps = self.options.steps
        recording = self.record('run', '-t', 'cuda,nvtx,cublas,cudnn,osrt')
        rows = {row['Call']: row for row in self.table(recording, 'library_calls')}
        for name in sorted(rows):
            print(f'      {rows[name]["Library"]:8} {name:44} {rows[name]["Calls"]:6} calls '
                  f'{rows[name]["Kernels"]:6} kernels')
        for pattern, least in (('cublasSgemm|cublasLtMatmul|cublasGemmEx', 3), ('cublas.*[Bb]atched', 1),
                               ('cudnnBackendExecute|cudnnConvolution', 1), ('cudnnRNN', 1)):
            calls = sum(row['Calls'] for name, row in rows.items() if re.match(pattern, name))
            self.checks.expect(calls >= least * steps, f'{pattern}: {calls} calls in {steps} steps')
        kernels = [row for row in self.table(recording, 'kernels')]
        named = sum(row['Kernels'] for row in rows.values())
        gemms = sum(row.get('Count', row.get('Instances', row.get('Calls', 0))) for row in kernels
                    if re.search(r'gemm|cutlass|fprop|dgrad|wgrad|cudnn|RNN', row.get('Kernel', row.get('Name', ''))))
        self.checks.expect(named >= 0.95 * gemms > 0, f'{named} kernels in library calls, {gemms} by name')
        setters = [name for name in rows if re.search(r'(Set|Get)(Stream|MathMode|Attribute)', name)]
        self.checks.expect(not setters, f'no setters without -verbose: {setters[:3]}')
        verbose = {row['Call'] for row in self.table(
            self.record('verbose', '-t', 'cuda,cublas-verbose,cudnn-verbose'), 'library_calls')}
        self.checks.expect(len(verbose) > len(rows), f'{len(verbose)} functions with -verbose, {len(rows)} without')
        ranges = {row.get('Range', row.get('Name', '')) for row in self.table(recording, 'nvtx_ranges')}
        self.checks.expect(not any('cublas' in name or 'cudnn' in name for name in ranges),
                           f'the program\'s own ranges: {sorted(ranges)[:5]}')
        return recording

    def os_calls(self, recording):
        steps = self.options.steps
        files = {row['File']: row for row in self.table(recording, 'files')}
        read = files.get(str(self.data), {}).get('Bytes Read', 0)
        self.checks.expect(read == steps * (8 << 20), f'{read} bytes read of {self.data.name}')
        sleeps = sum(row['Recorded'] for row in self.table(recording, 'os_calls')
                     if row['Call'] in ('clock_nanosleep', 'nanosleep', 'select', 'pselect'))
        self.checks.expect(sleeps >= steps, f'{sleeps} sleeps')

    def step_times(self):
        loop = [self.options.python, HERE / 'train_step.py', '--preset', 'launch', '--steps', 100]
        variants = {'plain': [], 'ours': [self.batchlight, 'profile', *shlex.split(DOCUMENTS), '-f', '-o',
                                          self.folder / 'all']}
        if self.options.nsys:
            variants['nsys'] = [self.options.nsys, 'profile', *shlex.split(DOCUMENTS), '-f', 'true', '-o',
                                self.folder / 'nsys']
        variants['ours, osrt and libraries'] = [self.batchlight, 'profile', '-t', 'cuda,nvtx,osrt,cublas,cudnn',
                                                '-f', '-o', self.folder / 'part']
        variants['ours, cuda and nvtx'] = [self.batchlight, 'profile', '-t', 'cuda,nvtx', '-f', '-o',
                                           self.folder / 'least']
        seen = collections.defaultdict(list)
        for _ in range(self.options.rounds):
            for name, words in variants.items():
                text = run(*words, *loop)
                seen[name].append(float(re.search(r'RESULT ms_per_step=([\d.]+)', text)[1]))
        plain = statistics.median(seen['plain'])
        for name, times in seen.items():
            print(f'      {name:26} {statistics.median(times):8.2f} ms a step, {statistics.median(times) / plain:.2f} x '
                  f'({min(times):.2f} - {max(times):.2f})')
        ratio = statistics.median(seen['ours']) / plain
        self.checks.expect(ratio <= 1.5, f'the command line of the documents: {ratio:.2f} x plain, at most 1.5')

    def beside_nsys(self):
        if not self.options.nsys:
            return print('      no nsys: calls are not compared')
        run(self.options.nsys, 'profile', '-t', 'cuda,nvtx,osrt,cublas', '-s', 'none', '--cpuctxsw=none', '-f', 'true',
            '-o', self.folder / 'beside', self.options.python, self.script, self.data)
        database = self.folder / 'beside.sqlite'
        run(self.options.nsys, 'export', '-t', 'sqlite', '-f', 'true', '-o', database, self.folder / 'beside.nsys-rep')
        theirs = collections.Counter(dict(sqlite3.connect(database).execute(
            'SELECT s.value, count(*) FROM OSRT_API JOIN StringIds s ON s.id = nameId GROUP BY 1').fetchall()))
        recording = self.record('beside_ours', '-t', 'cuda,nvtx,osrt,cublas')
        ours = {row['Call']: row['Recorded'] for row in self.table(recording, 'os_calls')}
        for name, count in theirs.most_common(20):
            print(f'      {name:26} nsys {count:8} ours {ours.get(name, 0):8}')
        # Sleeps and syncs are longer than any threshold; short calls fall on either side of it.
        for name in ('clock_nanosleep', 'nanosleep', 'select', 'pthread_join', 'fork'):
            if theirs.get(name, 0) > 10:
                self.checks.expect(abs(ours.get(name, 0) - theirs[name]) <= 0.05 * theirs[name],
                                   f'{name}: {ours.get(name, 0)}, nsys {theirs[name]}')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--build', default='build/release')
    parser.add_argument('--python', default='python3')
    parser.add_argument('--nsys')
    parser.add_argument('--steps', type=int, default=20)
    parser.add_argument('--rounds', type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        check = Check(options, pathlib.Path(folder))
        check.os_calls(check.libraries())
        check.beside_nsys()
        check.step_times()
    sys.exit(check.checks.failed != 0)


if __name__ == '__main__':
    main()
