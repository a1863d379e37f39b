#include "timeline/rows/events.h"

#include <utility>

namespace batchlight::timeline {
namespace {

constexpr uint64_t kBlockRows = 1 << 16;
constexpr uint64_t kMostBlocks = (1 << 16) - 1;  // the last one would hold kNoRef

}  // namespace

uint32_t Events::Add(EventTable table) {
  const uint64_t blocks = std::max<uint64_t>(1, (table.rows + kBlockRows - 1) / kBlockRows);
  if (table_of_block_.size() + blocks > kMostBlocks) return kNoRef;
  table.first_ref = static_cast<uint32_t>(table_of_block_.size() * kBlockRows);
  table_of_block_.resize(table_of_block_.size() + blocks, static_cast<uint16_t>(tables_.size()));
  const uint32_t first_ref = table.first_ref;
  tables_.push_back(std::move(table));
  return first_ref;
}

bool Events::IsRef(uint32_t ref) const {
  if ((ref >> 16) >= table_of_block_.size()) return false;
  const EventTable& table = TableOf(ref);
  return ref - table.first_ref < table.rows;
}

const EventTable* Events::TableWithKey(std::string_view key) const {
  const auto at = std::find_if(tables_.begin(), tables_.end(),
                               [&](const EventTable& table) { return table.key == key; });
  return at == tables_.end() ? nullptr : &*at;
}

void Events::SetSpan() {
  int64_t from_ns = INT64_MAX;
  int64_t to_ns = INT64_MIN;
  for (const EventTable& table : tables_) {
    for (uint32_t row = 0; row < table.rows; ++row) {
      from_ns = std::min(from_ns, table.start_ns[row]);
      to_ns = std::max(to_ns, table.start_ns[row]);
    }
    for (uint32_t row = 0; table.end_ns != nullptr && row < table.rows; ++row) {
      if (table.end_ns[row] != kOpenEnd) to_ns = std::max(to_ns, table.end_ns[row]);
    }
  }
  run_start_ns_ = from_ns <= to_ns ? from_ns : 0;
  run_end_ns_ = from_ns <= to_ns ? to_ns : 0;
}

}  // namespace batchlight::timeline
