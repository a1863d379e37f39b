// What the kernel says in small files of /proc and /sys.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace batchlight {

// Without its end; "" where there is none.
std::string FirstLineOf(const std::string& path);

// The number behind `key` in a file of lines "key number"; an empty key is the whole file.
// `fallback` where there is none ("max").
uint64_t NumberIn(const std::string& path, std::string_view key, uint64_t fallback);

}  // namespace batchlight
