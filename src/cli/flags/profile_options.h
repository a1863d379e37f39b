// Turns parsed flags into what a session is asked to do.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "capture/recording/options.h"
#include "cli/flags/flags.h"

namespace batchlight::cli {

struct ProfileOptions {
  capture::SessionOptions session;
  std::vector<std::string> notices;  // one line each, for stderr
  uint32_t overhead_rounds = 0;      // --measure-overhead; 0 = not measured
};

// Errors are kUsage.
Result<ProfileOptions> MakeProfileOptions(const ParsedFlags& flags);
// The part that `start` takes too.
Result<capture::CaptureOptions> MakeCaptureOptions(const ParsedFlags& flags);
// --kill and `shutdown --kill`: none, sigkill, sigterm or a number; 0 = none.
Result<int> ParseSignal(const std::string& text);

}  // namespace batchlight::cli
