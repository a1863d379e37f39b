#include "ingest/decode/os_decoder.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace batchlight {
namespace {

using format::RecordKind;

constexpr size_t kMaxOsCalls = 256;

constexpr std::array<std::string_view, kMaxOsCalls> MakeOsCallNames() {
  std::array<std::string_view, kMaxOsCalls> names{};
#define OS_CALL(name, number, doing) names[number] = #name;
#include "format/os_calls.def"
#undef OS_CALL
  return names;
}
constexpr std::array<std::string_view, kMaxOsCalls> kOsCallNames = MakeOsCallNames();

// Bytes of a recording may be anything.
int64_t Before(int64_t at_ns, int64_t length_ns) {
  return std::max<int64_t>(0, at_ns - std::max<int64_t>(0, length_ns));
}

}  // namespace

void OsDecoder::Decode(const format::RecordView& view) {
  switch (view.kind) {
    case RecordKind::kOsCall:
      return Take(view.As<format::OsCallRecord>(), view.ticks);
    case RecordKind::kOsCallCount:
      return Take(view.As<format::OsCallCountRecord>());
    case RecordKind::kOsFile:
      return Take(view.As<format::OsFileRecord>(), view.ticks);
    default:
      return;
  }
}

StringId OsDecoder::Name(uint32_t call) {
  StringPool& strings = context_.fragment.store.strings;
  const bool known = call < kMaxOsCalls && !kOsCallNames[call].empty();
  if (!known) return strings.Intern("call " + std::to_string(call));  // of a later version
  names_.resize(kMaxOsCalls);
  if (names_[call].IsNone()) names_[call] = strings.Intern(kOsCallNames[call]);
  return names_[call];
}

void OsDecoder::Take(const format::OsCallRecord& record, uint64_t ticks) {
  const int64_t end_ns = context_.Now(ticks);
  const int64_t start_ns = Before(end_ns, context_.LengthNs(record.ticks));
  context_.fragment.store.os_calls.Append({.start_ns = start_ns,
                                           .end_ns = end_ns,
                                           .thread = context_.thread,
                                           .name = Name(record.call),
                                           .result = record.result,
                                           .event_class = EventClass::kOsRuntime,
                                           .file = context_.String(record.file),
                                           .bytes = record.bytes,
                                           .object = record.object,
                                           .released_by = record.released_by});
}

void OsDecoder::Take(const format::OsCallCountRecord& record) {
  if (record.calls == 0) return;
  context_.fragment.store.os_call_counts.Append({.thread = context_.thread,
                                                 .name = Name(record.call),
                                                 .calls = record.calls,
                                                 .total_ns = context_.LengthNs(record.ticks),
                                                 .bytes = record.bytes});
}

void OsDecoder::Take(const format::OsFileRecord& record, uint64_t ticks) {
  const int64_t end_ns = context_.Now(ticks);
  context_.fragment.store.os_files.Append(
      {.start_ns = Before(end_ns, context_.LengthNs(record.open_ticks)),
       .end_ns = end_ns,
       .process = context_.process,
       .file = context_.String(record.file),
       .reads = record.reads,
       .bytes_read = record.bytes_read,
       .read_ns = context_.LengthNs(record.read_ticks),
       .writes = record.writes,
       .bytes_written = record.bytes_written,
       .write_ns = context_.LengthNs(record.write_ticks),
       .slowest_ns = context_.LengthNs(record.slowest_ticks)});
}

}  // namespace batchlight
