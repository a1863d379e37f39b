#include "capture/usage/usage_log.h"

namespace batchlight::capture {
namespace {

constexpr size_t kChunkBytes = 64 << 10;
constexpr uint32_t kStream = 4;
constexpr size_t kInterfaceBytes = sizeof(format::StringRecord) + 64;  // names: at most 15 bytes

}  // namespace

Result<UsageLog> UsageLog::Create(const LiveFolder& live_folder) {
  ASSIGN_OR_RETURN(ToolChunks chunks,
                   ToolChunks::Create(live_folder, {kUsageFile, kStream, kChunkBytes}));
  return UsageLog(std::move(chunks));
}

void UsageLog::Add(const format::ProcessUsageRecord& usage, int64_t at_ns) {
  format::ChunkWriter* writer = chunks_.ForRecord(sizeof usage, at_ns);
  if (writer != nullptr) writer->Add(usage, static_cast<uint64_t>(at_ns));
}

void UsageLog::Add(const format::MachineUsageRecord& usage, int64_t at_ns) {
  format::ChunkWriter* writer = chunks_.ForRecord(sizeof usage, at_ns);
  if (writer != nullptr) writer->Add(usage, static_cast<uint64_t>(at_ns));
}

void UsageLog::Add(format::NetworkUsageRecord usage, std::string_view interface, int64_t at_ns) {
  format::ChunkWriter* writer = chunks_.ForRecord(sizeof usage + kInterfaceBytes, at_ns);
  if (writer == nullptr) return;
  const auto ticks = static_cast<uint64_t>(at_ns);
  usage.interface = writer->AddString(interface.substr(0, 32), ticks);
  writer->Add(usage, ticks);
}

}  // namespace batchlight::capture
