#include "capture/cpu/timer_slots.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace batchlight::capture {
namespace {

using format::TimerSample;

// The file as a program sees it.
class TimerSlotsTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/bl_slots_XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    base_ = name;
    live_folder_.emplace(LiveFolder::Create(base_ + "/run.batchlight.live", false).value());
    slots_.emplace(
        TimerSlots::Create(*live_folder_, {.samples = true, .period_ns = 5'000'000}).value());
    const std::string path = live_folder_->path() + "/" + format::kTimerSamplesFile;
    const int fd = open(path.c_str(), O_RDWR);
    struct stat about {};
    ASSERT_EQ(fstat(fd, &about), 0);
    bytes_ = static_cast<size_t>(about.st_size);
    void* const memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    ASSERT_NE(memory, MAP_FAILED);
    page_ = static_cast<format::TimerSamplesPage*>(memory);
  }
  void TearDown() override {
    munmap(page_, bytes_);
    std::filesystem::remove_all(base_);
  }
  TimerSample& At(size_t index) {
    return reinterpret_cast<TimerSample*>(reinterpret_cast<char*>(page_) +
                                          format::kTimerPageBytes)[index];
  }
  void Fill(size_t index, int64_t at_ns, uint32_t stack_bytes) {
    At(index).at_ns = at_ns;
    At(index).stack_bytes = stack_bytes;
    At(index).state = TimerSample::kFilled;
  }

  std::string base_;
  std::optional<LiveFolder> live_folder_;
  std::optional<TimerSlots> slots_;
  format::TimerSamplesPage* page_ = nullptr;
  size_t bytes_ = 0;
};

TEST_F(TimerSlotsTest, GivesWhatIsFilledByTimeAndFreesIt) {
  EXPECT_EQ(page_->period_ns, 5'000'000);
  Fill(0, 20, 64);
  Fill(3, 10, UINT32_MAX);  // of a program that means harm
  At(1).state = uint32_t(getpid());
  const std::vector<TakenSample> taken = slots_->Take();
  ASSERT_EQ(taken.size(), 2u);
  EXPECT_EQ(taken[0].at_ns, 10);
  EXPECT_EQ(taken[0].stack.size(), format::kTimerStackBytes);
  EXPECT_EQ(taken[1].stack.size(), 64u);
  EXPECT_EQ(At(0).state, TimerSample::kFree);
  EXPECT_EQ(At(3).state, TimerSample::kFree);
  EXPECT_EQ(At(1).state, uint32_t(getpid()));
  EXPECT_TRUE(slots_->Take().empty());
  page_->slots = UINT32_MAX;  // nor does it say how many there are
  EXPECT_TRUE(slots_->Take().empty());
}

TEST_F(TimerSlotsTest, FreesWhatADeadProcessWasFilling) {
  constexpr uint32_t kNobody = 999'999'999;
  At(0).state = kNobody;
  At(1).state = uint32_t(getpid());
  for (int round = 0; round < 100; ++round) EXPECT_TRUE(slots_->Take().empty());
  EXPECT_EQ(At(0).state, TimerSample::kFree);
  EXPECT_EQ(At(1).state, uint32_t(getpid()));
}

}  // namespace
}  // namespace batchlight::capture
