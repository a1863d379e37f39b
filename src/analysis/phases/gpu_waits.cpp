#include "analysis/phases/gpu_waits.h"

#include <algorithm>
#include <unordered_map>

#include "analysis/cuda/cuda_call.h"
#include "analysis/numbers/closed_end.h"

namespace batchlight {
namespace {

// A copy that the GPU begins only after the call has returned did not delay the thread.
void AddCopy(const Store& store, size_t row, std::vector<GpuWait>& waits) {
  const size_t call = store.memcpys.api_call[row].row();
  const int64_t start = store.api_calls.start_ns[call];
  const int64_t end = ClosedEnd(store, start, store.api_calls.end_ns[call]);
  const int64_t begun = store.memcpys.start_ns[row];
  if (store.memcpys.copy_kind[row] == CopyKind::kDeviceToHost) {
    waits.push_back({start, end, PhaseKind::kGpuWait});
    return;
  }
  const int64_t copies_from = begun > start && begun < end ? begun : start;
  if (copies_from > start) waits.push_back({start, copies_from, PhaseKind::kGpuWait});
  if (copies_from < end) waits.push_back({copies_from, end, PhaseKind::kCopyToDevice});
}

}  // namespace

std::vector<GpuWait> FindGpuWaits(const Store& store, ThreadId thread) {
  std::vector<GpuWait> waits;
  const ApiCallsTable& calls = store.api_calls;
  for (size_t row = 0; row < store.memcpys.size(); ++row) {
    const ApiCallId call = store.memcpys.api_call[row];
    const CopyKind kind = store.memcpys.copy_kind[row];
    if (kind != CopyKind::kHostToDevice && kind != CopyKind::kDeviceToHost) continue;
    if (!call.IsNone() && calls.thread[call.row()] == thread) AddCopy(store, row, waits);
  }
  std::unordered_map<StringId, bool> is_wait;
  for (size_t row = 0; row < calls.size(); ++row) {
    if (calls.thread[row] != thread) continue;
    const auto [known, added] = is_wait.try_emplace(calls.name[row], false);
    if (added) known->second = IsWaitingCall(store.Text(calls.name[row]));
    if (!known->second) continue;
    const int64_t start = calls.start_ns[row];
    waits.push_back({start, ClosedEnd(store, start, calls.end_ns[row]), PhaseKind::kGpuWait});
  }
  // A copy that blocks is in both lists: what the copy shows comes first.
  std::stable_sort(waits.begin(), waits.end(),
                   [](const GpuWait& a, const GpuWait& b) { return a.start_ns < b.start_ns; });
  CoveredSoFar covered;
  for (GpuWait& wait : waits) wait.start_ns = covered.StartOfNew(wait.start_ns, wait.end_ns);
  std::erase_if(waits, [](const GpuWait& wait) { return wait.start_ns >= wait.end_ns; });
  return waits;
}

}  // namespace batchlight
