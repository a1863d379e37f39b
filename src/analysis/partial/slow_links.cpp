#include "analysis/partial/slow_links.h"

#include <algorithm>
#include <set>
#include <utility>

#include "analysis/numbers/quantile.h"
#include "analysis/ranks/collectives.h"

namespace batchlight {
namespace {

constexpr size_t kMostSamples = 256;
constexpr size_t kFewestSamples = 20;
constexpr uint64_t kFewestBytes = 256 << 10;  // below latency counts, not bandwidth
constexpr size_t kFewestLike = 2;
constexpr double kSlow = 0.7;  // of the bandwidth of the one in the middle

// What a communicator took for one operation with one size.
struct Transfers {
  const std::vector<uint32_t>* members = nullptr;
  uint64_t communicator = 0;
  uint64_t calls = 0;
  double lower_ticks = 0, median_ticks = 0, upper_ticks = 0;  // quartiles
};

// Those that are compared have the same of all these.
using Alike = std::tuple<std::string_view, uint64_t, size_t, size_t>;  // operation, bytes, ranks,
                                                                       // hosts

// The median of all values but one, in one look: groups may be ten thousand.
class MedianOfOthers {
 public:
  MedianOfOthers(const std::vector<Transfers>& all, double Transfers::*which) {
    for (const Transfers& one : all) sorted_.push_back(one.*which);
    std::sort(sorted_.begin(), sorted_.end());
  }

  // `but`: one of the values. Of two at least.
  double Without(double but) const {
    const auto out = static_cast<size_t>(std::lower_bound(sorted_.begin(), sorted_.end(), but) -
                                         sorted_.begin());
    const auto at = [&](size_t place) { return sorted_[place < out ? place : place + 1]; };
    const size_t others = sorted_.size() - 1;
    return (at((others - 1) / 2) + at(others / 2)) / 2;
  }

 private:
  std::vector<double> sorted_;
};

}  // namespace

// Bytes per ns are GB/s.
double BusGbps(const std::string& operation, uint32_t ranks, uint64_t bytes, double transfer_ns) {
  if (transfer_ns <= 0) return 0;
  const CollectiveRow row{.operation = operation, .ranks = ranks, .message_bytes = bytes};
  return row.size_bytes() / transfer_ns * row.bus_factor();
}

double SlowLink::bus_gbps() const {
  return BusGbps(operation, static_cast<uint32_t>(members.size()), bytes, transfer_ns);
}

double SlowLink::others_bus_gbps() const {
  return BusGbps(operation, static_cast<uint32_t>(members.size()), bytes, others_ns);
}

void LinkSums::Sum::Add(uint32_t transfer_ticks) {
  if (calls++ % every != 0) return;
  ticks.push_back(transfer_ticks);
  if (ticks.size() < kMostSamples) return;
  for (size_t i = 0; i < ticks.size() / 2; ++i) ticks[i] = ticks[2 * i];
  ticks.resize(ticks.size() / 2);
  every *= 2;
}

void LinkSums::Add(std::span<const CallOfRank> call) {
  if (call.size() < 2) return;
  const RankCalls& first = *ranks_[call[0].rank];
  const CallKind& kind = first.kinds[first.kind[call[0].call]];
  if (kind.bytes < kFewestBytes || kind.ranks > call.size()) return;  // the last may not be there
  uint32_t shortest = UINT32_MAX;
  for (const CallOfRank& one : call) {
    if (one.kernel == 0) return;
    shortest = std::min(shortest, one.kernel);
  }
  Sum& sum = SumOf(call[0], kind);
  std::vector<uint32_t>& members = *sum.members;
  if (members.size() < call.size()) {
    members.clear();
    for (const CallOfRank& one : call) members.push_back(one.rank);
    std::sort(members.begin(), members.end());
  }
  sum.Add(shortest);
}

LinkSums::Sum& LinkSums::SumOf(const CallOfRank& one, const CallKind& kind) {
  std::vector<Sum*>& known = known_[one.rank];
  const size_t place = ranks_[one.rank]->kind[one.call];
  if (known.size() <= place) known.resize(place + 1);
  if (known[place] == nullptr) {
    Sum& sum = sums_[{kind.communicator, kind.operation, kind.bytes}];
    sum.members = &members_[kind.communicator];
    known[place] = &sum;
  }
  return *known[place];
}

std::vector<SlowLink> LinkSums::Find(std::span<const std::string> hosts,
                                     std::span<const size_t> steps) const {
  std::map<uint64_t, size_t> hosts_of;  // by communicator
  for (const auto& [communicator, members] : members_) {
    std::set<std::string_view> names;
    for (const uint32_t rank : members) names.insert(hosts[rank]);
    hosts_of[communicator] = names.size();
  }
  std::map<Alike, std::vector<Transfers>> alike;
  for (const auto& [key, sum] : sums_) {
    if (sum.ticks.size() < kFewestSamples) continue;
    const auto& [communicator, operation, bytes] = key;
    const std::vector<uint32_t>& members = members_.at(communicator);
    std::vector<uint32_t> ticks = sum.ticks;
    alike[{operation, bytes, members.size(), hosts_of[communicator]}].push_back(
        {.members = &members,
         .communicator = communicator,
         .calls = sum.calls,
         .lower_ticks = Quantile(ticks, 0.25),
         .median_ticks = Quantile(ticks, 0.5),
         .upper_ticks = Quantile(ticks, 0.75)});
  }
  std::map<uint64_t, SlowLink> worst;  // by communicator
  for (const auto& [key, all] : alike) {
    if (all.size() <= kFewestLike) continue;
    const MedianOfOthers medians(all, &Transfers::median_ticks);
    const MedianOfOthers uppers(all, &Transfers::upper_ticks);
    for (const Transfers& one : all) {
      const double others = medians.Without(one.median_ticks);
      if (others > kSlow * one.median_ticks || one.lower_ticks < uppers.Without(one.upper_ticks)) {
        continue;
      }
      const auto& [operation, bytes, ranks, on_hosts] = key;
      const double per_step =
          double(one.calls) / double(std::max<size_t>(steps[one.members->front()], 1));
      SlowLink link{.communicator = one.communicator,
                    .operation = std::string(operation),
                    .bytes = bytes,
                    .members = *one.members,
                    .hosts = on_hosts,
                    .like = all.size() - 1,
                    .transfer_ns = one.median_ticks * kCallTickNs,
                    .others_ns = others * kCallTickNs};
      link.longer_per_step_ns = (link.transfer_ns - link.others_ns) * per_step;
      SlowLink& kept = worst[link.communicator];
      if (link.longer_per_step_ns > kept.longer_per_step_ns) kept = std::move(link);
    }
  }
  std::vector<SlowLink> found;
  for (auto& [communicator, link] : worst) found.push_back(std::move(link));
  std::stable_sort(found.begin(), found.end(), [](const SlowLink& a, const SlowLink& b) {
    return a.longer_per_step_ns > b.longer_per_step_ns;
  });
  return found;
}

}  // namespace batchlight
