"""Importing nsys exports: the table families that the real file does not have, versions of the
schema, and files that are wrong."""
import csv
import io
import json
import os
import random
import shutil
import sqlite3
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from nsys_files import NsysFiles  # noqa: E402

PROCESS = (1 << 48) + (100 << 24)
OTHER = (1 << 48) + (200 << 24)
MAIN, WORKER = PROCESS + 100, PROCESS + 101


class Export:
    """A small export, made table by table: export.table("OSRT_API", {"start": 1, ...}, ...)."""

    def __init__(self, path, minor=25):
        self.path = path
        self.database = sqlite3.connect(path)
        self.strings = {}
        self.database.execute("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)")
        self.table("META_DATA_EXPORT", {"name": "EXPORT_SCHEMA_VERSION_MINOR", "value": str(minor)})

    def string(self, text):
        if text not in self.strings:
            self.strings[text] = len(self.strings)
            self.database.execute("INSERT INTO StringIds VALUES (?, ?)",
                                  (self.strings[text], text))
        return self.strings[text]

    def table(self, name, *rows):
        columns = list(rows[0])
        quoted = ",".join(f'"{column}"' for column in columns)
        self.database.execute(f"CREATE TABLE IF NOT EXISTS {name} ({quoted})")
        self.database.executemany(
            f"INSERT INTO {name} ({quoted}) VALUES ({','.join('?' * len(columns))})",
            [[row[column] for column in columns] for row in rows])
        return self

    def done(self):
        self.database.commit()
        self.database.close()
        return self.path


class Families(NsysFiles):
    def export(self, name):
        path = self.path(name)
        if os.path.exists(path):
            os.remove(path)
        return Export(path)

    def report(self, path, spec, *args):
        text = self.run_tool("stats", "-q", "-f", "csv", "-r", spec, *args, path).stdout.decode()
        return list(csv.DictReader(io.StringIO(text)))

    def again(self, path, spec):
        """The same report after a round trip through our own export."""
        out = path + ".again.sqlite"
        self.run_tool("export", "-q", "-f", "-o", out, path)
        return self.report(out, spec)

    def both(self, path, spec):
        rows = self.report(path, spec)
        self.assertEqual(rows, self.again(path, spec))
        return rows

    def test_os_runtime_and_system_calls(self):
        export = self.export("os.sqlite")
        call = {"globalTid": MAIN, "returnValue": 0}
        export.table("OSRT_API",
                     dict(call, start=0, end=100, eventClass=27, nameId=export.string("poll")),
                     dict(call, start=200, end=500, eventClass=27, nameId=export.string("poll")),
                     dict(call, start=600, end=650, eventClass=27, nameId=export.string("read")))
        export.table("SYSCALL", dict(call, start=5, end=9, eventClass=107,
                                     nameId=export.string("futex")))
        path = export.done()
        rows = self.both(path, "osrt_sum")
        self.assertEqual([(r["Name"], r["Total Time (ns)"], r["Num Calls"], r["Time (%)"],
                           r["Avg (ns)"], r["StdDev (ns)"]) for r in rows],
                         [("poll", "400", "2", "88.9", "200.0", "141.4"),
                          ("read", "50", "1", "11.1", "50.0", "0.0")])
        self.assertEqual([r["Name"] for r in self.both(path, "syscall_sum")], ["futex"])

    def with_call_chains(self, switches=((0, 1, 0), (50, 0, 1), (60, 1, 0), (90, 0, 2))):
        """Three CUDA and OS calls, three samples and switches (time, on, state) of one thread."""
        export = self.export("cpu.sqlite")

        def chain(number, *functions, **more):
            """Innermost first; a function without a name has an address alone."""
            return [dict(more, id=number, symbol=export.string(name or "0x7f10"),
                         module=export.string(module), unresolved=None if name else 1,
                         originalIP=100 * number + depth, stackDepth=depth)
                    for depth, (name, module) in enumerate(functions)]

        libraries = ("libcuda.so.1", "libcudart.so.13", "libtorch_cuda.so")
        cuda = [(None, libraries[0]), ("cudaMalloc", libraries[1]), ("allocate", libraries[2])]
        export.table("CUDA_CALLCHAINS", *chain(0, *cuda), *chain(1, ("sync", libraries[2])))
        call = {"globalTid": MAIN, "returnValue": 0}
        export.table(
            "CUPTI_ACTIVITY_KIND_RUNTIME",
            # Each call twice, as nsys has it with backtraces.
            dict(call, start=0, end=100, eventClass=0, correlationId=7, callchainId=None,
                 nameId=export.string("cudaMalloc_v3020")),
            dict(call, start=1, end=99, eventClass=67, correlationId=7, callchainId=0,
                 nameId=export.string("cudaMalloc")),
            dict(call, start=200, end=230, eventClass=0, correlationId=8, callchainId=1,
                 nameId=export.string("cudaDeviceSynchronize_v3020")))
        export.table("OSRT_CALLCHAINS", *chain(5, ("__read", "/usr/lib/libc.so.6"),
                                               ("load", "/usr/bin/train"), kernelMode=0))
        export.table("OSRT_API",
                     dict(call, start=300, end=400, eventClass=27, callchainId=5,
                          nameId=export.string("read")),
                     dict(call, start=500, end=510, eventClass=27, callchainId=0,
                          nameId=export.string("read")))
        export.table("META_DATA_CAPTURE",
                     {"name": "LINUX_PERF_OPTIONS:CPU_IP_TRIGGER_TYPE", "value": "Software"},
                     {"name": "LINUX_PERF_OPTIONS:SAMPLING_PERIOD", "value": "2000000"})
        export.table("COMPOSITE_EVENTS", *[
            {"id": number, "start": 10 * number, "cpu": 3, "threadState": 1, "globalTid": MAIN,
             "cpuCycles": 1} for number in (1, 2, 3)])
        work = [("work", "/usr/bin/train"), ("main", "/usr/bin/train")]
        export.table("SAMPLING_CALLCHAINS", *chain(1, *work, kernelMode=0),
                     *chain(2, *work, kernelMode=0))
        export.table("SCHED_EVENTS", *[
            {"start": start, "cpu": 3, "isSchedIn": on, "globalTid": MAIN, "threadState": state}
            for start, on, state in switches])
        return export.done()

    def test_samples_switches_and_call_chains(self):
        path = self.with_call_chains()
        again, third = path + ".again.sqlite", path + ".third.sqlite"
        self.run_tool("export", "-q", "-f", "-o", again, path)
        self.run_tool("export", "-q", "-f", "-o", third, again)
        for source in (path, again, third):
            def rows(name, source=source):
                text = self.run_tool("table", name, "--format=csv", source).stdout.decode()
                return list(csv.DictReader(io.StringIO(text)))
            self.assertEqual(
                [(r["Call"], r["Calls"], r["Total (ns)"], r["Called By"]) for r in rows("call_stacks")],
                [("cudaMalloc_v3020", "1", "100", "allocate"), ("read", "1", "100", "load"),
                 ("cudaDeviceSynchronize_v3020", "1", "30", "sync")])
            functions = {r["Function"]: r for r in rows("samples")}
            self.assertEqual(functions["work"]["Self (ns)"], "4000000")
            self.assertEqual(functions["main"]["Total (ns)"], "4000000")
            (thread,) = rows("threads")
            self.assertEqual([thread[name + " (ns)"] for name in ("Running", "Ready", "Sampled")],
                             ["80", "10", "6000000"])
        with sqlite3.connect(third) as database:
            self.assertEqual(database.execute(
                "SELECT s.value FROM CUPTI_ACTIVITY_KIND_RUNTIME r JOIN CUDA_CALLCHAINS c "
                "ON c.id = r.callchainId JOIN StringIds s ON s.id = c.symbol "
                "WHERE r.correlationId = 7 ORDER BY c.stackDepth").fetchall(),
                [("0x0",), ("cudaMalloc",), ("allocate",)])
            self.assertEqual(database.execute(
                "SELECT count(*), count(DISTINCT c.id) FROM OSRT_API o JOIN OSRT_CALLCHAINS c "
                "ON c.id = o.callchainId").fetchone(), (2, 1))
            self.assertEqual(database.execute(
                "SELECT isSchedIn, threadState FROM SCHED_EVENTS ORDER BY start").fetchall(),
                [(1, 0), (0, 0), (1, 0), (0, 0)])
            self.assertEqual(database.execute("SELECT count(*) FROM COMPOSITE_EVENTS").fetchone(),
                             (3,))

    def test_why_nsys_took_a_thread_from_its_processor_is_not_known(self):
        """It writes 0 for a thread that waits and for one that another takes the place of, and 5
        where the thread ends."""
        path = self.with_call_chains(((0, 1, 0), (50, 0, 0), (60, 1, 0), (90, 0, 5)))
        text = self.run_tool("table", "threads", "--format=csv", path).stdout.decode()
        (thread,) = csv.DictReader(io.StringIO(text))
        self.assertEqual([thread[name] for name in ("Running (ns)", "Ready (ns)", "Blocked (ns)",
                                                    "Preempted", "Waits")],
                         ["80", "", "", "", ""])

    def test_unified_memory(self):
        export = self.export("um.sqlite")
        copy = {"deviceId": 0, "contextId": 1, "streamId": 7, "correlationId": 0,
                "globalPid": PROCESS}
        export.table("CUPTI_ACTIVITY_KIND_MEMCPY",
                     dict(copy, start=0, end=1000, bytes=2_000_000, copyKind=11, srcKind=4,
                          dstKind=4, virtualAddress=0x7000, migrationCause=1),
                     dict(copy, start=2000, end=3000, bytes=1_000_000, copyKind=12, srcKind=4,
                          dstKind=4, virtualAddress=0x7000, migrationCause=2),
                     dict(copy, start=50, end=60, bytes=5, copyKind=1, srcKind=0, dstKind=2,
                          virtualAddress=None, migrationCause=None))
        export.table("CUDA_UM_CPU_PAGE_FAULT_EVENTS",
                     *({"start": t, "globalPid": PROCESS, "address": 0x7000,
                        "CpuInstruction": export.string("main+0x10"),
                        "module": export.string("app")} for t in (1, 2, 3)))
        export.table("CUDA_UM_GPU_PAGE_FAULT_EVENTS",
                     {"start": 5, "end": 6, "globalPid": PROCESS, "deviceId": 0,
                      "address": 0x8000, "numberOfPageFaults": 4, "faultAccessType": 1})
        path = export.done()
        rows = self.both(path, "um_sum")
        self.assertEqual(list(rows[0].values()), ["0x7000", "2.000", "1.000", "3", "",
                                                  "1500000.000"])
        total = self.both(path, "um_total_sum")[0]
        self.assertEqual(list(total.values()), ["2.000", "1.000", "3", "4", "0x7000", "0x8000"])
        self.assertEqual(list(self.both(path, "um_cpu_page_faults_sum")[0].values()),
                         ["3", "main+0x10", "", "0"])
        self.assertEqual(len(self.report(path, "um_sum:rows=1")), 1)
        names = [r["Operation"] for r in self.report(path, "cuda_gpu_mem_time_sum")]
        self.assertIn("[CUDA memcpy Unified Host-to-Device]", names)

    def test_mpi(self):
        export = self.export("mpi.sqlite")
        export.table("MPI_RANKS", {"globalTid": MAIN, "rank": 3})
        export.table("MPI_P2P_EVENTS",
                     {"start": 0, "end": 10, "globalTid": MAIN, "textId":
                      export.string("MPI_Send"), "tag": 5, "remoteRank": 1, "size": 4096})
        export.table("MPI_COLLECTIVES_EVENTS",
                     {"start": 20, "end": 60, "globalTid": MAIN, "textId":
                      export.string("MPI_Bcast"), "rootRank": 0, "size": 100, "recvSize": 200})
        export.table("MPI_OTHER_EVENTS", {"start": 70, "end": 75, "globalTid": MAIN,
                                          "textId": export.string("MPI_Init")})
        path = export.done()
        self.assertEqual([(r["Name"], r["Total Time (ns)"])
                          for r in self.both(path, "mpi_event_sum")],
                         [("MPI_Bcast", "40"), ("MPI_Send", "10"), ("MPI_Init", "5")])
        self.assertEqual([(r["Source"], r["Total Message Volume"])
                          for r in self.both(path, "mpi_msg_size_sum")],
                         [("coll_recv", "200"), ("coll_send", "100"), ("p2p", "4096")])
        trace = self.both(path, "mpi_event_trace")
        self.assertEqual([r["Rank"] for r in trace], ["3", "3", "3"])
        self.assertEqual((trace[0]["PeerRank"], trace[0]["Tag"], trace[1]["RootRank"]),
                         ("1", "5", "0"))

    def test_openmp_openacc_network(self):
        export = self.export("other.sqlite")
        export.table("ENUM_OPENMP_EVENT_KIND", {"id": 1, "name": "X", "label": "Parallel"})
        export.table("OPENMP_EVENT_KIND_PARALLEL",
                     {"start": 0, "end": 7, "globalTid": MAIN, "eventKind": 1})
        export.table("CUPTI_ACTIVITY_KIND_OPENACC_OTHER",
                     {"start": 0, "end": 9, "globalTid": MAIN, "nameId": export.string("acc")})
        export.table("TARGET_INFO_NETWORK_METRICS",
                     {"metricsListId": 1, "metricsIdx": 0, "name": "IB: Send waits"})
        export.table("TARGET_INFO_NIC_INFO", {"GUID": 0xabc, "name": "mlx5_0", "nicId": 7})
        export.table("NIC_ID_MAP", {"nicId": 7, "globalId": 70})
        metric = {"globalId": 70, "portId": 1, "metricsListId": 1, "metricsIdx": 0}
        export.table("NET_NIC_METRIC", dict(metric, start=0, end=1_000_000, value=20_000),
                     dict(metric, start=1_000_000, end=2_000_000, value=9_999))
        path = export.done()
        self.assertEqual([(r["Name"], r["Total Time (ns)"]) for r in self.both(path, "openmp_sum")],
                         [("Parallel", "7")])
        self.assertEqual([r["Name"] for r in self.both(path, "openacc_sum")], ["acc"])
        rows = self.both(path, "network_congestion")
        self.assertEqual([(r["Send wait rate (ticks/ms)"], r["GUID"], r["Device name"]) for r in rows],
                         [("20000", "abc", "mlx5_0")])
        self.assertEqual(len(self.report(path, "network_congestion:ticks_threshold=9000")), 2)

    def two_ranks(self):
        """Two processes with the same correlation ids, ranges of two domains, a registered name."""
        export = self.export("ranks.sqlite")
        kernel = {"deviceId": 0, "contextId": 1, "streamId": 7, "gridX": 1, "gridY": 1, "gridZ": 1,
                  "blockX": 32, "blockY": 1, "blockZ": 1, "registersPerThread": 8,
                  "demangledName": export.string("void k<int>(int)"),
                  "shortName": export.string("k")}
        launch = {"eventClass": 0, "nameId": export.string("cudaLaunchKernel_v7000"),
                  "returnValue": 0}
        for process, device, shift in ((PROCESS, 0, 0), (OTHER, 1, 5)):
            export.table("CUPTI_ACTIVITY_KIND_RUNTIME",
                         dict(launch, start=100 + shift, end=110 + shift, globalTid=process + 100,
                              correlationId=9))
            export.table("CUPTI_ACTIVITY_KIND_KERNEL",
                         dict(kernel, start=200 + shift, end=300 + 2 * shift, globalPid=process,
                              correlationId=9, deviceId=device))
            nvtx = {"globalTid": process + 100, "text": None, "textId": None, "domainId": 0}
            export.table(
                "NVTX_EVENTS",
                dict(nvtx, start=0, end=None, eventType=75, text="NCCL", domainId=3),
                dict(nvtx, start=50, end=150 + shift, eventType=59, text="step"),
                dict(nvtx, start=60, end=140, eventType=59,
                     textId=export.string("ncclAllReduce"), domainId=3),
                dict(nvtx, start=70, end=None, eventType=60, text="open"))
        return export.done()

    def test_joins_carry_the_process(self):
        path = self.two_ranks()
        rows = self.both(path, "nvtx_kern_sum:base")
        self.assertEqual([(r["NVTX Range"], r["PID"], r["Kern Inst"], r["Total Time (ns)"])
                          for r in rows if r["NVTX Range"] == "NCCL:ncclAllReduce"],
                         [("NCCL:ncclAllReduce", "100", "1", "100"),
                          ("NCCL:ncclAllReduce", "200", "1", "105")])
        self.assertEqual(len(self.both(path, "cuda_kern_exec_trace")), 2)
        ranges = {r["Range"]: r for r in self.both(path, "nvtx_sum")}
        self.assertEqual(ranges[":open"]["Style"], "StartEnd")
        # Still open: ends at the last moment of any range.
        self.assertEqual(ranges[":open"]["Max (ns)"], str(155 - 70))

    def test_nccl_recipes(self):
        export = self.export("nccl.sqlite")
        kernel = {"deviceId": 0, "contextId": 1, "streamId": 7, "gridX": 1, "gridY": 1, "gridZ": 1,
                  "blockX": 32, "blockY": 1, "blockZ": 1, "registersPerThread": 8,
                  "globalPid": PROCESS}
        gemm, nccl = export.string("gemm"), export.string("ncclDevKernel_AllReduce")
        export.table("CUPTI_ACTIVITY_KIND_KERNEL",
                     dict(kernel, start=0, end=100, correlationId=1, demangledName=gemm,
                          shortName=gemm),
                     dict(kernel, start=50, end=250, correlationId=2, streamId=9,
                          demangledName=nccl, shortName=nccl),
                     dict(kernel, start=200, end=300, correlationId=3, demangledName=gemm,
                          shortName=gemm))
        export.table("CUPTI_ACTIVITY_KIND_RUNTIME",
                     {"start": 20, "end": 25, "globalTid": MAIN, "correlationId": 2,
                      "nameId": export.string("cuLaunchKernelEx"), "returnValue": 0,
                      "eventClass": 1})
        nvtx = {"globalTid": MAIN, "domainId": 4}
        export.table("NVTX_EVENTS", dict(nvtx, start=0, end=None, eventType=75, text="NCCL"),
                     dict(nvtx, start=10, end=30, eventType=59, text="ncclAllReduce"))
        path = export.done()
        trace = self.both(path, "nccl_gpu_overlap_trace")
        self.assertEqual([(r["Overlapped (ns)"], r["Exposed (ns)"], r["Overlap (%)"])
                          for r in trace], [("100", "100", "50.0")])
        self.assertEqual([(r["Name"], r["Total Time (ns)"]) for r in self.both(path, "nccl_sum")],
                         [("ncclAllReduce", "20")])
        self.assertEqual([(r["Total Time (ns)"], r["GPU Ops"])
                          for r in self.both(path, "nccl_gpu_proj_sum")], [("200", "1")])

    def test_names_with_every_kind_of_character(self):
        export = self.export("names.sqlite")
        text = 'a,"b"\n\tc | <d> & \u00fc'
        export.table("NVTX_EVENTS", {"start": 0, "end": 1, "eventType": 59, "globalTid": MAIN,
                                     "text": text, "domainId": 0})
        path = export.done()
        self.assertEqual(self.both(path, "nvtx_sum")[0]["Range"], ":" + text)
        import json
        done = self.run_tool("stats", "-q", "-f", "json", "-r", "nvtx_sum", path)
        self.assertEqual(json.loads(done.stdout)[0]["Range"], ":" + text)
        for form in ("column", "table", "tsv", "markdown"):
            lines = self.run_tool("stats", "-q", "-f", form, "-r", "nvtx_sum", path)
            body = [line for line in lines.stdout.decode().splitlines() if "PushPop" in line]
            self.assertEqual(len(body), 1, form)
            self.assertIn("a,", body[0])
        html = self.run_tool("stats", "-q", "-f", "htable", "-r", "nvtx_sum", path).stdout
        self.assertIn(b"&lt;d&gt; &amp;", html)


class Versions(NsysFiles):
    def test_newest_of_renamed_tables(self):
        path = self.path("v3.sqlite")
        shutil.copy(self.sqlite, path)
        with sqlite3.connect(path) as database:
            database.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET_V3 AS SELECT * FROM "
                             "CUPTI_ACTIVITY_KIND_MEMSET LIMIT 2")
        text = self.run_tool("stats", "-q", "-f", "csv", "-r", "cuda_gpu_mem_time_sum", path)
        self.assertIn(b",2,", [line for line in text.stdout.splitlines() if b"memset" in line][0])

    def test_columns_that_are_not_there(self):
        path = self.path("old.sqlite")
        shutil.copy(self.sqlite, path)
        with sqlite3.connect(path) as database:
            for column in ("mangledName", "greenContextId", "launchType", "graphNodeId",
                           "sharedMemoryExecuted"):
                database.execute(f"ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN {column}")
        old = self.run_tool("stats", "-q", "-f", "csv", "-r", "cuda_gpu_kern_sum", path).stdout
        new = self.stats("-q", "-f", "csv", "-r", "cuda_gpu_kern_sum").stdout
        self.assertEqual(old, new)


    def of_schema(self, minor, *statements):
        path = self.path(f"schema_{minor}.sqlite")
        shutil.copy(self.sqlite, path)
        with sqlite3.connect(path) as database:
            database.execute("UPDATE META_DATA_EXPORT SET value=? WHERE name="
                             "'EXPORT_SCHEMA_VERSION_MINOR'", (str(minor),))
            for statement in statements:
                database.execute(statement)
        return path

    def test_schemas_from_3_16_to_3_28(self):
        """The differences that exports of these versions have; what a file lacks is said once."""
        kernel, wait = "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"
        with sqlite3.connect(self.sqlite) as database:
            columns = [row[1] for row in database.execute(f"PRAGMA table_info({kernel})")]
        after = columns[columns.index("sharedMemoryLimitConfig") + 1:]
        reports = "cuda_gpu_kern_sum,cuda_api_sum,nvtx_sum,cuda_gpu_trace"
        want = self.stats("-q", "-f", "csv", "-r", reports).stdout
        text = lambda path: self.run_tool("stats", "-f", "csv", "-r", reports, path)
        files = {
            16: [f"ALTER TABLE {kernel} DROP COLUMN {c}" for c in after] +
                [f"ALTER TABLE {wait} DROP COLUMN {c}" for c in ("deprecatedSyncType", "eventSyncId")],
            22: [],
            24: ["ALTER TABLE CUPTI_ACTIVITY_KIND_MEMCPY ADD COLUMN newColumn INTEGER"],
            25: [f"ALTER TABLE {kernel} ADD COLUMN somethingNew TEXT DEFAULT '[]'",
                 f"UPDATE {wait} SET syncType=syncType+1"],
            28: ["CREATE TABLE n AS SELECT * FROM NVTX_EVENTS", "ALTER TABLE n ADD COLUMN eventId",
                 "UPDATE n SET eventId=rowid", "DROP TABLE NVTX_EVENTS",
                 "ALTER TABLE n RENAME TO NVTX_EVENTS"],
        }
        for minor, statements in files.items():
            with sqlite3.connect(self.sqlite) as database:
                have = {t: {row[1] for row in database.execute(f"PRAGMA table_info({t})")}
                        for t in (kernel, wait)}
            usable = [s for s in statements if "DROP COLUMN" not in s or
                      s.split()[-1] in have[s.split()[2]]]
            done = text(self.of_schema(minor, *usable))
            self.assertEqual(done.stdout, want, f"schema 3.{minor}")
            self.assertNotIn(b"NOTE", done.stderr, f"schema 3.{minor}")

    def test_kinds_of_waits(self):
        """Until 3.25, 2 is a stream that waits for an event and, where no event is named, a wait
        for a stream; from then on that is 3. 1 is a wait for an event in all of them."""
        none = 0xffffffff
        wait = {"deviceId": 0, "contextId": 1, "correlationId": 0, "globalPid": PROCESS}
        event, stream_waits, stream_sync, context, unknown = 1, 2, 3, 4, 0  # kinds.def, SyncType
        waits = {
            24: [(1, 5, none, event), (2, 5, 7, stream_waits), (2, none, 7, stream_sync),
                 (3, none, none, context), (9, none, none, unknown)],
            25: [(1, 5, none, event), (2, 5, 7, stream_waits), (3, none, 7, stream_sync),
                 (4, none, none, context), (9, none, none, unknown)],
        }
        for minor, rows in waits.items():
            path = self.path(f"waits_{minor}.sqlite")
            export = Export(path, minor)
            export.table("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
                         *(dict(wait, start=i, end=i + 1, syncType=kind, eventId=event_id, streamId=stream)
                           for i, (kind, event_id, stream, _) in enumerate(rows)))
            out = self.path(f"waits_{minor}.jsonl")
            self.run_tool("export", "-q", "-f", "-t", "jsonlines", "--tables", "synchronizations",
                          "-o", out, export.done())
            with open(out, encoding="utf-8") as lines:
                got = [json.loads(line)["sync_type"] for line in lines if '"synchronizations"' in line]
            self.assertEqual(got, [want for _, _, _, want in rows], f"schema 3.{minor}")

    def test_missing_columns_are_said_once_a_table(self):
        path = self.of_schema(16, "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN mangledName",
                              "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN greenContextId",
                              "ALTER TABLE CUPTI_ACTIVITY_KIND_RUNTIME DROP COLUMN returnValue")
        said = self.run_tool("stats", "-r", "cuda_gpu_kern_sum", path).stderr.decode().splitlines()
        notes = [line for line in said if line.startswith("NOTE:")]
        self.assertEqual(len(notes), 2, said)
        self.assertTrue(any("CUPTI_ACTIVITY_KIND_KERNEL has no column greenContextId, mangledName"
                            in line for line in notes), notes)
        self.assertEqual(self.run_tool("stats", "-q", "-r", "cuda_gpu_kern_sum", path).stderr, b"")
        summary = " ".join(self.run_tool("summary", path).stdout.decode().split())
        self.assertIn("CUPTI_ACTIVITY_KIND_RUNTIME has no column returnValue", summary)

    def test_files_that_only_sqlite_itself_can_read(self):
        """A write-ahead log and computed columns: the same through statements."""
        want = self.stats("-q", "-f", "csv", "-r", "nvtx_sum,cuda_gpu_trace").stdout
        path = self.path("wal.sqlite")
        shutil.copy(self.sqlite, path)
        database = sqlite3.connect(path)
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("CREATE TABLE other (a)")
        database.commit()
        done = self.run_tool("stats", "-q", "-f", "csv", "-r", "nvtx_sum,cuda_gpu_trace", path)
        self.assertEqual(done.stdout, want)
        database.close()
        computed = self.path("computed.sqlite")
        shutil.copy(self.sqlite, computed)
        with sqlite3.connect(computed) as database:
            database.execute("ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN ns AS (end-start)")
        done = self.run_tool("stats", "-q", "-f", "csv", "-r", "nvtx_sum,cuda_gpu_trace", computed)
        self.assertEqual(done.stdout, want)


class Wrong(NsysFiles):
    def broken(self, name, *statements):
        path = self.path(name)
        shutil.copy(self.sqlite, path)
        with sqlite3.connect(path) as database:
            for statement in statements:
                database.execute(statement)
        return path

    def fails(self, path, *words):
        done = self.run_tool("stats", "-r", "cuda_gpu_sum,cuda_api_sum,nvtx_sum", path, code=3)
        for word in words:
            self.assertIn(word, done.stderr.decode())
        self.assertEqual(done.stdout, b"")

    def test_text_where_a_number_belongs(self):
        path = self.broken("text.sqlite", "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start='soon' "
                                          "WHERE rowid=17")
        self.fails(path, "CUPTI_ACTIVITY_KIND_KERNEL", "rowid 17", "start", "soon")

    def test_ends_before_starts_and_overflow(self):
        path = self.broken(
            "times.sqlite",
            "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end=start-1 WHERE rowid IN (5, 9)",
            "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end=9223372036854775807, "
            "start=-9223372036854775808 WHERE rowid=11")
        done = self.run_tool("stats", "-q", "-f", "csv", "-r", "cuda_gpu_sum", path)
        rows = list(csv.DictReader(io.StringIO(done.stdout.decode())))
        kernels = sum(int(r["Instances"]) for r in rows if r["Category"] == "CUDA_KERNEL")
        self.assertEqual(kernels, 5806 - 3)
        out = self.path("times.jsonl")
        self.run_tool("export", "-q", "-t", "jsonlines", "-o", out, path)
        with open(out, encoding="utf-8") as lines:
            said = "".join(line for line in lines if '"table":"reasons"' in line)
        self.assertIn("2 row(s) end before they start and are left out (first: rowid 5)", said)
        self.assertIn("1 row(s) have a time that cannot be", said)
        self.assertIn("(first: rowid 11)", said)

    def test_dangling_strings_and_negative_times(self):
        path = self.broken(
            "dangling.sqlite",
            "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET demangledName=999999 WHERE rowid=1",
            "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET start=start-10000000000, "
            "end=end-10000000000")
        done = self.run_tool("stats", "-q", "-f", "csv", "-r", "cuda_gpu_kern_sum", path)
        self.assertIn(b"[string missing in the file]", done.stdout)
        self.run_tool("stats", "-q", "-r", "cuda_api_sum", path)

    def test_cut_short(self):
        with open(self.sqlite, "rb") as file:
            whole = file.read()
        path = self.path("cut.sqlite")
        for size in (0, 50, 100, 4096, 5000, 70_000, len(whole) // 2, len(whole) - 4096):
            with open(path, "wb") as file:
                file.write(whole[:size])
            done = self.run_tool("stats", "-r", "cuda_gpu_sum,nvtx_sum", path, code=3)
            self.assertIn("cut.sqlite", done.stderr.decode())

    def test_locked(self):
        path = self.path("locked.sqlite")
        shutil.copy(self.sqlite, path)
        database = sqlite3.connect(path)
        database.execute("BEGIN EXCLUSIVE")
        self.fails(path, "locked")
        database.close()

    def test_flipped_bytes_never_crash(self):
        """Any outcome but a crash: exit code 0, or 3 with a message."""
        import subprocess
        from nsys_files import PROGRAM
        with open(self.sqlite, "rb") as file:
            whole = bytearray(file.read())
        path = self.path("flipped.sqlite")
        for seed in range(60):
            rng = random.Random(seed)
            damaged = bytearray(whole)
            for _ in range(rng.choice((1, 10, 200))):
                damaged[rng.randrange(len(damaged))] = rng.randrange(256)
            with open(path, "wb") as file:
                file.write(damaged)
            done = subprocess.run(
                [PROGRAM, "stats", "-r", "cuda_gpu_trace,cuda_api_gpu_sum,nvtx_pushpop_trace,"
                 "nvtx_kern_sum,nvtx_gpu_proj_trace,cuda_kern_exec_sum", "-f", "csv", path],
                capture_output=True, timeout=60)
            self.assertIn(done.returncode, (0, 3), f"seed {seed}: {done.stderr[-500:]}")


if __name__ == "__main__":
    unittest.main()
