// Steps without detail: --control-steps and --overhead. In such a step this process records where
// the step and its phases begin and end, and the program's own ranges; no operators, no modules and
// nothing of CUDA. The program runs the same code in either: nothing of it is wrapped or unwrapped.
#pragma once

#include <atomic>

#include "inject/rt/control.h"

namespace batchlight::inject {

// This step of the process has no detail.
extern std::atomic<bool> g_plain_step;
inline bool IsPlainStep() { return g_plain_step.load(std::memory_order_relaxed); }

// 1 while the wrappers of modules have nothing to do: the bridge reads this byte before anything
// else.
extern std::atomic<char> g_modules_pass;

// Reads the session's options (ControlPage::extra). True if some steps go without detail.
bool ReadStepDetail();

// An iteration of the training loop has ended, on the thread that trains: goes on with or without
// detail. Not from within a Guard.
void IterationEnded();

}  // namespace batchlight::inject
