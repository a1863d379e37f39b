#include "timeline/rows/counter_row.h"

#include <algorithm>
#include <cmath>

namespace batchlight::timeline {

void CounterRow::Add(int64_t time_ns, double value) {
  most_ = std::fmax(most_, value);
  if (!times_ns_.empty() && times_ns_.back() == time_ns) {
    values_.back() = value;
    return;
  }
  times_ns_.push_back(time_ns);
  values_.push_back(value);
}

void CounterRow::Summarize() {
  levels_.clear();
  std::vector<Extent> level;
  for (size_t begin = 0; begin + kLeaf <= values_.size(); begin += kLeaf) {
    Extent extent{values_[begin], values_[begin]};
    for (size_t i = begin + 1; i < begin + kLeaf; ++i) {
      extent = {std::fmin(extent.min, values_[i]), std::fmax(extent.max, values_[i])};
    }
    level.push_back(extent);
  }
  while (!level.empty()) {
    std::vector<Extent> above;
    for (size_t begin = 0; begin + kFan <= level.size(); begin += kFan) {
      Extent extent = level[begin];
      for (size_t i = begin + 1; i < begin + kFan; ++i) {
        extent = {std::fmin(extent.min, level[i].min), std::fmax(extent.max, level[i].max)};
      }
      above.push_back(extent);
    }
    levels_.push_back(std::move(level));
    level = std::move(above);
  }
}

size_t CounterRow::FirstAfter(int64_t time_ns) const {
  const auto at = std::upper_bound(times_ns_.begin(), times_ns_.end(), time_ns);
  return static_cast<size_t>(at - times_ns_.begin());
}

size_t CounterRow::FirstFrom(int64_t time_ns, size_t least) const {
  const auto from = times_ns_.begin() + static_cast<ptrdiff_t>(least);
  const auto at = std::lower_bound(from + 1, times_ns_.end(), time_ns);
  return static_cast<size_t>(at - times_ns_.begin());
}

void CounterRow::Range(size_t begin, size_t end, CounterItem* item) const {
  const auto add = [&](double min, double max) {
    item->min = std::fmin(item->min, min);
    item->max = std::fmax(item->max, max);
  };
  while (begin < end) {
    size_t size = 1;
    const Extent* whole = nullptr;
    if (begin % kLeaf == 0) {
      size_t place = begin / kLeaf;
      size_t covered = kLeaf;
      for (const std::vector<Extent>& level : levels_) {
        if (place >= level.size() || begin + covered > end) break;
        whole = &level[place];
        size = covered;
        if (place % kFan != 0) break;
        place /= kFan;
        covered *= kFan;
      }
    }
    if (whole != nullptr) {
      add(whole->min, whole->max);
    } else {
      add(values_[begin], values_[begin]);
    }
    begin += size;
  }
}

}  // namespace batchlight::timeline
