// Why a GPU was idle: looks at the thread that launched the work that ended the gap.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "analysis/gpu/gpu_breakdown.h"
#include "analysis/gpu/thread_parts.h"
#include "analysis/numbers/time_span.h"
#include "analysis/steps/step_inputs.h"
#include "store/interval_index.h"
#include "store/store.h"

namespace batchlight {

struct IdleStretch {
  GpuPart part;
  int64_t start_ns;
  int64_t end_ns;  // > start_ns
  // The thread that explains it. None: the launch was on its way (kIdleLaunch), or had arrived.
  ThreadId thread;
};

class GpuIdleExplainer {
 public:
  explicit GpuIdleExplainer(const StepInputs& inputs);  // must outlive this

  const IntervalIndex& operators() const { return operators_; }

  // Splits the gap [start_ns, end_ns) into stretches of idle parts, in order of time and without
  // gaps. `call`: the API call that launched the work at end_ns, None = not known.
  void Explain(int64_t start_ns, int64_t end_ns, ApiCallId call,
               const std::function<void(const IdleStretch&)>& visit) const;

 private:
  void AddMarks(const PhaseMarks& marks);
  void AddSystemCalls();
  using SpansOfThreads = std::map<ThreadId, std::vector<TimeSpan>>;
  SpansOfThreads RecordedWaits(const PhaseMarks& marks) const;
  void AddPythonSamples(const PhaseMarks& marks);
  void AddSwitches();
  void AddRecorder();
  GpuPart PartAt(ThreadId thread, int64_t time_ns, int64_t* until_ns) const;
  GpuPart AroundOperators(ThreadId thread, int64_t time_ns, int64_t* until_ns) const;
  GpuPart OutsideModel(ThreadId thread, int64_t time_ns, int64_t* until_ns) const;
  bool IsWait(uint32_t api_call) const;
  bool IsOnCpuTensors(uint32_t op) const;

  const Store& store_;
  IntervalIndex api_calls_;
  const IntervalIndex& operators_;
  ThreadParts no_processor_;
  ThreadParts recorder_;
  ThreadParts outside_model_;  // DataLoader and compile
  ThreadParts system_calls_;
  ThreadParts kept_;        // by samples: without the GIL or a processor, in the recorder
  ThreadParts own_python_;  // by samples
  ThreadParts loop_;        // model, backward, optimizer
  std::map<ProcessId, std::vector<TimeSpan>> backward_;  // on any thread
};

// visit(from, to, call): each gap between work of a GPU, with the call that launched the work
// behind it, where that is known.
void VisitIdleGaps(const Store& store,
                   const std::function<void(int64_t, int64_t, ApiCallId)>& visit);

}  // namespace batchlight
