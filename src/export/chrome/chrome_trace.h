// What the parts of the chrome exporter share. Each part writes some of the events; the file is
// head, names, events of the CPU, events of the GPUs, arrows.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/ranks/job_places.h"
#include "analysis/ranks/nccl_calls.h"
#include "export/chrome/chrome_file.h"
#include "export/store_rows.h"

namespace batchlight {

// Kineto uses a device's number as the `pid` of its events. Two processes may each have a device of
// the same number; in one file those need different pids.
class ChromeGpus {
 public:
  struct Gpu {
    int64_t pid;
    std::string label;
    std::vector<uint32_t> streams;
  };
  explicit ChromeGpus(const Store& store, const EventSelection& selection);

  int64_t PidOf(ProcessId process, uint32_t device) const;
  const std::map<std::pair<ProcessId, uint32_t>, Gpu>& all() const { return gpus_; }
  bool of_several_processes() const { return of_several_processes_; }

 private:
  std::map<std::pair<ProcessId, uint32_t>, Gpu> gpus_;
  bool of_several_processes_ = false;
};

struct ChromeAnnotation {
  ThreadId thread;
  int64_t start_ns;
  int64_t end_ns;
  std::string_view name;  // escaped; of ChromeFile or of step_names
};

struct ChromeTrace {
  ChromeTrace(const Store& the_store, const ExportOptions& the_options, TextBuffer& out);

  const Store& store;
  const ExportOptions& options;
  const EventSelection& selection;
  ChromeFile file;
  NcclCalls nccl;
  std::vector<JobPlace> places;  // by process row
  ChromeGpus gpus;
  std::vector<uint32_t> operator_around;  // by api call: row of operator_calls, or UINT32_MAX
  // What was written as user_annotation; empty where no CUDA call could lie in one.
  std::vector<ChromeAnnotation> annotations;
  std::deque<std::string> step_names;

  int64_t Pid(ProcessId process) const {
    return process.IsNone() ? 0 : store.processes.pid[process.row()];
  }
  int64_t PidOf(ThreadId thread) const { return Pid(store.ProcessOf(thread)); }
  int64_t Tid(ThreadId thread) const {
    return thread.IsNone() ? 0 : store.threads.tid[thread.row()];
  }
};

// The parts. Errors: kOutput.
void WriteChromeHead(ChromeTrace& trace);   // up to the first event
void WriteChromeNames(ChromeTrace& trace);  // of processes, threads, GPUs and streams
Status WriteChromeCpu(ChromeTrace& trace);
Status WriteChromeGpu(ChromeTrace& trace);
Status WriteChromeUsage(ChromeTrace& trace);
// The annotations as they are on the GPU: from the first to the last work of a stream whose launch
// an annotation is the innermost one around. After WriteChromeCpu.
Status WriteAnnotationsOnGpu(ChromeTrace& trace);

// Arguments of a collective as Kineto names them, as far as NCCL tells. The element type `dtype`
// ("bf16") turns bytes into elements; "" means unknown.
void AddCollectiveArgs(ChromeTrace& trace, const NcclCall& call, std::string_view dtype);
// The same for a kernel that NCCL launched: the type is in the name of kernels that reduce
// (ncclDevKernel_AllReduce_Sum_bf16_RING_LL), else in the operator around the launch.
void AddCollectiveArgsOfKernel(ChromeTrace& trace, const NcclCall& call, size_t kernel);

}  // namespace batchlight
