#include "capture/recording/left_overs.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/file.h"
#include "capture/recording/live_folder.h"
#include "capture/recording/machine_facts.h"
#include "format/control.h"

namespace batchlight::capture {
namespace {

using Names = std::vector<std::string>;

std::string ControlFile() {
  const uint64_t magic = format::kControlMagic;
  return {reinterpret_cast<const char*>(&magic), sizeof magic};
}

class LeftOversTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/bl_left_XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    base_ = name;
    for (const char* run : {"/a", "/b"}) {
      const std::string live = base_ + run + kLiveSuffix;
      std::filesystem::create_directory(live);
      ASSERT_TRUE(WriteWholeFile(live + "/control", ControlFile()).ok());
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

// Who may write the folder around it can call a private folder of this user so.
TEST_F(LeftOversTest, AFolderThatIsCalledALiveOneStays) {
  const std::string other = base_ + "/debian" + kLiveSuffix;
  std::filesystem::create_directory(other);
  for (const char* name : {"/control", "/a.blp", "/shot.frames", "/steps", "/timer_samples"}) {
    ASSERT_TRUE(WriteWholeFile(other + name, "mine and long enough").ok());
  }
  for (const bool drops : {false, true}) {
    Names lines;
    ASSERT_TRUE(Clean(base_, {.drop_events = drops}, lines).ok());
    EXPECT_EQ(Folder::Open(other)->Names().size(), 5u);
  }
  EXPECT_FALSE(FileExists(base_ + "/debian.batchlight"));
  EXPECT_NE(LiveFolder::Create(other, true).status().message().find("no recording is in it"),
            std::string::npos);
  EXPECT_EQ(Folder::Open(other)->Names().size(), 5u);
  // In a live folder, too, only what the recorder wrote is removed.
  const std::string live = base_ + "/a" + kLiveSuffix;
  std::filesystem::create_directory(live);
  ASSERT_TRUE(WriteWholeFile(live + "/control", ControlFile()).ok());
  ASSERT_TRUE(WriteWholeFile(live + "/shot.frames", "mine and long enough").ok());
  EXPECT_FALSE(LiveFolder::Open(live)->Remove().ok());
  EXPECT_EQ(Folder::Open(live)->Names(), (Names{"shot.frames"}));
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

// On storage of several machines, whose locks may hold for one alone.
TEST_F(LeftOversTest, WhatAnotherMachineMayBeWritingStays) {
  format::ControlPage page{};
  page.magic = format::kControlMagic;
  page.machine = ThisMachine();
  const auto write = [&](const std::string& name) {
    const std::string_view bytes(reinterpret_cast<const char*>(&page), sizeof page);
    ASSERT_TRUE(WriteWholeFile(base_ + "/" + name + kLiveSuffix + "/control", bytes).ok());
  };
  write("a");  // a run of this machine
  ++page.machine.pid_namespace;
  write("b");  // of a container whose processes cannot be seen, unless all are
  constexpr uint64_t kOfTheMachine = 0xEFFFFFFC;
  const bool sees_all = page.machine.pid_namespace - 1 == kOfTheMachine;
  EXPECT_EQ(LiveFolder::Open(base_ + "/b" + kLiveSuffix)->FindWriter().empty(), sees_all);
  std::strcpy(page.machine.boot_id, "another");
  std::strcpy(page.machine.host, "node7");
  write("b");
  std::filesystem::remove(base_ + "/b.batchlight");
  EXPECT_EQ(LeftLiveFolders(Folder::Open(base_).value()), (Names{"a.batchlight.live"}));
  const std::string live = base_ + "/b" + kLiveSuffix;
  const Status taken = LiveFolder::Create(live, false).status();
  EXPECT_NE(taken.message().find("in use by a batchlight on node7"), std::string::npos);
  {  // A job that is queued again replaces it: it begins, and nothing is lost.
    LiveFolder again = LiveFolder::Create(live, true).value();
    const Names found = Left();
    const auto aside = std::find_if(found.begin(), found.end(), [](const std::string& name) {
      return name.starts_with("b-") && name.ends_with(kLiveSuffix);
    });
    ASSERT_NE(aside, found.end());
    ASSERT_TRUE(again.Remove().ok());
    std::filesystem::rename(base_ + "/" + *aside, live);
  }
  Names lines;
  ASSERT_TRUE(Clean(base_, {.drop_events = true}, lines).ok());
  EXPECT_EQ(Left(), (Names{"b.batchlight.live"}));
  EXPECT_EQ(lines[1], "kept " + live +
                          ": it is recorded on node7, or was less than ten minutes ago; "
                          "`batchlight clean` there knows, or here later");
  const auto age = [&](std::chrono::minutes minutes) {
    std::filesystem::last_write_time(live + "/control",
                                     std::filesystem::file_time_type::clock::now() - minutes);
    return LeftLiveFolders(Folder::Open(base_).value());
  };
  EXPECT_EQ(age(std::chrono::minutes(9)), Names{});
  EXPECT_EQ(age(std::chrono::minutes(-30)), Names{});  // its clock is ahead
  EXPECT_EQ(age(std::chrono::minutes(11)), (Names{"b.batchlight.live"}));
  lines.clear();
  ASSERT_TRUE(Clean(base_, {}, lines).ok());
  EXPECT_EQ(lines, (Names{"made " + base_ + "/b.batchlight of " + live}));
}

// What root's tool left that recorded another user's program (--run-as): the folder is theirs, the
// tool's own files are root's.
class LeftByRootsTool : public testing::Test {
 protected:
  static constexpr uid_t kUser = 54321;

  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "only root can record another user's program";
    char name[] = "/tmp/bl_left_XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    base_ = name;
    live_ = base_ + "/a" + kLiveSuffix;
    std::filesystem::create_directory(live_);
    ASSERT_TRUE(WriteWholeFile(live_ + "/control", ControlFile()).ok());
    ASSERT_TRUE(WriteWholeFile(live_ + "/12-1.blp", "").ok());
    ASSERT_TRUE(WriteWholeFile(live_ + "/tool.blp", "", {.is_private = true}).ok());
    for (const std::string& theirs : {base_, live_, live_ + "/control", live_ + "/12-1.blp"}) {
      ASSERT_EQ(chown(theirs.c_str(), kUser, kUser), 0);
    }
    ASSERT_EQ(chmod(live_.c_str(), 0700), 0);
  }
  void TearDown() override { std::filesystem::remove_all(base_); }
  // What is said to that user.
  template <typename Ask>
  std::string SaidAsUser(Ask ask) const {
    const std::string said = base_ + "/said";
    const pid_t child = fork();
    if (child == 0) {
      const bool is_user =
          setresgid(kUser, kUser, kUser) == 0 && setresuid(kUser, kUser, kUser) == 0;
      _exit(is_user && WriteWholeFile(said, ask()).ok() ? 0 : 1);
    }
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    const auto text = ReadWholeFile(said);
    std::filesystem::remove(said);
    return text.ok() ? text.value() : "";
  }
  std::string base_, live_;
};

TEST_F(LeftByRootsTool, IsKeptByItsUserWhoCannotReadAllOfIt) {
  for (const CleanOptions& options : {CleanOptions{}, CleanOptions{.drop_events = true}}) {
    const std::string said = SaidAsUser([&] {
      Names lines;
      const bool fine = Clean(base_, options, lines).ok() && lines.size() == 1;
      return fine ? lines[0] : "";
    });
    EXPECT_NE(said.find("kept " + live_ + ": tool.blp can be read by another user alone"),
              std::string::npos)
        << said;
    EXPECT_NE(said.find("ask root: `batchlight clean " + base_ + "`"), std::string::npos) << said;
    EXPECT_TRUE(FileExists(live_ + "/tool.blp"));
    EXPECT_FALSE(FileExists(base_ + "/a.batchlight"));
  }
}

TEST_F(LeftByRootsTool, IsNotReplacedByItsUserOneFileShort) {
  std::string said;
  for (const bool replace : {false, true}) {
    said += SaidAsUser([&] { return LiveFolder::Create(live_, replace).status().message(); });
    EXPECT_TRUE(FileExists(live_ + "/control"));
  }
  const std::string expected = live_ + "/tool.blp can be read by another user alone";
  EXPECT_EQ(said.find(expected), 0u) << said;
  EXPECT_NE(said.rfind(expected), 0u) << said;
}

TEST_F(LeftByRootsTool, BecomesTheUsersRecordingWhenRootCleans) {
  Names lines;
  ASSERT_TRUE(Clean(base_, {}, lines).ok());
  EXPECT_EQ(lines, (Names{"made " + base_ + "/a.batchlight of " + live_}));
  struct stat info {};
  ASSERT_EQ(lstat((base_ + "/a.batchlight").c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, kUser);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  EXPECT_FALSE(FileExists(live_));
}

// Whoever owns the folder can move a file of root's there that lies in another folder of theirs.
TEST_F(LeftByRootsTool, IsNotWhatItsUserMadeOfAnotherFileOfRoots) {
  ASSERT_TRUE(WriteWholeFile(live_ + "/tool.blp", "BLIGHT1\n, sealed by root").ok());
  Names lines;
  ASSERT_TRUE(Clean(base_, {}, lines).ok());
  EXPECT_EQ(lines, Names{});
  EXPECT_TRUE(FileExists(live_ + "/tool.blp"));
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
