// --steps A:B, --every N --window M, and the windows that --monitor is asked for: collects only
// some steps of a long run. Steps are counted in each process: each ends with an optimizer's step,
// or with the NVTX range that --step-range names.
#pragma once

#include <cstdint>

namespace batchlight::inject {

// Reads the session's options (ControlPage::extra). True if steps end with optimizers' steps.
bool ReadStepWindows();

// A step has ended in this process: begins or ends a window if one is due. The first process to
// count a step decides for all. Not from within a Guard.
void StepEnded();

// Called when this process begins or ends a window, or goes on without detail, before the next
// event.
extern void (*g_on_window)();

// --monitor: called once, before the first window of this process, on the thread that steps. What
// costs something merely by being there waits for it.
extern void (*g_before_window)();

}  // namespace batchlight::inject
