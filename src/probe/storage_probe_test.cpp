#include "probe/storage_probe.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <set>
#include <vector>

#include "base/file.h"
#include "base/partial_folder.h"
#include "probe/page_cache.h"

namespace batchlight::probe {
namespace {

class StorageProbeTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(mkdtemp(path_), nullptr); }
  void TearDown() override { EXPECT_EQ(rmdir(path_), 0) << "something is left in " << path_; }
  char path_[64] = "/tmp/batchlight-storage-XXXXXX";
};

// Figures depend on the machine; what they must be like does not.
TEST_F(StorageProbeTest, MeasuresEveryCaseAndLeavesNothing) {
  StorageOptions options;
  options.path = path_;
  options.seconds = 6;
  options.bytes = 64 << 20;
  options.workers = {1, 3};
  std::set<std::string> said;
  options.progress = [&](const std::string& what, double share) {
    said.insert(what);
    EXPECT_GE(share, 0);
    EXPECT_LE(share, 1);
  };
  const auto found = MeasureStorage(options);
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_EQ(found->file_bytes, uint64_t{40} << 20);
  EXPECT_GT(found->small_files, 0U);
  EXPECT_GT(said.size(), 5U);
  std::set<std::pair<const StorageCase*, int>> measured;
  for (const StorageMeasurement& row : found->rows) {
    measured.insert({row.what, row.workers});
    EXPECT_GT(row.operations, 0U);
    EXPECT_LE(row.p50_ns, row.p99_ns);
    EXPECT_GT(row.operations_per_s, 0);
    const bool moves_data = row.what->reads_data() || row.what->kind == StorageKind::kCheckpoint;
    EXPECT_EQ(row.bytes_per_s > 0, moves_data) << row.what->pattern;
    EXPECT_EQ(row.cache != CacheState::kNone, row.what->reads_data());
    EXPECT_FALSE(row.cache == CacheState::kCold && row.resident_share > 0.01);
    EXPECT_FALSE(row.cache == CacheState::kWarm && row.resident_share < 0.99);
    // A cold read reads nothing twice.
    if (row.cache == CacheState::kCold && row.what->kind != StorageKind::kSmallFiles) {
      EXPECT_LE(row.operations * row.what->block_bytes, found->file_bytes);
    }
  }
  // A machine that is too busy for a case says so.
  std::string notes;
  for (const std::string& note : found->notes) notes += note + "\n";
  for (const StorageCase& what : StorageCases()) {
    const std::string_view name = what.reads_data() ? what.short_name : what.pattern;
    for (const int workers : options.workers) {
      EXPECT_TRUE(measured.contains({&what, workers}) || notes.find(name) != std::string::npos)
          << name << " is missing:\n"
          << notes;
    }
  }
}

TEST_F(StorageProbeTest, RemovesWhatAKilledOneLeft) {
  const pid_t child = fork();
  if (child == 0) {
    const auto scratch = PartialFolder::Create(std::string(path_) + "/" + kProbeFolder, 0700);
    const bool written =
        scratch.ok() && WriteWholeFile("x/data", "x", {.folder = &scratch->held()}).ok();
    _exit(written ? 0 : 1);
  }
  int wait_status = -1;
  ASSERT_EQ(waitpid(child, &wait_status, 0), child);
  ASSERT_EQ(wait_status, 0);
  // A folder of the user's own to which somebody else of the group gave such a name.
  const std::string named_so =
      std::string(path_) + "/" + kProbeFolder + ".partial-abcdefghijklmnop";
  ASSERT_EQ(mkdir(named_so.c_str(), 0700), 0);
  ASSERT_TRUE(WriteWholeFile(named_so + "/data", "precious").ok());
  StorageOptions options;
  options.path = path_;
  options.bytes = 1 << 20;  // too small: ends early
  EXPECT_FALSE(MeasureStorage(options).ok());
  const auto folder = Folder::Open(path_);
  ASSERT_TRUE(folder.ok());
  EXPECT_EQ(folder->Names(), std::vector<std::string>{LastPartOf(named_so)});
  EXPECT_EQ(ReadWholeFile(named_so + "/data").value(), "precious");
  unlink((named_so + "/data").c_str());
  rmdir(named_so.c_str());
}

TEST_F(StorageProbeTest, SaysWhatIsWrongWithAPath) {
  StorageOptions options;
  options.path = std::string(path_) + "/missing";
  EXPECT_EQ(MeasureStorage(options).status().message(),
            options.path +
                ": No such file or directory; name a folder on the storage that is to be measured");
  options.path = std::string(path_) + "/file";
  ASSERT_TRUE(WriteWholeFile(options.path, "x").ok());
  EXPECT_NE(MeasureStorage(options).status().message().find("is no folder"), std::string::npos);
  unlink(options.path.c_str());
}

TEST_F(StorageProbeTest, PagesOfAFileAreCounted) {
  const std::string file = std::string(path_) + "/file";
  ASSERT_TRUE(WriteWholeFile(file, std::string(1 << 20, 'x')).ok());
  const int fd = open(file.c_str(), O_RDONLY);
  ASSERT_GE(fd, 0);
  EXPECT_EQ(CacheStateOf(ResidentBytes(fd, 1 << 20), 1 << 20), CacheState::kWarm)
      << "it was just written";
  EXPECT_EQ(ResidentBytes(fd, 0), 0U);
  close(fd);
  EXPECT_EQ(ResidentBytes(-1, 4096), std::nullopt);
  unlink(file.c_str());
}

TEST(AwaitNothing, UntilThreeLooksInARowFoundNothing) {
  std::vector<uint64_t> found = {7, 0, 0, 1, 0, 0, 0, 9};
  size_t looks = 0;
  AwaitNothing([&] { return found[looks++]; }, [] { return false; });
  EXPECT_EQ(looks, 7U);
  looks = 0;
  AwaitNothing([&] { return found[looks++]; }, [&] { return looks == 2; });
  EXPECT_EQ(looks, 2U);
}

TEST_F(StorageProbeTest, WhatWasReadAheadIsDropped) {
  const std::string path = std::string(path_) + "/file";
  ASSERT_TRUE(WriteWholeFile(path, std::string(1 << 20, 'x')).ok());
  const int fd = open(path.c_str(), O_RDWR);
  ASSERT_EQ(fsync(fd), 0);
  AwaitReadAhead(fd, 1 << 20, 60'000'000'000);
  const auto resident = ResidentBytes(fd, 1 << 20);
  close(fd);
  EXPECT_EQ(unlink(path.c_str()), 0);
  // A file system in memory keeps all, and is not waited for.
  EXPECT_TRUE(resident == 0U || resident == 1U << 20) << resident.value_or(1);
}

TEST(CacheState, ByTheShareInMemory) {
  EXPECT_EQ(CacheStateOf(0, 1000), CacheState::kCold);
  EXPECT_EQ(CacheStateOf(10, 1000), CacheState::kCold);
  EXPECT_EQ(CacheStateOf(500, 1000), CacheState::kPartly);
  EXPECT_EQ(CacheStateOf(995, 1000), CacheState::kWarm);
  EXPECT_EQ(CacheStateOf(std::nullopt, 1000), CacheState::kUnproven);
}

TEST(ParseSize, Units) {
  EXPECT_EQ(ParseSize("4GiB").value(), uint64_t{4} << 30);
  EXPECT_EQ(ParseSize("512M").value(), uint64_t{512} << 20);
  EXPECT_EQ(ParseSize("1TB").value(), uint64_t{1} << 40);
  EXPECT_EQ(ParseSize("100000").value(), 100'000U);
  for (const char* wrong : {"", "x", "4 GiB", "-1", "1GG", "1KM", "99999999999T", "4iB5"}) {
    EXPECT_FALSE(ParseSize(wrong).ok()) << wrong;
  }
}

}  // namespace
}  // namespace batchlight::probe
