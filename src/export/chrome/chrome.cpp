// -t chrome: the trace format of chrome://tracing, with the fields that torch.profiler writes, so
// that tools for its traces (Holistic Trace Analysis) read it unmodified.
//
// Source of the fields: Kineto's output_json.cpp. Times are microseconds since baseTimeNanoseconds.
// Steps that the user did not mark are written as ProfilerStep#N.
#include <algorithm>
#include <set>

#include "export/chrome/chrome_trace.h"

namespace batchlight {

ChromeGpus::ChromeGpus(const Store& store, const EventSelection& selection) {
  std::set<std::pair<std::pair<ProcessId, uint32_t>, uint32_t>> streams;
  const auto see = [&](const auto& table) {
    std::pair<std::pair<ProcessId, uint32_t>, uint32_t> last{{{}, UINT32_MAX}, UINT32_MAX};
    for (size_t row = 0; row < table.size(); ++row) {
      const std::pair key(std::pair(table.process[row], table.device[row]), table.stream[row]);
      if (key == last || !selection.HasProcess(table.process[row])) continue;
      streams.insert(key);
      last = key;
    }
  };
  see(store.kernels);
  see(store.memcpys);
  see(store.memsets);
  see(store.graph_launches);
  int64_t next_pid = 0;
  std::map<uint32_t, int> sharers;
  std::set<ProcessId> processes;
  for (const auto& [gpu, stream] : streams) {
    if (gpus_[gpu].streams.empty()) ++sharers[gpu.second];
    gpus_[gpu].streams.push_back(stream);
    processes.insert(gpu.first);
    next_pid = std::max<int64_t>(next_pid, int64_t{gpu.second} + 1);
  }
  of_several_processes_ = processes.size() > 1;
  std::set<uint32_t> taken;
  for (auto& [key, gpu] : gpus_) {
    const auto [process, device] = key;
    gpu.pid = taken.insert(device).second ? device : next_pid++;
    gpu.label = "GPU " + std::to_string(device);
    if (sharers[device] > 1 && !process.IsNone()) {
      gpu.label += " of process " + std::to_string(store.processes.pid[process.row()]);
    }
  }
}

int64_t ChromeGpus::PidOf(ProcessId process, uint32_t device) const {
  const auto found = gpus_.find({process, device});
  return found == gpus_.end() ? device : found->second.pid;
}

ChromeTrace::ChromeTrace(const Store& the_store, const ExportOptions& the_options, TextBuffer& out)
    : store(the_store),
      options(the_options),
      selection(the_options.selection),
      file(the_store, the_options, out),
      nccl(FindNcclCalls(the_store)),
      places(FindJobPlaces(the_store, nccl)),
      gpus(the_store, the_options.selection) {
  if (options.rank < 0) return;
  for (JobPlace& place : places) {
    place.rank = options.rank;
    if (place.world_size == 0) place.world_size = options.world_size;
  }
}

Result<uint64_t> ExportChrome(const Store& store, const ExportOptions& options) {
  ASSIGN_OR_RETURN(AtomicFileWriter file, OpenOutput(options));
  TextBuffer out(file);
  ChromeTrace trace(store, options, out);
  WriteChromeHead(trace);
  WriteChromeNames(trace);
  RETURN_IF_ERROR(WriteChromeCpu(trace));
  RETURN_IF_ERROR(WriteChromeGpu(trace));
  RETURN_IF_ERROR(WriteChromeUsage(trace));
  out << "\n  ],\n  \"traceName\": \"batchlight\"\n}\n";
  RETURN_IF_ERROR(out.Finish());
  return trace.file.events();
}

}  // namespace batchlight
