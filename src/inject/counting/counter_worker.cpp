#include "inject/counting/counter_worker.h"

#include <sys/prctl.h>

#include <cmath>
#include <cstring>
#include <new>

#include "inject/buffer/facts.h"
#include "inject/buffer/thread_stream.h"
#include "inject/cupti/helper_thread.h"
#include "inject/rt/sys.h"
#include "inject/rt/text.h"

namespace batchlight::inject::cupti {
namespace {

using counters::Call;
using counters::kSuccess;

bool Fail(CounterJob& job, const char* call, uint32_t result, const char* metrics = nullptr) {
  job.failed_call = call;
  job.failed_metrics = metrics;
  job.result = result;
  return false;
}

void SayLeftOut(const CounterPass& pass, uint32_t result, size_t passes) {
  char text[512];
  Text words(text, sizeof text);
  words.Add("counters of the set ").Add(pass.set).Add(" are not read: ");
  if (result == kSuccess) {
    words.Add("they take ").Add(uint64_t{passes}).Add(" passes on this GPU, from ");
  } else {
    words.Add("CUPTI refuses them with result ").Add(uint64_t{result}).Add(", from ");
  }
  words.Add(pass.names[0]).Add(" to ").Add(pass.names[pass.count - 1]);
  Guard guard;
  if (guard) Reason(guard, "counters", text);
}

// Of the context: which counters its GPU lets us read. Empty where CUPTI cannot tell.
uint8_t* ReadAvailability(CounterJob& job, size_t& bytes) {
  counters::AvailabilityParams params{};
  params.context = job.context;
  if (job.api.range_availability == nullptr) return nullptr;
  const uint32_t sized = Call(job.api.range_availability, params);
  if (sized != kSuccess) {
    Fail(job, "cuptiProfilerGetCounterAvailability", sized);
    return nullptr;
  }
  bytes = params.image_bytes;
  auto* image = static_cast<uint8_t*>(sys::MapMemory(bytes));
  params.image = image;
  const uint32_t read = Call(job.api.range_availability, params);
  if (read == kSuccess) return image;
  Fail(job, "cuptiProfilerGetCounterAvailability", read);
  sys::Unmap(image, bytes);
  return nullptr;
}

// A pass that this GPU does not take in one go is left out.
bool PrepareHosts(CounterJob& job, const char* chip, const uint8_t* availability) {
  for (size_t i = 0; i < job.plan->count; ++i) {
    const CounterPass& pass = job.plan->passes[i];
    counters::HostObject& host = *new (&job.hosts[i]) counters::HostObject(job.api);
    const uint32_t opened = host.Open(counters::kRangeProfiler, chip, availability);
    if (opened != kSuccess) return Fail(job, "cuptiProfilerHostInitialize", opened);
    uint32_t result = host.AddMetrics(pass.names, pass.count);
    if (result == kSuccess) result = host.MakeImage();
    job.usable[i] = result == kSuccess && (host.passes() == 1 || job.plan->replay != nullptr);
    if (!job.usable[i]) SayLeftOut(pass, result, host.passes());
  }
  return true;
}

void Prepare(CounterJob& job) {
  counters::InitializeParams initialize{};
  const uint32_t initialized = Call(job.api.initialize, initialize);
  if (initialized != kSuccess) {
    Fail(job, "cuptiProfilerInitialize", initialized);
    return;
  }
  counters::ChipNameParams chip{};
  chip.device = job.device;
  const uint32_t named = Call(job.api.chip_name, chip);
  if (named != kSuccess) {
    Fail(job, "cuptiDeviceGetChipName", named);
    return;
  }
  size_t bytes = 0;
  uint8_t* const availability = ReadAvailability(job, bytes);
  if (job.failed_call != nullptr) return;
  job.hosts = static_cast<counters::HostObject*>(
      sys::MapMemory(job.plan->count * sizeof(counters::HostObject)));
  if (job.hosts != nullptr) PrepareHosts(job, chip.chip, availability);
  // The host objects have made their images, and need it no more.
  if (availability != nullptr) sys::Unmap(availability, bytes);
}

void WriteValues(const CounterPass& pass, uint32_t range, uint32_t launch, const double* values) {
  Guard guard;
  ThreadStream* stream = guard ? ThreadStream::Current(guard) : nullptr;
  if (stream == nullptr) return;
  for (size_t i = 0; i < pass.count; ++i) {
    if (!std::isfinite(values[i])) continue;
    const size_t bytes = std::strlen(pass.names[i]);
    if (!stream->Ensure(sizeof(format::CounterValueRecord) + StringBytes(bytes))) return;
    const format::StringRef metric = stream->Intern(pass.names[i], bytes);
    stream->Write(format::CounterValueRecord{
        .range = range, .kernel = launch, .metric = metric, .value = values[i]});
  }
}

void Evaluate(CounterJob& job) {
  const CounterPass& pass = job.plan->passes[job.pass];
  const counters::HostObject& host = job.hosts[job.pass];
  const bool each_kernel = job.plan->kernel_room != 0;
  const auto places = static_cast<uint32_t>(job.session->places());
  double values[CounterPlan::kMostNames];
  for (uint32_t i = 0; i < places; ++i) {
    const size_t order = job.session->OrderOf(i);
    if (order == CounterSession::kEmpty) continue;
    const uint32_t result = host.Evaluate(job.session->data(), job.session->data_bytes(), i,
                                          pass.names, pass.count, values);
    if (result != kSuccess) {
      Fail(job, "cuptiProfilerHostEvaluateToGpuValues", result, pass.names[0]);
      return;
    }
    const auto number = static_cast<uint32_t>(order);
    if (job.plan->replay != nullptr) {
      WriteValues(pass, job.first_range + number, 1, values);
    } else if (each_kernel) {
      WriteValues(pass, job.first_range, number + 1, values);
    } else {
      WriteValues(pass, job.first_range + number, 0, values);
    }
  }
}

void* WorkerMain(void* user) {
  CounterJob& job = *static_cast<CounterJob*>(user);
  sys::Call(SYS_prctl, PR_SET_NAME, "batchlight-ctr", 0, 0, 0);
  while (true) {
    const CounterTurn turn = job.turn.load(std::memory_order_acquire);
    if (turn == CounterTurn::kProgram) {
      sys::Call(SYS_futex, &job.turn, FUTEX_WAIT_PRIVATE, static_cast<uint32_t>(turn), nullptr,
                nullptr, 0);
      continue;
    }
    turn == CounterTurn::kPrepare ? Prepare(job) : Evaluate(job);
    job.turn.store(CounterTurn::kProgram, std::memory_order_release);
    sys::Call(SYS_futex, &job.turn, FUTEX_WAKE_PRIVATE, INT32_MAX, nullptr, nullptr, 0);
  }
}

}  // namespace

bool StartCounterWorker(CounterJob& job) { return StartHelperThread(WorkerMain, &job); }

void GiveToWorker(CounterJob& job, CounterTurn turn) {
  job.turn.store(turn, std::memory_order_release);
  sys::Call(SYS_futex, &job.turn, FUTEX_WAKE_PRIVATE, INT32_MAX, nullptr, nullptr, 0);
}

void WaitForWorker(CounterJob& job, uint32_t timeout_ms) {
  const int64_t deadline = sys::Nanoseconds(CLOCK_MONOTONIC) + int64_t{timeout_ms} * 1'000'000;
  for (CounterTurn turn = job.turn.load(); turn != CounterTurn::kProgram; turn = job.turn.load()) {
    if (sys::Nanoseconds(CLOCK_MONOTONIC) >= deadline) return;
    const timespec wait{0, 5'000'000};
    sys::Call(SYS_futex, &job.turn, FUTEX_WAIT_PRIVATE, static_cast<uint32_t>(turn), &wait, nullptr,
              0);
  }
}

}  // namespace batchlight::inject::cupti
