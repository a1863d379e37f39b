// Turns a buffer of CUPTI's records into our records, in the calling thread's stream. Runs on
// CUPTI's worker thread or on ours, never on a thread that launches.
#pragma once

#include <cstddef>
#include <cstdint>

#include "inject/cupti/library.h"

namespace batchlight::inject::cupti {

struct DecodeTotals {
  uint64_t records = 0;
  uint64_t incomplete = 0;  // work that had not ended when the process did
};

struct DecodeFilter {
  uint32_t own_tid;  // API calls of this thread are ours
  bool facts_only;   // nothing has been collected yet: devices, contexts and streams only
};

// Decodes the first `valid_bytes` of `buffer`. What cannot be written is counted by the stream.
DecodeTotals DecodeBuffer(const Library& library, DecodeFilter filter, uint8_t* buffer,
                          size_t valid_bytes);

}  // namespace batchlight::inject::cupti
