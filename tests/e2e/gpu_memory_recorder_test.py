#!/usr/bin/env python3
"""The recorder of PyTorch's allocator of GPU memory (torch_memory.cpp), built against a stand-in of its header:
what it is told becomes records with the line that asked, by whichever thread, and nothing else does."""
import glob
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from python_session import NVTX, PYTHON, PYTHON_PATH, PythonSession, alone  # noqa: E402
from recorded import BUILD, InFolder  # noqa: E402

READERS = os.environ.get("BATCHLIGHT_READERS", os.path.join(os.path.dirname(BUILD), "readers"))
LINES = 1 << 8  # --python-lines=gpu
HEADER = """\
#pragma once
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <utility>
namespace c10 { namespace cuda { namespace CUDACachingAllocator {
struct TraceEntry {
  enum Action {
    ALLOC, FREE_REQUESTED, FREE_COMPLETED, SEGMENT_ALLOC, SEGMENT_FREE, SEGMENT_MAP, SEGMENT_UNMAP, SNAPSHOT, OOM
  };
  Action action_;
  signed char device_;
  size_t addr_, size_;
  void* stream_;
};
using AllocatorTraceTracker = std::function<void(const TraceEntry&)>;
inline AllocatorTraceTracker attached;
inline bool refuses = false;
inline void attachAllocatorTraceTracker(AllocatorTraceTracker tracker) {
  if (refuses) throw std::runtime_error("not implemented");
  attached = std::move(tracker);
}
}}}
extern "C" __attribute__((visibility("default"))) void emit(int action, int device, size_t address, size_t size) {
  using c10::cuda::CUDACachingAllocator::TraceEntry;
  c10::cuda::CUDACachingAllocator::attached(
      {static_cast<TraceEntry::Action>(action), static_cast<signed char>(device), address, size, nullptr});
}
extern "C" __attribute__((visibility("default"))) void refuse() {
  c10::cuda::CUDACachingAllocator::refuses = true;
}
"""
START = """\
import ctypes, sys, threading
library = ctypes.CDLL(sys.argv[1])
library.emit.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_size_t, ctypes.c_size_t]
start = library.batchlight_torch_memory_start
start.restype = ctypes.c_char_p
"""
PROGRAM = START + """\
print(start(), start())
def main():
    library.emit(3, 0, 0x10000, 1 << 21)
    library.emit(0, 0, 0x10000, 1000)
    library.emit(0, 1, 0x20000, 2000)
    library.emit(1, 0, 0x10000, 1000)
thread = threading.Thread(target=library.emit, args=(2, 0, 0x10000, 1000))
main()
thread.start()
thread.join()
library.emit(8, 0, 77, 5)
"""


class Recorder(InFolder):
    def setUp(self):
        super().setUp()
        header = self.path("include/c10/cuda/CUDACachingAllocator.h")
        os.makedirs(os.path.dirname(header))
        with open(header, "w", encoding="utf-8") as file:
            file.write(HEADER)
        bridge = os.path.join(PYTHON_PATH, "batchlight", "_bridge")
        self.library = self.path("torch_memory.so")
        subprocess.run(["c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-fvisibility=hidden",
                        "-I" + bridge, "-I" + self.path("include"), os.path.join(bridge, "torch_memory.cpp"),
                        "-o", self.library], check=True)

    def program(self, text):
        with open(self.path("program.py"), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path("program.py")

    def test_blocks_have_their_lines(self):
        with PythonSession(trace=NVTX | PYTHON | LINES) as session:
            done = session.run(sys.executable, self.program(PROGRAM), self.library)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "None None\n", ""))
            given, freed, stacks = [], [], {}
            for process in session.processes():
                for chunk in process.chunks:
                    for record in chunk.records:
                        if record.kind == "PythonStack":
                            stacks[chunk, record.id] = record.line
                        elif record.kind == "MemoryAllocated":
                            given.append((record.source, record.address,
                                          stacks.get((chunk, record.stack))))
                        elif record.kind == "MemoryFreed":
                            freed.append(record.address)
            line = PROGRAM.splitlines().index("    library.emit(0, 0, 0x10000, 1000)") + 1
            self.assertEqual(given, [(2, 0x10000, line), (3, 0x20000, line + 1)])
            self.assertEqual(freed, [0x10000])

    def test_why_not(self):
        path = self.program(START + "library.refuse()\nprint(start().decode())\n")
        with PythonSession(trace=NVTX | PYTHON) as session:
            done = session.run(sys.executable, path, self.library)
        self.assertIn("allocator of GPU memory is not PyTorch's", done.stdout)
        self.assertIn("there is no recording", alone(sys.executable, path, self.library).stdout)


class CudaHeaders(InFolder):
    def test_packages_of_pytorch_are_enough(self):
        """PyTorch's wheel brings CUDA's headers but for crt/, which is in a package for compilers."""
        packages = glob.glob(os.path.join(READERS, "lib", "python3*", "site-packages", "nvidia", "cu13", "include"))
        if not packages:
            self.skipTest("no CUDA headers: tools/install_readers.sh build/readers")
        self.assertFalse(os.path.exists(os.path.join(packages[0], "crt")))
        with open(self.path("user.cpp"), "w", encoding="utf-8") as file:
            file.write("#include <memory>\n#include <cuda_runtime.h>\n"
                       "static_assert(alignof(float4) == 16 && sizeof(dim3) == 12);\n"
                       "cudaError_t Wait(cudaStream_t stream) { return cudaStreamSynchronize(stream); }\n")
        subprocess.run(["c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-isystem", packages[0],
                        "-isystem", os.path.join(PYTHON_PATH, "batchlight", "_bridge", "cuda_headers"),
                        self.path("user.cpp")], check=True)


if __name__ == "__main__":
    unittest.main()
