// Records of hardware counters: read over stretches of a program, and sampled by the tool.
#pragma once

#include <cstdint>
#include <vector>

#include "ingest/decode/chunk_context.h"

namespace batchlight {

class CounterDecoder {
 public:
  explicit CounterDecoder(ChunkContext& context) : context_(context) {}

  void BeginChunk() { metrics_.clear(); }
  void Decode(const format::RecordView& view);

 private:
  struct Metric {
    uint32_t id = 0;
    uint32_t device = 0;
    StringId name;
  };

  void AddRange(uint64_t end_ticks, uint64_t length_ticks, uint64_t switch_ns,
                CounterRangesRow row);
  void Take(const format::CounterRangeRecord& record, uint64_t ticks);
  void Take(const format::CounterValueRecord& record);
  void Take(const format::GpuMetricRecord& record);
  void Take(const format::StallWindowRecord& record, uint64_t ticks);
  void TakeSample(const format::RecordView& view);

  ChunkContext& context_;
  std::vector<Metric> metrics_;  // of the chunk, by rising id
};

}  // namespace batchlight
