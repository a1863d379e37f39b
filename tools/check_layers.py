#!/usr/bin/env python3
"""Checks that every #include in src/ goes along an edge the architecture allows, and that no file of
web/src imports itself by way of others."""
import pathlib
import re
import sys

# folder: folders whose headers it may include besides its own
ALLOWED = {
    'format': (),
    'base': (),
    'columnar': ('base',),
    'counters': (),
    'cpython': (),
    'inject': ('format', 'cpython', 'native', 'counters'),  # native: unwind tables only
    'host': ('counters',),
    'torch_ops': ('inject',),  # native_api.h only
    'native': ('base',),
    'capture': ('format', 'cpython', 'counters', 'native', 'base'),  # counters: sample_stream.h only
    'store': ('base',),
    'nsys': ('store', 'base'),
    'ingest': ('format', 'nsys', 'store', 'base'),
    'analysis': ('nsys', 'store', 'base', 'format'),  # format: phases.def and counters.def
    'timeline': ('analysis', 'store', 'base'),
    'report': ('timeline', 'analysis', 'store', 'columnar', 'base'),
    'serve': ('timeline', 'report', 'analysis', 'store', 'base'),
    'export': ('analysis', 'nsys', 'store', 'columnar', 'base'),
    'probe': ('report', 'analysis', 'store', 'base'),
    'cli': ('capture', 'ingest', 'nsys', 'store', 'analysis', 'report', 'export', 'serve', 'probe', 'base', 'format'),
}
# Inside a folder. room: rooms whose headers it may include besides its own; '.' is the folder itself.
# Unit tests may include any room.
SUB_LAYERS = {
    'base': {
        '.': (),
        'linux': ('.',),
        'windows': ('.',),
    },
    'inject': {
        '.': (),
        'rt': (),
        'buffer': ('rt',),
        'collect': ('buffer', 'rt'),
        'stacks': ('buffer', 'rt'),
        'nvtx': ('collect', 'buffer', 'rt'),
        'backtrace': ('stacks', 'buffer', 'rt'),
        'osrt': ('backtrace', 'buffer', 'rt'),
        'shims': ('osrt', 'rt'),  # a library of its own: headers only
        'memory': ('stacks', 'buffer', 'rt'),
        'memory_shims': ('memory', 'rt'),  # as shims
        'timers': ('rt',),  # likewise
        'cupti': ('backtrace', 'stacks', 'collect', 'buffer', 'rt'),
        'counting': ('cupti', 'collect', 'buffer', 'rt'),
        'python': ('nvtx', 'cupti', 'memory', 'stacks', 'collect', 'buffer', 'rt'),
        'entry': ('python', 'nvtx', 'osrt', 'memory', 'timers', 'counting', 'cupti', 'backtrace', 'stacks', 'collect', 'buffer', 'rt', '.'),
        'testing': ('rt',),
    },
    'capture': {
        'loop': (),
        'program': (),
        'recording': ('program', 'loop'),
        'cpu': ('recording', 'loop'),
        'gpu': ('recording', 'program', 'loop'),
        'python': ('usage', 'recording', 'loop'),  # usage: kernel_file.h only
        'usage': ('recording', 'loop'),
        'monitor': ('recording', 'loop'),
        'session': ('monitor', 'usage', 'python', 'gpu', 'cpu', 'recording', 'program', 'loop'),
        'machine': ('session', 'python', 'cpu', 'program'),
    },
    # From the floor up.
    'analysis': {
        'numbers': (),
        'result': ('numbers',),
        'stalls': ('result', 'numbers'),
        'cuda': (),
        'phases': ('cuda', 'numbers'),
        'steps': ('phases', 'numbers'),
        'stages': ('lines', 'steps', 'phases', 'cuda', 'numbers'),
        'python': ('lines', 'steps', 'numbers'),
        'owners': ('steps', 'phases', 'cuda', 'numbers'),
        'gradients': ('owners', 'steps', 'phases', 'numbers'),
        'forward': ('owners', 'steps', 'phases', 'numbers'),
        'os': ('numbers',),
        'cpu': ('numbers',),
        'lines': ('owners', 'steps', 'cuda', 'numbers'),
        'gpu': ('lines', 'cpu', 'owners', 'steps', 'phases', 'cuda', 'numbers'),
        'breakdown': ('lines', 'gpu', 'cpu', 'owners', 'steps', 'phases', 'cuda', 'numbers'),
        'roofline': ('lines', 'owners', 'steps', 'cuda', 'numbers'),
        'counters': ('roofline', 'gpu', 'lines', 'owners', 'steps', 'phases', 'cuda', 'stalls', 'numbers'),
        'memory': ('steps', 'phases', 'cuda'),
        'ranks': ('breakdown', 'gpu', 'owners', 'steps', 'phases', 'cuda', 'numbers'),
        'desync': ('ranks',),
        'run': ('stages', 'breakdown', 'gpu', 'lines', 'forward', 'gradients', 'owners', 'steps', 'phases', 'numbers', 'roofline', 'ranks'),
        'advice': ('run', 'stages', 'breakdown', 'roofline', 'counters', 'desync', 'ranks', 'gpu', 'lines', 'os', 'cpu', 'python', 'forward', 'gradients', 'owners', 'steps', 'phases', 'cuda', 'numbers'),
        'overview': ('advice', 'run'),
        'tables': ('overview', 'run', 'stages', 'breakdown', 'roofline', 'counters', 'memory', 'ranks', 'gpu', 'lines', 'cpu', 'os', 'python', 'owners', 'steps', 'numbers', 'cuda', 'result'),
        'diff': ('overview', 'counters'),
        'dlprof': ('overview', 'roofline', 'gpu', 'owners', 'steps', 'phases', 'numbers', 'cuda', 'result'),
        'stats': ('ranks', 'cuda', 'numbers', 'result'),
        'recipes': ('stats', 'cuda', 'numbers', 'result'),
        'whatif': ('numbers',),
        'partial': ('run', 'whatif', 'ranks', 'breakdown', 'steps', 'phases', 'cuda', 'numbers', 'result'),
        'testing': ('overview', 'advice', 'ranks', 'partial'),
    },
    'ingest': {
        'common': (),
        'chunks': (),
        'decode': ('chunks', 'common'),
        'recording': ('decode', 'chunks', 'common'),
        'dump': ('chunks', 'common'),
        'nsys': ('common',),
        'kineto': ('common',),
        '.': ('recording', 'decode', 'nsys', 'kineto', 'common'),
    },
    'timeline': {
        'rows': (),
        'index': ('rows',),
        'tracks': ('index', 'rows'),
        'answers': ('index', 'rows'),
    },
    'report': {
        'text': (),
        'assets': (),
        'tables': ('text',),
        'charts': ('tables', 'text', 'assets'),
        'page': ('tables', 'text', 'assets'),
        'terminal': ('text',),
        'tensorboard': ('tables', 'charts'),
        'timeline': ('assets', 'text'),
        'files': ('page', 'timeline', 'charts', 'terminal', 'tables', 'text'),
    },
    'export': {
        '.': (),
        'text': ('.',),
        'sqlite': ('.',),
        'chrome': ('.',),
        'perfetto': ('.',),
        'columnar': ('.',),
    },
    'cli': {
        'flags': (),
        'completion': (),
        'reference': ('flags',),
        'reading': ('flags', 'reference'),
        'commands': ('flags', 'reading', 'reference', 'completion'),
        'engines': ('reading', 'flags'),
        'kernels': ('commands', 'reading', 'flags'),
        'ranks': ('engines', 'reading', 'flags'),
        'recipes': ('engines', 'reading', 'flags'),
        'work': ('recipes', 'ranks', 'engines', 'reading', 'flags'),
        'probe': ('flags', 'reading'),
        'trace': ('flags', 'reading'),
        'windows': ('engines', 'flags', 'reading'),
        '.': ('commands', 'flags', 'reading'),
    },
}
# Single headers that may cross an edge: (from folder, header).
EXCEPTIONS = {('store', 'format/phases.def')}  # the rows of one of its kinds


def includes(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
        if match:
            yield number, match[1]


def is_test(path):
    return path.stem.endswith('_test') or path.stem.endswith('_bench')


def room_of(parts):
    """The room, given the parts of a path or an include, the folder first."""
    return parts[1] if len(parts) > 2 else '.'


def circles(edges):
    """Each cycle of `edges` once, as the list of nodes from one back to itself."""
    done, way = set(), []

    def visit(node):
        if node in way:
            yield way[way.index(node):] + [node]
        elif node not in done:
            way.append(node)
            for target in edges.get(node, ()):
                yield from visit(target)
            done.add(way.pop())

    for node in edges:
        yield from visit(node)


def room_violations(root, folder, rooms):
    for circle in circles(rooms):
        yield f'src/{folder}: circle in the table of rooms: ' + ' -> '.join(circle)
    unknown = set()
    for path in sorted((root / 'src' / folder).rglob('*')):
        if path.suffix not in ('.h', '.cpp', '.def'):
            continue
        room = room_of(path.relative_to(root / 'src').parts)
        if room not in rooms:
            unknown.add(room)
            continue
        if is_test(path):
            continue
        for number, header in includes(path):
            parts = header.split('/')
            if parts[0] != folder or (target := room_of(parts)) == room:
                continue
            if target not in rooms[room]:
                yield f'{path.relative_to(root)}:{number}: {folder}/{room} must not include {header}'
    for room in sorted(unknown):
        yield f'src/{folder}/{room}: not in the table of rooms'


def violations(root):
    for path in sorted((root / 'src').rglob('*')):
        if path.suffix not in ('.h', '.cpp', '.def'):
            continue
        folder = path.relative_to(root / 'src').parts[0]
        for number, header in includes(path):
            target = header.split('/')[0]
            if target == folder or target not in ALLOWED or (folder, header) in EXCEPTIONS:
                continue
            if folder == 'torch_ops' and header != 'inject/native_api.h':
                yield f'{path.relative_to(root)}:{number}: torch_ops may include inject/native_api.h only'
            elif folder == 'analysis' and target == 'format' and not header.endswith(('records.h', 'launchers.h', '.def')):
                yield f'{path.relative_to(root)}:{number}: analysis knows no bytes: {header}'
            elif target not in ALLOWED.get(folder, ()) and not (is_test(path) and folder not in ('inject',)):
                yield f'{path.relative_to(root)}:{number}: {folder} must not include {header}'


def imports(root):
    """{TypeScript file: the files of ours that it imports}"""
    pattern = re.compile(r'^(?:import|export)\b(?! type\b)[^;]*?\sfrom\s+"(\.[^"]+)"', re.M)
    folder = (root / 'web' / 'src').resolve()
    return {path: {(path.parent / f'{name}.ts').resolve(): None for name in pattern.findall(path.read_text())}
            for path in sorted(folder.rglob('*.ts'))}


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    unknown = {p.name for p in (root / 'src').iterdir() if p.is_dir()} - set(ALLOWED)
    found = [f'src/{name}: not in the table of layers' for name in sorted(unknown)] + list(violations(root))
    for folder, rooms in SUB_LAYERS.items():
        found += room_violations(root, folder, rooms)
    found += ['web/src: circle of imports: ' + ' -> '.join(file.name for file in circle)
              for circle in circles(imports(root))]
    print('\n'.join(found) or 'layers: fine')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
