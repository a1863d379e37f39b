"""Recordings of one job, one file for each rank, read as one; what is missing or does not belong; and
`ranks`, on what was kept of each rank, on traces of pipelines and on the dumps of a job that hangs."""
import json
import lzma
import os
import pickle
import shutil
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from recorded import BATCHLIGHT, LONG_S, SOURCE, InFolder, run  # noqa: E402

try:
    import torch.distributed
    HAS_TORCH = torch.distributed.is_available()
except (AttributeError, ImportError):
    HAS_TORCH = False

RANKS = 3
STEPS = 16
# Rank 1 sleeps before each step, so that the others wait for it in backward.
PROGRAM = """
import os, sys, time, torch, torch.distributed as dist
rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
dist.init_process_group("gloo", init_method="file://" + sys.argv[1], rank=rank, world_size=size)
torch.manual_seed(rank)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(16, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(%d):
    if rank == 1:
        time.sleep(0.1)
    optimizer.zero_grad()
    model(torch.randn(8, 16)).sum().backward()
    optimizer.step()
dist.destroy_process_group()
""" % STEPS


TWO_RANKS = os.path.join(SOURCE, "tests", "recordings", "h200_two_ranks.batchlight")


def launched(environment):
    """Without what a launcher around the tests may have set."""
    with open(os.path.join(SOURCE, "src", "format", "launchers.def")) as file:
        text = file.read()
    return {name: value for name, value in environment.items() if '"%s"' % name not in text}


def read(*words, **options):
    done = run(BATCHLIGHT, *words, **options)
    if done.returncode != 0:
        raise AssertionError("%s: exit %d: %s" % (words, done.returncode, done.stderr))
    return done


@unittest.skipUnless(HAS_TORCH, "this Python has no torch.distributed")
class OneFileARank(InFolder):
    recordings = None  # of the job, made once

    def setUp(self):
        super().setUp()
        if OneFileARank.recordings is None:
            OneFileARank.recordings = self.record()
        shutil.copytree(OneFileARank.recordings, self.path("job"))

    @classmethod
    def tearDownClass(cls):
        if cls.recordings:
            shutil.rmtree(os.path.dirname(cls.recordings))
            cls.recordings = None

    def record(self):
        with open(self.path("ddp.py"), "w") as file:
            file.write(PROGRAM)
        os.mkdir(self.path("first"))
        self.environment = launched(self.environment)
        tools = []
        for rank in range(RANKS):
            self.environment.update(RANK=str(rank), WORLD_SIZE=str(RANKS))
            tools.append(self.begin("profile", "-o", "first/r%q{RANK}", "--", sys.executable,
                                    "ddp.py", self.path("meeting")))
        self.assertEqual([tool.wait(4 * LONG_S) for tool in tools], [0] * RANKS)
        kept = os.path.join(os.path.dirname(self.folder), "kept-" + os.path.basename(self.folder))
        shutil.copytree(self.path("first"), os.path.join(kept, "job"))
        return os.path.join(kept, "job")

    def part(self, rank):
        return os.path.join(self.path("job"), "r%d.batchlight" % rank)

    def ranks(self, *words):
        return json.loads(read("ranks", "--json", *words).stdout)

    def test_every_reader_takes_the_folder_as_one_job(self):
        job = self.path("job")
        summary = json.loads(read("summary", "--json", job).stdout)
        self.assertEqual([(process["rank"], process["steps"])
                          for process in summary["steps"]["processes"]],
                         [(rank, STEPS) for rank in range(RANKS)])
        pattern = os.path.join(job, "*.batchlight")  # quoted, as no shell expands it
        for words in ([job], [pattern], [self.part(rank) for rank in range(RANKS)]):
            rows = json.loads(read("table", "steps", "-f", "json", *words).stdout)
            self.assertEqual({row["Rank"] for row in rows}, set(range(RANKS)), words)
        self.assertEqual(read("table", job, "ranks", "-f", "csv").stdout.count("\n"), 1 + RANKS)
        self.assertIn("rank 1", read("analyze", job).stdout.lower())
        self.assertIn("DistributedDataParallel", read("tree", job).stdout)
        read("stats", "-r", "osrt_sum", job)
        read("export", "-t", "jsonlines", "-o", self.path("all.jsonl"), job)
        read("view", "--html", self.path("view.html"), job)
        read("report", "-o", self.path("page"), "--no-timeline", job)
        for name in ("all.jsonl", "view.html", os.path.join("page", "index.html")):
            self.assertTrue(os.path.getsize(self.path(name)), name)
        diff = read("diff", "-f", "json", job, job)
        self.assertIn("step", diff.stdout)

    def test_the_rank_that_sleeps_is_the_one_that_is_waited_for(self):
        found = self.ranks(self.path("job"))
        self.assertEqual([rank["rank"] for rank in found["ranks"]], list(range(RANKS)))
        self.assertEqual(found["notes"], [])
        straggler = found["straggler"]
        self.assertEqual(straggler["rank"], 1, straggler)
        self.assertGreater(straggler["waited_ns_per_step"], 50e6)
        text = read("ranks", self.path("job")).stdout
        self.assertRegex(text, r"Rank 1 \(\S+\) makes the others wait")
        failed = run(BATCHLIGHT, "ranks", "--fail-on", "straggler>3%", self.path("job"))
        self.assertEqual(failed.returncode, 1, failed.stderr)
        self.assertIn("gate straggler>3% failed: Rank 1", failed.stderr)
        wrong = run(BATCHLIGHT, "ranks", "--fail-on", "stragler", self.path("job"))
        self.assertEqual(wrong.returncode, 2, wrong.stderr)

    def test_the_grid_that_was_said_orders_the_maps(self):
        text = read("ranks", "--grid", "pp=1,dp=3", self.path("job")).stdout
        self.assertIn("grid pp=1,dp=3", text)
        self.assertIn("pp 0, dp 1, makes the others wait", text)
        self.assertRegex(text, r"Ranks by step[^\n]*\n.*\n  0 \(pp 0, dp 0\) ")
        found = json.loads(read("ranks", "--json", self.path("job")).stdout)
        self.assertIsNone(found["grid"])  # gloo's groups are not known
        self.assertEqual([len(own) for own in found["steps"]["own_ns"]],
                         [len(found["steps"]["first_step"])] * RANKS)
        other = run(BATCHLIGHT, "ranks", "--grid", "dp=2,tp=2", self.path("job"))
        self.assertEqual(other.returncode, 3)
        self.assertIn("the grid dp=2,tp=2 is of 4 ranks, the job of 3", other.stderr)
        for wrong in ("dp", "dp=0", "dp=3,dp=1"):
            self.assertEqual(run(BATCHLIGHT, "ranks", "--grid", wrong, self.path("job")).returncode, 2)

    def test_what_was_kept_says_the_same_as_all_that_was_recorded(self):
        kept = self.ranks(self.path("job"))
        for rank in range(RANKS):  # without its end a recording has no kept part
            with open(self.part(rank), "r+b") as file:
                file.truncate(os.path.getsize(self.part(rank)) - 24)
        whole = self.ranks(self.path("job"))
        self.assertEqual(kept["straggler"]["rank"], whole["straggler"]["rank"])
        for mine, theirs in zip(kept["ranks"], whole["ranks"]):
            self.assertEqual(mine["steps"], theirs["steps"])
            self.assertEqual(mine["step_ns"], theirs["step_ns"])

    def test_a_rank_that_is_missing_is_said(self):
        os.remove(self.part(2))
        self.assertIn("1 of 3 ranks are missing (2)", " ".join(self.ranks(self.path("job"))["notes"]))
        self.assertIn("1 of 3 ranks are missing (2)", read("table", "steps", self.path("job")).stderr)
        self.assertIn("1 of 3 ranks are missing (2)", read("summary", self.path("job")).stdout)

    def test_a_copy_is_left_out(self):
        shutil.copy(self.part(0), os.path.join(self.path("job"), "copy.batchlight"))
        notes = " ".join(self.ranks(self.path("job"))["notes"])
        self.assertRegex(notes, r"(copy|r0)\.batchlight is the same run as (copy|r0)\.batchlight")
        rows = json.loads(read("table", "steps", "-f", "json", self.path("job")).stdout)
        self.assertEqual(len(rows), RANKS * STEPS)

    def test_a_cut_recording_is_read_as_far_as_it_goes(self):
        with open(self.part(1), "r+b") as file:
            file.truncate(os.path.getsize(self.part(1)) * 2 // 3)
        done = read("table", "steps", self.path("job"))
        self.assertIn("r1.batchlight: the end of the recording is missing", done.stderr)
        with open(self.part(1), "wb") as file:
            file.write(b"BLIGHT1\n")
        done = read("table", "steps", self.path("job"))
        self.assertIn("left out", done.stderr)
        self.assertIn("1 of 3 ranks are missing (1)", done.stderr)

    def test_two_jobs_are_kept_apart(self):
        with open(self.path("step.py"), "w") as file:
            file.write("import batchlight, time\nfor _ in range(5):\n"
                       "    with batchlight.annotate('step'):\n        time.sleep(0.005)\n")
        environment = dict(self.environment, RANK="0", WORLD_SIZE="1", PYTHONPATH=os.path.join(
            os.path.dirname(os.path.dirname(BATCHLIGHT)), "share", "batchlight", "python"))
        done = self.batchlight("profile", "-o", "job/other", "--", sys.executable, "step.py",
                               env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        for command in ("summary", "ranks", "report"):
            refused = run(BATCHLIGHT, command, self.path("job"))
            self.assertEqual(refused.returncode, 3, refused.stderr)
            self.assertRegex(refused.stderr, r"are of different jobs \(both have rank 0\)")
            self.assertIn("other.batchlight", refused.stderr)

    def test_a_path_that_is_not_there_is_an_error(self):
        missing = run(BATCHLIGHT, "summary", self.part(0), self.part(7))
        self.assertEqual(missing.returncode, 3, missing.stderr)
        self.assertIn("r7.batchlight", missing.stderr)


class FilesOfOthers(InFolder):
    """Nsight Systems' and torch.profiler's form of a job of two ranks: what is kept of a recording is
    worked out from them."""
    def setUp(self):
        super().setUp()
        read("export", "-t", "chrome", "--per-rank", "-o", self.path("traces"), TWO_RANKS)
        read("export", "-t", "sqlite", "-o", self.path("two.sqlite"), TWO_RANKS)

    def test_they_say_the_same(self):
        own = json.loads(read("ranks", "--json", TWO_RANKS).stdout)
        for path in ("traces", "two.sqlite"):
            found = json.loads(read("ranks", "--json", self.path(path)).stdout)
            for mine, theirs in zip(own["ranks"], found["ranks"], strict=True):
                for key in ("rank", "steps", "last_share"):
                    self.assertEqual(mine[key], theirs[key], path)
                for key in ("step_ns", "lost_ns", "cost_ns"):  # traces have microseconds
                    self.assertAlmostEqual(mine[key] / 1e3, theirs[key] / 1e3, delta=2, msg=path)
            for mine, theirs in zip(own["collectives"], found["collectives"], strict=True):
                for key in ("operation", "message_bytes", "calls", "ranks"):
                    self.assertEqual(mine[key], theirs[key], path)
            self.assertEqual(own["waits_by"], found["waits_by"])


class HostileNames(InFolder):
    EVIL = "\x1b[2J<img src=x onerror=alert(1)>\x9b31m\u202e"

    def test_they_harm_nobody(self):
        with open(self.path("step.py"), "w") as file:
            file.write("import batchlight, time\nfor _ in range(12):\n"
                       "    with batchlight.annotate('step'):\n"
                       "        with batchlight.annotate(%r):\n            time.sleep(0.005)\n" % self.EVIL)
        environment = launched(self.environment)
        environment["PYTHONPATH"] = os.path.join(
            os.path.dirname(os.path.dirname(BATCHLIGHT)), "share", "batchlight", "python")
        os.mkdir(self.path("job"))
        for rank in range(2):
            done = self.batchlight("profile", "-o", "job/r%d%s" % (rank, self.EVIL.replace("/", "")),
                                   "--", sys.executable, "step.py",
                                   env=dict(environment, RANK=str(rank), WORLD_SIZE="3"))
            self.assertEqual(done.returncode, 0, done.stderr)
        name = os.path.join(self.path("job"), sorted(os.listdir(self.path("job")))[0])
        shutil.copy(name, name.replace("r0", "copy"))
        done = read("ranks", "--html", self.path("page.html"), self.path("job"), env=dict(os.environ, COLUMNS="200"))
        text = done.stdout + done.stderr
        for said in (text, read("ranks", "--json", self.path("job")).stdout):
            self.assertGreater(said.count("alert(1)"), 1, "no name is shown: this tests nothing")
            for control in ("\x1b", "\x9b", "\u202e"):
                self.assertNotIn(control, said)
        with open(self.path("page.html")) as file:
            page = file.read()
        self.assertIn("alert(1)", page)
        self.assertNotIn("<img", page)


# Production traces of "Understanding Stragglers in Large Model Training Using What-if Analysis" (OSDI
# 2025; github.com/ByteDance-Seed/StragglerAnalysis, Apache-2.0): of the first, steps 16 to 29.
class Pipelines(InFolder):
    def what_if(self, name):
        path = self.path(name + ".csv")
        with lzma.open(os.path.join(SOURCE, "tests", "pipelines", name + ".csv.xz")) as packed, \
                open(path, "wb") as file:
            shutil.copyfileobj(packed, file)
        self.assertIn("a step takes", read("ranks", path).stdout)
        return json.loads(read("ranks", "--json", path).stdout)

    def near(self, value, expected):
        self.assertLess(abs(value - expected), 0.02 * expected, (value, expected))

    def test_one_slow_worker(self):
        found = self.what_if("slow_worker")
        self.near(found["slowdown"], 46.336 / 23.485)
        self.near(found["share_of_workers"], 1.0)
        self.assertLess(abs(found["share_of_last_stage"]), 0.02)
        worst, second = found["workers"][:2]
        self.assertEqual((worst["rank"], worst["dp_rank"], worst["stage"]), (0, 0, 0))
        self.assertGreater(worst["slowdown"], 1.9)
        self.assertLess(second["slowdown"], 1.05)

    def test_a_last_stage_that_is_too_large(self):
        found = self.what_if("last_stage")
        self.near(found["step_s"], 2.172697)
        self.near(found["ideal_s"], 1.843296)
        self.near(found["share_of_last_stage"], 1.219356)
        self.near(1 + found["share_of_workers"], 1.031404)
        self.assertEqual(max(found["stages"], key=lambda stage: stage["slowdown"])["name"], "stage 3")

    def test_what_is_no_trace_is_said(self):
        with open(self.path("other.csv"), "w") as file:
            file.write("a,b\n1,2\n")
        done = run(BATCHLIGHT, "ranks", self.path("other.csv"))
        self.assertEqual(done.returncode, 3)
        self.assertIn("no trace of a pipeline", done.stderr)


class Touch:
    """What reads a pickle of it with Python makes a file."""
    def __reduce__(self):
        return os.mkdir, ("touched",)


# Dumps as PyTorch's flight recorder writes them.
class FlightRecorder(InFolder):
    def dump(self, calls, state, operation="nccl:all_reduce"):
        """Of a rank that made so many calls on the group of all, the last with that state."""
        entries = []
        for number in range(1, calls + 1):
            last = number == calls
            entries.append({
                "frames": [{"name": "all_reduce", "filename": "/lib/torch/distributed/c10d.py", "line": 7},
                           {"name": "main", "filename": "/home/me/train.py", "line": 23}],
                "process_group": ("0", "default_pg"), "collective_seq_id": number, "p2p_seq_id": 0,
                "profiling_name": operation if last else "nccl:all_reduce", "input_sizes": [[8, 128]],
                "input_dtypes": ["Float"], "time_created_ns": 1700000000000000000 + number,
                "time_discovered_started_ns": None, "duration_ms": 0.5, "is_p2p": False,
                "state": state if last else "completed"})
        return {"version": "2.10", "entries": entries,
                "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1, 2, 3]"}}}

    def write(self, rank, dump, protocol=2):
        os.makedirs(self.path("dumps"), exist_ok=True)
        name = self.path("dumps/nccl_trace_rank_%d" % rank)
        if protocol is None:
            with open(name + ".json", "w") as file:
                json.dump(dump, file)
            return
        with open(name, "wb") as file:
            pickle.dump(dump, file, protocol=protocol)

    def test_the_rank_that_has_not_come(self):
        for rank, protocol in enumerate((2, 4, 5, None)):
            self.write(rank, self.dump(8, "completed") if rank == 2 else self.dump(9, "started"), protocol)
        text = read("ranks", self.path("dumps")).stdout
        self.assertIn("Rank 2 has not come to call 9 of group 0 (default_pg), all_reduce of 1,024 Float: ranks 0, 1, 3 "
                      "wait there.", " ".join(text.split()))
        self.assertIn("made at train.py:23 (main)", text)
        self.assertIn("Look first at rank 2", text)
        found = json.loads(read("ranks", "--json", os.path.join(self.path("dumps"), "*")).stdout)
        self.assertEqual(found["suspects"], [2])
        self.assertEqual([(rank["rank"], rank["number"], rank["state"]) for rank in found["ranks"]],
                         [(0, 9, "running"), (1, 9, "running"), (2, 8, "done"), (3, 9, "running")])
        os.remove(os.path.join(self.path("dumps"), "nccl_trace_rank_1"))
        found = json.loads(read("ranks", "--json", self.path("dumps")).stdout)
        self.assertIn("1 of 4 ranks there is no dump (1)", found["notes"][0])

    def test_a_rank_that_makes_another_call(self):
        for rank in range(4):
            self.write(rank, self.dump(9, "started", "nccl:broadcast" if rank == 3 else "nccl:all_reduce"))
        text = " ".join(read("ranks", self.path("dumps")).stdout.split())
        self.assertIn("Rank 3 makes broadcast of 1,024 Float as call 9 of group 0 (default_pg), all_reduce of 1,024 "
                      "Float on the others.", text)

    def test_nothing_of_a_dump_is_run(self):
        for protocol in range(2, 6):
            self.write(0, Touch(), protocol)
            done = run(BATCHLIGHT, "ranks", self.path("dumps"), cwd=self.folder)
            self.assertEqual(done.returncode, 3, done.stdout)
            self.assertIn("it is not only data", done.stderr)
            self.assertFalse(os.path.exists(self.path("touched")))
        self.write(1, self.dump(3, "completed"))
        done = read("ranks", self.path("dumps"))
        self.assertIn("left out", done.stdout)
        self.assertIn("every call that is known has ended", done.stdout)

    def test_flags_of_recordings_are_said(self):
        self.write(0, self.dump(3, "completed"))
        refused = run(BATCHLIGHT, "ranks", "--grid", "dp=4", self.path("dumps"))
        self.assertEqual(refused.returncode, 2)
        self.assertIn("--grid is for recordings", refused.stderr)
        with open(self.path("other.batchlight"), "w"):
            pass
        mixed = run(BATCHLIGHT, "ranks", self.path("dumps"), self.path("other.batchlight"))
        self.assertEqual(mixed.returncode, 3)
        self.assertIn("is no dump of a flight recorder", mixed.stderr)


if __name__ == "__main__":
    unittest.main()
