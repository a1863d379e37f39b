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
  std::unique_ptr<const SealedRecording> Held() const {
    auto folder = std::make_shared<const Folder>(Folder::Open(base_).value());
    return std::make_unique<const SealedRecording>(path_, std::move(folder),
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

TEST_F(SealedRecordingTest, AnotherProcessOpensNoOther) {
  const auto held = Held();
  const std::string identity = held->Identity();
  const auto same = SealedRecording::Open(path_, identity);
  ASSERT_TRUE(same.ok());
  EXPECT_EQ(same.value()->Map()->text(), "recorded");
  std::filesystem::rename(path_, base_ + "/away");
  EXPECT_EQ(SealedRecording::Open(path_, identity).status().exit_code(), 4);
  std::filesystem::create_symlink("away", path_);
  EXPECT_EQ(SealedRecording::Open(path_, identity).status().exit_code(), 4);
  std::filesystem::rename(base_ + "/other", path_);
  EXPECT_EQ(SealedRecording::Open(path_, identity).status().exit_code(), 4);
}

TEST_F(SealedRecordingTest, WithoutADescriptorItIsNotRead) {
  const SealedRecording none(path_, std::make_shared<const Folder>(Folder::Open(base_).value()),
                             -1);
  EXPECT_NE(none.Map().status().message().find("Too many open files"), std::string::npos);
}

}  // namespace
}  // namespace batchlight::capture
