#include "timeline/index/collective_events.h"

#include <algorithm>
#include <tuple>

#include "analysis/ranks/nccl_kernels.h"

namespace batchlight::timeline {
namespace {

void AddKernel(const KernelsTable& kernels, uint32_t row, CollectiveEvent& event) {
  const bool first = event.kernels.empty();
  event.start_ns = first ? kernels.start_ns[row] : std::min(event.start_ns, kernels.start_ns[row]);
  event.end_ns = first ? kernels.end_ns[row] : std::max(event.end_ns, kernels.end_ns[row]);
  event.device = kernels.device[row];
  event.kernels.push_back(row);
}

auto TrackOf(const NcclCalls& nccl, const CollectiveEvent& event) {
  const NcclCall& call = nccl.calls[event.call];
  return std::tuple(call.process, event.device, call.communicator);
}

}  // namespace

bool IsSameTrack(const NcclCalls& nccl, const CollectiveEvent& a, const CollectiveEvent& b) {
  return TrackOf(nccl, a) == TrackOf(nccl, b);
}

std::vector<CollectiveEvent> FindCollectiveEvents(const Store& store, const NcclCalls& nccl) {
  std::vector<CollectiveEvent> events(nccl.calls.size());
  for (uint32_t call = 0; call < events.size(); ++call) {
    const uint32_t range = nccl.calls[call].range;
    events[call] = {.call = call,
                    .start_ns = store.nvtx_ranges.start_ns[range],
                    .end_ns = store.nvtx_ranges.end_ns[range],
                    .kernels = {}};
  }
  if (!events.empty()) {
    for (const NcclKernel& one : FindNcclKernels(store, nccl)) {
      if (one.call != NcclCalls::kNone) AddKernel(store.kernels, one.kernel, events[one.call]);
    }
  }
  std::stable_sort(events.begin(), events.end(),
                   [&](const CollectiveEvent& a, const CollectiveEvent& b) {
                     if (!IsSameTrack(nccl, a, b)) return TrackOf(nccl, a) < TrackOf(nccl, b);
                     if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
                     if (a.end_ns == b.end_ns) return false;
                     return a.end_ns == kOpenEnd || (b.end_ns != kOpenEnd && a.end_ns > b.end_ns);
                   });
  return events;
}

}  // namespace batchlight::timeline
