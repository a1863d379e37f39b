#include "analysis/phases/plain_spans.h"

#include <algorithm>

namespace batchlight {
namespace {

// kDetailDomain, kDetailOff, kDetailOn
#define DETAIL_TEXT(id, text) constexpr char kDetail##id[] = text;
#include "format/detail_marks.def"
#undef DETAIL_TEXT

struct DetailChange {
  int64_t done_ns;
  int64_t switch_ns;
  bool on;
};

}  // namespace

bool IsDetailMark(const Store& store, size_t mark) {
  const NvtxDomainId domain = store.nvtx_marks.domain[mark];
  return !domain.IsNone() && store.Text(store.nvtx_domains.name[domain.row()]) == kDetailDomain;
}

std::vector<PlainSpan> FindPlainSpans(const Store& store, ProcessId process) {
  const NvtxMarksTable& marks = store.nvtx_marks;
  std::vector<DetailChange> changes;
  for (size_t row = 0; row < marks.size(); ++row) {
    const ThreadId thread = marks.thread[row];
    if (thread.IsNone() || store.ProcessOf(thread) != process || !IsDetailMark(store, row))
      continue;
    const std::string_view message = store.Text(marks.message[row]);
    if (message != kDetailOff && message != kDetailOn) continue;
    const NvtxAttributesId attributes = marks.attributes[row];
    const uint64_t switch_ns =
        attributes.IsNone() ? 0 : store.nvtx_attributes.payload[attributes.row()];
    changes.push_back({marks.start_ns[row],
                       static_cast<int64_t>(std::min<uint64_t>(switch_ns, 1'000'000'000)),
                       message == kDetailOn});
  }
  std::stable_sort(
      changes.begin(), changes.end(),
      [](const DetailChange& a, const DetailChange& b) { return a.done_ns < b.done_ns; });
  std::vector<PlainSpan> spans;
  bool plain = false;
  for (const DetailChange& change : changes) {
    const int64_t begin_ns = change.done_ns - change.switch_ns;
    if (!change.on && !plain) spans.push_back({begin_ns, kOpenEnd, change.switch_ns});
    if (change.on && plain) spans.back().end_ns = std::max(spans.back().start_ns, begin_ns);
    plain = !change.on;
  }
  return spans;
}

}  // namespace batchlight
