// One round of fuzzing: any bytes as a sealed file or as a process file must give a store or an
// error, and what is given must keep the store's promises. Aborts otherwise.
#pragma once

#include <cstddef>
#include <cstdint>

namespace batchlight::fuzz {

void FuzzRecording(const uint8_t* data, size_t size);

}  // namespace batchlight::fuzz
