#include "analysis/steps/update_pattern.h"

#include <gtest/gtest.h>

#include <string>

namespace batchlight {
namespace {

// One update per letter; upper and lower case of a letter are of one class. `work`: a letter each.
std::vector<Update> Updates(const std::string& owners, const std::string& work = "") {
  std::vector<Update> updates;
  for (size_t i = 0; i < owners.size(); ++i) {
    const auto at = static_cast<int64_t>(i * 100);
    const auto owner = static_cast<unsigned char>(owners[i]);
    updates.push_back({.start_ns = at,
                       .end_ns = at + 10,
                       .name = StringId::At(owner),
                       .owner = owner,
                       .family = owner | 0x20U,
                       .work = work.empty() ? uint64_t{0} : static_cast<uint64_t>(work[i])});
  }
  return updates;
}

std::string Repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(UpdatePattern, OneOptimizerEndsAnIterationEachTime) {
  const UpdatePattern pattern = FindUpdatePattern(Updates("aaaa"));
  EXPECT_EQ(pattern.ends, (std::vector<size_t>{0, 1, 2, 3}));
  EXPECT_TRUE(pattern.parts.empty());
}

TEST(UpdatePattern, TwoOptimizersInTurnAreOneIteration) {
  const UpdatePattern pattern = FindUpdatePattern(Updates(Repeated("ab", 20)));
  ASSERT_EQ(pattern.ends.size(), 20u);
  EXPECT_EQ(pattern.ends[0], 1u);
  ASSERT_EQ(pattern.parts.size(), 2u);
  EXPECT_EQ(pattern.parts[1].name, StringId::At('b'));
}

TEST(UpdatePattern, FiveCriticStepsAndOneOfTheGenerator) {
  UpdatePattern pattern = FindUpdatePattern(Updates(Repeated("cccccg", 10)));
  ASSERT_EQ(pattern.ends.size(), 10u);
  EXPECT_EQ(pattern.ends[0], 5u);
  ASSERT_EQ(pattern.parts.size(), 2u);
  EXPECT_EQ(pattern.parts[0].count, 5u);
  pattern = FindUpdatePattern(Updates(Repeated("gccccc", 10)));
  ASSERT_EQ(pattern.ends.size(), 10u) << "the generator may come first";
  EXPECT_EQ(pattern.ends[0], 5u);
  pattern = FindUpdatePattern(Updates("cg" + Repeated("cccccg", 10)));
  EXPECT_EQ(pattern.ends.size(), 11u) << "if step % 5 == 0";
}

// As TD3's: the actor is updated in every second iteration.
TEST(UpdatePattern, InOneLoopTheOptimizerThatStepsMostOftenCounts) {
  const auto count = [](const std::string& owners, std::string_view loops, std::string_view inner) {
    std::vector<Update> updates = Updates(owners);
    for (Update& update : updates) update.loops = update.owner == 'c' ? inner : loops;
    return FindUpdatePattern(updates).ends.size();
  };
  const std::string critic_first = Repeated("cca", 20), actor_first = Repeated("acc", 20);
  for (const std::string& owners : {critic_first, actor_first}) {
    EXPECT_EQ(count(owners, "a.py:4", "a.py:4"), 40u);
    EXPECT_EQ(count(owners, "a.py:4", "a.py:4 a.py:7"), 20u) << "twice in each iteration";
    EXPECT_EQ(count(owners, "", ""), 20u);
    EXPECT_EQ(count(owners, "a.py:4", ""), 20u);
  }
  EXPECT_EQ(count(Repeated("ccccag", 5) + Repeated("ac", 9), "a.py:4", "a.py:4"), 29u)
      << "irregular";
  EXPECT_EQ(count(Repeated("cg", 20), "a.py:4", "a.py:4"), 20u) << "both in each";
  UpdatePattern pattern = FindUpdatePattern(Updates(critic_first));
  EXPECT_EQ(pattern.ends[0], 2u);
}

TEST(UpdatePattern, AnOptimizerTrainedAloneAtFirstHasItsOwnIterations) {
  const UpdatePattern pattern = FindUpdatePattern(Updates(Repeated("a", 10) + Repeated("ab", 20)));
  EXPECT_EQ(pattern.ends.size(), 30u);
}

TEST(UpdatePattern, SameWorkInTurnIsAnIterationEach) {
  const std::string owners = Repeated("ab", 20);
  EXPECT_EQ(FindUpdatePattern(Updates(owners, Repeated("ww", 20))).ends.size(), 40u);
  EXPECT_EQ(FindUpdatePattern(Updates(owners, Repeated("wv", 20))).ends.size(), 20u);
}

TEST(UpdatePattern, ModelsOneAfterTheOtherCountAll) {
  const UpdatePattern pattern = FindUpdatePattern(Updates("aaaaabbbbbccccc"));
  EXPECT_EQ(pattern.ends.size(), 15u);
  EXPECT_FALSE(pattern.fresh[4]);
  EXPECT_TRUE(pattern.fresh[5]);
  EXPECT_TRUE(pattern.fresh[10]);
  EXPECT_TRUE(pattern.parts.empty());
  const UpdatePattern gans = FindUpdatePattern(Updates(Repeated("ab", 8) + Repeated("cd", 8)));
  EXPECT_EQ(gans.ends.size(), 16u);
  EXPECT_TRUE(gans.fresh[8]);
}

TEST(UpdatePattern, AnInnerOptimizerMadeForEachTaskStandsForItsClass) {
  // Three inner steps of a new SGD for each task, then the outer optimizer's.
  std::vector<Update> updates;
  for (int task = 0; task < 12; ++task) {
    for (Update& update : Updates("sssm")) {
      if (update.owner == 's') update.owner = static_cast<uint64_t>(1000 + task);
      updates.push_back(update);
    }
  }
  EXPECT_EQ(FindUpdatePattern(updates).ends.size(), 12u);
}

// Iterations of four tasks, each with an optimizer of its own that steps three times, and then six
// tasks alone, by which the result is judged.
TEST(UpdatePattern, TasksBehindTheLoopEndNoIteration) {
  std::vector<Update> updates;
  uint64_t owner = 100;
  const auto task = [&] {
    ++owner;
    for (int i = 0; i < 3; ++i) updates.push_back({.owner = owner, .family = 1});
  };
  for (int iteration = 0; iteration < 42; ++iteration) {
    for (int i = 0; i < 4; ++i) task();
    updates.push_back({.owner = 7, .family = 7});
  }
  const size_t last = updates.size() - 1;
  for (int i = 0; i < 6; ++i) task();
  const UpdatePattern pattern = FindUpdatePattern(updates);
  ASSERT_EQ(pattern.ends.size(), 42u);
  EXPECT_EQ(pattern.ends.front(), 12u);
  EXPECT_EQ(pattern.ends.back(), last);
}

// A GAN of two classes, and then a classifier with a new optimizer of one of them.
TEST(UpdatePattern, AnotherTrainingBehindTheLoopCounts) {
  std::vector<Update> updates = Updates(Repeated("ab", 50));
  for (Update& update : Updates(Repeated("A", 15))) updates.push_back(update);
  EXPECT_EQ(FindUpdatePattern(updates).ends.size(), 65u);
}

TEST(UpdatePattern, WithoutARegularPatternEveryUpdateIsAnIteration) {
  EXPECT_EQ(FindUpdatePattern(Updates("abbabaaabbabbbaabababbbaaab")).ends.size(), 27u);
}

TEST(UpdatePattern, OneIterationOfTwoOptimizers) {
  EXPECT_EQ(FindUpdatePattern(Updates("ab")).ends.size(), 1u);
  EXPECT_TRUE(FindUpdatePattern({}).ends.empty());
}

}  // namespace
}  // namespace batchlight
