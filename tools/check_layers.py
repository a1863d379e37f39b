#!/usr/bin/env python3
"""Checks that every #include in src/ goes along an edge the architecture allows."""
import pathlib
import re
import sys

# folder: folders whose headers it may include besides its own
ALLOWED = {
    'format': (),
    'base': (),
    'inject': ('format',),
    'torch_ops': ('inject',),  # native_api.h only
    'capture': ('format', 'base'),
    'store': ('base',),
    'ingest': ('format', 'store', 'base'),
    'analysis': ('store', 'base', 'format'),  # format: phases.def and counters.def
    'report': ('analysis', 'store', 'base'),
    'export': ('analysis', 'store', 'base'),
    'cli': ('capture', 'ingest', 'store', 'analysis', 'report', 'export', 'base', 'format'),
}
# Single headers that may cross an edge: (from folder, header).
EXCEPTIONS = set()


def violations(root):
    for path in sorted((root / 'src').rglob('*')):
        if path.suffix not in ('.h', '.cpp', '.def'):
            continue
        folder = path.relative_to(root / 'src').parts[0]
        is_test = path.stem.endswith('_test') or path.stem.endswith('_bench')
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            if not match:
                continue
            target = match[1].split('/')[0]
            if target == folder or target not in ALLOWED or (folder, match[1]) in EXCEPTIONS:
                continue
            if folder == 'torch_ops' and match[1] != 'inject/native_api.h':
                yield f'{path.relative_to(root)}:{number}: torch_ops may include inject/native_api.h only'
            elif folder == 'analysis' and target == 'format' and not match[1].endswith(('records.h', '.def')):
                yield f'{path.relative_to(root)}:{number}: analysis knows no bytes: {match[1]}'
            elif target not in ALLOWED.get(folder, ()) and not (is_test and folder not in ('inject',)):
                yield f'{path.relative_to(root)}:{number}: {folder} must not include {match[1]}'


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    unknown = {p.name for p in (root / 'src').iterdir() if p.is_dir()} - set(ALLOWED)
    found = [f'src/{name}: not in the table of layers' for name in sorted(unknown)] + list(violations(root))
    print('\n'.join(found) or 'layers: fine')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
