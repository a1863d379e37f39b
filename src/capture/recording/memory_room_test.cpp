#include "capture/recording/memory_room.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <string>

namespace batchlight::capture {
namespace {

constexpr uint64_t kMiB = 1 << 20;

class MemoryRoomTest : public testing::Test {
 protected:
  // False where the folder that usually lies in memory is not there, or is no such folder.
  bool MakeRoom(const char* parent, const DiskLimits& limits) {
    std::string name = std::string(parent) + "/bl_memory_XXXXXX";
    if (mkdtemp(name.data()) == nullptr) return false;
    path_ = name;
    folder_.emplace(LiveFolder::Create(path_ + "/run.batchlight.live", false).value());
    page_.max_file_bytes = limits.max_bytes;
    room_.emplace(limits, *folder_, page_, [this] { return free_bytes_; });
    return room_->in_memory();
  }
  void TearDown() override {
    if (path_.empty()) return;
    EXPECT_TRUE(folder_->Remove().ok());
    rmdir(path_.c_str());
  }

  uint64_t free_bytes_ = 200 * kMiB;
  std::string path_;
  std::optional<LiveFolder> folder_;
  format::ControlPage page_{};
  std::optional<MemoryRoom> room_;
};

TEST_F(MemoryRoomTest, FilesTakeLessAndLessOfWhatIsFree) {
  if (!MakeRoom("/dev/shm", {})) GTEST_SKIP() << "/dev/shm is no tmpfs";
  // Half of what is free stays so; of the rest the files may take half until the next look.
  EXPECT_EQ(page_.max_file_bytes, 50 * kMiB);
  page_.file_bytes = 40 * kMiB;
  free_bytes_ = 120 * kMiB;
  room_->Follow();
  EXPECT_EQ(page_.max_file_bytes, 50 * kMiB);
  free_bytes_ = 20 * kMiB;  // the program took the rest
  room_->Follow();
  EXPECT_EQ(page_.max_file_bytes, 40 * kMiB);
  EXPECT_EQ(room_->ExplainStop("x"), "");
  page_.stop = format::RecordingStop::kMaxSize;
  EXPECT_NE(room_->ExplainStop("x").find("the program keeps 100.0 MiB of memory, in which x lies"),
            std::string::npos);
}

TEST_F(MemoryRoomTest, LimitsThatAreGivenHold) {
  DiskLimits limits;
  limits.max_bytes = 10 * kMiB;
  if (!MakeRoom("/dev/shm", limits)) GTEST_SKIP() << "/dev/shm is no tmpfs";
  EXPECT_EQ(page_.max_file_bytes, 10 * kMiB);
  page_.stop = format::RecordingStop::kMaxSize;
  EXPECT_EQ(room_->ExplainStop("x"), "");
  free_bytes_ = 100 * kMiB + 4 * kMiB;
  room_->Follow();
  EXPECT_EQ(page_.max_file_bytes, 2 * kMiB);
}

TEST_F(MemoryRoomTest, ADiskIsNoMemory) {
  const bool is_memory = MakeRoom(BATCHLIGHT_SOURCE_DIR, {});
  if (is_memory || !room_) GTEST_SKIP() << "the sources lie in memory, or cannot be written to";
  EXPECT_EQ(page_.max_file_bytes, 0u);
  room_->Follow();
  EXPECT_EQ(page_.max_file_bytes, 0u);
}

}  // namespace
}  // namespace batchlight::capture
