// Processors in nsys's file: samples, switches, and call chains, of samples and of calls.
#pragma once

#include <optional>

#include "nsys/enums.h"
#include "nsys/table.h"
#include "store/store.h"

namespace batchlight::nsys {

// One function of a chain; depth 0 is the innermost.
struct ChainFrame {
  int64_t id = 0;
  StringId symbol;  // "0x7fd27431556e" where it has no name
  StringId module;
  std::optional<int64_t> kernel_mode;
  std::optional<int64_t> unresolved;
  std::optional<int64_t> address;
  std::optional<int64_t> unwind_method;  // of a sample; nsys has none of calls
  int64_t depth = 0;
};

inline constexpr Table kCudaCallchains{"CUDA_CALLCHAINS",
                                       kNothing,
                                       Field<&ChainFrame::id>{"id!K"},
                                       Field<&ChainFrame::symbol>{"symbol!"},
                                       Field<&ChainFrame::module>{"module!"},
                                       Field<&ChainFrame::unresolved>{"unresolved"},
                                       Field<&ChainFrame::address>{"originalIP"},
                                       Field<&ChainFrame::depth>{"stackDepth!K"}};

constexpr auto Callchains(std::string_view name) {
  return Table{name,
               kNothing,
               Field<&ChainFrame::id>{"id!K"},
               Field<&ChainFrame::symbol>{"symbol!"},
               Field<&ChainFrame::module>{"module!"},
               Field<&ChainFrame::kernel_mode>{"kernelMode"},
               Constant{"thumbCode", 0},
               Field<&ChainFrame::unresolved>{"unresolved"},
               Unused{"specialEntry"},
               Field<&ChainFrame::address>{"originalIP"},
               WriteOnly{Field<&ChainFrame::unwind_method>{"unwindMethod"}},
               Field<&ChainFrame::depth>{"stackDepth!K"}};
}
inline constexpr auto kOsCallchains = Callchains("OSRT_CALLCHAINS");
inline constexpr auto kSampleCallchains = Callchains("SAMPLING_CALLCHAINS");

// The chain of a call, 0: it has none; and how many calls of its thread it lies in.
struct CallChain {
  int64_t id = 0;
  int64_t nesting = 0;
};

// Which chain a CUDA call has: read beside the call.
struct CudaChain {
  ProcessId process;
  uint32_t correlation = 0;
  int64_t id = -1;  // chains count from 0
};
inline constexpr Table kCudaChains{"CUPTI_ACTIVITY_KIND_RUNTIME", kNothing,
                                   ReadOnly{Field<&CudaChain::process>{"globalTid"}},
                                   ReadOnly{Field<&CudaChain::correlation>{"correlationId"}},
                                   ReadOnly{Field<&CudaChain::id>{"callchainId?", -1}}};

struct ThreadSample {
  int64_t id = 0;
  int64_t start_ns = -1;
  int64_t cpu = 0;
  int64_t state = static_cast<int64_t>(ThreadState::kRunning);
  ThreadId thread;
  int64_t count = 0;  // what the processor's counter had counted, or 1
};
inline constexpr Table kThreadSamples{"COMPOSITE_EVENTS",
                                      kNothing,
                                      Field<&ThreadSample::id>{"id!P"},
                                      Field<&ThreadSample::start_ns>{"start!", -1},
                                      Field<&ThreadSample::cpu>{"cpu"},
                                      Field<&ThreadSample::state>{"threadState"},
                                      Field<&ThreadSample::thread>{"globalTid"},
                                      Field<&ThreadSample::count>{"cpuCycles!"}};

struct ThreadSwitch {
  int64_t start_ns = -1;
  int64_t cpu = 0;
  int64_t in = 0;     // the thread got the processor; else it lost it
  int64_t state = 0;  // in which it lost it; nsys says of most that it is not known
  ThreadId thread;
};
inline constexpr Table kThreadSwitches{"SCHED_EVENTS",
                                       kNothing,
                                       Field<&ThreadSwitch::start_ns>{"start!", -1},
                                       Field<&ThreadSwitch::cpu>{"cpu!"},
                                       Field<&ThreadSwitch::in>{"isSchedIn!"},
                                       Field<&ThreadSwitch::thread>{"globalTid"},
                                       Field<&ThreadSwitch::state>{"threadState"},
                                       Unused{"threadBlock"}};

}  // namespace batchlight::nsys
