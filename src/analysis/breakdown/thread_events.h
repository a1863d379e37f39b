// Which call a thread was in at each moment of given stretches of time: the innermost range, phase
// call, module, operator, CUDA call, MPI call or operating system call. One pass over the thread's
// calls, in order of start, with the open ones on a stack.
//
// Calls that are part of another call's machinery say nothing new and are skipped: a CUDA call in a
// CUDA call, an MPI or operating system call inside either or inside an operator, PyTorch's own
// range of the same name in a traced call. Calls around a whole step (an epoch, the step's own
// range, ProfilerStep#) explain no part of it and are skipped too.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "analysis/steps/steps.h"
#include "store/interval_index.h"
#include "store/store.h"

namespace batchlight {

enum class EventKind : uint8_t {
  kNone,  // in no recorded call
  kRange,
  kPhaseCall,
  kModule,
  kOperator,
  kCudaCall,
  kOsCall,
  kMpiCall,
  kKernel,  // this and the following: work on a GPU
  kCollective,
  kGraph,
  kCopy,
  kMemset,
  kLaunch,   // a launch on its way to the GPU
  kSmaller,  // groups that were merged
};

struct EventRef {
  EventKind kind = EventKind::kNone;
  uint32_t row = kNoRow;  // of the kind's table
};

// A stretch of time whose events are wanted. Their starts never decrease.
struct AskedStretch {
  int64_t start_ns;
  int64_t end_ns;
  uint32_t phase;     // number of a list, for the caller
  uint32_t step;      // row of ProcessSteps::steps
  EventRef around{};  // what is known if no call is found
  EventRef before{};  // GPU work around an idle stretch, for the caller
  EventRef after{};
};

// The time that one call has in one phase of one step.
struct Occurrence {
  EventRef event;
  uint32_t op = kNoRow;  // of a CUDA call: the operator around it
  int64_t start_ns = 0;  // of the call; of kNone: of the stretch
  int64_t ns = 0;        // in this phase and step, without calls inside
  AskedStretch asked{};  // the first that it is in
};

// Where the rows of every thread lie in the tables of calls.
struct CallSpans {
  explicit CallSpans(const Store& store);
  ThreadSpans ranges, phases, modules, operators, cuda, os, mpi;
};

class ThreadEvents {
 public:
  using Take = std::function<void(const Occurrence&)>;

  ThreadEvents(const Store& store, const CallSpans& spans, ThreadId thread,
               const ProcessSteps& steps, Take take);

  // Time in no event of this kind or a later one goes to `rest` instead, unless it is nullptr.
  void Give(const AskedStretch& asked, EventKind least = EventKind::kNone,
            std::vector<AskedStretch>* rest = nullptr);
  void Finish();  // hands out what is still open

 private:
  struct Source {
    EventKind kind;
    const int64_t* start_ns;
    const int64_t* end_ns;
    uint32_t row;
    uint32_t end;
  };
  struct Frame {
    int64_t end_ns;
    Occurrence occurrence;  // ns 0: none open
  };

  void AddSource(EventKind kind, const std::vector<int64_t>& start_ns,
                 const std::vector<int64_t>& end_ns, ThreadSpans::Rows rows);
  void FindNext();
  void EnterUntil(int64_t time_ns);
  void Enter(EventKind kind, uint32_t row, int64_t start_ns, int64_t end_ns);
  bool SaysNothing(EventKind kind, uint32_t row) const;
  bool HoldsStep(int64_t start_ns, int64_t end_ns);
  // Whether a range is the one by which a step was found.
  bool FoundStep(int64_t start_ns, int64_t end_ns) const;
  void Leave(int64_t time_ns);
  EventRef Deepest(int64_t time_ns) const;  // without calls of the operating system and MPI
  void Add(Occurrence& open, const AskedStretch& asked, int64_t from_ns, int64_t ns);
  void Close(Occurrence& open);

  const Store& store_;
  const ProcessSteps& steps_;
  Take take_;
  std::array<Source, 7> sources_{};
  size_t source_count_ = 0;
  size_t next_ = 0;  // source of the call that starts next
  int64_t next_ns_ = INT64_MAX;
  size_t step_ = 0;  // the first that starts at the last call entered, or later
  std::vector<Frame> open_;
  Occurrence nothing_;  // in no call
  int64_t nothing_until_ns_ = INT64_MIN;
};

}  // namespace batchlight
