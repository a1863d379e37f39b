// Files embedded in the program itself, so that nothing has to be found at run time.
#pragma once

#include <string_view>

namespace batchlight {

std::string_view ReportScript();  // web/, bundled
std::string_view ReportStyle();
std::string_view TimelineScript();
std::string_view TimelineStyle();
std::string_view FontRegular();  // DejaVu Sans, TrueType
std::string_view FontBold();

}  // namespace batchlight
