// What the dictionary of nsys's tables (nsys/tables.h) declares goes into a file and comes back.
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <filesystem>
#include <limits>

#include "export/exporter.h"
#include "ingest/nsys/nsys_sqlite.h"
#include "nsys/own_tables.h"
#include "nsys/tables.h"

namespace batchlight {
namespace {

constexpr size_t kRows = 6;

// A store in which every column of every table that nsys holds has a value of its own in each row.
class StoreFiller {
 public:
  // `variant` picks one of the kinds that nsys keeps in tables of their own.
  StoreFiller(Store& store, size_t variant) : store_(store), variant_(variant) {
    for (size_t i = 0; i < 8; ++i)
      texts_.push_back(store.strings.Intern("text " + std::to_string(i)));
    store.processes.Append({.pid = 4000, .name = texts_[0], .end_ns = kOpenEnd});
    for (uint32_t i = 0; i < 2; ++i) {
      store.threads.Append({.process = ProcessId::At(0),
                            .tid = 4000 + i,
                            .name = texts_[i],
                            .end_ns = kOpenEnd,
                            .priority = static_cast<int32_t>(i)});
    }
    store.VisitTables([&](auto& table) { Fill(table); });
  }

 private:
  template <typename StoreTable>
  void Fill(StoreTable& table) {
    const bool is_in_both =
        StoreTable::kName == "runtime_events" || StoreTable::kName == "os_calls";
    if (nsys::IsOwnTable(StoreTable::kName) && !is_in_both) return;
    if (StoreTable::kName.starts_with("nvtx")) return;
    for (size_t row = 0; row < kRows; ++row) {
      typename StoreTable::RowType blank;
      table.Append(blank);
      size_t place = 0;
      table.VisitColumns([&](std::string_view name, std::string_view, auto& values) {
        values[row] =
            ValueFor<typename std::decay_t<decltype(values)>::value_type>(name, row, ++place);
      });
      if constexpr (requires { table.start_ns; }) {
        table.start_ns[row] = static_cast<int64_t>(1000 * (row + 1));
        if constexpr (requires { table.end_ns; }) table.end_ns[row] = table.start_ns[row] + 500;
      }
      Adjust(table, row);
    }
  }

  template <typename Value>
  Value ValueFor(std::string_view, size_t row, size_t place) {
    const size_t number = row * 11 + place;
    if constexpr (std::is_same_v<Value, StringId>)
      return texts_[number % texts_.size()];
    else if constexpr (std::is_same_v<Value, ThreadId>)
      return ThreadId::At(row / (kRows / 2));
    else if constexpr (std::is_same_v<Value, ProcessId>)
      return ProcessId::At(0);
    else if constexpr (requires(Value v) { v.IsNone(); })
      return Value::None();
    else
      return static_cast<Value>(number);
  }

  // Columns whose values must fit together.
  template <typename StoreTable>
  void Adjust(StoreTable&, size_t) {}
  void Adjust(KernelsTable& table, size_t row) { table.launch[row] = KernelLaunchId::At(row); }
  void Adjust(MemcpysTable& table, size_t row) {
    table.copy_kind[row] = CopyKind::kUnifiedHostToDevice;
  }
  void Adjust(UmTransfersTable& table, size_t row) { table.memcpy_row[row] = MemcpyId::At(row); }
  void Adjust(SynchronizationsTable& table, size_t row) {
    table.sync_type[row] = static_cast<SyncType>(row % 5);
  }
  void Adjust(GpusTable& table, size_t row) {
    table.max_threads_per_sm[row] = table.warp_threads[row] * 3;
  }
  void Adjust(OsCallsTable& table, size_t row) {
    table.event_class[row] = variant_ % 2 == 0 ? EventClass::kOsRuntime : EventClass::kSystemCall;
    if (variant_ % 2 == 1) table.result[row] = 0;  // nsys keeps none
  }
  void Adjust(RuntimeEventsTable& table, size_t row) {
    table.family[row] = variant_ % 2 == 0 ? RuntimeFamily::kCudnn : RuntimeFamily::kCublas;
  }
  void Adjust(MpiEventsTable& table, size_t row) {
    table.kind[row] = static_cast<MpiKind>(variant_ % 4);
  }

  Store& store_;
  size_t variant_;
  std::vector<StringId> texts_;
};

class NsysRoundTripTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              ("batchlight_round_trip_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    path_ = (folder_ / "export.sqlite").string();
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void Export(const Store& store) {
    ExportOptions options;
    options.output = path_;
    const auto rows = ExportSqlite(store, options);
    ASSERT_TRUE(rows.ok()) << rows.status().message();
  }
  void Sql(const std::string& text) {
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &handle), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(handle, text.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(handle);
    sqlite3_close(handle);
  }

  std::filesystem::path folder_;
  std::string path_;
};

// Compares the members that the columns of a table name.
class MemberCheck {
 public:
  MemberCheck(const Store& before, const Store& after) : before_(before), after_(after) {}
  size_t columns() const { return columns_; }

  template <typename... Columns>
  void Table(const nsys::Table<Columns...>& table) {
    table.VisitColumns([&](const auto& column) { Column(table.name, column); });
  }

 private:
  template <auto kMember>
  void Column(std::string_view table, const nsys::Field<kMember>& field) {
    Compare<kMember>(table, field.column);
  }
  template <auto kMember>
  void Column(std::string_view table, const nsys::NullField<kMember>& field) {
    Compare<kMember>(table, field.column);
  }
  template <auto kMember>
  void Column(std::string_view table, const nsys::TextField<kMember>& field) {
    Compare<kMember>(table, field.column);
  }
  template <auto kMember, int64_t kFactor>
  void Column(std::string_view table, const nsys::ScaledField<kMember, kFactor>& field) {
    Compare<kMember>(table, field.column);
  }
  template <auto kThread, auto kProcess>
  void Column(std::string_view table, const nsys::ThreadOrProcess<kThread, kProcess>& field) {
    Compare<kThread>(table, field.column);
    Compare<kProcess>(table, field.column);
  }
  template <typename Other>
  void Column(std::string_view, const Other&) {}

  template <auto kMember>
  void Compare(std::string_view table, nsys::Spelling column) {
    using Row = typename nsys::MemberTraits<kMember>::Row;
    before_.VisitTables([&](const auto& old_rows) {
      using StoreTable = std::decay_t<decltype(old_rows)>;
      if constexpr (std::is_same_v<typename StoreTable::RowType, Row>) {
        CompareRows<kMember>(old_rows, TableOf<StoreTable>(after_), table, column);
      }
    });
  }
  template <auto kMember, typename StoreTable>
  void CompareRows(const StoreTable& before, const StoreTable& after, std::string_view table,
                   nsys::Spelling column) {
    ASSERT_EQ(after.size(), before.size()) << table;
    ++columns_;
    for (size_t row = 0; row < before.size(); ++row) {
      EXPECT_EQ(Comparable(before_, before.Row(row).*kMember),
                Comparable(after_, after.Row(row).*kMember))
          << table << "." << column.name() << ", row " << row;
    }
  }
  template <typename StoreTable>
  static const StoreTable& TableOf(const Store& store) {
    const StoreTable* found = nullptr;
    store.VisitTables([&](const auto& table) {
      if constexpr (std::is_same_v<std::decay_t<decltype(table)>, StoreTable>) found = &table;
    });
    return *found;
  }
  template <typename Value>
  static auto Comparable(const Store& store, Value value) {
    if constexpr (std::is_same_v<Value, StringId>)
      return store.Text(value);
    else if constexpr (requires { value.value; })
      return value.value;
    else if constexpr (std::is_enum_v<Value>)
      return Number(value);
    else
      return value;
  }

  const Store& before_;
  const Store& after_;
  size_t columns_ = 0;
};

TEST_F(NsysRoundTripTest, EveryDeclaredColumnComesBack) {
  constexpr std::string_view kMpi[] = {"MPI_P2P_EVENTS", "MPI_COLLECTIVES_EVENTS",
                                       "MPI_START_WAIT_EVENTS", "MPI_OTHER_EVENTS"};
  for (size_t variant = 0; variant < 4; ++variant) {
    Store store;
    StoreFiller(store, variant);
    Export(store);
    const auto again = ImportNsysSqlite(path_);
    ASSERT_TRUE(again.ok()) << again.status().message();
    MemberCheck check(store, again.value());
    nsys::VisitSchema([&](const auto& table) {
      if (table.name.starts_with("MPI_") && table.name != kMpi[variant]) return;
      check.Table(table);
    });
    EXPECT_GT(check.columns(), 120u);
  }
}

TEST_F(NsysRoundTripTest, RangesKeepMessagesPayloadsAndThreads) {
  Store store;
  StoreFiller(store, 0);
  const StringId text = store.strings.Intern("forward");
  store.nvtx_domains.Append(
      {.process = ProcessId::At(0), .name = store.strings.Intern("torch"), .native_id = 7});
  store.nvtx_payload_blobs.Append(
      {.schema_id = 9, .bytes = store.strings.Intern("abc"), .full_byte_count = 3});
  for (const auto type : {NvtxPayloadType::kNone, NvtxPayloadType::kUint64, NvtxPayloadType::kInt64,
                          NvtxPayloadType::kDouble, NvtxPayloadType::kUint32,
                          NvtxPayloadType::kInt32, NvtxPayloadType::kFloat}) {
    const auto row = static_cast<int64_t>(store.nvtx_attributes.size());
    store.nvtx_attributes.Append({.category = 3,
                                  .color = 0xff00ff00,
                                  .has_color = YesNo::kYes,
                                  .payload_type = type,
                                  .payload = type == NvtxPayloadType::kNone ? 0u : 0x40490fdbu,
                                  .blob_begin = 0,
                                  .blob_count = 1});
    store.nvtx_ranges.Append({.start_ns = 100 * row,
                              .end_ns = row == 6 ? kOpenEnd : 100 * row + 50,
                              .thread = ThreadId::At(0),
                              .end_thread = ThreadId::At(row % 2 == 0 ? 0 : 1),
                              .domain = NvtxDomainId::At(0),
                              .message = text,
                              .attributes = NvtxAttributesId::At(store.nvtx_attributes.size() - 1),
                              .style = row % 2 == 0 ? NvtxStyle::kPushPop : NvtxStyle::kStartEnd,
                              .registered = ToYesNo(row > 3)});
  }
  Export(store);
  const auto again = ImportNsysSqlite(path_);
  ASSERT_TRUE(again.ok()) << again.status().message();
  const Store& after = again.value();
  ASSERT_EQ(after.nvtx_ranges.size(), store.nvtx_ranges.size());
  EXPECT_EQ(after.Text(after.nvtx_domains.name[0]), "torch");
  for (size_t row = 0; row < store.nvtx_ranges.size(); ++row) {
    const NvtxRangesRow a = store.nvtx_ranges.Row(row);
    const NvtxRangesRow b = after.nvtx_ranges.Row(row);
    EXPECT_EQ(a.start_ns, b.start_ns);
    EXPECT_EQ(a.end_ns, b.end_ns);
    EXPECT_EQ(a.thread, b.thread);
    EXPECT_EQ(a.end_thread, b.end_thread);
    EXPECT_EQ(a.style, b.style);
    EXPECT_EQ(a.registered, b.registered);
    EXPECT_EQ(after.Text(b.message), "forward");
    const NvtxAttributesRow c = store.nvtx_attributes.Row(a.attributes.row());
    const NvtxAttributesRow d = after.nvtx_attributes.Row(b.attributes.row());
    EXPECT_EQ(c.category, d.category);
    EXPECT_EQ(c.color, d.color);
    EXPECT_EQ(c.payload_type, d.payload_type);
    EXPECT_EQ(c.payload, d.payload) << Label(c.payload_type);
    ASSERT_EQ(d.blob_count, 1u);
    EXPECT_EQ(after.Text(after.nvtx_payload_blobs.bytes[d.blob_begin]), "abc");
  }
}

TEST_F(NsysRoundTripTest, ColumnsMayBeMissingAndUnknownOnesMayBeThere) {
  Store store;
  StoreFiller(store, 0);
  Export(store);
  Sql("ALTER TABLE CUPTI_ACTIVITY_KIND_MEMSET DROP COLUMN memKind;"
      "ALTER TABLE CUPTI_ACTIVITY_KIND_MEMSET ADD COLUMN fromTheFuture INTEGER;"
      "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN clusterX;");
  const auto again = ImportNsysSqlite(path_);
  ASSERT_TRUE(again.ok()) << again.status().message();
  const Store& after = again.value();
  ASSERT_EQ(after.memsets.size(), kRows);
  EXPECT_EQ(after.memsets.memory_kind[0], MemoryKind::kUnknown);
  EXPECT_EQ(after.memsets.bytes[1], store.memsets.bytes[1]);
  EXPECT_EQ(after.kernel_launches.cluster_x[0], 0u);
  std::vector<std::string_view> reasons;
  for (const StringId text : after.reasons.text) reasons.push_back(after.Text(text));
  EXPECT_EQ(reasons, std::vector<std::string_view>{
                         "table CUPTI_ACTIVITY_KIND_MEMSET has no column memKind: what they hold "
                         "is taken as absent"});
}

TEST_F(NsysRoundTripTest, MetricsOfGpusAreWholeNumbersForNsysAndInFullForUs) {
  Store store;
  const StringId active = store.strings.Intern("SMs Active");
  const StringId clock = store.strings.Intern("GPC Clock Frequency");
  const StringId percent = store.strings.Intern("Throughput %");
  store.gpu_metrics.Append({.device = 1,
                            .metric = active,
                            .unit = percent,
                            .source = GpuMetricSource::kCounters,
                            .interval_ns = 100});
  store.gpu_metrics.Append({.device = 1, .metric = clock});
  const auto sample = [&](int64_t at, StringId metric, double value) {
    store.gpu_metric_samples.Append(
        {.start_ns = at, .device = 1, .metric = metric, .value = value});
  };
  sample(100, active, 41.7);
  sample(100, clock, 1980e6);
  sample(200, active, 99.2);
  sample(200, clock, std::numeric_limits<double>::infinity());
  Export(store);
  auto own = ImportNsysSqlite(path_, false);
  ASSERT_TRUE(own.ok()) << own.status().message();
  EXPECT_EQ(own->gpu_metric_samples.value[0], 41.7);
  Sql("DROP TABLE BATCHLIGHT_GPU_METRIC_SAMPLES; DROP TABLE BATCHLIGHT_GPU_METRICS");
  auto read = ImportNsysSqlite(path_, false);
  ASSERT_TRUE(read.ok()) << read.status().message();
  ASSERT_EQ(read->gpu_metrics.size(), 2u);
  EXPECT_EQ(read->Text(read->gpu_metrics.metric[0]), "SMs Active");
  EXPECT_EQ(read->Text(read->gpu_metrics.unit[0]), "Throughput %");
  EXPECT_EQ(read->Text(read->gpu_metrics.unit[1]), "");
  EXPECT_EQ(read->gpu_metrics.device[0], 1u);
  const GpuMetricSamplesTable& samples = read->gpu_metric_samples;
  ASSERT_EQ(samples.size(), 4u);
  EXPECT_EQ(samples.value, (std::vector<double>{42, 1980e6, 99, 0}));
  EXPECT_EQ(samples.start_ns, (std::vector<int64_t>{100, 100, 200, 200}));
  EXPECT_EQ(read->Text(samples.metric[1]), "GPC Clock Frequency");
}

}  // namespace
}  // namespace batchlight
