#include "analysis/partial/exchanges.h"

#include <algorithm>

namespace batchlight {

void ExchangeSums::Add(std::span<const CallOfRank> call) {
  if (call.size() < 2 || ranks_[call[0].rank]->received.empty()) return;
  double received = 0, most = 0;
  for (const CallOfRank& one : call) {
    const RankCalls& rank = *ranks_[one.rank];
    if (rank.received.empty()) return;
    received += double(rank.received[one.call]);
    most = std::max(most, double(std::max(rank.sent[one.call], rank.received[one.call])));
  }
  if (received <= 0) return;
  const RankCalls& first = *ranks_[call[0].rank];
  Sum& sum = sums_[first.kinds[first.kind[call[0].call]].communicator];
  ++sum.calls;
  sum.mean_bytes += received / double(call.size());
  sum.most_bytes += most;
  for (const CallOfRank& one : call) {
    const RankCalls& rank = *ranks_[one.rank];
    sum.load_bytes[one.rank] += double(std::max(rank.sent[one.call], rank.received[one.call]));
  }
}

std::vector<ExchangeTotal> ExchangeSums::Take() const {
  std::vector<ExchangeTotal> totals;
  for (const auto& [communicator, sum] : sums_) {
    const auto busiest =
        std::max_element(sum.load_bytes.begin(), sum.load_bytes.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    totals.push_back({.communicator = communicator,
                      .ranks = static_cast<uint32_t>(sum.load_bytes.size()),
                      .calls = sum.calls,
                      .mean_bytes = sum.mean_bytes / double(sum.calls),
                      .imbalance = sum.most_bytes / sum.mean_bytes,
                      .busiest = busiest->first,
                      .busiest_times = busiest->second / sum.mean_bytes});
  }
  std::stable_sort(totals.begin(), totals.end(), [](const auto& a, const auto& b) {
    return a.mean_bytes * double(a.calls) > b.mean_bytes * double(b.calls);
  });
  return totals;
}

}  // namespace batchlight
