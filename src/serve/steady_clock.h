// Time that only passes, for how long ago something was.
#pragma once

#include <chrono>
#include <cstdint>

namespace batchlight::serve {

inline int64_t NowMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace batchlight::serve
