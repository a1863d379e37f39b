#include "analysis/ranks/call_numbers.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "analysis/numbers/quantile.h"
#include "base/thread_pool.h"

namespace batchlight {
namespace {

constexpr size_t kMostShift = 4096;      // calls
constexpr size_t kMostCompared = 400;    // calls of two ranks
constexpr size_t kFewestCommon = 3;      // calls
constexpr double kMostDifferent = 0.02;  // of the compared calls
constexpr double kCertainNs = 100'000;   // ends that differ by less are of the same calls

// For each communicator all calls of its ranks are gone through. A rank is on a dozen; in a forged
// file each call may have one of its own.
constexpr size_t kMostOfARank = 256;

// The calls of one rank on one communicator.
struct Sequence {
  const RankCalls* rank = nullptr;
  std::vector<uint32_t> calls;
  std::vector<int64_t> ends_ns;  // of all calls of the rank
};

Sequence SequenceOf(const RankCalls& rank, uint64_t communicator) {
  std::vector<bool> is_of(rank.kinds.size());
  for (size_t i = 0; i < is_of.size(); ++i) {
    const CallKind& kind = rank.kinds[i];
    is_of[i] = kind.communicator == communicator && !IsBetweenTwo(kind.operation);
  }
  Sequence sequence{.rank = &rank, .ends_ns = rank.ends.Decode()};
  for (uint32_t call = 0; call < rank.size(); ++call) {
    if (is_of[rank.kind[call]]) sequence.calls.push_back(call);
  }
  return sequence;
}

class CallComparison {
 public:
  // `clock_ns`: what to add to the other's times.
  CallComparison(const Sequence& reference, const Sequence& other, int64_t clock_ns)
      : a_(*reference.rank),
        b_(*other.rank),
        a_ends_ns_(reference.ends_ns),
        b_ends_ns_(other.ends_ns),
        clock_ns_(clock_ns),
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
      differences.push_back(double(b_ends_ns_[b] + clock_ns_ - a_ends_ns_[a]));
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
  const std::vector<int64_t>& a_ends_ns_;
  const std::vector<int64_t>& b_ends_ns_;
  const int64_t clock_ns_;
  const std::vector<uint32_t>& reference_;
  const std::vector<uint32_t>& other_;
};

// A rank that makes calls on a communicator.
struct Member {
  size_t rank = 0;
  uint64_t calls = 0;
  bool may_shift = true;
};

std::map<uint64_t, std::vector<Member>> MembersOf(std::span<const RankCalls* const> ranks) {
  std::map<uint64_t, std::vector<Member>> communicators;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    std::vector<uint64_t> of_kind(ranks[rank]->kinds.size());
    for (const uint16_t kind : ranks[rank]->kind) ++of_kind[kind];
    std::map<uint64_t, uint64_t> counts;
    for (size_t i = 0; i < of_kind.size(); ++i) {
      const CallKind& kind = ranks[rank]->kinds[i];
      if (of_kind[i] > 0 && !IsBetweenTwo(kind.operation)) counts[kind.communicator] += of_kind[i];
    }
    for (const auto& [communicator, calls] : counts) {
      communicators[communicator].push_back({rank, calls, counts.size() <= kMostOfARank});
    }
  }
  return communicators;
}

// By member: the number of its first call.
std::vector<uint32_t> FirstNumbersOf(uint64_t communicator, const std::vector<Member>& members,
                                     std::span<const RankCalls* const> ranks,
                                     std::span<const int64_t> clock_ns) {
  const auto most =
      std::max_element(members.begin(), members.end(),
                       [](const Member& a, const Member& b) { return a.calls < b.calls; });
  std::vector<int64_t> shifts(members.size());
  if (members.size() > 1 && most->may_shift && !ranks[most->rank]->ends.empty()) {
    const Sequence reference = SequenceOf(*ranks[most->rank], communicator);
    for (size_t i = 0; i < members.size(); ++i) {
      const size_t rank = members[i].rank;
      if (rank == most->rank || !members[i].may_shift || ranks[rank]->ends.empty()) continue;
      const int64_t away_ns = clock_ns.empty() ? 0 : clock_ns[rank] - clock_ns[most->rank];
      shifts[i] =
          CallComparison(reference, SequenceOf(*ranks[rank], communicator), away_ns).Shift();
    }
  }
  const int64_t least = *std::min_element(shifts.begin(), shifts.end());
  std::vector<uint32_t> first;
  for (const int64_t shift : shifts) first.push_back(static_cast<uint32_t>(shift - least));
  return first;
}

}  // namespace

bool EndsTogether(std::string_view operation) {
  return operation == "AllReduce" || operation == "ReduceScatter" || operation == "AllGather";
}

bool IsBetweenTwo(std::string_view operation) { return operation == "Send" || operation == "Recv"; }

std::vector<FirstNumbers> NumberCalls(std::span<const RankCalls* const> ranks,
                                      std::span<const int64_t> clock_ns) {
  const auto communicators = MembersOf(ranks);
  const std::vector<std::pair<uint64_t, std::vector<Member>>> list(communicators.begin(),
                                                                   communicators.end());
  std::vector<std::vector<uint32_t>> numbers(list.size());
  ParallelFor(list.size(), [&](size_t i) {
    numbers[i] = FirstNumbersOf(list[i].first, list[i].second, ranks, clock_ns);
  });
  std::vector<FirstNumbers> first(ranks.size());
  for (size_t i = 0; i < list.size(); ++i) {
    const auto& [communicator, of] = list[i];
    for (size_t k = 0; k < of.size(); ++k) first[of[k].rank][communicator] = numbers[i][k];
  }
  return first;
}

}  // namespace batchlight
