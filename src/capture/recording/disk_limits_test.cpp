#include "capture/recording/disk_limits.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

namespace batchlight::capture {
namespace {

constexpr uint64_t kMiB = 1 << 20;
constexpr uint64_t kGiB = 1 << 30;

TEST(DefaultKeepFree, IsAGibibyteOrATwentiethOrHalfOfWhatIsFree) {
  EXPECT_EQ(DefaultKeepFree(10 * kGiB, 8 * kGiB), kGiB);
  EXPECT_EQ(DefaultKeepFree(1000 * kGiB, 800 * kGiB), 50 * kGiB);
  EXPECT_EQ(DefaultKeepFree(1000 * kGiB, 20 * kGiB), 10 * kGiB);
  EXPECT_EQ(DefaultKeepFree(60 * kMiB, 60 * kMiB), 30 * kMiB);
}

TEST(DefaultKeepFree, IsAThousandFilesOrATwentiethOrHalfOfWhatIsFree) {
  EXPECT_EQ(DefaultKeepFreeFiles(10'000, 8'000), 1'000u);
  EXPECT_EQ(DefaultKeepFreeFiles(1'000'000, 800'000), 50'000u);
  EXPECT_EQ(DefaultKeepFreeFiles(1'000'000, 20'000), 10'000u);
  EXPECT_EQ(DefaultKeepFreeFiles(1'024, 1'000), 500u);
}

class DiskLimitsTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/bl_disk_XXXXXX";
    path_ = std::string(mkdtemp(name)) + "/run.batchlight.live";
    folder_.emplace(LiveFolder::Create(path_, false).value());
  }
  void TearDown() override {
    EXPECT_TRUE(folder_->Remove().ok());
    rmdir(path_.substr(0, path_.rfind('/')).c_str());
  }
  std::string path_;
  std::optional<LiveFolder> folder_;
  format::ControlPage page_{};
};

TEST_F(DiskLimitsTest, MoreThanIsFreeIsSaidBeforeTheProgramRuns) {
  const Status status = SetDiskLimits({.keep_free_bytes = uint64_t{1} << 60}, *folder_, page_);
  EXPECT_EQ(status.exit_code(), 4);
  EXPECT_NE(status.message().find("--keep-free"), std::string::npos);
}

TEST_F(DiskLimitsTest, SaysWhyRecordingStopped) {
  ASSERT_TRUE(
      SetDiskLimits({.keep_free_bytes = 5 * kMiB, .max_bytes = 7 * kMiB}, *folder_, page_).ok());
  EXPECT_EQ(page_.keep_free_bytes, 5 * kMiB);
  EXPECT_EQ(ExplainStop(page_, "x"), "");
  page_.stop = format::RecordingStop::kMaxSize;
  EXPECT_NE(ExplainStop(page_, "x").find("--max-size=7.0 MiB"), std::string::npos);
  page_.stop = format::RecordingStop::kKeepFree;
  EXPECT_NE(ExplainStop(page_, "x").find("5.0 MiB stay free"), std::string::npos);
}

TEST_F(DiskLimitsTest, SaysHowManyProcessesWereLeftOut) {
  page_.keep_free_files = 500;
  EXPECT_EQ(ExplainLeftOut(page_, "x"), "");
  page_.processes_unfiled = 1;
  EXPECT_NE(ExplainLeftOut(page_, "x").find("1 process is not recorded"), std::string::npos);
  page_.processes_unfiled = 7;
  EXPECT_NE(ExplainLeftOut(page_, "x").find("500 files stay free"), std::string::npos);
}

TEST_F(DiskLimitsTest, NoFileIsKeptFreeWhereNothingIs) {
  ASSERT_TRUE(SetDiskLimits({}, *folder_, page_).ok());
  if (page_.keep_free_files == 0) GTEST_SKIP() << "the file system does not count files";
  page_.keep_free_files = 0;
  ASSERT_TRUE(SetDiskLimits({.keep_free_bytes = 0}, *folder_, page_).ok());
  EXPECT_EQ(page_.keep_free_files, 0u);
}

}  // namespace
}  // namespace batchlight::capture
