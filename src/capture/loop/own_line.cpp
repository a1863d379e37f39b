#include "capture/loop/own_line.h"

#include <errno.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

namespace batchlight::capture {

OwnLine::OwnLine() {
  std::ifstream file("/proc/self/cmdline");
  const std::string own((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  char* const place = program_invocation_name;
  if (own.empty() || std::memcmp(place, own.c_str(), std::strlen(own.c_str()) + 1) != 0) return;
  place_ = place;
  bytes_ = own.size();
}

void OwnLine::Keep(int words) const {
  size_t kept = 0;
  for (int i = 0; i < words && kept < bytes_; ++i) {
    kept += strnlen(place_ + kept, bytes_ - kept) + 1;
  }
  if (kept < bytes_) std::memset(place_ + kept, 0, bytes_ - kept);
}

void OwnLine::Show(std::string_view text) const {
  if (bytes_ == 0) return;
  const size_t shown = std::min(text.size(), bytes_ - 1);
  std::memcpy(place_, text.data(), shown);
  std::memset(place_ + shown, 0, bytes_ - shown);
}

}  // namespace batchlight::capture
