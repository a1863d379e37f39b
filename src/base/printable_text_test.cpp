#include "base/printable_text.h"

#include <gtest/gtest.h>

namespace batchlight {
namespace {

constexpr char kReplacement[] = "\xef\xbf\xbd";

TEST(PrintableText, ShowsWhatWouldActOnATerminal) {
  const std::string bad(kReplacement);
  EXPECT_EQ(PrintableText("\x1b[31mred\x07"), bad + "[31mred" + bad);
  EXPECT_EQ(PrintableText("a\x7f"), "a" + bad);
  EXPECT_EQ(PrintableText("\xc2\x9b"
                          "31m"),
            bad + "31m");                                            // C1: one byte of an escape
  EXPECT_EQ(PrintableText("\xe2\x80\xaegnp.exe"), bad + "gnp.exe");  // right-to-left override
  EXPECT_EQ(PrintableText("\xe2\x81\xa6x\xe2\x81\xa9"), bad + "x" + bad);
  EXPECT_EQ(PrintableText("\xff"), bad);
  EXPECT_EQ(PrintableText(std::string_view("\0", 1)), bad);
}

TEST(PrintableText, KeepsTextOfAllLanguages) {
  for (const char* text : {"", "plain", "two\nlines\tand a tab", "µs · 10 × 2 → …", "训练", "שלום",
                           "emoji \xf0\x9f\x9a\x80"}) {
    EXPECT_EQ(PrintableText(text), text);
  }
}

TEST(SpreadsheetText, DisarmsFormulas) {
  EXPECT_EQ(SpreadsheetText("=HYPERLINK(\"x\")"), "'=HYPERLINK(\"x\")");
  for (const char* text : {"+1", "-1", "@SUM(1)", "\t=1", "\r=1"}) {
    EXPECT_EQ(SpreadsheetText(text), "'" + std::string(text));
  }
  for (const char* text : {"", "aten::mm", "1=2", "a-b"}) EXPECT_EQ(SpreadsheetText(text), text);
}

TEST(ShellPath, IsOneWord) {
  EXPECT_EQ(ShellPath("runs/train-1.batchlight"), "runs/train-1.batchlight");
  EXPECT_EQ(ShellPath("my run.batchlight"), "'my run.batchlight'");
  EXPECT_EQ(ShellPath("a;rm -rf $HOME"), "'a;rm -rf $HOME'");
  EXPECT_EQ(ShellPath("it's"), "'it'\\''s'");
  EXPECT_EQ(ShellPath("~"), "'~'");
  EXPECT_EQ(ShellPath(""), "''");
  EXPECT_EQ(ShellPath("-f"), "./-f");
  EXPECT_EQ(ShellPath("a\x1b[2J\n'"), "$'a\\x1b[2J\\x0a\\x27'");
  EXPECT_EQ(ShellPath("训练"), "'训练'");
}

}  // namespace
}  // namespace batchlight
