#include "capture/recording/left_overs.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "capture/recording/live_folder.h"

namespace batchlight::capture {
namespace {

using Names = std::vector<std::string>;

class LeftOversTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/bl_left_XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    base_ = name;
    for (const char* run : {"/a", "/b"}) {
      const std::string live = base_ + run + kLiveSuffix;
      std::filesystem::create_directory(live);
      ASSERT_TRUE(WriteWholeFile(live + "/control", "x").ok());
    }
    ASSERT_TRUE(WriteWholeFile(base_ + "/b.batchlight", "precious").ok());
    ASSERT_TRUE(WriteWholeFile(base_ + "/c.html.partial-abcdefghijklmnop", "half").ok());
  }
  void TearDown() override { std::filesystem::remove_all(base_); }
  Names Left() const { return Folder::Open(base_)->Names(); }
  std::string base_;
};

TEST_F(LeftOversTest, RecordingsAreMadeAndUnfinishedFilesGo) {
  Names lines;
  ASSERT_TRUE(Clean(base_, {.only_say = true}, lines).ok());
  EXPECT_EQ(lines.size(), 3u);
  EXPECT_EQ(Left().size(), 4u);
  lines.clear();
  ASSERT_TRUE(Clean(base_, {}, lines).ok());
  EXPECT_EQ(lines[0], "removed " + base_ + "/c.html.partial-abcdefghijklmnop");
  EXPECT_EQ(lines[1], "made " + base_ + "/a.batchlight of " + base_ + "/a.batchlight.live");
  EXPECT_NE(lines[2].find("kept " + base_ + "/b.batchlight.live"), std::string::npos);
  EXPECT_EQ(Left(), (Names{"a.batchlight", "b.batchlight", "b.batchlight.live"}));
  ASSERT_TRUE(Clean(base_, {.drop_events = true}, lines).ok());
  EXPECT_EQ(Left(), (Names{"a.batchlight", "b.batchlight"}));
}

TEST_F(LeftOversTest, ALinkLeadsToNothingThatWasLeftHere) {
  char elsewhere[] = "/tmp/bl_kept_XXXXXX";
  ASSERT_NE(mkdtemp(elsewhere), nullptr);
  ASSERT_TRUE(WriteWholeFile(std::string(elsewhere) + "/control", "x").ok());
  std::filesystem::create_directory_symlink(elsewhere, base_ + "/z" + kLiveSuffix);
  for (const bool drops : {false, true}) {
    Names lines;
    ASSERT_TRUE(Clean(base_, {.drop_events = drops}, lines).ok());
    EXPECT_TRUE(FileExists(std::string(elsewhere) + "/control"));
    EXPECT_FALSE(FileExists(base_ + "/z.batchlight"));
  }
  std::filesystem::remove_all(elsewhere);
}

TEST_F(LeftOversTest, WhatIsBeingWrittenStays) {
  const LiveFolder live = LiveFolder::Create(base_ + "/d" + kLiveSuffix, false).value();
  const auto writer = AtomicFileWriter::Create(base_ + "/e");
  ASSERT_TRUE(writer.ok());
  EXPECT_EQ(LeftLiveFolders(Folder::Open(base_).value()),
            (Names{"a.batchlight.live", "b.batchlight.live"}));
  Names lines;
  ASSERT_TRUE(Clean(base_, {.drop_events = true}, lines).ok());
  EXPECT_EQ(lines.size(), 3u);
  EXPECT_EQ(Left().size(), 3u);
}

}  // namespace
}  // namespace batchlight::capture
