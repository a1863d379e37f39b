// --steps A:B and --every N --window M: collects only some steps of a long run. Steps are counted
// in the program: each ends with an optimizer's step, or with the NVTX range that --step-range
// names.
#pragma once

#include <cstdint>

namespace batchlight::inject {

// True if the session records windows of steps. If it does not, phases and ranges look at nothing
// else.
extern bool g_step_windows;

// Reads the session's options (ControlPage::extra).
void ReadStepWindows();

// A step has ended in this process: begins or ends a window if one is due. The first process to
// count a step decides for all. Not from within a Guard.
void StepEnded();

// A phase of the training loop (phases.def) begins or ends on the calling thread. The outermost
// optimizer step counts as a step unless --step-range names a range.
void StepPhaseBegins(uint32_t phase);
void StepPhaseEnds();

// Called when this process begins or ends a window, before the next event.
extern void (*g_on_window)();

}  // namespace batchlight::inject
