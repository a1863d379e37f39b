#include "report/files/source_page.h"

#include "analysis/testing/lines_test.h"
#include "store/kinds_of_gpu_memory.h"

namespace batchlight {
namespace {

using testing::kTrain;

class SourcePageTest : public testing::LinesTest {
 protected:
  std::string Make(const std::vector<SourceFile>& files) {
    ForwardAndBackward();  // the GPU works from 1000 to 1900
    Operator(main, "aten::item", 1800, 2500, Frame(kTrain, 5, script));
    build.ApiCall(main, "cudaStreamSynchronize", 1850, 1927);
    Operator(main, "aten::mul", 2500, 2700, Frame(kTrain, 6, script));
    build.Kernel(main, "mul", 2600, 2800, 2801);
    build.store().memory_blocks.Append({.start_ns = 150,
                                        .end_ns = kOpenEnd,
                                        .thread = main,
                                        .bytes = 3 << 20,
                                        .represented_bytes = 3 << 20,
                                        .source = static_cast<MemorySource>(kFirstGpuSource)});
    store = build.Build();
    return MakeSourcePage(BuildOverview(store), files);
  }

  Store store;
};

TEST_F(SourcePageTest, NumbersStandBesideTheSource) {
  const std::string text = "1\n2\n3\n4\n5\n6\n7\n8\n9\n    y = net(x) if x < 3 else \"&\"\nlast";
  const std::string page = Make({{kTrain, text}, {"/home/user/other.py", "never ran"}});
  EXPECT_NE(page.find("<h2>/home/user/train.py</h2>"), std::string::npos);
  EXPECT_EQ(page.find("never ran"), std::string::npos);
  const size_t line = page.find("<td class=\"n\">10</td>");
  ASSERT_NE(line, std::string::npos);
  const std::string row = page.substr(line, page.find("</tr>\n", line) - line);
  EXPECT_NE(row.find("900 ns"), std::string::npos) << row;  // GPU, forward and backward
  EXPECT_NE(row.find("300 ns"), std::string::npos);
  EXPECT_NE(row.find("3.00 MiB"), std::string::npos);
  EXPECT_NE(row.find("net(x) if x &lt; 3"), std::string::npos);
  EXPECT_NE(row.find("module.py:500 f"), std::string::npos);  // what the line is made of
  EXPECT_NE(page.find("<td class=\"n\">11</td>"), std::string::npos);
  const size_t waits = page.find("<td class=\"n\">5</td>");
  const std::string waiting = page.substr(waits, page.find("</tr>\n", waits) - waits);
  EXPECT_NE(waiting.find("600 ns"), std::string::npos) << waiting;  // idle that it caused
  EXPECT_NE(waiting.find("77.0 ns"), std::string::npos) << waiting;
  EXPECT_EQ(page.find("<script"), std::string::npos);
}

TEST_F(SourcePageTest, WithoutSourceThereIsNoPage) { EXPECT_EQ(Make({}), ""); }

}  // namespace
}  // namespace batchlight
