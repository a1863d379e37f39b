// Numbers as the bytes that the page reads.
#pragma once

#include <bit>
#include <string>

namespace batchlight::timeline {

static_assert(std::endian::native == std::endian::little);

template <typename T>
void Put(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

}  // namespace batchlight::timeline
