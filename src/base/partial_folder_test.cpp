#include "base/partial_folder.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "base/file.h"

namespace batchlight {
namespace {

using Names = std::vector<std::string>;

class PartialFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/bl_partial_XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    base_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(base_); }
  Folder Base() const { return Folder::Open(base_).value(); }
  std::string base_;
};

TEST_F(PartialFolderTest, AppearsWhenItIsWhole) {
  auto partial = PartialFolder::Create(base_ + "/out");
  ASSERT_TRUE(partial.ok());
  ASSERT_TRUE(WriteWholeFile("out/a.csv", "1", {.folder = &partial->held()}).ok());
  EXPECT_FALSE(Base().Has("out"));
  EXPECT_EQ(partial->Names(), (Names{"a.csv"}));
  ASSERT_TRUE(partial->Rename().ok());
  EXPECT_EQ(Base().Names(), (Names{"out"}));
  EXPECT_EQ(Folder::Open(base_ + "/out")->Names(), (Names{"a.csv"}));
}

// Else another member of the group could put a file into it, which would get its place with ours.
TEST_F(PartialFolderTest, IsItsOwnersAloneUntilItIsWhole) {
  const mode_t mask = umask(002);
  auto partial = PartialFolder::Create(base_ + "/out");
  ASSERT_TRUE(partial.ok());
  EXPECT_EQ(partial->held().Info().st_mode & 07777, 0700u);
  ASSERT_TRUE(partial->Rename().ok());
  umask(mask);
  EXPECT_EQ(Folder::Open(base_ + "/out")->Info().st_mode & 07777, 0775u);
}

TEST_F(PartialFolderTest, GoesIfItIsNotRenamed) {
  {
    auto partial = PartialFolder::Create(base_ + "/out");
    ASSERT_TRUE(partial.ok());
    ASSERT_TRUE(WriteWholeFile("out/a.csv", "1", {.folder = &partial->held()}).ok());
    // While it is being filled, nobody takes it for one that was left.
    EXPECT_EQ(LeftPartialFolders(Base()), Names{});
  }
  EXPECT_EQ(Base().Names(), Names{});
}

// The folder around it may be written by others, who put another in its place.
TEST_F(PartialFolderTest, IsFilledWhereItWasMadeWhateverTakesItsPlace) {
  std::filesystem::create_directory(base_ + "/precious");
  ASSERT_TRUE(WriteWholeFile(base_ + "/precious/a.csv", "precious").ok());
  const auto exchange = [&](bool for_link) {
    for (const std::string& name : Base().Names()) {
      if (name.find(kPartialInfix) == std::string::npos) continue;
      std::filesystem::rename(base_ + "/" + name, base_ + "/taken");
      if (for_link) {
        std::filesystem::create_directory_symlink(base_ + "/precious", base_ + "/" + name);
      } else {
        std::filesystem::rename(base_ + "/precious", base_ + "/" + name);
      }
      return name;
    }
    return std::string();
  };
  std::string name;
  {
    auto partial = PartialFolder::Create(base_ + "/out");
    ASSERT_TRUE(partial.ok());
    name = exchange(true);
    ASSERT_TRUE(WriteWholeFile("out/a.csv", "ours", {.folder = &partial->held()}).ok());
    const Status status = partial->Rename();
    EXPECT_EQ(status.exit_code(), 4);
    EXPECT_NE(status.message().find("somebody moved it"), std::string::npos) << status.message();
  }
  EXPECT_EQ(Base().Names(), (Names{name, "precious", "taken"}));
  EXPECT_EQ(ReadWholeFile(base_ + "/precious/a.csv").value(), "precious");
  EXPECT_EQ(Folder::Open(base_ + "/taken")->Names(), Names{});
  std::filesystem::remove(base_ + "/" + name);
  std::filesystem::remove(base_ + "/taken");
  {  // a folder of our own with files of its own
    auto partial = PartialFolder::Create(base_ + "/out");
    ASSERT_TRUE(partial.ok());
    name = exchange(false);
  }
  EXPECT_EQ(Base().Names(), (Names{name, "taken"}));
  EXPECT_EQ(ReadWholeFile(base_ + "/" + name + "/a.csv").value(), "precious");
}

// What a process leaves that is killed while it fills BASE/out; the name of the partial folder.
std::string LeftByAKilledOne(const std::string& base) {
  const pid_t child = fork();
  if (child == 0) {
    const auto partial = PartialFolder::Create(base + "/out");
    const bool written =
        partial.ok() && WriteWholeFile("out/a.csv", "1", {.folder = &partial->held()}).ok();
    _exit(written ? 0 : 1);
  }
  int wait_status = -1;
  EXPECT_EQ(waitpid(child, &wait_status, 0), child);
  EXPECT_EQ(wait_status, 0);
  for (const std::string& name : Folder::Open(base)->Names()) {
    if (name.starts_with("out.partial-")) return name;
  }
  return "";
}

TEST_F(PartialFolderTest, IsFoundWhenItsProcessWasKilled) {
  const std::string left = LeftByAKilledOne(base_);
  const std::string empty = "out2.partial-abcdefghijklmnop";  // killed right after it was made
  std::filesystem::create_directory(base_ + "/" + empty);
  std::filesystem::create_directory(base_ + "/mine.partial-1");  // of somebody else's making
  std::filesystem::create_directory(base_ + "/precious");
  ASSERT_TRUE(WriteWholeFile(base_ + "/precious/a", "1").ok());
  std::filesystem::create_directory_symlink(base_ + "/precious",
                                            base_ + "/link.partial-abcdefghijklmnop");
  EXPECT_EQ(LeftPartialFolders(Base()), (Names{left, empty}));
  EXPECT_TRUE(RemovePartialFolder(Base(), left));
  EXPECT_TRUE(RemovePartialFolder(Base(), empty));
  EXPECT_FALSE(RemovePartialFolder(Base(), "link.partial-abcdefghijklmnop"));
  EXPECT_EQ(Base().Names(), (Names{"link.partial-abcdefghijklmnop", "mine.partial-1", "precious"}));
  EXPECT_EQ(Folder::Open(base_ + "/precious")->Names(), (Names{"a"}));
}

// Who may write the folder around it may rename what is in it: our work, to what we would remove.
TEST_F(PartialFolderTest, AFolderThatWasGivenSuchANameIsKept) {
  const std::string name = "thesis.partial-abcdefghijklmnop";
  std::filesystem::create_directory(base_ + "/" + name);
  ASSERT_TRUE(WriteWholeFile(base_ + "/" + name + "/chapter", "precious").ok());
  EXPECT_EQ(LeftPartialFolders(Base()), Names{});
  EXPECT_FALSE(RemovePartialFolder(Base(), name));
  EXPECT_EQ(Folder::Open(base_ + "/" + name)->Names(), (Names{"chapter"}));
}

// Who may write into one can put a mark there as well. So it is where a mark is a link to a file of
// ours, and where it is somebody else's.
TEST_F(PartialFolderTest, AMarkThatOthersCanHaveMadeDoesNotCount) {
  const std::string name = "drop.partial-abcdefghijklmnop";
  const std::string path = base_ + "/" + name;
  const std::string mark = path + "/.batchlight-unfinished";
  std::filesystem::create_directory(path);
  ASSERT_TRUE(WriteWholeFile(path + "/thesis", "precious").ok());
  const auto expect_kept = [&](const char* what) {
    EXPECT_EQ(LeftPartialFolders(Base()), Names{}) << what;
    EXPECT_FALSE(RemovePartialFolder(Base(), name)) << what;
    EXPECT_TRUE(FileExists(path + "/thesis")) << what;
  };
  ASSERT_TRUE(WriteWholeFile(mark, "").ok());
  for (const mode_t mode : {01770, 0702, 0720}) {
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
    expect_kept("a folder that others may write");
  }
  ASSERT_EQ(chmod(path.c_str(), 0755), 0);
  EXPECT_EQ(LeftPartialFolders(Base()), Names{name});
  std::filesystem::create_hard_link(mark, base_ + "/second");
  expect_kept("a file with two names");
  std::filesystem::remove(mark);
  std::filesystem::create_symlink(base_ + "/second", mark);
  expect_kept("a link");
  std::filesystem::remove(mark);
  ASSERT_EQ(mkfifo(mark.c_str(), 0600), 0);
  expect_kept("a pipe");
  std::filesystem::remove(mark);
  if (geteuid() != 0) return;  // nobody else can make a file of another user
  ASSERT_TRUE(WriteWholeFile(mark, "").ok());
  ASSERT_EQ(chown(mark.c_str(), 65534, 65534), 0);
  expect_kept("somebody else's");
}

// The one that was listed may be another by now: one that is being filled, for instance.
TEST_F(PartialFolderTest, OneThatIsBeingFilledIsNotRemoved) {
  const auto partial = PartialFolder::Create(base_ + "/out");
  ASSERT_TRUE(partial.ok());
  ASSERT_TRUE(WriteWholeFile("out/a.csv", "1", {.folder = &partial->held()}).ok());
  ASSERT_EQ(Base().Names().size(), 1u);
  EXPECT_FALSE(RemovePartialFolder(Base(), Base().Names()[0]));
  EXPECT_EQ(partial->Names(), (Names{"a.csv"}));
}

}  // namespace
}  // namespace batchlight
