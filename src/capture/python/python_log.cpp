#include "capture/python/python_log.h"

namespace batchlight::capture {
namespace {

constexpr size_t kChunkBytes = 2 << 20;  // the deepest stack, of functions with the longest names
constexpr uint32_t kStream = 2;

// What a sample takes if it is the first to name all of its functions.
size_t BytesOf(std::span<const NamedFrame> frames) {
  size_t bytes = sizeof(format::PythonSampleRecord);
  for (const NamedFrame& frame : frames) {
    bytes += sizeof(format::PythonStackRecord) + sizeof(format::PythonCodeRecord);
    for (const std::string* text : {&frame.code->file, &frame.code->function}) {
      bytes += sizeof(format::StringRecord) + 16 + format::PadTo8(text->size());
    }
  }
  return bytes;
}

}  // namespace

Result<PythonLog> PythonLog::Create(const LiveFolder& live_folder) {
  ASSIGN_OR_RETURN(ToolChunks chunks,
                   ToolChunks::Create(live_folder, {kPythonFile, kStream, kChunkBytes}));
  return PythonLog(std::move(chunks));
}

uint32_t PythonLog::CodeId(const std::shared_ptr<const PythonCode>& code, uint64_t ticks,
                           format::ChunkWriter& writer) {
  const auto [place, added] = codes_.try_emplace(code, static_cast<uint32_t>(codes_.size()) + 1);
  if (added) {
    format::PythonCodeRecord record{};
    record.id = place->second;
    record.file = writer.AddString(code->file, ticks);
    record.function = writer.AddString(code->function, ticks);
    record.first_line = code->first_line;
    writer.Add(record, ticks);
  }
  return place->second;
}

void PythonLog::Add(format::PythonSampleRecord sample, std::span<const NamedFrame> frames,
                    int64_t at_ns) {
  format::ChunkWriter* writer = chunks_.ForRecord(BytesOf(frames), at_ns);
  if (chunks_.chunk_index() != chunk_) {
    chunk_ = chunks_.chunk_index();
    codes_.clear();
    stacks_.clear();
  }
  if (writer == nullptr) return;
  const auto ticks = static_cast<uint64_t>(at_ns);
  for (size_t i = frames.size(); i-- > 0;) {
    const uint32_t code = CodeId(frames[i].code, ticks, *writer);
    const auto [place, added] = stacks_.try_emplace({sample.stack, code, frames[i].line},
                                                    static_cast<uint32_t>(stacks_.size()) + 1);
    if (added) {
      writer->Add(
          format::PythonStackRecord{
              .id = place->second, .parent = sample.stack, .code = code, .line = frames[i].line},
          ticks);
    }
    sample.stack = place->second;
  }
  writer->Add(sample, ticks);
}

}  // namespace batchlight::capture
