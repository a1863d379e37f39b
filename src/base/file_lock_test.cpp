#include "base/file_lock.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

namespace batchlight {
namespace {

// As another process has it: locks belong to the open file, not to the process.
class FileLockTest : public testing::Test {
 protected:
  void SetUp() override {
    ours_ = mkstemp(path_.data());
    theirs_ = open(path_.c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_TRUE(ours_ >= 0 && theirs_ >= 0);
  }
  void TearDown() override {
    close(theirs_);
    close(ours_);
    unlink(path_.c_str());
  }
  bool TheyLock(off_t first, off_t bytes) const {
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_start = first;
    lock.l_len = bytes;
    return fcntl(theirs_, F_OFD_SETLK, &lock) == 0;
  }

  std::string path_ = testing::TempDir() + "file_lock_XXXXXX";
  int ours_ = -1;
  int theirs_ = -1;
};

TEST_F(FileLockTest, HoldsBackAWriter) {
  EXPECT_TRUE(LockToRead(ours_, 100, 10));
  EXPECT_FALSE(TheyLock(109, 1));
  EXPECT_TRUE(TheyLock(110, 1));
}

TEST_F(FileLockTest, SeesAWriter) {
  ASSERT_TRUE(TheyLock(int64_t{1} << 40, 1));
  EXPECT_FALSE(LockToRead(ours_, int64_t{1} << 40, 1));
  EXPECT_TRUE(IsLockedToWrite(ours_, (int64_t{1} << 40) - 5, 6));
  EXPECT_FALSE(IsLockedToWrite(ours_, (int64_t{1} << 40) - 5, 5));
}

TEST_F(FileLockTest, ReadersShare) {
  EXPECT_TRUE(LockToRead(theirs_, 0, 4));
  EXPECT_TRUE(LockToRead(ours_, 0, 4));
  EXPECT_FALSE(IsLockedToWrite(ours_, 0, 4));
}

}  // namespace
}  // namespace batchlight
