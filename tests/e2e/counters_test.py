"""batchlight counters, and profile --step-counters through the real program: on stand-ins for driver and
CUPTI, and the planner on NVIDIA's own library where it is installed."""
import csv
import glob
import io
import json
import os
import sqlite3
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "cuda")]
from recorded import BUILD, InFolder  # noqa: E402
from viewer import Viewer  # noqa: E402
from cuda_counters_test import DRAM, DURATION, INSTRUCTIONS, STEPS  # noqa: E402

FAKES = os.path.join(BUILD, "test", "fakes")
DRIVER = os.path.join(FAKES, "driver")
NVML = os.path.join(FAKES, "nvml")


def real_cupti():
    """The folder of NVIDIA's libcupti with its library of metrics; None: not installed here."""
    places = ["/usr/local/cuda/lib", "/usr/local/cuda/lib64", "/usr/local/cuda/extras/CUPTI/lib64"]
    for prefix in (sys.prefix, "/usr", os.environ.get("BATCHLIGHT_TORCH_PYTHON", "")[:-len("/bin/python")]):
        places += glob.glob(f"{prefix}/lib/python3*/*-packages/nvidia/cu13/lib")
    return next((place for place in places if os.path.exists(place + "/libcupti.so.13")
                 and os.path.exists(place + "/libnvperf_host.so")), None)


class Counters(InFolder):
    def tool(self, *words, status=0, **variables):
        environment = dict(self.environment, **variables)
        done = self.batchlight(*words, env=environment)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def plan(self, *words, folder=FAKES):
        return json.loads(self.tool("counters", "-f", "json", *words, BATCHLIGHT_CUPTI=folder).stdout)

    def test_the_sets(self):
        text = self.tool("counters", BATCHLIGHT_CUPTI=FAKES).stdout
        for name in ("essentials", "memory", "compute", "warp", "roofline", "full", "FAKE1"):
            self.assertIn(name, text)

    def test_a_plan_for_a_chip_that_is_not_here(self):
        plan, = self.plan("--chip", "FAKE1", "--set", "dram__bytes_read.sum,sm__a.sum,sm__inst_executed.sum")
        self.assertEqual(plan["missing"], ["sm__a.sum"])
        self.assertEqual(plan["passes"], [["gpu__time_duration.sum", "sm__cycles_elapsed.avg.per_second",
                                           "dram__bytes_read.sum", "sm__inst_executed.sum"]])

    def test_what_does_not_fit_comes_in_another_pass_with_the_duration(self):
        names = ",".join(f"sm__inst_executed.{i}" for i in range(5))
        plan, = self.plan("--chip", "GH100", "--set", names)
        self.assertEqual([len(p) for p in plan["passes"]], [2 + 3, 2 + 2])
        for names in plan["passes"]:
            self.assertEqual(names[:2], ["gpu__time_duration.sum", "sm__cycles_elapsed.avg.per_second"])

    def test_errors_say_what_to_do(self):
        for words, status, expected in (
                (["--chip", "GH999", "--list"], 0, None),
                (["--list"], 3, "no NVIDIA driver or no GPU; --chip names one"),
                (["--set", "essential"], 2, "did you mean essentials?")):
            with self.subTest(words=words):
                if expected is None:
                    plans = self.plan(*words)
                    self.assertEqual(plans[0]["passes"], [])
                    continue
                done = self.tool("counters", *words, status=status, BATCHLIGHT_CUPTI=FAKES)
                self.assertIn(expected, done.stderr)
        done = self.tool("counters", "--list", status=3, BATCHLIGHT_CUPTI=self.folder)
        self.assertIn("install the package nvidia-cuda-cupti", done.stderr)
        done = self.tool("counters", BATCHLIGHT_CUPTI=self.folder)
        self.assertIn("install the package nvidia-cuda-cupti", done.stdout)

    def test_all_metrics(self):
        text = self.tool("counters", "--metrics", "--chip", "FAKE1", BATCHLIGHT_CUPTI=FAKES).stdout
        self.assertIn("dram__bytes_read", text)

    @unittest.skipUnless(real_cupti(), "NVIDIA's CUPTI is not installed here")
    def test_the_chips_that_cupti_knows(self):
        essential = {"gpu__time_duration.sum", "dram__bytes_read.sum", "dram__bytes_write.sum",
                     "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", "sm__inst_executed.sum"}
        for chip in ("GH100", "GA100", "AD102", "GB100", "TU102"):
            with self.subTest(chip):
                plan, = self.plan("--chip", chip, "--set", "essentials", folder=real_cupti())
                self.assertLessEqual(essential, set(plan["passes"][0]), "the first pass has what matters")
                if chip != "TU102":
                    self.assertEqual(len(plan["passes"]), 1)
        memory, = self.plan("--chip", "GH100", "--set", "memory", folder=real_cupti())
        self.assertGreater(len(memory["passes"]), 1)
        self.assertTrue(all("gpu__time_duration.sum" in names for names in memory["passes"]))
        samples, = self.plan("--chip", "GH100", "--samples", "--set", "memory", folder=real_cupti())
        self.assertEqual(len(samples["passes"]), 1, "samples have no second pass")

    # --- profile -----------------------------------------------------------------------------------
    def profile(self, *flags, steps="60", **variables):
        return self.tool("profile", "-o", "run", *flags, "/usr/bin/python3", "-c", STEPS, steps,
                         LD_LIBRARY_PATH=FAKES + ":" + DRIVER, BATCHLIGHT_CUPTI=FAKES, **variables)

    def rows(self, table):
        text = self.tool("table", table, "run.batchlight", "-f", "csv").stdout
        return list(csv.DictReader(io.StringIO(text)))

    def test_counters_of_steps(self):
        done = self.profile("--step-counters")
        self.assertIn("Counters of a step on GPU 0, measured", done.stderr)
        rows = {row["Metric"]: row for row in self.rows("step_counters")}
        for metric, place in (("gpu__time_duration.sum", DURATION), ("sm__inst_executed.sum", INSTRUCTIONS),
                              ("dram__bytes_read.sum", DRAM)):
            self.assertEqual(float(rows[metric]["Mean"]), 10 * place, metric)
            self.assertEqual(float(rows[metric]["Spread (%)"]), 0)
        summary = json.loads(self.tool("summary", "--json", "run.batchlight").stdout)
        figures, = summary["step_counters"]
        self.assertEqual(figures["gpu_ns"], 10 * DURATION)
        self.assertEqual(figures["dram_bytes"], 10 * (DRAM + DRAM + 1))
        self.assertGreaterEqual(figures["steps"], 2)
        self.assertGreater(figures["switch_ns"], 0)

    def test_the_roofline_of_a_step_is_of_the_same_numbers(self):
        self.profile("--step-counters=roofline", FAKE_COUNTERS_VALUES=(
            "gpu__time_duration.sum=90000,sm__cycles_elapsed.avg.per_second=1.7e8,dram__bytes_read.sum=6e7,"
            "dram__bytes_write.sum=2e7,sm__ops_path_tensor_src_bf16_dst_fp32.sum=7.2e10"))
        row, = self.rows("step_roofline")
        self.assertEqual([row[column] for column in ("Type", "TFLOP/s", "FLOP/B DRAM", "Operations", "DRAM Bytes (B)")],
                         ["Tensor bf16", "800.00", "900.00", "720000000000.00", "800000000"])
        figures, = json.loads(self.tool("summary", "--json", "run.batchlight").stdout)["step_counters"]
        self.assertAlmostEqual(figures["tflops"], 800)

    def test_they_survive_an_export(self):
        self.profile("--step-counters=essentials", "--counter-metrics=dram__bytes_write.sum")
        before = self.rows("step_counters")
        self.tool("export", "-t", "sqlite", "run.batchlight")
        database = sqlite3.connect(os.path.join(self.folder, "run.sqlite"))
        self.addCleanup(database.close)
        counted = database.execute("SELECT count(*), sum(kernels) FROM BATCHLIGHT_COUNTER_RANGES").fetchone()
        self.assertEqual(counted[1], 0)
        self.assertGreaterEqual(counted[0], 2)
        os.rename(os.path.join(self.folder, "run.sqlite"), os.path.join(self.folder, "again.sqlite"))
        after = self.tool("table", "step_counters", "again.sqlite", "-f", "csv").stdout
        self.assertEqual(list(csv.DictReader(io.StringIO(after))), before)

    def test_diff_has_the_counters_that_both_runs_read(self):
        self.profile("--step-counters")
        os.rename(os.path.join(self.folder, "run.batchlight"), os.path.join(self.folder, "before.batchlight"))
        twice = 20 * INSTRUCTIONS
        self.profile("--step-counters", FAKE_COUNTERS_VALUES=f"sm__inst_executed.sum={2 * INSTRUCTIONS}")
        words = "before.batchlight", "run.batchlight"
        counters = {row["metric"]: row for row in json.loads(self.tool("diff", *words, "-f", "json").stdout)["counters"]}
        row = counters["sm__inst_executed.sum"]
        self.assertEqual((row["name"], row["a"], row["b"]), ("Instructions", 10 * INSTRUCTIONS, twice))
        row = counters["dram__bytes_read.sum"]
        self.assertEqual(row["a"], row["b"])
        self.assertRegex(self.tool("diff", *words).stdout, r"Instructions .*\+100")

    def test_cupti_is_found_where_pytorch_has_it(self):
        packages = os.path.join(self.folder, "venv", "lib", "python3.13", "site-packages", "nvidia", "cu13", "lib")
        os.makedirs(packages)
        for name in os.listdir(FAKES):
            if name.startswith("libcupti"):
                os.symlink(os.path.join(FAKES, name), os.path.join(packages, name))
        os.makedirs(os.path.join(self.folder, "venv", "bin"))
        python = os.path.join(self.folder, "venv", "bin", "python3")
        os.symlink("/usr/bin/python3", python)
        # By the program that is started, and by the virtual environment that is active.
        self.tool("profile", "-o", "run", "--step-counters", python, "-c", STEPS, "60",
                  LD_LIBRARY_PATH=FAKES + ":" + DRIVER)
        self.assertIn("sm__inst_executed.sum", {row["Metric"] for row in self.rows("step_counters")})
        listed = self.tool("counters", "--list", "--chip", "GH100", "-f", "json",
                           VIRTUAL_ENV=os.path.join(self.folder, "venv")).stdout
        self.assertIn("essentials", listed)

    def test_without_a_gpu_the_program_runs_and_one_line_says_why(self):
        done = self.tool("profile", "-o", "run", "--step-counters", "/usr/bin/python3", "-c", "print(7)",
                         BATCHLIGHT_CUPTI=FAKES)
        self.assertEqual(done.stdout, "7\n")
        self.assertEqual(done.stderr.splitlines()[0], "batchlight: hardware counters are not read: this "
                         "machine has no NVIDIA driver or no GPU")
        losses = self.rows("losses")
        self.assertTrue(any("hardware counters are not read" in str(row) for row in losses), losses)

    def test_refused_in_the_program(self):
        self.profile("--step-counters", FAKE_COUNTERS_REFUSE="RangeProfilerStart:35")
        self.assertEqual(self.rows("step_counters"), [])
        losses = self.rows("losses")
        self.assertTrue(any("only administrators" in str(row) for row in losses), losses)

    def test_what_it_does_not_go_with(self):
        done = self.tool("profile", "-t", "nvtx", "--step-counters", "/bin/true", status=2)
        self.assertIn("--step-counters needs cuda in --trace", done.stderr)
        done = self.tool("profile", "--step-counters=true", "--counter-metrics=nonsense", "/bin/true", status=2)
        self.assertIn("no set of counters is called nonsense", done.stderr)

    def test_nothing_asked_for_nothing_read(self):
        self.profile()
        self.assertEqual(self.rows("step_counters"), [])

    # --- metrics over time ---------------------------------------------------------------------------
    def sample(self, *flags, seconds="2", status=0, **variables):
        return self.tool("profile", "-o", "run", *flags, "/usr/bin/python3", "-c",
                         f"import time; time.sleep({seconds})", status=status,
                         **dict({"LD_LIBRARY_PATH": DRIVER, "BATCHLIGHT_CUPTI": FAKES}, **variables))

    def exported(self):
        self.tool("export", "-t", "sqlite", "run.batchlight")
        database = sqlite3.connect(os.path.join(self.folder, "run.sqlite"))
        self.addCleanup(database.close)
        return database

    @staticmethod
    def intervals(database, metric):
        """Of the second GPU's samples of the metric, in tenths of a millisecond."""
        times = [row[0] for row in database.execute(
            "SELECT s.start_ns FROM BATCHLIGHT_GPU_METRIC_SAMPLES s JOIN StringIds i ON i.id = s.metric "
            "WHERE s.device = 1 AND i.value LIKE ? ORDER BY s.row", (metric,))]
        return {round((b - a) / 1e6, 1) for a, b in zip(times, times[1:])}

    def test_metrics_over_time(self):
        self.sample("--gpu-metrics-devices=all")
        rows = self.rows("gpu_metrics")
        self.assertEqual({row["GPU"] for row in rows}, {"0", "1"})
        first = [row for row in rows if row["GPU"] == "0"]
        self.assertEqual([row["Name"] for row in first], [
            "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
            "sm__cycles_active.avg.pct_of_peak_sustained_elapsed",
            "sm__warps_active.avg.pct_of_peak_sustained_elapsed",
            "dram__read_throughput.avg.pct_of_peak_sustained_elapsed",
            "dram__write_throughput.avg.pct_of_peak_sustained_elapsed",
            "gr__cycles_active.avg.pct_of_peak_sustained_elapsed"], "those that the GPU has, in one pass")
        for row in rows:
            self.assertEqual((row["Unit"], row["Source"]), ("%", "hardware counters"))
            self.assertGreater(int(row["Samples"]), 500)
        self.assertEqual(self.rows("losses"), [])
        database = self.exported()
        self.assertLessEqual(self.intervals(database, "gr__cycles%"), {0.9, 1.0, 1.1}, "no sample is missing")
        names, = database.execute("SELECT count(*) FROM BATCHLIGHT_GPU_METRICS").fetchone()
        self.assertEqual(names, 12)

    def test_metrics_by_what_the_gpu_did_and_as_strips(self):
        self.profile("--gpu-metrics-devices=all", steps="100")
        rows = self.rows("gpu_metric_parts")
        idle = [row for row in rows if (row["By"], row["GPU"]) == ("idle", "0")]
        self.assertGreater(len({row["Name"] for row in idle}), 4, rows)
        self.assertGreater(int(idle[0]["Samples"]), 100, "most of each step of 10 ms is idle")
        self.assertEqual({row["By"] for row in rows}, {"idle"}, "kernels are shorter than a sample")
        with Viewer(os.path.join(self.folder, "run.batchlight")) as viewer:
            run = viewer.get("run")
        strips = [(run["groups"][track["group"]]["title"], track["title"]) for track in run["tracks"]]
        for gpu in "01":
            self.assertIn("SM active, %", [title for group, title in strips if group.endswith(gpu)], strips)

    def test_one_gpu_in_nsys_older_spelling_at_another_rate(self):
        self.sample("--gpu-metrics-device=1", "--gpu-metrics-frequency=100",
                    "--gpu-metrics-set=dram__bytes_read.sum")
        row, = self.rows("gpu_metrics")
        self.assertEqual((row["GPU"], row["Metric"]), ("1", "DRAM read"))
        self.assertGreater(int(row["Samples"]), 50)
        self.assertLessEqual(self.intervals(self.exported(), "dram__%"), {9.9, 10.0, 10.1})

    def test_samples_that_came_too_fast_are_said(self):
        self.sample("--gpu-metrics-devices=0", FAKE_COUNTERS_DROP="3")
        losses = self.rows("losses")
        self.assertTrue(any("came too fast to be read" in str(row) for row in losses), losses)
        self.assertGreater(len(self.rows("gpu_metrics")), 0)

    def test_nobody_may_sample(self):
        done = self.sample("--gpu-metrics-devices=0", seconds="1",
                           FAKE_COUNTERS_REFUSE="PmSamplingEnable:35")
        self.assertIn("counters of GPU 0 are not sampled: the driver lets only administrators",
                      " ".join(done.stderr.split()))
        self.assertEqual(self.rows("gpu_metrics"), [])

    # What NVML says, ten times a second, beside counters or alone.
    def of_nvml(self, *flags, **variables):
        done = self.sample(*flags, LD_LIBRARY_PATH=f"{DRIVER}:{NVML}", **variables)
        return done, {(row["GPU"], row["Metric"]): row for row in self.rows("gpu_metrics")
                      if row["Source"] != "hardware counters"}

    def test_power_heat_and_clocks_beside_counters(self):
        _, rows = self.of_nvml("--gpu-metrics-devices=all")
        values = {key: float(row["Mean"]) for key, row in rows.items() if key[0] == "0"}
        self.assertEqual(values, {("0", "power"): 612.5, ("0", "power limit"): 700, ("0", "temperature"): 61,
                                  ("0", "SM clock"): 1980, ("0", "memory clock"): 3201, ("0", "held back by power"): 0,
                                  ("0", "held back by heat"): 0, ("0", "any kernel ran"): 87,
                                  ("0", "memory was accessed"): 34})
        self.assertEqual(rows["0", "power"]["Unit"], "W")
        self.assertEqual({key for key in rows if key[0] == "1"} | {("1", "power")},
                         {("1", metric) for _, metric in values}, "the second does not say its power")
        self.assertNotIn(("1", "power"), rows)
        self.assertAlmostEqual(min(self.intervals(self.exported(), "temperature")), 100, delta=5)
        self.assertIn(int(rows["0", "temperature"]["Samples"]), range(10, 24), "ten times a second, for two seconds")
        counted = [row for row in self.rows("gpu_metrics") if row["Source"] == "hardware counters"]
        self.assertEqual({row["GPU"] for row in counted}, {"0", "1"})

    def test_where_nobody_may_sample_counters_utilization_is_left(self):
        done, rows = self.of_nvml("--gpu-metrics-devices=0", FAKE_COUNTERS_REFUSE="PmSamplingEnable:35")
        self.assertIn("only administrators", " ".join(done.stderr.split()))
        self.assertEqual({gpu for gpu, _ in rows}, {"0"})
        self.assertEqual(float(rows["0", "any kernel ran"]["Mean"]), 87)
        self.assertEqual({row["Source"] for row in self.rows("gpu_metrics")}, {rows["0", "power"]["Source"]})

    def test_what_held_the_clocks_back(self):
        for held, other in (("power", "heat"), ("heat", "power")):
            with self.subTest(held):
                _, rows = self.of_nvml("-f", "true", "--gpu-metrics-devices=1", FAKE_NVML=held)
                self.assertEqual(float(rows["1", "held back by " + held]["Mean"]), 100)
                self.assertEqual(float(rows["1", "held back by " + other]["Mean"]), 0)
        _, rows = self.of_nvml("-f", "true", "--gpu-metrics-devices=1", FAKE_NVML="lacks")
        self.assertEqual({metric for _, metric in rows}, {"power limit", "temperature", "SM clock", "memory clock"})

    def test_no_gpu_to_sample(self):
        done = self.sample("--gpu-metrics-devices=all", seconds="0.5", LD_LIBRARY_PATH="")
        self.assertIn("no NVIDIA driver or no GPU", " ".join(done.stderr.split()))

    def test_help_of_the_flags(self):
        done = self.tool("profile", "--gpu-metrics-devices=help", LD_LIBRARY_PATH=DRIVER)
        self.assertEqual(done.stdout, "0: Stand-in GPU 0\n1: Stand-in GPU 1\n")
        self.assertIn("timeline", self.tool("profile", "--gpu-metrics-set=help").stdout)

    def test_a_program_that_ends_at_once(self):
        self.sample("--gpu-metrics-devices=all", seconds="0")


if __name__ == "__main__":
    unittest.main()
