#include "base/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

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

}  // namespace
}  // namespace batchlight
