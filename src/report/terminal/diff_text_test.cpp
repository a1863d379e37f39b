#include "report/terminal/diff_text.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "analysis/testing/store_builder.h"
#include "report/text/utf8.h"

namespace batchlight {
namespace {

using testing::StoreBuilder;

constexpr int64_t kMs = 1'000'000;

Store RunOf(int64_t forward, const char* torch, const char* op) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(1, "train.py"));
  build.Property("torch.version", torch);
  build.store().source = std::string("runs/") + torch + ".batchlight";
  int64_t at = 0;
  for (int i = 0; i < 20; ++i) {
    const int64_t end = at + (6 + forward) * kMs + (i % 4) * kMs / 100;
    build.Range(thread, "step", at, end);
    build.Range(thread, "forward", at + kMs, at + (1 + forward) * kMs);
    build.Module(thread, "Net|x", "Net", at + kMs, at + (1 + forward) * kMs);
    build.Operator(thread, op, at + 2 * kMs, at + forward * kMs);
    at = end;
  }
  return build.Build();
}

// UPDATE_GOLDEN=1 rewrites the file.
void ExpectGolden(const std::string& name, const std::string& text) {
  const std::string path = BATCHLIGHT_SOURCE_DIR "/tests/golden/" + name;
  if (std::getenv("UPDATE_GOLDEN") != nullptr) std::ofstream(path) << text;
  std::stringstream golden;
  golden << std::ifstream(path).rdbuf();
  EXPECT_EQ(text, golden.str()) << name;
}

TEST(DiffText, LooksAsItShould) {
  const Store a = RunOf(10, "2.1.0", "aten::mm");
  const Store b = RunOf(12, "2.2.0", "aten::addmm");
  const RunDiff diff = DiffRuns(BuildOverview(a), BuildOverview(b));
  const auto gates = CheckGates(ParseGates("step>3%, forward>5ms").value(), diff);
  ASSERT_TRUE(gates.ok());
  ExpectGolden("diff.txt", DiffAsText(diff, gates.value(), {.width = 100}, 8));
  ExpectGolden("diff.md", DiffAsMarkdown(diff, gates.value(), 1));
  ExpectGolden("diff.csv", DiffAsCsv(diff));
  const auto json = nlohmann::json::parse(DiffAsJson(diff, gates.value()));
  EXPECT_EQ(json["sure"], true);
  EXPECT_DOUBLE_EQ(json["difference_ns"], 2e6);
  EXPECT_EQ(json["gates"][0]["failed"], true);
  EXPECT_EQ(json["lists"]["operators"]["changes"][0]["change"], "new");
}

// Own times of operators that overlap are negative.
TEST(DiffText, NothingIsAPercentageOfNothing) {
  RunDiff diff;
  diff.lists.push_back({.key = "operators", .title = "Operators", .whole = "step", .changes = {}});
  diff.lists[0].changes.push_back({.name = "aten::mm", .a_ns = 0, .b_ns = -12});
  diff.lists[0].changes.push_back({.name = "aten::mul", .a_ns = -1e-300, .b_ns = 1e10});
  const std::string text = DiffAsText(diff, {}, {.width = 100}, 8);
  EXPECT_EQ(text.find("inf"), std::string::npos) << text;
  EXPECT_EQ(text.find("e+"), std::string::npos) << text;
}

TEST(DiffText, KernelsHaveNamesThatPeopleRead) {
  const auto run = [](int64_t kernel_ns) {
    StoreBuilder build;
    const ThreadId thread = build.Thread(build.Process(1, "train.py"));
    for (int64_t t = 0; t < 200 * kMs; t += 10 * kMs) {
      build.Range(thread, "step", t, t + 9 * kMs);
      build.Kernel(
          thread,
          "void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<float, "
          "float, float, at::native::binary_internal::MulFunctor<float>>>(int, float)",
          t + kMs, t + 2 * kMs, t + 2 * kMs + kernel_ns);
    }
    return build.Build();
  };
  const Store a = run(kMs);
  const Store b = run(2 * kMs);
  const RunDiff diff = DiffRuns(BuildOverview(a), BuildOverview(b));
  EXPECT_NE(DiffAsText(diff, {}, {.width = 80}, 8).find("\n  MulFunctor"), std::string::npos);
  EXPECT_NE(DiffAsMarkdown(diff, {}, 8).find("| `MulFunctor"), std::string::npos);
  EXPECT_NE(DiffAsCsv(diff).find("void at::native::vectorized"), std::string::npos);  // for scripts
}

TEST(DiffText, KeepsToTheWidth) {
  const Store a = RunOf(10, "2.1.0", "aten::mm");
  const Store b = RunOf(12, "2.2.0", "aten::addmm");
  const RunDiff diff = DiffRuns(BuildOverview(a), BuildOverview(b));
  for (int width = 60; width <= 120; ++width) {
    std::istringstream lines(DiffAsText(diff, {}, {.width = width}, 8));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(CharacterCount(line), size_t(width)) << line;
    }
  }
}

TEST(DiffText, SaysWhenThereIsNoDifference) {
  const Store a = RunOf(10, "2.1.0", "aten::mm");
  const RunDiff diff = DiffRuns(BuildOverview(a), BuildOverview(a));
  EXPECT_TRUE(DiffVerdict(diff).starts_with("no difference in step time")) << DiffVerdict(diff);
  const Store empty;
  const RunDiff none = DiffRuns(BuildOverview(a), BuildOverview(empty));
  EXPECT_TRUE(DiffVerdict(none).starts_with("cannot compare steps: in the second"));
  EXPECT_FALSE(DiffAsText(none, {}, {}, 8).empty());
  EXPECT_FALSE(DiffAsMarkdown(none, {}, 8).empty());
}

}  // namespace
}  // namespace batchlight
