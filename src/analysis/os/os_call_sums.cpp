#include "analysis/os/os_call_sums.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "analysis/numbers/closed_end.h"

namespace batchlight {

std::vector<OsCallSum> SumOsCalls(const Store& store) {
  std::map<StringId, OsCallSum> sums;
  std::set<std::pair<StringId, ThreadId>> threads;
  const OsCallsTable& calls = store.os_calls;
  for (size_t row = 0; row < calls.size(); ++row) {
    OsCallSum& sum = sums[calls.name[row]];
    const int64_t ns =
        ClosedEnd(store, calls.start_ns[row], calls.end_ns[row]) - calls.start_ns[row];
    ++sum.calls;
    ++sum.recorded;
    sum.total_ns += ns;
    sum.recorded_ns += ns;
    sum.longest_ns = std::max(sum.longest_ns, ns);
    sum.bytes += calls.bytes[row];
    threads.emplace(calls.name[row], calls.thread[row]);
  }
  const OsCallCountsTable& counts = store.os_call_counts;
  for (size_t row = 0; row < counts.size(); ++row) {
    OsCallSum& sum = sums[counts.name[row]];
    sum.calls += counts.calls[row];
    sum.total_ns += counts.total_ns[row];
    sum.bytes += counts.bytes[row];
    threads.emplace(counts.name[row], counts.thread[row]);
  }
  std::vector<OsCallSum> result;
  for (auto& [name, sum] : sums) {
    sum.name = name;
    result.push_back(sum);
  }
  for (OsCallSum& sum : result) {
    const auto first = threads.lower_bound({sum.name, ThreadId::At(0)});
    for (auto at = first; at != threads.end() && at->first == sum.name; ++at) ++sum.threads;
  }
  std::sort(result.begin(), result.end(), [&](const OsCallSum& a, const OsCallSum& b) {
    return std::tuple(-a.total_ns, -a.recorded_ns, store.Text(a.name)) <
           std::tuple(-b.total_ns, -b.recorded_ns, store.Text(b.name));
  });
  return result;
}

}  // namespace batchlight
