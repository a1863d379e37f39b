#include "base/trusted_path.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/file.h"

namespace batchlight {
namespace {

class TrustedPath : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/bl_trusted_XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    base_ = name;
    std::filesystem::create_directories(base_ + "/a/b");
    ASSERT_TRUE(WriteWholeFile(File(), "code").ok());
    for (const std::string& path : {base_ + "/a", base_ + "/a/b"}) Allow(path, 0755);
    Allow(File(), 0644);
  }
  void TearDown() override { std::filesystem::remove_all(base_); }
  std::string File() const { return base_ + "/a/b/library.so"; }
  static void Allow(const std::string& path, mode_t mode) {
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
  }
  std::string base_;
};

TEST_F(TrustedPath, IsThatOfThisUserAlone) { EXPECT_EQ(WhyNotTrusted(File()), ""); }

TEST_F(TrustedPath, NeitherTheFileNorAFolderMayBeWrittenByOthers) {
  for (const std::string& path : {File(), base_ + "/a/b", base_ + "/a"}) {
    Allow(path, 0775);
    EXPECT_EQ(WhyNotTrusted(File()), path + " can be written by other users");
    Allow(path, 0755);
  }
  Allow(base_ + "/a", 01777);
  EXPECT_EQ(WhyNotTrusted(File()), "");
}

TEST_F(TrustedPath, WhereALinkLeadsCounts) {
  std::filesystem::create_symlink(File(), base_ + "/link.so");
  EXPECT_EQ(WhyNotTrusted(base_ + "/link.so"), "");
  Allow(base_ + "/a/b", 0777);
  EXPECT_NE(WhyNotTrusted(base_ + "/link.so"), "");
  EXPECT_NE(WhyNotTrusted(base_ + "/missing"), "");
}

TEST_F(TrustedPath, APlaceIsWhereNobodyElseCouldExchangeWhatIsMade) {
  const std::string place = base_ + "/a/b";
  for (const mode_t mode : {0700, 0755, 01777}) {
    Allow(place, mode);
    EXPECT_EQ(FirstTrustedPlace({place}).value(), place) << mode;
  }
  std::filesystem::create_symlink(place, base_ + "/link");
  EXPECT_EQ(FirstTrustedPlace({"", base_ + "/missing", base_ + "/link"}).value(), place);
  for (const mode_t mode : {0777, 02770}) {
    Allow(place, mode);
    EXPECT_EQ(FirstTrustedPlace({place}).status().message(),
              place + " can be written by other users");
    EXPECT_EQ(FirstTrustedPlace({place, "/tmp"}).value(), "/tmp");
  }
  Allow(place, 0700);
  Allow(base_ + "/a", 0777);
  EXPECT_FALSE(FirstTrustedPlace({place}).ok());
}

TEST_F(TrustedPath, TmpdirIsTakenWhereItIsSuchAPlace) {
  const char* const before = std::getenv("TMPDIR");
  const std::string kept = before != nullptr ? before : "";
  setenv("TMPDIR", base_.c_str(), 1);
  EXPECT_EQ(TemporaryPlace().value(), base_);
  Allow(base_, 0777);
  EXPECT_EQ(TemporaryPlace().value(), "/tmp");
  setenv("TMPDIR", "/nowhere/at/all", 1);
  EXPECT_EQ(TemporaryPlace().value(), "/tmp");
  before != nullptr ? setenv("TMPDIR", kept.c_str(), 1) : unsetenv("TMPDIR");
}

TEST_F(TrustedPath, AnotherUsersIsNot) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  ASSERT_EQ(chown((base_ + "/a").c_str(), 65534, 65534), 0);
  EXPECT_EQ(WhyNotTrusted(File()), base_ + "/a belongs to another user");
}

TEST_F(TrustedPath, AFileIsReadableByOwnerAndModeOfItAndOfTheFolders) {
  const Folder folder = Folder::Open(base_ + "/a/b").value();
  const int file = folder.OpenFile("library.so", O_RDONLY);
  const uid_t own = geteuid(), other = own + 1;
  Allow(base_, 0711);
  EXPECT_TRUE(IsReadableTo(own, file, folder));
  EXPECT_TRUE(IsReadableTo(other, file, folder));
  for (const std::string& path : {base_, base_ + "/a", base_ + "/a/b", File()}) {
    const bool is_file = path == File();
    Allow(path, is_file ? 0640 : 0774);
    EXPECT_TRUE(IsReadableTo(own, file, folder)) << path;
    EXPECT_FALSE(IsReadableTo(other, file, folder)) << path;
    Allow(path, is_file ? 0604 : 0701);
    EXPECT_TRUE(IsReadableTo(other, file, folder)) << path;
  }
  if (own == 0) {  // only root gives a file away, and opens what is nobody's to read
    ASSERT_EQ(chown(File().c_str(), other, other), 0);
    Allow(File(), 0400);
    EXPECT_TRUE(IsReadableTo(other, file, folder));
    EXPECT_FALSE(IsReadableTo(other + 1, file, folder));
    Allow(File(), 0204);
    EXPECT_FALSE(IsReadableTo(other, file, folder));
  }
  Allow(File(), 0604);
  std::filesystem::rename(base_ + "/a/b", base_ + "/moved");
  Allow(base_ + "/a", 0700);  // not on the way any more
  EXPECT_TRUE(IsReadableTo(other, file, folder));
  close(file);
}

}  // namespace
}  // namespace batchlight
