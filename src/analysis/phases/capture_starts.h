// Where the program itself began to collect because a step had ended there (--steps, --every).
// Collecting from the start of the process on is no such place.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "store/store.h"

namespace batchlight {

class CaptureStarts {
 public:
  CaptureStarts(const Store& store, ProcessId process);

  // The last capture that began between the two; nothing if none did.
  std::optional<int64_t> OpenedWithin(int64_t begin_ns, int64_t end_ns) const;

  // When the collecting that goes on at this moment began, whatever began it.
  int64_t LastWindow(int64_t time_ns) const;

 private:
  std::vector<int64_t> windows_;
  std::vector<int64_t> starts_;
};

}  // namespace batchlight
