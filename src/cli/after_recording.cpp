#include "cli/after_recording.h"

#include <cstdio>

namespace batchlight::cli {

Status AfterRecording(const std::vector<std::string>& recordings, const AfterOptions&) {
  for (const std::string& path : recordings) std::printf("%s\n", path.c_str());
  return {};
}

}  // namespace batchlight::cli
