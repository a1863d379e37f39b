#include "ingest/recording/cuda_join.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <unordered_map>

#include "base/thread_pool.h"
#include "format/cuda_keys.h"
#include "ingest/common/kernel_name.h"
#include "ingest/recording/copy_ends.h"
#include "ingest/recording/cuda_threads.h"
#include "ingest/recording/gpu_clock.h"
#include "ingest/recording/repeated_ids.h"

namespace batchlight {
namespace {

// Rows of api_calls by (process, correlation id). Ids count up from 1, so a table per process.
class CallIndex {
 public:
  explicit CallIndex(const Store& store) : spans_(store.processes.size()) {
    const ApiCallsTable& calls = store.api_calls;
    std::vector<size_t> counts(spans_.size());
    const auto visit = [&](auto&& use) {
      for (size_t row = 0; row < calls.size(); ++row) {
        const ProcessId process = store.ProcessOf(calls.thread[row]);
        if (!process.IsNone() && calls.correlation[row] != 0) use(process.row(), row);
      }
    };
    visit([&](size_t process, size_t row) {
      Span& span = spans_[process];
      span.first = std::min(span.first, calls.correlation[row]);
      span.last = std::max(span.last, calls.correlation[row]);
      ++counts[process];
    });
    for (size_t process = 0; process < spans_.size(); ++process) {
      Span& span = spans_[process];
      // Ids of a damaged recording may be anything: then a map, not gigabytes.
      const uint64_t width = uint64_t{span.last} - span.first + 1;
      if (counts[process] != 0 && width <= 16 * counts[process] + (1 << 20)) {
        span.rows.resize(width);
      }
    }
    visit([&](size_t process, size_t row) {
      Span& span = spans_[process];
      const auto id = ApiCallId::At(row);
      if (span.rows.empty()) {
        span.sparse[calls.correlation[row]] = id;
      } else {
        span.rows[calls.correlation[row] - span.first] = id;
      }
    });
  }

  ApiCallId Find(ProcessId process, uint32_t correlation) const {
    if (process.IsNone()) return {};
    const Span& span = spans_[process.row()];
    if (correlation < span.first || correlation > span.last) return {};
    if (!span.rows.empty()) return span.rows[correlation - span.first];
    const auto found = span.sparse.find(correlation);
    return found == span.sparse.end() ? ApiCallId() : found->second;
  }

 private:
  struct Span {
    uint32_t first = UINT32_MAX;
    uint32_t last = 0;
    std::vector<ApiCallId> rows;
    std::unordered_map<uint32_t, ApiCallId> sparse;
  };
  std::vector<Span> spans_;
};

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

// CUPTI's times to the recording's. `end_ns` may be nullptr.
void Convert(const std::vector<GpuClock>& clocks, const std::vector<ProcessId>& processes,
             std::vector<int64_t>& start_ns, std::vector<int64_t>* end_ns) {
  size_t hint = 0;
  for (size_t row = 0; row < start_ns.size(); ++row) {
    if (processes[row].IsNone() || start_ns[row] == kOpenEnd) continue;
    const int64_t converted = clocks[processes[row].row()].ToNs(start_ns[row], hint);
    if (end_ns != nullptr) (*end_ns)[row] = converted + ((*end_ns)[row] - start_ns[row]);
    start_ns[row] = converted;
  }
}

template <typename Table, typename Less>
void Sort(Table& table, Less less) {
  std::vector<uint32_t> order(table.size());
  std::iota(order.begin(), order.end(), 0);
  if (std::is_sorted(order.begin(), order.end(), less)) return;
  std::stable_sort(order.begin(), order.end(), less);
  table.Reorder(order);
}

template <typename Table>
void SortByStart(Table& table) {
  Sort(table, [&](uint32_t a, uint32_t b) { return table.start_ns[a] < table.start_ns[b]; });
}

// By thread, and a call before those it makes.
template <typename Table>
void SortByThread(Table& table) {
  Sort(table, [&](uint32_t a, uint32_t b) {
    if (table.thread[a] != table.thread[b]) return table.thread[a] < table.thread[b];
    if (table.start_ns[a] != table.start_ns[b]) return table.start_ns[a] < table.start_ns[b];
    return table.end_ns[a] > table.end_ns[b];
  });
}

template <typename Vector>
Vector Concatenate(std::span<const Fragment> fragments, Vector Fragment::*member) {
  Vector all;
  for (const Fragment& fragment : fragments) {
    all.insert(all.end(), (fragment.*member).begin(), (fragment.*member).end());
  }
  return all;
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
  const CudaThreads threads(uses, store);
  auto use = uses.begin();
  for (ThreadId& thread : calls.thread) thread = threads.Find(*use++);
  for (ThreadId& thread : store.gpu_overheads.thread) thread = threads.Find(*use++);
  for (ThreadId& thread : store.cuda_jits.thread) thread = threads.Find(*use++);
  SortByThread(calls);
}

// One row for each distinct launch configuration.
void MergeLaunches(std::span<const FragmentMap> maps, Store& store) {
  KernelLaunchesTable merged;
  std::unordered_map<std::string, uint32_t> rows;
  std::vector<uint32_t> new_rows(store.kernel_launches.size());
  for (size_t row = 0; row < new_rows.size(); ++row) {
    std::string key;
    store.kernel_launches.VisitColumns([&](auto, auto, const auto& column) {
      key.append(reinterpret_cast<const char*>(&column[row]), sizeof column[row]);
    });
    const auto [place, added] = rows.try_emplace(key, static_cast<uint32_t>(merged.size()));
    if (added) merged.Append(store.kernel_launches.Row(row));
    new_rows[row] = place->second;
  }
  store.kernel_launches = std::move(merged);
  std::vector<uint32_t>& column = store.kernels.launch;
  for (size_t i = 0; i < maps.size(); ++i) {
    const size_t end = i + 1 < maps.size() ? maps[i + 1].kernels : column.size();
    for (size_t row = maps[i].kernels; row < end; ++row) {
      column[row] = new_rows[maps[i].kernel_launches + column[row]];
    }
  }
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
      const std::string demangled = DemangledKernelName(store.Text(kernels.mangled_name[row]));
      place->second.demangled = store.strings.Intern(demangled);
      place->second.bare = store.strings.Intern(ShortKernelName(demangled));
    }
    kernels.demangled_name[row] = place->second.demangled;
    kernels.short_name[row] = place->second.bare;
  }
}

void TieCalls(Store& store) {
  const CallIndex index(store);
  const auto tie = [&](auto& table) {
    for (size_t row = 0; row < table.size(); ++row) {
      table.api_call[row] = index.Find(table.process[row], table.correlation[row]);
    }
  };
  ParallelFor(5, [&](size_t i) {
    switch (i) {
      case 0:
        return tie(store.kernels);
      case 1:
        return tie(store.memcpys);
      case 2:
        return tie(store.memsets);
      case 3:
        return tie(store.synchronizations);
      default:
        return tie(store.graph_launches);
    }
  });
  // Events of which the device told no time: when the call was made.
  CudaEventsTable& events = store.cuda_events;
  for (size_t row = 0; row < events.size(); ++row) {
    if (events.start_ns[row] != kOpenEnd) continue;
    const ApiCallId call = index.Find(events.process[row], events.correlation[row]);
    events.start_ns[row] = call.IsNone() ? 0 : store.api_calls.start_ns[call.row()];
  }
  SortByStart(events);
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
  SortByStart(waits);
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

void TieCuda(std::span<const Fragment> fragments, std::span<const FragmentMap> maps, Store& store) {
  MergeFacts(store);
  AddDriverFacts(store);
  NumberDefaultStreams(store);
  if (store.processes.size() == 0) return;
  SeparateRepeatedIds(Concatenate(fragments, &Fragment::api_call_processes), store);
  const std::vector<GpuClock> clocks = MakeClocks(fragments, store);
  MergeLaunches(maps, store);
  const auto place = [&](auto& table) {
    Convert(clocks, table.process, table.start_ns, &table.end_ns);
    SortByStart(table);
  };
  const auto place_instants = [&](auto& table) {
    Convert(clocks, table.process, table.start_ns, nullptr);
    SortByStart(table);
  };
  const std::function<void()> tasks[] = {
      [&] { place(store.kernels); },
      [&] { place(store.memcpys); },
      [&] { place(store.memsets); },
      [&] { place(store.synchronizations); },
      [&] { place(store.graph_launches); },
      [&] { place(store.unified_memory_events); },
      [&] { place_instants(store.gpu_memory_events); },
      [&] { place_instants(store.gpu_memory_pools); },
      [&] {  // sorted once their threads and calls are known
        Convert(clocks, store.gpu_overheads.process, store.gpu_overheads.start_ns,
                &store.gpu_overheads.end_ns);
        Convert(clocks, store.cuda_jits.process, store.cuda_jits.start_ns, &store.cuda_jits.end_ns);
        Convert(clocks, store.cuda_events.process, store.cuda_events.start_ns, nullptr);
      },
  };
  ParallelFor(std::size(tasks), [&](size_t i) { tasks[i](); });
  CutImpossibleCopyEnds(store);
  PlaceOnThreads(fragments, clocks, store);
  SortByStart(store.gpu_overheads);
  SortByStart(store.cuda_jits);
  NameKernels(store);
  DeriveWaits(store);
  TieCalls(store);
}

}  // namespace batchlight
