"""python3 PACKAGE probe-gpu FILE: measures the GPUs of this host with the PyTorch of this Python, into a
JSON file. `batchlight probe gpu` runs it, puts the data sheet's peaks beside the figures and compares.

Keys of measurements are those of src/probe/gpu_measures.def."""
import json
import os
import socket
import subprocess
import sys
import time

from ._own_folder import OwnFolder

MIB = 1 << 20
COPY_BYTES = 256 * MIB
SECONDS = 0.25  # of each figure, at least; the first part of it only warms up


class NoGpu(Exception):
    """Nothing can be measured; the text says why."""


def main(words):
    if words[0] == "--rank":
        return all_reduce_rank(*words[1:])
    try:
        result = measure(os.path.dirname(os.path.abspath(words[0])))
    except NoGpu as problem:
        print("batchlight: probe gpu: %s" % problem, file=sys.stderr)
        return 3
    with open(words[0], "w") as file:
        json.dump(result, file)
    return 0


def load_torch():
    try:
        import torch
    except ImportError as error:
        raise NoGpu("it measures with PyTorch, which %s does not have (%s); start it where your training "
                    "runs" % (sys.executable, error))
    if not torch.cuda.is_available():
        why = "built without CUDA" if torch.version.cuda is None else "it finds no GPU that it can use"
        raise NoGpu("no GPU: PyTorch %s of %s: %s" % (torch.__version__, sys.executable, why))
    return torch


def measure(place):
    torch = load_torch()
    count = torch.cuda.device_count()
    say("%d GPUs" % count)
    result = {"kind": "batchlight-gpu-probe", "version": 1, "host": socket.gethostname(),
              "torch": torch.__version__, "cuda": torch.version.cuda, "driver": driver(), "gpus": [],
              "links": [], "all_reduce": [], "notes": []}
    for index in range(count):
        result["gpus"].append(measure_gpu(torch, index, result["notes"]))
    if count > 1:
        say("links")
        result["links"] = [link(torch, a, b) for a in range(count) for b in range(count) if a != b]
        say("all-reduce")
        result["all_reduce"] = all_reduce(count, result["notes"], place)
    return result


def say(what):
    if sys.stderr.isatty():
        sys.stderr.write("\r\033[Kbatchlight: measuring %s" % what if what else "\r\033[K")
        sys.stderr.flush()


def driver(path="/proc/driver/nvidia/version"):
    """Of "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build": the first word
    of digits and dots; None without a driver."""
    try:
        with open(path) as file:
            return next(word for word in file.readline().split() if word.replace(".", "").isdigit() and "." in word)
    except (OSError, StopIteration):
        return None


def measure_gpu(torch, index, notes):
    torch.cuda.set_device(index)
    properties = torch.cuda.get_device_properties(index)
    gpu = {"index": index, "name": properties.name, "memory_bytes": properties.total_memory,
           "compute_capability": "%d.%d" % (properties.major, properties.minor),
           "multiprocessors": properties.multi_processor_count, "measurements": {}}
    parts = [copies, device_memory, launches] + [
        (lambda torch, out, kind=kind: gemm(torch, out, kind)) for kind in GEMMS]
    for part, name in zip(parts, ["copies", "memory", "launches"] + list(GEMMS)):
        say("GPU %d: %s" % (index, name))
        try:
            part(torch, gpu["measurements"])
        except Exception as error:  # one that fails must not take the others with it
            notes.append("GPU %d: %s not measured: %s" % (index, name, str(error).splitlines()[0]))
        torch.cuda.empty_cache()
    say("")
    return gpu


def seconds_of(torch, run, least=3):
    """The median of single runs on the GPU, by its own clock, over at least SECONDS."""
    for _ in range(2):
        run()
    torch.cuda.synchronize()
    times, begin = [], time.perf_counter()
    while len(times) < least or time.perf_counter() - begin < SECONDS:
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        run()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) / 1e3)
    return sorted(times)[len(times) // 2]


def wall_seconds_of(torch, run, least=3):
    """The same by the host's clock, where the host takes part."""
    run()
    torch.cuda.synchronize()
    times, begin = [], time.perf_counter()
    while len(times) < least or time.perf_counter() - begin < SECONDS:
        start = time.perf_counter()
        run()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return sorted(times)[len(times) // 2]


def copies(torch, out):
    device = torch.empty(COPY_BYTES, dtype=torch.uint8, device="cuda")
    pageable = torch.ones(COPY_BYTES, dtype=torch.uint8)
    pinned = torch.ones(COPY_BYTES, dtype=torch.uint8).pin_memory()
    for name, host, clock in (("pageable", pageable, wall_seconds_of), ("pinned", pinned, seconds_of)):
        out["h2d_%s_gbps" % name] = COPY_BYTES / 1e9 / clock(
            torch, lambda: device.copy_(host, non_blocking=True))
        out["d2h_%s_gbps" % name] = COPY_BYTES / 1e9 / clock(
            torch, lambda: host.copy_(device, non_blocking=True))


def device_memory(torch, out):
    """Reads one GiB and writes one."""
    source = torch.empty(1024 * MIB // 4, dtype=torch.float32, device="cuda").fill_(1)
    target = torch.empty_like(source)
    out["memory_gbps"] = 2 * 1024 * MIB / 1e9 / seconds_of(torch, lambda: target.copy_(source))


def launches(torch, out):
    one = torch.zeros(1, device="cuda")
    for _ in range(100):
        one.add_(1)
    torch.cuda.synchronize()
    best = None
    for _ in range(20):
        begin = time.perf_counter()
        for _ in range(200):  # fewer than the queue holds
            one.add_(1)
        spent = (time.perf_counter() - begin) / 200
        torch.cuda.synchronize()
        best = spent if best is None else min(best, spent)
    out["launch_us"] = best * 1e6
    out["round_trip_us"] = wall_seconds_of(torch, lambda: one.add_(1)) * 1e6


GEMMS = {"fp64": 4096, "fp32": 8192, "tf32": 8192, "fp16": 8192, "bf16": 8192, "fp8": 8192}


def gemm(torch, out, kind):
    major, minor = torch.cuda.get_device_capability()
    if kind == "tf32" and major < 8 or kind == "bf16" and major < 8 or kind == "fp8" and (major, minor) < (8, 9):
        return
    n = GEMMS[kind]
    types = {"fp64": torch.float64, "fp16": torch.float16, "bf16": torch.bfloat16}
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = kind == "tf32"
    try:
        if kind == "fp8":
            if not hasattr(torch, "_scaled_mm") or not hasattr(torch, "float8_e4m3fn"):
                return
            a = torch.randn(n, n, device="cuda").to(torch.float8_e4m3fn)
            b = torch.randn(n, n, device="cuda").to(torch.float8_e4m3fn).t()
            scale = torch.ones((), device="cuda")

            def run():
                return torch._scaled_mm(a, b, scale_a=scale, scale_b=scale, out_dtype=torch.bfloat16)
        else:
            a, b = (torch.randn(n, n, device="cuda", dtype=types.get(kind, torch.float32)) for _ in range(2))
            c = torch.empty_like(a)

            def run():
                return torch.mm(a, b, out=c)
        out["gemm_%s_tflops" % kind] = 2 * n ** 3 / 1e12 / seconds_of(torch, run, least=5)
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before


def link(torch, a, b):
    """From GPU a to GPU b, by the copy engine."""
    source = torch.empty(COPY_BYTES, dtype=torch.uint8, device="cuda:%d" % a)
    target = torch.empty(COPY_BYTES, dtype=torch.uint8, device="cuda:%d" % b)
    for _ in range(2):
        target.copy_(source)
    times = []
    for _ in range(5):
        for device in (a, b):
            torch.cuda.synchronize(device)
        begin = time.perf_counter()
        target.copy_(source, non_blocking=True)
        for device in (a, b):
            torch.cuda.synchronize(device)
        times.append(time.perf_counter() - begin)
    return {"from": a, "to": b, "gbps": COPY_BYTES / 1e9 / min(times),
            "peer": torch.cuda.can_device_access_peer(a, b)}


def all_reduce(count, notes, place):
    """NCCL between all GPUs, a process for each, as in training. Its files lie in `place`."""
    with OwnFolder("ranks-", place) as folder:
        command = [sys.executable, os.path.dirname(os.path.abspath(__file__)), "probe-gpu", "--rank"]
        ranks = [subprocess.Popen(command + [str(rank), str(count), folder], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for rank in range(count)]
        limit = time.monotonic() + 60
        try:
            errors = [rank.communicate(timeout=max(1, limit - time.monotonic()))[1] for rank in ranks]
        except subprocess.TimeoutExpired:
            notes.append("NCCL not measured: the all-reduce did not end within 60 s")
            return []
        finally:
            for rank in ranks:
                rank.kill()
                rank.wait()
        try:
            with open(os.path.join(folder, "result")) as file:
                return json.load(file)
        except (OSError, ValueError):
            lines = b"\n".join(errors).decode(errors="replace").strip().splitlines()
            notes.append("NCCL not measured: %s" % (lines[-1] if lines else "its processes ended without a word"))
            return []


def all_reduce_rank(rank, count, folder):
    import torch
    import torch.distributed as distributed
    rank, count = int(rank), int(count)
    torch.cuda.set_device(rank)
    distributed.init_process_group("nccl", init_method="file://%s/store" % folder, rank=rank, world_size=count)
    rows = []
    for size in (1 * MIB, 64 * MIB, 512 * MIB):
        data = torch.zeros(size // 4, device="cuda")
        distributed.all_reduce(data)
        spent = seconds_of_rounds(torch, lambda: distributed.all_reduce(data), 20 if size < 512 * MIB else 10)
        # The bandwidth of a link of a ring, as nccl-tests gives it ("busbw").
        rows.append({"gpus": count, "bytes": size, "gbps": 2 * (count - 1) / count * size / 1e9 / spent})
    if rank == 0:
        with open(os.path.join(folder, "result"), "w") as file:
            json.dump(rows, file)
    distributed.barrier()
    distributed.destroy_process_group()
    return 0


def seconds_of_rounds(torch, run, rounds):
    """The mean of so many in a row: all ranks make as many."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    for _ in range(3):
        run()
    start.record()
    for _ in range(rounds):
        run()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / 1e3 / rounds
