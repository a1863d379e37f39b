"""batchlight probe gpu where there is none, and with stored results of hosts that have some."""
import copy
import csv
import io
import json
import os
import shutil
import tempfile
import unittest

from recorded import BATCHLIGHT, run


def result(host, **changes):
    figures = {"h2d_pinned_gbps": 55.0, "memory_gbps": 4100.0, "launch_us": 4.0, "gemm_bf16_tflops": 742.0}
    gpus = [{"index": i, "name": "NVIDIA H200", "measurements": dict(figures)} for i in range(4)]
    gpus[2]["measurements"].update(changes)
    return {"kind": "batchlight-gpu-probe", "version": 1, "host": host, "torch": "2.11.0", "cuda": "13.0",
            "driver": "580.1", "gpus": gpus, "links": [], "all_reduce": [], "notes": []}


class ProbeGpu(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="batchlight-e2e-")
        self.addCleanup(shutil.rmtree, self.folder)

    def store(self, name, data):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            json.dump(data, file)
        return path

    def probe(self, *words, **options):
        return run(BATCHLIGHT, "probe", "gpu", *words, **options)

    def test_no_gpu_is_a_line_and_an_exit_code(self):
        done = self.probe(env=dict(os.environ, CUDA_VISIBLE_DEVICES="", TMPDIR=self.folder))
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertIn("batchlight: probe gpu: ", done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertIn("PyTorch", done.stderr)
        self.assertEqual(os.listdir(self.folder), [], "its own file is removed")

    def test_the_result_goes_through_a_folder_of_the_users_alone(self):
        place = os.path.join(self.folder, "bin")
        os.mkdir(place)
        with open(os.path.join(place, "python3"), "w") as file:
            file.write("#!/bin/sh\nstat -c '%a %n' \"$(dirname \"$3\")\" >&2; exit 3\n")
        os.chmod(os.path.join(place, "python3"), 0o755)
        done = self.probe(env={"PATH": place + ":/usr/bin:/bin", "TMPDIR": self.folder})
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr, "^700 %s/batchlight-gpu-[A-Za-z0-9]{6}\n$" % self.folder)
        self.assertEqual(os.listdir(self.folder), ["bin"])

    def test_no_python(self):
        done = self.probe(env={"PATH": self.folder})
        self.assertEqual(done.returncode, 2)
        self.assertIn("needs python3", done.stderr)

    def test_a_slow_gpu_among_hosts_is_named(self):
        a, b = self.store("a.json", result("node1")), self.store("b.json", result("node2", gemm_bf16_tflops=500.0))
        done = self.probe(a, b)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("75.0 % of 989 TFLOPS", done.stdout)
        self.assertIn("node2, GPU 2: product of matrices, BF16: 500 TFLOPS, typical are 742 TFLOPS (67.4 %)",
                      done.stdout)
        rows = list(csv.DictReader(io.StringIO(self.probe(a, b, "-f", "csv").stdout)))
        self.assertEqual(len(rows), 2 * 4 * 4)
        self.assertEqual(self.probe(a).stdout.count("slower than its like"), 1)

    def test_compared_with_a_stored_result(self):
        before = self.store("before.json", result("node1"))
        now = copy.deepcopy(result("node1"))
        for gpu in now["gpus"]:
            gpu["measurements"]["h2d_pinned_gbps"] = 25.0
        done = self.probe(self.store("now.json", now), "--compare", before, "-o", self.folder + "/text")
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        with open(self.folder + "/text") as file:
            text = file.read()
        self.assertIn("Slower than in the stored result", text)
        self.assertIn("node1, GPU 3: copy to the GPU, pinned memory: 25.0 GB/s, then 55.0 GB/s (45.5 %)", text)

    def test_wrong_files_and_flags(self):
        other = self.store("other.json", {"kind": "else"})
        for words, code in (([other], 3), (["--compare", other], 3), ([self.folder + "/none"], 3),
                            (["-f", "xml"], 2), ([self.store("a.json", result("a")), "-f", "json"], 2)):
            done = self.probe(*words)
            self.assertEqual(done.returncode, code, (words, done.stderr))


if __name__ == "__main__":
    unittest.main()
