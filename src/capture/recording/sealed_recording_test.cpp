#include "capture/recording/sealed_recording.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/file.h"

namespace batchlight::capture {
namespace {

class SealedRecordingTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/bl_sealed_XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    base_ = name;
    path_ = base_ + "/run.batchlight";
    ASSERT_TRUE(WriteWholeFile(path_, "recorded").ok());
    ASSERT_TRUE(WriteWholeFile(base_ + "/other", "precious").ok());
  }
  void TearDown() override { std::filesystem::remove_all(base_); }
  std::unique_ptr<SealedRecording> Held() const {
    auto folder = std::make_shared<const Folder>(Folder::Open(base_).value());
    return std::make_unique<SealedRecording>(path_, std::move(folder),
                                             open(path_.c_str(), O_RDWR | O_CLOEXEC));
  }
  std::string base_, path_;
};

TEST_F(SealedRecordingTest, IsWhatWasSealedWhateverItsNameLeadsTo) {
  const auto held = Held();
  EXPECT_TRUE(held->CheckIsNamed().ok());
  std::filesystem::rename(base_ + "/other", path_);
  EXPECT_EQ(held->Map()->text(), "recorded");
  EXPECT_EQ(held->CheckIsNamed().exit_code(), 4);
}

TEST_F(SealedRecordingTest, NoOtherIsOpened) {
  const auto held = Held();
  held->LetGo();
  EXPECT_TRUE(held->Hold().ok());
  EXPECT_EQ(held->Map()->text(), "recorded");
  const auto folder = std::make_shared<const Folder>(Folder::Open(base_).value());
  SealedRecording same(path_, folder, held->Identity());  // as another process does
  ASSERT_TRUE(same.Hold().ok());
  EXPECT_EQ(same.Map()->text(), "recorded");
  const auto error = [&](SealedRecording& recording) {
    recording.LetGo();
    return recording.Hold().exit_code();
  };
  std::filesystem::rename(path_, base_ + "/away");
  EXPECT_EQ(error(same), 4);
  std::filesystem::create_symlink("away", path_);
  EXPECT_EQ(error(same), 4);
  std::filesystem::rename(base_ + "/other", path_);
  EXPECT_EQ(error(same), 4);
  EXPECT_EQ(error(*held), 4);
}

TEST_F(SealedRecordingTest, WithoutADescriptorItIsNotRead) {
  const SealedRecording none(path_, std::make_shared<const Folder>(Folder::Open(base_).value()),
                             -1);
  EXPECT_NE(none.Map().status().message().find("Too many open files"), std::string::npos);
}

}  // namespace
}  // namespace batchlight::capture
