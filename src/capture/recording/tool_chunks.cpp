#include "capture/recording/tool_chunks.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "capture/loop/clock.h"

namespace batchlight::capture {

Result<ToolChunks> ToolChunks::Create(const LiveFolder& live_folder, const Place& place) {
  ToolChunks chunks;
  chunks.fd_ = live_folder.folder().MakePrivateFile(place.file);
  if (chunks.fd_ < 0) {
    return OutputError("cannot write " + live_folder.path() + "/" + place.file + ": " +
                       std::strerror(errno));
  }
  chunks.thread_index_ = place.thread_index;
  chunks.chunk_bytes_ = place.chunk_bytes;
  chunks.attach_ns_ = MonotonicNow();
  return chunks;
}

ToolChunks::ToolChunks(ToolChunks&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      file_bytes_(other.file_bytes_),
      chunk_bytes_(other.chunk_bytes_),
      mapping_(std::exchange(other.mapping_, nullptr)),
      writer_(std::exchange(other.writer_, {})),
      thread_index_(other.thread_index_),
      next_chunk_(other.next_chunk_),
      capture_index_(other.capture_index_),
      attach_ns_(other.attach_ns_),
      last_ns_(other.last_ns_) {}

ToolChunks::~ToolChunks() {
  CloseChunk();
  if (fd_ >= 0) close(fd_);
}

bool ToolChunks::OpenChunk(int64_t at_ns) {
  CloseChunk();
  const auto offset = static_cast<off_t>(file_bytes_);
  if (const int error = posix_fallocate(fd_, offset, static_cast<off_t>(chunk_bytes_));
      error != 0) {
    errno = error;
    return false;
  }
  void* memory = mmap(nullptr, chunk_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, offset);
  if (memory == MAP_FAILED) return false;
  mapping_ = memory;
  file_bytes_ += chunk_bytes_;
  format::ChunkHeader header{};
  header.tid = thread_index_;
  header.thread_index = thread_index_;
  header.chunk_index = next_chunk_++;
  header.capture_index = capture_index_;
  header.clock_kind = static_cast<uint32_t>(format::ClockKind::kMonotonic);
  header.attach_ns = attach_ns_;
  header.base_ticks = static_cast<uint64_t>(at_ns);
  header.base_monotonic_ns = at_ns;
  header.ticks_per_second = 1'000'000'000;
  writer_ = format::ChunkWriter({static_cast<uint8_t*>(memory), chunk_bytes_}, header);
  const int64_t now = MonotonicNow();
  format::ClockSyncRecord sync{};
  sync.monotonic_ns = now;
  sync.realtime_ns = ClockNow(CLOCK_REALTIME);
  writer_.Add(sync, static_cast<uint64_t>(at_ns));
  return true;
}

void ToolChunks::CloseChunk() {
  if (mapping_ == nullptr) return;
  writer_.Close(static_cast<uint64_t>(last_ns_), last_ns_);
  munmap(std::exchange(mapping_, nullptr), chunk_bytes_);
  writer_ = {};
}

format::ChunkWriter* ToolChunks::ForRecord(size_t bytes, int64_t at_ns) {
  if (writer_.Room() < bytes && !OpenChunk(at_ns)) return nullptr;
  last_ns_ = std::max(last_ns_, at_ns);
  return &writer_;
}

void ToolChunks::SetCapture(uint32_t capture_index) {
  if (capture_index == capture_index_) return;
  capture_index_ = capture_index;
  CloseChunk();
}

}  // namespace batchlight::capture
