#include "ingest/recording/library_calls.h"

#include <algorithm>
#include <vector>

#include "format/library_domains.h"
#include "store/row_order.h"

namespace batchlight {
namespace {

using format::Library;

RuntimeFamily FamilyOf(Library library) {
  switch (library) {
    case Library::kCublas:
      return RuntimeFamily::kCublas;
    case Library::kCudnn:
      return RuntimeFamily::kCudnn;
    case Library::kCusparse:
      return RuntimeFamily::kCusparse;
    case Library::kCusolver:
    case Library::kNone:
      break;
  }
  return RuntimeFamily::kCusolver;
}

std::vector<Library> LibrariesOfDomains(const Store& store) {
  std::vector<Library> libraries;
  for (const StringId name : store.nvtx_domains.name) {
    const std::string_view text = store.Text(name);
    libraries.push_back(format::LibraryOfDomain(text.data(), text.size()));
  }
  return libraries;
}

}  // namespace

void MoveLibraryCalls(Store& store) {
  const std::vector<Library> libraries = LibrariesOfDomains(store);
  if (std::count(libraries.begin(), libraries.end(), Library::kNone) ==
      static_cast<std::ptrdiff_t>(libraries.size())) {
    return;
  }
  NvtxRangesTable kept;
  std::vector<uint32_t> new_rows;
  for (size_t i = 0; i < store.nvtx_ranges.size(); ++i) {
    const NvtxRangesRow row = store.nvtx_ranges.Row(i);
    const Library library = row.domain.IsNone() ? Library::kNone : libraries[row.domain.row()];
    if (library == Library::kNone) {
      new_rows.push_back(NvtxRangeId::At(kept.size()).value);
      kept.Append(row);
      continue;
    }
    new_rows.push_back(NvtxRangeId::None().value);
    store.runtime_events.Append({.start_ns = row.start_ns,
                                 .end_ns = row.end_ns,
                                 .thread = row.thread,
                                 .name = row.message,
                                 .family = FamilyOf(library)});
  }
  if (kept.size() == new_rows.size()) return;
  store.nvtx_ranges = std::move(kept);
  RenumberIds<NvtxRangeId>(store, new_rows);
}

}  // namespace batchlight
