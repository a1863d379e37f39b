#include "host/pm_sampler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

namespace batchlight::host {

using namespace counters;  // NOLINT(google-build-using-namespace)

namespace {

constexpr uint32_t kSourceCounters = 1;
constexpr size_t kHardwareBuffer = 64u << 20;

uint64_t Nanoseconds(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

// CLOCK_REALTIME minus CLOCK_MONOTONIC, of the quickest of a few readings.
uint64_t RealtimeOffset() {
  uint64_t best_ns = UINT64_MAX;
  uint64_t offset = 0;
  for (int i = 0; i < 5; ++i) {
    const uint64_t before = Nanoseconds(CLOCK_MONOTONIC);
    const uint64_t realtime = Nanoseconds(CLOCK_REALTIME);
    const uint64_t took_ns = Nanoseconds(CLOCK_MONOTONIC) - before;
    if (took_ns >= best_ns) continue;
    best_ns = took_ns;
    offset = realtime - before - took_ns / 2;
  }
  return offset;
}

// "sm__warps_active.avg.pct_of_peak_sustained_elapsed" is in percent, whatever it counts.
const char* UnitOf(const char* name, const char* dimension) {
  if (strstr(name, "pct") != nullptr) return "%";
  return dimension != nullptr ? dimension : "";
}

}  // namespace

bool PmSampler::Check(const char* call, uint32_t result, FrameWriter& out) {
  if (result == kSuccess) return true;
  char text[512];
  if (const char* const known = ExplainResult(result)) {
    snprintf(text, sizeof text, "counters of GPU %u are not sampled: %s", device_, known);
  } else {
    snprintf(text, sizeof text,
             "counters of GPU %u are not sampled: %s of CUPTI fails with result %u", device_, call,
             result);
  }
  out.Reason(text);
  return false;
}

bool PmSampler::Choose(char** names, int count, FrameWriter& out) {
  ChipNameParams chip{};
  chip.device = device_;
  if (!Check("cuptiDeviceGetChipName", Call(api_.chip_name, chip), out)) return false;
  PmAvailabilityParams availability{};
  availability.device = device_;
  const char* const call = "cuptiPmSamplingGetCounterAvailability";
  if (!Check(call, Call(api_.pm_availability, availability), out)) return false;
  auto* const image = static_cast<uint8_t*>(calloc(1, availability.image_bytes));
  availability.image = image;
  if (image == nullptr || !Check(call, Call(api_.pm_availability, availability), out)) return false;

  static PlannedMetric metrics[kMostPlanned];
  const size_t planned = static_cast<size_t>(count) < kMostPlanned ? count : kMostPlanned;
  for (size_t i = 0; i < planned; ++i) metrics[i] = {.name = names[i]};
  PlanPasses(api_, kPmSampling, chip.chip, image, metrics, planned, 1);
  for (size_t i = 0; i < planned; ++i) {
    if (metrics[i].pass == 1) names_[count_++] = metrics[i].name;
  }
  // CUPTI reads the image again with each metric that is added: it is never freed.
  if (!Check("cuptiProfilerHostInitialize", host_.Open(kPmSampling, chip.chip, image), out)) {
    return false;
  }
  if (count_ == 0) {
    out.Reason("none of the metrics of --gpu-metrics-set can be sampled on this GPU");
    return false;
  }
  return Check("cuptiProfilerHostConfigAddMetrics", host_.AddMetrics(names_, count_), out) &&
         Check("cuptiProfilerHostGetConfigImage", host_.MakeImage(), out);
}

bool PmSampler::Configure(FrameWriter& out) {
  PmEnableParams enable{};
  enable.device = device_;
  if (!Check("cuptiPmSamplingEnable", Call(api_.pm_enable, enable), out)) return false;
  sampler_ = enable.sampler;
  PmConfigParams config{};
  config.sampler = sampler_;
  config.config = host_.image();
  config.config_bytes = host_.image_bytes();
  config.hardware_buffer_bytes = kHardwareBuffer;
  config.interval = interval_ns_;
  config.trigger = kTimeInterval;
  config.append = kKeepOldest;
  uint32_t configured = Call(api_.pm_config, config);
  if (configured != kSuccess) {  // Turing and GA100 count cycles of a clock of about 1 GHz
    config.trigger = kSysclkInterval;
    configured = Call(api_.pm_config, config);
  }
  if (!Check("cuptiPmSamplingSetConfig", configured, out)) return false;
  PmDataSizeParams size{};
  size.sampler = sampler_;
  size.names = names_;
  size.count = count_;
  size.most_samples = kSamples;
  if (!Check("cuptiPmSamplingGetCounterDataSize", Call(api_.pm_data_size, size), out)) return false;
  data_bytes_ = size.data_bytes;
  data_ = static_cast<uint8_t*>(calloc(1, data_bytes_));
  empty_ = static_cast<uint8_t*>(calloc(1, data_bytes_));
  if (data_ == nullptr || empty_ == nullptr) return Check("calloc", 8, out);
  DataInitializeParams initialize{};
  initialize.object = sampler_;
  initialize.data_bytes = data_bytes_;
  initialize.data = empty_;
  if (!Check("cuptiPmSamplingCounterDataImageInitialize", Call(api_.pm_data_initialize, initialize),
             out)) {
    return false;
  }
  memcpy(data_, empty_, data_bytes_);
  PmObjectParams start{};
  start.sampler = sampler_;
  is_running_ = Check("cuptiPmSamplingStart", Call(api_.pm_start, start), out);
  return is_running_;
}

void PmSampler::WriteMetrics(const char* uuid, FrameWriter& out) {
  for (size_t i = 0; i < count_; ++i) {
    MetricPropertiesParams about{};
    about.host = host_.handle();
    about.name = names_[i];
    Call(api_.metric_properties, about);
    const char* const unit = UnitOf(names_[i], about.dimension);
    const MetricFrame frame = {interval_ns_, device_, kSourceCounters};
    out.Begin(FrameKind::kMetric,
              sizeof frame + strlen(uuid) + strlen(names_[i]) + strlen(unit) + 3);
    out.Add(&frame, sizeof frame);
    out.AddText(uuid);
    out.AddText(names_[i]);
    out.AddText(unit);
  }
}

bool PmSampler::Start(const char* uuid, char** names, int count, FrameWriter& out) {
  if (!Choose(names, count, out) || !Configure(out)) {
    Stop();
    return false;
  }
  WriteMetrics(uuid, out);
  return true;
}

bool PmSampler::Decode(FrameWriter& out, bool& is_full) {
  PmDecodeParams decode{};
  decode.sampler = sampler_;
  decode.data = data_;
  decode.data_bytes = data_bytes_;
  const uint32_t result = Call(api_.pm_decode, decode);
  is_full = decode.stop == kCounterDataFull;
  constexpr uint32_t kOutOfMemory = 8;  // the hardware buffer was overrun
  if (result == kOutOfMemory || decode.overflow != 0) {
    WriteLost(1, out);
    return true;
  }
  if (result == kSuccess) return true;
  Check("cuptiPmSamplingDecodeData", result, out);
  Stop();
  return false;
}

void PmSampler::WriteLost(uint64_t samples, FrameWriter& out) {
  const LostFrame lost = {samples};
  out.Begin(FrameKind::kLost, sizeof lost);
  out.Add(&lost, sizeof lost);
}

void PmSampler::WriteSamples(FrameWriter& out) {
  PmDataInfoParams info{};
  info.data = data_;
  info.data_bytes = data_bytes_;
  if (Call(api_.pm_data_info, info) != kSuccess) return;
  // Held until somebody sets the clock: samples keep their distances.
  constexpr uint64_t kNoticeableNs = 50'000;
  const uint64_t offset = RealtimeOffset();
  const uint64_t off_by = offset > offset_ns_ ? offset - offset_ns_ : offset_ns_ - offset;
  if (off_by > kNoticeableNs) offset_ns_ = offset;
  double values[kMostPlanned];
  for (size_t i = done_; i < info.completed; ++i) {
    PmSampleInfoParams when{};
    when.sampler = sampler_;
    when.data = data_;
    when.data_bytes = data_bytes_;
    when.sample = i;
    if (Call(api_.pm_sample_info, when) != kSuccess) continue;
    // The first sample is an outlier; what CUPTI gives twice is dropped.
    const bool is_first = !seen_first_;
    seen_first_ = true;
    if (is_first || when.end_ns <= last_end_ns_) continue;
    if (last_end_ns_ != 0 && when.start_ns > last_end_ns_ + interval_ns_ / 2) {
      WriteLost((when.start_ns - last_end_ns_ + interval_ns_ / 2) / interval_ns_, out);
    }
    last_end_ns_ = when.end_ns;
    if (host_.Evaluate(data_, data_bytes_, i, names_, count_, values) != kSuccess) continue;
    const SampleFrame frame = {when.start_ns - offset_ns_, device_, kSourceCounters};
    out.Begin(FrameKind::kSample, sizeof frame + count_ * sizeof(float));
    out.Add(&frame, sizeof frame);
    for (size_t k = 0; k < count_; ++k) {
      const auto value = static_cast<float>(values[k]);
      out.Add(&value, sizeof value);
    }
  }
  done_ = info.completed;
}

// What is decoded comes after what the image holds: its last sample may be one that the next
// decoding completes, and a fresh image costs a copy.
void PmSampler::Read(FrameWriter& out) {
  for (bool is_full = true; is_running_ && is_full;) {
    if (!Decode(out, is_full)) return;
    WriteSamples(out);
    if (!is_full && done_ < kReplaced) return;
    memcpy(data_, empty_, data_bytes_);
    done_ = 0;
  }
}

void PmSampler::Stop() {
  if (sampler_ == nullptr) return;
  PmObjectParams object{};
  object.sampler = sampler_;
  if (is_running_) Call(api_.pm_stop, object);
  Call(api_.pm_disable, object);
  sampler_ = nullptr;
  is_running_ = false;
}

}  // namespace batchlight::host
