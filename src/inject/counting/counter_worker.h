// What need not be done on the thread that trains: planning what the hardware is told, which loads
// NVIDIA's library of metrics, and working out values. A thread of its own, in a process that reads
// counters only. It and the training thread own a CounterJob in turns.
#pragma once

#include <atomic>
#include <cstdint>

#include "inject/counting/counter_plan.h"
#include "inject/counting/counter_session.h"
#include "inject/cupti/library.h"

namespace batchlight::inject::cupti {

// Whose turn it is, and what for.
enum class CounterTurn : uint32_t { kProgram, kPrepare, kEvaluate };

struct CounterJob {
  const Library* library = nullptr;
  counters::ProfilerApi api;
  const CounterPlan* plan = nullptr;
  void* context = nullptr;
  uint32_t device = 0;
  counters::HostObject* hosts = nullptr;       // one per pass, once prepared
  bool usable[CounterPlan::kMostPasses] = {};  // by pass
  CounterSession* session = nullptr;

  uint32_t pass = 0;         // whose data are to be evaluated
  uint32_t first_range = 0;  // number of the first range in the data

  // Why a turn of the worker failed; nullptr: it did not.
  const char* failed_call = nullptr;
  const char* failed_metrics = nullptr;
  uint32_t result = 0;

  std::atomic<CounterTurn> turn{CounterTurn::kProgram};  // a futex word
};

bool StartCounterWorker(CounterJob& job);
// Gives the job to the worker, which gives it back.
void GiveToWorker(CounterJob& job, CounterTurn turn);
inline bool IsWithProgram(const CounterJob& job) {
  return job.turn.load(std::memory_order_acquire) == CounterTurn::kProgram;
}
void WaitForWorker(CounterJob& job, uint32_t timeout_ms);

}  // namespace batchlight::inject::cupti
