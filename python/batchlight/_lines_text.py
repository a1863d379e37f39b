"""Rows of `table python_lines` as line_profiler prints its own and, of memory, memory_profiler."""
from itertools import groupby

_COLUMNS = "%6s %9s %12s %8s %8s  %-s"
_OF_MEMORY = "%6s %12s %12s %12s   %-s"


def text_of_lines(rows, unit=1e-6, skip_zero=False):
    """`unit`: of the times, in seconds. `skip_zero`: without functions that did not run."""
    text = ["Timer unit: %g s\n\n" % unit]
    for function, lines in groupby(rows, lambda row: row["Function"]):
        lines = list(lines)
        total = sum(row["Time (ns)"] or 0 for row in lines)
        if skip_zero and not any(row["Hits"] for row in lines):
            continue
        path, _, rest = function.rpartition(":")
        first, _, name = rest.partition("(")
        text.append("Total time: %g s\nFile: %s\nFunction: %s at line %s\n\n" % (
            total / 1e9, path, name[:-1], first))
        head = _COLUMNS % ("Line #", "Hits", "Time", "Per Hit", "% Time", "Line Contents")
        text += [head + "\n", "=" * len(head) + "\n"]
        for row in lines:
            values = ("", "", "", "")
            if row["Hits"]:
                time = row["Time (ns)"] / 1e9 / unit
                values = (row["Hits"], "%.1f" % time, "%.1f" % (time / row["Hits"]),
                          "%.1f" % (100 * row["Time (ns)"] / total if total else 0))
            text.append((_COLUMNS % ((row["Line #"],) + values + (row["Line Contents"] or "",))).rstrip()
                        + "\n")
        text.append("\n")
        if "Increment (B)" in lines[0]:
            text += _memory_of(lines) + ["\n"]
    return "".join(text)


def _memory_of(lines):
    head = _OF_MEMORY % ("Line #", "Mem usage", "Increment", "Occurrences", "Line Contents")
    text = [head + "\n", "=" * len(head) + "\n"]
    for row in lines:
        values = [_mebibytes(row["Mem usage (B)"]), _mebibytes(row["Increment (B)"]), row["Hits"]]
        text.append((_OF_MEMORY % (row["Line #"], *values, row["Line Contents"] or "")).rstrip() + "\n")
    return text


def _mebibytes(count):
    return "%.3f MiB" % (count / 1048576) if isinstance(count, int) else ""
