// For tests: the marks of steps without detail, as the recorder writes them.
#pragma once

#include "analysis/testing/store_builder.h"

namespace batchlight::testing {

#define DETAIL_TEXT(id, text) inline constexpr char kDetail##id[] = text;
#include "format/detail_marks.def"
#undef DETAIL_TEXT

// Switching was done at this moment.
inline void PlainMark(StoreBuilder& build, ThreadId thread, bool to_detail, int64_t done_ns,
                      int64_t switch_ns) {
  Store& store = build.store();
  const ProcessId process = store.ProcessOf(thread);
  const StringId name = build.Text(kDetailDomain);
  size_t domain = 0;
  while (domain < store.nvtx_domains.size() && (store.nvtx_domains.process[domain] != process ||
                                                store.nvtx_domains.name[domain] != name)) {
    ++domain;
  }
  if (domain == store.nvtx_domains.size()) {
    store.nvtx_domains.Append({.process = process, .name = name, .native_id = 1});
  }
  store.nvtx_attributes.Append(
      {.payload_type = NvtxPayloadType::kUint64, .payload = static_cast<uint64_t>(switch_ns)});
  store.nvtx_marks.Append({.start_ns = done_ns,
                           .thread = thread,
                           .domain = NvtxDomainId::At(domain),
                           .message = build.Text(to_detail ? kDetailOn : kDetailOff),
                           .attributes = NvtxAttributesId::At(store.nvtx_attributes.size() - 1)});
}

}  // namespace batchlight::testing
