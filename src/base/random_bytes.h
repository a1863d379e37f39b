// Bytes that nobody can guess, from the operating system.
#pragma once

#include <span>

namespace batchlight {

// False: it gave none (errno).
bool FillRandom(std::span<unsigned char> bytes);

}  // namespace batchlight
