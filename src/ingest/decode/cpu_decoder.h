// Native stacks, and what the tool read from the kernel: samples, switches, threads, usage.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "ingest/decode/chunk_context.h"

namespace batchlight {

class CpuDecoder {
 public:
  explicit CpuDecoder(ChunkContext& context) : context_(context) {}

  void BeginChunk();
  void Decode(const format::RecordView& view);

 private:
  void Take(const format::NativeModuleRecord& record);
  void Take(const format::NativeStackRecord& record);
  void Take(const format::NativeSymbolRecord& record);
  void Take(const format::NativeInlinedRecord& record);
  void Take(const format::CudaBacktraceRecord& record);
  void Take(const format::OsBacktraceRecord& record);
  // Of the tool's own chunks.
  void TakeOfTool(const format::RecordView& view);
  void Take(const format::CpuSampleRecord& record, int64_t at_ns);
  void Take(const format::CpuSwitchRecord& record, int64_t at_ns);
  void Take(const format::CpuThreadRecord& record, int64_t at_ns);
  void Take(const format::ProcessUsageRecord& record, int64_t at_ns);
  void Take(const format::MachineUsageRecord& record, int64_t at_ns);
  void Take(const format::NetworkUsageRecord& record, int64_t at_ns);

  // The fragment's row of a NativeStack of this chunk; None for 0 and for ids never defined.
  NativeStackId Stack(uint32_t id) const {
    return id < stacks_.size() ? stacks_[id] : NativeStackId::None();
  }

  ChunkContext& context_;
  // Of this chunk, by id.
  std::vector<NativeModuleId> modules_;
  std::vector<NativeStackId> stacks_;
  size_t max_id_ = 0;
  // Of the fragment, whose chunks define the same again and again.
  std::map<std::pair<StringId, StringId>, NativeModuleId> module_rows_;  // path, build id
  std::map<std::pair<NativeModuleId, uint64_t>, NativeFrameId> frame_rows_;
  std::map<std::pair<NativeFrameId, NativeStackId>, NativeStackId> stack_rows_;
};

}  // namespace batchlight
