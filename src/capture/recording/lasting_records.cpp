#include "capture/recording/lasting_records.h"

#include <string_view>
#include <unordered_map>

namespace batchlight::capture {
namespace {

using format::RecordKind;
using format::RecordView;

bool IsLasting(RecordKind kind) {
  switch (kind) {
    case RecordKind::kClockSync:
    case RecordKind::kReason:
    case RecordKind::kProcessStatus:
    case RecordKind::kProperty:
    case RecordKind::kCpuThread:
      return true;
    default:
      return false;
  }
}

// Calls visit(id, offset) for every string that the record names; offset is where the id lies
// behind view.fields.
template <typename Visit>
void VisitStrings(const RecordView& view, Visit&& visit) {
  const auto visit_field = [&](std::string_view type, size_t offset) {
    uint32_t id = 0;
    offset -= sizeof(uint64_t);  // fields start behind the head
    if (type != "StringRef" || offset + sizeof id > view.field_bytes) return;
    std::memcpy(&id, view.fields + offset, sizeof id);
    if (id != 0) visit(id, offset);
  };
  switch (view.kind) {
#define RECORD_BEGIN(Name, number, since, doc) \
  case RecordKind::k##Name: {                  \
    using Record [[maybe_unused]] = format::Name##Record;
#define FIELD(type, name, doc) visit_field(#type, offsetof(Record, name));
#define RECORD_END(Name) \
  break;                 \
  }
#include "format/records.def"
#undef RECORD_BEGIN
#undef FIELD
#undef RECORD_END
    default:
      break;
  }
}

}  // namespace

std::vector<uint8_t> KeepLastingRecords(const format::ChunkView& chunk) {
  std::unordered_map<uint32_t, uint32_t> new_ids;  // 0 = not numbered yet
  bool any = false;
  format::RecordReader look(chunk);
  for (RecordView view; look.Next(view);) {
    if (!IsLasting(view.kind)) continue;
    any = any || view.kind != RecordKind::kClockSync;
    VisitStrings(view, [&](uint32_t id, size_t) { new_ids.emplace(id, 0); });
  }
  std::vector<uint8_t> kept;
  if (!any) return kept;
  const uint8_t* bytes = chunk.bytes.data();
  kept.assign(bytes, bytes + chunk.header.header_bytes);
  // Ids count from 1 in every chunk: those that stay are renumbered.
  uint32_t next_id = 1;
  format::RecordReader copy(chunk);
  for (RecordView view; copy.Next(view);) {
    const auto string =
        new_ids.find(view.kind == RecordKind::kString ? view.As<format::StringRecord>().id : 0);
    if (string == new_ids.end() && !IsLasting(view.kind)) continue;
    const size_t fields = kept.size() + static_cast<size_t>(view.fields - (bytes + view.offset));
    kept.insert(kept.end(), bytes + view.offset, bytes + copy.position());
    if (string != new_ids.end()) {
      string->second = next_id++;
      std::memcpy(kept.data() + fields, &string->second, sizeof string->second);
    }
    VisitStrings(view, [&](uint32_t id, size_t offset) {
      std::memcpy(kept.data() + fields + offset, &new_ids[id], sizeof id);
    });
  }
  const auto used = static_cast<uint32_t>(kept.size());
  std::memcpy(kept.data() + offsetof(format::ChunkHeader, used_bytes), &used, sizeof used);
  return kept;
}

}  // namespace batchlight::capture
