// One-line descriptions of a run for headings, the same in page, picture and snippet.
#pragma once

#include <string>

#include "analysis/overview/run_overview.h"

namespace batchlight {

// "train.py": the script of a Python program, else the program's file name.
std::string RunTitle(const SessionInfo& session);

// "AMD EPYC 9654, 2 processors, 24 GiB memory, PyTorch 2.3.0": what the numbers depend on, as far
// as it is known.
std::string MachineLine(const SessionInfo& session);

// "A step takes 24.7 ms (median of 394 steps; nine of ten between 23.4 ms and 26.2 ms)."; without
// steps the reason why there are none.
std::string StepSentence(const StepSet& steps);

// "Steps are taken from the NVTX range \"step\"."; without steps the reason why there are none.
std::string StepsFoundSentence(const StepSet& steps);

}  // namespace batchlight
