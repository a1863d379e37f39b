#include "ingest/input_paths.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/file.h"

namespace batchlight {
namespace {

class InputPathsTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/bl_paths_XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void File(const std::string& name, std::string_view bytes = "BLIGHT1\n") {
    ASSERT_TRUE(WriteWholeFile(folder_ + "/" + name, bytes).ok());
  }
  // Names of what the words stand for, without the folder.
  std::vector<std::string> Found(const std::vector<std::string>& words) {
    auto inputs = FindInputs(words);
    if (!inputs.ok()) return {inputs.status().message()};
    for (std::string& input : inputs.value()) {
      if (input.starts_with(folder_ + "/")) input.erase(0, folder_.size() + 1);
    }
    return inputs.value();
  }

  using Names = std::vector<std::string>;
  std::string folder_;
};

TEST_F(InputPathsTest, AFolderIsItsRecordingsInOrderOfNumbers) {
  File("node10.batchlight");
  File("node2.batchlight");
  File("node2.sqlite", std::string_view("SQLite format 3\0....", 20));  // an export of it
  File("notes.txt", "hello");
  std::filesystem::create_directory(folder_ + "/node11.batchlight.live");
  std::filesystem::create_directory(folder_ + "/node2.batchlight.live");  // sealed since
  EXPECT_EQ(Found({folder_}),
            (Names{"node2.batchlight", "node10.batchlight", "node11.batchlight.live"}));
}

TEST_F(InputPathsTest, WithoutRecordingsItIsTheExports) {
  File("b.json", "{\"traceEvents\": []}");
  File("a.json.gz", "\x1f\x8b\x08");
  EXPECT_EQ(Found({folder_}), (Names{"a.json.gz", "b.json"}));
  File("r.sqlite", std::string_view("SQLite format 3\0....", 20));
  EXPECT_EQ(Found({folder_}), Names{"r.sqlite"});
}

TEST_F(InputPathsTest, LinksOfOthersAreNotFollowed) {
  if (geteuid() != 0) GTEST_SKIP() << "only root makes links of others";
  File("r1.batchlight");
  File("r2.batchlight");
  std::filesystem::create_symlink("/private/r.batchlight", folder_ + "/r3.batchlight");
  ASSERT_EQ(lchown((folder_ + "/r3.batchlight").c_str(), 12345, 12345), 0);
  std::filesystem::create_symlink(folder_ + "/r1.batchlight", folder_ + "/own.batchlight");
  EXPECT_EQ(Found({folder_}), (Names{"own.batchlight", "r1.batchlight", "r2.batchlight"}));
  EXPECT_EQ(Found({folder_ + "/r*.batchlight"}), (Names{"r1.batchlight", "r2.batchlight"}));
  const std::string job = folder_ + "/job1";
  std::filesystem::create_directory(job);
  std::filesystem::create_symlink(folder_ + "/r1.batchlight", job + "/run.batchlight");
  ASSERT_EQ(Found({folder_ + "/job*/run.batchlight"}), Names{"job1/run.batchlight"});
  ASSERT_EQ(lchown((job + "/run.batchlight").c_str(), 12345, 12345), 0);
  EXPECT_NE(Found({folder_ + "/job*/run.batchlight"}), Names{"job1/run.batchlight"});
  EXPECT_EQ(Found({job + "/run.batchlight"}), Names{"job1/run.batchlight"}) << "that was named";
}

TEST_F(InputPathsTest, PatternsAreExpanded) {
  File("r1.batchlight");
  File("r2.batchlight");
  EXPECT_EQ(Found({folder_ + "/r*.batchlight"}), (Names{"r1.batchlight", "r2.batchlight"}));
  File("r[1].batchlight");
  EXPECT_EQ(Found({folder_ + "/r[1].batchlight"}), Names{"r[1].batchlight"});
}

TEST_F(InputPathsTest, FilesAndLiveFoldersAreWhatTheyAre) {
  std::filesystem::create_directory(folder_ + "/copy_of_live");
  File("copy_of_live/control", "");
  EXPECT_EQ(Found({folder_ + "/copy_of_live", "missing.batchlight"}),
            (Names{"copy_of_live", "missing.batchlight"}));
}

TEST_F(InputPathsTest, NothingToReadIsSaid) {
  EXPECT_NE(Found({folder_})[0].find("no recording in"), std::string::npos);
  EXPECT_NE(Found({folder_ + "/*.batchlight"})[0].find("no file matches"), std::string::npos);
}

}  // namespace
}  // namespace batchlight
