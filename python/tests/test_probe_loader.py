"""What `batchlight probe loader` makes of its trials, and what it does to a batch."""
import collections
import os
import sys
import tempfile
import types
import unittest
import unittest.mock

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from batchlight import _probe_loader, _probe_trials  # noqa: E402

with unittest.mock.patch.dict(sys.modules, _batchlight_native=types.ModuleType("_batchlight_native")):
    from batchlight._bridge import _probe_loader as in_program
    from batchlight._bridge import _steady_rate


def trial(mode, rate, workers=0, cpu_s=0.0, main_cpu_s=0.0, changes=None, **more):
    made = _probe_trials.Trial(mode, **(changes or {}))
    made.result = dict(samples=1000, measured=100, batches=110, active_s=1000 / rate, workers=workers, prefetch=2,
                       wait_s=1000 / rate, pin=False, batch_size=10, dataset="Data", cuda=False, cpu_wall_s=1000 / rate,
                       starts=[0.1],
                       main_cpu_s=1000 * (main_cpu_s if workers else cpu_s),
                       parts=dict(dict.fromkeys(in_program.PART_NAMES, 0.0), batches=100, cpu_s=1000 * cpu_s))
    made.result.update(more)
    return made


class Prediction(unittest.TestCase):
    def predicted(self, loader, training, count=8, body_s=0.0, crowded=1.0):
        both = trial("both", 50, wait_s=1000 / 50 - 1000 * body_s)
        return _probe_loader.predicted_rate(loader, both, training, count, crowded)

    def test_without_workers_they_take_turns(self):
        self.assertAlmostEqual(self.predicted(trial("loader", 100), trial("training", 300)), 75)

    def test_with_workers_the_slower_one_counts(self):
        fast = trial("training", 1000)
        self.assertAlmostEqual(self.predicted(trial("loader", 100, 2), fast), 100)
        self.assertAlmostEqual(self.predicted(trial("loader", 5000, 2), fast), 1000)

    def test_taking_samples_from_workers_is_work_of_the_main_process(self):
        loader = trial("loader", 5000, 2, main_cpu_s=0.001)
        self.assertAlmostEqual(self.predicted(loader, trial("training", 1000)), 500)

    def test_no_more_than_the_processors_do(self):
        loader, training = trial("loader", 1000, 4, cpu_s=0.004), trial("training", 1000, cpu_s=0.001)
        self.assertAlmostEqual(self.predicted(loader, training, count=4), 800)

    def test_new_batches_cost_the_body_more_than_one_in_the_cache(self):
        training = trial("training", 1000, cpu_s=0.001)
        self.assertAlmostEqual(self.predicted(trial("loader", 1000), training, body_s=0.003), 250)
        self.assertAlmostEqual(self.predicted(trial("loader", 1000, 4, cpu_s=0.002), training, 4, body_s=0.002), 500)
        self.assertAlmostEqual(self.predicted(trial("loader", 1000), training, body_s=0.0001), 500, msg="on a GPU")

    def test_beside_workers_the_training_is_dearer_too(self):
        loader, training = trial("loader", 5000, 4), trial("training", 1000, cpu_s=0.001)
        self.assertAlmostEqual(self.predicted(loader, training, crowded=1.25), 800)
        loader = trial("loader", 1000, 4, cpu_s=0.003)
        self.assertAlmostEqual(self.predicted(loader, training, count=4, crowded=2.0), 500)  # its own time
        training = trial("training", 1000, cpu_s=0.0001, copy={"pageable_s": 1, "pinned_s": 1})
        self.assertAlmostEqual(self.predicted(trial("loader", 5000, 4), training, crowded=2.0), 1000, msg="of a GPU")

    def test_how_dear_it_is_beside_workers(self):
        one, four = trial("loader", 100, 1, cpu_s=0.002), trial("loader", 300, 4, cpu_s=0.003)
        tried = [trial("loader", 100, cpu_s=0.0001), one, four]
        self.assertAlmostEqual(_probe_loader.crowding(four, tried), 1.5)
        self.assertEqual(_probe_loader.crowding(one, tried), 1.0)
        self.assertEqual(_probe_loader.crowding(four, [four]), 1.0)
        self.assertEqual(_probe_loader.crowding(trial("loader", 300, 8, cpu_s=0.02), tried), 2.0)
        self.assertEqual(_probe_loader.crowding(trial("loader", 300, 8, cpu_s=0.001), tried), 1.0, msg="by chance")

    def test_what_a_program_gets_of_the_processors(self):
        alone = trial("loader", 1000, cpu_s=0.001)
        full = trial("loader", 1800, 2, cpu_s=0.001)
        waiting = trial("loader", 500, 2, cpu_s=0.001)
        self.assertAlmostEqual(_probe_loader.attainable([alone, full], 2), 1.8)
        self.assertEqual(_probe_loader.attainable([alone, waiting], 2), 2, msg="it waited for something else")
        self.assertEqual(_probe_loader.attainable([trial("loader", 2100, 2, cpu_s=0.001)], 2), 2, msg="by chance")

    def test_what_is_worth_a_run(self):
        tried = [trial("loader", rate, workers, changes={"workers": workers} if workers else {})
                 for workers, rate in ((0, 100), (2, 395), (4, 420), (8, 430), (16, 390))]

        def chosen(predict):
            return [one["workers"] for one in _probe_loader.choose(tried, predict)]

        self.assertEqual(chosen(lambda one: one.rate), [2, 8])
        self.assertEqual(chosen(lambda one: min(one.rate, 100)), [0], "as it is")
        self.assertEqual(chosen(lambda one: 1000 - one["workers"] if one["workers"] else 1), [2])

    def test_the_fastest_is_what_a_run_says(self):
        two, eight = trial("loader", 395, 2), trial("loader", 430, 8)
        runs = {2: trial("both", 300, 2), 8: trial("both", 305, 8), 9: trial("both", 350, 8)}
        fastest = _probe_loader.fastest
        self.assertEqual(fastest([two, eight], [(two, runs[2]), (eight, runs[8])]), (two, runs[2]))
        self.assertEqual(fastest([two, eight], [(two, runs[2]), (eight, runs[9])]), (eight, runs[9]))
        self.assertEqual(fastest([two], []), (two, None))


class Steady(unittest.TestCase):
    """Rates of batches of ten samples whose times are given; the clock is the last of them."""

    def setUp(self):
        self.now, self.used = 0.0, 0.0
        clock = unittest.mock.patch.object(_steady_rate.time, "perf_counter", lambda: self.now)
        clock.start()
        self.addCleanup(clock.stop)
        self.rate = _steady_rate.SteadyRate(lambda: [self.used])

    def come(self, *times):
        for self.now in times:
            self.rate.batch(10, self.now, self.now)

    def test_bursts_of_workers_count_in_whole_rounds(self):
        # Sixteen workers that each make a batch in a second: 160 samples a second, whatever the end.
        for batches in range(40, 120):
            self.rate = _steady_rate.SteadyRate(lambda: [self.used])
            self.rate.begin_epoch(workers=16, skipped=17)
            self.come(*[1 + i // 16 + 1e-4 * (i % 16) for i in range(batches)])
            self.rate.finish()
            self.assertAlmostEqual(self.rate.samples / self.rate.active_s, 160, places=3, msg=batches)

    def test_less_than_a_round_is_all_there_is(self):
        self.rate.begin_epoch(workers=16, skipped=1)
        self.come(1, 2, 3, 4)
        self.assertFalse(self.rate.is_whole)
        self.rate.finish()
        self.assertEqual((self.rate.batches, self.rate.active_s), (2, 2))

    def test_the_start_of_each_epoch_is_left_out(self):
        for begin in (0, 100):
            self.rate.begin_epoch(workers=2, skipped=3)
            self.used += 50  # processes that start
            self.come(*[begin + 10 + i // 2 for i in range(3)])
            self.come(begin + 11)
            self.used += 4
            self.come(begin + 12, begin + 12, begin + 13)
            self.now = begin + 13
            self.rate.end_epoch(self.now)
        self.assertEqual((self.rate.batches, self.rate.samples, self.rate.active_s), (8, 80, 4))
        self.assertEqual((self.rate.used, self.rate.used_wall_s), ([8], 4))

    def test_without_workers_each_batch_counts(self):
        self.rate.begin_epoch(workers=0, skipped=2)
        self.come(1, 2, 3, 5, 7)
        self.assertTrue(self.rate.is_whole)
        self.rate.finish()
        self.assertEqual((self.rate.batches, self.rate.active_s), (2, 4))


class OtherPrograms(unittest.TestCase):
    def test_are_named_where_they_leave_too_little(self):
        (note,) = _probe_loader.what_others_use((1000, 5000), (1090, 5100), 2, 2)
        self.assertIn("used 1.8 of the machine's 2 processors", note)
        # A container of 4 processors on a machine of 64, of which 30 are busy.
        self.assertEqual(_probe_loader.what_others_use((0, 0), (30, 64), 4, 64), [])
        self.assertEqual(_probe_loader.what_others_use((0, 0), (2, 100), 2, 2), [])
        self.assertEqual(_probe_loader.what_others_use((0, 0), (0, 0), 2, 2), [], "not known")

    def test_the_kernel_counts_their_time(self):
        busy, passed = _probe_loader.processor_times()
        self.assertTrue(0 < busy < passed)


class Patience(unittest.TestCase):
    """A program that writes a line and a file, and goes on for ever; the clock runs from that file on."""

    def said_of(self, file, text="", then="exec sleep 1000", startup_s=5):
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "program")
            with open(program, "w") as script:
                script.write("#!/bin/sh\necho first words\ncd \"${BATCHLIGHT_PROBE_LOADER%%/plan}\"\n"
                             "echo '%s' > new; mv new %s\n%s\n" % (text, file, then))
            os.chmod(program, 0o755)
            runner = _probe_trials.Runner(["any"], seconds=1, steps=1, startup_s=startup_s, say=lambda what: None)
            self.addCleanup(runner.close)
            ticks = []

            def clock():
                if any(file in files for _, _, files in os.walk(runner.folder)):
                    ticks.append(1)
                return len(ticks)

            with unittest.mock.patch.object(_probe_trials, "find_tool", lambda: program), \
                    unittest.mock.patch.object(_probe_trials.time, "monotonic", clock), \
                    self.assertRaises(_probe_trials.TrialFailed) as failed:
                runner.run(_probe_trials.Trial("both"))
            self.assertIn("first words", str(failed.exception))
            return str(failed.exception)

    def test_for_the_start(self):
        self.assertIn("did not come to its training loop within 5 s", self.said_of("something"))

    def test_for_the_loop_once_it_began(self):
        self.assertEqual(_probe_trials.BEGAN, in_program.BEGAN)
        self.assertIn("too few in 9 s", self.said_of(in_program.BEGAN))

    def test_for_the_exit_code_of_one_that_ends_by_itself(self):
        said = self.said_of("result", '{"batches": 0, "loaders": 0, "ended": true}', "sleep 2; exit 2", startup_s=100000)
        self.assertIn("ended with exit code 2", said)


class Limit(unittest.TestCase):
    def limit(self, loader, training, **parts):
        known = {"read": 0.0, "decode": 0.0, "collate": 0.0, "send": 0.0, "waiting": 0.0}
        return _probe_loader.limit_of(trial("both", 90, loader["workers"]), loader, training, dict(known, **parts))

    def test_each_part(self):
        for part, name in (("read", "storage"), ("decode", "decode"), ("collate", "collate"), ("send", "transfer")):
            found, why = self.limit(trial("loader", 100, 2), trial("training", 1000), **{part: 0.01})
            self.assertEqual(found, name)
            self.assertIn("100 % of a worker's time", why)

    def test_training(self):
        self.assertEqual(self.limit(trial("loader", 1200, 2), trial("training", 1000), decode=1.0)[0], "training")
        found, why = self.limit(trial("loader", 1200), trial("training", 1000), decode=1.0)
        self.assertEqual(found, "decode")
        self.assertIn("take turns", why)

    def test_copy(self):
        moved = {"bytes": 1 << 20, "pageable_s": 0.004, "pinned_s": 0.001}
        training = trial("training", 1000, copy=moved)
        self.assertEqual(self.limit(trial("loader", 1200, 2), training)[0], "copy")

    def test_a_main_process_that_cannot_take_more(self):
        loader = trial("loader", 100, 8, main_cpu_s=0.0095)
        self.assertEqual(self.limit(loader, trial("training", 1000), decode=0.01)[0], "transfer")

    def test_a_mapped_file_is_said(self):
        why = self.limit(trial("loader", 100, 2), trial("training", 1000), decode=0.01, waiting=0.009)[1]
        self.assertIn("waited 90 %", why)
        self.assertIn("mmap", why)


class Report(unittest.TestCase):
    def test_text_of_a_report_that_has_everything(self):
        loader, training = trial("loader", 100), trial("training", 1000)
        best = trial("loader", 400, 4, changes={"workers": 4})
        checked = [trial("both", 380, 4, changes={"workers": 4})]
        report = _probe_loader.report_of(trial("both", 90, iterable=True, no_backward=True, ended=True), loader,
                                         training, [loader, best], [best], [(best, one) for one in checked],
                                         [{"setting": "workers 9", "why": "died\nhere"}], lambda one: one.rate, 8,
                                         ["Other programs used 1.8"])
        text = _probe_loader.text_of(report)
        self.assertIn("num_workers=4, prefetch_factor=2, pin_memory=False: 4.22 times as fast, measured (4.44 "
                      "predicted)", text)
        self.assertAlmostEqual(report["best"]["prediction_error"], 400 / 380 - 1)
        for part in ("Note: workers 9 did not run: died\n", "Note: Other programs used 1.8", "No backward was seen", "iterable",
                     "ended by itself"):
            self.assertIn(part, text)


class Batches(unittest.TestCase):
    def test_a_batch_is_served_again_whole(self):
        Pair = collections.namedtuple("Pair", "x y")
        batch = {"a": [1, 2], "b": Pair((3,), {"c": 4})}
        first = in_program.again(batch)
        first.pop("a").append(9)
        first["b"].y.clear()
        self.assertEqual(in_program.again(batch), {"a": [1, 2], "b": Pair((3,), {"c": 4})})
        self.assertIsInstance(first["b"], Pair)

    def test_samples_are_counted_by_the_first_tensor(self):
        tensor = types.SimpleNamespace(shape=(16, 3))
        scalar = types.SimpleNamespace(shape=())
        self.assertEqual(in_program._count_of([scalar, {"x": ("name", tensor)}]), 16)
        self.assertIsNone(in_program._count_of(["text", b"bytes", 3]))


class Files(unittest.TestCase):
    def test_what_is_data(self):
        for file in ("/data/1.jpg", "/home/me/train.bin"):
            self.assertTrue(_probe_trials.is_data(file))
        for file in ("/usr/lib/x.so", "/home/me/train.py", "socket:[3]", "/v/site-packages/torch/x.json", "/proc/1/x"):
            self.assertFalse(_probe_trials.is_data(file))

    def test_sums_of_the_table(self):
        rows = [{"File": "/d", "Read Time (ns)": 2000000000, "Bytes Read": 10}, {"File": "/e"}]
        self.assertEqual(_probe_trials.reads_of(rows), (2.0, 10))


if __name__ == "__main__":
    unittest.main()
