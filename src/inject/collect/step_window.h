// --steps A:B and --every N --window M: collects some steps of a long run only. Steps are counted
// in the program: by the end of an optimizer's step, or of the NVTX range that --step-range names.
#pragma once

#include <cstdint>

namespace batchlight::inject {

// True if the session records windows of steps: all that phases and ranges look at when it does
// not.
extern bool g_step_windows;

// Reads the session's options (ControlPage::extra).
void ReadStepWindows();

// A step has ended in this process: starts or ends a window. The first process that counts a step
// is the one that decides, for all. Not from within a Guard.
void StepEnded();

// Phases of the training loop (phases.def), begun and ended on the calling thread: the outermost
// optimizer step is a step, unless ranges are.
void StepPhaseBegins(uint32_t phase);
void StepPhaseEnds();

// What to do when a window begins or ends, in this process, before its first event is missed.
extern void (*g_on_window)();

}  // namespace batchlight::inject
