"""A hand-made session for tests of the injected library: writes the control page, reads the chunks.

Independent of the tool on purpose: the record layouts come from src/format/records.def, everything
else from FORMAT.md, so that the library is tested against the documents and not against our reader.
"""

import os
import shutil
import struct
import subprocess
import tempfile
import time
import weakref

from record_definitions import COUNTERS, FORMAT_VERSION, KINDS, STRING, STRING_PLACES

CONTROL_BYTES = 64 * 1024
CHUNK_MAGIC = 0x314B4342
HEADER = struct.Struct("<IHHIIIIIIIIqQqQqQ")
HEADER_FIELDS = (
    "magic version header_bytes chunk_bytes used_bytes pid tid thread_index chunk_index "
    "capture_index clock_kind attach_ns base_ticks base_monotonic_ns end_ticks end_monotonic_ns "
    "ticks_per_second"
).split()
WORD = struct.Struct("<Q")
TRACE_ALL = 0x7F


class Record(dict):
    """Fields by name, strings resolved; .kind, .ticks (absolute), .tail (what follows), .raw (strings
    as bytes)."""

    __getattr__ = dict.__getitem__


class Chunk:
    """Every record is looked at when the chunk is read: its extent, its kind, its strings. Those
    that are asked for become objects."""

    def __init__(self, header, data):
        self.__dict__.update(header)
        self.strings = {}
        self._data = data[: self.used_bytes or self.chunk_bytes]
        self._places = []  # (kind number, delta, start of the fields, end)
        self._records = {}  # by place
        self._check(self._data)

    @property
    def records(self):
        return self.records_of(())

    def records_of(self, kinds):
        """Those of these kinds, if any are given."""
        found = []
        for place in self._places:
            if kinds and KINDS[place[0]][0] not in kinds:
                continue
            record = self._records.get(place[2])
            if record is None:
                record = self._records[place[2]] = self._record(*place)
            found.append(record)
        return found

    @property
    def last_record(self):
        return self._record(*self._places[-1]) if self._places else None

    def _check(self, data):
        at, size, head_at = self.header_bytes, len(data), WORD.unpack_from
        strings, places = self.strings, self._places
        while at + 8 <= size:
            (head,) = head_at(data, at)
            if head == 0:
                assert not self.used_bytes, "a closed chunk has no hole"
                break
            words, fields_at = (head >> 8) & 0xFF, at + 8
            if words == 0:
                (words,) = head_at(data, at + 8)
                fields_at += 8
            end = at + words * 8
            assert words and end <= size, "a record beyond its chunk"
            number = head & 0xFF
            layout, string_places = STRING_PLACES[number]
            if number == STRING:
                string = self._record(number, head >> 16, fields_at, end)
                assert string.id == len(strings) + 1, "string ids count from 1"
                strings[string.id] = string.tail
            else:
                if string_places:
                    values = layout.unpack(_fields(layout, data, fields_at, end))
                    for place in string_places:
                        assert values[place] <= len(strings), "a string that comes later"
                places.append((number, head >> 16, fields_at, end))
            at = end

    def _record(self, number, delta, fields_at, end):
        name, layout, fields = KINDS[number]
        data = self._data
        values = layout.unpack(_fields(layout, data, fields_at, end))
        record = Record(zip((field for field, _ in fields), values))
        record.__dict__.update(kind=name, ticks=self.base_ticks + delta, delta=delta, raw={},
                               tail=data[fields_at + layout.size : end], chunk=self)
        if "byte_count" in record:
            rest = record.tail
            record.__dict__["tail"] = rest[: record.byte_count]
            assert len(record.tail) == record.byte_count
            assert len(rest) - record.byte_count < 8 and not any(rest[record.byte_count :])
        for field, kind in fields:
            if kind == "StringRef":
                raw = self.strings[record[field]] if record[field] else b""
                record.raw[field] = raw
                record[field] = raw.decode(errors="replace")
        return record


def _fields(layout, data, fields_at, end):
    """The bytes of the fields. Zero words at a record's end may be left out."""
    full = fields_at + layout.size
    return data[fields_at:full] if full <= end else data[fields_at:end].ljust(layout.size, b"\0")


class Process:
    def __init__(self, path, data):
        self.path, self.data = path, data
        pid, attach = os.path.basename(path)[:-4].split("-")
        self.pid, self.attach_ns = int(pid), int(attach)
        self.chunks, at = [], 0
        while at + HEADER.size <= len(data):
            header = dict(zip(HEADER_FIELDS, HEADER.unpack_from(data, at)))
            if header["magic"] != CHUNK_MAGIC:
                at += 4096
                continue
            assert header["pid"] == self.pid and header["attach_ns"] == self.attach_ns
            assert header["chunk_bytes"] % 4096 == 0
            self.chunks.append(Chunk(header, data[at : at + header["chunk_bytes"]]))
            at += header["chunk_bytes"]
        self.chunks.sort(key=lambda chunk: (chunk.thread_index, chunk.chunk_index))

    def records(self, *kinds, thread=None):
        return [record for chunk in self.chunks if thread is None or chunk.thread_index == thread
                for record in chunk.records_of(kinds)]

    def counters(self):
        """Highest value seen of each counter, by name."""
        values = {}
        for record in self.records("Counter"):
            name = COUNTERS[record.counter]
            values[name] = max(values.get(name, 0), record.value)
        return values


class LiveFolder:
    """A session without the tool. Keyword arguments are members of ControlPage."""

    OFFSETS = {"trace": (12, "I"), "state": (16, "I"), "changes": (20, "I"),
               "captures_done": (28, "I"), "trigger": (32, "I"), "capture_repeat": (36, "I"),
               "budget_bytes": (40, "I"), "first_chunk_bytes": (44, "I"),
               "max_chunk_bytes": (48, "I"), "disable": (52, "I"), "session_start_ns": (56, "q"),
               "processes_attached": (64, "I"), "range_end_ignored": (68, "I"),
               "stop": (76, "I"), "file_bytes": (80, "Q"), "max_file_bytes": (88, "Q"),
               "keep_free_bytes": (96, "Q"), "growth_error": (104, "I"), "files_cut": (108, "I"),
               "events_unfiled": (112, "I"),
               "capture_message": (120, "512s"), "capture_domain": (632, "256s"),
               "capture_registered_only": (888, "I"), "domain_filter": (892, "I"),
               "domains": (896, "4096s"), "python_path": (4992, "4096s"),
               "functions_trace": (9088, "4096s"), "extra": (13184, "16384s"),
               "keep_free_files": (29592, "Q"), "processes_unfiled": (29600, "I")}

    def __init__(self, library, path=None, **members):
        self.library = library
        self.path = path
        self._read = {}  # the processes by path, until their files have other bytes
        if path is None:
            self.path = tempfile.mkdtemp(suffix=".batchlight.live")
            weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)
        page = bytearray(CONTROL_BYTES)
        struct.pack_into("<QI", page, 0, 0x314C52544E4F4342, FORMAT_VERSION)
        values = {"trace": TRACE_ALL, "state": 1, "session_start_ns": time.monotonic_ns()}
        values.update(members)
        for name, value in values.items():
            offset, kind = self.OFFSETS[name]
            struct.pack_into("<" + kind, page, offset,
                             value.encode() if isinstance(value, str) else value)
        with open(self.control, "wb") as file:
            os.chmod(self.control, 0o600)  # the library refuses what others may write
            file.write(page)

    @property
    def control(self):
        return os.path.join(self.path, "control")

    def get(self, name):
        offset, kind = self.OFFSETS[name]
        with open(self.control, "rb") as file:
            file.seek(offset)
            return struct.unpack("<" + kind, file.read(struct.calcsize(kind)))[0]

    def set(self, name, value):
        offset, kind = self.OFFSETS[name]
        with open(self.control, "r+b") as file:
            file.seek(offset)
            file.write(struct.pack("<" + kind, value))

    def environment(self, preload=True):
        environment = dict(os.environ, BATCHLIGHT_SESSION_DIR=self.path,
                           NVTX_INJECTION64_PATH=self.library)
        if preload and self.library:
            environment["LD_PRELOAD"] = self.library
        return environment

    def run(self, *command, preload=True, **options):
        options.setdefault("timeout", 120)
        return subprocess.run(command, env=self.environment(preload), **options)

    def processes(self):
        paths = [os.path.join(self.path, name) for name in os.listdir(self.path)
                 if name.endswith(".blp") and name[0].isdigit()]
        return sorted((self._process(path) for path in paths), key=lambda process: process.attach_ns)

    def _process(self, path):
        with open(path, "rb") as file:
            data = file.read()
        if path not in self._read or self._read[path].data != data:
            self._read[path] = Process(path, data)
        return self._read[path]
