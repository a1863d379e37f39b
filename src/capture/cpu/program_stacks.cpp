#include "capture/cpu/program_stacks.h"

#include <vector>

#include "capture/loop/clock.h"
#include "format/chunk_scan.h"

namespace batchlight::capture {

using format::RecordKind;

Result<ProgramStacks> ProgramStacks::Create(const LiveFolder& live_folder,
                                            const std::optional<FileOwner>& user) {
  constexpr uint32_t kStream = 3;
  ASSIGN_OR_RETURN(CpuLog log, CpuLog::Create(live_folder, kNamesFile, kStream));
  return ProgramStacks(std::move(log), user);
}

Status ProgramStacks::Name(const LiveFolder& live_folder, uint32_t capture_index) {
  for (const std::string& name : live_folder.ProcessFiles()) {
    ASSIGN_OR_RETURN(const std::optional<MappedFile> file, live_folder.Map(name));
    if (!file) continue;
    std::vector<format::ChunkView> chunks;
    (void)format::ScanProcessFile(file->bytes(), chunks);
    for (const format::ChunkView& chunk : chunks) {
      if (chunk.header.pid != 0) TakeChunk(chunk);
    }
  }
  log_.SetCapture(capture_index);
  const FileRights rights(user_);
  log_.AddNames(false, MonotonicNow());
  return {};
}

// Ids are the chunk's own: strings and modules are defined before they are used.
void ProgramStacks::TakeChunk(const format::ChunkView& chunk) {
  std::unordered_map<uint32_t, std::string_view> strings;
  std::unordered_map<uint32_t, native::Module*> modules;
  format::RecordReader reader(chunk);
  for (format::RecordView view; reader.Next(view);) {
    if (view.kind == RecordKind::kString) {
      const auto record = view.As<format::StringRecord>();
      strings[record.id] = view.BytesAfter<format::StringRecord>(record.byte_count);
    } else if (view.kind == RecordKind::kNativeModule) {
      const auto record = view.As<format::NativeModuleRecord>();
      modules[record.id] = ModuleOf(std::string(strings[record.path]), strings[record.build_id]);
    } else if (view.kind == RecordKind::kNativeStack) {
      const auto record = view.As<format::NativeStackRecord>();
      native::Module* module = modules[record.module];
      if (module != nullptr && known_.insert({module, record.address}).second) {
        log_.AddPlace(*module, record.address);
      }
    }
  }
}

native::Module* ProgramStacks::ModuleOf(const std::string& path, std::string_view build_id) {
  if (!path.starts_with('/') && path != native::kVdso) return nullptr;
  const FileRights rights(user_);
  native::Module* module = modules_.Find(path);
  return module != nullptr && module->build_id() == build_id ? module : nullptr;
}

}  // namespace batchlight::capture
