// Which counters are read over steps: the lines `counters.` of ControlPage::extra. The tool has
// planned them: the metrics of a line fit into one pass of the hardware.
//
//   counters.pass=SET=METRIC,METRIC,...   in the order in which they take turns
//   counters.first=N                      the first iteration to measure, from 1
//   counters.steps=N                      how many iterations each pass measures
//   counters.share=N                      time for switching, in parts per million of the run; 0:
//   one
//                                         round only
//   counters.kernels=N                    room for so many kernels, each measured by itself; 0:
//                                         steps
//   counters.replay=WORD|WORD             of a step the kernels alone whose names have such a word,
//                                         each run again for every pass: there is one line `pass`,
//                                         of as many passes of the hardware as it takes
//   counters.rank=N                       only in the process of this rank, where a launcher says
//   it
#pragma once

#include <cstddef>
#include <cstdint>

namespace batchlight::inject::cupti {

struct CounterPass {
  const char* set;           // "essentials"
  const char* const* names;  // of metrics
  size_t count;
};

struct CounterPlan {
  static constexpr size_t kMostPasses = 64;
  static constexpr size_t kMostNames = 512;

  CounterPass passes[kMostPasses];
  size_t count = 0;
  uint64_t first_iteration = 1;
  uint64_t steps = 1;
  uint64_t share_ppm = 0;
  uint64_t kernel_room = 0;
  const char* replay = nullptr;  // words; nullptr: nothing is run again
  bool has_rank = false;         // `rank` alone reads them
  uint64_t rank = 0;
};

// Reads the lines into a plan that lives as long as the process; nullptr: there is none, or no
// memory.
const CounterPlan* ReadCounterPlan(const char* extra);

}  // namespace batchlight::inject::cupti
