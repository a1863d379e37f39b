// Which updates of the weights end an iteration. With one optimizer each does. With several (a GAN,
// actor and critic, five critic steps to one of the generator) the pattern that repeats is the
// iteration.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "store/ids.h"

namespace batchlight {

// One update: an optimizer's step, or several that follow the same backward.
struct Update {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  StringId name;        // of its last optimizer: "Optimizer.step#Adam.step#2" is the second Adam
  uint64_t owner = 0;   // the optimizers, by object where that was recorded
  uint64_t family = 0;  // the optimizers, by class
  uint64_t work = 0;    // what was computed since the update before, as a hash; 0: not known
  // Where the loops begin that its optimizer steps in, outermost first, with a blank between two:
  // "train.py:40 train.py:52". Empty: not known.
  std::string_view loops;
};

struct UpdatePattern {
  // What one iteration consists of, where it is more than one update: "Adam.step", 5 times.
  struct Part {
    StringId name;
    size_t count = 0;
  };

  std::vector<size_t> ends;  // the updates that end an iteration, ascending
  std::vector<bool> fresh;   // of each end: its iteration is the first with new optimizers, so that
                             // what lies before it belongs to no iteration
  std::vector<Part> parts;   // of the most frequent iteration; empty: every update is one
};

// Updates of several optimizers that do the same work (layers trained in turn) are an iteration
// each. Models trained one after the other, each with its own optimizers, are told apart by these.
// Where all optimizers step in the same loop, which runs once for each step of the one that steps
// most often (an actor in every second iteration only), that one's steps are the iterations.
UpdatePattern FindUpdatePattern(const std::vector<Update>& updates);

// Where another model begins: the first update of each but the first.
std::vector<size_t> ModelStarts(const std::vector<Update>& updates);

}  // namespace batchlight
