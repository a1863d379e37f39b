// Numbers as the bytes of these files, which begin with the lowest as this machine's do.
#pragma once

#include <bit>
#include <string>

namespace batchlight {

static_assert(std::endian::native == std::endian::little);

template <typename T>
void AppendRaw(T value, std::string& out) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace batchlight
