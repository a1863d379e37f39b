// A made-up run that goes on, as it can be read at any moment: all of it, or what is new by itself.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "analysis/testing/store_builder.h"

namespace batchlight::testing {

enum class GrowingKind : uint8_t {
  kOneProcess,
  kTwoRanks,
  kLateRank,     // told in what is not read again
  kLateFact,     // likewise
  kNamedByTens,  // ranges "step 0", "step 10" around steps
  kNamedByOnes,
};

class GrowingRun {
 public:
  // Steps of an optimizer with nested calls of two threads and a GPU's kernels, random in number
  // and length.
  GrowingRun(uint32_t seed, size_t steps, GrowingKind kind = GrowingKind::kOneProcess);

  // What is known at a moment: calls that go on are open, kernels that run are not told yet. With
  // `since_ns` without what ended before.
  Store Read(int64_t seen_ns, int64_t since_ns = INT64_MIN) const;
  // When a step of it is over.
  int64_t EndOf(size_t step) const { return step_ends_ns_[step]; }

 private:
  struct Event {
    int64_t start_ns;
    int64_t end_ns;
    bool is_work;  // of the GPU: told once it is over
    std::function<void(StoreBuilder& build, int64_t end_ns)> add;
  };
  void Add(int64_t start_ns, int64_t end_ns,
           std::function<void(StoreBuilder& build, int64_t end_ns)> add, bool is_work = false) {
    events_.push_back({start_ns, end_ns, is_work, std::move(add)});
  }
  void AddForward(uint32_t& random, int64_t& now_ns);
  void AddStep(uint32_t& random, int64_t& now_ns);

  const GrowingKind kind_;
  std::vector<Event> events_;
  std::vector<int64_t> step_ends_ns_;
  int64_t gpu_free_ns_ = 0;
};

}  // namespace batchlight::testing
