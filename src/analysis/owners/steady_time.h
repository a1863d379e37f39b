// What the calls of one module or operator took in the steady steps: times that the step waited
// for (critical_time.h), and from them the numbers of one step.
#pragma once

#include <cstdint>

#include "analysis/steps/step_clock.h"

namespace batchlight {

struct SteadyTime {
  uint64_t calls = 0;
  int64_t total_ns = 0;
  int64_t self_ns = 0;
  int64_t beside_ns = 0;  // self, on threads that the step does not wait for
  int64_t gpu_ns = 0;

  // `Row`: ModuleRow or OperatorRow.
  template <typename Row>
  void SetPerStep(const StepClock& clock, Row& row) const {
    row.calls_per_step = clock.PerStep(double(calls));
    row.total_per_step_ns = clock.PerStep(double(total_ns));
    row.self_per_step_ns = clock.PerStep(double(self_ns));
    row.beside_per_step_ns = clock.PerStep(double(beside_ns));
    row.gpu_per_step_ns = clock.PerStep(double(gpu_ns));
  }
};

}  // namespace batchlight
