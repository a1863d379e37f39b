#include "inject/collect/step_board.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "inject/rt/control.h"

namespace batchlight::inject {
namespace {

using format::Phase;

uint32_t Number(Phase phase) { return static_cast<uint32_t>(phase); }

// The tool's side of the board.
format::StepBoard* MakeBoard() {
  const std::string path = std::string(SessionDir()) + "/" + format::kStepBoardFile;
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT, 0600);
  void* memory = MAP_FAILED;
  if (::ftruncate(fd, sizeof(format::StepBoard)) == 0) {
    memory = ::mmap(nullptr, sizeof(format::StepBoard), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  }
  ::close(fd);
  if (memory == MAP_FAILED) std::abort();
  auto* const board = static_cast<format::StepBoard*>(memory);
  board->magic = format::kStepBoardMagic;
  return board;
}

// One test: a process maps its board once.
TEST(StepBoardTest, SaysHowLongStepsAndPhasesTook) {
  format::StepBoard* const board = MakeBoard();
  board->slots[0].pid = 1;  // somebody else's, who lives
  ::setenv("RANK", "7", 1);
  EXPECT_EQ(RequestedSteps().count, 0u);
  BoardStepEnded(1);
  const format::BoardSlot& slot = board->slots[1];
  EXPECT_EQ(slot.pid, static_cast<uint32_t>(::getpid()));
  EXPECT_EQ(slot.rank, 7);
  EXPECT_NE(slot.attach_ns, 0);
  EXPECT_EQ(slot.steps, 1u);
  EXPECT_EQ(slot.entries[0].step, 1u);
  EXPECT_EQ(slot.entries[0].duration_ns, 0u) << "nobody saw it begin";

  BoardPhaseEnds();  // of a phase that began before the library came
  BoardPhaseBegins(Number(Phase::kGradScaler));
  ::usleep(2000);
  BoardPhaseBegins(Number(Phase::kOptimizerStep));
  BoardPhaseBegins(Number(Phase::kFunction));  // none of the board's: a part of the one around it
  ::usleep(5000);
  BoardPhaseEnds();
  BoardPhaseEnds();
  BoardPhaseEnds();
  BoardStepEnded(2);
  const format::BoardEntry& entry = slot.entries[1];
  const auto us_of = [&](Phase phase) -> uint32_t {
    for (size_t i = 0; i < format::kBoardPhaseCount; ++i) {
      if (format::kBoardPhases[i] == phase) return entry.phase_us[i];
    }
    return 0;
  };
  EXPECT_GE(us_of(Phase::kGradScaler), 1900u);
  EXPECT_GE(us_of(Phase::kOptimizerStep), 4900u);
  EXPECT_EQ(us_of(Phase::kBackward), 0u);
  const uint64_t duration_us = entry.duration_ns / 1000;
  EXPECT_GE(duration_us + 10, us_of(Phase::kGradScaler) + us_of(Phase::kOptimizerStep));

  constexpr int kDeep = 40;  // deeper than phases are kept apart
  for (int i = 0; i < kDeep; ++i) BoardPhaseBegins(Number(Phase::kBackward));
  for (int i = 0; i < kDeep + 5; ++i) BoardPhaseEnds();
  for (uint64_t step = 3; step <= format::kBoardEntries + 2; ++step) BoardStepEnded(step);
  EXPECT_EQ(slot.steps, uint64_t{format::kBoardEntries} + 2);
  EXPECT_EQ(slot.entries[1].step, uint64_t{format::kBoardEntries} + 2) << "the ring goes round";

  board->request = format::PackRequest({.first = 1050, .count = 11});
  EXPECT_TRUE(RequestedSteps().Holds(1060));
  EXPECT_FALSE(RequestedSteps().Holds(1061));
  ::unlink((std::string(SessionDir()) + "/" + format::kStepBoardFile).c_str());
}

}  // namespace
}  // namespace batchlight::inject
