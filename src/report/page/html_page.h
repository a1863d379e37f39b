// The report page: script, style and data in one HTML file that needs nothing else.
#pragma once

#include <string>
#include <string_view>

namespace batchlight {

// Any bytes as the inside of an HTML element.
std::string EscapedText(std::string_view text);

// `json` is any JSON text; it is made safe for HTML here. `title` may hold any bytes. `elements`
// are HTML that the script looks for: the timeline's, or none. `without_script`: what a browser
// shows that runs none.
inline constexpr std::string_view kSeeCsv =
    "This page is drawn by a script, which this browser does not run. The same numbers are in the "
    "CSV files beside it.";
std::string MakeHtmlPage(std::string_view title, std::string_view json,
                         std::string_view elements = {}, std::string_view without_script = kSeeCsv);

}  // namespace batchlight
