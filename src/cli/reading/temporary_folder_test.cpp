#include "cli/reading/temporary_folder.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "base/trusted_path.h"

namespace batchlight::cli {
namespace {

namespace fs = std::filesystem;

class TemporaryFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    auto folder = TemporaryFolder::Make("batchlight-test-");
    ASSERT_TRUE(folder.ok()) << folder.status().message();
    folder_.emplace(std::move(folder).value());
    path_ = folder_->path();
    std::ofstream(path_ + "/ours") << "text";
  }
  std::optional<TemporaryFolder> folder_;
  std::string path_;
};

TEST_F(TemporaryFolderTest, IsOfThisUserAloneAndGoesWithItsFiles) {
  EXPECT_EQ(fs::status(path_).permissions(), fs::perms::owner_all);
  EXPECT_TRUE(folder_->LetOthersThrough());
  EXPECT_EQ(fs::status(path_).permissions(), fs::perms{0711});
  folder_.reset();
  EXPECT_FALSE(fs::exists(path_));
}

TEST_F(TemporaryFolderTest, LeavesWhatSomebodyPutUnderItsName) {
  const std::string moved = path_ + ".moved";
  fs::rename(path_, moved);
  fs::create_directory(path_);
  std::ofstream(path_ + "/ours") << "of somebody else";
  folder_.reset();
  EXPECT_TRUE(fs::exists(path_ + "/ours"));
  EXPECT_TRUE(fs::is_empty(moved));
  fs::remove_all(path_);
  fs::remove_all(moved);
}

TEST_F(TemporaryFolderTest, RemovesNothingByALinkWithItsName) {
  const std::string moved = path_ + ".moved";
  fs::rename(path_, moved);
  const std::string others = path_ + ".others";
  fs::create_directory(others);
  fs::create_directory_symlink(others, path_);
  folder_.reset();
  EXPECT_TRUE(fs::exists(others));
  EXPECT_TRUE(fs::is_symlink(fs::symlink_status(path_)));
  fs::remove(path_);
  fs::remove_all(others);
  fs::remove_all(moved);
}

TEST(TemporaryFolder, LiesWhereNobodyElseCouldExchangeIt) {
  const bool is_shared = !FirstTrustedPlace({"/tmp"}).ok();  // some containers have no other
  char shared[] = "/tmp/bl_shared_XXXXXX";
  ASSERT_NE(mkdtemp(shared), nullptr);
  fs::permissions(shared, fs::perms::all);
  const char* const set = std::getenv("TMPDIR");
  const std::string before = set != nullptr ? set : "";
  setenv("TMPDIR", shared, 1);
  testing::internal::CaptureStderr();
  {
    const auto folder = TemporaryFolder::Make("batchlight-test-");
    const auto other = TemporaryFolder::Make("batchlight-test-");
    const std::string place = is_shared ? shared : "/tmp";
    ASSERT_TRUE(folder.ok() && other.ok());
    EXPECT_EQ(folder.value().path().find(place + "/batchlight-test-"), 0U);
  }
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(is_shared || said.empty()) << said;
  EXPECT_EQ(said.find("batchlight: ", 1), std::string::npos) << said;  // once
  before.empty() ? unsetenv("TMPDIR") : setenv("TMPDIR", before.c_str(), 1);
  fs::remove(shared);
}

}  // namespace
}  // namespace batchlight::cli
