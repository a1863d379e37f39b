#!/usr/bin/env python3
"""Makes a timeline in a file (docs/design/0016-timeline.md, "The static page") with made-up training steps:
what the browser tests and bench/timeline_frames.py look at.

Usage: timeline_page.py SCRIPT STYLE OUT.html [STEPS [LAYERS [THREADS]]]"""
import array
import base64
import bisect
import html
import json
import pathlib
import struct
import sys
import zlib

LAYER_NS = 40_000
TABLES = ('steps', 'step_phases', 'gpu_idle', 'module_calls', 'operator_calls', 'kernels')
HOSTILE = '</script><img src=x onerror=alert(1)>'
SERIES = ['weights', 'activations']


def leb(values):
    out = bytearray()
    for value in values:
        while value > 127:
            out.append(value & 127 | 128)
            value >>= 7
        out.append(value)
    return bytes(out)


def zigzag(value):
    return 2 * value if value >= 0 else -2 * value - 1


class Page:
    def __init__(self):
        self.names = {}
        self.rows = {}  # (track, row) -> [(start, length, table, name)]
        self.refs = dict.fromkeys(TABLES, 0)

    def name(self, text):
        return self.names.setdefault(text, 10 + len(self.names))

    def add(self, track, row, start, length, table, name):
        self.rows.setdefault((track, row), []).append((start, length, table, self.refs[table], self.name(name)))
        self.refs[table] += 1

    def first_refs(self):
        firsts, total = {}, 0
        for table in TABLES:
            firsts[table] = total
            total += self.refs[table]
        return firsts

    def events(self, counter):
        firsts = self.first_refs()
        heads, starts, lengths, refs, names, count = [], [], [], [], [], 0
        for (track, row), events in sorted(self.rows.items()):
            heads.append(struct.pack('<4I', track, row, count, len(events)))
            count += len(events)
            time, before, name_before = 0, -1, 0
            for start, length, table, place, name in events:
                ref = firsts[table] + place
                starts.append(start - time)
                lengths.append(length)
                refs.append(zigzag(ref - before - 1))
                names.append(zigzag(name - name_before))
                time, before, name_before = start + length, ref, name
        out = struct.pack('<4I', 0x45544c42, 3, len(heads), count) + b''.join(heads)
        for column in (starts, lengths, refs, names):
            packed = leb(column)
            out += struct.pack('<I', len(packed)) + packed
        out += struct.pack('<I', 0)
        out += struct.pack('<I', len(counter))
        for (track, row), samples in counter.items():
            out += struct.pack('<3I', track, row, len(samples)) + array.array('d', [x for pair in samples for x in pair]).tobytes()
        out += struct.pack('<17I', *[0] * 17)  # no sampled calls, ten columns; no waits, three; no long names
        return out, count


def train(page, steps, layers, threads, labelled=0, call_ns=0, pieces=1):
    """Steps of forward and backward on a thread, and their kernels, later, on a stream; `threads` more threads
    that do the same, each of their calls in so many pieces, below `labelled` threads of one call after another."""
    spans, counter, at, first = [], {(6, 0): [], (6, 1): []}, 0, 7 + labelled
    for step in range(steps):
        begin = at
        loading = LAYER_NS * (40 if step == steps // 2 else 2)  # one step waits long for its data
        page.add(1, 0, at, loading, 'step_phases', 'data loading')
        page.add(3, 0, at, loading, 'module_calls', 'DataLoader.__next__')
        page.add(4, 0, at, loading, 'gpu_idle', 'waits for data loading')
        at += loading
        for phase, factor in (('forward', 1), ('backward', 2)):
            length = layers * LAYER_NS * factor
            page.add(1, 0, at, length, 'step_phases', phase)
            page.add(3, 0, at, length, 'module_calls', 'Model' if factor == 1 else 'loss.backward')
            for layer in range(layers):
                start = at + layer * LAYER_NS * factor
                page.add(3, 1, start, LAYER_NS * factor - 200, 'module_calls', f'encoder.layers.{layer}')
                for part in range(5):
                    own = start + 500 + part * 7_000 * factor
                    name = ('aten::linear', 'aten::layer_norm', 'aten::gelu', 'aten::add', HOSTILE)[part]
                    page.add(3, 2, own, 6_000 * factor, 'operator_calls', name)
                    page.add(3, 3, own + 800, 3_000, 'operator_calls', 'cudaLaunchKernel')
                    page.add(5, 0, own + 4_000, 5_500 * factor, 'kernels', f'void cutlass::Kernel<{part}>')
                    for thread in range(threads):
                        for row, start_ns, length_ns, table, called in (
                                (0, own - 400, 6_700 * factor, 'module_calls', f'worker.{part}'),
                                (1, own, 6_000 * factor, 'operator_calls', name),
                                (2, own + 800, 3_000, 'operator_calls', f'cudaLaunchKernel{thread}')):
                            for piece in range(pieces):
                                page.add(first + thread, row, start_ns + piece * length_ns // pieces, length_ns // pieces, table, called)
                counter[(6, 1)].append((start, (layer + 1) * 2**24 if factor == 1 else (layers - layer) * 2**24))
            at += length
        page.add(0, 0, begin, at - begin, 'steps', 'warm-up' if step < 2 else 'steady')
        spans.append((begin, at))
        at += 1_000
    for thread in range(labelled):
        for begin in range(0, at - call_ns, call_ns):
            page.add(7 + thread, 0, begin, call_ns - 500, 'module_calls', f'block{begin // call_ns % 10}')
    counter[(6, 0)] = [(0, 2**28)]
    return spans, counter, at


def run_json(page, spans, end):
    firsts = page.first_refs()
    tracks = [(0, 0, 'steps', 'Steps', 'step'), (1, 0, 'phases', 'Phases', 'phase'), (3, 0, 'thread', 'main thread (tid 4711)', 'name'),
              (4, 1, 'idle', 'Idle', 'idle'), (5, 1, 'stream', 'Stream 7', 'name'), (6, 1, 'memory', 'Memory', 'name')]
    tracks += [(number, 0, 'thread', f'thread {number}', 'name') for number in sorted({track for track, _ in page.rows if track > 6})]
    listed = []
    for number, group, kind, title, palette in tracks:
        rows = 2 if kind == 'memory' else 1 + max(row for track, row in page.rows if track == number)
        track = {'id': number, 'group': group, 'kind': kind, 'title': title, 'rows': rows, 'events': 0, 'from': 0, 'to': end,
                 'palette': palette, 'open': True}
        if kind == 'memory':
            track |= {'counter': {'unit': 'bytes', 'max': 2**29}, 'series': SERIES}
        listed.append(track)
    palettes = {'phase': [('data loading', 'data_loading', False), ('forward', 'forward', False), ('backward', 'backward', False)],
                'step': [('warm-up', 'warm_up', False), ('steady', 'steady', False)],
                'idle': [('waits for data loading', 'idle_data_loading', True)]}
    return {'generation': 1, 'hash': '9f2c4d0a11223344', 'source': 'made_up.batchlight', 'title': 'train.py', 'format': 'batchlight',
            'start_utc_ns': '0', 'from': 0, 'to': end, 'events': sum(page.refs.values()), 'complete': True, 'growing': False, 'losses': [],
            'tables': [{'key': table, 'title': table.replace('_', ' '), 'first_ref': firsts[table], 'rows': page.refs[table]} for table in TABLES],
            'groups': [{'id': 0, 'parent': -1, 'kind': 'process', 'title': 'rank 0, train.py (pid 4711)', 'rank': 0},
                       {'id': 1, 'parent': 0, 'kind': 'gpu', 'title': 'GPU 0', 'rank': 0}],
            'tracks': listed,
            'palettes': {key: [{'name': page.name(text), 'key': name, 'label': text, 'idle': idle} for text, name, idle in entries]
                         for key, entries in palettes.items()},
            'steps': [{'group': 0, 'rank': 0, 'marker': 'SGD.step', 'table': 'steps', 'first_ref': firsts['steps'], 'count': len(spans),
                       'number': list(range(len(spans))), 'from': [a for a, _ in spans], 'to': [b for _, b in spans],
                       'outlier': [i for i, (a, b) in enumerate(spans) if i > 1 and b - a > 1.2 * (spans[2][1] - spans[2][0])],
                       'kinds': [[0, 'warm-up'], [2, 'steady']], 'phases': phase_times(page, spans),
                       'steady': list(range(2, len(spans))), 'median': sorted(b - a for a, b in spans[2:])[(len(spans) - 2) // 2] if spans[2:] else 0}],
            'static': {'left_out': 0, 'why': ''}}


def phase_times(page, spans):
    """What each step is made of, as the chart of step times shows it."""
    names = [page.name(name) for name in ('data loading', 'forward', 'backward')]
    ends = [end for _, end in spans]
    sums = {name: [0] * len(spans) for name in names}
    for start, length, *_, name in page.rows[1, 0]:
        sums[name][bisect.bisect_right(ends, start)] += length
    return {'group': 1, 'names': names, 'us': [[round(ns / 1000) for ns in sums[name]] for name in names]}


def hold_steps(page, run, first, last):
    """Leaves what a file holds that has these steps only."""
    begin, end = run['steps'][0]['from'][first], run['steps'][0]['to'][last]
    left_out = 0
    for key, events in page.rows.items():
        page.rows[key] = [event for event in events if event[0] < end and event[0] + event[1] > begin]
        left_out += len(events) - len(page.rows[key])
    run['static'] = {'left_out': left_out, 'why': f'the boxes of steps {first} to {last}; `batchlight view` shows all',
                     'from': begin, 'to': end}


def write(script, style, out, steps=40, layers=12, threads=0, labelled=0, call_ns=0, pieces=1, held=None):
    page = Page()
    spans, counter, end = train(page, steps, layers, threads, labelled, call_ns, pieces)
    run = run_json(page, spans, end)
    if held:
        hold_steps(page, run, *held)
    events, count = page.events(counter)
    safe = lambda value: json.dumps(value).replace('<', '\\u003c')
    names = {'ids': list(page.names.values()), 'names': list(page.names)}
    pathlib.Path(out).write_text(
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src \'unsafe-inline\'; '
        'script-src \'unsafe-inline\'; base-uri \'none\'; form-action \'none\'">\n'
        f'<title>{html.escape(run["title"])}</title>\n<style>{pathlib.Path(style).read_text()}</style>\n</head>\n<body>\n'
        f'<script type="application/json" id="timeline-run">{safe(run)}</script>\n'
        f'<script type="application/json" id="timeline-names">{safe(names)}</script>\n'
        '<script type="application/octet-stream" id="timeline-events">'
        f'{base64.b64encode(zlib.compress(events, 6)).decode()}</script>\n'
        f'<script>{pathlib.Path(script).read_text()}</script>\n</body>\n</html>\n')
    return count


if __name__ == '__main__':
    print(write(*sys.argv[1:4], *map(int, sys.argv[4:])), 'events')
