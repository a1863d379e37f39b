// The records of the kernel's rings, decoded.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "native/registers.h"

namespace batchlight::capture {

enum class PerfKind { kOther, kSample, kSwitch, kMap, kName, kBegin, kEnd, kLost };

struct PerfRecord {
  PerfKind kind = PerfKind::kOther;
  int64_t at_ns = 0;  // CLOCK_MONOTONIC
  uint32_t pid = 0;
  uint32_t tid = 0;
  uint32_t cpu = 0;

  // kSample
  bool in_kernel = false;
  uint64_t ip = 0;
  std::span<const uint8_t> chain;  // addresses of 8 bytes, with marks of where they lie
  bool has_registers = false;
  native::Registers registers;
  std::span<const uint8_t> stack;  // from the stack pointer on

  // kSwitch
  bool switched_out = false;
  bool preempted = false;

  // kMap: code was mapped
  uint64_t begin = 0;
  uint64_t bytes = 0;
  uint64_t file_offset = 0;
  // kMap: the file; kName: the thread's name
  std::string_view name;
  bool by_exec = false;  // kName

  uint32_t parent_pid = 0;  // kBegin
  uint64_t lost = 0;        // kLost
};

// `sample_type`: as the samples' event was opened; other records carry thread, time and processor
// behind them. Other kinds and records that are too short come as kOther.
PerfRecord DecodePerfRecord(std::span<const uint8_t> bytes, uint64_t sample_type);

// visit(address, in_kernel) for each address of a chain, innermost first.
template <typename Visitor>
void VisitChain(std::span<const uint8_t> chain, Visitor&& visit) {
  // Marks of whose addresses follow (PERF_CONTEXT_*) are the highest numbers there are.
  constexpr uint64_t kFirstMark = static_cast<uint64_t>(-4095);
  constexpr uint64_t kKernelMark = static_cast<uint64_t>(-128);
  bool in_kernel = false;
  for (size_t at = 0; at + 8 <= chain.size(); at += 8) {
    uint64_t address = 0;
    std::memcpy(&address, chain.data() + at, sizeof address);
    if (address >= kFirstMark) {
      in_kernel = address == kKernelMark;
    } else {
      visit(address, in_kernel);
    }
  }
}

}  // namespace batchlight::capture
