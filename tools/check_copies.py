#!/usr/bin/env python3
"""Finds text that stands twice: over ten lines of code in a row that are the same but for white space."""
import pathlib
import re
import sys

from check_sizes import tracked

MOST_LINES = 10
HASH_COMMENTS = ('.py', '.sh')


def code_lines(text, suffix):
    """[(line number, text)] of the lines that say something: no blank lines, comments or lone brackets."""
    comment = re.compile(r'#' if suffix in HASH_COMMENTS else r'//|/\*|\*')
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        line = ' '.join(line.split())
        if re.search(r'\w', line) and not comment.match(line):
            found.append((number, line))
    return found


def pairs(files):
    """Places, each a file and an index of its lines, where over MOST_LINES lines of an earlier place begin again."""
    first = {}
    known = set()
    for name, lines in files.items():
        for at in range(len(lines) - MOST_LINES):
            window = tuple(text for _, text in lines[at:at + MOST_LINES + 1])
            file, start = first.setdefault(window, (name, at))
            if (file, start) == (name, at):
                continue
            known.add((file, start, name, at))
            if (file, start - 1, name, at - 1) not in known:  # else the pair goes on
                yield (file, start), (name, at)


def common_lines(files, one, other):
    """Lines that two places share from there on. A copy ends where it would meet itself."""
    end = other[1] if one[0] == other[0] else None
    count = 0
    for (_, a), (_, b) in zip(files[one[0]][one[1]:end], files[other[0]][other[1]:]):
        if a != b:
            break
        count += 1
    return count


def faults(files):
    """`files`: {name: what code_lines gave}."""
    for one, other in pairs(files):
        count = common_lines(files, one, other)
        if count <= MOST_LINES:  # a row of equal lines
            continue
        first, second = (f'{name}:{files[name][at][0]}-{files[name][at + count - 1][0]}' for name, at in (one, other))
        yield f'{first} ~ {second}: the same {count} lines: write them once'


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    files = {name: code_lines((root / name).read_text(errors='replace'), pathlib.PurePath(name).suffix)
             for name in tracked(root)}
    found = list(faults(files))
    print('\n'.join(found) or f'copies: none over {MOST_LINES} lines in {len(files)} files')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
