// One round of fuzzing: any bytes must give a store or an error, and what is given must keep the
// store's promises. Aborts otherwise.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/status.h"
#include "store/store.h"

namespace batchlight::fuzz {

// Aborts unless the store keeps its promises, or the error is one of reading.
void CheckResult(const Result<Store>& store);

// The first byte picks how the rest is read: 0 sealed file, 1 process file, 2 Kineto JSON (or
// gzip).
void FuzzInput(const uint8_t* data, size_t size);

}  // namespace batchlight::fuzz
