#include "export/sqlite/sqlite_file.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace batchlight {
namespace {

namespace fs = std::filesystem;

std::string g_folder;

// Somebody else who may write the folder is as fast as can be: between any two of the tool's calls
// the file that is being made gives way to a link to a database of the user's own.
void Exchange() {
  for (const auto& entry : fs::directory_iterator(g_folder)) {
    if (entry.path().string().find(".partial-") == std::string::npos) continue;
    fs::rename(entry.path(), g_folder + "/taken");
    fs::create_symlink("precious.db", entry.path());
    return;
  }
}

int LookAfterExchange(const char* path, struct stat* info) {
  Exchange();
  return lstat(path, info);
}

std::string TablesOf(const std::string& path) {
  sqlite3* handle = nullptr;
  std::string names;
  EXPECT_EQ(sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READONLY, nullptr), SQLITE_OK);
  const auto add = [](void* to, int, char** values, char**) {
    *static_cast<std::string*>(to) += std::string(values[0]) + " ";
    return 0;
  };
  sqlite3_exec(handle, "SELECT name FROM sqlite_master", add, &names, nullptr);
  sqlite3_close(handle);
  return names;
}

TEST(SqliteFileTest, WritesIntoNothingThatTookItsPlace) {
  char name[] = "/tmp/bl_sqlite_file_XXXXXX";
  ASSERT_NE(mkdtemp(name), nullptr);
  g_folder = name;
  const std::string precious = g_folder + "/precious.db";
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(precious.c_str(), &handle), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(handle, "CREATE TABLE runs(id)", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(handle);

  sqlite3_vfs* const vfs = sqlite3_vfs_find("unix");
  vfs->xSetSystemCall(vfs, "lstat", reinterpret_cast<sqlite3_syscall_ptr>(LookAfterExchange));
  auto file = SqliteFile::Create(g_folder + "/out.sqlite");
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_TRUE(file->Execute("CREATE TABLE exported(id)").ok());
  vfs->xSetSystemCall(vfs, "lstat", nullptr);
  Exchange();
  EXPECT_FALSE(file->Commit().ok());

  EXPECT_EQ(TablesOf(precious), "runs ");
  EXPECT_FALSE(fs::exists(fs::symlink_status(g_folder + "/out.sqlite")));
  fs::remove_all(g_folder);
}

}  // namespace
}  // namespace batchlight
