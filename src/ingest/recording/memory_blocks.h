// Blocks of memory from allocations and frees, which any thread of a process may make.
#pragma once

#include <cstdint>
#include <span>

#include "ingest/decode/fragment.h"

namespace batchlight {

// Property of the session: bytes between two blocks that are looked at, in the mean. Without it, or
// with 0, all are.
inline constexpr char kMemoryInterval[] = "session.memory_sampling_bytes";

// What a sampled block stands for. Bytes are looked at with the same chance, one in `interval` of
// them, so a block of s bytes is among the sampled ones with the probability 1 - exp(-s / interval)
// and stands for s divided by that (Horvitz and Thompson, 1952).
uint64_t RepresentedBytes(uint64_t bytes, double interval);

// Gives the rows of store.memory_blocks, which are joined, their ends and what they represent. A
// free without a block is of one that was not looked at; a block at the address of one that is not
// freed ends that, whose free was missed.
void PairMemoryBlocks(std::span<const Fragment> fragments, Store& store);

}  // namespace batchlight
