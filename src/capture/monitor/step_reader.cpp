#include "capture/monitor/step_reader.h"

#include <algorithm>
#include <cmath>

namespace batchlight::capture {

int64_t ProcessSteps::Quantile(double share) const {
  if (recent_ns.empty()) return 0;
  std::vector<int64_t> sorted = recent_ns;
  const auto place = static_cast<size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  const auto at = sorted.begin() + static_cast<ptrdiff_t>(std::max<size_t>(place, 1) - 1);
  std::nth_element(sorted.begin(), at, sorted.end());
  return *at;
}

void StepReader::Read() {
  for (size_t i = 0; i < processes_.size(); ++i) ReadSlot(board_.slots[i], processes_[i]);
}

void StepReader::ReadSlot(const format::BoardSlot& slot, ProcessSteps& process) {
  const int64_t attach_ns = slot.attach_ns.load(std::memory_order_acquire);
  if (attach_ns == 0) return;
  const uint32_t pid = slot.pid.load(std::memory_order_relaxed);
  if (pid != process.pid || attach_ns != process.attach_ns) {
    process = {};
    process.pid = pid;
    process.attach_ns = attach_ns;
    process.rank = slot.rank.load(std::memory_order_relaxed);
  }
  const uint64_t steps = slot.steps.load(std::memory_order_acquire);
  if (steps <= process.step || steps > format::kLastRequestableStep) return;
  uint64_t step = process.step + 1;
  if (steps - step >= format::kBoardEntries) {
    process.unread_steps += steps - step - format::kBoardEntries + 1;
    step = steps - format::kBoardEntries + 1;
  }
  for (; step <= steps; ++step) {
    const format::BoardEntry& entry = slot.entries[(step - 1) % format::kBoardEntries];
    const uint64_t before = entry.step.load(std::memory_order_acquire);
    const int64_t end_ns = entry.end_ns.load(std::memory_order_relaxed);
    const auto duration_ns =
        static_cast<int64_t>(entry.duration_ns.load(std::memory_order_relaxed) & INT64_MAX);
    std::array<int64_t, format::kBoardPhaseCount> phase_us;
    for (size_t i = 0; i < phase_us.size(); ++i) {
      phase_us[i] = entry.phase_us[i].load(std::memory_order_relaxed);
    }
    std::atomic_thread_fence(std::memory_order_acquire);
    if (before != step || entry.step.load(std::memory_order_relaxed) != step) {
      ++process.unread_steps;
      continue;
    }
    process.end_ns = end_ns;
    for (size_t i = 0; i < phase_us.size(); ++i) process.phase_us[i] += phase_us[i];
    if (duration_ns == 0 || duration_ns > INT64_MAX - process.total_ns) continue;
    ++process.timed_steps;
    process.total_ns += duration_ns;
    process.recent_ns.push_back(duration_ns);
  }
  process.step = steps;
  if (process.recent_ns.size() > kRecentSteps) {
    process.recent_ns.erase(process.recent_ns.begin(),
                            process.recent_ns.end() - ptrdiff_t{kRecentSteps});
  }
}

std::vector<const ProcessSteps*> StepReader::Processes() const {
  std::vector<const ProcessSteps*> all;
  for (const ProcessSteps& process : processes_) {
    if (process.step != 0) all.push_back(&process);
  }
  return all;
}

}  // namespace batchlight::capture
