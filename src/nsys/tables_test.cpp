#include "nsys/tables.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

#include "base/split.h"
#include "nsys/enums.h"
#include "nsys/foreign_tables.h"
#include "nsys/own_tables.h"
#include "nsys/schema_version.h"

namespace batchlight::nsys {
namespace {

std::set<std::string_view> StoreTables() {
  std::set<std::string_view> names;
  Store().VisitTables([&](const auto& table) { names.insert(table.kName); });
  return names;
}

TEST(NsysTablesTest, ATableOfNsysHasOneEntry) {
  std::set<std::string_view> names;
  for (const TableEntry& entry : Entries()) EXPECT_TRUE(names.insert(entry.name).second);
  for (const ForeignTable& table : kForeignTables) {
    EXPECT_TRUE(names.insert(table.name).second) << table.name;
  }
  for (const Enum& table : Enums()) EXPECT_TRUE(names.insert(table.table).second) << table.table;
  EXPECT_GE(names.size(), 80u);
}

TEST(NsysTablesTest, ATableHasEveryColumnOnce) {
  for (const TableEntry& entry : Entries()) {
    if (entry.columns.empty()) continue;
    std::set<std::string_view> names;
    for (const std::string_view column : SplitAt(entry.columns, ' ')) {
      EXPECT_TRUE(names.insert(Spelling(column).name()).second) << entry.name << " " << column;
    }
  }
}

TEST(NsysTablesTest, TablesOfTheStoreAreKnownByTheirNames) {
  const std::set<std::string_view> known = StoreTables();
  for (const TableEntry& entry : Entries()) {
    for (const std::string_view name : NamesOf(entry.holds)) {
      EXPECT_TRUE(known.contains(name)) << entry.name << " holds " << name;
    }
  }
}

TEST(NsysTablesTest, WhatNsysHoldsInPartIsATableOfOurs) {
  EXPECT_FALSE(IsOwnTable("kernels"));
  EXPECT_FALSE(IsOwnTable("nvtx_payload_blobs"));
  EXPECT_TRUE(IsOwnTable("processes"));
  EXPECT_TRUE(IsOwnTable("runtime_events"));
  EXPECT_TRUE(IsOwnTable("operator_calls"));
  EXPECT_EQ(OwnTableName("operator_calls"), "BATCHLIGHT_OPERATOR_CALLS");
}

TEST(NsysTablesTest, MarksOfAColumnBecomeSql) {
  EXPECT_EQ(CreateStatement("T", "id!P name:T value:R! spare"),
            "CREATE TABLE \"T\" (\"id\" INTEGER NOT NULL PRIMARY KEY, \"name\" TEXT, "
            "\"value\" REAL NOT NULL, \"spare\" INTEGER)");
  EXPECT_EQ(CreateStatement("T", "id!K name:T depth!K"),
            "CREATE TABLE \"T\" (\"id\" INTEGER NOT NULL, \"name\" TEXT, "
            "\"depth\" INTEGER NOT NULL, PRIMARY KEY (\"id\", \"depth\"))");
  EXPECT_EQ(CreateStatement(kThreadNames),
            "CREATE TABLE \"ThreadNames\" (\"nameId\" INTEGER NOT NULL, \"priority\" INTEGER, "
            "\"globalTid\" INTEGER)");
}

// Columns that only files of nsys have are not declared; those that we never read are not asked
// for.
TEST(NsysTablesTest, ReaderAndWriterTakeTheirColumnsFromOneList) {
  EXPECT_EQ(WrittenColumns(kSystemCalls), "start end eventClass globalTid nameId callchainId");
  std::string asked;
  for (const Spelling& column : ReadColumns(kSystemCalls)) {
    asked += std::string(column.name()) + (column.may_lack() ? "? " : " ");
  }
  EXPECT_EQ(asked, "start end eventClass globalTid nameId returnValue? ");
  static_assert(kReadPlace<End, Start, Constant, End> == 1);
  static_assert(kReadPlace<End, Start, Constant> == -1);
}

TEST(NsysTablesTest, IdsArePackedAndUnpacked) {
  const int64_t process = GlobalPid(0x123456);
  EXPECT_EQ(process, 0x0001'123456'000000);
  EXPECT_EQ(GlobalPid({.hardware = 0, .vm = 1, .pid = 0x123456}), process);
  const int64_t thread = GlobalTid(process, 0xabcdef);
  EXPECT_EQ(PidOf(thread), 0x123456u);
  EXPECT_EQ(TidOf(thread), 0xabcdefu);
  EXPECT_EQ(thread & kProcessMask, process);
}

// The numbers in the code are those of the tables that explain them.
TEST(NsysTablesTest, EnumsHaveTheRowsOfTheirKinds) {
  const std::vector<Enum> enums = Enums();
  const auto find = [&](std::string_view name) {
    return std::find_if(enums.begin(), enums.end(),
                        [&](const Enum& table) { return table.table == name; });
  };
  const auto events = find("ENUM_NSYS_EVENT_TYPE");
  ASSERT_NE(events, enums.end());
  EXPECT_EQ(events->values[0].id, static_cast<int64_t>(EventType::kCategory));
  const auto copies = find("ENUM_CUDA_MEMCPY_OPER");
  ASSERT_NE(copies, enums.end());
  EXPECT_EQ(copies->values[1].id, Number(CopyKind::kHostToDevice));
  EXPECT_EQ(copies->values[1].label, "Host-to-Device");
}

// The part of docs/export.md that lists the tables: names in backquotes, where a `*` at the end
// matches anything.
class ExportPageTest : public testing::Test {
 protected:
  void SetUp() override {
    std::ifstream file(BATCHLIGHT_SOURCE_DIR "/docs/export.md");
    const std::string page{std::istreambuf_iterator<char>(file), {}};
    const size_t begin = page.find("Tables, columns and encodings of an nsys export");
    ASSERT_NE(begin, std::string::npos);
    text_ = page.substr(begin, page.find("Tools made for", begin) - begin);
    const size_t list = text_.find(":\n");
    for (size_t at = text_.find('`', list); at != std::string::npos; at = text_.find('`', at + 1)) {
      const size_t end = text_.find('`', at + 1);
      patterns_.push_back(text_.substr(at + 1, end - at - 1));
      at = end;
    }
  }
  static bool Matches(std::string_view pattern, std::string_view name) {
    if (!pattern.ends_with('*')) return pattern == name;
    return name.starts_with(pattern.substr(0, pattern.size() - 1));
  }

  std::string text_;
  std::vector<std::string> patterns_;
};

TEST_F(ExportPageTest, NamesTheTablesOfTheDictionary) {
  std::vector<std::string_view> names;
  for (const TableEntry& entry : Entries()) {
    if (!entry.columns.empty()) names.push_back(entry.name);
  }
  for (const std::string_view name : names) {
    EXPECT_TRUE(std::any_of(patterns_.begin(), patterns_.end(),
                            [&](const std::string& pattern) { return Matches(pattern, name); }))
        << name << " is not in docs/export.md";
  }
  names.push_back("ENUM_");
  for (const std::string& pattern : patterns_) {
    EXPECT_TRUE(std::any_of(names.begin(), names.end(),
                            [&](std::string_view name) { return Matches(pattern, name); }))
        << "docs/export.md names " << pattern;
  }
}

TEST_F(ExportPageTest, SaysWhichSchemaIsWritten) {
  const std::string version =
      std::to_string(kSchemaMajor) + '.' + std::to_string(kWrittenMinor) + ".0";
  EXPECT_NE(text_.find("schema " + version), std::string::npos) << version;
}

}  // namespace
}  // namespace batchlight::nsys
