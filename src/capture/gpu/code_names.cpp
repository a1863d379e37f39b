#include "capture/gpu/code_names.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>

#include "base/child.h"
#include "base/trusted_path.h"
#include "capture/gpu/disassembly.h"
#include "capture/loop/clock.h"
#include "capture/program/brief_child.h"
#include "capture/recording/tool_chunks.h"
#include "format/chunk_scan.h"
#include "native/gpu_code.h"

namespace batchlight::capture {
namespace {

namespace fs = std::filesystem;
using format::RecordKind;

constexpr uint64_t kMostCodeBytes = 16u << 20;  // as inject/counting/gpu_modules.cpp keeps
constexpr size_t kMostDisassembled = 64;        // modules
// The program is over and waits for its recording: of all modules together.
constexpr double kDisassemblySeconds = 60;
constexpr size_t kMostTextBytes = 256u << 20;  // of a module

struct Module {
  uint64_t total_bytes = 0;
  uint64_t held_bytes = 0;
  std::map<uint64_t, std::string> pieces;  // by place
  // Of each function the offsets that were sampled.
  std::map<std::string, std::set<uint64_t>> sampled;

  // "" unless it is all there. No memory is taken for what is only said to be there.
  std::string Code() const {
    std::string code;
    if (held_bytes != total_bytes) return code;
    code.resize(total_bytes);
    for (const auto& [offset, bytes] : pieces) code.replace(offset, bytes.size(), bytes);
    return code;
  }
};
using Modules = std::map<uint64_t, Module>;  // by checksum

void TakePiece(const format::GpuCodeRecord& record, std::string_view bytes, Modules& modules) {
  if (record.total_bytes > kMostCodeBytes || record.offset > record.total_bytes ||
      bytes.size() > record.total_bytes - record.offset) {
    return;
  }
  Module& module = modules[record.cubin];
  if (module.pieces.empty()) module.total_bytes = record.total_bytes;
  if (module.total_bytes != record.total_bytes ||
      !module.pieces.try_emplace(record.offset, bytes).second) {
    return;
  }
  module.held_bytes += bytes.size();
}

void TakeChunk(const format::ChunkView& chunk, Modules& modules) {
  std::unordered_map<uint32_t, std::string_view> strings;
  format::RecordReader reader(chunk);
  for (format::RecordView view; reader.Next(view);) {
    if (view.kind == RecordKind::kString) {
      const auto record = view.As<format::StringRecord>();
      strings[record.id] = view.BytesAfter<format::StringRecord>(record.byte_count);
    } else if (view.kind == RecordKind::kStallSample) {
      const auto record = view.As<format::StallSampleRecord>();
      modules[record.cubin].sampled[std::string(strings[record.function])].insert(record.offset);
    } else if (view.kind == RecordKind::kGpuCode) {
      const auto record = view.As<format::GpuCodeRecord>();
      TakePiece(record, view.BytesAfter<format::GpuCodeRecord>(record.byte_count), modules);
    }
  }
}

// nvdisasm may hang or go on without an end, as the code is the program's.
class Disassembler {
 public:
  explicit Disassembler(const std::string& program) : program_(program) {
    // Who exchanges a file of it gives nvdisasm other code, which is a stranger's in any case.
    if (auto place = FindTemporaryPlace(); place.ok()) place_ = std::move(place).value().path;
  }

  // What it prints of the code; "": it does not know it, or there is no time left.
  std::string TextOf(const std::string& code) {
    std::string path = place_ + "/batchlight-XXXXXX";
    const int fd = program_.empty() || place_.empty() || is_late_ || asked_++ >= kMostDisassembled
                       ? -1
                       : mkostemp(path.data(), O_CLOEXEC);
    if (fd < 0) return "";
    const bool written = write(fd, code.data(), code.size()) == static_cast<ssize_t>(code.size());
    close(fd);
    std::string text;
    if (written) text = Print(path);
    unlink(path.c_str());
    return text;
  }
  bool is_late() const { return is_late_; }

 private:
  std::string Print(const std::string& path) {
    constexpr double kNsPerSecond = 1e9;
    const double spent_s = static_cast<double>(MonotonicNow() - start_ns_) / kNsPerSecond;
    const int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
    BriefOutput output =
        RunBriefly({.words = {program_, "-c", path}, .path = program_, .error_fd = nothing},
                   {.seconds = kDisassemblySeconds - spent_s, .bytes = kMostTextBytes});
    if (nothing >= 0) close(nothing);
    is_late_ = output.was_ended;
    if (is_late_ || output.child.error != 0 || output.child.wait_status != 0) return "";
    return std::move(output.child.text);
  }

  const std::string program_;
  std::string place_;
  const int64_t start_ns_ = MonotonicNow();
  size_t asked_ = 0;
  bool is_late_ = false;
};

class Writer {
 public:
  explicit Writer(ToolChunks chunks) : chunks_(std::move(chunks)) {}

  void Write(uint64_t cubin, const std::string& function, uint64_t offset,
             const native::SourceLine& line, std::string_view text) {
    if (line.line == 0 && text.empty()) return;
    const size_t bytes = sizeof(format::GpuInstructionRecord) + function.size() + text.size() +
                         line.file.size() + 4 * 32;
    format::ChunkWriter* const writer = chunks_.ForRecord(bytes, MonotonicNow());
    if (writer == nullptr) return;
    if (chunk_ != chunks_.chunk_index()) strings_.clear();
    chunk_ = chunks_.chunk_index();
    const auto ticks = static_cast<uint64_t>(MonotonicNow());
    format::GpuInstructionRecord record{};
    record.cubin = cubin;
    record.offset = offset;
    record.function = Text(function, ticks, *writer);
    record.text = Text(text, ticks, *writer);
    record.file = Text(line.file, ticks, *writer);
    record.line = line.line;
    writer->Add(record, ticks);
  }

 private:
  format::StringRef Text(std::string_view text, uint64_t ticks, format::ChunkWriter& writer) {
    if (text.empty()) return 0;
    const auto [place, is_new] = strings_.try_emplace(std::string(text), 0);
    if (is_new) place->second = writer.AddString(text, ticks);
    return place->second;
  }

  ToolChunks chunks_;
  uint32_t chunk_ = UINT32_MAX;
  std::unordered_map<std::string, format::StringRef> strings_;  // of the chunk
};

}  // namespace

std::string FindDisassembler(const std::string& cupti_folder) {
  constexpr char kName[] = "nvdisasm";
  std::string found = FindOwnProgram(kName);
  if (!found.empty()) return found;
  std::vector<fs::path> folders;
  if (const char* const cuda = std::getenv("CUDA_HOME")) folders.push_back(fs::path(cuda) / "bin");
  if (cupti_folder != "-") {  // .../site-packages/nvidia/cu13/lib
    const fs::path packages = fs::path(cupti_folder).parent_path().parent_path().parent_path();
    folders.push_back(packages / "triton/backends/nvidia/bin");
  }
  folders.push_back("/usr/local/cuda/bin");
  for (const fs::path& folder : folders) {
    const std::string program = (folder / kName).string();
    if (folder.is_absolute() && access(program.c_str(), X_OK) == 0) return program;
  }
  return "";
}

Status NameGpuCode(const LiveFolder& live_folder, const GpuCodeWords& words) {
  Modules modules;
  for (const std::string& name : live_folder.ProcessFiles()) {
    ASSIGN_OR_RETURN(const std::optional<MappedFile> file, live_folder.Map(name));
    if (!file) continue;
    std::vector<format::ChunkView> chunks;
    (void)format::ScanProcessFile(file->bytes(), chunks);
    for (const format::ChunkView& chunk : chunks) {
      if (chunk.header.pid != 0) TakeChunk(chunk, modules);
    }
  }
  std::erase_if(modules, [](const auto& entry) {
    return entry.second.sampled.empty() || entry.second.pieces.empty();
  });
  if (modules.empty()) return {};
  constexpr uint32_t kFirstStream = 16;  // of the tool's chunks
  constexpr size_t kChunkBytes = 256 << 10;
  ASSIGN_OR_RETURN(
      ToolChunks chunks,
      ToolChunks::Create(live_folder, {.file = "code" + std::to_string(words.capture) + ".blp",
                                       .thread_index = kFirstStream + words.capture,
                                       .chunk_bytes = kChunkBytes}));
  chunks.SetCapture(words.capture);
  Writer writer(std::move(chunks));
  Disassembler disassembler(words.disassembler);
  for (const auto& [cubin, module] : modules) {
    const std::string image = module.Code();
    if (image.empty()) continue;
    const auto* const bytes = reinterpret_cast<const uint8_t*>(image.data());
    const native::GpuCode code(std::span(bytes, image.size()));
    const Disassembly texts = ParseDisassembly(disassembler.TextOf(image));
    for (const auto& [function, offsets] : module.sampled) {
      for (const uint64_t offset : offsets) {
        writer.Write(cubin, function, offset, code.LineOf(function, offset),
                     InstructionAt(texts, function, offset));
      }
    }
  }
  if (!disassembler.is_late()) return {};
  return OutputError("sampled instructions have no text from some module on: " +
                     words.disassembler + " did not come to an end");
}

}  // namespace batchlight::capture
