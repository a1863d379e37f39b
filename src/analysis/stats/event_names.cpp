#include "analysis/stats/event_names.h"

#include <algorithm>
#include <cstdio>

namespace batchlight::stats {
namespace {

// None: the default domain, or one whose name nsys forgets.
StringId DomainName(const Query& query, NvtxDomainId domain) {
  if (domain.IsNone()) return StringId::None();
  const NvtxDomainsTable& domains = query.store.nvtx_domains;
  const int64_t created = domains.created_ns[domain.row()];
  const bool forgotten = query.nsys_compat && created != INT64_MIN && !query.Keep(created, created);
  return forgotten ? StringId::None() : domains.name[domain.row()];
}

}  // namespace

std::string RangeName(const Query& query, size_t range) {
  const Store& store = query.store;
  const std::string_view text = store.Text(store.nvtx_ranges.message[range]);
  const StringId domain = DomainName(query, store.nvtx_ranges.domain[range]);
  const std::string_view of_domain = domain.IsNone() ? std::string_view() : store.Text(domain);
  std::string name;
  name.reserve(of_domain.size() + 1 + text.size());
  name += of_domain;
  name += ':';
  name += text;
  return name;
}

std::string_view RangeText(const Store& store, size_t range) {
  return store.Text(store.nvtx_ranges.message[range]);
}

RangeNames::RangeNames(const Query& query) : query_(query) {}

uint32_t RangeNames::Number(size_t range) {
  const NvtxRangesTable& ranges = query_.store.nvtx_ranges;
  const uint64_t domain = DomainName(query_, ranges.domain[range]).value;
  const uint64_t key = domain << 32 | ranges.message[range].value;
  const uint32_t number = numbers_.FindOrAdd(key, static_cast<uint32_t>(ranges_.size()));
  if (number == ranges_.size()) ranges_.push_back(static_cast<uint32_t>(range));
  return number;
}

std::string_view ApiName(std::string_view name) {
  constexpr size_t kSuffix = 6;  // _v3020
  if (name.size() > kSuffix && name.substr(name.size() - kSuffix, 2) == "_v") {
    name.remove_suffix(kSuffix);
  }
  return name;
}

std::string CopyName(CopyKind kind) { return "[CUDA memcpy " + std::string(Label(kind)) + "]"; }

KernelNaming KernelNamingOf(const Query& query) {
  if (query.Has("base")) return KernelNaming::kBase;
  if (query.Has("mangled")) return KernelNaming::kMangled;
  return KernelNaming::kDemangled;
}

StringId KernelName(const Store& store, size_t kernel, KernelNaming naming) {
  StringId name = store.kernels.demangled_name[kernel];
  if (naming == KernelNaming::kBase) name = store.kernels.short_name[kernel];
  if (naming == KernelNaming::kMangled) name = store.kernels.mangled_name[kernel];
  return name.IsNone() ? store.kernels.demangled_name[kernel] : name;
}

std::string Dimensions(uint32_t x, uint32_t y, uint32_t z) {
  char text[48];
  const int count = std::snprintf(text, sizeof text, "%4u %4u %4u", x, y, z);
  return std::string(text, static_cast<size_t>(count));
}

KernelLaunchesRow LaunchOf(const Store& store, size_t kernel) {
  const size_t row = store.kernels.launch[kernel].row();
  return row < store.kernel_launches.size() ? store.kernel_launches.Row(row) : KernelLaunchesRow{};
}

int64_t LatestRangeTime(const Store& store) {
  int64_t latest = INT64_MIN;
  for (size_t row = 0; row < store.nvtx_ranges.size(); ++row) {
    const int64_t end = store.nvtx_ranges.end_ns[row];
    latest = std::max(latest, end == kOpenEnd ? store.nvtx_ranges.start_ns[row] : end);
  }
  for (const int64_t start : store.nvtx_marks.start_ns) latest = std::max(latest, start);
  return latest;
}

}  // namespace batchlight::stats
