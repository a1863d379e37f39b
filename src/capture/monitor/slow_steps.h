// When a job has become slow enough that some steps are worth recording by themselves.
#pragma once

#include <cstdint>
#include <optional>

#include "capture/monitor/step_reader.h"
#include "format/step_board.h"

namespace batchlight::capture {

class SlowSteps {
 public:
  static constexpr uint64_t kWindowSteps = 5;
  static constexpr int kSlowInARow = 3;
  static constexpr size_t kKnownSteps = 50;  // before them nothing is unusual
  static constexpr int64_t kPauseNs = int64_t{3600} * 1'000'000'000;

  // `factor`: of the median of the last steps; 0: never.
  explicit SlowSteps(double factor) : factor_(factor) {}

  // The window to ask for, if the last three steps of the process were slow, and at `now_ns` the
  // last one lies an hour back. It begins late enough for all tools of the job to hear of it.
  std::optional<format::StepRequest> Look(const ProcessSteps& process, int64_t now_ns);

 private:
  double factor_;
  std::optional<int64_t> asked_ns_;
};

// So many steps ahead of `step_ns` each a request must lie for every tool to see it in time.
uint64_t StepsUntilHeard(int64_t step_ns);

}  // namespace batchlight::capture
