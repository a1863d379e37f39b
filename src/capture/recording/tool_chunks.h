// Chunks that the tool itself writes, of pid 0, in a file of their own in the live folder. Written
// through a shared mapping, so they survive the death of the tool like everything else.
#pragma once

#include <string>

#include "base/status.h"
#include "capture/recording/live_folder.h"
#include "format/encode.h"

namespace batchlight::capture {

class ToolChunks {
 public:
  struct Place {
    std::string file;           // in the live folder
    uint32_t thread_index = 0;  // of the stream: each file is one of its own
    size_t chunk_bytes = 0;     // room for the longest record with its strings
  };
  // Nothing is written before the first record.
  static Result<ToolChunks> Create(const LiveFolder& live_folder, const Place& place);
  ToolChunks(ToolChunks&& other) noexcept;
  ToolChunks& operator=(ToolChunks&& other) = delete;
  ~ToolChunks();

  // The writer of a chunk with room for `bytes`, for records of that time or later
  // (CLOCK_MONOTONIC). Null: there is no disk space; what finds none is left out.
  format::ChunkWriter* ForRecord(size_t bytes, int64_t at_ns);
  // Changes with every chunk: what chunks define holds within them alone.
  uint32_t chunk_index() const { return next_chunk_; }
  // What follows belongs to `capture_index`.
  void SetCapture(uint32_t capture_index);

 private:
  ToolChunks() = default;
  bool OpenChunk(int64_t at_ns);
  void CloseChunk();

  int fd_ = -1;
  uint64_t file_bytes_ = 0;
  size_t chunk_bytes_ = 0;
  void* mapping_ = nullptr;
  format::ChunkWriter writer_;
  uint32_t thread_index_ = 0;
  uint32_t next_chunk_ = 0;
  uint32_t capture_index_ = 0;
  int64_t attach_ns_ = 0;
  int64_t last_ns_ = 0;
};

}  // namespace batchlight::capture
