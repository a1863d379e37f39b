"""Lines of every function of a source in C++, TypeScript or Python."""
import ast
import pathlib
import re

# Text in which braces, parentheses and semicolons have no meaning. Line ends stay, so that lines can be counted.
COMMON = r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"'
CPP = re.compile(r'R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"|' + COMMON +
                 r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'|^[ \t]*#(?:\\\n|[^\n])*", re.S | re.M)
TYPESCRIPT = re.compile(COMMON + r"|'(?:\\.|[^'\\\n])*'|`(?:\\.|\$\{(?:[^{}`]|`[^`]*`|\{[^{}]*\})*\}|[^`\\])*`"
                        r'|(?<=[(,=:!&|?] )/(?![*/ ])(?:\\.|\[(?:\\.|[^\]\n])*\]|[^/\\\n\[])+/'
                        r'|(?<=\()/(?![*/ ])(?:\\.|\[(?:\\.|[^\]\n])*\]|[^/\\\n\[])+/', re.S)
# What comes before the brace of a block that holds functions.
SCOPE = re.compile(r'^(?:(?:export|abstract|inline|declare|default)\s+)*'
                   r'(?:namespace|class|struct|union|extern)\b(?!.*\()', re.S)
ATTRIBUTES = re.compile(r'\[\[.*?\]\]|alignas\s*\([^()]*\)|template\s*<(?:[^(){};<>]|<[^(){};<>]*>)*>|__attribute__\s*\(\(.*?\)\)', re.S)


def blank(match):
    return re.sub(r'[^\n]', ' ', match[0])


def name_of(header):
    """The word before the parenthesis of the parameters."""
    named = re.findall(r'([\w~$]+(?:<[^<>()]*>)?)\s*\(', re.sub(r'^(?:public|protected|private)\s*:', '', header))
    return named[0] if named else header.strip().split('\n')[0]


def is_function(header, before_was_function):
    """Whether the brace after `header` opens a function's body."""
    header = header.strip()
    if before_was_function and re.fullmatch(r'[\[\]|\w\s]*', header):
        return True  # the block before was part of the type that the function returns
    if header.endswith('=>'):
        return True
    return '(' in header and not re.search(r'(?:=|\breturn|,|\()$', header)


def braced(text, mask):
    """(name, line, lines) of the outermost functions: a lambda is part of the function around it."""
    text = mask.sub(blank, text)
    blocks = []      # of open braces: 'scope', 'function' or 'other'
    inside = 0       # of these, how many are no scope
    start = opened = 0  # of the text before the brace, of the body
    name, was_function = '', False
    for match in re.finditer(r'[{};]', text):
        at, sign = match.start(), match[0]
        if sign == '{':
            if inside == 0:
                header = ATTRIBUTES.sub(' ', text[start:at])
                if SCOPE.match(header.strip()):
                    blocks.append('scope')
                    start = at + 1
                    continue
                function = is_function(header, was_function)
                blocks.append('function' if function else 'other')
                name, opened = name_of(header) or name, at
            else:
                blocks.append('other')
            inside += 1
        elif sign == '}':
            if not blocks:
                raise ValueError(f'line {text.count(chr(10), 0, at) + 1}: a brace too many')
            kind = blocks.pop()
            inside -= kind != 'scope'
            if inside == 0:
                was_function = kind == 'function'
                start = at + 1
                if was_function:
                    first = text.count('\n', 0, opened) + 1
                    yield name, first, text.count('\n', opened, at) + 1
        elif inside == 0:
            start, was_function = at + 1, False
    if blocks:
        raise ValueError('a brace is not closed')


def python(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node.lineno, node.end_lineno - node.lineno + 1


def function_lengths(path):
    """[(name, first line, lines)]; ValueError if the text cannot be parsed."""
    path = pathlib.Path(path)
    text = path.read_text(errors='replace')
    if path.suffix == '.py':
        return list(python(text))
    if path.suffix == '.ts':
        return list(braced(text, TYPESCRIPT))
    if path.suffix in ('.h', '.cpp', '.c', '.cu'):
        return list(braced(text, CPP))
    return []
