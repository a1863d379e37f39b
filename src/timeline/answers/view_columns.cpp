#include "timeline/answers/view_columns.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "timeline/answers/put_bytes.h"

namespace batchlight::timeline {
namespace {

constexpr uint32_t kViewMagic = 0x56544c42;  // "BLTV"
constexpr uint16_t kViewVersion = 1;
constexpr size_t kSampleBytes = 28;
enum ItemFlag : uint8_t { kBeginsBefore = 1, kEndsAfter = 2, kOpenAtEnd = 4 };

void Align(std::string& bytes) { bytes.append((8 - bytes.size() % 8) % 8, '\0'); }

template <typename T>
void PutColumn(std::string& bytes, const std::vector<T>& column) {
  Align(bytes);
  bytes.append(reinterpret_cast<const char*>(column.data()), column.size() * sizeof(T));
}

// How much of an item is covered, in 255ths. What is covered at all is at least one.
uint8_t BusyOf(const RowItem& item) {
  if (item.count == 1) return 255;
  const auto length_ns = static_cast<double>(item.end_ns - item.start_ns);
  if (length_ns <= 0) return 255;
  const double share = std::clamp(item.busy_ns / length_ns, 0.0, 1.0);
  return static_cast<uint8_t>(std::max(item.busy_ns > 0 ? 1.0 : 0.0, std::round(share * 255)));
}

}  // namespace

void ViewColumns::BeginRow(uint32_t track, uint32_t row) {
  rows_.push_back({track, row, 0, 0});
  counter_ = false;
  rows_.back().first = static_cast<uint32_t>(start_.size());
}

bool ViewColumns::AddItems(const Events& events, const EventRow& row, size_t most_bytes) {
  const size_t most = most_bytes / kItemBytes;
  bool fits = true;
  row.VisitItems(events, from_ns_, to_ns_, step_ns_, [&](const RowItem& item) {
    if (start_.size() >= most) return fits = false;
    uint8_t flags = item.open ? kOpenAtEnd : 0;
    if (item.start_ns < from_ns_) flags |= kBeginsBefore;
    if (item.end_ns > to_ns_) flags |= kEndsAfter;
    const uint32_t start = StepOf(std::max(item.start_ns, from_ns_));
    start_.push_back(start);
    width_.push_back(StepOf(std::clamp(item.end_ns, from_ns_, to_ns_)) - start);
    ref_.push_back(item.longest);
    count_.push_back(item.count);
    busy_.push_back(BusyOf(item));
    flags_.push_back(flags);
    return true;
  });
  // Apart, so that the processor waits for the memory of several names at a time.
  const size_t first = name_.size();
  name_.resize(ref_.size());
  for (size_t i = first; i < name_.size(); ++i) name_[i] = events.Name(ref_[i]);
  return fits;
}

bool ViewColumns::AddSamples(const CounterRow& row, size_t most_bytes) {
  counter_ = true;
  rows_.back().first = static_cast<uint32_t>(sample_start_.size());
  const size_t most = most_bytes / kSampleBytes;
  bool fits = true;
  row.VisitItems(from_ns_, to_ns_, step_ns_, [&](const CounterItem& item) {
    if (sample_start_.size() >= most) return fits = false;
    sample_start_.push_back(StepOf(item.start_ns));
    min_.push_back(item.min);
    max_.push_back(item.max);
    last_.push_back(item.last);
    return true;
  });
  return fits;
}

void ViewColumns::EndRow() {
  Row& row = rows_.back();
  row.count = static_cast<uint32_t>(counter_ ? sample_start_.size() : start_.size()) - row.first;
}

std::string ViewColumns::Encode(bool changed, uint32_t generation) const {
  std::string bytes;
  bytes.reserve(64 + rows_.size() * sizeof(Row) + start_.size() * kItemBytes +
                sample_start_.size() * kSampleBytes + 128);
  Put(bytes, kViewMagic);
  Put(bytes, kViewVersion);
  Put(bytes, static_cast<uint16_t>(changed ? 1 : 0));
  Put(bytes, from_ns_);
  Put(bytes, to_ns_);
  Put(bytes, step_ns_);
  Put(bytes, static_cast<uint32_t>(rows_.size()));
  Put(bytes, static_cast<uint32_t>(start_.size()));
  Put(bytes, static_cast<uint32_t>(sample_start_.size()));
  Put(bytes, generation);
  for (const Row& row : rows_) {
    Put(bytes, row.track);
    Put(bytes, row.row);
    Put(bytes, row.first);
    Put(bytes, row.count);
  }
  for (const auto* column : {&start_, &width_, &ref_, &name_, &count_}) PutColumn(bytes, *column);
  PutColumn(bytes, busy_);
  PutColumn(bytes, flags_);
  PutColumn(bytes, sample_start_);
  for (const auto* column : {&min_, &max_, &last_}) PutColumn(bytes, *column);
  Align(bytes);
  return bytes;
}

}  // namespace batchlight::timeline
