"""The rows of check.py that wait for a GPU, in one run of eight minutes: gpu_check.sh --waiting.

The dear ones come last, and what no time is left for is said. Each says what it compared with where
nsys or a second GPU is missing.
"""
import csv
import io
import os
import sys
import time

from check_table import SHARE_OF_NSYS, say, share_interval

HERE = os.path.dirname(os.path.abspath(__file__))
STREAMS = 4000
# The recordings that e2e_advice keeps: every setting made that the advice asks for.
TUNED = {
    "gpt2": "--model gpt2 --batch 32 --amp --tf32 --fused --pinned --prefetch --workers 4 --compile",
    "resnet50": "--model resnet50 --batch 256 --amp --tf32 --channels-last --benchmark --fused --pinned "
                "--prefetch --workers 8 --compile"}


class Waiting:
    def __init__(self, check, seconds):
        self.check, self.table = check, check.table
        self.end = time.time() + seconds

    def run(self, gpus):
        rows = (("thousands of streams", 30, self.streams),
                ("page faults", 40, self.page_faults),
                ("a NCCL hang ended by its watchdog", 70, lambda: self.hang(gpus)),
                ("counts with -c cudaProfilerApi", 60, self.capture),
                ("recorded anew: gpt2", 60, lambda: self.tuned("gpt2")),
                ("recorded anew: resnet50", 70, lambda: self.tuned("resnet50")),
                ("graph preset, node level", 60, self.graph),
                ("launch preset", 120, self.launch))
        for name, seconds, measure in rows:
            left = self.end - time.time()
            if not self.table.wanted(name):
                continue
            if left < seconds:
                self.table.add(name, "measured", f"{left:.0f} s left, {seconds} s are wanted: --only", None)
                continue
            begin = time.time()
            try:
                measure()
            except Exception as error:  # the other rows are still wanted
                self.table.add(name, "measured", f"{type(error).__name__}: {error}", False)
            say(f"{name}: {time.time() - begin:.0f} s")

    def recorded(self, name, *program, flags, **more):
        """(the command that was run, the recording as a database or None)"""
        done = self.check.profile(name, *program, flags=flags, **more)
        return done, self.check.database(name)

    def streams(self, stand_in=None):
        program = [sys.executable, HERE + "/many_streams.py", STREAMS]
        if stand_in is not None:
            program = [stand_in, "launches=10", f"streams={STREAMS}"]
        done, database = self.recorded("streams", *program, flags=("-t", "cuda", "--pytorch=none"))
        made = STREAMS if stand_in is not None else int(done.find(r"finished (\d+)") or 0)
        each = 1 if stand_in is not None else 2
        kernels = "CUPTI_ACTIVITY_KIND_KERNEL"
        count = self.check.count(database, kernels)
        seen = 0 if not count else database.execute(
            f"SELECT count(DISTINCT streamId) FROM {kernels}").fetchone()[0]
        self.table.add("thousands of streams", f"{made} streams, {each} kernels on each",
                       f"exit {done.status}, {count} kernels on {seen} streams",
                       done.status == 0 and made > 1000 and seen >= made and count >= each * made)

    def page_faults(self):
        flags = ("-t", "cuda,nvtx", "--pytorch=none", "--cuda-um-cpu-page-faults=true",
                 "--cuda-um-gpu-page-faults=true")
        program = [sys.executable, HERE + "/page_faults.py"]
        done, database = self.recorded("page_faults", *program, flags=flags)
        tables = ("CUDA_UM_CPU_PAGE_FAULT_EVENTS", "CUDA_UM_GPU_PAGE_FAULT_EVENTS")
        ours = [self.check.count(database, table) for table in tables]
        theirs = None
        if self.check.options.nsys:
            path = self.check.path("page_faults_nsys")
            self.check.run(self.check.options.nsys, "profile", "-t", "cuda,nvtx", "-s", "none",
                           "--cpuctxsw=none", *flags[3:], "-f", "true", "-o", path, *program)
            theirs = self.counts_of_nsys(path, tables)
        self.table.add("page faults", "some of the CPU and of the GPU",
                       f"exit {done.status}, CPU {ours[0]}, GPU {ours[1]}" +
                       (f"; nsys {theirs}" if theirs else "; no nsys"),
                       done.status == 0 and min(ours) > 0)

    def counts_of_nsys(self, path, tables):
        import sqlite3
        self.check.run(self.check.options.nsys, "export", "--type=sqlite", "--force-overwrite=true",
                       "-o", path + ".sqlite", path + ".nsys-rep")
        if not os.path.exists(path + ".sqlite"):
            return None
        database = sqlite3.connect(path + ".sqlite")
        return [self.check.count(database, table) for table in tables]

    def hang(self, gpus):
        name = "a NCCL hang ended by its watchdog"
        aim = "ended in a minute, both ranks' five steps recorded"
        if gpus < 2:
            return self.table.add(name, aim, f"{gpus} GPU; two are needed", None)
        begin = time.time()
        done, database = self.recorded(
            "hang", sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", 2,
            HERE + "/nccl_hang.py", flags=("-t", "cuda,nvtx,nccl"), timeout=90)
        seconds = time.time() - begin
        kernels = "CUPTI_ACTIVITY_KIND_KERNEL"
        ranks = [] if not self.check.count(database, kernels) else database.execute(
            f"SELECT globalPid >> 24 AS pid, count(*) FROM {kernels} GROUP BY pid").fetchall()
        counts = [count for _, count in ranks]
        self.table.add(name, aim, f"exit {done.status} after {seconds:.0f} s, kernels {counts}",
                       done.status not in (0, "timeout") and len(counts) == 2 and min(counts) >= 10)

    def capture(self):
        """The window of graph_steps.py, by both tools."""
        name = "counts with -c cudaProfilerApi"
        window = ("-c", "cudaProfilerApi", "--capture-range-end=stop", "--kill=none")
        program = [sys.executable, HERE + "/graph_steps.py", 30, "profiler"]
        done, database = self.recorded("capture", *program, flags=(
            "-t", "cuda,nvtx", "--pytorch=none", "--cuda-graph-trace=node", *window))
        tables = ("CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY", "NVTX_EVENTS")
        ours = [self.check.count(database, table) for table in tables]
        theirs = None
        if self.check.options.nsys:
            path = self.check.path("capture_nsys")
            self.check.run(self.check.options.nsys, "profile", "-t", "cuda,nvtx", "-s", "none",
                           "--cpuctxsw=none", "--cuda-graph-trace=node", *window, "-f", "true", "-o", path,
                           *program)
            theirs = self.counts_of_nsys(path, tables)
        met = None if theirs is None else done.status == 0 and ours[:2] == theirs[:2]
        self.table.add(name, "the kernels and copies that nsys has",
                       f"exit {done.status}, kernels, copies, NVTX: {ours}" +
                       (f"; nsys {theirs}" if theirs else "; no nsys"), met)

    def tuned(self, model):
        name = "h200_tuned_" + model
        done = self.check.profile(name, sys.executable, HERE + "/foreign_models.py", "--window", "--steps",
                                  12, *TUNED[model].split(),
                                  flags=("-c", "cudaProfilerApi", "--capture-range-end=stop"), timeout=200)
        recording = self.check.path(name + ".batchlight")
        if done.status != 0 or not os.path.exists(recording):
            return self.table.add("recorded anew: " + model, "no advice",
                                  f"exit {done.status}, {done.last_line()[:100]}", False)
        advice = self.check.run(self.check.batchlight, "table", "advice", "-f", "csv", recording)
        text = advice.text[max(advice.text.find("Rule"), 0):]
        rules = [row["Rule"] for row in csv.DictReader(io.StringIO(text)) if row.get("Rule")]
        steps = self.check.run(self.check.batchlight, "table", "steps", "-f", "csv", recording)
        self.table.add("recorded anew: " + model, "no advice, more than ten steps",
                       f"{os.path.getsize(recording)} bytes, {len(steps.text.splitlines()) - 1} steps, "
                       f"{', '.join(rules) or 'no advice'}", not rules)

    def graph(self):
        self.check.gpu_and_graph(rounds=3, only_graph=True)

    def launch(self):
        """Nobody else on the machine; eight rounds of all variants in turn, or as many as there is time
        for (a round takes about 30 s)."""
        rounds = max(3, min(8, int((self.end - time.time()) / 32)))
        alone = "-t cuda,nvtx --pytorch=none"
        rows = self.check.overhead(
            "launch", 200, *self.check.floor(), *self.check.ours("none", alone),
            *self.check.ours("defaults", "-t cuda,nvtx"), nsys_flags="-t cuda,nvtx -s none --cpuctxsw=none",
            rounds=rounds)
        said = ", ".join(f"{name} {row['median_ms']:.3f} ({row['min_ms']:.3f} to {row['max_ms']:.3f})"
                         for name, row in rows.items())
        for variant, limit in SHARE_OF_NSYS.items():
            row = rows.get(variant, {})
            name = f"launch preset, {variant}, of what nsys adds, {rounds} rounds"
            if "share_of_nsys" in row:
                self.table.at_most(name, limit, row["share_of_nsys"],
                                   detail=f"{share_interval(row)}ms a step: {said}")
            else:
                self.table.add(name, f"at most {limit}", f"no nsys; over plain {row.get('ratio', 0):.3f}; "
                               f"ms a step: {said}", None)
