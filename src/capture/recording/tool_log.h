// LIVE_FOLDER/tool.blp: what the tool itself knows of a recording, as chunks of pid 0. Written
// through a shared mapping, so it survives the death of the tool like everything else.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "capture/recording/live_folder.h"
#include "capture/recording/sample_frames.h"
#include "format/encode.h"

namespace batchlight::capture {

class ToolLog {
 public:
  static Result<ToolLog> Create(const LiveFolder& live_folder);
  ToolLog(ToolLog&& other) noexcept;
  ToolLog& operator=(ToolLog&& other) = delete;
  ~ToolLog();

  void AddProperty(std::string_view key, std::string_view value);
  void AddProcessStatus(const format::ProcessStatusRecord& status);
  // Why something is missing, for the user.
  void AddReason(std::string_view feature, std::string_view text);
  // Of one of counters.def.
  void AddCounter(format::Counter counter, uint64_t value);
  // A metric of a GPU that samples will have, in the order of their values.
  void DefineGpuMetric(const GpuMetricDefinition& metric);
  void AddGpuSample(const GpuSample& sample);
  // What follows belongs to `capture_index`.
  void SetCapture(uint32_t capture_index);
  // Collection went on or off.
  void AddCaptureWindow(uint32_t capture_index, bool on);

 private:
  ToolLog() = default;
  bool OpenChunk();
  void CloseChunk();
  // Defines metrics in this chunk that it lacks.
  void WriteGpuMetrics(uint64_t now);
  // Calls add() in a chunk with room for `bytes`; a record that finds no disk space is left out.
  template <typename AddRecord>
  void Append(size_t bytes, AddRecord&& add);

  int fd_ = -1;
  uint64_t file_bytes_ = 0;
  void* mapping_ = nullptr;
  format::ChunkWriter writer_;
  uint32_t chunk_index_ = 0;
  uint32_t capture_index_ = 0;
  int64_t attach_ns_ = 0;
  std::vector<GpuMetricDefinition> gpu_metrics_;  // each chunk defines them anew
  size_t gpu_metrics_written_ = 0;                // in the open chunk
};

}  // namespace batchlight::capture
