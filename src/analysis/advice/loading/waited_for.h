// What the loop waits for where it waits for data: which worker, which file.
#pragma once

#include <string>
#include <vector>

#include "analysis/run/run_measures.h"
#include "analysis/steps/steps.h"

namespace batchlight::advice {

// " Of what they make meanwhile, 80 % is the worker's with the PID 1234." "": none stands out.
std::string WorkerSentence(const RunMeasures& run, const ProcessSteps& main,
                           const std::vector<ProcessId>& workers);

// " Reading `/data/train.h5` takes 12 ms of a step, the slowest read 80 ms." (-t osrt), of what
// loads: workers, or the training process where there are none. "": reading takes little of
// `waited_ns` of a step, or was not recorded. " 64 files are opened for a step, and 1.2 KiB read of
// each.": where these are small.
std::string FileSentence(const RunMeasures& run, const ProcessSteps& main,
                         const std::vector<ProcessId>& workers, double waited_ns);

// What to do first where each step opens many small files; "": it does not, or that was not
// recorded.
std::string SmallFilesAction(const RunMeasures& run, const ProcessSteps& main,
                             const std::vector<ProcessId>& workers);

}  // namespace batchlight::advice
