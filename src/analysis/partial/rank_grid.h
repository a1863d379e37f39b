// Where the ranks of a job stand: data, pipeline, tensor parallel, ... as axes of a grid, through
// which the ranks count on with the last axis running fastest. Given, or found from who talks with
// whom: a communicator of ranks 0, 4, 8 and 12 is a line of an axis of four whose neighbours are
// four ranks apart.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace batchlight {

struct GridAxis {
  std::string name;  // "dp"
  uint32_t size = 1;
};

// Ranks that meet in collectives, or only send to each other.
struct RankGroup {
  std::vector<int32_t> ranks;  // rising
  bool sends_only = false;     // Send and Recv
};

class RankGrid {
 public:
  explicit RankGrid(std::vector<GridAxis> axes) : axes_(std::move(axes)) {}

  const std::vector<GridAxis>& axes() const { return axes_; }
  uint64_t size() const;
  std::optional<size_t> AxisOf(std::string_view name) const;
  uint32_t PlaceOn(size_t axis, int32_t rank) const;
  std::string PlaceText(int32_t rank) const;  // "dp 1, pp 0, tp 3"
  std::string Text() const;                   // "dp=4,pp=4,tp=4"
  // The axes along which these ranks lie: "tp", "dp x tp"; "" for fewer than two.
  std::string AxesOf(std::span<const int32_t> ranks) const;

 private:
  uint64_t StrideOf(size_t axis) const;

  std::vector<GridAxis> axes_;
};

// "dp=4,pp=4,tp=4". Errors (kUsage).
Result<RankGrid> ParseGrid(std::string_view text);

// Nothing: the groups are no lines of a grid, or there is no group but that of all. Axes are named
// by what is done along them: "pp" where ranks only send to each other, else "tp" for the nearest
// and "dp" for the farthest; what lies between is "axis2", "axis3".
std::optional<RankGrid> FindGrid(std::span<const RankGroup> groups, uint64_t ranks);

}  // namespace batchlight
