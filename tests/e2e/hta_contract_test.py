"""`export -t chrome` as Holistic Trace Analysis reads it: a folder of one file per rank, and in each
what its parser, its matching of calls and kernels, and its critical path rely on."""
import csv
import json
import lzma
import os
import pathlib
import re
import shutil
import sqlite3
import tempfile
import unittest

import recorded

TWO_RANKS = os.path.join(recorded.SOURCE, "tests", "recordings", "h200_two_ranks.batchlight")
SAMPLE = os.path.join(recorded.SOURCE, "tests", "kineto", "training.json")

# Arguments that HTA reads, and the types that it checks them against.
ARGUMENTS = {
    "stream": int, "correlation": int, "bytes": int, "memory bandwidth (GB/s)": float,
    "wait_on_stream": int, "wait_on_cuda_event_record_corr_id": int, "wait_on_cuda_event_id": int,
    "Input Dims": list, "External id": int, "Python id": int, "Python parent id": int,
    "Collective name": str, "In msg nelems": int, "Out msg nelems": int, "Group size": int,
    "dtype": str, "Process Group Name": str, "Process Group Ranks": str,
    "registers per thread": int, "shared memory": int, "grid": list, "block": list,
    "graph node id": int, "Sequence number": int, "Fwd thread id": int, "Ev Idx": int,
    "device": int, "context": int, "cuda_sync_kind": str,
}
LAUNCHES = {"cudaLaunchKernel", "cudaLaunchKernelExC", "cuLaunchKernel", "cuLaunchKernelEx",
            "cudaMemcpyAsync", "cudaMemsetAsync"}
WEEK_US = 7 * 24 * 3600 * 1e6
DTYPE_BYTES = {"Float": 4, "BFloat16": 2, "Half": 2, "Double": 8, "Long": 8, "Int": 4, "Byte": 1}


class Exports(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="bl_hta_")
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def export(self, source, name, *flags, kind="chrome", code=0):
        done = recorded.run(recorded.BATCHLIGHT, "export", "-t", kind, "-o", self.path(name), *flags,
                            source)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr

    def load(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return json.load(file)

    def kineto(self, name, events, **head):
        with open(self.path(name), "w", encoding="utf-8") as file:
            json.dump(dict(head, schemaVersion=1, baseTimeNanoseconds=0, traceEvents=events), file)
        return self.path(name)


class TwoRanks(Exports):
    def setUp(self):
        super().setUp()
        self.export(TWO_RANKS, "ranks", "--per-rank")
        self.names = sorted(os.listdir(self.path("ranks")))
        self.traces = [self.load(os.path.join("ranks", name)) for name in self.names]

    def rows(self, trace):
        """What HTA keeps: events with a duration and a category."""
        return [e for e in trace["traceEvents"] if "dur" in e and "cat" in e]

    def test_a_file_of_each_rank_with_its_place_in_the_job(self):
        self.assertEqual(self.names, ["rank_0.trace.json", "rank_1.trace.json"])
        for rank, name in enumerate(self.names):
            with open(self.path(os.path.join("ranks", name)), encoding="utf-8") as file:
                text = file.read()
            found = [m for line in text.splitlines() for m in re.findall(r'"rank":\s+(\d+)', line)]
            self.assertEqual(found, [str(rank)])
            self.assertLess(text.index('"distributedInfo"'), text.index('"traceEvents"'))
            self.assertEqual(self.traces[rank]["distributedInfo"],
                             {"backend": "nccl", "rank": rank, "world_size": 2})

    def test_ranks_share_nothing_but_the_base_of_time(self):
        first, second = self.traces
        self.assertEqual(first["baseTimeNanoseconds"], second["baseTimeNanoseconds"])
        self.assertEqual(first["baseTimeNanoseconds"] % (7889238 * 10 ** 9), 0)
        cpu = [{e["pid"] for e in self.rows(t) if e["cat"] == "cuda_runtime"} for t in self.traces]
        self.assertEqual([len(pids) for pids in cpu], [1, 1])
        self.assertFalse(cpu[0] & cpu[1])
        whole = self.load_whole()
        self.assertEqual(sum(len(self.rows(t)) for t in self.traces), len(self.rows(whole)))
        # The ranks leave a collective together: corrected times, not each rank's own.
        ends = [[e["ts"] + e["dur"] for e in self.rows(t) if "AllReduce" in e["name"]
                 and e["cat"] == "kernel"] for t in self.traces]
        self.assertEqual(len(ends[0]), len(ends[1]))
        self.assertGreater(len(ends[0]), 5)
        for a, b in zip(*map(sorted, ends)):
            self.assertLess(abs(a - b), 2000)

    def load_whole(self):
        self.notes = self.export(TWO_RANKS, "whole.json")
        return self.load("whole.json")

    def test_columns_and_types(self):
        for trace in self.traces:
            for e in trace["traceEvents"]:
                self.assertIsInstance(e["ts"], (int, float))
                for key, value in e.get("args", {}).items():
                    if key in ARGUMENTS:
                        self.assertIs(type(value), ARGUMENTS[key], (key, value))
                    if isinstance(value, int):
                        self.assertLess(abs(value), 2 ** 63)
            for e in self.rows(trace):
                self.assertLessEqual({"ts", "dur", "name", "cat", "pid", "tid"}, set(e))
                self.assertIsInstance(e["pid"], int)
                self.assertIsInstance(e["tid"], int)
                self.assertTrue(0 <= e["dur"] < WEEK_US, e)
                self.assertGreaterEqual(e["ts"], 0)

    def test_calls_and_kernels_find_each_other(self):
        for trace in self.traces:
            rows = self.rows(trace)
            calls, work = {}, []
            for e in rows:
                stream = e["args"].get("stream", -1)
                if e["cat"] in ("kernel", "gpu_memcpy", "gpu_memset"):
                    self.assertGreater(stream, 0)
                    work.append(e)
                elif e["cat"] in ("cuda_runtime", "cuda_driver"):
                    self.assertNotIn("stream", e["args"])
                    self.assertNotIn(e["args"]["correlation"], calls)
                    calls[e["args"]["correlation"]] = e
                elif e["cat"] != "cuda_sync":
                    self.assertNotIn("stream", e["args"])
            self.assertGreater(len(work), 300)
            for e in work:
                call = calls[e["args"]["correlation"]]
                self.assertIn(call["name"], LAUNCHES)
                self.assertLessEqual(call["ts"], e["ts"])
            self.assertIn("cudaLaunchKernel", {e["name"] for e in rows})
            for e in work:
                if e["cat"] != "kernel":
                    self.assertRegex(e["name"], "^Mem(cpy|set)")

    def test_steps_are_annotated_and_do_not_overlap(self):
        for trace in self.traces:
            steps = sorted((e["ts"], e["ts"] + e["dur"], int(e["name"].split("#")[1]))
                           for e in self.rows(trace) if e["name"].startswith("ProfilerStep#")
                           and e["cat"] == "user_annotation")
            self.assertGreaterEqual(len(steps), 2)
            for (_, end, number), (start, _, following) in zip(steps, steps[1:]):
                self.assertLessEqual(end, start + 0.001)  # of doubles that hold a year
                self.assertEqual(following, number + 1)

    def test_collectives_say_what_was_moved(self):
        for trace in self.traces:
            kernels = [e for e in self.rows(trace)
                       if e["cat"] == "kernel" and re.match("^nccl", e["name"])]
            told = [e for e in kernels if "Collective name" in e["args"]]
            self.assertGreater(len(told), 10)
            self.assertEqual(len(told), len(kernels))
            for e in told:
                args = e["args"]
                self.assertEqual(args["Group size"], 2)
                self.assertEqual(args["Process Group Ranks"], "[0, 1]")
                self.assertRegex(args["Process Group Name"], "^0x[0-9a-f]{16}$")
                self.assertEqual(args["Collective name"] == "allreduce", "AllReduce" in e["name"])
                if args["Collective name"] != "allreduce":
                    self.assertNotIn("dtype", args)  # NCCL does not say
                    continue
                size = DTYPE_BYTES[args["dtype"]]
                self.assertEqual(args["In msg nelems"] * size, args["bytes"])
                self.assertEqual(args["Out msg nelems"] * size, args["bytes"])
        names = [{e["args"]["Process Group Name"] for e in self.rows(t)
                  if "Process Group Name" in e["args"]} for t in self.traces]
        self.assertEqual(names[0], names[1])

    def test_one_file_of_both_keeps_them_apart(self):
        whole = self.load_whole()
        self.assertEqual(whole["distributedInfo"],
                         {"backend": "nccl", "rank": 0, "world_size": 2, "ranks": [0, 1]})
        self.assertIn("the file holds 2 ranks", self.notes)
        self.assertIn("--per-rank", self.notes)
        for phase in "sf":
            ids = [e["id"] for e in whole["traceEvents"] if e["ph"] == phase and e["cat"] == "ac2g"]
            self.assertGreater(len(ids), 600)
            self.assertEqual(len(ids), len(set(ids)))

    def test_other_formats_per_rank(self):
        for kind in ("perfetto", "jsonlines", "folded", "speedscope"):
            self.export(TWO_RANKS, kind, "--per-rank", kind=kind)
            files = sorted(os.listdir(self.path(kind)))
            self.assertEqual([name.split(".")[0] for name in files], ["rank_0", "rank_1"])
        with open(self.path("jsonlines/rank_1.jsonl"), encoding="utf-8") as lines:
            pids = {row.get("process_pid", row.get("pid")) for row in map(json.loads, lines)
                    if row["table"] in ("kernels", "api_calls", "threads", "processes")}
        self.assertEqual(pids, {605})
        self.export(TWO_RANKS, "none", "--per-rank", kind="sqlite", code=2)

    def test_no_row_has_a_name_twice(self):
        self.export(TWO_RANKS, "all.jsonl", kind="jsonlines")

        def unique(pairs):
            self.assertEqual(len(pairs), len({key for key, _ in pairs}), pairs)
            return dict(pairs)
        with open(self.path("all.jsonl"), encoding="utf-8") as lines:
            rows = [json.loads(line, object_pairs_hook=unique) for line in lines]
        parents = {row["pid"]: (row["parent_pid"], row["parent_process_pid"]) for row in rows
                   if row["table"] == "processes"}
        self.assertEqual(parents, {556: (555, None), 604: (556, 556), 605: (556, 556)})
        self.export(TWO_RANKS, "csv", kind="csv")
        for name in os.listdir(self.path("csv")):
            with open(os.path.join(self.path("csv"), name), encoding="utf-8",
                      errors="replace") as table:
                header = table.readline().rstrip("\n").split(",")
            self.assertEqual(len(header), len(set(header)), (name, header))

    def test_ranks_of_before_go_away(self):
        folder = self.path("ranks")
        for name in ("rank_7.trace.json", "mine.json"):
            shutil.copy(os.path.join(folder, "rank_1.trace.json"), os.path.join(folder, name))
        self.export(TWO_RANKS, "ranks", "--per-rank", code=4)
        self.export(TWO_RANKS, "ranks", "--per-rank", "-f")
        self.assertEqual(sorted(os.listdir(folder)),
                         ["mine.json", "rank_0.trace.json", "rank_1.trace.json"])


class PlaceInTheJob(Exports):
    EVENTS = [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 5, "tid": 5, "ts": 1, "dur": 2,
               "args": {}}]
    GLOO = [{"ph": "X", "cat": "cpu_op", "name": "gloo:all_reduce", "pid": 5, "tid": 5, "ts": 4,
             "dur": 2, "args": {}}]

    def info(self, events, **head):
        self.export(self.kineto("in.json", events, **head), "out.json", "-f")
        return self.load("out.json")["distributedInfo"]

    def test_what_is_not_known_is_not_written(self):
        self.assertEqual(self.info(self.EVENTS), {"rank": 0})
        self.export(self.path("in.json"), "ranks", "--per-rank", code=2)
        self.assertFalse(os.path.exists(self.path("ranks")))

    def test_what_is_known_is(self):
        info = {"backend": "gloo", "rank": 1, "world_size": 4}
        self.assertEqual(self.info(self.EVENTS, distributedInfo=info), info)

    def test_the_backend_is_seen_in_what_ran(self):
        self.assertEqual(self.info(self.EVENTS + self.GLOO), {"backend": "gloo", "rank": 0})
        self.assertEqual(self.info(self.EVENTS + self.GLOO, distributedInfo={"rank": 2}),
                         {"rank": 2, "backend": "gloo"})


    def test_what_torch_distributed_said(self):
        with open(os.path.join(recorded.SOURCE, "tests", "recordings", "threads.txt"),
                  encoding="utf-8", errors="surrogateescape") as file:
            text = file.read()
        job = "".join('+10 Property key="torch.distributed_%s" value="%s"\n' % pair for pair in
                      (("backend", "gloo"), ("rank", "1"), ("world_size", "4")))
        at = text.index("+10 RangePush")
        with open(self.path("in.txt"), "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text[:at] + job + text[at:])
        live = self.path("in.batchlight.live")
        done = recorded.run(recorded.BATCHLIGHT, "trace", "assemble", self.path("in.txt"), "-o", live)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.export(live, "ranks", "--per-rank")
        self.assertEqual(os.listdir(self.path("ranks")), ["rank_1.trace.json"])
        self.assertEqual(self.load("ranks/rank_1.trace.json")["distributedInfo"],
                         {"backend": "gloo", "rank": 1, "world_size": 4})


class FilesOfEachRank(Exports):
    """nsys under a launcher makes a file for each rank, and stores the rank in none."""

    def setUp(self):
        super().setUp()
        packed = pathlib.Path(recorded.SOURCE, "tests", "recordings", "nsys-2025.3", "captures",
                              "two_ranks.sqlite.xz")
        data = lzma.decompress(packed.read_bytes())
        self.files = [self.path(name) for name in ("a.sqlite", "b.sqlite")]
        for i, name in enumerate(self.files):
            pathlib.Path(name).write_bytes(data)
            with sqlite3.connect(name) as database:
                self.keep_process(database, i)
            database.close()

    @staticmethod
    def keep_process(database, which):
        """Leaves what one of the two that used the GPU did."""
        gone = sorted(pid for (pid,) in database.execute(
            "SELECT DISTINCT globalPid FROM CUPTI_ACTIVITY_KIND_KERNEL"))[1 - which]
        for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type='table'").fetchall():
            for (_, column, *_) in database.execute("PRAGMA table_info(%s)" % table).fetchall():
                if column in ("globalPid", "globalTid"):
                    database.execute("DELETE FROM %s WHERE %s >> 24 = ?" % (table, column),
                                     (gone >> 24,))

    def test_two_files_are_two_ranks(self):
        done = recorded.run(recorded.BATCHLIGHT, "export", "-t", "chrome", "--per-rank", "-o",
                            self.path("ranks"), *self.files)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(os.listdir(self.path("ranks"))),
                         ["rank_0.trace.json", "rank_1.trace.json"])
        for rank, name in enumerate(self.files):
            trace = self.load("ranks/rank_%d.trace.json" % rank)
            told = trace["distributedInfo"]
            self.assertEqual((told["rank"], told["world_size"]), (rank, 2))
            self.export(name, "alone.json", "-f")
            alone = self.load("alone.json")
            self.assertEqual(len(trace["traceEvents"]), len(alone["traceEvents"]))
            self.assertGreater(len(trace["traceEvents"]), 1000)

    def test_reports_tell_them_apart(self):
        done = recorded.run(recorded.BATCHLIGHT, "stats", "-q", "-f", "csv", "-r", "nccl_sum",
                            *self.files)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = list(csv.DictReader(done.stdout.strip().splitlines()))
        self.assertEqual({row["Rank"] for row in rows}, {"0", "1"})

    def test_without_per_rank_there_is_one_file(self):
        done = recorded.run(recorded.BATCHLIGHT, "export", "-t", "chrome", "-o", self.path("x.json"),
                            *self.files)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("the file holds 2 ranks", done.stderr)


class Waits(Exports):
    def test_an_event_wait_names_the_record_that_it_waits_for(self):
        def call(name, correlation, ts):
            return {"ph": "X", "cat": "cuda_runtime", "name": name, "pid": 5, "tid": 5, "ts": ts,
                    "dur": 1, "args": {"correlation": correlation}}

        def record(correlation, stream, ts):
            return {"ph": "X", "cat": "cuda_event", "name": "cudaEventRecord", "pid": 0,
                    "tid": stream, "ts": ts, "dur": 1,
                    "args": {"correlation": correlation, "event_id": 3, "stream": stream,
                             "context": 1, "device": 0}}

        def sync(kind, correlation, stream, ts, **args):
            return {"ph": "X", "cat": "cuda_sync", "name": kind, "pid": 0, "tid": stream, "ts": ts,
                    "dur": 1, "args": dict(args, cuda_sync_kind=kind, stream=stream, context=1,
                                           device=0, correlation=correlation)}

        source = self.kineto("in.json", [
            call("cudaEventRecord", 10, 10), call("cudaStreamWaitEvent", 12, 12),
            call("cudaEventRecord", 14, 14), call("cudaStreamWaitEvent", 16, 16),
            call("cudaEventSynchronize", 18, 18), call("cudaStreamSynchronize", 20, 20),
            record(10, 7, 11), record(14, 8, 15),
            sync("Stream Wait Event", 12, 20, 12, wait_on_cuda_event_id=3),
            sync("Stream Wait Event", 16, 20, 16, wait_on_cuda_event_id=3),
            sync("Event Sync", 18, -1, 18, wait_on_cuda_event_id=4),
            sync("Stream Sync", 20, 7, 20)])
        self.export(source, "out.json")
        events = self.load("out.json")["traceEvents"]
        waits = {e["args"]["correlation"]: e["args"] for e in events if e.get("cat") == "cuda_sync"}
        names = {12: (7, 10, 3), 16: (8, 14, 3), 18: (-1, -1, 4)}
        for correlation, expected in names.items():
            self.assertEqual(tuple(waits[correlation][key] for key in (
                "wait_on_stream", "wait_on_cuda_event_record_corr_id", "wait_on_cuda_event_id")),
                expected)
        self.assertEqual((waits[12]["stream"], waits[20]["stream"]), (20, 7))
        self.assertNotIn("wait_on_stream", waits[20])
        # HTA merges the records that are waited for with the calls one to one.
        calls = {e["args"]["correlation"]: e["name"] for e in events
                 if e.get("cat") == "cuda_runtime"}
        bound = [(w["wait_on_cuda_event_record_corr_id"], w["wait_on_stream"])
                 for w in waits.values() if w.get("wait_on_stream", -1) > -1]
        self.assertEqual(len(bound), 2)
        self.assertEqual(len({correlation for correlation, _ in set(bound)}), len(set(bound)))
        self.assertEqual({calls[correlation] for correlation, _ in bound}, {"cudaEventRecord"})


if __name__ == "__main__":
    unittest.main()
