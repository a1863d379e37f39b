#include "probe/storage_measurements.h"

namespace batchlight::probe {
namespace {

constexpr StorageCase kCases[] = {
#define STORAGE_CASE(Kind, block_bytes, weight, pattern, short_name, operation) \
  {StorageKind::Kind, block_bytes, weight, pattern, short_name, operation},
#include "probe/storage_cases.def"
#undef STORAGE_CASE
};

}  // namespace

std::span<const StorageCase> StorageCases() { return kCases; }

std::string_view CacheStateName(CacheState state) {
  switch (state) {
    case CacheState::kNone:
      return "";
    case CacheState::kCold:
      return "cold";
    case CacheState::kPartly:
      return "partly";
    case CacheState::kWarm:
      return "warm";
    case CacheState::kUnproven:
      return "unproven";
  }
  return "";
}

CacheState CacheStateOf(std::optional<uint64_t> resident_bytes, uint64_t bytes) {
  if (!resident_bytes.has_value()) return CacheState::kUnproven;
  const double share = bytes > 0 ? double(*resident_bytes) / double(bytes) : 1;
  if (share <= 0.01) return CacheState::kCold;
  return share >= 0.99 ? CacheState::kWarm : CacheState::kPartly;
}

const StorageMeasurement* StorageMeasurements::Best(StorageKind kind, uint64_t block_bytes,
                                                    bool cold) const {
  const StorageMeasurement* best = nullptr;
  for (const StorageMeasurement& row : rows) {
    if (row.what->kind != kind || row.what->block_bytes != block_bytes) continue;
    const bool is_wanted =
        row.what->reads_data() ? row.cache == (cold ? CacheState::kCold : CacheState::kWarm) : true;
    if (is_wanted && (best == nullptr || row.bytes_per_s > best->bytes_per_s)) best = &row;
  }
  return best;
}

std::string WorkersText(int workers) {
  return std::to_string(workers) + (workers == 1 ? " worker" : " workers");
}

}  // namespace batchlight::probe
