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

// The calls of one process on a communicator, in order.
struct Track {
  std::vector<uint32_t> calls;  // rows of NcclCalls::calls
  size_t ended = 0;             // so many of the first
};

using Tracks = std::map<ProcessId, Track>;

bool IsCounted(const NcclCalls& nccl, const NcclCall& call) {
  const bool known = call.communicator != 0 || nccl.communicators.size() == 1;
  return known && !IsBetweenTwo(call.operation) &&
         nccl.communicators.at(call.communicator).size() > 1;
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
  const auto start_ns = [&](uint32_t call) {
    return store.nvtx_ranges.start_ns[nccl.calls[call].range];
  };
  for (auto& [communicator, of_processes] : tracks) {
    for (auto& [process, track] : of_processes) {
      std::stable_sort(track.calls.begin(), track.calls.end(),
                       [&](uint32_t a, uint32_t b) { return start_ns(a) < start_ns(b); });
      for (size_t i = 0; i < track.calls.size(); ++i) {
        if (has_kernel[track.calls[i]]) track.ended = i + 1;
      }
    }
    // A kernel that others did not come to was broken off: NCCL's watchdog ends it so.
    size_t all_came = SIZE_MAX;
    for (const auto& [process, track] : of_processes) {
      all_came = std::min(all_came, track.calls.size());
    }
    for (auto& [process, track] : of_processes) track.ended = std::min(track.ended, all_came);
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

// Processes with kernels: of the others nobody knows what has ended.
std::vector<bool> WithKernels(const Store& store) {
  std::vector<bool> found(store.processes.size());
  for (const ProcessId process : store.kernels.process) {
    if (!process.IsNone()) found[process.row()] = true;
  }
  return found;
}

// Behind a window of steps or seconds calls are not recorded, and ends of the last may be missing.
bool RecordsUpToTheEnd(const Store& store) {
  constexpr int64_t kAboutNs = 1'000'000'000;
  const CaptureWindowsTable& windows = store.capture_windows;
  if (windows.size() == 0) return true;
  return windows.size() == 1 && windows.end_ns[0] >= store.duration_ns - kAboutNs;
}

}  // namespace

std::vector<FlightDump> LastRecordedCalls(const Store& store) {
  if (!RecordsUpToTheEnd(store)) return {};
  const NcclCalls nccl = FindNcclCalls(store);
  if (nccl.calls.empty()) return {};
  const std::vector<int32_t> rank_of = FindProcessRanks(store);
  const std::vector<bool> with_kernels = WithKernels(store);
  std::map<int32_t, FlightDump> dumps;
  for (const auto& [id, tracks] : FindTracks(store, nccl)) {
    std::vector<int32_t> ranks;
    size_t first = SIZE_MAX;
    for (const auto& [process, track] : tracks) {
      const int32_t rank = rank_of[process.row()];
      if (rank < 0 || !with_kernels[process.row()]) continue;
      ranks.push_back(rank);
      first = std::min(first, track.ended);
    }
    std::sort(ranks.begin(), ranks.end());
    for (const auto& [process, track] : tracks) {
      const int32_t rank = rank_of[process.row()];
      if (rank < 0 || !with_kernels[process.row()]) continue;
      FlightDump& dump = dumps[rank];
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
  std::vector<FlightDump> found;
  for (auto& [rank, dump] : dumps) found.push_back(std::move(dump));
  return found;
}

}  // namespace batchlight
