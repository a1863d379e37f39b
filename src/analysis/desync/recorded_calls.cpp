#include "analysis/desync/recorded_calls.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>

#include "analysis/ranks/call_numbers.h"
#include "analysis/ranks/nccl_kernels.h"
#include "analysis/ranks/process_ranks.h"

namespace batchlight {
namespace {

constexpr size_t kMostCalls = 1000;  // of a rank on a communicator
constexpr int64_t kWorksOnNs = 5'000'000'000;

// The calls of one process on a communicator, in order.
struct Track {
  std::vector<uint32_t> calls;  // rows of NcclCalls::calls
  size_t ended = 0;             // so many of the first
  size_t with_kernel = 0;       // the last of these that has one
};

using Tracks = std::map<ProcessId, Track>;

bool IsCounted(const NcclCalls& nccl, const NcclCall& call) {
  const bool known = call.communicator != 0 || nccl.communicators.size() == 1;
  return known && !IsBetweenTwo(call.operation) &&
         nccl.communicators.at(call.communicator).size() > 1;
}

// When each process's GPU last began something, ns.
std::vector<int64_t> LastWork(const Store& store) {
  std::vector<int64_t> last(store.processes.size(), INT64_MIN);
  const auto add = [&](const auto& table) {
    for (size_t row = 0; row < table.size(); ++row) {
      if (table.process[row].IsNone()) continue;
      int64_t& at = last[table.process[row].row()];
      at = std::max(at, table.start_ns[row]);
    }
  };
  add(store.kernels);
  add(store.graph_launches);
  return last;
}

// Processes whose kernels are known. CUPTI keeps those of one that is ended in a kernel that never
// ends.
std::vector<bool> WithKernels(const Store& store) {
  std::vector<bool> found(store.processes.size());
  const auto add = [&](const auto& table) {
    for (const ProcessId process : table.process) {
      if (!process.IsNone()) found[process.row()] = true;
    }
  };
  add(store.kernels);
  add(store.graph_launches);
  return found;
}

// How many of the first `most` calls are the same on all.
size_t CallsInCommon(const NcclCalls& nccl, const Tracks& tracks, size_t most) {
  const Track& first = tracks.begin()->second;
  for (size_t i = 0; i < most; ++i) {
    const NcclCall& call = nccl.calls[first.calls[i]];
    for (const auto& [process, track] : tracks) {
      const NcclCall& other = nccl.calls[track.calls[i]];
      if (other.operation != call.operation || other.bytes != call.bytes) return i;
    }
  }
  return most;
}

std::map<uint64_t, Tracks> FindTracks(const Store& store, const NcclCalls& nccl) {
  std::map<uint64_t, Tracks> tracks;
  for (uint32_t row = 0; row < nccl.calls.size(); ++row) {
    const NcclCall& call = nccl.calls[row];
    if (IsCounted(nccl, call)) tracks[call.communicator][call.process].calls.push_back(row);
  }
  std::vector<bool> has_kernel(nccl.calls.size());
  for (const NcclKernel& kernel : FindNcclKernels(store, nccl)) {
    if (kernel.call != NcclCalls::kNone) has_kernel[kernel.call] = true;
  }
  const std::vector<int64_t> last_work = LastWork(store);
  const auto start_ns = [&](uint32_t call) {
    return store.nvtx_ranges.start_ns[nccl.calls[call].range];
  };
  for (auto& [communicator, of_processes] : tracks) {
    for (auto& [process, track] : of_processes) {
      std::stable_sort(track.calls.begin(), track.calls.end(),
                       [&](uint32_t a, uint32_t b) { return start_ns(a) < start_ns(b); });
      for (size_t i = 0; i < track.calls.size(); ++i) {
        const bool works_on = start_ns(track.calls[i]) + kWorksOnNs < last_work[process.row()];
        if (has_kernel[track.calls[i]]) track.with_kernel = i + 1;
        if (has_kernel[track.calls[i]] || works_on) track.ended = i + 1;
      }
    }
    // A kernel that others did not come to was broken off: NCCL's watchdog ends it so.
    size_t all_came = SIZE_MAX;
    for (const auto& [process, track] : of_processes) {
      all_came = std::min(all_came, track.calls.size());
    }
    // A call whose kernel ended for one has ended for all, if it is the same call: of a process
    // that waits in a kernel the last ones before it, or all, are not known.
    const size_t same = CallsInCommon(nccl, of_processes, all_came);
    size_t all_ended = 0;
    for (const auto& [process, track] : of_processes) {
      all_ended = std::max(all_ended, std::min(track.with_kernel, same));
    }
    for (auto& [process, track] : of_processes) {
      track.ended = std::max(all_ended, std::min(track.ended, all_came));
    }
  }
  return tracks;
}

FlightGroup GroupOf(uint64_t id, const NcclCommunicator& communicator,
                    const std::vector<int32_t>& ranks) {
  char name[24];
  std::snprintf(name, sizeof name, "%llx", static_cast<unsigned long long>(id));
  return {.name = name, .description = std::string(communicator.pytorch_name), .ranks = ranks};
}

FlightCall CallOf(const Store& store, const NcclCall& call, uint32_t group, size_t number,
                  bool ended) {
  return {.group = group,
          .number = number,
          .operation = std::string(call.operation),
          .elements = call.bytes,
          .type = "bytes",
          .state = ended ? FlightState::kCompleted : FlightState::kScheduled,
          .created_ns = store.nvtx_ranges.start_ns[call.range],
          .place = ""};
}

// Calls are counted from the first. Behind a window of steps or seconds they are not recorded, and
// ends of the last may be missing.
bool RecordsAll(const Store& store) {
  constexpr int64_t kAboutNs = 1'000'000'000;
  const CaptureWindowsTable& windows = store.capture_windows;
  if (windows.size() == 0) return true;
  return windows.size() == 1 && windows.start_ns[0] <= kAboutNs &&
         windows.end_ns[0] >= store.duration_ns - kAboutNs;
}

}  // namespace

RecordedCalls LastRecordedCalls(const Store& store) {
  if (!RecordsAll(store)) return {};
  const NcclCalls nccl = FindNcclCalls(store);
  if (nccl.calls.empty()) return {};
  const std::vector<int32_t> rank_of = FindProcessRanks(store);
  const std::vector<bool> with_kernels = WithKernels(store);
  std::map<int32_t, std::pair<FlightDump, ProcessId>> dumps;
  for (const auto& [id, tracks] : FindTracks(store, nccl)) {
    const bool any_kernels = std::any_of(tracks.begin(), tracks.end(), [&](const auto& one) {
      return with_kernels[one.first.row()];
    });
    if (!any_kernels) continue;
    std::vector<int32_t> ranks;
    size_t first = SIZE_MAX;
    for (const auto& [process, track] : tracks) {
      const int32_t rank = rank_of[process.row()];
      if (rank < 0) continue;
      ranks.push_back(rank);
      first = std::min(first, track.ended);
    }
    std::sort(ranks.begin(), ranks.end());
    for (const auto& [process, track] : tracks) {
      const int32_t rank = rank_of[process.row()];
      if (rank < 0) continue;
      auto& [dump, owner] = dumps[rank];
      owner = process;
      dump.label = "rank " + std::to_string(rank);
      dump.rank = rank;
      const auto group = static_cast<uint32_t>(dump.groups.size());
      dump.groups.push_back(GroupOf(id, nccl.communicators.at(id), ranks));
      const size_t end = std::min(track.calls.size(), first + kMostCalls);
      for (size_t i = first; i < end; ++i) {
        dump.calls.push_back(
            CallOf(store, nccl.calls[track.calls[i]], group, i + 1, i < track.ended));
      }
    }
  }
  if (dumps.size() < 2) return {};
  RecordedCalls found;
  for (auto& [rank, one] : dumps) {
    found.dumps.push_back(std::move(one.first));
    found.processes.push_back(one.second);
  }
  return found;
}

}  // namespace batchlight
