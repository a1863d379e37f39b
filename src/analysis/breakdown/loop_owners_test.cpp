#include "analysis/breakdown/loop_owners.h"

#include <gtest/gtest.h>

namespace batchlight {
namespace {

class LoopOwnersTest : public testing::Test {
 protected:
  PythonStackId Frame(const char* function, PythonStackId parent = {},
                      const char* file = "/home/u/train.py") {
    store_.python_frames.Append({.file = store_.strings.Intern(file),
                                 .function = store_.strings.Intern(function),
                                 .first_line = 1,
                                 .line = uint32_t(store_.python_frames.size() + 1)});
    store_.python_stacks.Append(
        {.frame = PythonFrameId::At(store_.python_frames.size() - 1), .parent = parent});
    return PythonStackId::At(store_.python_stacks.size() - 1);
  }
  void Look(int64_t at_ns, PythonStackId stack) {
    store_.python_samples.Append({.start_ns = at_ns - 10,
                                  .end_ns = at_ns,
                                  .thread = ThreadId::At(0),
                                  .python_stack = stack,
                                  .samples = 1});
  }
  LoopOwners Find(const std::vector<TimeSpan>& beside, const std::vector<TimeSpan>& model) {
    const CodeSamples samples(store_);
    return FindLoopOwners(samples, ThreadId::At(0), beside, model);
  }
  std::string NameOf(const LoopOwners& owners, size_t span) {
    return owners.functions[owners.spans[span].function].function.function;
  }

  Store store_;
};

TEST_F(LoopOwnersTest, AMomentIsTheNearestLooks) {
  const PythonStackId train = Frame("train"), log = Frame("log", train);
  const PythonStackId update = Frame("update", train), copy = Frame("copy", update);
  for (const int64_t at : {10, 20, 30}) Look(at, train);
  Look(110, update);
  Look(120, copy);  // it calls that
  Look(140, log);
  const LoopOwners owners = Find({{100, 150}, {200, 300}}, {{0, 40}});
  ASSERT_EQ(owners.spans.size(), 2u) << "nobody looked from 200 on";
  EXPECT_EQ(NameOf(owners, 0), "update");
  EXPECT_EQ(owners.spans[0].start_ns, 100);
  EXPECT_EQ(owners.spans[0].end_ns, 130);
  EXPECT_EQ(NameOf(owners, 1), "log");
  EXPECT_EQ(owners.spans[1].end_ns, 150);
  EXPECT_FALSE(owners.functions[0].runs_model);
}

// Forward and backward are launched in a moment, and the loop is hardly ever seen in them.
TEST_F(LoopOwnersTest, TheLoopIsNotWhatItCalls) {
  const PythonStackId train = Frame("train"), count = Frame("count", train);
  Look(10, train);
  for (int64_t at = 110; at < 1000; at += 10) Look(at, count);
  Look(1000, train);
  const LoopOwners owners = Find({{100, 1010}}, {{0, 20}});
  ASSERT_EQ(owners.functions.size(), 2u);
  EXPECT_EQ(NameOf(owners, 0), "count");
  EXPECT_EQ(NameOf(owners, 1), "train") << "what stands in the loop itself";
  EXPECT_TRUE(owners.functions[1].runs_model);
}

TEST_F(LoopOwnersTest, WhatAPackageDoesInItsLoopIsNobodys) {
  const PythonStackId main = Frame("main");
  const PythonStackId loop =
      Frame("_inner_training_loop", main, "/usr/lib/python3/dist-packages/transformers/trainer.py");
  Look(10, loop);
  Look(110, loop);
  EXPECT_TRUE(Find({{100, 150}}, {{0, 40}}).spans.empty());
}

}  // namespace
}  // namespace batchlight
