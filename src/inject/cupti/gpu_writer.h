// Writes [gpu time] records into the calling thread's stream: opens each chunk's time base, and
// leaves out the zero words at a record's end.
#pragma once

#include <cstdint>

#include "format/records.h"
#include "inject/buffer/thread_stream.h"

namespace batchlight::inject::cupti {

class GpuWriter {
 public:
  GpuWriter(const Guard& guard, int64_t cupti_now_ns)
      : stream_(ThreadStream::Current(guard)), now_ns_(cupti_now_ns) {}

  // Room for a record and its strings in one chunk. False: dropped, and counted.
  bool Ensure(size_t bytes) {
    constexpr size_t kBaseBytes = sizeof(format::GpuTimeBaseRecord);
    if (stream_ == nullptr || !stream_->Ensure(bytes + kBaseBytes)) return false;
    if (t_thread.chunk_count != t_based_chunk) WriteBase();
    return true;
  }

  format::StringRef Intern(const void* text, size_t bytes) {
    return stream_->Intern(static_cast<const char*>(text), bytes);
  }

  // A record that began at `cupti_ns`.
  template <class R>
  void Write(const R& record, uint64_t cupti_ns) {
    const int64_t since_base = static_cast<int64_t>(cupti_ns) - t_base_ns;
    const int64_t time = since_base + format::kGpuTimeBias;
    const bool fits = time >= 0 && static_cast<uint64_t>(time) <= format::kMaxTicksInChunk;
    stream_->WriteTrimmed(record, fits ? static_cast<uint64_t>(time) : 0);
  }

 private:
  void WriteBase() {
    t_based_chunk = t_thread.chunk_count;
    t_base_ns = now_ns_;
    stream_->Write(format::GpuTimeBaseRecord{.base_ns = now_ns_});
  }

  // The chunk (ThreadState::chunk_count) of this thread that has a base, and that base.
  static __thread uint32_t t_based_chunk;
  static __thread int64_t t_base_ns;

  ThreadStream* const stream_;
  const int64_t now_ns_;
};

}  // namespace batchlight::inject::cupti
