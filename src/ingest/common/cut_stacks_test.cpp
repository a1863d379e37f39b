#include "ingest/common/cut_stacks.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

namespace batchlight {
namespace {

class CutStacksTest : public ::testing::Test {
 protected:
  // Outermost first.
  PythonStackId Stack(std::initializer_list<const char*> functions) {
    PythonStackId stack;
    for (const char* function : functions) {
      store_.python_frames.Append({.file = store_.strings.Intern("train.py"),
                                   .function = store_.strings.Intern(function),
                                   .line = ++line_});
      store_.python_stacks.Append(
          {.frame = PythonFrameId::At(store_.python_frames.size() - 1), .parent = stack});
      stack = PythonStackId::At(store_.python_stacks.size() - 1);
    }
    return stack;
  }
  void Look(std::initializer_list<const char*> functions, int64_t pause_ns = 0) {
    at_ns_ += pause_ns;
    store_.python_samples.Append({.start_ns = at_ns_,
                                  .end_ns = at_ns_ + 10,
                                  .thread = ThreadId::At(0),
                                  .python_stack = Stack(functions)});
    at_ns_ += 10;
  }
  // Of a sample, outermost first.
  std::string TextOf(size_t row) const {
    std::string text;
    for (PythonStackId stack = store_.python_samples.python_stack[row]; !stack.IsNone();
         stack = store_.python_stacks.parent[stack.row()]) {
      const PythonFrameId frame = store_.python_stacks.frame[stack.row()];
      const std::string name(store_.Text(store_.python_frames.function[frame.row()]));
      text = text.empty() ? name : name + " > " + text;
    }
    return text;
  }

  Store store_;
  int64_t at_ns_ = 0;
  uint32_t line_ = 0;
};

TEST_F(CutStacksTest, GetTheCallersThatTheLooksAroundThemAgreeOn) {
  Look({"<module>", "train", "total", "<genexpr>"});
  Look({"<genexpr>"});
  Look({"<module>", "train", "total", "<genexpr>"});
  Look({"any", "numbers"});
  Look({"numbers"});
  Look({"<module>", "train"});
  JoinCutStacks(store_);
  EXPECT_EQ(TextOf(1), "<module> > train > total > <genexpr>");
  EXPECT_EQ(TextOf(3), "<module> > train > any > numbers");
  EXPECT_EQ(TextOf(4), "<module> > train > numbers");
}

TEST_F(CutStacksTest, AreJoinedUpToThreeInARow) {
  for (const int cut : {3, 4}) {
    Look({"<module>", "train"}, 100);
    for (int look = 0; look < cut; ++look) Look({"numbers"});
    Look({"<module>", "train"});
  }
  JoinCutStacks(store_);
  for (const size_t row : {1, 2, 3}) EXPECT_EQ(TextOf(row), "<module> > train > numbers");
  for (const size_t row : {6, 7, 8, 9}) EXPECT_EQ(TextOf(row), "numbers");
}

TEST_F(CutStacksTest, StayWhereTheThreadMayHaveBeenElsewhere) {
  Look({"<module>", "train"});
  Look({"at_exit"}, 5);  // the program had ended
  Look({"<module>", "train"});
  Look({"hook"}, 20);  // of a thread of C, which calls one after the other
  Look({"other_hook"});
  Look({"hook"});
  Look({"at_exit"});
  JoinCutStacks(store_);
  EXPECT_EQ(TextOf(1), "at_exit");
  EXPECT_EQ(TextOf(4), "other_hook");
  EXPECT_EQ(TextOf(6), "at_exit");
}

}  // namespace
}  // namespace batchlight
