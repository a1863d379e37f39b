#include "inject/buffer/scratch_stream.h"

#include "inject/rt/sys.h"

namespace batchlight::inject {

ScratchStream::ScratchStream() : before_(t_thread.stream), page_(sys::MapMemory(kBytes)) {
  if (page_ == nullptr) return;
  auto* stream = static_cast<ThreadStream*>(page_);
  char* chunk = static_cast<char*>(page_) + format::kPageBytes;
  stream->StartScratch({chunk, static_cast<uint32_t>(kBytes - format::kPageBytes)});
  t_thread.stream = stream;
}

ScratchStream::~ScratchStream() {
  if (page_ == nullptr) return;
  t_thread.stream = before_;
  static_cast<ThreadStream*>(page_)->EndScratch();
  sys::Unmap(page_, kBytes);
}

size_t ScratchStream::RecordCount() const {
  if (page_ == nullptr) return 0;
  const char* const chunk = static_cast<char*>(page_) + format::kPageBytes;
  const size_t end = static_cast<ThreadStream*>(page_)->position();
  size_t count = 0;
  for (size_t at = sizeof(format::ChunkHeader); at < end;) {
    uint64_t head, words;
    std::memcpy(&head, chunk + at, sizeof head);
    words = head >> 8 & 0xff;
    if (words == 0) std::memcpy(&words, chunk + at + 8, sizeof words);
    if (words == 0) break;
    if ((head & 0xff) != static_cast<uint8_t>(format::RecordKind::kString)) ++count;
    at += words * 8;
  }
  return count;
}

}  // namespace batchlight::inject
