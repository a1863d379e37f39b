"""Traces and stacks: batchlight export -t chrome, perfetto, folded, speedscope."""
import csv
import json
import os
import re
import shutil
import sqlite3
import struct
import tempfile
import unittest

import recorded
import speedscope_file

SAMPLE = os.path.join(recorded.SOURCE, "tests", "kineto", "training.json")
THREADS = os.path.join(recorded.SOURCE, "tests", "recordings", "threads.txt")


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    """[(number, value)] of a protobuf message; raises on anything that is not one."""
    at, found = 0, []
    while at < len(data):
        tag, at = varint(data, at)
        number, wire = tag >> 3, tag & 7
        if wire == 0:
            value, at = varint(data, at)
        elif wire == 1:
            value, at = struct.unpack_from("<Q", data, at)[0], at + 8
        elif wire == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            if len(value) != size:
                raise ValueError("cut message")
        else:
            raise ValueError("wire type %d" % wire)
        found.append((number, value))
    return found


# Of the public protos (trace_packet, track_event, track_descriptor, ...): field number to wire type,
# or to the message inside. 0 varint, 1 64 bits, 2 text.
PROTO = {
    "Trace": {1: "TracePacket"},
    "TracePacket": {8: 0, 10: 0, 11: "TrackEvent", 12: "InternedData", 13: 0, 58: 0,
                    60: "TrackDescriptor"},
    "TrackEvent": {4: "DebugAnnotation", 9: 0, 10: 0, 11: 0, 22: 2, 23: 2, 30: 0, 47: 1, 48: 1},
    "DebugAnnotation": {1: 0, 2: 0, 3: 0, 4: 0, 5: 1, 6: 2, 10: 2},
    "InternedData": {2: "EventName"},
    "EventName": {1: 0, 2: 2},
    "TrackDescriptor": {1: 0, 2: 2, 3: "ProcessDescriptor", 4: "ThreadDescriptor", 5: 0,
                        8: "CounterDescriptor"},
    "ProcessDescriptor": {1: 0, 2: 2, 6: 2},
    "ThreadDescriptor": {1: 0, 2: 0, 5: 2},
    "CounterDescriptor": {1: 0, 3: 0, 4: 0},
}


def undeclared(message, data):
    """Fields of the message, and of those inside, that the protos do not have or type otherwise."""
    found = set()
    for number, value in fields(data):
        kind = PROTO[message].get(number)
        is_bytes = isinstance(value, bytes)
        if kind is None or is_bytes != (kind == 2 or isinstance(kind, str)):
            found.add((message, number))
        elif isinstance(kind, str):
            found |= undeclared(kind, value)
        elif kind == 2:
            value.decode("utf-8")
    return found


class TraceExports(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="bl_exports_")
        self.addCleanup(shutil.rmtree, self.folder)
        self.live = os.path.join(self.folder, "threads.batchlight.live")
        done = recorded.run(recorded.BATCHLIGHT, "trace", "assemble", THREADS, "-o", self.live)
        self.assertEqual(done.returncode, 0, done.stderr)

    def export_path(self, kind, source, *flags):
        path = os.path.join(self.folder, "out." + kind)
        done = recorded.run(recorded.BATCHLIGHT, "export", "-t", kind, "-o", path,
                            "--force-overwrite=true", *flags, source)
        self.assertEqual(done.returncode, 0, done.stderr)
        return path

    def export(self, kind, source, *flags):
        with open(self.export_path(kind, source, *flags), "rb") as file:
            return file.read()

    def chrome(self, source):
        return json.loads(self.export("chrome", source).decode("utf-8"))

    def test_chrome_meets_the_contract_of_hta(self):
        text = self.export("chrome", SAMPLE).decode("utf-8")
        ranks = [m for line in text.splitlines() for m in re.findall(r'"rank":\s+(\d+)', line)]
        self.assertEqual(ranks, ["3"])
        self.assertLess(text.index('"distributedInfo"'), text.index('"traceEvents"'))
        trace = json.loads(text)
        slices = [e for e in trace["traceEvents"] if e["ph"] == "X"]
        for e in slices:
            for key in ("ts", "dur", "name", "cat", "pid", "tid"):
                self.assertIn(key, e)
            self.assertGreaterEqual(e["dur"], 0)
            if e["cat"] in ("cpu_op", "user_annotation", "python_function", "cuda_runtime"):
                self.assertNotIn("stream", e["args"])
            if e["cat"] in ("kernel", "gpu_memcpy", "gpu_memset"):
                self.assertGreater(e["args"]["stream"], 0)
                self.assertIsInstance(e["args"]["correlation"], int)
        by_name = {e["name"]: e for e in slices}
        launch, kernel = by_name["cudaLaunchKernel"], by_name[
            "void at::native::add_kernel<float>(int, float*)"]
        self.assertEqual(launch["args"]["correlation"], kernel["args"]["correlation"])
        self.assertEqual(launch["args"]["External id"], kernel["args"]["External id"])
        self.assertEqual(kernel["args"]["grid"], [64, 2, 1])
        self.assertIn("ProfilerStep#7", by_name)
        self.assertEqual(by_name["Memcpy HtoD (Pageable -> Device)"]["args"]["bytes"], 4096)
        self.assertEqual(by_name["Stream Sync"]["cat"], "cuda_sync")
        self.assertEqual(by_name["aten::linear"]["args"]["Input Dims"],
                         [[64, 768], [768, 8], [], []])
        # Times come out as they came in, on the same base rounded to three months.
        base = trace["baseTimeNanoseconds"]
        self.assertEqual(base % 7889238000000000, 0)
        start_ns = base + round(by_name["aten::linear"]["ts"] * 1000)
        self.assertAlmostEqual(start_ns, 1759276800000000000 + 1000100, delta=1000)

    def test_chrome_draws_arrows(self):
        events = self.chrome(SAMPLE)["traceEvents"]
        for category, count in (("ac2g", 3), ("fwdbwd", 1)):
            starts = {e["id"] for e in events if e["ph"] == "s" and e["cat"] == category}
            ends = {e["id"]: e for e in events if e["ph"] == "f" and e["cat"] == category}
            self.assertEqual(starts, set(ends), category)
            self.assertEqual(len(starts), count, category)
            self.assertTrue(all(e["bp"] == "e" for e in ends.values()))

    def test_chrome_start_end_ranges_are_asynchronous(self):
        events = self.chrome(self.live)["traceEvents"]
        self.assertFalse([e for e in events if e["name"] == "async" and e["ph"] == "X"])
        begin, = [e for e in events if e["ph"] == "b"]
        end, = [e for e in events if e["ph"] == "e"]
        for key in ("name", "cat", "id", "pid"):
            self.assertEqual(begin[key], end[key])
        self.assertEqual((begin["name"], begin["tid"], end["tid"]), ("async", 7, 8))
        self.assertLess(begin["ts"], end["ts"])
        again = os.path.join(self.folder, "again.json")
        with open(again, "wb") as file:
            file.write(self.export("chrome", self.live))
        table = ("stats", "-q", "-f", "csv", "-r", "nvtx_startend_sum")
        first = recorded.run(recorded.BATCHLIGHT, *table, self.live).stdout
        self.assertIn("async", str(first))
        self.assertEqual(recorded.run(recorded.BATCHLIGHT, *table, again).stdout, first)

    def test_chrome_reads_back(self):
        first = self.export("chrome", SAMPLE)
        path = os.path.join(self.folder, "again.json")
        with open(path, "wb") as file:
            file.write(first)
        key = lambda e: (e["cat"], e["name"], e["pid"], e["tid"], round(e["ts"], 3), e["dur"])
        slices = lambda t: sorted(key(e) for e in t["traceEvents"]
                                  if e["ph"] == "X" and e["cat"] != "python_function")
        self.assertEqual(slices(json.loads(first.decode())), slices(self.chrome(path)))

    def test_names_of_any_bytes(self):
        text = self.export("chrome", self.live).decode("utf-8")
        self.assertIn('batch \\"0\\"', text)
        json.loads(text)

    def perfetto(self, source):
        packets = [fields(body) for number, body in fields(self.export("perfetto", source))]
        tracks, names, events = {}, {}, []
        for packet in packets:
            packet = dict(packet)
            if 60 in packet:
                track = dict(fields(packet[60]))
                tracks[track[1]] = track
            if 12 in packet:
                for _, entry in fields(packet[12]):
                    entry = dict(fields(entry))
                    names[entry[1]] = entry[2].decode("utf-8")
            if 11 in packet:
                event = fields(packet[11])
                first = dict(event)
                events.append((packet[8], first[9], first[11], names.get(first.get(10)), event))
        return tracks, events

    def test_perfetto_has_only_fields_of_the_public_protos(self):
        for source in (SAMPLE, self.live):
            self.assertEqual(undeclared("Trace", self.export("perfetto", source)), set())

    def test_perfetto_slices_nest_on_known_tracks(self):
        for source in (SAMPLE, self.live):
            tracks, events = self.perfetto(source)
            depth = {}
            last = {}
            for at, kind, track, name, _ in events:
                self.assertIn(track, tracks)
                if kind in (1, 2):
                    self.assertGreaterEqual(at, last.get(track, 0))
                    last[track] = at
                    depth[track] = depth.get(track, 0) + (1 if kind == 1 else -1)
                    self.assertGreaterEqual(depth[track], 0)
                if kind == 1:
                    self.assertTrue(name)
            self.assertTrue(depth)
            self.assertEqual(set(depth.values()), {0})

    def test_perfetto_has_streams_flows_and_counters(self):
        tracks, events = self.perfetto(SAMPLE)
        labels = {t.get(2, b"").decode() for t in tracks.values()}
        self.assertLessEqual({"GPU 0", "stream 7", "stream 20", "running on the GPU"}, labels)
        started = {v for *_, event in events for number, v in event if number == 47}
        ended = {v for *_, event in events for number, v in event if number == 48}
        self.assertEqual(len(ended & started), 3)
        values = [dict(event)[30] for _, kind, _, _, event in events if kind == 4]
        self.assertEqual(values[-1], 0)
        self.assertGreaterEqual(max(values), 1)

    def test_perfetto_threads_and_streams_lie_under_what_they_belong_to(self):
        source = os.path.join(recorded.SOURCE, "tests", "recordings", "h200_two_ranks.batchlight")
        tracks, events = self.perfetto(source)
        parents = {}
        for track in tracks.values():
            if 4 in track:
                thread = dict(fields(track[4]))
                process = dict(fields(tracks[track[5]][3]))
                self.assertEqual(thread[1], process[1])
            elif track.get(2, b"").startswith(b"stream "):
                parents.setdefault(tracks[track[5]][2].decode(), set()).add(track[2].decode())
        self.assertEqual(set(parents), {"GPU 0", "GPU 1"})
        self.assertEqual(parents["GPU 0"], parents["GPU 1"])
        # Each flow goes from one call to one piece of work, which does not begin before it.
        begins, ends = {}, {}
        for at, _, track, _, event in events:
            for number, value in event:
                if number in (47, 48):
                    side = begins if number == 47 else ends
                    self.assertNotIn(value, side)
                    side[value] = at
        self.assertGreater(len(ends), 800)
        self.assertLessEqual(set(ends), set(begins))
        self.assertTrue(all(begins[flow] <= at for flow, at in ends.items()))
        # What runs is never less than nothing, and in the end it is nothing.
        running = {}
        for _, kind, track, _, event in events:
            if kind == 4:
                running.setdefault(track, []).append(dict(event)[30])
        self.assertEqual(len(running), 2)
        for values in running.values():
            self.assertEqual((min(values), values[-1]), (0, 0))

    def test_marks_are_instants(self):
        tracks, events = self.perfetto(self.live)
        marks = [(tracks[track], name) for _, kind, track, name, _ in events if kind == 3]
        self.assertEqual(len(marks), 1)
        self.assertEqual(dict(fields(marks[0][0][4]))[2], 8)
        self.assertEqual(marks[0][1], "bytes \ufffd \u00e9")
        instant, = [e for e in self.chrome(self.live)["traceEvents"] if e["ph"] == "i"]
        self.assertEqual((instant["name"], instant["tid"]), (marks[0][1], 8))

    def test_network_counters(self):
        source = os.path.join(self.folder, "network.sqlite")
        with sqlite3.connect(source) as database:
            database.executescript("""
                CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
                CREATE TABLE META_DATA_EXPORT (name, value);
                INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION_MINOR', '25');
                CREATE TABLE TARGET_INFO_NETWORK_METRICS (metricsListId, metricsIdx, name);
                INSERT INTO TARGET_INFO_NETWORK_METRICS VALUES (1, 0, 'Bytes "sent"');
                CREATE TABLE TARGET_INFO_NIC_INFO (GUID, name, nicId);
                INSERT INTO TARGET_INFO_NIC_INFO VALUES (2748, 'mlx5_0', 7);
                CREATE TABLE NIC_ID_MAP (nicId, globalId);
                INSERT INTO NIC_ID_MAP VALUES (7, 70);
                CREATE TABLE NET_NIC_METRIC (start, end, globalId, portId, metricsListId,
                                             metricsIdx, value);
                INSERT INTO NET_NIC_METRIC VALUES (0, 1000, 70, 1, 1, 0, 20000),
                                                  (1000, 2000, 70, 1, 1, 0, 9999);""")
        database.close()
        tracks, events = self.perfetto(source)
        points = [(tracks[track][2].decode(), at, dict(event)[30])
                  for at, kind, track, _, event in events if kind == 4]
        self.assertEqual(points, [('mlx5_0 Bytes "sent"', 0, 20000),
                                  ('mlx5_0 Bytes "sent"', 1000, 9999)])
        counters = [e for e in self.chrome(source)["traceEvents"] if e["ph"] == "C"]
        self.assertEqual([(e["name"], e["args"]["value"]) for e in counters],
                         [(name, value) for name, _, value in points])

    def test_names_of_any_bytes_in_every_format(self):
        name = 'a "b"\\ c,d;e\tf\ng \u00e9'
        with open(THREADS, encoding="utf-8", errors="surrogateescape") as file:
            text = file.read()
        quoted = name.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t").replace(
            "\n", "\\n")
        source = os.path.join(self.folder, "names.txt")
        with open(source, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text.replace('message="epoch_1"', 'message="%s\\xff"' % quoted))
        live = os.path.join(self.folder, "names.batchlight.live")
        done = recorded.run(recorded.BATCHLIGHT, "trace", "assemble", source, "-o", live)
        self.assertEqual(done.returncode, 0, done.stderr)
        shown = name + "\ufffd"
        self.assertIn(shown, {e["name"] for e in self.chrome(live)["traceEvents"]})
        self.assertIn(shown, {name for *_, name, _ in self.perfetto(live)[1]})
        lines = self.export("jsonlines", live).decode("utf-8").splitlines()
        self.assertIn(shown, {json.loads(line).get("message") for line in lines})
        frames = json.loads(self.export("speedscope", live).decode("utf-8"))["shared"]["frames"]
        self.assertIn(shown, {frame["name"] for frame in frames})
        folded = self.export("folded", live).decode("utf-8").splitlines()
        flat = shown.replace(";", ":").replace("\n", " ").replace("\t", " ")
        self.assertTrue(any(flat in line.rsplit(" ", 1)[0].split(";") for line in folded))
        self.assertTrue(all(line.rsplit(" ", 1)[1].isdigit() for line in folded))
        self.export_path("sqlite", live)
        with sqlite3.connect(os.path.join(self.folder, "out.sqlite")) as database:
            self.assertIn((shown,), database.execute("SELECT text FROM NVTX_EVENTS").fetchall())
        database.close()
        self.export_path("csv", live)
        with open(os.path.join(self.folder, "out.csv", "nvtx_ranges.csv"), encoding="utf-8",
                  errors="surrogateescape", newline="") as table:
            self.assertIn(name + "\udcff", {row["message"] for row in csv.DictReader(table)})

    def test_folded_times_add_up(self):
        stacks = dict(line.rsplit(" ", 1) for line in
                      self.export("folded", SAMPLE).decode("utf-8").splitlines())
        total = sum(int(ns) for stack, ns in stacks.items() if ";ProfilerStep#;" in stack + ";")
        self.assertEqual(total, 200000)
        self.assertTrue(any(s.endswith(";aten::addmm;cudaLaunchKernel")
                            for s in stacks))

    def test_folded_by_gpu_time_holds_the_work_below_its_launch(self):
        stacks = dict(line.rsplit(" ", 1) for line in self.export(
            "folded", SAMPLE, "--metric", "self_cuda_time_total").decode("utf-8").splitlines())
        with open(SAMPLE, encoding="utf-8") as file:
            trace = json.load(file)["traceEvents"]
        calls = {event["args"]["correlation"] for event in trace
                 if event.get("cat") in ("cuda_runtime", "cuda_driver")}
        work = [event for event in trace if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")
                and event["args"].get("correlation") in calls]
        self.assertGreater(len(work), 2)
        self.assertEqual(sum(map(int, stacks.values())),
                         round(1000 * sum(event["dur"] for event in work)))
        self.assertTrue(all(stack.rsplit(";", 1)[1].startswith("cu") for stack in stacks))
        done = recorded.run(recorded.BATCHLIGHT, "export", "-t", "chrome", "--metric",
                            "self_cuda_time_total", SAMPLE)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("folded", done.stderr)

    def test_speedscope_is_as_its_schema_says(self):
        document = json.loads(self.export("speedscope", SAMPLE).decode("utf-8"))
        frames = document["shared"]["frames"]
        self.assertEqual(len({f["name"] for f in frames}), len(frames))
        self.assertEqual({profile["type"] for profile in document["profiles"]}, {"evented"})
        speedscope_file.check(self, document)

    def test_a_folder_that_is_missing_leaves_nothing(self):
        for kind in ("chrome", "perfetto", "folded", "speedscope"):
            path = os.path.join(self.folder, "no", "out")
            done = recorded.run(recorded.BATCHLIGHT, "export", "-t", kind, "-o", path, SAMPLE)
            self.assertEqual(done.returncode, 4, done.stderr)


if __name__ == "__main__":
    unittest.main()
