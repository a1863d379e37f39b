#include "capture/usage/usage_log.h"

namespace batchlight::capture {
namespace {

constexpr size_t kChunkBytes = 64 << 10;
constexpr uint32_t kStream = 4;
constexpr size_t kNameBytes = sizeof(format::StringRecord) + 64;  // the kernel's: at most 15 bytes
constexpr size_t kLongestName = 32;

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

void UsageLog::AddName(pid_t pid, pid_t parent, std::string_view name, int64_t at_ns) {
  constexpr uint32_t kItsName = 1;
  format::CpuThreadRecord record{};
  format::ChunkWriter* writer = chunks_.ForRecord(sizeof record + kNameBytes, at_ns);
  if (writer == nullptr) return;
  const auto ticks = static_cast<uint64_t>(at_ns);
  record.pid = record.tid = static_cast<uint32_t>(pid);
  record.parent_pid = static_cast<uint32_t>(parent);
  record.what = kItsName;
  record.name = writer->AddString(name.substr(0, kLongestName), ticks);
  writer->Add(record, ticks);
}

void UsageLog::Add(format::NetworkUsageRecord usage, std::string_view interface, int64_t at_ns) {
  format::ChunkWriter* writer = chunks_.ForRecord(sizeof usage + kNameBytes, at_ns);
  if (writer == nullptr) return;
  const auto ticks = static_cast<uint64_t>(at_ns);
  usage.interface = writer->AddString(interface.substr(0, kLongestName), ticks);
  writer->Add(usage, ticks);
}

}  // namespace batchlight::capture
