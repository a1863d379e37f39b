#include "report/files/snippet.h"

#include <gtest/gtest.h>

#include "analysis/testing/sample_run.h"

namespace batchlight {
namespace {

TEST(SnippetTest, CodeOfANameIsNeverMarkup) {
  EXPECT_EQ(MarkdownCode("aten::mm"), "`aten::mm`");
  EXPECT_EQ(MarkdownCode("a|b"), "`a\\|b`");
  EXPECT_EQ(MarkdownCode("tick ` tock"), "``tick ` tock``");
  EXPECT_EQ(MarkdownCode("`edge`"), "`` `edge` ``");
  EXPECT_EQ(MarkdownCode("two\nlines"), "`two lines`");
  EXPECT_EQ(MarkdownCode(""), "(no name)");
}

TEST(SnippetTest, ShowsRealNamesWithUnits) {
  const Store store = testing::MakeSampleRun({.hostile_names = false, .loss = true});
  const RunOverview overview = BuildOverview(store);
  const std::string text =
      MakeSnippet(overview, {}, MakeTopLists(overview), {{"top10.png", "Top 10"}});
  EXPECT_NE(text.find("![Top 10](top10.png)"), std::string::npos);
  EXPECT_NE(text.find("`aten::addmm`"), std::string::npos);
  EXPECT_NE(text.find("| backward | "), std::string::npos);
  EXPECT_NE(text.find(" ms |"), std::string::npos);
  EXPECT_NE(text.find("A step takes "), std::string::npos);
  EXPECT_NE(text.find("**Incomplete:** 12,345"), std::string::npos);
  EXPECT_EQ(text.find("arb"), std::string::npos);
}

TEST(SnippetTest, NamesTheThreeFindingsThatGainMost) {
  const Store store = testing::MakeSampleRun();
  Finding finding{
      .rule = "a", .title = "Data <loading>", .action = "use workers", .gain_ns = 4.2e6};
  const std::string text = MakeSnippet(BuildOverview(store), {finding, {}, {}, finding}, {}, {});
  EXPECT_NE(text.find("- **Data \\<loading\\>** (about 4.20 ms a step): use workers\n"),
            std::string::npos);
  EXPECT_EQ(text.find("use workers"), text.rfind("use workers"));
}

TEST(SnippetTest, EveryRowOfATableHasItsCells) {
  const Store store = testing::MakeSampleRun();
  const RunOverview overview = BuildOverview(store);
  const std::string text = MakeSnippet(overview, {}, MakeTopLists(overview), {});
  size_t rows = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    if (!line.starts_with("| 1 |") && !line.starts_with("| 2 |")) continue;
    ++rows;
    size_t pipes = 0;
    for (size_t i = 0; i < line.size(); ++i)
      pipes += line[i] == '|' && (i == 0 || line[i - 1] != '\\');
    EXPECT_EQ(pipes, 7u) << line;
  }
  EXPECT_EQ(rows, 6u);
}

}  // namespace
}  // namespace batchlight
