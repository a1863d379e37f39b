#include "inject/counting/common_start.h"

#include "inject/rt/control.h"
#include "inject/rt/job_rank.h"
#include "inject/rt/process.h"

namespace batchlight::inject::cupti {
namespace {

// Processors run ahead of their GPUs, some more than others: what is agreed on lies so many
// iterations ahead, and who hears of it late may still begin within as many as kLate.
constexpr uint32_t kAhead = 4;
constexpr uint32_t kLate = 8;
// The one that decides has ended, or cannot measure any more: after so many the next one does.
constexpr uint32_t kPatience = 256;

}  // namespace

bool CommonStart::Begins(Agreed& agreed, uint64_t ended, bool is_able, bool is_wanted) {
  static const bool is_one_of_several = IsOneOfSeveral();
  if (!is_one_of_several) return is_able && is_wanted;
  if (!is_able) return false;
  const uint32_t from = agreed.load(std::memory_order_relaxed);
  const bool is_due = from != 0 && from != begun_ && ended >= from && ended < from + kLate;
  if (is_due) {
    begun_ = from;
    waited_ = 0;
    return true;
  }
  if (!is_wanted || (from != 0 && ended < from)) return false;
  std::atomic<uint32_t>& decider = Control()->measure_pid;
  const uint32_t own = g_process.pid;
  uint32_t nobody = 0;
  if (++waited_ > kPatience) decider.store(own, std::memory_order_relaxed);
  if (decider.load(std::memory_order_relaxed) == own ||
      decider.compare_exchange_strong(nobody, own)) {
    agreed.store(static_cast<uint32_t>(ended) + kAhead, std::memory_order_relaxed);
  }
  return false;
}

}  // namespace batchlight::inject::cupti
