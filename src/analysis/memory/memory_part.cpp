#include "analysis/memory/memory_part.h"

#include <algorithm>

namespace batchlight {
namespace {

uint64_t BytesOf(const MemoryPoint& point, std::optional<MemoryCategory> category) {
  return category ? point.of_category[static_cast<size_t>(*category)] : point.bytes;
}

MemoryPart PartOf(const MemoryCurve& curve, std::optional<MemoryCategory> category, int64_t from_ns,
                  int64_t to_ns) {
  const auto first =
      std::lower_bound(curve.points.begin(), curve.points.end(), from_ns,
                       [](const MemoryPoint& point, int64_t time) { return point.time_ns < time; });
  MemoryPart part{.curve = &curve, .category = category, .most_ns = from_ns};
  if (first != curve.points.begin()) part.before_bytes = BytesOf(*std::prev(first), category);
  part.most_bytes = part.after_bytes = part.before_bytes;
  for (auto point = first; point != curve.points.end() && point->time_ns < to_ns; ++point) {
    const uint64_t bytes = BytesOf(*point, category);
    if (bytes > part.after_bytes) part.allocated_bytes += bytes - part.after_bytes;
    if (bytes < part.after_bytes) part.released_bytes += part.after_bytes - bytes;
    if (bytes > part.most_bytes) {
      part.most_bytes = bytes;
      part.most_ns = point->time_ns;
    }
    part.after_bytes = bytes;
  }
  return part;
}

}  // namespace

std::vector<MemoryPart> MemoryOfPart(const std::vector<MemoryCurve>& curves, int64_t from_ns,
                                     int64_t to_ns) {
  std::vector<MemoryPart> parts;
  for (const MemoryCurve& curve : curves) {
    const MemoryPart all = PartOf(curve, std::nullopt, from_ns, to_ns);
    if (all.most_bytes == 0) continue;
    parts.push_back(all);
    for (size_t i = 0; i < kMemoryCategoryCount; ++i) {
      const MemoryPart part = PartOf(curve, static_cast<MemoryCategory>(i), from_ns, to_ns);
      if (part.most_bytes > 0) parts.push_back(part);
    }
  }
  return parts;
}

}  // namespace batchlight
