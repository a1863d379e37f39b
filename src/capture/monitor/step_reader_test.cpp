#include "capture/monitor/step_reader.h"

#include <gtest/gtest.h>

#include <memory>

namespace batchlight::capture {
namespace {

class StepReaderTest : public testing::Test {
 protected:
  void Attach(size_t slot, uint32_t pid, int32_t rank, int64_t attach_ns) {
    board_->slots[slot].pid = pid;
    board_->slots[slot].rank = rank;
    board_->slots[slot].steps = 0;
    board_->slots[slot].attach_ns = attach_ns;
  }
  void End(size_t slot, uint64_t step, uint64_t duration_ns, uint32_t backward_us = 0) {
    format::BoardEntry& entry = board_->slots[slot].entries[(step - 1) % format::kBoardEntries];
    entry.end_ns = static_cast<int64_t>(step) * 100;
    entry.duration_ns = duration_ns;
    entry.phase_us[3] = backward_us;
    entry.step = step;
    board_->slots[slot].steps = step;
  }

  std::unique_ptr<format::StepBoard> board_ = std::make_unique<format::StepBoard>();
  StepReader reader_{*board_};
};

TEST_F(StepReaderTest, SumsWhatIsNew) {
  Attach(5, 4711, 3, 1);
  End(5, 1, 0, 7);
  reader_.Read();
  End(5, 2, 30, 2);
  End(5, 3, 10, 2);
  reader_.Read();
  reader_.Read();
  const auto all = reader_.Processes();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0]->rank, 3);
  EXPECT_EQ(all[0]->step, 3u);
  EXPECT_EQ(all[0]->end_ns, 300);
  EXPECT_EQ(all[0]->timed_steps, 2u) << "nobody saw the first begin";
  EXPECT_EQ(all[0]->total_ns, 40);
  EXPECT_EQ(all[0]->phase_us[3], 11);
  EXPECT_EQ(all[0]->Quantile(0.5), 10);
  EXPECT_EQ(all[0]->Quantile(0.99), 30);
}

TEST_F(StepReaderTest, CountsWhatWasOverwritten) {
  Attach(0, 1, -1, 1);
  for (uint64_t step = 1; step <= format::kBoardEntries + 10; ++step) End(0, step, 5);
  reader_.Read();
  EXPECT_EQ(reader_.Processes()[0]->unread_steps, 10u);
  EXPECT_EQ(reader_.Processes()[0]->timed_steps, uint64_t{format::kBoardEntries});
  EXPECT_EQ(reader_.Processes()[0]->recent_ns.size(), StepReader::kRecentSteps);
}

TEST_F(StepReaderTest, AnEntryBeingWrittenIsNotRead) {
  Attach(0, 1, -1, 1);
  End(0, 1, 5);
  End(0, 2, 5);
  board_->slots[0].entries[1].step = 0;
  reader_.Read();
  EXPECT_EQ(reader_.Processes()[0]->timed_steps, 1u);
  EXPECT_EQ(reader_.Processes()[0]->unread_steps, 1u);
}

TEST_F(StepReaderTest, AnotherProcessInTheSlotStartsAnew) {
  Attach(0, 1, 0, 1);
  End(0, 1, 5);
  End(0, 2, 5);
  reader_.Read();
  Attach(0, 2, 0, 9);
  End(0, 1, 0);
  reader_.Read();
  EXPECT_EQ(reader_.Processes()[0]->step, 1u);
  EXPECT_EQ(reader_.Processes()[0]->timed_steps, 0u);
}

TEST_F(StepReaderTest, NonsenseOnTheBoardIsBounded) {
  Attach(0, 1, 0, 1);
  board_->slots[0].steps = format::kLastRequestableStep;
  reader_.Read();
  EXPECT_EQ(reader_.Processes()[0]->timed_steps, 0u);
  Attach(1, 2, 0, 1);
  board_->slots[1].steps = UINT64_MAX;
  reader_.Read();
  EXPECT_EQ(reader_.Processes().size(), 1u);
}

}  // namespace
}  // namespace batchlight::capture
