// The report page: script, style and data in one HTML file that needs nothing else.
#pragma once

#include <string>
#include <string_view>

namespace batchlight {

// `json` is any JSON text; it is made safe for HTML here. `title` may hold any bytes.
std::string MakeHtmlPage(std::string_view title, std::string_view json);

}  // namespace batchlight
