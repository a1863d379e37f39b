#include "ingest/decode/cuda_call_name.h"

#include <array>

namespace batchlight {
namespace {

constexpr size_t kMaxCudaCalls = 1024;
using Names = std::array<std::string_view, kMaxCudaCalls>;

constexpr Names MakeRuntimeNames() {
  Names names{};
#define TRACED(cbid, name) names[cbid] = #name;
#define QUIET(cbid, name) names[cbid] = #name;
#include "format/cuda_runtime_calls.def"
#undef TRACED
#undef QUIET
  return names;
}

constexpr Names MakeDriverNames() {
  Names names{};
#define TRACED(cbid, name) names[cbid] = #name;
#define QUIET(cbid, name) names[cbid] = #name;
#include "format/cuda_driver_calls.def"
#undef TRACED
#undef QUIET
  return names;
}

constexpr Names kRuntimeNames = MakeRuntimeNames();
constexpr Names kDriverNames = MakeDriverNames();

}  // namespace

std::string_view CudaCallName(bool driver, uint32_t cbid) {
  if (cbid >= kMaxCudaCalls) return {};
  return driver ? kDriverNames[cbid] : kRuntimeNames[cbid];
}

std::string CudaCallNameOrNumber(bool driver, uint32_t cbid) {
  const std::string_view name = CudaCallName(driver, cbid);
  if (!name.empty()) return std::string(name);
  return (driver ? "cuda_driver_cbid_" : "cuda_runtime_cbid_") + std::to_string(cbid);
}

}  // namespace batchlight
