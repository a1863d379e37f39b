// The report page: script, style and data in one HTML file that needs nothing else.
#pragma once

#include <string>
#include <string_view>

namespace batchlight {

// Any bytes as the inside of an HTML element.
std::string EscapedText(std::string_view text);

// `json` is any JSON text; it is made safe for HTML here. `title` may hold any bytes. `elements`
// are HTML that the script looks for: the timeline's, or none.
std::string MakeHtmlPage(std::string_view title, std::string_view json,
                         std::string_view elements = {});

}  // namespace batchlight
