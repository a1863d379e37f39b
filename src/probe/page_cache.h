// Which part of a file lies in memory: what makes a read warm.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

namespace batchlight::probe {

// Asks the kernel to forget the file's pages. What is not on the disk yet stays: fsync first. A
// file system in memory, or one that ignores the request, keeps all: see ResidentBytes().
void DropFromCache(int fd);

// How many of the first `bytes` of an own file lie in memory, by mincore(); nullopt: not to be
// found out here.
std::optional<uint64_t> ResidentBytes(int fd, uint64_t bytes);

// The system reads ahead of a reader, up to some MiB, and goes on when that one has ended: the
// pages come in later, warm, and keep the storage busy meanwhile. This drops them until none has
// come for a while, or `limit_ns` is over.
void AwaitReadAhead(int fd, uint64_t bytes, int64_t limit_ns);

// Its waiting: until `count` gave 0 some times in a row, or `is_over`. `count` pauses itself.
void AwaitNothing(const std::function<uint64_t()>& count, const std::function<bool()>& is_over);

}  // namespace batchlight::probe
