#!/usr/bin/env python3
"""Checks that web/src finds data by key. Names, labels, titles and helps are for people: code that compares
one, takes it apart or puts another in its place breaks when somebody words it anew, and so does code that
takes a column of a table by its place.

It looks at the text of a line: a title that first went through a variable of another name escapes it."""
import pathlib
import re
import sys

SHOWN = r'(?:name|label|title|help|formula|exit|track)'
TEXT = r'''["'`]'''
PATTERNS = (
    (re.compile(rf'\b{SHOWN}\b\)?\s*[!=]==\s*{TEXT}[^"\'`]'), 'compares a text for people'),
    (re.compile(rf'[^"\'`]{TEXT}\s*[!=]==\s*[\w.]*\b{SHOWN}\b'), 'compares a text for people'),
    (re.compile(rf'\b{SHOWN}\.(?:startsWith|endsWith|includes|match|replace|split|indexOf)\({TEXT}'),
     'takes a text for people apart'),
    (re.compile(rf'\b{SHOWN}\.(?:replace|match|split)\(/(?!\\\{{)'), 'takes a text for people apart'),  # but {places}
    (re.compile(r'\b(?:cells|columns)\[\d+\](?!\??\.length)'), 'takes a column by its place'),
    (re.compile(r'\bconst \[[^\]]*\] = [\w.]*(?:cells|columns);'), 'takes columns by their places'),
)


def faults(line):
    return [what for pattern, what in PATTERNS if pattern.search(line)]


def violations(folder):
    for path in sorted(folder.rglob('*.ts')):
        if path.stem.endswith('_test'):
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            for what in faults(line):
                yield f'{path.relative_to(folder)}:{number}: {what}: {line.strip()}'


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1] / 'web/src'
    found = list(violations(folder.resolve()))
    print('\n'.join(found) or 'web keys: fine')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
