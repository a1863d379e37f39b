// The browser that is to open the timeline's page.
#pragma once

#include <string>

namespace batchlight::cli {

// Opens an address in the user's browser while it lives, where there is a display. The address is
// handed over in a file that only the user can read: command lines are everybody's to see.
class BrowserPage {
 public:
  explicit BrowserPage(const std::string& url);  // "": none
  BrowserPage(const BrowserPage&) = delete;
  BrowserPage& operator=(const BrowserPage&) = delete;
  ~BrowserPage();

  void Remove() const;  // before its end, as no destructor runs; from any thread

 private:
  std::string file_;
};

}  // namespace batchlight::cli
