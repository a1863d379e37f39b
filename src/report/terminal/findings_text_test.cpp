#include "report/terminal/findings_text.h"

#include <gtest/gtest.h>

#include <sstream>

namespace batchlight {
namespace {

Finding Long() {
  Finding finding{.rule = "launch-bound"};
  finding.title = "Training is bound by launches, not by the GPU, in almost every step of the run";
  finding.seen = finding.why = finding.action =
      "The GPU waits 0.87 ms of every step (87 %) for the CPU to launch the next of 15.0 kernels.";
  finding.patch.diff = "-model = Model().cuda()\n+model = torch.compile(Model().cuda())\n";
  return finding;
}

TEST(FindingsText, ParagraphsAreAsWideAsTheTerminal) {
  for (const int width : {40, 60, 100}) {
    std::istringstream text(
        FindingsText({Long(), Long()}, {.width = width, .terminal_width = width}));
    size_t lines = 0;
    for (std::string line; std::getline(text, line); ++lines) {
      if (line.starts_with("     +") || line.starts_with("     -")) continue;  // to be copied
      EXPECT_LE(line.size(), static_cast<size_t>(width)) << line;
    }
    EXPECT_GT(lines, 12u);
  }
}

TEST(FindingsText, WithoutATerminalEachIsOneLine) {
  const std::string text = FindingsText({Long()}, {});
  EXPECT_NE(text.find("   Seen: " + Long().seen + "\n   Why:  "), std::string::npos) << text;
  EXPECT_NE(text.find("   Patch:\n     -model = Model().cuda()\n"), std::string::npos) << text;
}

TEST(FindingsText, LeadsToAnEventOfTheRecording) {
  Store store;
  store.strings.Intern("aten::add");
  Finding finding = Long();
  finding.evidence = {{.kind = "setting", .name = "amp"},
                      {.kind = "operator", .name = "aten::gone"},
                      {.kind = "operator", .name = "aten::add"}};
  const std::string text = FindingsText({finding}, {}, &store, {"my run.batchlight", "b"});
  EXPECT_NE(text.find("\n   View: batchlight view 'my run.batchlight' b --find aten::add\n"),
            std::string::npos)
      << text;
  finding.evidence.pop_back();
  EXPECT_EQ(FindingsText({finding}, {}, &store).find("View:"), std::string::npos);
}

// What takes most of the time, just where it is longest, not the first that has a name.
TEST(FindingsText, LeadsToWhereTheFindingLies) {
  Store store;
  store.strings.Intern("half A");
  Finding finding = Long();
  finding.evidence = {{.kind = "range", .name = "half A", .per_step_ns = 4e6},
                      {.kind = "function",
                       .name = "`two_lines` (truth.py:29)",
                       .per_step_ns = 5e6,
                       .longest = {2'000'000'000, 2'180'000'000}}};
  const auto view = [&] {
    const std::string text = FindingsText({finding}, {}, &store, {"run"});
    const size_t at = text.find("View: ");
    return at == text.npos ? "" : text.substr(at, text.find('\n', at) - at);
  };
  EXPECT_EQ(view(), "View: batchlight view run --at 2.090000s");
  finding.evidence.push_back({.kind = "step", .name = "25", .per_step_ns = 3e8, .step = 25});
  EXPECT_EQ(view(), "View: batchlight view run --step 25");
}

}  // namespace
}  // namespace batchlight
