#include "base/trusted_path.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/file.h"

namespace batchlight {
namespace {

class TrustedPath : public testing::Test {
 protected:
  void SetUp() override {
    auto places = TemporaryPlaces();
    places.push_back(std::filesystem::current_path());
    const auto place = FirstTrustedPlace(places);
    if (!place.ok()) GTEST_SKIP() << place.status().message();
    std::string name = place.value() + "/bl_trusted_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    base_ = name;
    std::filesystem::create_directories(base_ + "/a/b");
    std::filesystem::create_directory(base_ + "/other");
    Allow(base_ + "/other", 0700);
    ASSERT_TRUE(WriteWholeFile(File(), "code").ok());
    for (const std::string& path : {base_ + "/a", base_ + "/a/b"}) Allow(path, 0755);
    Allow(File(), 0644);
  }
  void TearDown() override {
    if (!base_.empty()) std::filesystem::remove_all(base_);
  }
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
    EXPECT_EQ(FirstTrustedPlace({place, base_ + "/other"}).value(), base_ + "/other");
  }
  Allow(place, 0700);
  Allow(base_ + "/a", 0777);
  EXPECT_FALSE(FirstTrustedPlace({place}).ok());
}

TEST_F(TrustedPath, TmpdirIsTakenWhereItIsSuchAPlace) {
  const char* const before = std::getenv("TMPDIR");
  const std::string kept = before != nullptr ? before : "";
  setenv("TMPDIR", base_.c_str(), 1);
  EXPECT_EQ(TemporaryPlaces(), (std::vector<std::string>{base_, "/tmp"}));
  EXPECT_EQ(FindTemporaryPlace().value().path, base_);
  before != nullptr ? setenv("TMPDIR", kept.c_str(), 1) : unsetenv("TMPDIR");
  const std::string set = base_ + "/a/b", other = base_ + "/other";
  Allow(set, 0777);
  EXPECT_EQ(FindTemporaryPlace({set, other}).value().path, other);
  EXPECT_EQ(FindTemporaryPlace({"/nowhere/at/all", other}).value().path, other);
  EXPECT_EQ(FindTemporaryPlace({set, other}).value().fault, "");
}

// A volume of mode 0777 as /tmp, as containers get.
TEST_F(TrustedPath, WhereNoPlaceIsOneItIsTakenWithAWord) {
  const std::string mine = base_ + "/a/b";
  Allow(mine, 0700);
  Allow(base_ + "/a", 0777);
  const auto found = FindTemporaryPlace({"", "/nowhere/at/all", mine, base_ + "/a"});
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_EQ(found.value().path, mine);
  EXPECT_EQ(found.value().fault, base_ + "/a can be written by other users");
  EXPECT_FALSE(FindTemporaryPlace({"", "/nowhere/at/all"}).ok());
}

// All whom a container has no number for have one and the same there: the owner of / and others.
TEST_F(TrustedPath, WhoHasNoNumberIsTrustedAboveOnly) {
  const uid_t own = geteuid() == 0 ? 4243 : geteuid();
  const std::string shared = base_ + "/shared";
  std::filesystem::create_directories(shared + "/others/deep");
  for (const std::string& path : {base_, shared + "/others", shared + "/others/deep"}) {
    Allow(path, 0755);
  }
  Allow(shared, 01777);
  if (geteuid() == 0) {
    ASSERT_EQ(chown(base_.c_str(), own, own), 0);
    ASSERT_EQ(chown((shared + "/others").c_str(), 4242, 4242), 0);
    ASSERT_EQ(chown((shared + "/others/deep").c_str(), own, own), 0);
  }
  const auto check = [&] {
    if (setresuid(own, own, own) != 0 || prctl(PR_SET_DUMPABLE, 1) != 0) return 100;
    if (unshare(CLONE_NEWUSER) != 0) return 100;
    std::ofstream("/proc/self/uid_map") << own << " " << own << " 1\n" << std::flush;
    struct stat root {};
    if (geteuid() != own || stat("/", &root) != 0 || root.st_uid == own) return 100;
    if (root.st_uid == 0) return 100;
    if (WhyNotTrusted("/usr").empty()) return 1;  // may be of any user
    std::filesystem::create_directory(shared + "/mine");
    if (!WhyNotTrusted(shared + "/mine").empty()) return 2;
    // Below is another user's folder in one where all make theirs.
    struct stat others {};
    if (stat((shared + "/others").c_str(), &others) != 0 || others.st_uid == own) return 0;
    if (WhyNotTrusted(shared + "/others").empty()) return 3;
    return WhyNotTrusted(shared + "/others/deep").empty() ? 4 : 0;
  };
  const pid_t child = fork();
  if (child == 0) _exit(check());
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 100) GTEST_SKIP() << "no user namespace";
  EXPECT_EQ(WEXITSTATUS(status), 0);
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
