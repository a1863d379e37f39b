"""batchlight kernels through the real program, on stand-ins for driver and CUPTI: kernels of two kinds in
turns, of which the stand-in counts one at each launch."""
import csv
import io
import json
import os
import secrets
import shutil
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "cuda")]
from recorded import BUILD, InFolder  # noqa: E402
from cuda_counters_test import DRAM, DURATION, INSTRUCTIONS, STEPS  # noqa: E402
from cuda_stalls_test import CUBIN, PROGRAM as STALLS, SCALE  # noqa: E402

FAKES = os.path.join(BUILD, "test", "fakes")
DRIVER = os.path.join(FAKES, "driver")
# Every third kernel is another one.
TWO_KINDS = STEPS.replace("cuda.fake_cuda_init()", """cuda.fake_cuda_init()
other = Launch(copy(b"_ZN6reduceEv"), (4, 1, 1), (64, 1, 1), 7, 2000, 0, 0)
""").replace("""        cuda.fake_cuda_launch(ctypes.byref(launch))
""", """        cuda.fake_cuda_launch(ctypes.byref(other if _ % 3 == 2 else launch))
""")


class Recorded(InFolder):
    """Counters of an H200 (bench/gpu/kernels_loop.py 40, --set essentials --stalls): kernels of known work."""
    RUN = os.path.join(os.path.dirname(HERE), "recordings", "h200_kernels.batchlight")

    def test_kernels_of_known_work_are_counted_and_bound_by_what_they_are(self):
        def rows(table):
            done = self.batchlight("kernels", self.RUN, "--table", table, "--format", "csv")
            self.assertEqual(done.returncode, 0, done.stderr)
            return list(csv.DictReader(io.StringIO(done.stdout)))

        def of(name, table):
            return next(row for row in table if name in row["Kernel"])

        limits, memory = rows("limits"), rows("memory")
        self.assertEqual(len(limits), 7)
        for name, bound in (("nvjet", "compute"), ("implicit_gemm", "compute"), ("OnSelf_add", "memory"),
                            ("reduce_kernel", "memory"), ("multi_tensor_apply", "small grid")):
            self.assertEqual(of(name, limits)["Bound"], bound, name)
        # torch.add(source, 1, out=target) of 2^26 floats reads and writes each once, source.sum() reads them.
        size = 4 * 2 ** 26
        add, total = of("OnSelf_add", memory), of("reduce_kernel", memory)
        for kernel, column in ((add, "DRAM Read (B)"), (add, "DRAM Written (B)"), (total, "DRAM Read (B)")):
            self.assertAlmostEqual(float(kernel[column]) / size, 1, delta=0.03, msg=column)
        for row, (op, inputs) in ((add, ("aten::add", "f32[67108864]")), (total, ("aten::sum", "f32[67108864]"))):
            self.assertEqual(row["Operator"], op)
            self.assertIn(inputs, row["Inputs"])
        # A product of 4096 x 4096 in bf16 within 10 % of what Tensor Cores can.
        self.assertGreater(float(of("nvjet", limits)["Tensor (%)"]), 85)
        stalls = rows("stalls")
        self.assertGreater(sum(int(row["Samples"]) for row in stalls), 10_000)

    def test_the_run_is_a_word_or_named_and_has_the_rank_that_is_asked_for(self):
        by_word = self.batchlight("kernels", self.RUN)
        self.assertIn("nvjet", by_word.stdout)
        self.assertEqual(self.batchlight("kernels", "--run", self.RUN).stdout, by_word.stdout)
        missing = self.batchlight("kernels", self.RUN, "--rank", "5")
        self.assertEqual((missing.returncode, missing.stdout), (2, ""), missing.stderr)
        self.assertIn("no training process has rank 5", missing.stderr)

    def test_a_roofline_without_counted_operations_is_said_to_be_none(self):
        done = self.batchlight("kernels", self.RUN, "--table", "roofline")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("operations of kernels were not counted; `batchlight kernels --set roofline` does", done.stderr)
        self.assertNotIn("not counted", self.batchlight("kernels", self.RUN, "--table", "all").stderr)


class Roofline(InFolder):
    """Of an H200 (bench/gpu/roofline/check_roofline.py): kernels of known work under the roofs that its data sheet has."""
    RUN = os.path.join(os.path.dirname(HERE), "recordings", "h200_roofline.batchlight")

    def rows(self, table):
        done = self.batchlight("kernels", self.RUN, "--table", table, "--format", "csv")
        self.assertEqual(done.returncode, 0, done.stderr)
        return list(csv.DictReader(io.StringIO(done.stdout)))

    def of(self, operator):
        return next(row for row in self.rows("roofline") if row["Operator"] == operator)

    def test_a_product_is_below_the_peak_of_dense_matrices(self):
        product = self.of("aten::mm")
        self.assertEqual((product["Type"], product["Roof"]), ("Tensor bf16", "Tensor bf16"))
        self.assertEqual(float(product["Operations"]), 2 * 4096 ** 3)
        at_its_clock = 989.4 * float(product["Clock GHz"]) / 1.83
        self.assertAlmostEqual(float(product["Peak TFLOP/s"]) / at_its_clock, 1, delta=0.01)
        self.assertAlmostEqual(float(product["Attained (%)"]), 90, delta=1)

    def test_an_addition_is_below_the_bandwidth_of_the_memory(self):
        addition = self.of("aten::add")
        self.assertEqual((addition["Type"], addition["Counted"], addition["Roof"]), ("fp32", "at most", "DRAM"))
        self.assertAlmostEqual(float(addition["DRAM Bytes (B)"]) / (2 * 4 * 2 ** 26), 1, delta=0.01)
        self.assertAlmostEqual(float(addition["DRAM Peak GB/s"]) / 4800, 1, delta=0.01)
        hardware = next(row for row in self.rows("limits") if row["Kernel"] == addition["Kernel"])
        self.assertAlmostEqual(float(addition["Attained (%)"]), float(hardware["DRAM (%)"]), delta=1)

    def test_the_recorders_own_work_is_no_work_between_steps(self):
        done = self.batchlight("summary", self.RUN)
        self.assertIn("batchlight: reading counters", done.stdout)
        self.assertNotIn("between steps", done.stdout)
        self.assertNotIn("of its loop beside its steps", done.stdout)

    def test_nothing_is_above_its_roof(self):
        for row in self.rows("roofline"):
            self.assertLess(float(row["Attained (%)"]), 101, row["Kernel"])


class Kernels(InFolder):
    def kernels(self, *flags, steps="40", status=0, program=TWO_KINDS, **variables):
        environment = dict(self.environment, LD_LIBRARY_PATH=FAKES + ":" + DRIVER, BATCHLIGHT_CUPTI=FAKES,
                           **variables)
        done = self.batchlight("kernels", "-o", "run", *flags, "/usr/bin/python3", "-c", program, steps,
                               env=environment)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def read(self, *flags, status=0):
        done = self.batchlight("kernels", "run.batchlight", *flags)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout if status == 0 else done.stderr

    def rows(self, *flags):
        return list(csv.DictReader(io.StringIO(self.read("--format", "csv", *flags))))

    def test_each_kernel_has_its_counters(self):
        done = self.kernels("--set", "essentials", "--step", "30", "--table", "all")
        self.assertIn("each measured by itself: 10 launches", done.stdout)
        self.assertIn("What to do", done.stdout)
        rows = self.rows()
        self.assertEqual({row["Kernel"]: row["Launches"] for row in rows}, {"gemm()": "7", "reduce()": "3"})
        values = {(row["Kernel"], row["Metric"]): float(row["Value"]) for row in self.rows("--table", "counters")}
        for kernel in ("gemm()", "reduce()"):
            self.assertEqual(values[kernel, "gpu__time_duration.sum"], DURATION)
            self.assertEqual(values[kernel, "sm__inst_executed.sum"], INSTRUCTIONS)
            self.assertEqual(values[kernel, "dram__bytes_read.sum"], DRAM)
        memory = self.rows("--table", "memory")
        self.assertEqual({float(row["DRAM GB/s"]) for row in memory}, {float(DRAM + DRAM + 1) / DURATION})
        steps = [row["Kind"] for row in csv.DictReader(io.StringIO(
            self.batchlight("table", "steps", "run.batchlight", "-f", "csv").stdout))]
        self.assertIn("counters read", steps, "steps that were measured stand for no others")

    def test_the_roofline_of_kernels_and_what_it_means(self):
        chip = {"gpu__time_duration.sum": 90_000, "sm__cycles_elapsed.avg.per_second": 1.7e9,
                "sm__inst_executed_pipe_fma.sum.peak_sustained": 528,
                "sm__ops_path_tensor_op_hgmma_src_bf16_dst_fp32_sparsity_off.sum.peak_sustained": 540_672}

        def counting(operations, instructions, read):
            numbers = {**chip, "sm__ops_path_tensor_src_bf16_dst_fp32.sum": operations, "dram__bytes_write.sum": 2e7,
                       "sm__inst_executed_pipe_fma.sum": instructions, "dram__bytes_read.sum": read}
            return ",".join(f"{metric}={number}" for metric, number in numbers.items())

        done = self.kernels("--set", "roofline", "--table", "roofline", 
                            FAKE_COUNTERS_VALUES=counting(7.2e10, 1000, 6e7))
        self.assertIn("The longest kernel, gemm, takes 70.0 % of the time and does 800 TFLOP/s of Tensor bf16: 87.0 % of "
                      "the 919 that its lowest roof, the peak of Tensor bf16, allows\n     near what Tensor Cores can do",
                      done.stdout)
        rows = {row["Kernel"]: row for row in self.rows("--table", "roofline")}
        self.assertEqual([rows["gemm()"][column] for column in ("Type", "TFLOP/s", "Roof", "FLOP/B DRAM", "Counted",
                                                                "DRAM Peak GB/s", "Kernel Number")],
                         ["Tensor bf16", "800.00", "Tensor bf16", "900.00", "exactly", "4800.00", "1"])
        limits = {row["Kernel"]: row["Kernel Number"] for row in self.rows("--table", "limits")}
        self.assertEqual(limits, {name: row["Kernel Number"] for name, row in rows.items()})
        done = self.kernels("-f", "true", "--set", "roofline", "--table", "roofline",
                            FAKE_COUNTERS_VALUES=counting(0, 1e6, 3.8e8))
        self.assertIn("does 0.16 operations for a byte of DRAM and would need 12 to come to the peak of fp32; moves 93 %",
                      done.stdout)
        self.assertIn("of the bytes that DRAM can: fuse it with the kernels before and after it", done.stdout)

    def test_what_warps_wait_for(self):
        stalled = "smsp__average_warps_issue_stalled_%s_per_issue_active.ratio"
        self.kernels("--set", "warp", FAKE_COUNTERS_VALUES=f"{stalled % 'long_scoreboard'}=9.26,{stalled % 'barrier'}=1.5")
        waits = self.rows("--table", "scheduler")[0]["Waits"]
        self.assertRegex(waits, r"^Wait: memory 9\.3, .*barrier 1\.5")

    def test_launches_by_themselves_and_a_choice_of_them(self):
        self.kernels("--set", "essentials")
        names = [row["Kernel"] for row in self.rows("--launches")]
        self.assertEqual(names, ["reduce()" if i % 3 == 2 else "gemm()" for i in range(10)])
        self.assertEqual([row["Kernel"] for row in self.rows("-k", "^red")], ["reduce()"])
        self.assertEqual(len(self.rows("--launches", "--rows", "4")), 4)
        self.assertIn("no kernel that was measured matches", self.batchlight(
            "kernels", "run.batchlight", "-k", "nothing").stderr)

    def test_a_graph_is_one_row_and_says_so(self):
        program = TWO_KINDS.replace("    if graphs:", "    cuda.fake_cuda_graph_launch(5, 7, 1000)\n    if graphs:")
        done = self.kernels("--set", "essentials", program=program)
        self.assertIn("11 launches", done.stdout)
        self.assertIn("1 of these is a CUDA graph, measured as a whole", done.stdout)
        said = "a CUDA graph is measured as a whole: nobody can count its kernels one by one"
        self.assertIn(said, done.stdout)
        graph, = [row for row in json.loads(self.read("--format", "json")) if row["Kernel"] == "CUDA graph"]
        self.assertEqual((graph["Launches"], graph["What to Do"][:len(said)]), (1, said))
        self.batchlight("report", "run.batchlight", "-o", "page")
        with open(os.path.join(self.folder, "page", "index.html")) as page:
            self.assertIn(said, page.read())

    def test_graphs_in_a_window_are_one_row_too(self):
        program = TWO_KINDS.replace("    if graphs:", "    cuda.fake_cuda_graph_launch(5, 7, 1000)\n    if graphs:")
        done = self.kernels("--set", "essentials", "--steps", "10:50", program=program, steps="60")
        self.assertNotIn("other work ran", done.stdout + done.stderr)
        self.assertIn("1 of these is a CUDA graph, measured as a whole", done.stdout)
        rows = {row["Kernel"]: row["Launches"] for row in json.loads(self.read("--format", "json"))}
        self.assertEqual(rows, {"gemm()": 7, "reduce()": 3, "CUDA graph": 1})

    def test_afterwards_nothing_of_it_is_called_at_launches(self):
        graph = "    cuda.fake_cuda_graph_launch(5, 7, 1000)\n    if graphs:"
        program = TWO_KINDS.replace("    if graphs:", graph) + 'print("callbacks", cuda.fake_cupti_launch_callbacks())\n'
        for replay in ("steps", "kernel"):
            with self.subTest(replay):
                done = self.kernels("--set", "essentials", "-f", "true", "--replay", replay, "-k", "reduce",
                                    program=program)
                self.assertIn("callbacks 0\n", done.stdout)
                self.assertEqual([row["Kernel"] for row in self.rows("-k", "reduce")], ["reduce()"])
        done = self.kernels("--set", "essentials", "-f", "true", "--python-lines", "gpu", program=program)
        self.assertIn("callbacks 6\n", done.stdout, "stacks of launches want them")

    def test_a_launch_that_the_driver_refuses(self):
        graph = """    cuda.fake_cuda_refused_launch(b"nothing")
    cuda.fake_cuda_graph_launch(5, 7, 1000)
    cuda.fake_cuda_refused_launch(b"nothing")
    if graphs:"""
        self.kernels("--set", "essentials", program=TWO_KINDS.replace("    if graphs:", graph))
        rows = json.loads(self.read("--format", "json"))
        self.assertEqual({row["Kernel"]: row["Launches"] for row in rows},
                         {"gemm()": 7, "reduce()": 3, "CUDA graph": 1})

    def test_a_graph_that_first_runs_in_a_measured_step(self):
        graph = "    if step >= 29:\n        cuda.fake_cuda_graph_launch(5, 7, 1000)\n    if graphs:"
        self.kernels("--set", "essentials", "--step", "30", program=TWO_KINDS.replace("    if graphs:", graph))
        rows = json.loads(self.read("--format", "json"))
        self.assertEqual({row["Kernel"]: row["Launches"] for row in rows},
                         {"gemm()": 7, "reduce()": 3, "CUDA graph": 1})

    def test_json(self):
        self.kernels("--set", "essentials")
        first = json.loads(self.read("--format", "json"))[0]
        self.assertEqual(first["Kernel"], "gemm()")

    def test_the_first_pass_alone(self):
        names = ",".join(f"sm__inst_executed.{i}" for i in range(5))
        self.kernels("--metrics", names, "--set", "essentials", "--replay", "none")
        both = {row["Metric"] for row in self.rows("--table", "counters")}
        self.kernels("--metrics", names, "--set", "essentials", "-f", "true")
        self.assertLess(both, {row["Metric"] for row in self.rows("--table", "counters")})

    def test_single_kernels_are_replayed(self):
        names = ",".join(f"sm__inst_executed.{i}" for i in range(9))
        done = self.kernels("--set", "essentials", "--metrics", names, "--replay", "kernel", "-k", "reduce|nothing",
                            FAKE_COUNTERS_SLOW_MS="20")
        self.assertIn("each measured by itself: 3 launches", done.stdout)
        self.assertIn("in 1 step\n", done.stdout)
        kernel, = self.rows()
        self.assertEqual((kernel["Kernel"], kernel["Launches"]), ("reduce()", "3"))
        read = {row["Metric"]: float(row["Value"]) for row in self.rows("--table", "counters")}
        self.assertLessEqual(set(names.split(",")), set(read), "all passes")
        self.assertEqual(read["gpu__time_duration.sum"], DURATION)
        shortest = {row["Kernel"]: row["Min (ns)"] for row in csv.DictReader(io.StringIO(
            self.batchlight("table", "kernels", "run.batchlight", "-f", "csv").stdout))}
        self.assertEqual(float(shortest["reduce()"]), DURATION, "of replays the counters tell the time alone")
        self.assertNotIn("CudaWorkUnfinished", self.batchlight("table", "losses", "run.batchlight", "-f", "csv").stdout)
        steps = [row["Kind"] for row in csv.DictReader(io.StringIO(
            self.batchlight("table", "steps", "run.batchlight", "-f", "csv").stdout))]
        self.assertIn("counters read", steps)

    def test_launches_that_cannot_be_replayed_are_named(self):
        program = TWO_KINDS.replace("other = Launch(", """whole = Launch(copy(b"reduceWhole"), (4, 1, 1), (64, 1, 1), 7, 2000, 0, 477)
ring = Launch(copy(b"ncclDevKernel_reduce"), (4, 1, 1), (64, 1, 1), 7, 2000, 0, 1)
other = Launch(""").replace("    if graphs:", """    for one in (whole, ring, ring):
        cuda.fake_cuda_launch(ctypes.byref(one))
    cuda.fake_cuda_graph_launch(5, 7, 1000)
    if graphs:""")
        flags = ("--set", "essentials", "--replay", "kernel", "-f", "true")
        self.kernels(*flags, "-k", "reduce", program=program, FAKE_COUNTERS_SLOW_MS="20")
        self.assertEqual({row["Kernel"]: row["Launches"] for row in self.rows()}, {"reduce()": "3"})
        losses = self.batchlight("table", "losses", "run.batchlight", "-f", "csv").stdout
        for part in ("not replayed, 1: cooperative launches", "not replayed, 2: collectives", "not replayed, 1: CUDA graphs"):
            self.assertIn(part, losses)
        self.kernels(*flags, "-k", "gemm", KERNELS="30", FAKE_COUNTERS_SLOW_MS="20")
        self.assertEqual([row["Launches"] for row in self.rows()], ["16"])
        self.assertIn("not replayed, 4: after as many",
                      self.batchlight("table", "losses", "run.batchlight", "-f", "csv").stdout)
        self.kernels(*flags, "-k", "nothing")
        self.assertIn("no kernel was replayed", self.batchlight("table", "losses", "run.batchlight", "-f", "csv").stdout)
        self.kernels(*flags, "-k", "reduce", FAKE_COUNTERS_REFUSE="RangeProfilerStart:35")
        self.assertIn("only administrators", self.batchlight("table", "losses", "run.batchlight", "-f", "csv").stdout)

    def test_each_row_of_several_ranks_names_its_own(self):
        both = ("import os, subprocess, sys\n"
                "ranks = [subprocess.Popen([sys.executable, '-c', %r, sys.argv[1]], env=dict(os.environ, RANK=str(rank)))\n"
                "         for rank in range(2)]\n"
                "sys.exit(max(rank.wait() for rank in ranks))\n" % TWO_KINDS)
        done = self.kernels("--set", "essentials", "--rank", "all", program=both)
        self.assertIn("of 2 ranks\n", done.stdout)
        lines = [line.split() for line in done.stdout.splitlines() if line.strip().startswith(("gemm", "reduce"))]
        self.assertEqual(sorted(tuple(line[:2]) for line in lines),
                         [("gemm", "0"), ("gemm", "1"), ("reduce", "0"), ("reduce", "1")])
        for rank in "01":
            self.assertIn("of rank " + rank, done.stdout)
            again = self.batchlight("kernels", "run.batchlight", "--rank", rank, "--format", "csv").stdout
            self.assertEqual({row["Rank"] for row in csv.DictReader(io.StringIO(again))}, {rank})
        one = self.kernels("-f", "true", "--set", "essentials").stdout
        self.assertNotIn("Rank", one)

    def test_another_rank_counts(self):
        done = self.kernels("--rank", "3", RANK="0")
        self.assertEqual(self.rows(), [])
        self.assertIn("no kernels were measured", done.stderr)

    def test_a_program_that_ends_before_and_one_without_permission(self):
        done = self.kernels("--step", "100", steps="30")
        self.assertIn("no kernels were measured", done.stderr)
        losses = self.batchlight("table", "losses", "run.batchlight", "-f", "csv").stdout
        self.assertIn("ended before the first step that was to be measured", losses)
        self.kernels("-f", "true", FAKE_COUNTERS_REFUSE="RangeProfilerStart:35")
        losses = self.batchlight("table", "losses", "run.batchlight", "-f", "csv").stdout
        self.assertIn("only administrators", losses)

    def test_killed_within_its_passes_keeps_what_was_read(self):
        program = TWO_KINDS.replace("    native.phase_end()\n", "    native.phase_end()\n    if step == 27: os.kill("
                                    "os.getpid(), 9)\n")
        self.kernels("--set", "full", steps="40", program=program, status=128 + 9)
        self.assertEqual({row["Kernel"] for row in self.rows()}, {"gemm()", "reduce()"})

    def stalls(self, *flags, disassembler=True, verb="kernels", cubin=CUBIN, **variables):
        """`--stalls` of a kernel of tests/cuda/scale.cubin; the disassembler is a stand-in."""
        tools = os.path.join(self.folder, "tools")
        os.makedirs(tools, exist_ok=True)
        if disassembler:
            path = os.path.join(tools, "nvdisasm")
            with open(path, "w") as script:
                script.write("#!/bin/sh\n[ $1 = -c ] && cmp $2 %s >&2 || exit 1\nprintf '.text.%s:\\n /*0080*/ "
                             "LDG.E R5, [R4.64] ;\\n'\n" % (cubin, SCALE))
            os.chmod(path, 0o755)
        variables.setdefault("PATH", tools + ":" + os.environ["PATH"])
        environment = dict(self.environment, LD_LIBRARY_PATH=FAKES + ":" + DRIVER, BATCHLIGHT_CUPTI=FAKES,
                           CUBIN=cubin, **variables)
        done = self.batchlight(verb, "-o", "run", "-f", "true", "--stalls", *flags, "/usr/bin/python3", "-c",
                               STALLS, "60", env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def test_stalls(self):
        done = self.stalls("--set", "essentials")
        self.assertIn("Sampled instructions: 600 samples of warps in 10 steps", done.stdout)
        self.assertIn("the hardware lost 100 of 900", done.stdout)
        self.assertIn("scale.cu:5", done.stdout)
        self.assertIn("loads from memory are waited for", done.stdout)
        kernel, = self.rows("--table", "stalls")
        self.assertEqual(kernel["Kernel"], "scale(float*, float const*, int)")
        self.assertEqual((kernel["Samples"], kernel["Long Scoreboard (%)"], kernel["Selected (%)"]),
                         ("600", "66.67", "33.33"))
        self.assertEqual(kernel["Waits Mostly For"], "Long Scoreboard 67 %")
        lines = self.rows("--table", "lines")
        self.assertEqual([(row["Line"], row["Instruction"], row["Samples"], row["File"]) for row in lines], [
            ("scale.cu:5", "LDG.E R5, [R4.64]", "400", "/tmp/scale/scale.cu"),
            ("scale.cu:4", "", "200", "/tmp/scale/scale.cu")])
        self.assertEqual(self.rows("--table", "lines", "-k", "other"), [])
        steps = [row["Kind"] for row in csv.DictReader(io.StringIO(
            self.batchlight("table", "steps", "run.batchlight", "-f", "csv").stdout))]
        self.assertGreaterEqual(steps.count("counters read"), 10)
        done = self.batchlight("report", "run.batchlight", "-o", "page", "-f")
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(os.path.join(self.folder, "page", "hot_lines.csv")) as table:
            self.assertIn("scale.cu:5", table.read())
        with open(os.path.join(self.folder, "page", "index.html")) as page:
            self.assertIn("Lines and instructions of kernels by samples", page.read())

    def test_lines_have_their_source(self):
        """The cubin names /tmp/scale/scale.cu: here a folder of our own with a name as long."""
        while True:
            folder = "/tmp/" + secrets.token_hex(3)[:5]
            try:
                os.mkdir(folder)
                break
            except FileExistsError:
                pass
        self.addCleanup(shutil.rmtree, folder)
        source = os.path.join(folder, "scale.cu")
        shutil.copy(os.path.join(os.path.dirname(CUBIN), "scale.cu"), source)
        cubin = os.path.join(self.folder, "scale.cubin")
        with open(CUBIN, "rb") as old, open(cubin, "wb") as new:
            new.write(old.read().replace(b"/tmp/scale", folder.encode()))
        self.assertIn("const float a = y[i];", self.stalls("--set", "essentials", cubin=cubin).stdout)
        texts = [(row["Line"], row["Source"]) for row in self.rows("--table", "lines")]
        self.assertEqual(texts, [("scale.cu:5", "const float a = y[i];"), ("scale.cu:4", "if (i < n) {")])
        with open(source, "a") as file:
            file.write("// changed\n")
        later = time.time() + 3600
        os.utime(source, (later, later))
        self.assertEqual({row["Source"] for row in self.rows("--table", "lines")}, {""}, "changed since")
        self.assertNotIn("Source", self.read("--table", "lines").splitlines()[2:4])

    @unittest.skipIf(any(os.path.exists(folder + "/bin/nvdisasm") for folder in ("/usr/local/cuda", "/usr")), "found")
    def test_stalls_without_a_disassembler_and_beside_all_else(self):
        self.stalls("-t", "cuda,nvtx", disassembler=False, verb="profile", PATH="/usr/bin:/bin", GRAPHS="1")
        lines = self.rows("--table", "lines")
        self.assertEqual([(row["Line"], row["Instruction"]) for row in lines], [("scale.cu:5", ""), ("scale.cu:4", "")])
        self.assertIn("nvdisasm was not found",
                      self.batchlight("table", "losses", "run.batchlight", "-f", "csv").stdout)
        done = self.batchlight("kernels", "run.batchlight", "--stalls")
        self.assertNotIn("no kernels were measured", done.stderr)
        self.assertIn("kernels that ran within CUDA graphs have no samples", done.stdout)

    def test_stalls_that_could_not_be_sampled(self):
        self.stalls("--set", "essentials", FAKE_COUNTERS_REFUSE="PCSamplingEnable:35")
        self.assertIn("no instructions were sampled", self.batchlight("kernels", "run.batchlight", "--stalls").stderr)
        self.assertIn("stalls are not sampled: the driver lets only administrators",
                      self.batchlight("table", "losses", "run.batchlight", "-f", "csv").stdout)
        done = self.batchlight("profile", "-t", "nvtx", "--stalls", "/bin/true")
        self.assertIn("--stalls needs cuda in --trace", done.stderr)

    def test_errors_say_what_to_do(self):
        def fails(*flags):
            return self.batchlight("kernels", *flags).stderr
        self.assertIn("no program whose kernels to measure", fails())
        self.assertIn("is not a regular expression", fails("-k", "(", "/bin/true"))
        self.assertIn("is of one --table", fails("--table", "all", "--format", "csv", "/bin/true"))
        self.assertIn("is no number from 2", fails("--step", "1", "/bin/true"))
        self.assertIn("is none of essentials|limits", fails("--set", "essential", "/bin/true"))
        self.kernels("--set", "essentials", steps="1")
        for pattern in ((), ("-k", "|"), ("-k", "re.uce")):
            self.assertIn("has words of their names", fails("--replay", "kernel", *pattern, "/bin/true"))
        self.assertIn("one recording at a time", self.read("other", status=2))


if __name__ == "__main__":
    unittest.main()
