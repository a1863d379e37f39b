#include "analysis/os/library_sums.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/numbers/closed_end.h"
#include "store/interval_index.h"

namespace batchlight {
namespace {

bool IsLibrary(RuntimeFamily family) {
  return family != RuntimeFamily::kOpenMp && family != RuntimeFamily::kOpenAcc;
}

}  // namespace

std::vector<LibrarySum> SumLibraryCalls(const Store& store) {
  const RuntimeEventsTable& events = store.runtime_events;
  std::map<std::pair<RuntimeFamily, StringId>, LibrarySum> sums;
  for (size_t row = 0; row < events.size(); ++row) {
    if (!IsLibrary(events.family[row])) continue;
    LibrarySum& sum = sums[{events.family[row], events.name[row]}];
    const int64_t ns =
        ClosedEnd(store, events.start_ns[row], events.end_ns[row]) - events.start_ns[row];
    ++sum.calls;
    sum.total_ns += ns;
    sum.longest_ns = std::max(sum.longest_ns, ns);
  }
  const IntervalIndex index(events.thread, events.start_ns, events.end_ns,
                            [&](uint32_t row) { return !IsLibrary(events.family[row]); });
  for (size_t row = 0; !sums.empty() && row < store.kernels.size(); ++row) {
    const ApiCallId call = store.kernels.api_call[row];
    if (call.IsNone()) continue;
    const uint32_t around =
        index.Innermost(store.api_calls.thread[call.row()], store.api_calls.start_ns[call.row()]);
    if (around == kNoRow) continue;
    LibrarySum& sum = sums[{events.family[around], events.name[around]}];
    ++sum.kernels;
    sum.gpu_ns += store.kernels.end_ns[row] - store.kernels.start_ns[row];
  }
  std::vector<LibrarySum> result;
  for (auto& [key, sum] : sums) {
    std::tie(sum.family, sum.name) = key;
    result.push_back(sum);
  }
  std::sort(result.begin(), result.end(), [&](const LibrarySum& a, const LibrarySum& b) {
    return std::tuple(-a.gpu_ns, -a.total_ns, store.Text(a.name)) <
           std::tuple(-b.gpu_ns, -b.total_ns, store.Text(b.name));
  });
  return result;
}

}  // namespace batchlight
