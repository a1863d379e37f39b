// Events of what samples find on the stacks of a thread: one for as long as looks one after the
// other find a function at the same depth, in the same callers. Two calls with no look in between
// are one event: samples cannot tell them apart.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "timeline/index/timeline.h"

namespace batchlight::timeline {

class StackStretches {
 public:
  // Of deeper stacks the outermost functions. `table` must outlive this.
  StackStretches(DerivedTable& table, size_t most_depth) : table_(table), most_depth_(most_depth) {}

  // Whether the look before found something, and until when it stands.
  bool is_open() const { return !open_.empty(); }
  int64_t open_until_ns() const { return table_.end_ns[open_.front()]; }

  // A look that stands until `end_ns`: what it finds anew began at `from_ns`, and what it finds no
  // more ended then. `goes_on`: nothing is missing between it and the look before.
  template <typename Stacks, typename StackId>
  void Look(const Stacks& stacks, StackId stack, const std::vector<StringId>& name_of_frame,
            bool goes_on, int64_t from_ns, int64_t end_ns) {
    found_.clear();
    for (; !stack.IsNone(); stack = stacks.parent[stack.row()]) {
      const auto frame = stacks.frame[stack.row()];
      if (!frame.IsNone()) found_.push_back(name_of_frame[frame.row()]);
    }
    std::reverse(found_.begin(), found_.end());
    if (found_.size() > most_depth_) found_.resize(most_depth_);
    Take(goes_on, from_ns, end_ns);
  }
  void EndThread() { open_.clear(); }

 private:
  void Take(bool goes_on, int64_t from_ns, int64_t end_ns) {
    size_t same = 0;
    while (goes_on && same < open_.size() && same < found_.size() &&
           table_.name[open_[same]] == found_[same]) {
      ++same;
    }
    for (size_t ended = same; goes_on && ended < open_.size(); ++ended) {
      table_.end_ns[open_[ended]] = from_ns;
    }
    open_.resize(same);
    for (; same < found_.size(); ++same) {
      open_.push_back(table_.name.size());
      table_.Add(from_ns, end_ns, found_[same]);
    }
    for (const size_t row : open_) table_.end_ns[row] = std::max(table_.end_ns[row], end_ns);
  }

  DerivedTable& table_;
  size_t most_depth_;
  std::vector<StringId> found_;  // outermost first, as are
  std::vector<size_t> open_;     // rows of the table
};

}  // namespace batchlight::timeline
