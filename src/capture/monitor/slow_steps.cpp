#include "capture/monitor/slow_steps.h"

#include <algorithm>

namespace batchlight::capture {

uint64_t StepsUntilHeard(int64_t step_ns) {
  constexpr int64_t kHeardNs = 3'000'000'000;  // tools look once a second, at files that may lag
  return static_cast<uint64_t>(kHeardNs / std::max<int64_t>(step_ns, 1'000'000)) + 2;
}

std::optional<format::StepRequest> SlowSteps::Look(const ProcessSteps& process, int64_t now_ns) {
  const auto& recent = process.recent_ns;
  if (factor_ <= 0 || recent.size() < kKnownSteps) return std::nullopt;
  if (asked_ns_ && now_ns - *asked_ns_ < kPauseNs) return std::nullopt;
  const int64_t median = process.Quantile(0.5);
  const auto is_slow = [&](int64_t ns) {
    return static_cast<double>(ns) > factor_ * static_cast<double>(median);
  };
  if (!std::all_of(recent.end() - kSlowInARow, recent.end(), is_slow)) return std::nullopt;
  asked_ns_ = now_ns;
  return format::StepRequest{.first = process.step + StepsUntilHeard(median),
                             .count = kWindowSteps};
}

}  // namespace batchlight::capture
