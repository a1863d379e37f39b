#include "base/folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace batchlight {
namespace {

class FolderTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/bl_folder_XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    path_ = name;
    std::ofstream(path_ + "/file") << "x";
  }
  void TearDown() override { std::filesystem::remove_all(path_); }
  std::string path_;
};

TEST_F(FolderTest, ParentOfAPath) {
  EXPECT_TRUE(Folder::OpenParent(path_ + "/none")->Has("file"));
  EXPECT_EQ(Folder::OpenParent(path_ + "/no/none").status().exit_code(), 3);
  EXPECT_EQ(LastPartOf("a/b"), "b");
  EXPECT_EQ(LastPartOf("b"), "b");
}

TEST_F(FolderTest, ALinkIsFollowedOnlyWhenAsked) {
  ASSERT_EQ(symlink(path_.c_str(), (path_ + "/link").c_str()), 0);
  EXPECT_TRUE(Folder::Open(path_ + "/link").ok());
  EXPECT_FALSE(Folder::Open(path_ + "/link", false).ok());
}

TEST_F(FolderTest, OutputsGoThroughLinksOfTheirOwnUser) {
  ASSERT_EQ(symlink(".", (path_ + "/near").c_str()), 0);
  ASSERT_EQ(symlink((path_ + "/near").c_str(), (path_ + "/far").c_str()), 0);
  EXPECT_TRUE(Folder::OpenForOutput(path_)->Has("file"));
  EXPECT_TRUE(Folder::OpenForOutput(path_ + "/far/")->Has("file"));
  const Status no_folder = Folder::OpenForOutput(path_ + "/file").status();
  EXPECT_EQ(no_folder.message(), "cannot open folder " + path_ + "/file: Not a directory");
  EXPECT_FALSE(Folder::OpenForOutput(path_ + "/none").ok());
  ASSERT_EQ(symlink("round", (path_ + "/round").c_str()), 0);
  EXPECT_EQ(Folder::OpenForOutput(path_ + "/round").status().exit_code(), 4);
  if (geteuid() != 0) return;  // nobody else can make a link of another user
  ASSERT_EQ(lchown((path_ + "/near").c_str(), 65534, 65534), 0);
  const auto others = Folder::OpenForOutput(path_ + "/far");
  EXPECT_EQ(others.status().exit_code(), 4);
  EXPECT_NE(others.status().message().find("a link that user 65534 put there, to " + path_ + "/."),
            std::string::npos)
      << others.status().message();
}

TEST_F(FolderTest, APrivateFileIsNewAndTheOwnersAlone) {
  const Folder folder = Folder::Open(path_).value();
  EXPECT_LT(folder.MakePrivateFile("file"), 0);
  ASSERT_EQ(symlink("none", (path_ + "/link").c_str()), 0);
  EXPECT_LT(folder.MakePrivateFile("link"), 0);
  const mode_t before = umask(0777);
  const int fd = folder.MakePrivateFile("new");
  umask(before);
  ASSERT_GE(fd, 0);
  struct stat info {};
  fstat(fd, &info);
  close(fd);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  EXPECT_EQ(folder.Names(), (std::vector<std::string>{"file", "link", "new"}));
}

TEST_F(FolderTest, KnowsWhetherANameStillLeadsToIt) {
  std::filesystem::create_directory(path_ + "/inner");
  const Folder outer = Folder::Open(path_).value();
  const Folder inner = Folder::Open(path_ + "/inner").value();
  EXPECT_TRUE(outer.Holds("inner", inner));
  std::filesystem::rename(path_ + "/inner", path_ + "/other");
  std::filesystem::create_directory(path_ + "/inner");
  EXPECT_FALSE(outer.Holds("inner", inner));
}

TEST(RandomLetters, AreNeverTheSame) {
  EXPECT_NE(RandomLetters(), RandomLetters());
  EXPECT_TRUE(AreRandomLetters(RandomLetters()));
  EXPECT_FALSE(AreRandomLetters("1234"));
}

}  // namespace
}  // namespace batchlight
