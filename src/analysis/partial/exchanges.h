// What ranks give each other in exchanges of all with all whose parts differ: the tokens of a
// mixture of experts. The rank whose experts get most of them computes longest, and all wait for
// it.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "analysis/ranks/call_replay.h"
#include "analysis/ranks/rank_calls.h"

namespace batchlight {

// The AlltoAlls of one communicator, of calls that several ranks were recorded in.
struct ExchangeTotal {
  uint64_t communicator = 0;  // as RankCalls has it
  uint32_t ranks = 0;         // recorded
  uint64_t calls = 0;         // of all ranks together
  double mean_bytes = 0;      // that a rank gets in a call
  double imbalance = 1;       // the most that a rank gives or gets / mean_bytes; mean by bytes
  uint32_t busiest = 0;       // row of the ranks: it gives or gets most in all
  double busiest_times = 1;   // so many times the mean of all
};

// Adds up the calls of a replay.
class ExchangeSums {
 public:
  explicit ExchangeSums(std::span<const RankCalls* const> ranks) : ranks_(ranks) {}

  void Add(std::span<const CallOfRank> call);
  // By falling bytes.
  std::vector<ExchangeTotal> Take() const;

 private:
  struct Sum {
    uint64_t calls = 0;
    double mean_bytes = 0;
    double most_bytes = 0;
    std::map<uint32_t, double> load_bytes;  // by rank
  };

  std::span<const RankCalls* const> ranks_;
  std::map<uint64_t, Sum> sums_;
};

}  // namespace batchlight
