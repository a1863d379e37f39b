#!/usr/bin/env python3
"""What recording CUDA costs, whether it is right, and whether the program survives: see
../gpu_check.sh."""
import argparse
import json
import os
import shutil
import sqlite3
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from check_table import SHARE_OF_NSYS, Done, Table, first_existing, say, share_interval  # noqa: E402
from check_waiting import Waiting  # noqa: E402


class Check:
    def __init__(self, options):
        self.options = options
        self.out = os.path.abspath(options.out)
        os.makedirs(self.out, exist_ok=True)
        self.log = os.path.join(self.out, "log.txt")
        build = os.path.abspath(options.build)
        self.batchlight = first_existing(build + "/bin/batchlight") or shutil.which("batchlight")
        if self.batchlight is None:
            sys.exit(f"{build}: no bin/batchlight there; build it, or name the build with --build")
        self.build = build
        self.training = build + "/test/fake_training"
        self.table = Table(options.only)

    def run(self, *command, **more):
        say(" ".join(str(word) for word in command)[:150])
        return Done(command, self.log, **more)

    def path(self, name):
        return os.path.join(self.out, name)

    def profile(self, name, *words, flags=("-t", "cuda,nvtx"), **more):
        return self.run(self.batchlight, "profile", *flags, "--control-steps=none", "-f", "true", "-o",
                        self.path(name), "--", *words, **more)

    def database(self, name):
        """The recording as SQLite, or None."""
        recording = self.path(name + ".batchlight")
        if not os.path.exists(recording):
            return None
        database = self.path(name + ".sqlite")
        done = self.run(self.batchlight, "export", "-t", "sqlite", "-f", "true", "-o", database,
                        recording)
        return sqlite3.connect(database) if done.status == 0 else None

    def count(self, database, table, where="1"):
        if database is None:
            return 0
        known = database.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone()
        return database.execute(f"SELECT count(*) FROM {table} WHERE {where}").fetchone()[0] \
            if known else 0

    # How fast -------------------------------------------------------------------------------------

    def overhead(self, preset, steps, *words, nsys_flags=None, rounds=None):
        """Rows of overhead.py by variant."""
        result = self.path(preset + ".json")
        command = [sys.executable, HERE + "/overhead.py", "--preset", preset, "--steps", steps,
                   "--rounds", rounds or self.options.rounds, "--json", result, *words]
        if self.options.pin:
            command += ["--pin", self.options.pin]
        if nsys_flags and self.options.nsys:
            command += ["--nsys", self.options.nsys, "--nsys-flags", nsys_flags]
        if os.path.exists(result):
            os.remove(result)
        self.run(*command, timeout=3600)
        rows = json.load(open(result)) if os.path.exists(result) else []
        return {row["variant"]: row for row in rows}

    def ours(self, name, flags):
        return ["--ours", f"{name}={self.batchlight} profile {flags}"]

    def floor(self):
        library = self.path("cupti_floor.so")
        include = first_existing(*(folder + "/cupti.h" for folder in (
            "/usr/local/cuda/extras/CUPTI/include", "/usr/local/cuda/include")))
        if include is None:
            return []
        folder = os.path.dirname(include)
        libraries = [os.path.join(os.path.dirname(folder), name) for name in ("lib64", "lib")]
        done = self.run("g++", "-O2", "-shared", "-fPIC", HERE + "/cupti_floor.cpp", "-o", library,
                        "-I" + folder, "-I/usr/local/cuda/include",
                        *("-L" + name for name in libraries), "-l:libcupti.so.13")
        if done.status != 0:
            done = self.run("g++", "-O2", "-shared", "-fPIC", HERE + "/cupti_floor.cpp", "-o", library,
                            "-I" + folder, "-I/usr/local/cuda/include",
                            *("-L" + name for name in libraries), "-lcupti")
        return ["--floor", library] if done.status == 0 else []

    def launch(self):
        names = ("launch: of the floor", "launch: of what nsys adds", "launch: modules, operators",
                 "launch: callbacks of waits", "outside a window")
        # nsys and the floor record no operators, and --pytorch is on by default.
        alone, window = "-t cuda,nvtx --pytorch=none", "--steps 2:12 --step-range step"
        if not self.table.wanted(*names):
            return
        rows = self.overhead(
            "launch", 200, *self.floor(), *self.ours("ours", alone),
            *self.ours("defaults", "-t cuda,nvtx"),
            *self.ours("operators", "-t cuda,nvtx --pytorch=functions-trace,autograd-shapes-nvtx"),
            *self.ours("no callbacks",
                       alone + " --cuda-record=kernels,copies,runtime,driver,overhead,jit"),
            *self.ours("after a window", f"{alone} {window}"),
            *self.ours("after a window with defaults", f"-t cuda,nvtx {window}"),
            *self.ours("after a window without CUDA", f"-t nvtx --pytorch=none {window}"),
            *self.ours("before a window", f"{alone} --steps 100000:100001 --step-range step"),
            nsys_flags="-t cuda,nvtx -s none --cpuctxsw=none")

        def value(variant, key):
            return rows.get(variant, {}).get(key)

        def steps(*variants):
            return ", ".join(f"{name} {rows[name]['median_ms']:.2f} ms" for name in variants
                             if name in rows)
        self.table.at_most(names[0], 0.9, value("ours", "over_floor"),
                           detail=steps("plain", "cupti floor", "ours"))
        self.table.at_most(names[1], SHARE_OF_NSYS["none"], value("ours", "share_of_nsys"),
                           detail=share_interval(rows.get("ours", {})) + steps("plain", "nsys", "ours"))
        self.table.at_most("launch: with the defaults, of what nsys adds", SHARE_OF_NSYS["defaults"],
                           value("defaults", "share_of_nsys"),
                           detail=share_interval(rows.get("defaults", {})) + steps("defaults"))
        self.table.at_most(names[2] + ", of what nsys adds", 1.0, value("operators", "share_of_nsys"),
                           detail=steps("operators"))
        without, ours = value("no callbacks", "median_ms"), value("ours", "median_ms")
        self.table.at_most(names[3] + ", over a step without", 1.01,
                           ours / without if ours and without else None,
                           detail=steps("ours", "no callbacks"))
        for variant in ("after a window", "after a window with defaults", "after a window without CUDA",
                        "before a window"):
            self.table.at_most(f"outside a window: {variant}, over plain", 1.01,
                               value(variant, "ratio"), detail=steps("plain", variant))

    def gpu_and_graph(self, rounds=None, only_graph=False):
        if not only_graph and self.table.wanted("gpu preset"):
            rows = self.overhead("gpu", 60, *self.ours("ours", "-t cuda,nvtx --pytorch=none"))
            self.table.at_most("gpu preset, over plain", 1.005, rows.get("ours", {}).get("ratio"))
        if not self.table.wanted("graph preset"):
            return
        rows = self.overhead(
            "graph", 400, *self.ours("graph", "-t cuda,nvtx --cuda-graph-trace=graph"),
            *self.ours("node", "-t cuda,nvtx --cuda-graph-trace=node"),
            nsys_flags="-t cuda,nvtx -s none --cpuctxsw=none --cuda-graph-trace=node", rounds=rounds)
        self.table.at_most("graph preset, graph level, over plain", 1.01,
                           rows.get("graph", {}).get("ratio"))
        ratio, nsys = (rows.get(name, {}).get("ratio") for name in ("node", "nsys"))
        if nsys is None:
            self.table.add("graph preset, node level", "below nsys",
                           f"{ratio or 0:.3f} x plain; no result of nsys", None)
        else:
            self.table.at_most("graph preset, node level, over plain", round(nsys, 3), ratio,
                               detail="nsys is the aim")

    def size(self, *program):
        name = "sealed bytes of a kernel with its launch"
        if not self.table.wanted(name):
            return
        self.profile("size", *program, flags=("-t", "cuda", "--pytorch=none"))
        database = self.database("size")
        kernels = self.count(database, "CUPTI_ACTIVITY_KIND_KERNEL")
        calls = self.count(database, "CUPTI_ACTIVITY_KIND_RUNTIME")
        if not kernels:
            return self.table.at_most(name, 40, None)
        size = os.path.getsize(self.path("size.batchlight"))
        self.table.at_most(name, 40, size / kernels,
                           detail=f"{kernels} kernels, {calls} calls, {size} bytes")

    def end_to_summary(self, *program):
        name = "from program end to summary, s a million GPU events"
        if not self.table.wanted(name):
            return
        done = self.profile("end", "sh", "-c", '"$@"; echo "ended $(date +%s.%N)"', "sh", *program,
                            flags=("-t", "cuda", "--pytorch=none", "--buffer-budget=1G"))
        finished = time.time()
        ended = done.find(r"ended ([\d.]+)")
        database = self.database("end")
        kernels = self.count(database, "CUPTI_ACTIVITY_KIND_KERNEL")
        if done.status != 0 or ended is None or not kernels:
            return self.table.at_most(name, 1, None, detail=f"exit {done.status}")
        seconds = finished - float(ended)
        self.table.at_most(name, 1, seconds / kernels * 1e6,
                           detail=f"{seconds:.2f} s for {kernels} kernels")

    def memory(self):
        name = "memory, MiB more than without"
        bench = first_existing(self.build + "/bench/cuda_memory_bench")
        if not self.table.wanted(name):
            return
        if bench is None:
            return self.table.at_most(name, 256, None, detail="no cuda_memory_bench in the build")
        launches = self.options.launches
        done = self.run(bench, launches, 500000, self.out, timeout=3600)
        peak, alone = done.find(r"peak ([\d.]+) MiB"), done.find(r"without recording ([\d.]+)")
        kernels = done.find(r": (\d+) kernels")
        if done.status != 0 or peak is None or kernels is None:
            return self.table.at_most(name, 256, None, detail=done.last_line())
        self.table.at_most(name, 256, float(peak) - float(alone),
                           detail=f"{kernels} of {launches} launches, on the stand-in")
        self.table.add("memory, launches recorded", "all", kernels, int(kernels) == launches)

    # Right, and faults ----------------------------------------------------------------------------

    def compare_with_nsys(self):
        for level in ("node", "graph"):
            name = f"the same as nsys, graphs by {level}"
            if not self.table.wanted(name):
                continue
            if not self.options.nsys:
                self.table.add(name, "kernels, copies, ranges; time within 2 %", "no nsys", None)
                continue
            done = self.run(sys.executable, HERE + "/compare_with_nsys.py", "--batchlight",
                            self.batchlight, "--nsys", self.options.nsys, "--graph", level, "--out",
                            self.path("nsys_" + level), timeout=1200)
            self.table.add(name, "kernels, copies, ranges; time within 2 %", done.last_line()[:120],
                           done.status == 0)

    def endings(self, program, ways, launched):
        """`ways`: name -> (exit statuses of the program alone, kernels at least)."""
        for way, (statuses, at_least) in ways.items():
            name = f"program ends by {way}"
            if not self.table.wanted(name):
                continue
            done = self.profile("ending_" + way, *program(way), flags=("-t", "cuda"), timeout=120)
            kernels = self.count(self.database("ending_" + way), "CUPTI_ACTIVITY_KIND_KERNEL")
            self.table.add(name, f"exit {statuses[0]}, {at_least} kernels",
                           f"exit {done.status}, {kernels} of {launched} kernels",
                           done.status in statuses and kernels >= at_least)

    def graph_windows(self):
        program = [sys.executable, HERE + "/graph_steps.py", 30]
        range_ = ("--step-range", "step")
        runs = {"whole run": ([], ()), "whole run by node": (["--cuda-graph-trace=node"], ()),
                "a late window": (["--steps", "15:18", *range_], ()),
                "the first window": (["--steps", "1:10", *range_], ()),
                "windows": (["--every", "10", "--window", "3", *range_], ()),
                "cudaProfilerApi": (["-c", "cudaProfilerApi", "--capture-range-end=repeat:2",
                                     "--kill", "none"], ("profiler",))}
        if not self.table.wanted(*("graphs and side streams, " + run for run in runs)):
            return
        alone = self.run(*program, timeout=120).find(r"(finished.*)")
        for run, (flags, words) in runs.items():
            name = "graphs and side streams, " + run
            if not self.table.wanted(name):
                continue
            done = self.profile("graphs_" + run.replace(" ", "_"), *program, *words,
                                flags=("-t", "cuda,nvtx", *flags), timeout=180)
            result = done.find(r"(finished.*)")
            self.table.add(name, f"exit 0, {alone}", f"exit {done.status}, {result or done.last_line()}",
                           done.status == 0 and result == alone and alone is not None)

    def waits(self, database, name="waits know their stream"):
        if not self.table.wanted(name) or database is None:
            return
        table = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"
        of_streams = self.count(database, table, "syncType = 3")
        known = self.count(database, table, "syncType = 3 AND streamId <> 4294967295")
        kernels = "streamId IN (SELECT streamId FROM CUPTI_ACTIVITY_KIND_KERNEL)"
        with_work = self.count(database, table, "syncType = 3 AND " + kernels)
        self.table.add(name, "all waits for streams",
                       f"{known} of {of_streams}, {with_work} on a stream that has kernels",
                       of_streams > 0 and known == of_streams)

    def clock(self, database):
        name = "residual error of the clock, ns"
        if not self.table.wanted(name) or database is None:
            return
        errors = [float(value) for key, value in
                  database.execute("SELECT * FROM META_DATA_CAPTURE") if key == "cuda.clock_error_ns"]
        self.table.at_most(name, 1000, max(errors, default=None))

    def other_tools(self):
        loop = [sys.executable, HERE + "/train_step.py", "--steps", 20]
        name = "torch.profiler in the script"
        if self.table.wanted(name):
            done = self.profile("torch_profiler", *loop, "--torch-profiler", self.path("trace.json"))
            kernels = self.count(self.database("torch_profiler"), "CUPTI_ACTIVITY_KIND_KERNEL")
            said = "torch.profiler" in done.text
            self.table.add(name, "program runs, we record, a line says so",
                           f"exit {done.status}, {kernels} kernels, {'said' if said else 'not said'}",
                           done.status == 0 and kernels > 0 and said)
        name = "compute-sanitizer inside"
        if self.table.wanted(name):
            tool = shutil.which("compute-sanitizer")
            if tool is None:
                return self.table.add(name, "program runs, a line says so", "no compute-sanitizer", None)
            done = self.profile("sanitizer", tool, *loop[:2], "--steps", 3, "--warm", 3)
            said = "another profiler uses CUPTI" in done.text
            self.table.add(name, "program runs, a line says so",
                           f"exit {done.status}, {'said' if said else 'not said'}",
                           done.status == 0 and said)

    def two_ranks(self, gpus):
        name = "two ranks in one recording"
        if not self.table.wanted(name):
            return
        if gpus < 2:
            return self.table.add(name, "the same kernels in both", f"{gpus} GPU", None)
        self.profile("ranks", sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", 2,
                     HERE + "/two_ranks.py", flags=("-t", "cuda,nvtx,nccl"), timeout=180)
        database = self.database("ranks")
        rows = [] if database is None else database.execute(
            "SELECT globalPid, count(*), count(DISTINCT deviceId), min(deviceId) "
            "FROM CUPTI_ACTIVITY_KIND_KERNEL GROUP BY globalPid").fetchall()
        self.table.add(name, "the same kernels in both", str([row[1:] for row in rows]),
                       len(rows) == 2 and rows[0][1] == rows[1][1] and rows[0][3] != rows[1][3])

    # ----------------------------------------------------------------------------------------------

    def with_gpu(self):
        import torch
        if not torch.cuda.is_available():
            sys.exit("PyTorch finds no GPU here; --stand-in checks what can be checked without one")
        self.run("nvidia-smi")
        self.run(self.batchlight, "doctor")
        print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, CUDA {torch.version.cuda}, "
              f"recordings and log in {self.out}", flush=True)
        if self.options.waiting:
            return Waiting(self, self.options.seconds).run(torch.cuda.device_count())
        loop = [sys.executable, HERE + "/train_step.py"]
        self.launch()
        self.gpu_and_graph()
        self.size(*loop, "--steps", 50)
        self.end_to_summary(*loop, "--steps", 1400)
        self.memory()
        self.compare_with_nsys()
        self.endings(lambda way: [sys.executable, HERE + "/endings.py", way], {
            "os_exit": ((7,), 601), "reset": ((0,), 601), "exception": ((1,), 601),
            "out_of_memory": ((1,), 601), "fork": ((0,), 601), "kill": ((137, -9), 501),
            "assert": ((1, 134, -6), 501)}, 601)
        self.graph_windows()
        database = self.database("graphs_whole_run")
        self.waits(database)
        self.clock(database)
        self.other_tools()
        self.two_ranks(torch.cuda.device_count())

    def on_the_stand_in(self):
        if not os.path.exists(self.training):
            sys.exit(f"{self.training} is missing: build the tests")
        self.size(self.training, "launches=20000", "names=100")
        self.end_to_summary(self.training, "threads=2", "launches=500000", "names=100")
        self.memory()
        self.endings(lambda way: [self.training, "launches=500", "end=" + way], {
            "return": ((0,), 500), "exit": ((3,), 500), "quick_exit": ((4,), 500),
            "reset": ((0,), 501), "fork": ((0,), 500), "kill": ((137, -9), 450)}, 500)
        if self.table.wanted("thousands of streams"):
            Waiting(self, 60).streams(self.training)
        self.profile("waits", self.training, "launches=10", "waits=1", flags=("-t", "cuda"))
        self.waits(self.database("waits"))
        self.clock(self.database("waits"))
        for name in ("launch", "gpu preset", "graph preset", "outside a window", "the same as nsys",
                     "graphs and side streams", "other tools", "two ranks"):
            if self.table.wanted(name):
                self.table.add(name, "see docs/benchmarks.md", "needs a GPU", None)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build/release", help="folder of the build")
    parser.add_argument("--python", help="the Python that has PyTorch (gpu_check.sh starts it)")
    parser.add_argument("--nsys", default=shutil.which("nsys"))
    parser.add_argument("--pin", help="processors of every program, such as 2-5")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--launches", type=int, default=4_000_000,
                        help="of the memory row; 180000000 are 30 minutes of 100,000 a second")
    parser.add_argument("--only", default="", help="rows whose name matches")
    parser.add_argument("--out", default="gpu_check", help="folder for recordings, log and table.json")
    parser.add_argument("--waiting", action="store_true", help="the rows that wait for a GPU alone")
    parser.add_argument("--seconds", type=float, default=470, help="that --waiting may take")
    parser.add_argument("--stand-in", action="store_true", help="without a GPU")
    check = Check(parser.parse_args())
    if check.options.stand_in:
        check.on_the_stand_in()
    else:
        check.with_gpu()
    if not check.table.rows:
        sys.exit("no row has such a name")
    check.table.save(check.path("table.json"))
    return check.table.show()


if __name__ == "__main__":
    sys.exit(main())
