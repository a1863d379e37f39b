// The address of the timeline's page, and the browser that is to open it.
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

// Opens an address in the user's browser while it lives, where there is a display. The address is
// handed over in a file that only the user can read: command lines are everybody's to see.
class BrowserPage {
 public:
  explicit BrowserPage(const std::string& url);  // "": none
  BrowserPage(const BrowserPage&) = delete;
  BrowserPage& operator=(const BrowserPage&) = delete;
  ~BrowserPage();

 private:
  std::string file_;
};

}  // namespace batchlight::cli
