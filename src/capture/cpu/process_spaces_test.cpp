#include "capture/cpu/process_spaces.h"

#include <gtest/gtest.h>

namespace batchlight::capture {
namespace {

bool HasCode(const ProcessSpaces& spaces, uint32_t pid, uint64_t pc) {
  native::CodePlace place;
  return spaces.Find(pid).Find(pc, &place);
}

TEST(ProcessSpaces, AreForgottenWithTheirLastThread) {
  ProcessSpaces spaces;
  spaces.Change(1).Map(0x1000, 0x1000, 0, nullptr);
  spaces.Begin(1, 2, 1);
  spaces.Begin(1, 3, 1);
  spaces.End(1, 1);  // main() may call pthread_exit
  spaces.End(1, 3);
  spaces.End(1, 9);  // began before anybody looked
  EXPECT_TRUE(HasCode(spaces, 1, 0x1000));
  spaces.End(1, 2);
  EXPECT_FALSE(HasCode(spaces, 1, 0x1000));
  EXPECT_EQ(spaces.size(), 0u);
}

TEST(ProcessSpaces, AChildHasWhatItsParentHadAndChangesItAlone) {
  ProcessSpaces spaces;
  spaces.Change(1).Map(0x1000, 0x1000, 0, nullptr);
  spaces.Begin(2, 2, 1);
  EXPECT_TRUE(HasCode(spaces, 2, 0x1000));
  spaces.Change(2).Map(0x5000, 0x1000, 0, nullptr);
  EXPECT_FALSE(HasCode(spaces, 1, 0x5000));
  spaces.End(1, 1);
  EXPECT_TRUE(HasCode(spaces, 2, 0x1000));
  spaces.Exec(2);
  EXPECT_FALSE(HasCode(spaces, 2, 0x1000));
  spaces.Change(2).Map(0x2000, 0x1000, 0, nullptr);
  EXPECT_TRUE(HasCode(spaces, 2, 0x2000));
  spaces.End(2, 2);
  EXPECT_EQ(spaces.size(), 0u);
}

// A job of days runs a command every second.
TEST(ProcessSpaces, MillionsOfShortProcessesTakeNoMemory) {
  ProcessSpaces spaces;
  spaces.Change(1).Map(0x1000, 0x1000, 0, nullptr);
  for (uint32_t pid = 2; pid < 1'000'000; ++pid) {
    spaces.Begin(pid, pid, 1);
    if (pid % 2 == 0) spaces.Exec(pid);
    spaces.Change(pid).Map(0x5000, 0x1000, 0, nullptr);
    spaces.End(pid, pid);
  }
  EXPECT_EQ(spaces.size(), 1u);
}

}  // namespace
}  // namespace batchlight::capture
