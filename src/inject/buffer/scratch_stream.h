// While one lives, what this thread records goes to memory that is thrown away: recording is timed
// in the program itself without a trace of that in the recording. Not within a Guard, and for some
// thousand records at most: what does not fit is dropped, uncounted.
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
