#include "capture/recording/live_folder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <vector>

#include "base/file.h"

namespace batchlight::capture {
namespace {

class LiveFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/bl_live_XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    base_ = name;
    path_ = base_ + "/run.batchlight.live";
  }
  void TearDown() override { std::filesystem::remove_all(base_); }
  std::string base_, path_;
};

TEST_F(LiveFolderTest, IsItsOwnersAloneWhateverTheUmask) {
  for (const mode_t mask : {0, 0777}) {
    const mode_t before = umask(mask);
    const auto folder = LiveFolder::Create(path_, false);
    umask(before);
    ASSERT_TRUE(folder.ok()) << folder.status().message();
    EXPECT_EQ(folder->folder().Info().st_mode & 0777, 0700u);
    EXPECT_TRUE(folder->Remove().ok());
  }
}

TEST_F(LiveFolderTest, OfManyThatReplaceItOneHasIt) {
  for (int round = 0; round < 200; ++round) {
    std::atomic<int> have = 0;
    std::vector<std::thread> tools;
    std::barrier all_tried(4);
    for (int tool = 0; tool < 4; ++tool) {
      tools.emplace_back([&] {
        const auto folder = LiveFolder::Create(path_, true);
        all_tried.arrive_and_wait();
        if (folder.ok()) {
          have.fetch_add(1);
          EXPECT_TRUE(LiveFolder::Open(path_).ok());  // still there
          EXPECT_TRUE(folder->Remove().ok());
        } else {
          EXPECT_NE(folder.status().message().find("in use"), std::string::npos);
        }
      });
    }
    for (std::thread& tool : tools) tool.join();
    EXPECT_EQ(have, 1);
  }
}

TEST_F(LiveFolderTest, WhatAKilledToolLeftIsReplacedOnlyWhenAsked) {
  std::filesystem::create_directory(path_);
  EXPECT_EQ(LiveFolder::Create(path_, false).status().exit_code(), 4);
  EXPECT_TRUE(LiveFolder::Create(path_, true).ok());
}

TEST_F(LiveFolderTest, ALinkInItsPlaceIsLeftAlone) {
  std::filesystem::create_directory(base_ + "/precious");
  std::filesystem::create_directory_symlink("precious", path_);
  close(creat((base_ + "/precious/control").c_str(), 0600));
  EXPECT_EQ(LiveFolder::Create(path_, true).status().exit_code(), 4);
  EXPECT_TRUE(std::filesystem::exists(base_ + "/precious/control"));
}

TEST_F(LiveFolderTest, RemovesItselfAndNotWhatTookItsName) {
  const LiveFolder folder = LiveFolder::Create(path_, false).value();
  close(folder.folder().MakePrivateFile(kControlFile));
  std::filesystem::create_directory(base_ + "/precious");
  close(creat((base_ + "/precious/control").c_str(), 0600));
  std::filesystem::rename(path_, base_ + "/moved");
  std::filesystem::create_directory_symlink("precious", path_);
  EXPECT_TRUE(folder.Remove().ok());
  EXPECT_TRUE(std::filesystem::exists(base_ + "/precious/control"));
  EXPECT_FALSE(std::filesystem::exists(base_ + "/moved/control"));
}

// Whoever may write the folder around it can exchange the one that was just made for another one of
// the same user, with a recording in it.
TEST_F(LiveFolderTest, WhatTookItsPlaceWhileItWasMadeIsLeftAlone) {
  const std::string old = base_ + "/old.batchlight.live";
  for (int round = 0; round < 100; ++round) {
    std::filesystem::create_directory(old);
    close(creat((old + "/control").c_str(), 0600));
    std::atomic<bool> over = false;
    std::thread other([&] {
      while (!over && renameat2(AT_FDCWD, old.c_str(), AT_FDCWD, path_.c_str(), RENAME_EXCHANGE)) {
      }
    });
    {
      const auto folder = LiveFolder::Create(path_, false);
      EXPECT_TRUE(!folder.ok() || folder->folder().Names().empty());
    }
    over = true;
    other.join();
    EXPECT_TRUE(std::filesystem::exists(old + "/control") ||
                std::filesystem::exists(path_ + "/control"));
    std::filesystem::remove_all(old);
    std::filesystem::remove_all(path_);
  }
}

TEST_F(LiveFolderTest, SaysWhoWritesIntoIt) {
  const LiveFolder folder = LiveFolder::Create(path_, false).value();
  EXPECT_EQ(LiveFolder::Open(path_)->FindWriter(), "the batchlight that records it");
}

// In a child, as root may look at everybody.
TEST_F(LiveFolderTest, WhoKeepsWhatItMapsToItselfMayWriteIntoIt) {
  constexpr uid_t kNobody = 65534;
  ASSERT_EQ(geteuid() == 0 ? chown(base_.c_str(), kNobody, kNobody) : 0, 0);
  const pid_t tool = fork();
  if (tool == 0) {
    if (geteuid() == 0 && setuid(kNobody) != 0) _exit(2);
    prctl(PR_SET_DUMPABLE, 0);
    const pid_t program = fork();
    if (program == 0) {
      pause();
      _exit(0);
    }
    mkdir(path_.c_str(), 0700);
    const std::string number = std::to_string(program);
    close(creat((path_ + "/" + number + ".blp").c_str(), 0600));
    const bool is_found = LiveFolder::Open(path_)->FindWriter() == "process " + number;
    const bool is_sure = LiveFolder::Open(path_)->IsMappedBy(program);
    kill(program, SIGKILL);
    waitpid(program, nullptr, 0);
    _exit(is_found && !is_sure && LiveFolder::Open(path_)->FindWriter().empty() ? 0 : 1);
  }
  int status = -1;
  waitpid(tool, &status, 0);
  EXPECT_EQ(status, 0);
}

// Where its number is nobody, or somebody else.
TEST_F(LiveFolderTest, AProcessOfAContainerMayWriteIntoIt) {
  mkdir(path_.c_str(), 0700);
  const std::string file = path_ + "/4194000.blp";
  ASSERT_TRUE(WriteWholeFile(file, std::string(4096, '\0')).ok());
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t outer = fork();
  if (outer == 0) {
    const bool is_apart = unshare(CLONE_NEWPID) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWPID) == 0;
    const pid_t program = is_apart ? fork() : -1;
    if (program == 0) {
      const int fd = open(file.c_str(), O_RDWR);
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
      close(fd);
    }
    (void)!write(ready[1], &program, sizeof program);
    if (program == 0) pause();
    _exit(0);
  }
  pid_t told[2] = {-1, -1};
  for (pid_t& one : told) {
    ASSERT_EQ(read(ready[0], &one, sizeof one), static_cast<ssize_t>(sizeof one));
    if (one == -1) break;
  }
  waitpid(outer, nullptr, 0);
  close(ready[0]);
  close(ready[1]);
  const pid_t program = std::max(told[0], told[1]);
  if (program <= 0) GTEST_SKIP() << "no namespaces of process numbers";
  EXPECT_EQ(LiveFolder::Open(path_)->FindWriter(), "process " + std::to_string(program));
  kill(program, SIGKILL);
  for (int i = 0; i < 2000 && !LiveFolder::Open(path_)->FindWriter().empty(); ++i) usleep(1000);
  EXPECT_EQ(LiveFolder::Open(path_)->FindWriter(), "");
}

}  // namespace
}  // namespace batchlight::capture
