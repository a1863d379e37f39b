#!/usr/bin/env python3
"""Checks that the names local to a file (unnamed namespaces) are unique in its folder, and other than those of
headers in its namespace: release builds compile a folder as one source (cmake/BatchlightModule.cmake), where two
things of one name meet. Functions of one name that take different things may stay, and so may aliases of the
same thing.

It reads formatted code line by line. What escapes it the compiler finds in the presets release, asan and tsan,
but after minutes."""
import collections
import pathlib
import re
import sys

APART = ('inject', 'torch_ops')  # compiled file by file
TYPE = re.compile(r'(?:struct|class|enum class|enum|union) (\w+)(?!;)\b[^;]*(?:\{|$)')
ALIAS = re.compile(r'using (\w+) = |using (?!namespace)[\w:]*?(\w+);')
FUNCTION = re.compile(r'[\w:<>,&*\s\[\]()]*?\b([A-Za-z_]\w*)\((?!\))?')
VARIABLE = re.compile(r'[^(]*?\b(\w+)(?:\[\w*\])*(?:\{| = |;)')


def local_lines(text):
    """(number, statement up to its body) of what unnamed namespaces hold at their own level, and of what is static
    or constexpr outside of them."""
    unnamed = []
    lines = text.split('\n')
    taken = 0
    for number, line in enumerate(lines, 1):
        if number <= taken:
            continue
        if re.match(r'(?:inline )?namespace(?: [\w:]+)? \{$', line):
            unnamed.append(line == 'namespace {')
        elif line.startswith('}  // namespace') and unnamed:
            unnamed.pop()
        elif (any(unnamed) or line.startswith(('static ', 'constexpr '))) and re.match(r'[A-Za-z]', line):
            statement = line
            taken = number
            for more in lines[number:number + 12]:
                if statement.endswith((';', '{', '}')) or not more:
                    break
                statement += ' ' + more.strip()
                taken += 1
            yield number, statement


def parameters(statement, begin):
    """The types of a function's parameters as text, without their names."""
    depth, one, all_of = 0, '', []
    for letter in statement[begin:]:
        if letter == ')' and depth == 0:
            break
        depth += {'(': 1, '<': 1, '{': 1, ')': -1, '>': -1, '}': -1}.get(letter, 0)
        if letter == ',' and depth == 0:
            all_of.append(one)
            one = ''
        else:
            one += letter
    all_of.append(one)
    return tuple(re.sub(r'(?<=[\s&*>])\w+$', '', part.split(' = ')[0].strip()).strip() for part in all_of)


def declared(statement):
    """(name, what must differ from another of that name), or None."""
    statement = re.sub(r'^template <.*?> (?=[a-z])', '', statement)
    if found := TYPE.match(statement):
        return found[1], None
    if found := ALIAS.match(statement):
        return found[1] or found[2], statement
    function, variable = FUNCTION.match(statement), VARIABLE.match(statement)
    if variable and (not function or variable.start(1) < function.start(1)):
        return variable[1], None
    return (function[1], parameters(statement, function.end())) if function else None


def clash(one, other):
    """Aliases (text) clash unless they are the same, functions (tuples) if they are."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return one == other
    return not (isinstance(one, str) and one == other)


def shared_names(headers):
    """{(namespace, name): where} of the types, aliases and constants in (file name, text) of headers."""
    found = {}
    for name, text in headers:
        namespace = ''
        for number, line in enumerate(text.split('\n'), 1):
            if opened := re.match(r'namespace ([\w:]+) \{$', line):
                namespace = opened[1]
            line = re.sub(r'^(?:template <.*> )?(?:inline )?', '', line)
            what = TYPE.match(line) or re.match(r'using (\w+) = ', line) or re.match(r'constexpr [^=(]*?\b(k\w+)', line)
            if what:
                found[namespace, what[1]] = f'{name}:{number}'
    return found


def faults(sources, shared):
    """`sources`: (file name, text) of one folder; `shared`: what shared_names returned."""
    seen = collections.defaultdict(list)
    for name, text in sources:
        namespace = (re.findall(r'^namespace ([\w:]+) \{$', text, re.M) or [''])[0]
        for number, statement in local_lines(text):
            if statement.startswith(('using namespace', 'using enum', 'namespace')):
                continue
            if (found := declared(statement)) is None:
                continue
            what, rest = found
            if not isinstance(rest, tuple) and (namespace, what) in shared:
                yield f'{name}:{number}: {what} is also a name of {shared[namespace, what]}'
            for other, other_number, other_rest in seen[what]:
                if other != name and clash(rest, other_rest):
                    yield f'{name}:{number}: {what} is also a name of {other}:{other_number}'
                    break
            seen[what].append((name, number, rest))


def violations(root):
    def texts(folder, pattern):
        for path in sorted(folder.glob(pattern)):
            place = path.relative_to(root).parts
            if place[0] not in APART and 'testing' not in place and not path.stem.endswith('_test'):
                yield str(path.relative_to(root.parent)), path.read_text()

    shared = shared_names(texts(root, '**/*.h'))
    for folder in sorted({path.parent for path in root.rglob('*.cpp')}):
        yield from faults(texts(folder, '*.cpp'), shared)


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1] / 'src'
    found = list(violations(root.resolve()))
    print('\n'.join(found) or 'local names: fine')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
