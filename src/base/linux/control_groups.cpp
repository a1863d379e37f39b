#include "base/control_groups.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string_view>
#include <vector>

#include "base/kernel_text.h"

namespace batchlight {
namespace {

struct MemoryFiles {
  const char* limit;
  const char* used;
  // In memory.stat: what was read once, and what was read again. The kernel gives up both, but of
  // the second some is in use: half counts as free, as in MemAvailable of /proc/meminfo.
  const char* cache_key;
  const char* used_cache_key;
};
constexpr MemoryFiles kMemoryFiles[] = {
    {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file ",
     "total_active_file "},
    {"memory.max", "memory.current", "inactive_file ", "active_file "},
};

struct Chain {
  int version = 2;
  std::vector<std::string> folders;  // with '/' at the end, the process's own group first
};

bool ListHas(std::string_view list, std::string_view word) {
  const std::string with_ends = "," + std::string(list) + ",";
  return with_ends.find("," + std::string(word) + ",") != std::string::npos;
}

// A line is ID:CONTROLLERS:PATH; version 2 is the one without controllers.
Chain GroupsWith(std::string_view controller, const ControlGroups& groups) {
  Chain chain;
  std::ifstream file(groups.membership);
  std::string base = groups.root;
  std::string path;
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    if (ListHas(std::string_view(line).substr(first + 1, second - first - 1), controller)) {
      chain.version = 1;
      base = groups.root + "/" + std::string(controller);
      path = line.substr(second + 1);
      break;
    }
    if (second == first + 1) path = line.substr(second + 1);
  }
  while (true) {
    if (path.ends_with('/')) path.pop_back();
    chain.folders.push_back(base + path + "/");
    const size_t slash = path.rfind('/');
    if (slash == std::string::npos) return chain;
    path.resize(slash);
  }
}

// Microseconds of processor time in a period, and that period; "max", -1 or nothing: no quota, 0.
double QuotaOf(const std::string& quota_and_period) {
  std::istringstream text(quota_and_period);
  double quota_us = 0, period_us = 0;
  if (!(text >> quota_us >> period_us) || quota_us <= 0 || period_us <= 0) return 0;
  return std::min(quota_us / period_us, 1e6);
}

void FindProcessorLimit(const ControlGroups& groups, GroupLimits& limits) {
  const Chain chain = GroupsWith("cpu", groups);
  std::string tightest = chain.folders.front();
  for (const std::string& folder : chain.folders) {
    const double quota =
        QuotaOf(chain.version == 2 ? FirstLineOf(folder + "cpu.max")
                                   : FirstLineOf(folder + "cpu.cfs_quota_us") + " " +
                                         FirstLineOf(folder + "cpu.cfs_period_us"));
    if (quota <= 0 || (limits.processors > 0 && quota >= limits.processors)) continue;
    limits.processors = quota;
    tightest = folder;
  }
  limits.cpu_counts = tightest + "cpu.stat";
  if (chain.version == 2) {
    limits.cpu_time = limits.cpu_counts;
    limits.time_key = "usage_usec ";
    limits.throttled_key = "throttled_usec ";
    limits.unit_ns = 1000;
  } else {
    limits.cpu_time = GroupsWith("cpuacct", groups).folders.front() + "cpuacct.usage";
    limits.throttled_key = "throttled_time ";
  }
}

void FindMemoryLimit(const ControlGroups& groups, GroupLimits& limits) {
  const Chain chain = GroupsWith("memory", groups);
  const MemoryFiles& files = kMemoryFiles[chain.version - 1];
  std::string tightest = chain.folders.front();
  for (const std::string& folder : chain.folders) {
    const uint64_t limit = NumberIn(folder + files.limit, "", kNoMemoryLimit);
    // Version 1 says "none" by the largest number of whole pages.
    if (limit >= limits.memory_bytes || limit > kNoMemoryLimit / 4) continue;
    limits.memory_bytes = limit;
    tightest = folder;
  }
  limits.memory_used = tightest + files.used;
}

}  // namespace

int QuotaProcessors(const ControlGroups& groups) {
  GroupLimits limits;
  FindProcessorLimit(groups, limits);
  return static_cast<int>(std::ceil(limits.processors));
}

GroupLimits TightestLimits(const ControlGroups& groups) {
  GroupLimits limits;
  FindProcessorLimit(groups, limits);
  FindMemoryLimit(groups, limits);
  return limits;
}

uint64_t FreeMemoryInGroups(const ControlGroups& groups) {
  const Chain chain = GroupsWith("memory", groups);
  const MemoryFiles& files = kMemoryFiles[chain.version - 1];
  uint64_t least = kNoMemoryLimit;
  for (const std::string& folder : chain.folders) {
    const uint64_t limit = NumberIn(folder + files.limit, "", kNoMemoryLimit);
    if (limit == kNoMemoryLimit) continue;
    const uint64_t used = NumberIn(folder + files.used, "", 0);
    const uint64_t cache = NumberIn(folder + "memory.stat", files.cache_key, 0) +
                           NumberIn(folder + "memory.stat", files.used_cache_key, 0) / 2;
    const uint64_t held = used - std::min(used, cache);
    least = std::min(least, limit - std::min(limit, held));
  }
  return least;
}

}  // namespace batchlight
