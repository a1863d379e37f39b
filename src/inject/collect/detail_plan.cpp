#include "inject/collect/detail_plan.h"

namespace batchlight::inject {
namespace {

// SplitMix64: every number has its own random one.
uint64_t Scramble(uint64_t number) {
  number += 0x9e3779b97f4a7c15;
  number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9;
  number = (number ^ number >> 27) * 0x94d049bb133111eb;
  return number ^ number >> 31;
}

// Whether the step is the chosen one of its group. `spare`: places at the group's beginning that
// are never chosen.
bool IsChosen(uint64_t number, uint32_t group, uint32_t spare) {
  const uint64_t place = number % group;
  return place == spare + Scramble(number / group) % (group - spare);
}

}  // namespace

bool DetailPlan::HasDetail(uint64_t number) const {
  if (options_.budget <= 0) {
    // Never two in a row: each is compared with its neighbours.
    const uint32_t spare = options_.every > 1 ? 1 : 0;
    return options_.every == 0 || !IsChosen(number, options_.every, spare);
  }
  const uint32_t interval =
      next_block_ != 0 && number / kBlock >= next_block_ ? next_interval_ : interval_;
  if (interval > 1) return IsChosen(number, interval, 0);
  // Everything fits: some are left out all the same, to go on measuring.
  const uint32_t every = options_.every > 1 ? options_.every : uint32_t{kBlock / 2};
  return !IsChosen(number, every, 1);
}

void DetailPlan::Took(uint64_t number, bool detail, uint64_t duration) {
  if (options_.budget <= 0) return;
  BeginBlock(number);
  if (detail) cost_ < 0 ? void(++unpriced_) : void(spent_ += cost_);
  Compare(detail, static_cast<double>(duration));
  if (number % kBlock == kBlock / 2) Plan(number / kBlock + 1);
}

void DetailPlan::BeginBlock(uint64_t number) {
  if (next_block_ == 0 || number / kBlock < next_block_) return;
  interval_ = next_interval_;
  next_block_ = 0;
}

// Each step of the kind that is rarer with the last ones of the other: a loop that gets slower does
// not look as if detail cost more.
void DetailPlan::Compare(bool detail, double duration) {
  constexpr size_t kEnough = 5;
  const bool rarer = detail == (interval_ > 1);
  if (rarer && duration > 0) {
    if (detail && without_.count >= kEnough) costs_.Add(duration / without_.Median() - 1);
    if (!detail && with_.count >= kEnough) costs_.Add(with_.Median() / duration - 1);
  }
  detail ? with_.Add(duration) : without_.Add(duration);
}

void DetailPlan::Plan(uint64_t next_block) {
  constexpr size_t kEnough = 3;
  if (costs_.count < kEnough) return;
  const double cost = costs_.Median() > 0 ? costs_.Median() : 0;
  if (cost_ < 0) spent_ = cost * unpriced_;
  cost_ = cost;
  // By the end of as many steps again, what was spent is to be within the budget.
  const double steps = static_cast<double>(next_block * kBlock);
  constexpr double kAim = 0.97;  // of the budget, as costs are known with some noise
  const double left = (2 * steps * options_.budget * kAim - spent_) / steps;
  uint32_t interval = 1;
  // One more than fits if it does not come out even: the mean stays below the budget.
  while (interval < kLongest && cost > left * interval) ++interval;
  next_interval_ = interval;
  next_block_ = next_block;
}

uint32_t DetailPlan::published() const {
  return next_block_ == 0 ? 0 : static_cast<uint32_t>(next_block_ << 16) | next_interval_;
}

void DetailPlan::Adopt(uint32_t published, uint64_t number) {
  if (published == 0 || options_.budget <= 0) return;
  BeginBlock(number);
  const uint64_t block = number / kBlock;
  // Of the block's number the word has the low half. It is at most one ahead of us, or long past.
  const uint64_t next = (block & ~uint64_t{0xffff}) | published >> 16;
  const uint32_t interval = published & 0xffff;
  if (interval == 0 || interval > kLongest || (next != block + 1 && next != block)) return;
  next_interval_ = interval;
  next_block_ = next;
}

template <size_t kKept>
double DetailPlan::Recent<kKept>::Median() const {
  double sorted[kKept] = {};
  const size_t kept = count < kKept ? count : kKept;
  for (size_t i = 0; i < kept; ++i) {
    size_t place = i;
    for (; place > 0 && sorted[place - 1] > numbers[i]; --place) sorted[place] = sorted[place - 1];
    sorted[place] = numbers[i];
  }
  return sorted[kept / 2];
}

}  // namespace batchlight::inject
