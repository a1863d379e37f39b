"""Rows of `table python_lines` as line_profiler prints its own."""
from itertools import groupby

_COLUMNS = "%6s %9s %12s %8s %8s  %-s"


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
    return "".join(text)
