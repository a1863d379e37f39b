// One-line descriptions of a run for headings, the same in page, picture and snippet.
#pragma once

#include <string>
#include <string_view>

#include "analysis/overview/run_overview.h"
#include "analysis/run/step_rate.h"

namespace batchlight {

// "train.py": the script of a Python program, else the program's file name.
std::string RunTitle(const SessionInfo& session);

// "AMD EPYC 9654, 2 processors, 24 GiB memory, PyTorch 2.3.0": what the numbers depend on, as far
// as it is known.
std::string MachineLine(const SessionInfo& session);

// "A step takes 24.7 ms (median of 394 steps; nine of ten between 23.4 ms and 26.2 ms): 40.5
// steps/s. The mean is 24.9 ms."; without steps the reason why there are none.
std::string StepSentence(const RunOverview& overview);

// "rank 0"; "pid 123" where ranks are not known.
std::string NameOfRank(const RunOverview& overview, const ProcessSteps& process);
// The same of the first: whose steps the figures about a step are of, where several processes
// train; "" where one does.
std::string MainRank(const RunOverview& overview);
// "mean of 2 ranks": what the figures of lists over all of them are; "" where one trains.
std::string MeanOfRanks(const RunOverview& overview);
// "from 41 of 600 steps": where some were recorded without detail; else "".
std::string FromSteps(const RunOverview& overview);
// Both, for what is of a step: "rank 0, from 41 of 600 steps", "mean of 2 ranks, from ...".
std::string StepsOfMain(const RunOverview& overview);
std::string StepsOfRanks(const RunOverview& overview);
// "all ranks": of what is summed up over them in the whole run; "" where one trains.
std::string SumOfRanks(const RunOverview& overview);
// The title with one of these behind a comma, where there is something to say.
std::string TitleWith(std::string_view title, const std::string& whose);
// "99.0 steps/s", below one a second "12.0 steps/min"; "" for none.
std::string RateText(double per_second);

// "Steps are taken from the NVTX range \"step\"."; without steps the reason why there are none.
std::string StepsFoundSentence(const StepSet& steps);

}  // namespace batchlight
