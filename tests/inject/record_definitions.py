"""The records and counters of the format, read from the tables in src/format."""

import os
import re
import struct

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TYPES = {"u8": "B", "u16": "H", "u32": "I", "u64": "Q", "i32": "i", "i64": "q", "f64": "d",
         "StringRef": "I"}


def read_definitions():
    """{kind number: (name, struct, [(field, type)])} from records.def."""
    text = open(os.path.join(SOURCE, "src/format/records.def")).read()
    text = re.sub(r"^\s*//.*$", "", text, flags=re.M)
    kinds = {}
    for match in re.finditer(r"RECORD_BEGIN\((\w+), (\d+),.*?\n(.*?)RECORD_END", text, re.S):
        fields = re.findall(r"FIELD\((\w+), (\w+),", match[3])
        layout = struct.Struct("<" + "".join(TYPES[kind] for kind, _ in fields))
        kinds[int(match[2])] = (match[1], layout, [(name, kind) for kind, name in fields])
    return kinds


def read_counters():
    text = open(os.path.join(SOURCE, "src/format/counters.def")).read()
    return {int(n): name for name, n in re.findall(r"^COUNTER\((\w+), (\d+)", text, re.M)}


def read_version():
    text = open(os.path.join(SOURCE, "src/format/layout.h")).read()
    return int(re.search(r"kFormatVersion = (\d+)", text)[1])


FORMAT_VERSION = read_version()
KINDS = read_definitions()
COUNTERS = read_counters()
STRING = next(number for number, (name, _, _) in KINDS.items() if name == "String")
# {kind number: (struct, places of the fields that name strings)}
STRING_PLACES = {number: (layout, [i for i, (_, kind) in enumerate(fields) if kind == "StringRef"])
                 for number, (_, layout, fields) in KINDS.items()}
