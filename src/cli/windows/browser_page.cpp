#include "cli/reading/browser_page.h"

// clang-format off
#include <windows.h>
#include <shellapi.h>  // needs the first
// clang-format on

namespace batchlight::cli {

// The address goes to the browser itself: no file is needed to hide it from other users.
BrowserPage::BrowserPage(const std::string& url) {
  if (url.empty()) return;
  ShellExecuteA(nullptr, "open", url.c_str(), nullptr, nullptr, SW_SHOWNORMAL);
}

BrowserPage::~BrowserPage() = default;

void BrowserPage::Remove() const {}

}  // namespace batchlight::cli
