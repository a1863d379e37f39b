#include "analysis/ranks/call_numbers.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <string_view>

#include "analysis/numbers/quantile.h"

namespace batchlight {
namespace {

constexpr size_t kMostShift = 4096;      // calls
constexpr size_t kMostCompared = 400;    // calls of two ranks
constexpr size_t kFewestCommon = 3;      // calls
constexpr double kMostDifferent = 0.02;  // of the compared calls
constexpr double kCertainNs = 100'000;   // ends that differ by less are of the same calls

// The calls of one rank on one communicator.
struct Sequence {
  size_t rank = 0;
  std::vector<uint32_t> calls;
};

class CallComparison {
 public:
  CallComparison(std::span<const RankCalls* const> ranks, std::span<const int64_t> clock_ns,
                 const Sequence& reference, const Sequence& other)
      : a_(*ranks[reference.rank]),
        b_(*ranks[other.rank]),
        clock_ns_(clock_ns.empty() ? 0 : clock_ns[other.rank] - clock_ns[reference.rank]),
        reference_(reference.calls),
        other_(other.calls) {}

  // What has to be added to the other's count; 0 where nothing says.
  int64_t Shift() const {
    const std::optional<Fit> plain = FitOf(0);
    const bool same_length = reference_.size() == other_.size();
    if (same_length && plain && plain->spread_ns <= kCertainNs) return 0;
    const auto most = static_cast<int64_t>(std::min(kMostShift, reference_.size()));
    const auto least = -static_cast<int64_t>(std::min(kMostShift, other_.size()));
    std::optional<Fit> best = plain;
    int64_t shift = 0;
    for (int64_t by = least; by <= most; ++by) {
      const std::optional<Fit> fit = FitOf(by);
      if (!fit || (best && !fit->IsBetterThan(*best))) continue;
      best = fit;
      shift = by;
    }
    return shift;
  }

 private:
  struct Fit {
    double spread_ns = 0;  // by how much the difference of ends changes, median
    double away_ns = 0;    // their median

    bool IsBetterThan(const Fit& other) const {
      if (spread_ns != other.spread_ns) return spread_ns < other.spread_ns;
      return away_ns < other.away_ns;
    }
  };

  // Nothing: the calls do not agree, or too few are common.
  std::optional<Fit> FitOf(int64_t by) const {
    const int64_t begin = std::max<int64_t>(0, by);
    const int64_t end = std::min<int64_t>(static_cast<int64_t>(reference_.size()),
                                          static_cast<int64_t>(other_.size()) + by);
    if (end - begin < static_cast<int64_t>(kFewestCommon)) return std::nullopt;
    const int64_t stride =
        std::max<int64_t>(1, (end - begin) / static_cast<int64_t>(kMostCompared));
    std::vector<double> differences;
    size_t compared = 0, different = 0;
    for (int64_t i = begin; i < end; i += stride) {
      const uint32_t a = reference_[static_cast<size_t>(i)];
      const uint32_t b = other_[static_cast<size_t>(i - by)];
      const CallKind& kind = a_.kinds[a_.kind[a]];
      const CallKind& other = b_.kinds[b_.kind[b]];
      ++compared;
      if (kind.operation != other.operation || kind.bytes != other.bytes) ++different;
      if (!EndsTogether(kind.operation) || a_.kernel[a] == 0 || b_.kernel[b] == 0) continue;
      differences.push_back(double(b_.end_ns[b] + clock_ns_ - a_.end_ns[a]));
    }
    if (double(different) > kMostDifferent * double(compared)) return std::nullopt;
    if (differences.size() < kFewestCommon) return Fit{0, double(std::abs(by))};
    // From one call to the next a drift of the clocks is nothing, steps of other lengths are not.
    std::vector<double> changes;
    for (size_t i = 1; i < differences.size(); ++i) {
      changes.push_back(std::abs(differences[i] - differences[i - 1]));
    }
    return Fit{Quantile(changes, 0.5), std::abs(Quantile(differences, 0.5))};
  }

  const RankCalls& a_;
  const RankCalls& b_;
  const int64_t clock_ns_;
  const std::vector<uint32_t>& reference_;
  const std::vector<uint32_t>& other_;
};

}  // namespace

bool EndsTogether(std::string_view operation) {
  return operation == "AllReduce" || operation == "ReduceScatter" || operation == "AllGather";
}

std::vector<FirstNumbers> NumberCalls(std::span<const RankCalls* const> ranks,
                                      std::span<const int64_t> clock_ns) {
  std::map<uint64_t, std::vector<Sequence>> communicators;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    std::unordered_map<uint64_t, std::vector<uint32_t>> calls;
    for (uint32_t call = 0; call < ranks[rank]->size(); ++call) {
      calls[ranks[rank]->kinds[ranks[rank]->kind[call]].communicator].push_back(call);
    }
    for (auto& [communicator, rows] : calls) {
      communicators[communicator].push_back({rank, std::move(rows)});
    }
  }
  std::vector<FirstNumbers> first(ranks.size());
  for (const auto& [communicator, sequences] : communicators) {
    const auto reference = std::max_element(
        sequences.begin(), sequences.end(),
        [](const Sequence& a, const Sequence& b) { return a.calls.size() < b.calls.size(); });
    std::vector<int64_t> shifts;
    for (const Sequence& sequence : sequences) {
      const bool compare = &sequence != &*reference && !ranks[sequence.rank]->end_ns.empty() &&
                           !ranks[reference->rank]->end_ns.empty();
      shifts.push_back(compare ? CallComparison(ranks, clock_ns, *reference, sequence).Shift() : 0);
    }
    const int64_t least = *std::min_element(shifts.begin(), shifts.end());
    for (size_t i = 0; i < sequences.size(); ++i) {
      first[sequences[i].rank][communicator] = static_cast<uint32_t>(shifts[i] - least);
    }
  }
  return first;
}

}  // namespace batchlight
