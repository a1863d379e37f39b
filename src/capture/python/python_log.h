// LIVE_FOLDER/python.blp: samples of Python code as records, each stack written once a chunk.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <tuple>

#include "capture/python/code_names.h"
#include "capture/recording/tool_chunks.h"

namespace batchlight::capture {

class PythonLog {
 public:
  static Result<PythonLog> Create(const LiveFolder& live_folder);

  void SetCapture(uint32_t capture_index) { chunks_.SetCapture(capture_index); }
  // `sample.stack` is filled in here. `frames`: innermost first.
  void Add(format::PythonSampleRecord sample, std::span<const NamedFrame> frames, int64_t at_ns);

 private:
  explicit PythonLog(ToolChunks chunks) : chunks_(std::move(chunks)) {}
  uint32_t CodeId(const std::shared_ptr<const PythonCode>& code, uint64_t ticks,
                  format::ChunkWriter& writer);

  ToolChunks chunks_;
  // Of the present chunk.
  uint32_t chunk_ = UINT32_MAX;
  std::map<std::shared_ptr<const PythonCode>, uint32_t> codes_;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint32_t> stacks_;  // parent, code, line
};

}  // namespace batchlight::capture
