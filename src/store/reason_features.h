// Values of reasons.feature that readers treat in a way of their own.
#pragma once

#include <string_view>

namespace batchlight {

inline constexpr std::string_view kImportFeature = "import";  // a file was not read as it stands
inline constexpr std::string_view kInputFeature = "input";    // a file is cut or incomplete
// What a foreign file holds and nothing here shows: a footnote.
inline constexpr std::string_view kUnreadFeature = "unread";

}  // namespace batchlight
