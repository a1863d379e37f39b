"""Everything NVTX v3 can say gets into the recording as it was said, and the program sees what the
NVTX documentation promises. Each test runs with every NVTX header at hand."""

import os
import struct
from unittest import mock

import inject_case
from inject_case import NVTX_KINDS, InjectCase


def each_client(test):
    def run(self):
        for client, path in enumerate(inject_case.CLIENTS):
            with self.subTest(client=path.rsplit("/", 1)[-1]):
                test(self, client)

    return run


class NvtxTest(InjectCase):
    def events(self, folder):
        return self.only_process(folder).records(*NVTX_KINDS)

    @each_client
    def test_results_and_texts(self, client):
        folder = self.session()
        lines = self.run_client(folder, "basics", client=client)
        self.assertEqual(lines, ["push 0", "push 1", "pop 1", "pop 0", "pop -1", "distinct 1"])
        events = self.events(folder)
        self.assertEqual(
            [(event.kind, event.get("message")) for event in events],
            [("RangePush", "outer"), ("RangePush", "w\u00efde \u4e2d \U0001f600"),
             ("RangePop", None), ("RangePop", None), ("Mark", "mark"), ("Mark", "wide mark"),
             ("RangeStart", "first"), ("RangeStart", "second"), ("RangeEnd", None),
             ("RangeEnd", None), ("RangePush", ""), ("RangePop", None)])
        ids = [event.range_id for event in events if "range_id" in event]
        self.assertEqual(ids[:2], ids[2:])

        ticks = [event.ticks for event in events]
        self.assertEqual(ticks, sorted(ticks))
        process = self.only_process(folder)
        self.assertEqual([(r.category, r.name) for r in process.records("CategoryName")],
                         [(7, "loading"), (8, "computing")])
        named = [r for r in process.records("ThreadName") if r.source == 1]
        self.assertEqual([(r.tid, r.name) for r in named], [(process.pid, "main loop")])
        self.assertEqual(process.counters().get("PopsUnbalanced"), 1)

    @each_client
    def test_payloads(self, client):
        folder = self.session()
        self.run_client(folder, "payloads", client=client)
        marks = self.events(folder)
        bits = {1: 2**64 - 1, 2: 2**64 - 5, 3: struct.unpack("<Q", struct.pack("<d", 0.5))[0],
                4: 3, 5: 2**32 - 7, 6: struct.unpack("<I", struct.pack("<f", 1.5))[0]}
        self.assertEqual({m.payload_type: m.payload for m in marks[:6]}, bits)
        for mark in marks[:7]:
            self.assertEqual((mark.message, mark.category, mark.color, mark.flags & 2),
                             ("payload", 7, 0xFF8800FF, 2))
        self.assertEqual((marks[6].payload_type, marks[6].payload), (0, 0))
        self.assertEqual((marks[7].category, marks[7].message), (9, ""))
        self.assertEqual((marks[8].category, marks[8].message), (0, ""))
        self.assertEqual(len(marks), 9)

    @each_client
    def test_domains(self, client):
        folder = self.session()
        lines = self.run_client(folder, "domains", client=client)
        self.assertEqual(lines, [
            "shared 1", "apart 1", "same string 1", "domain push 0", "default push 0",
            "domain push 1", "domain pop 1", "default pop 0", "domain pop 0", "domain pop -1",
            "still there 0"])
        process = self.only_process(folder)
        events = [(event.kind, event.get("domain"), event.get("message"))
                  for event in self.events(folder)]
        domain, text = "io.test", "registered"
        self.assertEqual(events, [
            ("RangePushEx", domain, text), ("RangePush", None, text),
            ("RangePushEx", domain, text), ("RangePopDomain", domain, None),
            ("RangePop", None, None), ("RangePopDomain", domain, None),
            ("RangeStart", domain, text), ("RangeEnd", None, None), ("Mark", domain, text),
            ("RangePushEx", domain, "acquire spinlock"), ("RangePopDomain", domain, None),
            ("RangeStart", domain, "hold spinlock"), ("RangeEnd", None, None),
            ("RangePushEx", domain, text), ("RangePopDomain", domain, None)])
        self.assertTrue(all(event.flags & 1 for event in self.events(folder)
                            if event.get("message") == text))
        self.assertEqual([(r.domain, r.category, r.name)
                          for r in process.records("CategoryName")], [(domain, 3, "in domain")])
        self.assertEqual([(r.domain, r.created) for r in process.records("DomainLife")],
                         [(domain, 1), (domain, 1), ("io.other", 1), (domain, 0)])
        resources = process.records("ResourceName")
        self.assertEqual([(r.name, r.destroyed) for r in resources],
                         [("my resource", 0), ("", 1), ("spinlock", 0), ("", 1)])
        self.assertEqual((resources[0].type, resources[0].identifier), (0x10001, 0x1234))

    @each_client
    def test_payload_extension(self, client):
        folder = self.session()
        lines = self.run_client(folder, "extension", client=client)
        self.assertEqual(lines, ["enum 1", "schema 1", "again 1", "push payload 0",
                                 "pop payload 0", "enabled 1"])
        process = self.only_process(folder)
        schema, *entries = process.records("PayloadSchema", "PayloadSchemaEntry")
        self.assertEqual(
            (schema.domain, schema.name, schema.type, schema.entry_count, schema.payload_bytes),
            ("NCCL", "AllReduce", 1, 3, 24))
        self.assertEqual([(e.name, e.type, e.offset) for e in entries],
                         [("rank", 5, 0), ("bytes", 18, 8), ("op", 75, 0)])
        self.assertEqual(entries[1].description, "Message size")
        enum, *values = process.records("PayloadEnum", "PayloadEnumEntry")
        self.assertEqual((enum.name, enum.entry_count, enum.size_bytes), ("ncclRedOp", 2, 4))
        self.assertEqual([(v.name, v.value) for v in values], [("Sum", 0), ("Prod", 1)])

        events = self.events(folder)
        blobs = 2 * ["PayloadBlob"]  # the struct, then the string that it points to
        self.assertEqual(
            [event.kind for event in events],
            ["RangePushEx", *blobs, "RangePopDomain", "RangePushEx", *blobs, "PopPayload",
             *blobs, "RangePopDomain", "RangeStart", *blobs, "PopPayload", *blobs, "RangeEnd",
             "Mark", *blobs])
        self.assertEqual(events[0].message, "ncclAllReduce")
        self.assertEqual(events[4].message, "Sum")  # the field that the schema marks
        for event in events:
            if "flags" in event:
                self.assertEqual(event.flags & 4, 4)
        structs = [e for e in events if e.kind == "PayloadBlob" and e.schema_id == 2**24 + 5]
        strings = [e for e in events if e.kind == "PayloadBlob" and e.schema_id == 75]
        self.assertEqual({struct.unpack("<i4xQ", e.tail[:16]) for e in structs}, {(3, 4096)})
        self.assertEqual({e.tail for e in strings}, {b"Sum"})
        self.assertEqual((len(structs), len(strings)), (6, 6))

    @each_client
    def test_what_is_not_recorded_is_said(self, client):
        folder = self.session()
        if self.run_client(folder, "not_recorded", client=client) == ["headers without"]:
            return
        process = self.only_process(folder)
        self.assertEqual([e.kind for e in self.events(folder)], ["RangePush", "RangePop"])
        said = [reason.text for reason in process.records("Reason") if reason.feature == "nvtx"]
        self.assertEqual(len(said), 2, said)
        self.assertIn("nvtxEventSubmit", said[0])
        self.assertIn("nvtxCounterSample", said[1])

    def test_nvtx_2(self):
        folder = self.session()
        with mock.patch.dict(os.environ, MINI_NVTX_ENTRY="InitializeInjectionNvtx"):
            self.assertEqual(self.run_client(folder, "basics")[1], "push 1")
        self.assertEqual(self.events(folder)[0].message, "outer")

    def test_domain_filters(self):
        kept = {1: "io.test", 2: "io.other"}
        for mode in (1, 2):
            folder = self.session(domain_filter=mode, domains="io.test\0default\0")
            self.run_client(folder, "domains")
            domains = {event.domain for event in self.events(folder) if "domain" in event}
            self.assertEqual(domains, {"io.test"} if mode == 1 else set(), kept)
            plain = [event for event in self.events(folder) if event.kind == "RangePush"]
            self.assertEqual(len(plain), 1 if mode == 1 else 0)

    def test_cost_is_measured_without_a_trace(self):
        """What a range costs is timed in the program; only the result is in the recording."""
        folder = self.session()
        self.run_client(folder, "basics")
        process = self.only_process(folder)
        cost, = process.records("RecordCost")
        self.assertEqual((cost.what, cost.thread), ("range", 1))
        self.assertTrue(1 < cost.ns < 100_000, cost.ns)
        self.assertFalse([r for r in process.records() if "calibration" in str(dict(r))])
        self.assertEqual([chunk.chunk_index for chunk in process.chunks],
                         list(range(len(process.chunks))))

    def test_not_traced(self):
        folder = self.session(trace=0x7E)
        lines = self.run_client(folder, "basics")
        self.assertEqual(lines[0], "push -2")  # as without a tool
        self.assertEqual(self.events(folder), [])

    def test_not_collecting(self):
        folder = self.session(state=0)
        lines = self.run_client(folder, "basics")
        self.assertEqual(lines[:2], ["push 0", "push 1"])
        self.assertEqual(folder.processes(), [])
        self.assertEqual(folder.get("processes_attached"), 1)

    def test_names_of_any_length(self):
        folder = self.session()
        self.run_client(folder, "long_names")
        process = self.only_process(folder)
        events = self.events(folder)
        self.assertEqual(events[0].message, "x" * 65536)
        self.assertEqual(events[2].message, b"\xff\xfe not UTF-8 \xc3".decode(errors="replace"))
        texts = [event.message for event in events if event.kind == "Mark"]
        self.assertEqual(texts, [f"step {i} {0:0{i % 300}d}" for i in range(3000)])
        self.assertEqual(process.counters()["StringsTruncated"], 1)


if __name__ == "__main__":
    inject_case.main()
