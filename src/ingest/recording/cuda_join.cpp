#include "ingest/recording/cuda_join.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <unordered_map>

#include "base/demangled.h"
#include "base/thread_pool.h"
#include "format/cuda_keys.h"
#include "ingest/common/kernel_name.h"
#include "ingest/recording/concatenate.h"
#include "ingest/recording/gpu_clock.h"
#include "ingest/recording/repeated_ids.h"
#include "ingest/recording/threads_by_tid.h"
#include "store/value_limits.h"

namespace batchlight {
namespace {

std::vector<GpuClock> MakeClocks(std::span<const Fragment> fragments, Store& store) {
  // CUPTI's clock is the realtime clock where nobody says otherwise.
  std::vector<GpuClock> clocks(store.processes.size(), GpuClock(-store.session_start_utc_ns));
  for (const Fragment& fragment : fragments) {
    for (const GpuClockFact& fact : fragment.gpu_clocks) {
      if (fact.process.IsNone()) continue;
      clocks[fact.process.row()].AddPair(fact.at_ns, fact.cupti_ns, fact.uncertainty_ns);
    }
  }
  for (size_t row = 0; row < clocks.size(); ++row) {
    clocks[row].Finish();
    if (clocks[row].pair_count() == 0) continue;
    store.properties.Append(
        {.process = ProcessId::At(row),
         .key = store.strings.Intern("cuda.clock_error_ns"),
         .value = store.strings.Intern(std::to_string(clocks[row].error_ns()))});
  }
  return clocks;
}

// CUPTI's times to the recording's. `end_ns` may be nullptr. A row that lasts longer than can be
// (the recording is damaged) ends where it starts.
void Convert(const std::vector<GpuClock>& clocks, const std::vector<ProcessId>& processes,
             std::vector<int64_t>& start_ns, std::vector<int64_t>* end_ns) {
  size_t hint = 0;
  LimitedSum lengths = SumOfDurations();
  for (size_t row = 0; row < start_ns.size(); ++row) {
    if (processes[row].IsNone() || start_ns[row] == kOpenEnd) continue;
    const int64_t converted =
        PossibleTimeOr(clocks[processes[row].row()].ToNs(start_ns[row], hint), 0);
    if (end_ns != nullptr) {
      int64_t length_ns = 0;
      if (__builtin_sub_overflow((*end_ns)[row], start_ns[row], &length_ns) ||
          !lengths.Add(length_ns)) {
        length_ns = 0;
      }
      (*end_ns)[row] = converted + length_ns;
    }
    start_ns[row] = converted;
  }
}

// Times and threads of calls, overheads and compilations.
void PlaceOnThreads(std::span<const Fragment> fragments, const std::vector<GpuClock>& clocks,
                    Store& store) {
  const auto call_processes = Concatenate(fragments, &Fragment::api_call_processes);
  const auto call_tids = Concatenate(fragments, &Fragment::api_call_tids);
  const auto overhead_tids = Concatenate(fragments, &Fragment::overhead_tids);
  const auto jit_tids = Concatenate(fragments, &Fragment::jit_tids);
  ApiCallsTable& calls = store.api_calls;
  Convert(clocks, call_processes, calls.start_ns, &calls.end_ns);
  std::vector<TidUse> uses;
  uses.reserve(calls.size() + overhead_tids.size() + jit_tids.size());
  for (size_t row = 0; row < calls.size(); ++row) {
    uses.push_back({call_processes[row], call_tids[row], calls.start_ns[row]});
  }
  const auto add = [&](const auto& table, const std::vector<uint32_t>& tids) {
    for (size_t row = 0; row < table.size(); ++row) {
      uses.push_back({table.process[row], tids[row], table.start_ns[row]});
    }
  };
  add(store.gpu_overheads, overhead_tids);
  add(store.cuda_jits, jit_tids);
  const ThreadsByTid threads(uses, store);
  auto use = uses.begin();
  for (ThreadId& thread : calls.thread) thread = threads.Find(*use++);
  for (ThreadId& thread : store.gpu_overheads.thread) thread = threads.Find(*use++);
  for (ThreadId& thread : store.cuda_jits.thread) thread = threads.Find(*use++);
}

// The wait that a call is; kUnknown: none.
SyncType WaitType(std::string_view call) {
  constexpr struct {
    std::string_view prefix;
    SyncType type;
  } kWaits[] = {{"cudaStreamSynchronize", SyncType::kStream},
                {"cuStreamSynchronize", SyncType::kStream},
                {"cudaDeviceSynchronize", SyncType::kContext},
                {"cudaThreadSynchronize", SyncType::kContext},
                {"cuCtxSynchronize", SyncType::kContext},
                {"cudaEventSynchronize", SyncType::kEvent},
                {"cuEventSynchronize", SyncType::kEvent},
                {"cudaStreamWaitEvent", SyncType::kStreamWaitsEvent},
                {"cuStreamWaitEvent", SyncType::kStreamWaitsEvent}};
  for (const auto& wait : kWaits) {
    if (call.starts_with(wait.prefix)) return wait.type;
  }
  return SyncType::kUnknown;
}

// CUPTI's own records of waits slow every call of the program, so they are off by default: then a
// wait is the call that waits. Which stream or event it waited for is not known.
void DeriveWaits(Store& store) {
  std::vector<bool> has_own(store.processes.size());
  SynchronizationsTable& waits = store.synchronizations;
  for (const ProcessId process : waits.process) {
    if (!process.IsNone()) has_own[process.row()] = true;
  }
  std::vector<uint32_t> context(store.processes.size());
  const GpuContextsTable& contexts = store.gpu_contexts;
  for (size_t row = contexts.size(); row-- > 0;) {
    if (!contexts.process[row].IsNone()) {
      context[contexts.process[row].row()] = contexts.context[row];
    }
  }
  std::unordered_map<StringId, SyncType> types;
  const ApiCallsTable& calls = store.api_calls;
  for (size_t row = 0; row < calls.size(); ++row) {
    const auto [type, added] = types.try_emplace(calls.name[row], SyncType::kUnknown);
    if (added) type->second = WaitType(store.Text(calls.name[row]));
    const ProcessId process = store.ProcessOf(calls.thread[row]);
    if (type->second == SyncType::kUnknown || process.IsNone() || has_own[process.row()]) continue;
    waits.Append({.start_ns = calls.start_ns[row],
                  .end_ns = calls.end_ns[row],
                  .process = process,
                  .correlation = calls.correlation[row],
                  .context = context[process.row()],
                  .stream = UINT32_MAX,
                  .sync_type = type->second,
                  .event = UINT32_MAX});
  }
}

// Waits for the default stream get the number that kernels on it have.
void NumberDefaultStreams(Store& store) {
  std::map<std::pair<ProcessId, uint32_t>, uint32_t> numbers;
  const GpuContextsTable& contexts = store.gpu_contexts;
  for (size_t row = 0; row < contexts.size(); ++row) {
    numbers[{contexts.process[row], contexts.context[row]}] = contexts.null_stream[row];
  }
  SynchronizationsTable& waits = store.synchronizations;
  for (size_t row = 0; row < waits.size(); ++row) {
    if (waits.stream[row] != format::kDefaultStream) continue;
    const auto number = numbers.find({waits.process[row], waits.context[row]});
    waits.stream[row] = number == numbers.end() ? UINT32_MAX : number->second;
  }
}

// Facts are repeated in every capture, and GPUs in every process.
template <typename Table, typename KeyOf>
void KeepFirst(Table& table, KeyOf key_of) {
  std::set<decltype(key_of(0))> seen;
  std::vector<uint32_t> kept;
  for (size_t row = 0; row < table.size(); ++row) {
    if (seen.insert(key_of(row)).second) kept.push_back(static_cast<uint32_t>(row));
  }
  if (kept.size() < table.size()) table.Reorder(kept);
}

void MergeFacts(Store& store) {
  GpusTable& gpus = store.gpus;
  KeepFirst(gpus, [&](size_t row) { return gpus.uuid[row]; });
  GpuContextsTable& contexts = store.gpu_contexts;
  KeepFirst(contexts,
            [&](size_t row) { return std::pair(contexts.process[row], contexts.context[row]); });
  GpuStreamsTable& streams = store.gpu_streams;
  KeepFirst(streams, [&](size_t row) {
    return std::tuple(streams.process[row], streams.context[row], streams.stream[row]);
  });
}

// What only the driver told, as properties: cuda.device.0.memory_clock_khz.
void AddDriverFacts(Store& store) {
  GpusTable& gpus = store.gpus;
  const auto read = [&](uint32_t device, std::string_view name, std::vector<uint32_t>& column,
                        size_t row) {
    const std::string key = "cuda.device." + std::to_string(device) + '.' + std::string(name);
    const std::string text(store.Property(key));
    if (!text.empty()) column[row] = static_cast<uint32_t>(std::strtoul(text.c_str(), nullptr, 10));
  };
  for (size_t row = 0; row < gpus.size(); ++row) {
    const uint32_t device = gpus.device[row];
    read(device, "memory_clock_khz", gpus.memory_clock_khz, row);
    read(device, "memory_bus_bits", gpus.memory_bus_bits, row);
    read(device, "max_shared_bytes_per_block_optin", gpus.max_shared_bytes_per_block, row);
  }
}

}  // namespace

void PlaceCuda(std::span<const Fragment> fragments, Store& store) {
  MergeFacts(store);
  AddDriverFacts(store);
  NumberDefaultStreams(store);
  if (store.processes.size() == 0) return;
  SeparateRepeatedIds(Concatenate(fragments, &Fragment::api_call_processes), store);
  const std::vector<GpuClock> clocks = MakeClocks(fragments, store);
  std::vector<std::function<void()>> tasks;
  const auto convert = [&](auto& table) {
    tasks.push_back([&] {
      std::vector<int64_t>* end_ns = nullptr;
      if constexpr (requires { table.end_ns; }) end_ns = &table.end_ns;
      Convert(clocks, table.process, table.start_ns, end_ns);
    });
  };
  convert(store.kernels);
  convert(store.memcpys);
  convert(store.memsets);
  convert(store.synchronizations);
  convert(store.graph_launches);
  convert(store.um_cpu_faults);
  convert(store.um_gpu_faults);
  convert(store.gpu_memory_events);
  convert(store.gpu_memory_pools);
  convert(store.gpu_overheads);
  convert(store.cuda_jits);
  convert(store.cuda_events);
  ParallelFor(tasks.size(), [&](size_t i) { tasks[i](); });
  PlaceOnThreads(fragments, clocks, store);
  DeriveWaits(store);
}

// Demangling is slow and kernels have few names.
void NameKernels(Store& store) {
  struct Names {
    StringId demangled;
    StringId bare;
  };
  std::unordered_map<StringId, Names> known;
  KernelsTable& kernels = store.kernels;
  for (size_t row = 0; row < kernels.size(); ++row) {
    const auto [place, added] = known.try_emplace(kernels.mangled_name[row]);
    if (added) {
      const std::string demangled = DemangledName(store.Text(kernels.mangled_name[row]));
      place->second.demangled = store.strings.Intern(demangled);
      place->second.bare = store.strings.Intern(ShortKernelName(demangled));
    }
    kernels.demangled_name[row] = place->second.demangled;
    kernels.short_name[row] = place->second.bare;
  }
}

}  // namespace batchlight
