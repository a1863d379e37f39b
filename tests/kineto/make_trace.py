#!/usr/bin/env python3
"""Writes a trace as torch.profiler does on a machine with a GPU: make_trace.py OUT STEPS.

For measurements of the importer: the events of each step and their arguments follow what
output_json.cpp of Kineto writes, in its layout (one member a line)."""

import sys

OPERATORS = ["aten::linear", "aten::addmm", "aten::gelu", "aten::layer_norm", "aten::add", "aten::mm"]
KERNELS = [
    "void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl>(int)",
    "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1",
    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
]


def event(out, category, name, pid, tid, start, duration, **args):
    members = ", ".join(f'"{key.replace("_", " ")}": {value}' for key, value in args.items())
    out.write(
        f'  {{\n    "ph": "X", "cat": "{category}", "name": "{name}", "pid": {pid}, "tid": {tid},\n'
        f'    "ts": {start / 1000:.3f}, "dur": {duration / 1000:.3f},\n'
        f'    "args": {{\n      {members}\n    }}\n  }},\n')


def main():
    path, steps = sys.argv[1], int(sys.argv[2])
    with open(path, "w") as out:
        out.write('{\n  "schemaVersion": 1,\n  "deviceProperties": [\n    {\n      "id": 0, "name": "NVIDIA H200",'
                  ' "totalGlobalMem": 150754820096,\n      "computeMajor": 9, "computeMinor": 0,\n'
                  '      "maxThreadsPerBlock": 1024, "maxThreadsPerMultiprocessor": 2048,\n'
                  '      "regsPerBlock": 65536, "warpSize": 32,\n      "sharedMemPerBlock": 49152, "numSms": 132\n'
                  '    }\n  ],\n  "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8},\n'
                  '  "displayTimeUnit": "ms",\n  "baseTimeNanoseconds": 1759276800000000000,\n'
                  '  "traceEvents": [\n')
        correlation, sequence, now = 0, 0, 5_000_000_123
        for step in range(steps):
            begin = now
            for index in range(200):
                name = OPERATORS[index % len(OPERATORS)]
                sequence += 1
                correlation += 1
                external = correlation * 2
                event(out, "cpu_op", name, 4242, 4242, now, 9000, External_id=external,
                      Record_function_id=0, Concrete_Inputs='["", "", "1", "[1, 1]"]',
                      Input_type='["float", "c10::BFloat16", "Scalar", "ScalarList"]',
                      Input_Strides='[[98304, 768, 1], [1, 768], [], []]',
                      Input_Dims=f'[[64, 128, 768], [768, {768 * (index % 4 + 1)}], [], []]',
                      Ev_Idx=correlation, Sequence_number=sequence, Fwd_thread_id=0)
                event(out, "cuda_runtime", "cudaLaunchKernel", 4242, 4242, now + 3000, 4000,
                      External_id=external, cbid=211, correlation=correlation)
                kernel = now + 20000
                event(out, "kernel", KERNELS[index % len(KERNELS)], 0, 7, kernel, 8000,
                      External_id=external, queued=0, device=0, context=1, stream=7,
                      correlation=correlation, registers_per_thread=32, shared_memory=0,
                      blocks_per_SM=0.48, warps_per_SM=1.9, grid="[64, 1, 1]", block="[128, 1, 1]")
                out.write(f'  {{\n    "ph": "s", "id": {correlation}, "pid": 4242, "tid": 4242, "ts": '
                          f'{(now + 3000) / 1000:.3f},\n    "cat": "ac2g", "name": "ac2g"\n  }},\n')
                out.write(f'  {{\n    "ph": "f", "id": {correlation}, "pid": 0, "tid": 7, "ts": '
                          f'{kernel / 1000:.3f},\n    "cat": "ac2g", "name": "ac2g", "bp": "e"\n  }},\n')
                now += 10000
            event(out, "user_annotation", f"ProfilerStep#{step}", 4242, 4242, begin, now - begin,
                  External_id=correlation * 2 + 1, Ev_Idx=correlation)
        out.write('  {\n    "name": "process_name", "ph": "M", "ts": 0, "pid": 4242, "tid": 0,\n'
                  '    "args": {\n      "name": "python3"\n    }\n  }\n  ],\n  "traceName": "trace.json"\n}\n')


main()
