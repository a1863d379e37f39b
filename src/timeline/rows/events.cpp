#include "timeline/rows/events.h"

#include <utility>

#include "base/thread_pool.h"

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

uint32_t Events::ReadingOf(const EventTable& table) const {
  return static_cast<uint32_t>(std::count_if(tables_.data(), &table, [&](const EventTable& one) {
    return one.key == table.key && one.until_ns != INT64_MIN;
  }));
}

const EventTable* Events::TableWithKey(std::string_view key, uint32_t reading) const {
  for (const EventTable& table : tables_) {
    const bool tells = table.key == key && table.until_ns != INT64_MIN;
    if (tells && ReadingOf(table) == reading) return &table;
  }
  return nullptr;
}

void Events::SetSpan() {
  // A table is looked at in parts, many at a time.
  constexpr uint32_t kPartRows = 1 << 20;
  struct Part {
    const EventTable* table;
    uint32_t begin;
    uint32_t end;
    int64_t from_ns = INT64_MAX;
    int64_t to_ns = INT64_MIN;
  };
  std::vector<Part> parts;
  for (const EventTable& table : tables_) {
    for (uint32_t row = 0; row < table.rows; row += std::min(kPartRows, table.rows - row)) {
      parts.push_back({&table, row, row + std::min(kPartRows, table.rows - row)});
    }
  }
  ParallelFor(parts.size(), [&](size_t i) {
    Part& part = parts[i];
    const EventTable& table = *part.table;
    for (uint32_t row = part.begin; row < part.end; ++row) {
      part.from_ns = std::min(part.from_ns, table.start_ns[row]);
      part.to_ns = std::max(part.to_ns, table.start_ns[row]);
    }
    for (uint32_t row = part.begin; table.end_ns != nullptr && row < part.end; ++row) {
      if (table.end_ns[row] != kOpenEnd) part.to_ns = std::max(part.to_ns, table.end_ns[row]);
    }
  });
  int64_t from_ns = INT64_MAX;
  int64_t to_ns = INT64_MIN;
  for (const Part& part : parts) {
    from_ns = std::min(from_ns, part.from_ns);
    to_ns = std::max(to_ns, part.to_ns);
  }
  run_start_ns_ = from_ns <= to_ns ? from_ns : 0;
  run_end_ns_ = from_ns <= to_ns ? to_ns : 0;
}

}  // namespace batchlight::timeline
