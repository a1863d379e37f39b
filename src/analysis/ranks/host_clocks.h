// What the kernel of a host knew of its clock when a recording began (adjtimex), for jobs whose
// times are those of the hosts.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "store/store.h"

namespace batchlight {

struct HostClock {
  std::string host;
  bool is_known = false;      // what follows
  bool is_kept = true;        // somebody (NTP) keeps it at UTC
  int64_t most_error_ns = 0;  // at most, by the kernel's estimate
};

HostClock HostClockOf(const Store& store);

// "the clock of node3 is not synchronised, by what the kernel says: times of different hosts may be
// off by any amount"; else by how much clocks may be off, and of which nothing is known; "": of
// none.
std::string HostClocksText(std::span<const HostClock> clocks);

}  // namespace batchlight
