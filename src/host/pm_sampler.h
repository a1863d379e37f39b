// Samples the hardware counters of one GPU: CUPTI's PM sampling, which needs no context and belongs
// to the device.
#pragma once

#include "counters/host_object.h"
#include "counters/pass_planner.h"
#include "host/frame_writer.h"

namespace batchlight::host {

class PmSampler {
 public:
  PmSampler(const counters::ProfilerApi& api, uint32_t device, uint64_t interval_ns)
      : api_(api), host_(api), device_(device), interval_ns_(interval_ns) {}

  // Begins to sample those of `names` that the GPU has and that can be had together. False: it
  // writes why not.
  bool Start(const char* uuid, char** names, int count, FrameWriter& out);
  // Writes what has come since the last time.
  void Read(FrameWriter& out);
  void Stop();
  // How long the samples that fit are good for.
  uint64_t room_ns() const { return kSamples * interval_ns_; }

 private:
  static constexpr uint32_t kSamples = 512;  // that an image holds: 35 KB each with a dozen metrics
  // An image that gets full within a decoding loses what comes after, so it is replaced before.
  static constexpr uint32_t kReplaced = kSamples / 2;

  bool Check(const char* call, uint32_t result, FrameWriter& out);
  bool Choose(char** names, int count, FrameWriter& out);
  bool Configure(FrameWriter& out);
  void WriteMetrics(const char* uuid, FrameWriter& out);
  bool Decode(FrameWriter& out, bool& is_full);
  void WriteSamples(FrameWriter& out);
  void WriteLost(uint64_t samples, FrameWriter& out);

  const counters::ProfilerApi& api_;
  counters::HostObject host_;
  const uint32_t device_;
  const uint64_t interval_ns_;
  void* sampler_ = nullptr;
  bool is_running_ = false;
  const char* names_[counters::kMostPlanned];
  size_t count_ = 0;
  uint8_t* data_ = nullptr;   // what is decoded into
  uint8_t* empty_ = nullptr;  // the same, fresh: to initialize it takes far longer than to copy it
  size_t data_bytes_ = 0;
  size_t done_ = 0;  // samples of data_ that were written
  uint64_t last_end_ns_ = 0;
  uint64_t offset_ns_ = 0;  // from CUPTI's times to CLOCK_MONOTONIC
  bool seen_first_ = false;
};

}  // namespace batchlight::host
