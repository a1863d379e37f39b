// Which part of a file lies in memory: what makes a read warm.
#pragma once

#include <cstdint>
#include <optional>

namespace batchlight::probe {

// Asks the kernel to forget the file's pages. What is not on the disk yet stays: fsync first. A
// file system in memory, or one that ignores the request, keeps all: see ResidentBytes().
void DropFromCache(int fd);

// How many of the first `bytes` of an own file lie in memory, by mincore(); nullopt: not to be
// found out here.
std::optional<uint64_t> ResidentBytes(int fd, uint64_t bytes);

}  // namespace batchlight::probe
