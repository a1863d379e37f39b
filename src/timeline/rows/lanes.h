// Gives each event of a track a row in which nothing else is at its time. Events come by start,
// the longer of equal starts first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace batchlight::timeline {

// For calls of a thread: one row below the call that is around it. What begins inside a call and
// ends after it (two NVTX domains) goes to the first row that is free.
class NestedLanes {
 public:
  size_t Place(int64_t start_ns, int64_t end_ns);

 private:
  size_t FirstFree(int64_t start_ns) const;

  std::vector<int64_t> ends_;  // of the last event of each row
  size_t open_ = 0;            // rows up to the last one that is busy now
};

// For work that overlaps without nesting: the first row that is free.
class FreeLanes {
 public:
  size_t Place(int64_t start_ns, int64_t end_ns);

 private:
  using End = std::pair<int64_t, size_t>;  // of a row that is busy
  std::priority_queue<End, std::vector<End>, std::greater<>> busy_;
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> free_;
  size_t lanes_ = 0;
};

}  // namespace batchlight::timeline
