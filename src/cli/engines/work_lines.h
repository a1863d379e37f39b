// What the tool and `batchlight work` on another machine say to each other: inputs as words of a
// command line, answers as lines of JSON, so that they pass through any launcher.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "cli/engines/engine.h"

namespace batchlight::cli {

// "BYTES:CHANGED:PATH".
std::string InputWord(const SeenInput& input);
std::optional<SeenInput> ReadInputWord(std::string_view word);

// One input that a machine sees.
std::string SeenLine(const SeenInput& input);
std::optional<SeenInput> ReadSeenLine(std::string_view line);

// What came of an input, by its place among those of the call. `sees_other`: the machine's view of
// the file system is behind, or ahead, and stayed so.
struct WorkAnswer {
  size_t at = 0;
  bool sees_other = false;
  Result<std::string> bytes = std::string();
};
std::string AnswerLine(const WorkAnswer& answer);
std::optional<WorkAnswer> ReadAnswerLine(std::string_view line);

}  // namespace batchlight::cli
