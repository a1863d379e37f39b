"""The measurements of `batchlight probe gpu`, with a stand-in for PyTorch and its GPUs."""
import json
import os
import re
import sys
import tempfile
import types
import unittest
from unittest import mock

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from batchlight import _probe_gpu  # noqa: E402

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Tensor:
    def __init__(self, torch, size):
        self.torch, self.size = torch, size

    def copy_(self, other, non_blocking=False):
        self.torch.clock += self.size / 50e9
        return self

    def to(self, kind):
        return self

    t = fill_ = pin_memory = add_ = lambda self, *_: self


class Event:
    def __init__(self, torch):
        self.torch = torch

    def record(self):
        self.at = self.torch.clock

    def synchronize(self):
        pass

    def elapsed_time(self, end):
        return (end.at - self.at) * 1e3


def stand_in(gpus=1, capability=(9, 0), broken=()):
    """PyTorch whose GPU copies 50 GB/s and does 500 TFLOPS, by a clock of its own."""
    torch = types.SimpleNamespace(clock=0.0, __version__="2.11.0", float64="f64", float32="f32", float16="f16",
                                  bfloat16="bf16", uint8="u8", float8_e4m3fn="f8")

    def sized(count, *more, **_):
        return Tensor(torch, count * (more[0] if more and isinstance(more[0], int) else 1))

    def product(a, b, **options):
        if "mm" in broken:
            raise RuntimeError("no kernel\nfor this GPU")
        torch.clock += 2 * 8192 ** 3 / 500e12
        return a

    properties = types.SimpleNamespace(name="NVIDIA H200", total_memory=1 << 37, major=capability[0],
                                       minor=capability[1], multi_processor_count=132)
    torch.empty = torch.ones = torch.zeros = torch.randn = sized
    torch.empty_like = lambda other: other
    torch.mm = product
    torch._scaled_mm = product
    torch.version = types.SimpleNamespace(cuda="13.0")
    torch.backends = types.SimpleNamespace(cuda=types.SimpleNamespace(matmul=types.SimpleNamespace(allow_tf32=None)))
    torch.cuda = types.SimpleNamespace(
        is_available=lambda: gpus > 0, device_count=lambda: gpus, set_device=lambda index: None,
        get_device_properties=lambda index: properties, get_device_capability=lambda: capability,
        synchronize=lambda *_: None, empty_cache=lambda: None, can_device_access_peer=lambda a, b: True,
        Event=lambda enable_timing: Event(torch))
    return torch


class Driver(unittest.TestCase):
    def test_version_of_both_kinds_of_driver(self):
        for line, version in (
                ("NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  Sun Jul 27", "580.65.06"),
                ("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build", "580.159.04"),
                ("something else", None)):
            with tempfile.NamedTemporaryFile("w") as file:
                file.write(line)
                file.flush()
                self.assertEqual(_probe_gpu.driver(file.name), version)
        self.assertIsNone(_probe_gpu.driver("/nowhere"))


class ProbeGpu(unittest.TestCase):
    def measured(self, torch):
        with mock.patch.dict(sys.modules, torch=torch), \
                mock.patch.object(_probe_gpu, "SECONDS", 0), \
                mock.patch.object(_probe_gpu, "all_reduce", lambda count, notes, place: [
                    {"gpus": count, "bytes": 1 << 20, "gbps": 1.0}]):
            return _probe_gpu.measure("/nowhere")

    def test_every_key_is_one_that_the_tool_knows(self):
        with open(os.path.join(SOURCE, "src/probe/gpu_measures.def")) as file:
            known = re.findall(r'^GPU_MEASURE\("(\w+)"', file.read(), re.M)
        result = self.measured(stand_in())
        self.assertEqual(result["notes"], [])
        self.assertEqual(sorted(result["gpus"][0]["measurements"]), sorted(known))
        figures = result["gpus"][0]["measurements"]
        self.assertAlmostEqual(figures["gemm_bf16_tflops"], 500, delta=1)
        self.assertAlmostEqual(figures["h2d_pinned_gbps"], 50, delta=1)

    def test_an_older_gpu_has_fewer_precisions(self):
        figures = self.measured(stand_in(capability=(7, 0)))["gpus"][0]["measurements"]
        self.assertIn("gemm_fp16_tflops", figures)
        for kind in ("tf32", "bf16", "fp8"):
            self.assertNotIn("gemm_%s_tflops" % kind, figures)

    def test_one_that_fails_takes_no_other_with_it(self):
        result = self.measured(stand_in(broken=("mm",)))
        self.assertIn("memory_gbps", result["gpus"][0]["measurements"])
        self.assertIn("GPU 0: bf16 not measured: no kernel", result["notes"])

    def test_links_of_several(self):
        result = self.measured(stand_in(gpus=3))
        self.assertEqual(len(result["gpus"]), 3)
        self.assertEqual({(row["from"], row["to"]) for row in result["links"]},
                         {(a, b) for a in range(3) for b in range(3) if a != b})
        self.assertEqual(result["all_reduce"][0]["gpus"], 3)

    def test_the_file_is_json(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(sys.modules, torch=stand_in()), \
                mock.patch.object(_probe_gpu, "SECONDS", 0):
            path = os.path.join(folder, "x.json")
            self.assertEqual(_probe_gpu.main([path]), 0)
            with open(path) as file:
                self.assertEqual(json.load(file)["kind"], "batchlight-gpu-probe")

    def test_no_gpu(self):
        with mock.patch.dict(sys.modules, torch=stand_in(gpus=0)):
            self.assertRaisesRegex(_probe_gpu.NoGpu, "no GPU that it can use", _probe_gpu.measure, "/nowhere")
        with mock.patch.dict(sys.modules, torch=None):
            self.assertRaisesRegex(_probe_gpu.NoGpu, "measures with PyTorch", _probe_gpu.measure, "/nowhere")


if __name__ == "__main__":
    unittest.main()
