// What a rank keeps of its operators and modules, as bytes: of ten thousand ranks they are read one
// after the other, where one of these is waited for and for tables.
#pragma once

#include <string>
#include <string_view>

#include "analysis/ranks/late/own_times.h"

namespace batchlight {

std::string PackOwnTimes(const RankOwnTimes& own);
// Of bytes that are damaged nothing.
RankOwnTimes UnpackOwnTimes(std::string_view bytes);

}  // namespace batchlight
