#!/usr/bin/env python3
"""Checks that numbers of coded values stand in src/store/kinds.def alone. The compiler keeps numbers
and kinds apart; this finds the ways around it."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
KINDS = 'src/store/kinds.def'
PHASES = 'src/format/phases.def'
BRIDGE = 'python/batchlight/_bridge/_torch_training.py'  # writes phases, and cannot include them
# Recordings and foreign files hold numbers: code that reads or writes those may name them.
DECODERS = ('src/ingest/', 'src/inject/', 'src/format/', 'src/torch_ops/', 'src/capture/', 'src/store/kinds')
COMMON = {'None', 'Unknown', 'Invalid', 'Other', 'Yes', 'No'}  # other lists have them, too
NUMBER = r'(?:0x[0-9a-fA-F]+|\d+)'
INTEGER = r'(?:(?:std::)?u?int(?:\d+_t)?|[ui]\d+|unsigned|size_t|char)'


def kinds(source, phases):
    """{kind: [identifiers]} of kinds.def."""
    found = {}
    for line in source.splitlines():
        if match := re.match(r'KIND_BEGIN\((\w+),', line):
            name = match[1]
            found[name] = []
        elif match := re.match(r'\s*KIND\((\w+),', line):
            found[name].append(match[1])
        elif line.startswith('#include "format/phases.def"'):
            found[name] += re.findall(r'^PHASE\((\w+),', phases, re.MULTILINE)
    return found


def rules(found):
    """(pattern, what is wrong) for code that is not a decoder."""
    kind = '(?:' + '|'.join(found) + ')'
    special = {v for values in found.values() for v in values} - COMMON
    value = '(?:' + '|'.join(sorted(special)) + ')'
    return [
        (rf'(?:static_cast<{INTEGER}>|\b{INTEGER})[({{](?:\w+::)*{kind}::k\w+[)}}]',
         'a kind made a number: compare kinds, or ask Number()'),
        (rf'(?:static_cast<(?:\w+::)*{kind}>\(|\b{kind}[({{]){NUMBER}[)}}]',
         'a number made a kind: name its value'),
        (rf'\bNumber\((?:[^()]|\([^()]*\))*\)\s*[=!<>]=?\s*{NUMBER}\b',
         'the number of a kind compared with a bare one: name its value'),
        (rf'\bconstexpr (?:std::)?(?:uint8_t|u8) k{value} = {NUMBER}\b',
         'a constant for what kinds.def has'),
    ]


def bare_columns(schema):
    """Columns of schema.def that hold a byte without a kind."""
    return re.findall(r'COLUMN\((?:u8|i8|bool), (\w+),', schema)


def wrong_phases(bridge, phases):
    """Constants of the Python bridge that differ from phases.def."""
    numbers = dict(re.findall(r'^PHASE\((\w+), (\d+),', phases, re.MULTILINE))
    for names, values in re.findall(r'^([A-Z_]+(?:, [A-Z_]+)*) = (\d+(?:, \d+)*)$', bridge, re.MULTILINE):
        for name, value in zip(names.split(', '), values.split(', ')):
            if numbers.get(name.title().replace('_', '')) != value:
                yield f'{name} = {value}'


def violations(path, text, patterns):
    """Lines of a source that bypass the kinds."""
    decoder = path.startswith(DECODERS)
    test = path.endswith('_test.cpp')
    for number, line in enumerate(text.splitlines(), 1):
        code = line.split('//')[0]
        for pattern, what in patterns:
            # Tests may try numbers that no row has.
            if decoder or test and 'a number made' in what:
                continue
            if re.search(pattern, code):
                yield f'{path}:{number}: {what}: {line.strip()}'


def main():
    phases = (ROOT / PHASES).read_text()
    patterns = rules(kinds((ROOT / KINDS).read_text(), phases))
    found = [f'src/store/schema.def: {name} is of no kind of kinds.def'
             for name in bare_columns((ROOT / 'src/store/schema.def').read_text())]
    found += [f'{BRIDGE}: {wrong} is not what {PHASES} says'
              for wrong in wrong_phases((ROOT / BRIDGE).read_text(), phases)]
    for folder in ('src', 'tests', 'bench'):
        for path in sorted((ROOT / folder).rglob('*')):
            name = str(path.relative_to(ROOT))
            if path.suffix in ('.h', '.cpp') and not name.startswith('tests/fakes/'):
                found += violations(name, path.read_text(), patterns)
    print('\n'.join(found) or 'kinds: fine')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
