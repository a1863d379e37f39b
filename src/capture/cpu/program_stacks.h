// Native stacks that the program's own threads recorded (CudaBacktrace, OsBacktrace) are addresses:
// here they get the names of their functions.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>

#include "capture/cpu/cpu_log.h"
#include "capture/cpu/file_rights.h"
#include "capture/recording/live_folder.h"
#include "format/decode.h"

namespace batchlight::capture {

class ProgramStacks {
 public:
  // `user`: who runs the program, if that is not the tool's user.
  static Result<ProgramStacks> Create(const LiveFolder& live_folder,
                                      const std::optional<FileOwner>& user);

  // Writes, for `capture_index`, the names of all functions in stacks of the folder: before that is
  // sealed. A file that is
  // not the one that the program had loaded gives none. Errors: a process file cannot be read.
  Status Name(const LiveFolder& live_folder, uint32_t capture_index);

 private:
  ProgramStacks(CpuLog log, const std::optional<FileOwner>& user)
      : log_(std::move(log)), user_(user) {}

  void TakeChunk(const format::ChunkView& chunk);
  native::Module* ModuleOf(const std::string& path, std::string_view build_id);

  CpuLog log_;
  std::optional<FileOwner> user_;
  native::Modules modules_;
  std::set<std::pair<const native::Module*, uint64_t>> known_;  // places that have been taken
};

}  // namespace batchlight::capture
