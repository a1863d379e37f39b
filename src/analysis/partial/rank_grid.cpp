#include "analysis/partial/rank_grid.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

namespace batchlight {
namespace {

constexpr uint64_t kMostRanks = 1 << 30;
constexpr uint64_t kMostFoundRanks = 1 << 20;  // a file may claim any number

Status GridError(std::string_view text) {
  return UsageError("--grid " + std::string(text) +
                    ": axes with their sizes, the one that runs fastest last, such as "
                    "dp=4,pp=2,tp=8");
}

// A line of an axis: so many ranks, so far apart. Nothing: no such line.
struct Line {
  uint64_t stride = 0;
  uint64_t size = 0;
};

std::optional<Line> LineOf(const std::vector<int32_t>& ranks) {
  if (ranks.size() < 2) return std::nullopt;
  const int64_t stride = int64_t{ranks[1]} - ranks[0];
  for (size_t i = 2; i < ranks.size(); ++i) {
    if (int64_t{ranks[i]} - ranks[i - 1] != stride) return std::nullopt;
  }
  return Line{static_cast<uint64_t>(stride), ranks.size()};
}

struct FoundAxis {
  uint64_t size = 0;
  bool sends_only = false;
};

// Of two ranks that send to each other only how far apart they are is known, not how many follow.
using Lines = std::map<uint64_t, std::map<uint64_t, bool>>;  // stride, size: sends only

std::vector<FoundAxis> ChainOf(const Lines& lines, uint64_t ranks) {
  std::vector<FoundAxis> axes;
  uint64_t stride = 1;
  while (stride < ranks) {
    const auto at = lines.find(stride);
    uint64_t size = 0;
    bool sends_only = false;
    if (at != lines.end()) {
      for (const auto& [length, sends] : at->second) {
        if (length == ranks && stride == 1 && lines.size() > 1) continue;  // that of all ranks
        if ((ranks / stride) % length != 0) continue;
        const bool pair_of_many = sends && length == 2;
        size = length;
        sends_only = sends;
        if (!pair_of_many) break;
      }
    }
    if (size == 2 && sends_only) size = 0;  // as far as the next axis that is known
    if (size == 0) {
      const auto next = std::find_if(lines.upper_bound(stride), lines.end(), [&](const auto& line) {
        return line.first % stride == 0 && ranks % line.first == 0;
      });
      size = (next == lines.end() ? ranks : next->first) / stride;
    }
    if (size < 2 || ranks % (stride * size) != 0) return {};
    axes.push_back({size, sends_only});
    stride *= size;
  }
  return axes;
}

}  // namespace

uint64_t RankGrid::size() const {
  uint64_t size = 1;
  for (const GridAxis& axis : axes_) size *= axis.size;
  return size;
}

std::optional<size_t> RankGrid::AxisOf(std::string_view name) const {
  for (size_t i = 0; i < axes_.size(); ++i) {
    if (axes_[i].name == name) return i;
  }
  return std::nullopt;
}

uint64_t RankGrid::StrideOf(size_t axis) const {
  uint64_t stride = 1;
  for (size_t i = axis + 1; i < axes_.size(); ++i) stride *= axes_[i].size;
  return stride;
}

uint32_t RankGrid::PlaceOn(size_t axis, int32_t rank) const {
  const uint64_t number = rank < 0 ? 0 : static_cast<uint64_t>(rank);
  return static_cast<uint32_t>(number / StrideOf(axis) % axes_[axis].size);
}

std::string RankGrid::PlaceText(int32_t rank) const {
  std::string text;
  for (size_t i = 0; i < axes_.size(); ++i) {
    text += (i == 0 ? "" : ", ") + axes_[i].name + " " + std::to_string(PlaceOn(i, rank));
  }
  return text;
}

std::string RankGrid::Text() const {
  std::string text;
  for (const GridAxis& axis : axes_) {
    text += (text.empty() ? "" : ",") + axis.name + "=" + std::to_string(axis.size);
  }
  return text;
}

std::string RankGrid::AxesOf(std::span<const int32_t> ranks) const {
  std::string text;
  for (size_t i = 0; i < axes_.size(); ++i) {
    const bool differs = std::any_of(ranks.begin(), ranks.end(), [&](int32_t rank) {
      return PlaceOn(i, rank) != PlaceOn(i, ranks[0]);
    });
    if (differs) text += (text.empty() ? "" : " x ") + axes_[i].name;
  }
  return text;
}

Result<RankGrid> ParseGrid(std::string_view text) {
  std::vector<GridAxis> axes;
  uint64_t ranks = 1;
  for (std::string_view left = text; !left.empty() || axes.empty();) {
    const size_t end = std::min(left.find(','), left.size());
    const std::string_view part = left.substr(0, end);
    const size_t equal = part.find('=');
    if (equal == 0 || equal == part.npos) return GridError(text);
    GridAxis axis{.name = std::string(part.substr(0, equal))};
    const char* const stop = part.data() + part.size();
    const auto [at, error] = std::from_chars(part.data() + equal + 1, stop, axis.size);
    if (error != std::errc() || at != stop || axis.size == 0) return GridError(text);
    for (const GridAxis& other : axes) {
      if (other.name == axis.name) return GridError(text);
    }
    ranks *= axis.size;
    if (ranks > kMostRanks) return GridError(text);
    axes.push_back(std::move(axis));
    left.remove_prefix(std::min(end + 1, left.size()));
    if (left.empty() && text.back() == ',') return GridError(text);
  }
  return RankGrid(std::move(axes));
}

std::optional<RankGrid> FindGrid(std::span<const RankGroup> groups, uint64_t ranks) {
  Lines lines;
  bool of_some = false;
  for (const RankGroup& group : groups) {
    const std::optional<Line> line = LineOf(group.ranks);
    if (!line) continue;
    of_some = of_some || line->size < ranks;
    const auto [at, is_new] = lines[line->stride].try_emplace(line->size, group.sends_only);
    at->second = at->second && group.sends_only;
  }
  if (!of_some || ranks < 2 || ranks > kMostFoundRanks) return std::nullopt;
  const std::vector<FoundAxis> found = ChainOf(lines, ranks);
  if (found.size() < 2) return std::nullopt;
  std::vector<GridAxis> axes;
  size_t reduced = 0;  // axes along which ranks do more than send
  for (const FoundAxis& axis : found) reduced += axis.sends_only ? 0 : 1;
  size_t number = 0;
  for (const FoundAxis& axis : found) {
    GridAxis& named = axes.emplace_back();
    named.size = static_cast<uint32_t>(axis.size);
    if (axis.sends_only) {
      named.name = "pp";
      continue;
    }
    ++number;
    named.name = number == reduced ? "dp" : number == 1 ? "tp" : "axis" + std::to_string(number);
  }
  const auto stages = [](const GridAxis& axis) { return axis.name == "pp"; };
  if (std::count_if(axes.begin(), axes.end(), stages) > 1) return std::nullopt;
  std::reverse(axes.begin(), axes.end());
  return RankGrid(std::move(axes));
}

}  // namespace batchlight
