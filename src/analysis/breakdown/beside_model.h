// What the loop's own work costs the GPU: work outside of forward, backward, optimizer and loading
// (averages of weights on the CPU, metrics, targets, buffers of samples). Such a function holds the
// GPU back by several means at once: it waits for what was launched before, copies, computes on the
// CPU, or launches many small kernels, and the GPU has nothing else to do until the loop goes on.
//
//   idle    the GPU has run dry, until the next work arrives: as far as the loop is in the function
//   copies  work that is the function's own and that goes or moves with it: copies, and kernels
//           that are about as short as their launch. Larger kernels have to run somewhere.
//
// Where the loop is, samples of Python say (loop_owners.h): at the edges of a function they may be
// wrong by half the time from one look to the next.
#pragma once

#include <array>
#include <cstdint>

#include "analysis/gpu/gpu_breakdown.h"
#include "analysis/lines/code_samples.h"
#include "analysis/steps/step_inputs.h"
#include "analysis/steps/steps.h"

namespace batchlight {

// Of a mean steady step, ns, but for `function`.
struct HoldingFunction {
  // The outermost that does not run the model too, or the loop itself where it mostly computes on
  // the CPU. ns: of all steps.
  SampledFunction function;
  SampledTime inside;   // what it is in while the GPU does nothing else, by innermost functions
  double cpu_ns = 0;    // the loop is in it, waits included
  double awake_ns = 0;  // of that, it ran or was kept from it (LookTimes::awake_ns)
  double ready_ns = 0;  // of that, for want of a processor
  std::array<double, kGpuPartCount> idle_ns{};
  double copy_ns = 0;    // its copies, while the GPU does nothing else
  double launch_ns = 0;  // its short kernels, the same
  // Copies from and to pageable memory, a part of copy_ns or hidden.
  double pageable_copies = 0;
  double pageable_bytes = 0;
  double pageable_ns = 0;
  double waits = 0;  // calls that wait for the GPU
  double wait_ns = 0;

  double AllIdleNs() const;
  double LaunchIdleNs() const;  // of these before launches (IsIdleBeforeLaunch)
  double HeldNs() const { return AllIdleNs() + copy_ns + launch_ns; }
};

struct BesideModel {
  // The GPU waits for launches while the loop is in no phase and in no range of the user's, and
  // runs no operators that autograd follows.
  double launch_idle_ns = 0;
  // The function that holds the GPU back for the longest; cpu_ns 0: none is known.
  HoldingFunction most;
  // The loop waits for the GPU elsewhere: so many calls, and so long.
  double other_waits = 0;
  double other_wait_ns = 0;
};

// Of the steady steps of the main process and its GPU; nothing where the loop does next to nothing
// beside the model.
BesideModel FindBesideModel(const StepInputs& inputs, const ProcessSteps& steps,
                            const CodeSamples& samples);

}  // namespace batchlight
