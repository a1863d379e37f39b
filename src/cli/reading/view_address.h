// The address of the timeline's page.
#pragma once

#include <string>

#include "base/status.h"

namespace batchlight::cli {

// Where the page opens: one of them, or nowhere in particular.
struct ViewTarget {
  std::string step;  // its number
  std::string at;    // "1.234s"
  std::string find;  // a name
};

// "step=13", percent-encoded; "": nowhere in particular. Errors (kUsage): no number, no time.
Result<std::string> PlaceOf(const ViewTarget& target);

// "token=...&step=13".
Result<std::string> FragmentOf(const std::string& token, const ViewTarget& target);

// "1.234s" -> 1234000000; a number alone is ns. Errors: kUsage.
Result<int64_t> ParseMoment(const std::string& text);

}  // namespace batchlight::cli
