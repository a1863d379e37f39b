// What the tool reads while a program runs: files that it mapped, the kernel's rings, and the
// helper that samples GPUs.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "capture/cpu/perf_record.h"
#include "capture/recording/sample_frames.h"
#include "fuzz_inputs.h"
#include "native/inlined_functions.h"
#include "native/unwinder.h"
#include "tests/fuzz/input_file.h"
#include "tests/fuzz/targets.h"

namespace batchlight::fuzz {
namespace {

constexpr size_t kMostFrames = 64;
constexpr uint64_t kCodeAt = 0x10000;
constexpr uint64_t kStackAt = 0x7f0000000000;

volatile uint64_t g_seen = 0;

template <typename T>
T ReadFrom(std::span<const uint8_t>& bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), std::min(sizeof value, bytes.size()));
  bytes = bytes.subspan(std::min(sizeof value, bytes.size()));
  return value;
}

// Functions lie beside each other, and each has its name in the file.
void CheckFunctions(const native::ElfFile& file) {
  uint64_t last = 0;
  uint64_t symbols_left = native::kMostSymbols;
  for (const native::Function& function : file.Functions(symbols_left)) {
    if (function.begin < last || function.name.empty()) std::abort();
    last = function.begin;
  }
}

// Places all over the file, in its own debug information.
void CheckInlined(const native::ElfFile& file, size_t size) {
  constexpr uint64_t kStep = 16;
  std::vector<uint64_t> places;
  for (uint64_t at = 0; at < size + (64 << 10); at += kStep) places.push_back(at);
  native::DwarfBudget budget;
  budget.work_left = 16 << 20;
  budget.memory_left = 16 << 20;
  const native::InlinedFunctions found =
      native::FindInlinedFunctions(file, nullptr, places, budget);
  if (budget.memory_left != 16 << 20) std::abort();
  for (const auto& calls : found.calls) {
    if (calls.size() > native::kMostInlinedCalls) std::abort();
    for (const uint32_t call : calls) g_seen = g_seen + found.names[call].size();
  }
}

}  // namespace

// The end of the input is the stack; the whole is the file.
void FuzzNative(const uint8_t* data, size_t size) {
  const InputFile input(data, size);
  size_t kept_rows = 0;
  native::Module module(input.path(), kept_rows);
  native::AddressSpace space;
  space.Map(kCodeAt, std::max<size_t>(size, 4096), 0, &module);
  space.Map(kCodeAt + 0x100000, 4096, 4096, &module);
  if (module.file() != nullptr) {
    CheckFunctions(*module.file());
    CheckInlined(*module.file(), size);
  }
  std::span<const uint8_t> words(data + size / 2, size - size / 2);
  const native::StackCopy stack(words, kStackAt);
  uint64_t work_left = 1 << 20;
  for (int walk = 0; walk < 16; ++walk) {
    native::Registers registers;
    registers.pc = kCodeAt + ReadFrom<uint64_t>(words) % std::max<size_t>(size, 4096);
    for (size_t number = 0; number < native::kRegisters; ++number) {
      registers.Set(number, kStackAt + (ReadFrom<uint16_t>(words) & ~7u));
    }
    std::vector<native::CodePlace> frames;
    (void)native::WalkStack(space, registers, stack, kMostFrames, frames, work_left);
    if (frames.size() > kMostFrames) std::abort();
  }
}

// Eight bytes say what a sample has; then come records.
void FuzzPerfRecord(const uint8_t* data, size_t size) {
  std::span<const uint8_t> rest(data, size);
  const auto sample_type = ReadFrom<uint64_t>(rest);
  while (!rest.empty()) {
    const size_t wanted = size_t{1} + ReadFrom<uint16_t>(rest);
    const size_t length = std::min(wanted, rest.size());
    const capture::PerfRecord record = capture::DecodePerfRecord(rest.first(length), sample_type);
    uint64_t sum = record.stack.size() + record.name.size();
    for (const uint8_t byte : record.stack) sum += byte;
    for (const char letter : record.name) sum += static_cast<uint8_t>(letter);
    capture::VisitChain(record.chain, [&](uint64_t address, bool) { sum += address; });
    g_seen = sum;  // every byte that a record names was read
    rest = rest.subspan(length);
  }
}

// In pieces, as it comes out of a pipe: where it is cut changes nothing.
void FuzzGpuSamples(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto taken = [&](size_t piece) {
    capture::SampleFrames frames;
    std::vector<uint64_t> seen;
    frames.on_metric = [&](const capture::GpuMetricDefinition& metric) {
      seen.push_back(metric.device + metric.name.size());
    };
    frames.on_sample = [&](const capture::GpuSample& sample) {
      seen.push_back(sample.start_ns + sample.values.size());
    };
    frames.on_reason = [&](std::string_view reason) { seen.push_back(reason.size()); };
    frames.on_lost = [&](uint64_t samples) { seen.push_back(samples); };
    for (size_t at = 0; at < text.size() && frames.Take(text.substr(at, piece)); at += piece) {
    }
    return seen;
  };
  if (taken(1 + size / 3) != taken(std::max<size_t>(size, 1))) std::abort();
}

}  // namespace batchlight::fuzz
