// The step board of `profile --monitor`: how long each step took, told by every process of the
// program as its steps end. The tool makes the file `steps` in the live folder and maps it; each
// process that steps maps it too. FORMAT.md draws it.
//
// Storing an entry is a few plain stores: no lock, no system call, no allocation. A reader that
// comes too late for an entry (the ring has gone round) sees another step's number, no torn entry.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "format/records.h"

namespace batchlight::format {

inline constexpr char kStepBoardFile[] = "steps";
inline constexpr uint64_t kStepBoardMagic = 0x31445242504554ff;  // bytes ff "TEPBRD1"
inline constexpr uint32_t kBoardSlots = 64;                      // processes
inline constexpr uint32_t kBoardEntries = 1023;                  // steps of a process

// The phases whose time an entry has, in its order. Of two that are open at once the inner one
// counts.
inline constexpr Phase kBoardPhases[] = {
    Phase::kDataLoaderNext, Phase::kDataLoaderInit, Phase::kCopyToDevice, Phase::kBackward,
    Phase::kOptimizerStep,  Phase::kZeroGrad,       Phase::kGradScaler,   Phase::kCheckpoint,
    Phase::kCompile,        Phase::kEvaluationCall,
};
inline constexpr size_t kBoardPhaseCount = sizeof kBoardPhases / sizeof kBoardPhases[0];

struct BoardEntry {
  std::atomic<uint64_t> step;         // from 1, stored last (release); 0 = being written
  std::atomic<int64_t> end_ns;        // CLOCK_MONOTONIC
  std::atomic<uint64_t> duration_ns;  // since the step before ended; 0 = nobody saw that
  std::atomic<uint32_t> phase_us[kBoardPhaseCount];
};
static_assert(sizeof(BoardEntry) == 64);

struct BoardSlot {
  std::atomic<uint32_t> pid;       // of the process that has taken it; 0 = free
  std::atomic<int32_t> rank;       // as its launcher says; -1 = unknown
  std::atomic<int64_t> attach_ns;  // of the process; stored last (release), 0 = not yet
  std::atomic<uint64_t> steps;     // that have ended and are written
  uint64_t reserved[5];
  BoardEntry entries[kBoardEntries];  // step N is in (N - 1) % kBoardEntries
};
static_assert(sizeof(BoardSlot) == 64 * 1024);

struct StepBoard {
  std::atomic<uint64_t> magic;  // kStepBoardMagic, stored last by the tool
  // The steps to record next: PackRequest(), 0 = none. Written by the tool.
  std::atomic<uint64_t> request;
  uint64_t reserved[510];
  BoardSlot slots[kBoardSlots];
};
static_assert(sizeof(StepBoard) == 4096 + kBoardSlots * 64 * 1024);
static_assert(std::atomic<uint64_t>::is_always_lock_free);

// Steps in one word, so that none reads half of a request: the first, from 1, and how many.
inline constexpr int kRequestCountBits = 24;
inline constexpr uint64_t kMostRequestedSteps = (uint64_t{1} << kRequestCountBits) - 1;
inline constexpr uint64_t kLastRequestableStep = (uint64_t{1} << (64 - kRequestCountBits)) - 1;

struct StepRequest {
  uint64_t first = 0;
  uint64_t count = 0;  // 0: nothing is asked for

  bool Holds(uint64_t step) const { return step >= first && step - first < count; }
};
constexpr uint64_t PackRequest(StepRequest request) {
  return request.first << kRequestCountBits | request.count;
}
constexpr StepRequest UnpackRequest(uint64_t word) {
  return {.first = word >> kRequestCountBits, .count = word & kMostRequestedSteps};
}

}  // namespace batchlight::format
