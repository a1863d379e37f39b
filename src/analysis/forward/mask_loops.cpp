#include "analysis/forward/mask_loops.h"

#include <algorithm>
#include <utility>

#include "analysis/numbers/closed_end.h"

namespace batchlight {
namespace {

// A loop has as many rounds, and nearly each of them looks for rows.
constexpr size_t kMostLooks = 64;
constexpr size_t kLeastRounds = 16;
constexpr double kLookingRounds = 0.9;
// Operators and calls of modules in one round, at most.
constexpr size_t kLongestRound = 64;
// Where a round differs (an empty group, a branch) so many of its parts must agree for each that
// does not.
constexpr int64_t kAgreeing = 3;

struct Rounds {
  size_t begin = 0;  // parts [begin, end)
  size_t end = 0;
  size_t length = 0;  // of one
  int64_t score = 0;

  size_t count() const { return length == 0 ? 0 : (end - begin) / length; }
};

// Where parts are most often the same as those `length` before them.
template <typename Part>
Rounds RoundsOfLength(std::span<const Part> parts, size_t length) {
  Rounds best{.length = length};
  int64_t score = 0;
  size_t begin = 0;
  for (size_t i = length; i < parts.size(); ++i) {
    if (score <= 0) {
      score = 0;
      begin = i - length;
    }
    score += parts[i].name == parts[i - length].name ? 1 : -kAgreeing;
    if (score <= best.score) continue;
    best.begin = begin;
    best.end = i + 1;
    best.score = score;
  }
  return best;
}

constexpr uint64_t kOfModule = uint64_t{1} << 32;

}  // namespace

MaskLoops::MaskLoops(const Store& store, ThreadId thread) : store_(store), calls_(1) {
  const ThreadSpans::Rows rows = ThreadSpans(store.module_calls.thread).Of(thread);
  module_ = rows.begin;
  module_end_ = rows.end;
}

void MaskLoops::Take(const OperatorStretch& one, StringId name, bool by_mask) {
  Enter(one.span.start_ns);
  LeaveUntil(one.span.start_ns);
  calls_.back().parts.push_back({.name = name.value, .by_mask = by_mask, .stretch = one});
}

void MaskLoops::Enter(int64_t now_ns) {
  const ModuleCallsTable& modules = store_.module_calls;
  for (; module_ < module_end_ && modules.start_ns[module_] <= now_ns; ++module_) {
    const int64_t start_ns = modules.start_ns[module_];
    LeaveUntil(start_ns);
    calls_.push_back({.end_ns = ClosedEnd(store_, start_ns, modules.end_ns[module_]),
                      .name = kOfModule | modules.path[module_].value,
                      .start_ns = start_ns,
                      .parts = {}});
  }
}

void MaskLoops::LeaveUntil(int64_t now_ns) {
  while (calls_.size() > 1 && calls_.back().end_ns <= now_ns) Leave();
}

void MaskLoops::Leave() {
  const Call call = std::move(calls_.back());
  calls_.pop_back();
  LookFor(call.parts, kMostLooks);
  if (call.parts.empty()) return;  // of another step, or of a backward
  const auto by_mask = [](const Part& part) { return part.by_mask; };
  calls_.back().parts.push_back(
      {.name = call.name,
       .by_mask = std::any_of(call.parts.begin(), call.parts.end(), by_mask),
       .stretch = {.begin = call.parts.front().stretch.begin,
                   .end = call.parts.back().stretch.end,
                   .span = {call.start_ns, call.end_ns}}});
}

void MaskLoops::End() {
  while (calls_.size() > 1) Leave();
  LookFor(calls_.front().parts, kMostLooks);
  calls_.front().parts.clear();
}

size_t MaskLoops::LookFor(std::span<const Part> parts, size_t looks) {
  const auto by_mask = [](const Part& part) { return part.by_mask; };
  const auto looking = std::count_if(parts.begin(), parts.end(), by_mask);
  if (looks == 0 || size_t(looking) < kLeastRounds) return looks;
  Rounds best;
  for (size_t length = 1; length <= std::min(kLongestRound, parts.size() / kLeastRounds);
       ++length) {
    const Rounds rounds = RoundsOfLength(parts, length);
    if (rounds.score > best.score) best = rounds;
  }
  --looks;
  if (best.count() < kLeastRounds) return looks;
  const std::span<const Part> loop = parts.subspan(best.begin, best.end - best.begin);
  const auto in_loop = std::count_if(loop.begin(), loop.end(), by_mask);
  if (double(in_loop) >= kLookingRounds * double(best.count())) {
    Keep(
        {.stretch = {.begin = loop.front().stretch.begin,
                     .end = loop.back().stretch.end,
                     .span = {loop.front().stretch.span.start_ns, loop.back().stretch.span.end_ns}},
         .rounds = best.count()});
  }
  return LookFor(parts.subspan(best.end), LookFor(parts.first(best.begin), looks));
}

void MaskLoops::Keep(const MaskLoop& found) {
  std::erase_if(found_, [&](const MaskLoop& other) {
    return other.stretch.begin >= found.stretch.begin && other.stretch.end <= found.stretch.end;
  });
  const auto behind = std::partition_point(
      found_.begin(), found_.end(),
      [&](const MaskLoop& other) { return other.stretch.begin < found.stretch.begin; });
  found_.insert(behind, found);
}

}  // namespace batchlight
