#include "inject/counting/stall_session.h"

#include <cstring>

#include "inject/buffer/thread_stream.h"
#include "inject/counting/capture_watch.h"
#include "inject/counting/gpu_modules.h"
#include "inject/rt/sys.h"

namespace batchlight::inject::cupti {
namespace {

constexpr uint32_t kOutOfMemory = 8;  // CUPTI_ERROR_OUT_OF_MEMORY
// CUPTI's own 512 MB of the GPU's memory are too much for a training that fills it.
constexpr size_t kHardwareBuffer = 64u << 20;
constexpr size_t kScratchBuffer = 4u << 20;
constexpr uint32_t kWorkerSleep = 10;
// What CUPTI has not decoded yet when it is asked comes a little later.
constexpr int kMostEmptyAnswers = 3;
constexpr int64_t kPauseNs = 20'000'000;

template <class Params>
Params ForContext(void* context, size_t bytes) {
  Params params{};
  params.size = bytes;
  params.context = context;
  return params;
}

uint32_t CallWith(uint32_t (*function)(PcContextParams*), void* context) {
  auto params = ForContext<PcContextParams>(context, sizeof(PcContextParams));
  return function(&params);
}

}  // namespace

bool StallSession::IsPossible(const Library& library) {
  return library.version >= kVersion12_4 && library.cuptiPCSamplingEnable != nullptr &&
         library.cuptiPCSamplingDisable != nullptr && library.cuptiPCSamplingStart != nullptr &&
         library.cuptiPCSamplingStop != nullptr && library.cuptiPCSamplingGetData != nullptr &&
         library.cuptiPCSamplingSetConfigurationAttribute != nullptr &&
         library.cuptiPCSamplingGetConfigurationAttribute != nullptr &&
         library.cuptiPCSamplingGetNumStallReasons != nullptr &&
         library.cuptiPCSamplingGetStallReasons != nullptr && library.cuptiGetCubinCrc != nullptr;
}

bool StallSession::Check(const char* call, uint32_t result) {
  if (result == kSuccess) return true;
  failed_call_ = call;
  result_ = result;
  return false;
}

StallSession::Buffer* StallSession::NewBuffer() const {
  auto* const buffer = static_cast<Buffer*>(sys::MapMemory(sizeof(Buffer)));
  if (buffer == nullptr) return nullptr;
  buffer->head.size = sizeof(PcSamplingData);
  buffer->head.room = kRoom;
  buffer->head.pcs = buffer->pcs;
  for (size_t i = 0; i < kRoom; ++i) {
    buffer->pcs[i].size = sizeof(PcData);
    buffer->pcs[i].reasons = buffer->reasons + i * reason_count_;
  }
  return buffer;
}

bool StallSession::ReadReasons() {
  size_t count = 0;
  auto counted = ForContext<PcReasonCountParams>(context_, sizeof(PcReasonCountParams));
  counted.count = &count;
  if (!Check("cuptiPCSamplingGetNumStallReasons",
             library_.cuptiPCSamplingGetNumStallReasons(&counted))) {
    return false;
  }
  if (count > kMostReasons) return Check("cuptiPCSamplingGetNumStallReasons", kOutOfMemory);
  char names[kMostReasons][kPcReasonBytes] = {};
  char* places[kMostReasons];
  uint32_t indices[kMostReasons] = {};
  for (size_t i = 0; i < count; ++i) places[i] = names[i];
  auto named = ForContext<PcReasonsParams>(context_, sizeof(PcReasonsParams));
  named.count = count;
  named.indices = indices;
  named.names = places;
  if (!Check("cuptiPCSamplingGetStallReasons", library_.cuptiPCSamplingGetStallReasons(&named))) {
    return false;
  }
  for (size_t i = 0; i < count; ++i) {
    if (indices[i] >= kMostReasons) continue;
    std::memcpy(reasons_[indices[i]], names[i], kPcReasonBytes - 1);
  }
  reason_count_ = count;
  return true;
}

bool StallSession::Set(PcConfiguration* attributes, size_t count) {
  auto params = ForContext<PcConfigurationParams>(context_, sizeof(PcConfigurationParams));
  params.count = count;
  params.attributes = attributes;
  return Check("cuptiPCSamplingSetConfigurationAttribute",
               library_.cuptiPCSamplingSetConfigurationAttribute(&params));
}

bool StallSession::Configure(bool serialized) {
  own_ = NewBuffer();
  fetched_ = NewBuffer();
  if (own_ == nullptr || fetched_ == nullptr) return Check("mmap", kOutOfMemory);
  PcConfiguration attributes[6] = {};
  constexpr size_t kNeeded = 3;
  attributes[0].attribute = kCollectionMode;
  attributes[0].value.word = serialized ? kKernelSerialized : kContinuous;
  attributes[1].attribute = kStartStopControl;
  attributes[1].value.word = 1;
  attributes[2].attribute = kDataBuffer;
  attributes[2].value.pointer = &own_->head;
  attributes[3].attribute = kHardwareBufferBytes;
  attributes[3].value.bytes = kHardwareBuffer;
  attributes[4].attribute = kScratchBufferBytes;
  attributes[4].value.bytes = kScratchBuffer;
  attributes[5].attribute = kWorkerSleepMs;
  attributes[5].value.word = kWorkerSleep;
  // Some GPUs (Blackwell) do not take all of them; CUPTI's own choice works there.
  if (!Set(attributes, 6) && !Set(attributes, kNeeded)) return false;
  PcConfiguration period{};
  period.attribute = kSamplingPeriod;
  auto asked = ForContext<PcConfigurationParams>(context_, sizeof(PcConfigurationParams));
  asked.count = 1;
  asked.attributes = &period;
  if (library_.cuptiPCSamplingGetConfigurationAttribute(&asked) == kSuccess) {
    period_log2_ = period.value.word;
  }
  return true;
}

bool StallSession::Enable(void* context, bool serialized) {
  context_ = context;
  if (!Check("cuptiPCSamplingEnable", CallWith(library_.cuptiPCSamplingEnable, context))) {
    return false;
  }
  is_enabled_ = true;
  return ReadReasons() && Configure(serialized);
}

bool StallSession::Start() {
  return Check("cuptiPCSamplingStart", CallWith(library_.cuptiPCSamplingStart, context_));
}

bool StallSession::Stop() {
  return Check("cuptiPCSamplingStop", CallWith(library_.cuptiPCSamplingStop, context_));
}

void StallSession::WriteSamplesOf(uint32_t window, const PcData& pc) const {
  if (pc.function == nullptr || pc.reasons == nullptr) return;
  const size_t bytes = std::strlen(pc.function);
  for (size_t i = 0; i < pc.reason_count && i < reason_count_; ++i) {
    const PcStallReason& reason = pc.reasons[i];
    if (reason.samples == 0 || reason.reason >= kMostReasons) continue;
    const char* const name = reasons_[reason.reason];
    const size_t name_bytes = std::strlen(name);
    Guard guard;
    ThreadStream* const stream = guard ? ThreadStream::Current(guard) : nullptr;
    if (stream == nullptr || !stream->Ensure(sizeof(format::StallSampleRecord) +
                                             StringBytes(bytes) + StringBytes(name_bytes))) {
      return;
    }
    const format::StringRef function = stream->Intern(pc.function, bytes);
    stream->Write(format::StallSampleRecord{.window = window,
                                            .function = function,
                                            .reason = stream->Intern(name, name_bytes),
                                            .samples = reason.samples,
                                            .cubin = pc.cubin,
                                            .offset = pc.offset,
                                            .correlation = pc.correlation});
  }
}

void StallSession::WriteSamples(uint32_t window, const Buffer& buffer) const {
  uint64_t last = 0;
  for (size_t i = 0; i < buffer.head.count && i < kRoom; ++i) {
    const PcData& pc = buffer.pcs[i];
    if (i == 0 || pc.cubin != last) WriteSampledModule(library_, pc.cubin);
    last = pc.cubin;
    WriteSamplesOf(window, pc);
  }
}

// Between captures, however long that takes.
uint32_t StallSession::GetData(PcGetDataParams& params) const {
  while (true) {
    if (const BetweenCaptures between; between) return library_.cuptiPCSamplingGetData(&params);
    const timespec pause{0, kPauseNs};
    sys::Call(SYS_nanosleep, &pause, nullptr);
  }
}

bool StallSession::Collect(uint32_t window, Totals& totals) {
  auto params = ForContext<PcGetDataParams>(context_, sizeof(PcGetDataParams));
  params.data = &fetched_->head;
  for (int empty = 0; empty < kMostEmptyAnswers;) {
    PcSamplingData& head = fetched_->head;
    head.count = 0;
    head.remaining = 0;
    const uint32_t result = GetData(params);
    totals.buffer_full = totals.buffer_full || head.hardware_buffer_full != 0;
    if (result == kOutOfMemory) {
      totals.buffer_full = true;
    } else if (!Check("cuptiPCSamplingGetData", result)) {
      return false;
    }
    totals.samples += head.samples;
    totals.dropped += head.dropped;
    totals.foreign += head.foreign;
    WriteSamples(window, *fetched_);
    if (head.remaining != 0) continue;
    ++empty;
    const timespec pause{0, kPauseNs};
    if (empty < kMostEmptyAnswers) sys::Call(SYS_nanosleep, &pause, nullptr);
  }
  return true;
}

void StallSession::Disable() {
  if (!is_enabled_) return;
  is_enabled_ = false;
  CallWith(library_.cuptiPCSamplingDisable, context_);
  // CUPTI has filled it for the last time.
  if (own_ != nullptr) sys::Unmap(own_, sizeof(Buffer));
  if (fetched_ != nullptr) sys::Unmap(fetched_, sizeof(Buffer));
  own_ = fetched_ = nullptr;
}

}  // namespace batchlight::inject::cupti
