// What the axes of a job cost: communication that nothing hides, by the axis along which ranks
// talk, and what the stages of a pipeline wait for each other.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/partial/rank_grid.h"
#include "analysis/ranks/call_replay.h"
#include "analysis/ranks/rank_calls.h"

namespace batchlight {

// Means over all ranks that talk along the axis and those of their steps that count, ns.
struct AxisTotal {
  std::string name;       // "tp", "dp x tp"; without a grid "groups of 8", "all ranks"
  size_t groups = 0;      // communicators
  uint32_t ranks = 0;     // of the largest of them
  double exposed_ns = 0;  // of their kernels, while nothing was computed
  double lost_ns = 0;     // of that: waiting for a later rank
};

// Means over the ranks of a stage and those of their steps that count, ns.
struct PipelineStage {
  uint32_t stage = 0;
  size_t ranks = 0;
  double step_ns = 0;
  double exposed_ns = 0;  // in Send and Recv while nothing was computed: mostly the bubble
};

struct Pipeline {
  std::vector<PipelineStage> stages;
  double bubble = 0;            // exposed_ns / step_ns over all stages
  uint32_t micro_batches = 0;   // what the first stage receives in a step; 0: not known
  double least_bubble() const;  // (p - 1) / (m + p - 1), of one forward and one backward by turns
};

// Adds up the calls of a replay.
class GroupSums {
 public:
  // `steady`: by rank, rows of the steps that count, rising.
  GroupSums(std::span<const RankCalls* const> ranks,
            std::span<const std::span<const uint32_t>> steady);

  void Add(std::span<const CallOfRank> call);

  // By rank: the number in the job, the steps that count, the length of such a step.
  struct Rank {
    int32_t rank = -1;
    size_t steps = 0;
    double step_ns = 0;
  };
  std::vector<RankGroup> Groups(std::span<const Rank> ranks) const;
  // By falling exposed time.
  std::vector<AxisTotal> Axes(std::span<const Rank> ranks, const RankGrid* grid) const;
  std::optional<Pipeline> Stages(std::span<const Rank> ranks, const RankGrid* grid) const;

 private:
  struct Group {
    std::vector<uint32_t> members;  // rows of the ranks
    bool sends_only = true;
    uint64_t exposed_ticks = 0;
    uint64_t lost_ticks = 0;
  };
  struct Sent {
    uint64_t exposed_ticks = 0;
    uint64_t received = 0;  // calls
  };
  struct Kind {
    uint32_t group = 0;
    bool sends = false;
    bool receives = false;
  };
  // Where a rank is in the replay.
  struct Place {
    uint32_t step = CallOfRank::kNoStep;
    uint32_t next = 0;        // row of its steady steps: the first at this one or after it
    uint32_t first_kind = 0;  // row of kinds_
    bool counts = false;      // the step
  };

  bool Counts(const CallOfRank& one);

  std::span<const RankCalls* const> ranks_;
  std::vector<Group> groups_;
  std::vector<Kind> kinds_;                        // of all ranks
  std::vector<std::span<const uint32_t>> steady_;  // by rank
  std::vector<Place> places_;                      // by rank
  std::vector<Sent> sent_;                         // by rank
};

}  // namespace batchlight
