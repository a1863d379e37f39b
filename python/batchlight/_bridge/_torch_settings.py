"""Settings of PyTorch that the advice looks at, and what the GPU's memory was used for.

Read when an optimizer is made and again when the program exits: a script may set them in between.
"""
import atexit
import os

import _batchlight_native as _native

from . import _call_sites
from ._imports import attempt


def install(torch):
    process = os.getpid()

    def at_exit():
        if os.getpid() == process:  # a forked worker of a DataLoader has settings of its own
            attempt("settings", record, torch)

    atexit.register(at_exit)


_said = {}  # key -> the value that the recording has; a script may make many optimizers


def record(torch):
    def add(key, value):
        if _said.get(key) != value:
            _said[key] = value
            _native.property(key, value)

    add("torch.threads", str(torch.get_num_threads()))
    if torch.get_num_threads() > len(os.sched_getaffinity(0)):
        _call_sites.say_text("threads", b"set_num_threads(", b"OMP_NUM_THREADS")
    add("torch.anomaly_detection", str(torch.is_anomaly_enabled()))
    if torch.is_anomaly_enabled():
        _call_sites.say_text("anomaly", b"detect_anomaly(", b"detect_anomaly=")
    add("torch.deterministic", str(torch.are_deterministic_algorithms_enabled()))
    add("torch.float32_matmul_precision", torch.get_float32_matmul_precision())
    add("torch.cudnn_benchmark", str(torch.backends.cudnn.benchmark))
    job = getattr(torch, "distributed", None)
    in_job = job is not None and job.is_available() and job.is_initialized()
    if in_job:  # a process that was spawned has no RANK in its environment when it starts
        add("torch.distributed_backend", str(job.get_backend()))
        add("torch.distributed_rank", str(job.get_rank()))
        add("torch.distributed_world_size", str(job.get_world_size()))
    if not torch.cuda.is_initialized():
        return
    add("torch.cudnn_version", str(torch.backends.cudnn.version()))
    add("torch.peak_memory_bytes", str(torch.cuda.max_memory_allocated()))
    add("torch.peak_reserved_bytes", str(torch.cuda.max_memory_reserved()))
    add("torch.gpu_memory_bytes", str(torch.cuda.get_device_properties(
        torch.cuda.current_device()).total_memory))
    add("torch.allocator_retries", str(torch.cuda.memory_stats().get("num_alloc_retries", 0)))
    if in_job:
        add("torch.nccl_version", ".".join(str(part) for part in torch.cuda.nccl.version()))
