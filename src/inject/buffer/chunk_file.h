// The process's recording file in the live folder: places for chunks, within the memory budget.
// No descriptor stays open: a program that closes or reuses descriptors must not reach our file.
#pragma once

#include <cstddef>
#include <cstdint>

namespace batchlight::inject {

inline constexpr uint32_t kDefaultBudgetBytes = 64u << 20;
inline constexpr uint32_t kDefaultFirstChunkBytes = 8u << 10;
inline constexpr uint32_t kDefaultMaxChunkBytes = 1u << 20;

enum class ChunkFault { kNone, kBudget, kFile };

struct Chunk {
  char* base = nullptr;  // mapped, shared with the file, zero
  uint32_t bytes = 0;
};

// Reserves and maps the next chunk of the process file: `wanted` bytes, fewer when the budget or
// the disk is short, never fewer than `least`. The caller closes its present chunk next, which
// returns `replaces` bytes to the budget. Counts nothing: the caller knows what a fault loses.
ChunkFault OpenChunk(uint32_t wanted, uint32_t least, uint32_t replaces, Chunk* chunk);

// Unmaps it. Its bytes stay in the file and no longer count against the budget.
void CloseChunk(const Chunk& chunk);

// For memory of ours that is not a chunk but counts against the same budget.
bool TakeBudget(size_t bytes);
void ReturnBudget(size_t bytes);

// The same for memory of the calling thread's stream, as chunks are. What the thread has taken so
// far goes back at once if it leaves the recorder in the middle.
bool TakeThreadBudget(size_t bytes);
void ReturnThreadBudget(size_t bytes);
void ReturnAllThreadBudget();

uint32_t FirstChunkBytes();
uint32_t MaxChunkBytes();

// True once this process has a file, i.e. has recorded something.
bool HasProcessFile();
// The disk had no file for it, which the control page counts.
bool WasLeftOut();

// Forgets the parent's file in a forked child.
void ForgetProcessFile();

}  // namespace batchlight::inject
