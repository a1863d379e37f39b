#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "cli/flags/profile_options.h"

namespace batchlight::cli {

// Plans what --step-counters asks for with the CUPTI and the GPU of this machine, and tells the
// program. Counters are a part of a recording only: where they cannot be had, one line for `say`
// tells why, the recording has it as a reason, and all else is recorded.
Status PlanCounters(const CounterOptions& counters, capture::SessionOptions& session,
                    std::vector<std::string>& say);

// Tells the program which steps --stalls samples. Nothing needs to be planned.
void ChooseStalls(const StallOptions& stalls, const CounterOptions& counters,
                  capture::SessionOptions& session);

// What --gpu-metrics-set names, for who samples. Error (kUsage): there is no such set.
Status ChooseGpuMetrics(const ProfileOptions& options, capture::SessionOptions& session);

// `help` as --gpu-metrics-devices or --gpu-metrics-set: prints what there is. False: nobody asked.
bool PrintGpuMetricsHelp(const ParsedFlags& flags);

}  // namespace batchlight::cli
