// Communicators that move data slower than their like: a link, a network card or a switch that the
// calls of others do not pass. The shortest kernel of a call, that of the rank that came last, is
// the transfer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "analysis/ranks/call_replay.h"
#include "analysis/ranks/rank_calls.h"

namespace batchlight {

// Of messages of so many bytes from one rank, in the terms of nccl-tests; 0: not known.
double BusGbps(const std::string& operation, uint32_t ranks, uint64_t bytes, double transfer_ns);

// One operation with messages of one size on such a communicator: where it takes most time more.
struct SlowLink {
  uint64_t communicator = 0;  // as RankCalls has it; of a JobResult counted from 0
  std::string operation;
  uint64_t bytes = 0;             // of one rank's message
  std::vector<uint32_t> members;  // rows of the ranks
  size_t hosts = 0;               // that they are on
  size_t like = 0;                // other communicators of so many ranks on so many hosts
  // Medians of the transfers; of the others': the one in the middle.
  double transfer_ns = 0;
  double others_ns = 0;
  double longer_per_step_ns = 0;  // of a member's step

  double bus_gbps() const;
  double others_bus_gbps() const;
};

// Samples the calls of a replay.
class LinkSums {
 public:
  explicit LinkSums(std::span<const RankCalls* const> ranks)
      : ranks_(ranks), known_(ranks.size()) {}

  void Add(std::span<const CallOfRank> call);

  // Of the host of each rank and its number of steps; by falling time.
  std::vector<SlowLink> Find(std::span<const std::string> hosts,
                             std::span<const size_t> steps) const;

 private:
  // So many transfers at most: when there are more, every second of them is dropped.
  struct Sum {
    std::vector<uint32_t>* members = nullptr;  // of the communicator
    std::vector<uint32_t> ticks;
    uint64_t calls = 0;
    uint32_t every = 1;
    void Add(uint32_t transfer_ticks);
  };
  // Communicator, operation, bytes.
  using Key = std::tuple<uint64_t, std::string_view, uint64_t>;

  std::span<const RankCalls* const> ranks_;
  Sum& SumOf(const CallOfRank& one, const CallKind& kind);

  std::map<Key, Sum> sums_;
  std::map<uint64_t, std::vector<uint32_t>> members_;  // by communicator
  std::vector<std::vector<Sum*>> known_;               // by rank and kind
};

}  // namespace batchlight
