#include "serve/notes_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

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
    ASSERT_TRUE(ChangeNotes(run, notes, {}).ok());
    EXPECT_EQ(ModeOf(NotesPath(run)), mode);
  }
  ASSERT_EQ(chmod(run.c_str(), 0444), 0);
  ASSERT_TRUE(ChangeNotes(run, notes, {}).ok());
  EXPECT_EQ(ModeOf(NotesPath(run)), 0644u);
  std::filesystem::remove_all(folder);
}

// Two pages are open: what one of them deleted does not come back with what the other writes.
TEST(NotesFileTest, EachPageChangesItsOwn) {
  const std::string folder = ::testing::TempDir() + "/notes_file_two_test";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const std::string run = folder + "/a.batchlight";
  const auto note = [](const char* id, const char* text) {
    return nlohmann::json{{"id", id}, {"text", text}};
  };
  const auto list = [](const auto&... notes) { return nlohmann::json::array({notes...}); };
  ASSERT_TRUE(ChangeNotes(run, list(note("1", "a"), note("2", "b")), {}).ok());
  ASSERT_TRUE(ChangeNotes(run, list(), {"1", "never there"}).ok());
  ASSERT_TRUE(ChangeNotes(run, list(note("3", "c"), note("2", "B")), {}).ok());
  EXPECT_EQ(ReadNotes(NotesPath(run)).value(), list(note("2", "B"), note("3", "c")));
  std::filesystem::remove_all(folder);
}

TEST(NotesFileTest, ItsStampTellsThatItWasWritten) {
  const std::string folder = ::testing::TempDir() + "/notes_file_stamp_test";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const std::string run = folder + "/a.batchlight";
  EXPECT_EQ(NotesStamp(run), "");
  std::string before;
  for (const char* text : {"a", "bb", "ccc"}) {
    ASSERT_TRUE(ChangeNotes(run, {{{"id", "1"}, {"text", text}}}, {}).ok());
    EXPECT_NE(NotesStamp(run), before);
    before = NotesStamp(run);
    EXPECT_EQ(NotesStamp(run), before);
  }
  std::filesystem::remove_all(folder);
}

// Whoever may write the folder waits for the file and puts a link to another in its place.
TEST(NotesFileTest, ModeOfNothingElseChanges) {
  const std::string folder = ::testing::TempDir() + "/notes_file_link_test";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const std::string run = folder + "/a.batchlight";
  const std::string precious = folder + "/precious";
  ASSERT_TRUE(WriteWholeFile(run, "").ok());
  ASSERT_TRUE(WriteWholeFile(precious, "").ok());
  ASSERT_EQ(chmod(run.c_str(), 0666), 0);
  ASSERT_EQ(chmod(precious.c_str(), 0600), 0);
  std::atomic<bool> over{false};
  std::thread other([&] {
    const Folder held = Folder::Open(folder).value();
    while (!over) {
      for (const std::string& name : held.Names()) {
        if (name.find(kPartialInfix) == std::string::npos) continue;
        if (unlinkat(held.fd(), name.c_str(), 0) != 0) continue;
        (void)!symlinkat("precious", held.fd(), name.c_str());
      }
    }
  });
  const nlohmann::json notes = {{{"id", "1"}, {"text", "slow"}}};
  for (int i = 0; i < 500 && ModeOf(precious) == 0600; ++i) {
    std::filesystem::remove(NotesPath(run));
    (void)ChangeNotes(run, notes, {}).ok();
  }
  over = true;
  other.join();
  EXPECT_EQ(ModeOf(precious), 0600u);
  std::filesystem::remove_all(folder);
}

TEST(NotesFileTest, LinksOfOthersAreNotRead) {
  const std::string folder = ::testing::TempDir() + "/notes_file_read_test";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  ASSERT_TRUE(WriteWholeFile(folder + "/private", R"({"notes": [{"id": "1"}]})").ok());
  std::filesystem::create_symlink("private", folder + "/a.batchlight.notes.json");
  EXPECT_FALSE(ReadNotes(folder + "/a.batchlight.notes.json").ok());
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace batchlight::serve
