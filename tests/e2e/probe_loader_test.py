"""batchlight probe loader: which part of a loop limits, on loops that are made so; and scripts that are odd."""
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

from recorded import BATCHLIGHT, LONG_S, SOURCE, run

LOOP = textwrap.dedent("""
    import argparse, os, sys, time
    import torch
    from torch.utils.data import DataLoader, Dataset, IterableDataset

    parser = argparse.ArgumentParser()
    parser.add_argument("kind")
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--step-ms", type=float, default=0)
    parser.add_argument("--batches", type=int, default=400)
    options = parser.parse_args()
    here = os.path.dirname(os.path.abspath(__file__))

    class Data(Dataset):
        def __len__(self):
            return options.batches * 8
        def __getitem__(self, i):
            if options.kind == "decode":
                time.sleep(0.004)
            if options.kind == "read":
                with open(os.path.join(here, "big.bin"), "rb", buffering=0) as file:
                    file.read()
            return torch.full((4,), float(i)), i % 2

    class Endless(IterableDataset):
        def __iter__(self):
            while True:
                time.sleep(0.002)
                yield torch.zeros(4), 1

    def collate(items):
        if options.kind == "collate":
            time.sleep(0.03)
        x, y = zip(*items)
        return {"x": torch.stack(x), "y": torch.tensor(y)}

    def main():
        data = Endless() if options.kind == "endless" else Data()
        loader = DataLoader(data, batch_size=8, num_workers=options.workers, collate_fn=collate)
        check = DataLoader(Data(), batch_size=8, collate_fn=collate)
        model = torch.nn.Linear(4, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for number, batch in enumerate(check):  # before the training, as Lightning does
            with torch.no_grad():
                model(batch["x"])
            if number == 1:
                break
        epoch = 0
        while options.batches > 20 or epoch == 0:
            for batch in loader:
                target = batch.pop("y")  # loops do such things to their batch
                loss = torch.nn.functional.cross_entropy(model(batch.pop("x")), target)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                time.sleep(options.step_ms / 1e3)
            epoch += 1
        with open(os.path.join(here, "ended"), "w"):
            pass

    main()
""")


@unittest.skipUnless(importlib.util.find_spec("torch"), "no PyTorch for this Python")
class ProbeLoader(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="batchlight-e2e-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.script = self.write("loop.py", LOOP)
        with open(os.path.join(self.folder, "big.bin"), "wb") as file:
            file.write(os.urandom(8 << 20))

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def environment(self):
        return dict(os.environ, PATH=os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"],
                    TMPDIR=self.folder, OMP_NUM_THREADS="1")

    def probe(self, *words, **options):
        options.setdefault("timeout", 10 * LONG_S)
        return run(BATCHLIGHT, "probe", "loader", "--seconds", "2", "--steps", "30", *words, env=self.environment(),
                   **options)

    def report(self, *words):
        done = self.probe("-f", "json", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([name for name in os.listdir(self.folder) if "probe" in name], [], "its files are removed")
        self.assertFalse(os.path.exists(os.path.join(self.folder, "ended")), "nothing runs after the trial")
        return json.loads(done.stdout)

    # --- verdicts ---

    def test_slow_samples_and_the_setting_that_helps(self):
        report = self.report("--workers", "0,4", self.script, "decode", "--step-ms", "5")
        self.assertEqual(report["limit"], "decode", report)
        self.assertEqual(report["batch_size"], 8)
        self.assertEqual(report["both"]["num_workers"], 0)
        self.assertLess(report["loader"]["samples_per_s"], 1000 / 4)
        self.assertLess(report["both"]["samples_per_s"], 8000 / (8 * 4 + 5))
        self.assertLess(report["training"]["samples_per_s"], 8000 / 5)
        self.assertGreater(report["training"]["samples_per_s"], report["loader"]["samples_per_s"])
        best = report["best"]
        self.assertEqual(best["num_workers"], 4)
        self.assertGreater(best["predicted_gain"], 1.3)
        # How near they come is the bench's matter: here the machine may be busy.
        self.assertGreater(best["measured_gain"], 0)
        self.assertAlmostEqual(best["prediction_error"], best["predicted_gain"] / best["measured_gain"] - 1, 1)
        self.assertGreater(report["worker_s_per_sample"]["decode"], 0.004)

    def test_slow_training_needs_no_other_loader(self):
        report = self.report("--workers", "0,1", self.script, "generated", "--step-ms", "30", "--workers", "1")
        self.assertEqual(report["limit"], "training", report)
        self.assertEqual(report["best"]["num_workers"], 1)
        self.assertNotIn("measured_gain", report["best"])
        self.assertLess(report["training"]["samples_per_s"], 8000 / 30)

    def test_reading_and_collating_are_told_apart(self):
        report = self.report("--workers", "1", self.script, "read", "--workers", "1")
        self.assertEqual(report["limit"], "storage", report)
        parts = report["worker_s_per_sample"]
        self.assertGreater(parts["read"], parts["collate"])
        report = self.report("--workers", "1", self.script, "collate", "--workers", "1")
        self.assertEqual(report["limit"], "collate", report)
        self.assertGreater(report["worker_s_per_sample"]["collate"], 0.03 / 8)

    def test_text_names_limits_and_advice(self):
        done = self.probe("--workers", "2", self.script, "decode")
        self.assertEqual(done.returncode, 0, done.stderr)
        for part in ("as it is", "loader alone", "training alone", "Limit: decode.", "num_workers=2", "Best: ",
                     "A worker, for each sample"):
            self.assertIn(part, done.stdout)

    def test_endless_data_and_a_command_of_its_own(self):
        report = self.report("--workers", "1", "python3", self.script, "endless", "--workers=1")
        self.assertEqual(report["dataset"], "Endless")
        self.assertTrue(any("iterable" in note for note in report["notes"]), report["notes"])

    def test_a_program_that_ends_early_says_how_little_it_saw(self):
        done = self.probe("-f", "json", "--workers", "0", self.script, "generated", "--batches", "12")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(any("12 batches" in note for note in json.loads(done.stdout)["notes"]), done.stdout)

    # --- programs that give no figure ---

    def assert_fails(self, done, code, *parts):
        self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
        for part in parts:
            self.assertIn(part, done.stderr)

    def test_flags_stand_before_the_program(self):
        done = self.probe("--help")
        self.assertEqual(done.returncode, 0)
        self.assertIn("--startup SECONDS", done.stdout)
        self.assert_fails(self.probe("--step", "1", self.script), 2, "--step")
        self.assert_fails(self.probe("--", self.script, "generated", "--help-me"), 3, "exit code 2", "--help-me")

    def test_no_program(self):
        self.assert_fails(self.probe(), 2, "no program given")
        self.assert_fails(self.probe("--workers", "1,x", self.script), 2, "--workers")

    def test_a_script_that_needs_arguments(self):
        self.assert_fails(self.probe(self.script), 3, "exit code 2", "the following arguments are required: kind")

    def test_a_script_that_fails(self):
        path = self.write("fails.py", "import torch\nraise RuntimeError('no such data set')\n")
        self.assert_fails(self.probe(path), 3, "exit code 1", "no such data set")

    def test_a_script_without_a_data_loader(self):
        for text in ("print('hello')\n", "import torch\ntorch.ones(3).sum()\n"):
            self.assert_fails(self.probe(self.write("plain.py", text)), 3, "iterated no torch DataLoader")

    def test_a_script_that_never_comes_to_its_loop(self):
        path = self.write("sleeps.py", "import time\nprint('waiting for a lock', flush=True)\ntime.sleep(10000)\n")
        begin = time.time()
        self.assert_fails(self.probe("--startup", "2", path), 3, "did not come to its training loop within 2 s",
                          "waiting for a lock")
        self.assertLess(time.time() - begin, LONG_S)
        left = subprocess.run(["pgrep", "-f", path], stdout=subprocess.PIPE).stdout
        self.assertEqual(left, b"")

    def test_interrupted_it_ends_the_program_and_leaves_nothing(self):
        script = self.write("sleeps.py", "import time\nopen(__file__ + '.began', 'w').close()\ntime.sleep(10000)\n")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            probe = subprocess.Popen([BATCHLIGHT, "probe", "loader", script], stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, env=self.environment())
            limit = time.time() + LONG_S
            while not os.path.exists(script + ".began"):
                self.assertLess(time.time(), limit, "the script did not begin")
                time.sleep(0.05)
            probe.send_signal(number)
            output, error = probe.communicate(timeout=LONG_S)
            self.assertEqual((probe.returncode, output), (128 + number, b""), error)
            self.assertNotIn(b"Traceback", error)
            self.assertEqual(subprocess.run(["pgrep", "-f", script], stdout=subprocess.PIPE).stdout, b"")
            os.remove(script + ".began")
            self.assertEqual(sorted(os.listdir(self.folder)), ["big.bin", "loop.py", "sleeps.py"])

    def test_a_missing_script(self):
        self.assert_fails(self.probe(self.folder + "/none.py"), 3, "none.py")


WRITES = textwrap.dedent("""
    import resource, signal, sys
    from batchlight._probe_loader import write_whole
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
    try:
        write_whole(sys.argv[1], "x" * int(sys.argv[2]))
    except OSError as error:
        print(error.strerror)
""")


class WrittenAsAWhole(unittest.TestCase):
    def test_what_cannot_be_written_leaves_what_was_there(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "result.json")
            for size, said, holds in ((50, "", 50), (1000, "File too large\n", 50)):
                done = run(sys.executable, "-c", WRITES, path, size,
                           env=dict(os.environ, PYTHONPATH=os.path.join(SOURCE, "python")))
                self.assertEqual(done.stdout, said, done.stderr)
                self.assertEqual(os.path.getsize(path), holds)
                self.assertEqual(os.listdir(folder), ["result.json"])


if __name__ == "__main__":
    unittest.main()
