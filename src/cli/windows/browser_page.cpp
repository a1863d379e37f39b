#include "cli/reading/browser_page.h"

// Before shellapi.h, which needs it.
#include <shellapi.h>
#include <windows.h>

namespace batchlight::cli {

// The address goes to the browser itself: no file is needed to hide it from other users.
BrowserPage::BrowserPage(const std::string& url) {
  if (url.empty()) return;
  ShellExecuteA(nullptr, "open", url.c_str(), nullptr, nullptr, SW_SHOWNORMAL);
}

BrowserPage::~BrowserPage() = default;

}  // namespace batchlight::cli
