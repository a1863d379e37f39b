#include "nsys_seed.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cstring>

#include "base/file.h"
#include "export/exporter.h"
#include "ingest/open_input.h"

namespace batchlight::fuzz {
namespace {

// What a training run on one machine does not write. One thread, 20 rows each.
constexpr const char* kOtherFamilies = R"(
CREATE TABLE n AS WITH RECURSIVE c(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM c WHERE i < 19)
  SELECT i, i * 1000 AS start, i * 1000 + 700 AS end,
         (SELECT globalTid FROM CUPTI_ACTIVITY_KIND_RUNTIME LIMIT 1) AS globalTid,
         (SELECT min(id) FROM StringIds) + i % 5 AS nameId FROM c;
CREATE TABLE OSRT_API AS SELECT start, end, 27 AS eventClass, globalTid, nameId, 0 AS returnValue
  FROM n;
CREATE TABLE SYSCALL AS SELECT start, end, 107 AS eventClass, globalTid, nameId FROM n;
CREATE TABLE CUDNN_EVENTS AS SELECT start, end, 28 AS eventClass, globalTid, nameId FROM n;
CREATE TABLE OPENMP_EVENT_KIND_PARALLEL AS SELECT start, end, globalTid, i % 3 AS eventKind FROM n;
CREATE TABLE ENUM_OPENMP_EVENT_KIND(id INTEGER PRIMARY KEY, name TEXT, label TEXT);
INSERT INTO ENUM_OPENMP_EVENT_KIND VALUES (0, 'A', 'Parallel'), (1, 'B', 'Task');
CREATE TABLE CUPTI_ACTIVITY_KIND_OPENACC_DATA AS SELECT start, end, globalTid, 1 AS eventKind FROM n;
CREATE TABLE MPI_RANKS AS SELECT globalTid, 3 AS rank FROM n LIMIT 1;
CREATE TABLE MPI_P2P_EVENTS AS SELECT start, end, globalTid, nameId AS textId, 7 AS tag,
  1 AS remoteRank, 4096 AS size FROM n;
CREATE TABLE MPI_COLLECTIVES_EVENTS AS SELECT start, end, globalTid, nameId AS textId,
  0 AS rootRank, 64 AS size, 128 AS recvSize FROM n;
CREATE TABLE TARGET_INFO_NETWORK_METRICS AS SELECT 1 AS metricsListId, i AS metricsIdx,
  'metric ' || i AS name FROM n LIMIT 3;
CREATE TABLE TARGET_INFO_NIC_INFO AS SELECT 77 AS GUID, 'mlx5_0' AS name, 5 AS nicId FROM n LIMIT 1;
CREATE TABLE NIC_ID_MAP AS SELECT 5 AS nicId, 9 AS globalId FROM n LIMIT 1;
CREATE TABLE NET_NIC_METRIC AS SELECT start, end, 9 AS globalId, 1 AS metricsListId,
  i % 3 AS metricsIdx, i AS value FROM n;
CREATE TABLE CUDA_UM_CPU_PAGE_FAULT_EVENTS AS SELECT start, globalTid & ~0xffffff AS globalPid,
  i * 4096 AS address, nameId AS CpuInstruction, nameId AS module, nameId AS sourceFile,
  12 AS sourceLine FROM n;
CREATE TABLE CUDA_UM_GPU_PAGE_FAULT_EVENTS AS SELECT start, end, globalTid & ~0xffffff AS globalPid,
  0 AS deviceId, i * 4096 AS address, 3 AS numberOfPageFaults, i % 5 AS faultAccessType FROM n;
UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET copyKind = 11 + rowid % 3 WHERE rowid % 2;
UPDATE StringIds SET value = value || hex(zeroblob(4000)) WHERE rowid % 40 = 1;
DROP TABLE n;
)";

}  // namespace

void CloseSqlite::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

SqliteInMemory OpenBytes(const std::string& bytes) {
  sqlite3* database = nullptr;
  EXPECT_EQ(sqlite3_open(":memory:", &database), SQLITE_OK);
  auto* copy = static_cast<unsigned char*>(sqlite3_malloc64(bytes.size()));
  std::memcpy(copy, bytes.data(), bytes.size());
  const auto size = static_cast<sqlite3_int64>(bytes.size());
  EXPECT_EQ(sqlite3_deserialize(database, "main", copy, size, size,
                                SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE),
            SQLITE_OK);
  return SqliteInMemory(database);
}

std::string BytesOf(sqlite3* database) {
  sqlite3_int64 size = 0;
  unsigned char* bytes = sqlite3_serialize(database, "main", &size, 0);
  std::string copy(reinterpret_cast<char*>(bytes), static_cast<size_t>(size));
  sqlite3_free(bytes);
  return copy;
}

bool Execute(sqlite3* database, const std::string& sql) {
  return sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK;
}

std::vector<SeedTable> TablesOf(sqlite3* database) {
  std::vector<SeedTable> tables;
  sqlite3_stmt* statement = nullptr;
  EXPECT_EQ(sqlite3_prepare_v2(database,
                               "SELECT t.name, c.name FROM sqlite_master t "
                               "JOIN pragma_table_info(t.name) c WHERE t.type = 'table' "
                               "ORDER BY t.name, c.cid",
                               -1, &statement, nullptr),
            SQLITE_OK);
  while (sqlite3_step(statement) == SQLITE_ROW) {
    const std::string name = reinterpret_cast<const char*>(sqlite3_column_text(statement, 0));
    if (tables.empty() || tables.back().name != name) tables.push_back({name, {}});
    tables.back().columns.emplace_back(
        reinterpret_cast<const char*>(sqlite3_column_text(statement, 1)));
  }
  sqlite3_finalize(statement);
  return tables;
}

std::string NsysSeed() {
  const std::string recording =
      std::string(BATCHLIGHT_SOURCE_DIR) + "/tests/recordings/h200_two_ranks.batchlight";
  const auto store = OpenInput(recording);
  EXPECT_TRUE(store.ok()) << store.status().message();
  std::string path = "/tmp/nsys_seed_" + std::to_string(getpid()) + ".sqlite";
  ExportOptions options;
  options.output = path;
  const auto written = ExportSqlite(store.value(), options);
  EXPECT_TRUE(written.ok()) << written.status().message();
  const auto bytes = ReadWholeFile(path);
  EXPECT_TRUE(bytes.ok());
  unlink(path.c_str());
  const SqliteInMemory database = OpenBytes(bytes.value());
  for (const SeedTable& table : TablesOf(database.get())) {
    const char* kept = table.name == "StringIds" ? "400" : "30";
    EXPECT_TRUE(Execute(database.get(), "DELETE FROM " + table.name +
                                            " WHERE rowid NOT IN "
                                            "(SELECT rowid FROM " +
                                            table.name + " LIMIT " + kept + ")"))
        << table.name;
  }
  EXPECT_TRUE(Execute(database.get(), kOtherFamilies)) << sqlite3_errmsg(database.get());
  EXPECT_TRUE(Execute(database.get(), "VACUUM")) << sqlite3_errmsg(database.get());
  return BytesOf(database.get());
}

}  // namespace batchlight::fuzz
