// While one lives, this thread records into memory that is then thrown away, so that recording can
// be timed in the program without leaving a trace in the recording. Not within a Guard. Holds a few
// thousand records; the rest are dropped, uncounted.
#pragma once

#include <cstddef>

#include "inject/buffer/thread_stream.h"

namespace batchlight::inject {

class ScratchStream {
 public:
  ScratchStream();
  ~ScratchStream();
  ScratchStream(const ScratchStream&) = delete;
  ScratchStream& operator=(const ScratchStream&) = delete;

  // False: no memory; nothing was changed.
  explicit operator bool() const { return page_ != nullptr; }

  // Records written so far, without the definitions of strings.
  size_t RecordCount() const;

 private:
  static constexpr size_t kBytes = 256u << 10;

  ThreadStream* const before_;
  void* page_;  // the stream, then its chunk
};

}  // namespace batchlight::inject
