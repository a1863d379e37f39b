// A job part as bytes and back: the payload of the partial block of a recording
// (format/partial_block.h has its place). Columns of numbers are differences, as many bytes as they
// need. Bytes are not trusted.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "analysis/partial/rank_partial.h"

namespace batchlight {

std::string EncodeJobPart(const JobPart& part);

// Nothing: the bytes are damaged, or of a later version. `ends`: whether the ends of calls are
// kept, which are half of what a part needs in memory.
std::optional<JobPart> DecodeJobPart(std::string_view bytes, bool ends = true);

// Whether they are of a version that can be read; they may be damaged all the same.
bool IsJobPart(std::string_view bytes);

}  // namespace batchlight
