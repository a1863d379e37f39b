#include "analysis/ranks/host_clocks.h"

#include <charconv>
#include <set>
#include <string_view>

namespace batchlight {
namespace {

constexpr size_t kMostNames = 4;
constexpr int64_t kMostErrorUs = 3'600'000'000;  // what a kernel says ends at 16 s

std::string NamesText(const std::set<std::string_view>& hosts) {
  std::string text;
  size_t named = 0;
  for (const std::string_view host : hosts) {
    if (++named > kMostNames) {
      return text + " and " + std::to_string(hosts.size() - kMostNames) + " more";
    }
    text += (text.empty() ? "" : ", ") + std::string(host);
  }
  return text;
}

std::string ClocksText(const std::set<std::string_view>& hosts) {
  return (hosts.size() == 1 ? "the clock of " : "the clocks of ") + NamesText(hosts);
}

std::string MillisecondsText(int64_t ns) {
  const int64_t tenths = (ns + 99'999) / 100'000;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " ms";
}

}  // namespace

HostClock HostClockOf(const Store& store) {
  HostClock clock{.host = std::string(store.Property("machine.hostname"))};
  const std::string_view error = store.Property("machine.clock_error_us");
  int64_t us = 0;
  const auto [end, failed] = std::from_chars(error.data(), error.data() + error.size(), us);
  if (error.empty() || failed != std::errc() || us < 0 || us > kMostErrorUs) return clock;
  clock.is_known = true;
  clock.is_kept = store.Property("machine.clock_synchronized") != "no";
  clock.most_error_ns = us * 1000;
  return clock;
}

std::string HostClocksText(std::span<const HostClock> clocks) {
  std::set<std::string_view> not_kept, not_known;
  const HostClock* worst = nullptr;
  for (const HostClock& clock : clocks) {
    if (!clock.is_known) not_known.insert(clock.host);
  }
  for (const HostClock& clock : clocks) {
    if (!clock.is_known) continue;
    not_known.erase(clock.host);
    if (!clock.is_kept) not_kept.insert(clock.host);
    if (worst == nullptr || clock.most_error_ns > worst->most_error_ns) worst = &clock;
  }
  if (worst == nullptr) return "";
  if (not_kept.empty()) {
    return "clocks may be off by up to " + MillisecondsText(worst->most_error_ns) +
           ", by what the kernels say (" + worst->host + ")" +
           (not_known.empty() ? "" : "; nothing is known of " + ClocksText(not_known));
  }
  return ClocksText(not_kept) + (not_kept.size() == 1 ? " is" : " are") +
         " not synchronised, by what the kernel says: times of different hosts may be off by any "
         "amount";
}

}  // namespace batchlight
