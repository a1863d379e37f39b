// What the user wants to know of CUDA: the `cuda.` lines of ControlPage::extra (format/control.h).
#pragma once

#include <cstdint>

#include "inject/cupti/call_kind.h"

namespace batchlight::inject::cupti {

struct Options {
  // --cuda-record: what is recorded.
  bool kernels = true;
  bool copies = true;
  bool runtime_calls = true;
  bool driver_calls = true;
  bool waits = false;  // makes CUPTI wrap every call: docs/design/0011-cupti.md
  bool overhead = true;
  bool jit = true;
  bool streams = true;

  bool all_calls = false;             // --cuda-trace-all-apis
  bool memory_usage = false;          // --cuda-memory-usage
  bool events = false;                // --cuda-event-trace
  bool graph_nodes = false;           // --cuda-graph-trace=node
  bool cpu_page_faults = false;       // --cuda-um-cpu-page-faults
  bool gpu_page_faults = false;       // --cuda-um-gpu-page-faults
  bool flush_on_stop = true;          // --flush-on-cudaprofilerstop
  uint32_t flush_interval_ms = 1000;  // --cuda-flush-interval, 0 = the default

  // --cudabacktrace: calls of a kind that take so long have a native stack.
  static constexpr uint32_t kNoBacktrace = UINT32_MAX;
  uint32_t backtrace_ns[kCallKinds] = {kNoBacktrace, kNoBacktrace, kNoBacktrace, kNoBacktrace};
  bool WantsBacktraces() const {
    for (const uint32_t ns : backtrace_ns) {
      if (ns != kNoBacktrace) return true;
    }
    return false;
  }
};

// `extra`: lines key=value, ended by NUL. Unknown keys are ignored.
Options ParseOptions(const char* extra);

}  // namespace batchlight::inject::cupti
