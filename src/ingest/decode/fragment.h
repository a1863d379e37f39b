// What one ingest task makes of a stretch of the recording: its own tables and strings, and the
// loose ends that only the whole recording can tie up. Fragments are in the order of the store
// (process, thread, time), so that joining them needs no sort.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "format/records.h"
#include "ingest/decode/nesting.h"
#include "store/store.h"

namespace batchlight {

// Tables whose rows are begins and ends paired on one thread.
enum class NestedTable { kNvtxRanges, kModuleCalls, kPhaseCalls, kOperatorCalls };
inline constexpr size_t kNestedTables = 4;

// Facts about processes and threads, as recorded. Strings are the fragment's.
struct ProcessStartFact {
  ProcessId process;
  uint32_t parent_pid;
  StringId executable;
  StringId command_line;  // joined by NUL bytes
  int64_t start_ns;
};
struct ProcessExitFact {
  ProcessId process;
  int64_t end_ns;
  int32_t status;
  uint32_t how;  // format: 0 exit, 1 _exit, 2 exec
};
struct ProcessStatusFact {
  uint32_t pid;
  int64_t attach_ns;  // CLOCK_MONOTONIC; 0 = the last process with this pid
  int64_t end_monotonic_ns;
  int64_t end_ns;
  int32_t wait_status;
  bool known;
};
struct ThreadNameFact {
  ProcessId process;
  uint32_t tid;
  uint32_t source;
  StringId name;
};
struct CounterFact {
  ProcessId process;
  uint32_t counter;
  uint64_t value;
};
struct CaptureFact {
  uint32_t capture_index;
  bool on;
  int64_t at_ns;
};
struct ClockSyncFact {
  ProcessId process;
  int64_t monotonic_ns;
  int64_t realtime_ns;
};
// A start/end range whose other half is elsewhere.
struct LooseRange {
  ProcessId process;
  uint64_t range_id;
  uint32_t row;  // of the start; unused for an end
  ThreadId thread;
  int64_t at_ns;
};
// One instant on CUPTI's clock and on the recording's.
struct GpuClockFact {
  ProcessId process;
  int64_t at_ns;
  int64_t cupti_ns;
  uint32_t uncertainty_ns;
};
struct ThreadSpan {
  ThreadId thread;
  int64_t first_ns;
  int64_t last_ns;
};
// The thread's stream was interrupted inside this fragment: whatever was open ends there.
struct ThreadCut {
  ThreadId thread;
  int64_t at_ns;
};

// A thread by its numbers, as the kernel tells of it.
struct ThreadNumbers {
  uint32_t pid;
  uint32_t tid;
};
struct CpuThreadFact {
  ThreadNumbers thread;
  uint32_t parent_pid;  // 0 = not said
  uint32_t what;        // format: 0 began, 1 name, 2 name by exec, 3 ended
  StringId name;
  int64_t at_ns;
};
struct PythonSampleOwner : ThreadNumbers {
  uint32_t gil_holder = 0;  // tid, 0 = not known
};
// A block of store.memory_blocks was freed.
struct MemoryFreeFact {
  ProcessId process;
  uint64_t address;
  int64_t at_ns;
};
// The function at these addresses of a module.
struct NativeSymbolFact {
  StringId path;
  StringId build_id;
  uint64_t begin;
  uint64_t end;
  StringId name;
};
// A function that was inlined at an address of a module.
struct NativeInlinedFact {
  StringId path;
  StringId build_id;
  uint64_t address;
  uint32_t level;  // from 1, outermost first
  StringId name;
};

struct Fragment {
  Store store;
  std::array<std::vector<NestingPiece>, kNestedTables> nesting;
  std::vector<ThreadCut> cuts;
  std::vector<LooseRange> loose_starts;
  std::vector<LooseRange> loose_ends;
  std::vector<ThreadSpan> spans;

  std::vector<ProcessStartFact> process_starts;
  std::vector<ProcessExitFact> process_exits;
  std::vector<ProcessStatusFact> process_statuses;
  std::vector<ThreadNameFact> thread_names;
  std::vector<CounterFact> counters;  // as recorded: running totals
  std::vector<CounterFact> counted;   // by the reader: to be added up
  std::vector<CaptureFact> captures;
  std::vector<ClockSyncFact> clock_syncs;

  // CUDA: times in the GPU tables and in api_calls are CUPTI's until PlaceCuda().
  std::vector<GpuClockFact> gpu_clocks;
  std::vector<ProcessId> api_call_processes;  // by row of store.api_calls; None in other tables
  std::vector<uint32_t> api_call_tids;
  std::vector<uint32_t> overhead_tids;  // by row of store.gpu_overheads
  std::vector<uint32_t> jit_tids;       // by row of store.cuda_jits

  // By row of store.python_samples, cpu_samples, cpu_switches, process_usage, network_usage, until
  // PlaceCpu().
  std::vector<PythonSampleOwner> python_sample_owners;
  std::vector<ThreadNumbers> sample_owners;
  std::vector<ThreadNumbers> switch_owners;
  std::vector<ThreadNumbers> usage_owners;
  std::vector<ThreadNumbers> network_owners;
  std::vector<CpuThreadFact> cpu_threads;
  std::vector<NativeSymbolFact> native_symbols;
  std::vector<NativeInlinedFact> native_inlined;

  std::vector<MemoryFreeFact> memory_frees;

  uint64_t damaged_chunks = 0;
  uint64_t unknown_records = 0;

  NestingPiece& AddPiece(NestedTable table, NestingPiece piece) {
    return nesting[static_cast<size_t>(table)].emplace_back(std::move(piece));
  }
  void Count(ProcessId process, format::Counter counter, uint64_t value) {
    if (value > 0) counted.push_back({process, static_cast<uint32_t>(counter), value});
  }
};

}  // namespace batchlight
