#include "serve/notes_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"

namespace batchlight::serve {
namespace {

mode_t ModeOf(const std::string& path) {
  struct stat info {};
  EXPECT_EQ(stat(path.c_str(), &info), 0) << path;
  return info.st_mode & 0777;
}

// A recording is its owner's alone unless he opens it to others: so are the notes about it.
TEST(NotesFileTest, HasTheModeOfTheRun) {
  const std::string folder = ::testing::TempDir() + "/notes_file_test";
  std::filesystem::create_directories(folder);
  const std::string run = folder + "/a.batchlight";
  const nlohmann::json notes = {{{"id", "1"}, {"text", "slow"}}};
  ASSERT_TRUE(WriteWholeFile(run, "").ok());
  for (const mode_t mode : {0600u, 0640u, 0644u}) {
    ASSERT_EQ(chmod(run.c_str(), mode), 0);
    ASSERT_TRUE(WriteNotes(run, notes, std::nullopt).ok());
    EXPECT_EQ(ModeOf(NotesPath(run)), mode);
  }
  ASSERT_EQ(chmod(run.c_str(), 0444), 0);
  ASSERT_TRUE(WriteNotes(run, notes, std::nullopt).ok());
  EXPECT_EQ(ModeOf(NotesPath(run)), 0644u);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace batchlight::serve
