// One row of a counter: a value that holds until the next sample, with the smallest and largest of
// 64 samples and then of 8 such summaries. NaN: from then on it is not known.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace batchlight::timeline {

struct CounterItem {
  int64_t start_ns = 0;
  double min = 0;  // of those that are known, as is `max`
  double max = 0;
  double last = 0;  // holds from here on
};

class CounterRow {
 public:
  // Times must not decrease; of equal times the last value counts.
  void Add(int64_t time_ns, double value);
  void Summarize();

  size_t size() const { return times_ns_.size(); }
  int64_t time_ns(size_t sample) const { return times_ns_[sample]; }
  double value(size_t sample) const { return values_[sample]; }
  double most() const { return most_; }

  // visit(CounterItem) -> bool: whether to go on. First the value at `from_ns` if there is one,
  // then the samples before `to_ns`, those within a step of another put together with it.
  template <typename Visitor>
  void VisitItems(int64_t from_ns, int64_t to_ns, int64_t step_ns, Visitor&& visit) const {
    size_t at = FirstAfter(from_ns);
    if (at > 0) {
      const double value = values_[at - 1];
      if (!visit(CounterItem{from_ns, value, value, value})) return;
    }
    while (at < times_ns_.size() && times_ns_[at] < to_ns) {
      const size_t next = FirstFrom(std::min(to_ns, times_ns_[at] + step_ns), at);
      CounterItem item{times_ns_[at], values_[at], values_[at], values_[next - 1]};
      Range(at, next, &item);
      if (!visit(item)) return;
      at = next;
    }
  }

 private:
  struct Extent {
    double min;
    double max;
  };
  static constexpr size_t kLeaf = 64;
  static constexpr size_t kFan = 8;

  size_t FirstAfter(int64_t time_ns) const;
  size_t FirstFrom(int64_t time_ns, size_t least) const;
  void Range(size_t begin, size_t end, CounterItem* item) const;

  std::vector<int64_t> times_ns_;
  std::vector<double> values_;
  std::vector<std::vector<Extent>> levels_;
  double most_ = 0;
};

}  // namespace batchlight::timeline
