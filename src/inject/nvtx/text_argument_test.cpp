#include "inject/nvtx/text_argument.h"

#include <gtest/gtest.h>

#include <string>

namespace batchlight::inject::nvtx {
namespace {

std::string Utf8(const std::wstring& text) {
  const TextArgument argument(text.c_str());
  return {argument.text(), argument.bytes()};
}

TEST(TextArgument, ConvertsWideText) {
  EXPECT_EQ(Utf8(L""), "");
  EXPECT_EQ(Utf8(L"plain"), "plain");
  EXPECT_EQ(Utf8(L"\u00e9\u07ff"), "\xc3\xa9\xdf\xbf");
  EXPECT_EQ(Utf8(L"\u0800\uffff"), "\xe0\xa0\x80\xef\xbf\xbf");
  EXPECT_EQ(Utf8(L"\U00010000\U0010ffff"), "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf");
}

TEST(TextArgument, ReplacesWhatIsNoCharacter) {
  const wchar_t bad[] = {static_cast<wchar_t>(0xd800), static_cast<wchar_t>(0x110000),
                         static_cast<wchar_t>(-1), 0};
  EXPECT_EQ(Utf8(bad), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
}

TEST(TextArgument, ConvertsLongText) {
  EXPECT_EQ(Utf8(std::wstring(70000, L'\u00e9')).size(), 2 * 65537);
}

TEST(TextArgument, TakesNullAsEmpty) {
  EXPECT_EQ(TextArgument(static_cast<const char*>(nullptr)).bytes(), 0);
  EXPECT_EQ(TextArgument(static_cast<const wchar_t*>(nullptr)).bytes(), 0);
}

}  // namespace
}  // namespace batchlight::inject::nvtx
