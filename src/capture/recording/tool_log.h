// LIVE_FOLDER/tool.blp: what the tool itself knows of a recording.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "capture/recording/sample_frames.h"
#include "capture/recording/tool_chunks.h"

namespace batchlight::capture {

class ToolLog {
 public:
  static Result<ToolLog> Create(const LiveFolder& live_folder);

  void AddProperty(std::string_view key, std::string_view value);
  // Of one of counters.def.
  void AddCounter(format::Counter counter, uint64_t value);
  // A metric of a GPU that samples will have, in the order of their values.
  void DefineGpuMetric(const GpuMetricDefinition& metric);
  void AddGpuSample(const GpuSample& sample);
  void AddProcessStatus(const format::ProcessStatusRecord& status);
  // Why something is missing, for the user.
  void AddReason(std::string_view feature, std::string_view text);
  // What follows belongs to `capture_index`.
  void SetCapture(uint32_t capture_index) { chunks_.SetCapture(capture_index); }
  // Collection went on or off.
  void AddCaptureWindow(uint32_t capture_index, bool on);

 private:
  explicit ToolLog(ToolChunks chunks) : chunks_(std::move(chunks)) {}
  // Calls add(writer, now) for a chunk with room for `bytes`.
  template <typename AddRecord>
  bool Append(size_t bytes, AddRecord&& add);

  // Defines metrics in this chunk that it lacks.
  void WriteGpuMetrics(format::ChunkWriter& writer, uint64_t now);

  ToolChunks chunks_;
  uint32_t chunk_ = 0;
  std::vector<GpuMetricDefinition> gpu_metrics_;  // each chunk defines them anew
  size_t gpu_metrics_written_ = 0;                // in the open chunk
};

}  // namespace batchlight::capture
