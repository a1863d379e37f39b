#include "analysis/forward/operator_loops.h"

#include <algorithm>
#include <utility>

namespace batchlight {
namespace {

// A loop has as many operators that compute, as many of them of one name, and half of them are as
// short.
constexpr uint64_t kLeastInLoop = 150;
constexpr uint64_t kLeastOfAName = 100;
constexpr int64_t kShortNs = 40'000;
// For each call of a module so many of them, or each module is called so often: the layers of a
// deep model are called one after the other, too, but each once.
constexpr uint64_t kLeastInModule = 8;
constexpr uint64_t kLeastRoundsOfModule = 8;
// No part of a loop: an operator that works, a pause. Either may be the processor taken away, so
// that it takes several in a row to end a loop.
constexpr int64_t kLongNs = 1'000'000;
constexpr int kLongInARow = 4;

int64_t Length(const TimeSpan& span) { return span.end_ns - span.start_ns; }

}  // namespace

void OperatorLoops::Take(const OperatorStretch& one, StringId name, bool computes,
                         std::span<const StringId> modules) {
  TakeModules(modules);
  if (Length(one.span) > kLongNs) {
    stretch_ended_ = true;
    if (++long_in_a_row_ >= kLongInARow) EndLoop();
    return;
  }
  long_in_a_row_ = 0;
  if (stretch_ended_ || one.span.start_ns - loop_.stretches.back().span.end_ns > kLongNs) {
    loop_.stretches.push_back(one);
  } else {
    loop_.stretches.back().end = one.end;
    loop_.stretches.back().span.end_ns = one.span.end_ns;
  }
  stretch_ended_ = false;
  if (!computes) return;
  ++loop_.operators;
  short_ += Length(one.span) <= kShortNs;
  most_ = std::max(most_, ++names_[name]);
}

void OperatorLoops::Pass(std::span<const StringId> modules) {
  TakeModules(modules);
  stretch_ended_ = true;
}

// A module that is called for the first time is another round of no loop. Of what calls modules
// before a loop, and of the model behind one, as many operators would be said to be the loop's as
// eight for each call leave room for.
void OperatorLoops::TakeModules(std::span<const StringId> modules) {
  bool is_new = false;
  for (const StringId module : modules) is_new |= known_modules_.insert(module).second;
  const bool too_few = loop_.operators < kLeastInModule * (module_calls_ + modules.size());
  if (is_new && (too_few || loop_.operators >= kLeastInLoop)) EndLoop();
  if (loop_.operators == 0) return;
  module_calls_ += modules.size();
  modules_.insert(modules.begin(), modules.end());
}

void OperatorLoops::End() {
  EndLoop();
  if (!known_modules_.empty()) known_modules_.clear();  // which looks at all buckets
}

void OperatorLoops::EndLoop() {
  stretch_ended_ = true;
  long_in_a_row_ = 0;
  if (loop_.stretches.empty()) return;
  const bool is_loop = loop_.operators >= kLeastInModule * module_calls_ ||
                       module_calls_ >= kLeastRoundsOfModule * modules_.size();
  if (is_loop && loop_.operators >= kLeastInLoop && most_ >= kLeastOfAName &&
      2 * short_ >= loop_.operators) {
    found_.push_back(std::exchange(loop_, {}));
  }
  loop_ = {};
  short_ = most_ = module_calls_ = 0;
  names_.clear();
  modules_.clear();
}

}  // namespace batchlight
