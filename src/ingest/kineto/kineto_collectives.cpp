#include "ingest/kineto/kineto_collectives.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <iterator>

namespace batchlight {
namespace {

// Below the ids that NVTX gives to schemas while a program runs.
constexpr uint64_t kSchemaId = 0x4b4e43;
// Of nvToolsExtPayload.h.
constexpr uint64_t kInt32 = 15;
constexpr uint64_t kUint64 = 18;
constexpr uint64_t kCString = 75;
constexpr uint64_t kFixedSizeArray = 1 << 4;

struct Field {
  std::string_view name;  // what NCCL calls it where it has it, else PyTorch
  KinetoArg arg;
  uint32_t bytes;
  uint64_t type;
};

constexpr Field kFields[] = {
    {"NCCL communicator ID", KinetoArg::kCount, 8, kUint64},
    {"No. of ranks", KinetoArg::kGroupSize, 4, kInt32},
    {"Rank", KinetoArg::kRank, 4, kInt32},
    {"Message size [bytes]", KinetoArg::kBytes, 8, kUint64},
    {"In msg nelems", KinetoArg::kInElements, 8, kUint64},
    {"Out msg nelems", KinetoArg::kOutElements, 8, kUint64},
    {"Collective name", KinetoArg::kCollectiveName, 64, kCString},
    {"dtype", KinetoArg::kDtype, 32, kCString},
    {"Process Group Name", KinetoArg::kGroupName, 128, kCString},
    {"Process Group Ranks", KinetoArg::kGroupRanks, 1024, kCString},
};

constexpr uint32_t kPayloadBytes = [] {
  uint32_t bytes = 0;
  for (const Field& field : kFields) bytes += field.bytes;
  return bytes;
}();

// Of a group's name and members, the same on all of its ranks. Our exports have NCCL's own number
// as the name.
uint64_t CommunicatorOf(std::string_view name, std::string_view ranks) {
  uint64_t number = 0;
  if (name.starts_with("0x")) {
    const char* const end = name.data() + name.size();
    const auto [stop, error] = std::from_chars(name.data() + 2, end, number, 16);
    if (error == std::errc() && stop == end && number != 0) return number;
  }
  number = 0xcbf29ce484222325;  // FNV-1a
  for (const std::string_view text : {name, std::string_view("\n"), ranks}) {
    for (const char c : text) number = (number ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  }
  return number;
}

int64_t NumberFor(const Field& field, const KinetoEvent& event) {
  if (field.arg == KinetoArg::kRank) return event.IntArg(field.arg, -1);  // within the group
  if (field.arg != KinetoArg::kCount) return std::max<int64_t>(0, event.IntArg(field.arg, 0));
  return static_cast<int64_t>(
      CommunicatorOf(event.Arg(KinetoArg::kGroupName), event.Arg(KinetoArg::kGroupRanks)));
}

std::string PayloadOf(const KinetoEvent& event) {
  std::string payload(kPayloadBytes, '\0');
  char* at = payload.data();
  for (const Field& field : kFields) {
    if (field.type == kCString) {
      const std::string text = UnescapeJson(event.Arg(field.arg));
      if (text.size() < field.bytes) text.copy(at, text.size());  // part of a list would be wrong
    } else {
      const int64_t number = NumberFor(field, event);
      std::memcpy(at, &number, field.bytes);  // little-endian, as payloads are
    }
    at += field.bytes;
  }
  return payload;
}

}  // namespace

NvtxAttributesId KinetoCollectives::AttributesOf(const KinetoEvent& event) {
  if (event.Arg(KinetoArg::kCollectiveName).empty()) return NvtxAttributesId::None();
  const auto [place, added] = rows_.try_emplace(PayloadOf(event));
  if (!added) return place->second;
  place->second = NvtxAttributesId::At(store_.nvtx_attributes.size());
  const auto blob = static_cast<uint32_t>(store_.nvtx_payload_blobs.size());
  store_.nvtx_payload_blobs.Append({.schema_id = kSchemaId,
                                    .bytes = store_.strings.Intern(place->first),
                                    .full_byte_count = kPayloadBytes});
  store_.nvtx_attributes.Append({.blob_begin = blob, .blob_count = 1});
  return place->second;
}

void KinetoCollectives::SeeOperator(const KinetoEvent& event, ThreadId thread) {
  const NvtxAttributesId attributes = AttributesOf(event);
  if (attributes.IsNone()) return;
  const int64_t end_ns = event.start_ns + (event.has_duration ? event.duration_ns : 0);
  told_[thread].push_back({event.start_ns, end_ns, attributes});
}

void KinetoCollectives::Finish() {
  TellRanges();
  if (!rows_.empty()) AddSchema();
}

void KinetoCollectives::TellRanges() {
  for (auto& [thread, operators] : told_) {
    std::stable_sort(operators.begin(), operators.end(),
                     [](const Told& a, const Told& b) { return a.start_ns < b.start_ns; });
  }
  NvtxRangesTable& ranges = store_.nvtx_ranges;
  for (size_t row = 0; row < ranges.size(); ++row) {
    const auto told = told_.find(ranges.thread[row]);
    if (told == told_.end() || !ranges.attributes[row].IsNone()) continue;
    if (!store_.Text(ranges.message[row]).starts_with("nccl:")) continue;
    const auto after =
        std::upper_bound(told->second.begin(), told->second.end(), ranges.start_ns[row],
                         [](int64_t start_ns, const Told& one) { return start_ns < one.start_ns; });
    if (after == told->second.begin()) continue;
    const Told& around = *std::prev(after);
    if (ranges.end_ns[row] <= around.end_ns) ranges.attributes[row] = around.attributes;
  }
}

void KinetoCollectives::AddSchema() {
  const auto first = static_cast<uint32_t>(store_.nvtx_payload_entries.size());
  uint64_t offset = 0;
  for (const Field& field : kFields) {
    const bool text = field.type == kCString;
    store_.nvtx_payload_entries.Append({.flags = text ? kFixedSizeArray : 0,
                                        .type = field.type,
                                        .name = store_.strings.Intern(field.name),
                                        .array_or_union_detail = text ? field.bytes : 0,
                                        .offset = offset});
    offset += field.bytes;
  }
  const StringId name = store_.strings.Intern("PyTorch collective");
  for (size_t row = 0; row < store_.processes.size(); ++row) {
    store_.nvtx_payload_schemas.Append({.process = ProcessId::At(row),
                                        .schema_id = kSchemaId,
                                        .name = name,
                                        .type = NvtxSchemaType::kStatic,
                                        .payload_bytes = kPayloadBytes,
                                        .entry_begin = first,
                                        .entry_count = static_cast<uint32_t>(std::size(kFields))});
  }
}

}  // namespace batchlight
