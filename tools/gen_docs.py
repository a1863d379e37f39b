#!/usr/bin/env python3
"""gen_docs.py FOLDER: writes the reference pages (records, tables, kinds, counters) from the .def tables.
gen_docs.py --advice: writes the table of rules in docs/advice.md; with --check it only says if that is stale."""
import math
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
NOTE = '<!-- Made from {source}. -->\n\n'
STRING = r'"(?:[^"\\]|\\.)*"(?:\s*"(?:[^"\\]|\\.)*")*'


def text(literal):
    """The value of adjacent C string literals, safe inside a table cell."""
    joined = ''.join(re.findall(r'"((?:[^"\\]|\\.)*)"', literal))
    return joined.replace('\\"', '"').replace('|', '\\|')


def blocks(source, begin, item):
    """(arguments of begin, [arguments of each item]) in order of the file."""
    found = []
    pattern = re.compile(rf'\b({begin}|{item})\(((?:[^()"]|{STRING})*)\)')
    code = '\n'.join(re.sub(r'^\s*(//|#).*', '', line) for line in source.splitlines())
    for match in pattern.finditer(code):
        arguments = [a.strip() for a in re.split(r',\s*(?=(?:[^"]*"[^"]*")*[^"]*$)', match[2])]
        if match[1] == begin:
            found.append((arguments, []))
        else:
            found[-1][1].append(arguments)
    return found


def records():
    source = 'src/format/records.def'
    out = [NOTE.format(source=source), '# Records\n\nEvery record of a recording; '
           'layout and encoding are in `src/format/FORMAT.md`.\n']
    for (name, number, since, doc), fields in blocks((ROOT / source).read_text(), 'RECORD_BEGIN', 'FIELD'):
        out.append(f'\n## {number} {name}\n\n{text(doc)} Since version {since}.\n')
        if fields:
            out.append('\n| field | type | meaning |\n|---|---|---|\n')
            out += [f'| `{f[1]}` | {f[0]} | {text(f[2])} |\n' for f in fields]
    return ''.join(out)


def kind_blocks():
    """The kinds of kinds.def, with the rows that it takes from phases.def."""
    phases = re.sub(r'PHASE\((\w+), (\d+), ("[^"]*")\)', r'KIND(\1, \2, \3, \3, "")',
                    (ROOT / 'src/format/phases.def').read_text())
    source = (ROOT / 'src/store/kinds.def').read_text().replace('#include "format/phases.def"', phases)
    return blocks(re.sub(r'^#.*', '', source, flags=re.MULTILINE), 'KIND_BEGIN', 'KIND')


def schema():
    source = 'src/store/schema.def'
    kinds = {kind[0] for kind, _ in kind_blocks()}
    out = [NOTE.format(source=source), '# Tables\n\nThe tables a recording becomes in memory, and the '
           'names that `export -t jsonlines` and `-t csv` use. Times are nanoseconds since the start of '
           'the session; coded values are numbers of [kinds](kinds.md).\n']
    tables = (ROOT / source).read_text()
    orders = {member: ', '.join(keys[0]) for (_, member, _), keys in blocks(tables, 'TABLE_BEGIN', 'ORDER')
              if keys}
    for (_, member, doc), columns in blocks(tables, 'TABLE_BEGIN', 'COLUMN'):
        by = f' Ordered by {orders[member]}.' if member in orders else ''
        out.append(f'\n## {member}\n\n{text(doc)}{by}\n\n| column | type | meaning |\n|---|---|---|\n')
        for kind, name, meaning in columns:
            shown = f'[{kind}](kinds.md#{kind.lower()})' if kind in kinds else kind
            out.append(f'| `{name}` | {shown} | {text(meaning)} |\n')
    return ''.join(out)


def kinds():
    out = [NOTE.format(source='src/store/kinds.def'), '# Kinds\n\nThe coded values of the '
           '[tables](tables.md). A file of another program may hold numbers that are not listed.\n']
    for (name, _, nsys_enum, doc), rows in kind_blocks():
        by_nsys = f' Numbers of nsys: `{text(nsys_enum)}`.' if text(nsys_enum) else ''
        out.append(f'\n## {name}\n\n{text(doc)[0].upper()}{text(doc)[1:]}.{by_nsys}\n\n'
                   '| number | value | label | short name | in nsys |\n|---|---|---|---|---|\n')
        for identifier, number, label, short_name, nsys_name in rows:
            out.append(f'| {number} | {identifier} | {text(label)} | {text(short_name)} | {text(nsys_name)} |\n')
    return ''.join(out)


def counters():
    source = 'src/format/counters.def'
    out = [NOTE.format(source=source), '# Loss counters\n\nWhat a view reports when something was not '
           'recorded or not read.\n\n| counter | kind | counts | what to do |\n|---|---|---|---|\n']
    for (name, _, severity, what, advice), _ in blocks((ROOT / source).read_text(), 'COUNTER', 'NOTHING'):
        out.append(f'| {name} | {severity} | {text(what)} | {text(advice)} |\n')
    return ''.join(out)


def threshold_text(value, unit):
    """A threshold as src/analysis/advice/thresholds.cpp writes it."""
    if unit == 'Part' and value == 0.5:
        return 'half'
    if unit == 'Times' and value == 2:
        return 'twice'
    if unit == 'OneIn':
        return 'a third' if value == 3 else f'1/{value:g}'
    scale, suffix = {'Share': (100, ' %'), 'Part': (100, ' %'), 'Times': (1, ' times'), 'Count': (1, ''),
                     'Ns': (1e-3, ' us'), 'Bytes': (1 / 1024, ' KiB'), 'BytesPerNs': (1, ' GB/s')}[unit]
    if unit == 'Ns' and value >= 1e9:
        scale, suffix = 1e-9, ' s'
    return f'{value * scale:g}{suffix}'


def calls(source, macro):
    """The arguments of every call of the macro."""
    return [arguments for arguments, _ in blocks(source, macro, 'NOTHING')]


def thresholds():
    """{name: as text}"""
    found = {}
    source = (ROOT / 'src/analysis/advice/thresholds.def').read_text()
    for name, value, unit, _ in calls(source, 'THRESHOLD'):
        factors = [float(factor) for factor in value.replace("'", '').split('*')]
        found[name] = threshold_text(math.prod(factors), unit)
    return found


def advice_table(known):
    source = (ROOT / 'src/analysis/advice/rules.def').read_text()
    out = ['| rule | fires when | estimate |\n|---|---|---|\n']
    for rule, _, sentence, fires_when, estimate in calls(source, 'RULE'):
        cells = [f'`{text(rule)}`', text(fires_when) or text(sentence), text(estimate)]
        row = re.sub(r'\{(k\w+)\}', lambda match: known[match[1]], ' | '.join(cells))
        out.append(f'| {row} |\n'.replace('  |', ' |'))
    return ''.join(out)


def advice_page():
    """docs/advice.md with the current numbers."""
    known = thresholds()
    page = (ROOT / 'docs/advice.md').read_text()
    page = re.sub(r'\S+ %( of a step, which no two runs)', lambda match: known['kVisibleGain'] + match[1], page)
    return re.sub(r'(?m)^\| rule \| fires when \|.*\n(?:\|.*\n)+', lambda _: advice_table(known), page, count=1)


PAGES = {'records.md': records, 'tables.md': schema, 'kinds.md': kinds, 'counters.md': counters}


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith('-') and sys.argv[1] != '--advice':
        print('usage: gen_docs.py FOLDER | --advice [--check]', file=sys.stderr)
        return 2
    if sys.argv[1] == '--advice':
        page = ROOT / 'docs/advice.md'
        if '--check' not in sys.argv:
            page.write_text(advice_page())
        elif page.read_text() != advice_page():
            print('docs/advice.md is stale: run tools/gen_docs.py --advice')
            return 1
        return 0
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in PAGES.items():
        (folder / name).write_text(make())
    return 0


if __name__ == '__main__':
    sys.exit(main())
