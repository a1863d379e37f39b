#!/usr/bin/env python3
"""Makes the recordings that stand for the present format version for ever:

    tools/version_recording.py build/dev

writes tests/recordings/version_N.batchlight (sealed), version_N.batchlight.live (the folder it was
made of) and version_N.dump (what both say), with every kind of record and a value of its own in
every field. Run once per version, by who raises it; later formats must read these files unchanged
(src/ingest/recording/format_versions_test.cpp), so it does not overwrite any.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEAD = """\
chunk pid=0 tid=1 thread=0 attach_ns=0 clock=monotonic base_ticks=1000 base_ns=1000
+0 ClockSync monotonic_ns=1000 realtime_ns=1700000000000001000
chunk pid=41 tid=42 thread=1 index=0 capture=0 attach_ns=1500 clock=tsc base_ticks=2000 \
base_ns=3000 end_ticks=1002000 end_ns=503000 ticks_per_second=2000000000
"""
KEY_BYTES = {'launch': 72, 'place': 24}  # format/cuda_keys.h


def value(record, number, place, kind, field):
    """The text of a value that no other field has, within the field's range."""
    if field == 'shapes':
        return '{f32[2, 3], i64[1], 5}'
    if field in KEY_BYTES:
        return '"%s"' % ''.join(f'\\x{i % 7 + 1:02x}' for i in range(KEY_BYTES[field]))
    if kind == 'StringRef':
        return f'"{record}.{field}"'
    small = {'u8': place, 'u16': number * 10 + place}.get(kind, number * 1000 + place)
    return {'f64': f'{small}.5', 'i32': f'-{small}'}.get(kind, str(small))


def lines(definitions):
    text = re.sub(r'^\s*//.*$', '', definitions, flags=re.M)
    ticks = 0
    for match in re.finditer(r'RECORD_BEGIN\((\w+), (\d+), \d+, (.*?)\)\s*\n(.*?)RECORD_END', text, re.S):
        record, number, what, body = match[1], int(match[2]), match[3], match[4]
        if record == 'String':
            continue  # the others define them
        ticks += 10
        fields = [(kind, name) for kind, name in re.findall(r'FIELD\((\w+), (\w+),', body) if name != 'byte_count']
        words = [f'{name}={value(record, number, place, kind, name)}'
                 for place, (kind, name) in enumerate(fields, 1)]
        if '+ bytes' in what:
            words.append(f'bytes="bytes of {record}"')
        yield ' '.join([f'+{ticks}', record, *words])


def main(build):
    version = re.search(r'kFormatVersion = (\d+)', (ROOT / 'src/format/layout.h').read_text())[1]
    stem = ROOT / f'tests/recordings/version_{version}'
    sealed, dump = stem.with_suffix('.batchlight'), stem.with_suffix('.dump')
    if sealed.exists():
        sys.exit(f'{sealed} exists: a version is recorded once')
    dump.write_text(HEAD + '\n'.join(lines((ROOT / 'src/format/records.def').read_text())) + '\n')
    program, live = pathlib.Path(build) / 'bin/batchlight', f'{sealed}.live'
    subprocess.run([program, 'trace', 'assemble', dump, '-o', live], check=True)
    subprocess.run([program, 'trace', 'seal', '--keep', live], check=True)
    dump.write_text(subprocess.run([program, 'trace', 'dump', sealed], check=True, capture_output=True, text=True).stdout)


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
