// A short fuzz run of the nsys importer, the same every time: bytes of the file, values, columns
// and tables are changed. What comes out keeps the store's promises, reads alike from pages and
// through SQLite, and every report can be made of it. FUZZ_ROUNDS=N makes it longer.
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cstdlib>
#include <random>

#include "analysis/stats/stats_report.h"
#include "base/file.h"
#include "fuzz_inputs.h"
#include "ingest/nsys/nsys_sqlite.h"
#include "mutator.h"
#include "nsys_seed.h"

namespace batchlight::fuzz {
namespace {

int Rounds(int usual) {
  const char* wanted = std::getenv("FUZZ_ROUNDS");
  return wanted != nullptr ? std::atoi(wanted) : usual;
}

// SQLite follows /proc/self/fd to a name that is not there: a real file.
class DiskFile {
 public:
  explicit DiskFile(const std::string& bytes)
      : path_(testing::TempDir() + "nsys_fuzz_" + std::to_string(getpid()) + ".sqlite") {
    EXPECT_TRUE(WriteWholeFile(path_, bytes).ok());
  }
  ~DiskFile() { unlink(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

Result<Store> Import(const std::string& bytes) { return ImportNsysSqlite(DiskFile(bytes).path()); }

// Every report, every row.
void RunReports(const Store& store) {
  for (const stats::Report& report : stats::Reports()) {
    if (!report.missing(store).empty()) continue;
    const auto rows = stats::RunReport(report, {store, {}, {}, false});
    if (!rows.ok()) continue;
    std::vector<Cell> cells(rows->columns.size());
    for (size_t row = 0; row < rows->row_count; ++row) rows->fill(row, cells);
  }
}

// All that a store holds, as bytes.
std::string Contents(const Store& store) {
  std::string all;
  store.VisitTables([&](const auto& table) {
    all += table.kName;
    table.VisitColumns([&](std::string_view name, std::string_view, const auto& column) {
      all += name;
      for (const auto& value : column) {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, StringId>) {
          all += store.Text(value);
          all += value.IsNone() ? '\1' : '\0';
        } else {
          all.append(reinterpret_cast<const char*>(&value), sizeof value);
        }
      }
    });
  });
  return all + std::to_string(store.duration_ns);
}

// The message without the path, which differs.
std::string Words(const Status& status) {
  const std::string message(status.message());
  const size_t table = message.find("table ");
  return table == std::string::npos ? message : message.substr(table);
}

class SqlMutator {
 public:
  explicit SqlMutator(uint32_t seed) : random_(seed) {}

  void Mutate(sqlite3* database, const std::vector<SeedTable>& tables) {
    for (int change = 0; change < 1 + Below(4); ++change) Change(database, tables);
  }

 private:
  int Below(size_t limit) { return static_cast<int>(random_() % limit); }
  template <typename List>
  const auto& One(const List& list) {
    return list[random_() % std::size(list)];
  }

  void Change(sqlite3* database, const std::vector<SeedTable>& tables) {
    static constexpr const char* kValues[] = {"NULL",
                                              "-1",
                                              "0",
                                              "1",
                                              "255",
                                              "256",
                                              "65536",
                                              "4294967295",
                                              "4294967296",
                                              "9223372036854775807",
                                              "-9223372036854775808",
                                              "2305843009213693953",
                                              "0.5",
                                              "1e300",
                                              "-7.0",
                                              "'text'",
                                              "''",
                                              "'12'",
                                              "x'00ff80'",
                                              "x''",
                                              "zeroblob(9000)",
                                              "rowid",
                                              "start",
                                              "end",
                                              "end - 2 * start",
                                              "correlationId",
                                              "globalTid + 1",
                                              "(SELECT max(id) FROM StringIds) + 3"};
    const SeedTable& table = One(tables);
    const std::string name = '"' + table.name + '"';
    const std::string column = '"' + One(table.columns) + '"';
    const std::string row = " WHERE rowid % " + std::to_string(1 + Below(30)) + " = 0";
    switch (Below(16)) {
      case 0:
        Execute(database, "ALTER TABLE " + name + " DROP COLUMN " + column);
        break;
      case 1:
        Execute(database, "ALTER TABLE " + name + " RENAME TO \"" + table.name + "_V" +
                              std::to_string(Below(4)) + "\"");
        break;
      case 2:
        Execute(database, "DROP TABLE " + name);
        break;
      case 3:
        Execute(database, "INSERT INTO " + name + " SELECT * FROM " + name);
        break;
      case 4:
        Execute(database, "DELETE FROM " + name + row);
        break;
      case 5:
        Execute(database, "ALTER TABLE " + name + " RENAME COLUMN " + column + " TO \"" +
                              One(One(tables).columns) + '"');
        break;
      default:
        Execute(database, "UPDATE " + name + " SET " + column + " = " + One(kValues) + row);
    }
  }

  std::mt19937 random_;
};

TEST(NsysFuzz, TheSeedHasEverything) {
  const auto store = Import(NsysSeed());
  ASSERT_TRUE(store.ok()) << store.status().message();
  EXPECT_GT(store->kernels.size(), 0u);
  EXPECT_GT(store->nvtx_ranges.size(), 0u);
  EXPECT_GT(store->os_calls.size(), 0u);
  EXPECT_GT(store->runtime_events.size(), 0u);
  EXPECT_GT(store->mpi_events.size(), 0u);
  EXPECT_GT(store->network_samples.size(), 0u);
  EXPECT_GT(store->um_transfers.size(), 0u);
  EXPECT_GT(store->um_cpu_faults.size(), 0u);
  EXPECT_GT(store->um_gpu_faults.size(), 0u);
}

TEST(NsysFuzz, ChangedBytesGiveAStoreOrAnError) {
  const std::string seed = NsysSeed();
  Mutator mutator(20260102);
  int read = 0;
  for (int round = 0; round < Rounds(600); ++round) {
    SCOPED_TRACE(round);
    const auto store = Import(mutator.Mutate('0' + seed).substr(1));
    CheckResult(store);
    if (!store.ok()) continue;
    ++read;
    RunReports(store.value());
  }
  EXPECT_GT(read, Rounds(600) / 10);
}

TEST(NsysFuzz, ChangedTablesReadAlikeFromPagesAndStatements) {
  const std::string seed = NsysSeed();
  SqlMutator mutator(20260103);
  int read = 0;
  for (int round = 0; round < Rounds(300); ++round) {
    SCOPED_TRACE(round);
    const SqliteInMemory database = OpenBytes(seed);
    mutator.Mutate(database.get(), TablesOf(database.get()));
    const auto store = Import(BytesOf(database.get()));
    CheckResult(store);
    // A computed column anywhere: rows come from statements.
    ASSERT_TRUE(Execute(database.get(), "CREATE TABLE computed(a, b AS (a + 1))"));
    const auto again = Import(BytesOf(database.get()));
    ASSERT_EQ(store.ok(), again.ok()) << store.status().message() << again.status().message();
    if (!store.ok()) {
      EXPECT_EQ(Words(store.status()), Words(again.status()));
      continue;
    }
    ++read;
    EXPECT_TRUE(Contents(store.value()) == Contents(again.value()));
    RunReports(store.value());
  }
  EXPECT_GT(read, Rounds(300) / 4);
}

}  // namespace
}  // namespace batchlight::fuzz
