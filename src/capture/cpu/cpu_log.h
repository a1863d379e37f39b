// Samples, switches and threads as records, each stack written once a chunk; names of functions.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "capture/recording/tool_chunks.h"
#include "native/address_space.h"
#include "native/inlined_functions.h"

namespace batchlight::capture {

// CpuThread::what
inline constexpr uint32_t kThreadBegan = 0;
inline constexpr uint32_t kThreadNamed = 1;
inline constexpr uint32_t kThreadNamedByExec = 2;
inline constexpr uint32_t kThreadEnded = 3;

// A frame of a stack, for writing: innermost first.
struct StackFrame {
  native::CodePlace place;
  bool in_kernel = false;
};

class CpuLog {
 public:
  // In a file of the tool's in the live folder, which is a stream of its own.
  static Result<CpuLog> Create(const LiveFolder& live_folder, const std::string& file,
                               uint32_t stream);

  void SetCapture(uint32_t capture_index) { chunks_.SetCapture(capture_index); }

  // `sample.stack` is filled in here.
  void AddSample(format::CpuSampleRecord sample, std::span<const StackFrame> frames, int64_t at_ns);
  void AddSwitch(const format::CpuSwitchRecord& record, int64_t at_ns);
  void AddThread(format::CpuThreadRecord record, std::string_view name, int64_t at_ns);
  void AddCounter(format::Counter counter, uint64_t value, int64_t at_ns);
  // A place of somebody else's frames, to be named too.
  void AddPlace(const native::Module& module, uint64_t address);
  // Names of the functions in which the frames lie that were written so far, and of those inlined
  // there, of files and, if `kernel`, of the kernel. Each capture needs them.
  void AddNames(bool kernel, int64_t at_ns);

 private:
  using Place = std::pair<const native::Module*, uint64_t>;  // null: of the kernel

  explicit CpuLog(ToolChunks chunks) : chunks_(std::move(chunks)) {}

  template <typename Record>
  void Add(const Record& record, int64_t at_ns);
  // The writer of a chunk, with what was defined in another forgotten.
  format::ChunkWriter* Writer(size_t bytes, int64_t at_ns);
  uint32_t ModuleId(const native::Module* module, bool in_kernel, uint64_t ticks,
                    format::ChunkWriter& writer);
  uint32_t StackId(std::span<const StackFrame> frames, uint64_t ticks, format::ChunkWriter& writer);
  // Places of one file, in order, with what tells of them.
  struct FilePlaces {
    std::span<const Place> places;
    std::unique_ptr<native::ElfFile> debug_file;
    native::InlinedFunctions inlined;
  };
  std::vector<FilePlaces> PlacesByFile(native::DwarfBudget& budget, uint64_t& left_out) const;
  void AddNamesOf(const FilePlaces& file, uint64_t& symbols_left, int64_t at_ns);
  void AddInlinedIn(const FilePlaces& file, int64_t at_ns);
  void AddKernelNames(int64_t at_ns);
  void AddName(const native::Module* module, bool in_kernel, uint64_t begin, uint64_t end,
               std::string_view name, int64_t at_ns);

  ToolChunks chunks_;
  // Of the present chunk.
  uint32_t chunk_ = UINT32_MAX;
  std::map<std::pair<const native::Module*, bool>, uint32_t> modules_;
  std::map<std::tuple<uint32_t, uint32_t, uint64_t>, uint32_t> stacks_;  // parent, module, address
  std::unordered_map<const std::string*, format::StringRef> inlined_names_;
  // All places that were written.
  std::vector<Place> places_;
  std::vector<Place> kernel_places_;
};

}  // namespace batchlight::capture
