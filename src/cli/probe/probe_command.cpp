// batchlight probe storage|loader|gpu: what a machine can do, measured without a recording. A new
// probe needs an Add function of its own and a line in RegisterProbe.
#include "cli/flags/command.h"

namespace batchlight::cli {

void AddProbeStorage(const Command& probe, Outcome& outcome);  // probe_storage_command.cpp
void AddProbeLoader(const Command& probe, Outcome& outcome);   // probe_loader_command.cpp
void AddProbeGpu(const Command& probe, Outcome& outcome);      // probe_gpu_command.cpp

void RegisterProbe(const Command& app, Outcome& outcome) {
  const Command probe = app.Add("probe", "Measure what storage, loader and GPUs of a machine give");
  probe.NeedsSubcommand();
  AddProbeStorage(probe, outcome);
  AddProbeLoader(probe, outcome);
  AddProbeGpu(probe, outcome);
}

}  // namespace batchlight::cli
