// Turns a buffer of CUPTI's records into records of the recording, in the calling thread's stream.
// Runs on CUPTI's worker thread or on ours, never on a thread that launches.
#pragma once

#include <cstddef>
#include <cstdint>

#include "inject/cupti/library.h"

namespace batchlight::inject::cupti {

struct DecodeTotals {
  uint64_t records = 0;
  uint64_t incomplete = 0;  // work that had not ended when the process did
};

// Decodes the first `valid_bytes` of `buffer`, but for the API calls of the thread `own_tid`. What
// cannot be written is counted by the stream.
DecodeTotals DecodeBuffer(const Library& library, uint32_t own_tid, uint8_t* buffer,
                          size_t valid_bytes);

}  // namespace batchlight::inject::cupti
