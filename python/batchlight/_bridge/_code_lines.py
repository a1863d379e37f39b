"""Where a function's source ends."""


def last_line(code):
    """Number of the last line of `code`, with what is defined inside of it."""
    last = max(_lines(code), default=code.co_firstlineno)
    for constant in code.co_consts:
        if isinstance(constant, type(code)):
            last = max(last, last_line(constant))
    return last


def _lines(code):
    if hasattr(code, "co_lines"):
        return [line for _, _, line in code.co_lines() if line is not None]
    # Before Python 3.10, as Objects/lnotab_notes.txt says: pairs of steps in bytes and, signed, lines.
    line, lines = code.co_firstlineno, [code.co_firstlineno]
    for step in code.co_lnotab[1::2]:
        line += step - 256 if step >= 128 else step
        lines.append(line)
    return lines
