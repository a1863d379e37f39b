// How the reports spell names: NVTX ranges with their domain, calls without the version suffix,
// memory operations by their kind.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/stats/stats_report.h"
#include "store/flat_map.h"

namespace batchlight::stats {

// "domain:text"; the default domain is empty: ":forward". nsys forgets the names of domains that
// were created outside of the time window.
std::string RangeName(const Query& query, size_t range);

// The text alone, as argument nvtx-name puts it before a kernel's name: "forward".
std::string_view RangeText(const Store& store, size_t range);

// Numbers range names: equal names of different domains of the same name share a number. Names are
// made when they are asked for.
class RangeNames {
 public:
  explicit RangeNames(const Query& query);
  uint32_t Number(size_t range);
  std::string Name(uint32_t number) const { return RangeName(query_, ranges_[number]); }
  size_t size() const { return ranges_.size(); }

 private:
  Query query_;
  FlatMap numbers_;               // by name of domain and message
  std::vector<uint32_t> ranges_;  // a range of each name
};

// cudaLaunchKernel_v7000 is cudaLaunchKernel; a suffix of other than four digits stays, as nsys
// leaves it: cudaStreamIsCapturing_v10000.
std::string_view ApiName(std::string_view name);

std::string CopyName(CopyKind kind);  // "[CUDA memcpy Host-to-Device]"
inline constexpr std::string_view kMemsetName = "[CUDA memset]";

// Which of a kernel's names a report shows: arguments base and mangled.
enum class KernelNaming { kDemangled, kBase, kMangled };
KernelNaming KernelNamingOf(const Query& query);
StringId KernelName(const Store& store, size_t kernel, KernelNaming naming);

// "%4d %4d %4d", as GridXYZ and BlockXYZ show three dimensions.
std::string Dimensions(uint32_t x, uint32_t y, uint32_t z);

// Launch configuration of a kernel; all zeros when the input had none.
KernelLaunchesRow LaunchOf(const Store& store, size_t kernel);

// Latest time of any range, at which ranges still open are taken to end.
int64_t LatestRangeTime(const Store& store);

}  // namespace batchlight::stats
