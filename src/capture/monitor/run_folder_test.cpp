#include "capture/monitor/run_folder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/fs.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "base/file.h"

namespace batchlight::capture {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

class RunFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = MakePrivateFolder(testing::TempDir() + "run");
    ASSERT_TRUE(made.ok());
    path_ = made.value();
  }
  void TearDown() override { std::filesystem::remove_all(path_); }
  void Put(const std::string& name, const std::string& text) {
    ASSERT_TRUE(WriteWholeFile(path_ + "/" + name, text).ok());
  }
  std::string path_;
};

TEST_F(RunFolderTest, TheFurthestFreshToolCounts) {
  const auto folder = RunFolder::Make(path_);
  ASSERT_TRUE(folder.ok());
  EXPECT_FALSE(folder->FurthestStatus(0));
  ASSERT_TRUE(folder->WriteStatus({.step = 7, .step_ns = 5, .realtime_ns = 100 * kSecond}).ok());
  Put("status.b.1", "step=9\nstep_ns=6\nrealtime_ns=99000000000\n");
  Put("status.c.1", "step=99\nstep_ns=6\nrealtime_ns=1\n");
  // Left by a tool that was killed, whose clock went a day ahead, and by one that means harm.
  Put("status.d.1", "step=98\nstep_ns=6\nrealtime_ns=86500000000000\n");
  Put("status.e.1", "step=97\nstep_ns=6\nrealtime_ns=18446744073709551615\n");
  const auto status = folder->FurthestStatus(101 * kSecond);
  ASSERT_TRUE(status);
  EXPECT_EQ(status->step, 9u);
  EXPECT_EQ(status->step_ns, 6);
  folder->RemoveStatus();
  EXPECT_EQ(std::filesystem::exists(path_ + "/status.b.1"), true);
}

TEST_F(RunFolderTest, ARequestIsReadAsItWasWritten) {
  const auto folder = RunFolder::Make(path_);
  ASSERT_TRUE(folder.ok());
  EXPECT_EQ(folder->ReadRequest(5).count, 0u);
  ASSERT_TRUE(folder->WriteRequest({.first = 1050, .count = 11}, 5).ok());
  EXPECT_EQ(folder->ReadRequest(5).first, 1050u);
  EXPECT_EQ(folder->ReadRequest(5).count, 11u);
  EXPECT_EQ(folder->ReadRequest(6).count, 0u) << "of a job that was there before";
  const auto request = format::UnpackRequest(format::PackRequest(folder->ReadRequest(5)));
  EXPECT_TRUE(request.Holds(1050) && request.Holds(1060));
  EXPECT_FALSE(request.Holds(1049) || request.Holds(1061));
}

TEST_F(RunFolderTest, NonsenseIsNoRequest) {
  const auto folder = RunFolder::Make(path_);
  ASSERT_TRUE(folder.ok());
  for (const char* text :
       {"", "first=1", "first=0\ncount=3\nrealtime_ns=9\n", "first=x\ncount=3\nrealtime_ns=9\n",
        "first=1\ncount=99999999999\nrealtime_ns=9\n",
        "first=99999999999999999999\ncount=1\nrealtime_ns=9\n", "first=1\ncount=3\n"}) {
    Put("window", text);
    EXPECT_EQ(folder->ReadRequest(5).count, 0u) << text;
  }
  Put("window", "first=1\ncount=3\nrealtime_ns=9\n" + std::string(10'000, ' '));
  EXPECT_EQ(folder->ReadRequest(5).count, 0u);
}

// By another user who may write the folder, between the look at it and the reading.
TEST_F(RunFolderTest, ALargeFileThatTakesItsPlaceIsNotRead) {
  constexpr long kMostKb = 16 << 10;
  const auto folder = RunFolder::Make(path_);
  ASSERT_TRUE(folder.ok());
  Put("window", "first=1\n");
  Put("large", std::string(64 << 20, 'x'));
  const std::string window = path_ + "/window", large = path_ + "/large";
  const auto exchange = [&] {
    return syscall(SYS_renameat2, AT_FDCWD, window.c_str(), AT_FDCWD, large.c_str(),
                   RENAME_EXCHANGE) == 0;
  };
  if (!exchange()) GTEST_SKIP() << "this file system exchanges no files";
  std::atomic<bool> over = false;
  std::thread other([&] {
    while (!over) (void)exchange();
  });
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  for (int i = 0; i < 20'000; ++i) EXPECT_EQ(folder->ReadRequest(5).count, 0u);
  getrusage(RUSAGE_SELF, &after);
  over = true;
  other.join();
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, kMostKb);
}

TEST_F(RunFolderTest, AFileInThePlaceOfTheFolderIsAnError) {
  Put("file", "");
  EXPECT_FALSE(RunFolder::Make(path_ + "/file").ok());
  EXPECT_FALSE(RunFolder::Open(path_ + "/none").ok());
}

}  // namespace
}  // namespace batchlight::capture
