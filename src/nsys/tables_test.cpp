#include "nsys/tables.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/split.h"
#include "nsys/enums.h"
#include "nsys/foreign_tables.h"
#include "nsys/own_tables.h"

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

}  // namespace
}  // namespace batchlight::nsys
