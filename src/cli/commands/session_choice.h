// Which session a command means.
#pragma once

#include <string>

#include "base/status.h"

namespace batchlight::cli {

inline constexpr char kDefaultSession[] = "default";
inline constexpr char kSessionHelp[] = "Session; may be left out if only one is running";

// `wanted` if it is not empty, else "default" if that runs, else the only session that runs. If
// none runs, the answer is "default" with `may_be_new`, otherwise an error (kInput).
Result<std::string> ChooseSession(const std::string& wanted, bool may_be_new);

}  // namespace batchlight::cli
