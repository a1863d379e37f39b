#include "base/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

namespace batchlight {
namespace {

class FileTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/bl_file_XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string folder_;
};

TEST_F(FileTest, CommittedFileHasItsText) {
  const std::string path = folder_ + "/a.txt";
  ASSERT_TRUE(WriteWholeFile(path, "hello").ok());
  Result<std::string> text = ReadWholeFile(path);
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(text.value(), "hello");
}

TEST_F(FileTest, OfAFileThatIsNearlyAllHoleTheBeginningIsRead) {
  const std::string path = folder_ + "/a.txt";
  ASSERT_TRUE(WriteWholeFile(path, "hello").ok());
  ASSERT_EQ(truncate(path.c_str(), int64_t{1} << 40), 0);
  Result<MappedFile> file = MappedFile::Open(path);
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ(file->text().substr(0, 5), "hello");
  EXPECT_GE(file->text().size(), size_t{64} << 20);
  EXPECT_LE(file->text().size(), size_t{1} << 30);
}

TEST_F(FileTest, ANameMayBeAsLongAsTheFileSystemAllows) {
  for (const size_t bytes : {230, 231, 254, 255}) {
    std::string name(bytes, 'a');
    EXPECT_TRUE(WriteWholeFile(folder_ + "/" + name, "x").ok()) << bytes;
    for (size_t i = bytes % 2; i + 4 <= bytes; i += 4) name.replace(i, 4, "\xf0\x9f\x94\xa5");
    EXPECT_TRUE(WriteWholeFile(folder_ + "/" + name, "x").ok()) << bytes;
  }
  EXPECT_EQ(WriteWholeFile(folder_ + "/" + std::string(256, 'a'), "x").exit_code(), 4);
}

TEST_F(FileTest, UncommittedFileLeavesNothing) {
  {
    Result<AtomicFileWriter> writer = AtomicFileWriter::Create(folder_ + "/a.txt");
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE(writer->Write("half").ok());
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(FileTest, MissingFolderIsAnOutputError) {
  const Status status = WriteWholeFile(folder_ + "/no/a.txt", "x");
  EXPECT_EQ(status.exit_code(), 4);
  EXPECT_NE(status.message().find("a.txt"), std::string::npos);
}

TEST_F(FileTest, FullDiskIsAnOutputErrorAndLeavesNothing) {
  Result<AtomicFileWriter> writer = AtomicFileWriter::Create("/dev/full/x");
  EXPECT_FALSE(writer.ok());
}

TEST_F(FileTest, MissingFileIsAnInputError) {
  Result<MappedFile> file = MappedFile::Open(folder_ + "/none");
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.status().exit_code(), 3);
}

TEST_F(FileTest, FolderIsAnInputError) {
  EXPECT_EQ(MappedFile::Open(folder_).status().exit_code(), 3);
}

TEST_F(FileTest, EmptyFileIsFine) {
  ASSERT_TRUE(WriteWholeFile(folder_ + "/e", "").ok());
  Result<MappedFile> file = MappedFile::Open(folder_ + "/e");
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE(file->bytes().empty());
}

TEST_F(FileTest, PipeIsAnInputErrorAndDoesNotHang) {
  ASSERT_EQ(mkfifo((folder_ + "/pipe").c_str(), 0600), 0);
  EXPECT_EQ(MappedFile::Open(folder_ + "/pipe").status().exit_code(), 3);
  const Folder folder = Folder::Open(folder_).value();
  EXPECT_EQ(MappedFile::Open(folder, "pipe").status().exit_code(), 3);
}

TEST_F(FileTest, LinksInAFolderAreNotFollowed) {
  ASSERT_TRUE(WriteWholeFile(folder_ + "/secret", "secret").ok());
  ASSERT_EQ(symlink("secret", (folder_ + "/link").c_str()), 0);
  const Folder folder = Folder::Open(folder_).value();
  EXPECT_EQ(MappedFile::Open(folder, "link").status().exit_code(), 3);
  EXPECT_EQ(MappedFile::Open(folder, "secret")->text(), "secret");
}

// Who can write into the folder could have made such a link, had the name been known.
TEST_F(FileTest, NameOfThePartialFileCannotBeKnown) {
  ASSERT_TRUE(WriteWholeFile(folder_ + "/precious", "precious").ok());
  const std::string guess = folder_ + "/a.txt.partial-" + std::to_string(getpid());
  ASSERT_EQ(symlink("precious", guess.c_str()), 0);
  ASSERT_TRUE(WriteWholeFile(folder_ + "/a.txt", "hello").ok());
  EXPECT_EQ(ReadWholeFile(folder_ + "/precious").value(), "precious");
}

TEST_F(FileTest, WhatTookThePlaceOfThePartialFileGetsNoName) {
  ASSERT_TRUE(WriteWholeFile(folder_ + "/precious", "precious").ok());
  ASSERT_TRUE(WriteWholeFile(folder_ + "/a.txt", "before").ok());
  for (const bool replace : {true, false}) {
    const std::string path = folder_ + (replace ? "/a.txt" : "/b.txt");
    auto writer = AtomicFileWriter::Create(path, {.replace = replace});
    ASSERT_TRUE(writer.ok());
    for (const std::string& name : Folder::Open(folder_)->Names()) {
      if (name.find(kPartialInfix) == std::string::npos) continue;
      std::filesystem::rename(folder_ + "/" + name, folder_ + "/taken");
      std::filesystem::create_symlink("precious", folder_ + "/" + name);
    }
    EXPECT_NE(writer->Commit().message().find("moved it"), std::string::npos);
  }
  EXPECT_EQ(ReadWholeFile(folder_ + "/a.txt").value(), "before");
  EXPECT_FALSE(FileExists(folder_ + "/b.txt"));
}

TEST_F(FileTest, WhatGotTheNameOfAnUnfinishedFileIsLeft) {
  for (const bool commits : {true, false}) {
    std::string name;
    {
      auto writer = AtomicFileWriter::Create(folder_ + "/a.txt");
      ASSERT_TRUE(writer.ok());
      for (const std::string& there : Folder::Open(folder_)->Names()) {
        if (there.find(kPartialInfix) != std::string::npos) name = folder_ + "/" + there;
      }
      std::filesystem::rename(name, folder_ + "/taken");
      std::ofstream(name) << "years of work";
      if (commits) {
        EXPECT_FALSE(writer->Commit().ok());
      }
    }
    EXPECT_TRUE(FileExists(name)) << commits;
    std::filesystem::remove(name);
  }
}

// Who waits for a file may take it the moment that it is there, and put another in its place.
TEST_F(FileTest, FileThatIsTakenAtOnceIsFinished) {
  const std::string path = folder_ + "/a.txt";
  std::atomic<bool> over{false};
  std::thread consumer([&] {
    for (uint64_t taken = 0; !over;) {
      if (rename(path.c_str(), (folder_ + "/taken").c_str()) != 0) continue;
      if (++taken % 2 == 0) std::ofstream(path) << "next";
    }
  });
  int failed = 0;
  for (int i = 0; i < 500; ++i) failed += !WriteWholeFile(path, "text").ok();
  over = true;
  consumer.join();
  EXPECT_EQ(failed, 0);
}

// Neither takes what the other is about to write for something that was left.
TEST_F(FileTest, WritersOfOneNameDoNotRemoveEachOthersFiles) {
  std::atomic<int> failed{0};
  std::vector<std::thread> writers;
  for (int i = 0; i < 4; ++i) {
    writers.emplace_back([&] {
      for (int k = 0; k < 500; ++k) failed += !WriteWholeFile(folder_ + "/a.txt", "text").ok();
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(Folder::Open(folder_)->Names(), std::vector<std::string>{"a.txt"});
}

TEST_F(FileTest, FileLandsInTheHeldFolder) {
  std::filesystem::create_directory(folder_ + "/here");
  std::filesystem::create_directory(folder_ + "/there");
  const Folder held = Folder::Open(folder_ + "/here").value();
  auto writer = AtomicFileWriter::Create(folder_ + "/here/a.txt", {.folder = &held});
  ASSERT_TRUE(writer.ok());
  std::filesystem::rename(folder_ + "/here", folder_ + "/moved");
  std::filesystem::create_directory_symlink("there", folder_ + "/here");
  ASSERT_TRUE(writer->Commit().ok());
  EXPECT_TRUE(FileExists(folder_ + "/moved/a.txt"));
  EXPECT_TRUE(std::filesystem::is_empty(folder_ + "/there"));
}

TEST_F(FileTest, WithoutReplaceTheFirstFileStays) {
  auto writer = AtomicFileWriter::Create(folder_ + "/a.txt", {.replace = false});
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(WriteWholeFile(folder_ + "/a.txt", "first").ok());
  EXPECT_EQ(writer->Commit().exit_code(), 4);
  EXPECT_EQ(ReadWholeFile(folder_ + "/a.txt").value(), "first");
}

TEST_F(FileTest, PrivateFileHasItsModeWhateverTheUmask) {
  const mode_t before = umask(0);
  auto writer = AtomicFileWriter::Create(folder_ + "/a.txt", {.is_private = true});
  umask(before);
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(writer->Commit().ok());
  struct stat info {};
  ASSERT_EQ(stat((folder_ + "/a.txt").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(FileTest, WhatAKilledWriterLeftGoesWithTheNext) {
  const std::string left = folder_ + "/a.txt.partial-abcdefghijklmnop";
  const std::string foreign = folder_ + "/a.txt.partial-1";
  for (const std::string& path : {left, foreign}) std::fclose(std::fopen(path.c_str(), "w"));
  auto first = AtomicFileWriter::Create(folder_ + "/a.txt");
  ASSERT_TRUE(first.ok());
  EXPECT_FALSE(FileExists(left));
  EXPECT_TRUE(FileExists(foreign));
  // Of two that write at once, neither takes the other's.
  auto second = AtomicFileWriter::Create(folder_ + "/a.txt");
  ASSERT_TRUE(second.ok());
  EXPECT_TRUE(first->Commit().ok());
  EXPECT_TRUE(second->Commit().ok());
}

}  // namespace
}  // namespace batchlight
