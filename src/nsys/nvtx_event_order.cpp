#include "nsys/nvtx_event_order.h"

#include <algorithm>

namespace batchlight::nsys {

std::vector<NvtxEvent> NvtxEventOrder(const Store& store, bool with_operators) {
  std::vector<NvtxEvent> events;
  const auto add = [&](NvtxEvent::Kind kind, size_t count) {
    for (size_t row = 0; row < count; ++row) events.push_back({kind, static_cast<uint32_t>(row)});
  };
  add(NvtxEvent::Kind::kDomain, store.nvtx_domains.size());
  add(NvtxEvent::Kind::kCategory, store.nvtx_categories.size());
  const auto timed = static_cast<ptrdiff_t>(events.size());
  add(NvtxEvent::Kind::kRange, store.nvtx_ranges.size());
  add(NvtxEvent::Kind::kMark, store.nvtx_marks.size());
  if (with_operators) add(NvtxEvent::Kind::kOperator, store.operator_calls.size());
  const auto start = [&](const NvtxEvent& event) {
    if (event.kind == NvtxEvent::Kind::kRange) return store.nvtx_ranges.start_ns[event.row];
    if (event.kind == NvtxEvent::Kind::kMark) return store.nvtx_marks.start_ns[event.row];
    return store.operator_calls.start_ns[event.row];
  };
  std::stable_sort(events.begin() + timed, events.end(),
                   [&](const auto& a, const auto& b) { return start(a) < start(b); });
  return events;
}

std::vector<uint32_t> NvtxRangeIds(const Store& store) {
  const auto& native = store.nvtx_ranges.native_row;
  if (std::any_of(native.begin(), native.end(), [](uint32_t row) { return row != 0; })) {
    return native;
  }
  std::vector<uint32_t> ids(store.nvtx_ranges.size());
  const std::vector<NvtxEvent> events = NvtxEventOrder(store);
  for (size_t i = 0; i < events.size(); ++i) {
    if (events[i].kind == NvtxEvent::Kind::kRange)
      ids[events[i].row] = static_cast<uint32_t>(i + 1);
  }
  return ids;
}

}  // namespace batchlight::nsys
