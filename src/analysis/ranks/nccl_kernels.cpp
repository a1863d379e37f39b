#include "analysis/ranks/nccl_kernels.h"

#include <algorithm>
#include <map>

#include "analysis/cuda/kernel_class.h"

namespace batchlight {
namespace {

// Which call of NCCL's a moment of a thread lies in.
class CallsOfThreads {
 public:
  CallsOfThreads(const Store& store, const NcclCalls& nccl) : ranges_(store.nvtx_ranges) {
    // Rows of nvtx_ranges are in order of thread and start, so the calls of a thread are by start.
    for (uint32_t call = 0; call < nccl.calls.size(); ++call) {
      const uint32_t range = nccl.calls[call].launch;
      of_thread_[ranges_.thread[range]].push_back({.range = range, .call = call});
    }
  }

  uint32_t At(ThreadId thread, int64_t time_ns) const {
    const auto calls = of_thread_.find(thread);
    if (calls == of_thread_.end()) return NcclCalls::kNone;
    const auto after = std::upper_bound(
        calls->second.begin(), calls->second.end(), time_ns,
        [&](int64_t time, const Call& call) { return time < ranges_.start_ns[call.range]; });
    if (after == calls->second.begin()) return NcclCalls::kNone;
    const Call& last = *std::prev(after);
    return time_ns <= ranges_.end_ns[last.range] ? last.call : NcclCalls::kNone;
  }

 private:
  struct Call {
    uint32_t range;
    uint32_t call;
  };
  const NvtxRangesTable& ranges_;
  std::map<ThreadId, std::vector<Call>> of_thread_;
};

}  // namespace

std::vector<NcclKernel> FindNcclKernels(const Store& store, const NcclCalls& nccl) {
  std::vector<bool> is_nccl(store.strings.size());
  for (size_t row = 0; row < is_nccl.size(); ++row) {
    is_nccl[row] = IsNcclKernel(store.Text(StringId::At(row)));
  }
  const CallsOfThreads calls(store, nccl);
  const KernelsTable& kernels = store.kernels;
  std::vector<NcclKernel> found;
  for (uint32_t row = 0; row < kernels.size(); ++row) {
    const StringId name = kernels.short_name[row];
    if (name.IsNone() || !is_nccl[name.row()]) continue;
    NcclKernel& kernel = found.emplace_back(NcclKernel{.kernel = row});
    if (const ApiCallId launch = kernels.api_call[row]; !launch.IsNone()) {
      kernel.call =
          calls.At(store.api_calls.thread[launch.row()], store.api_calls.start_ns[launch.row()]);
    }
  }
  return found;
}

}  // namespace batchlight
