// Goldens: tests/recordings/<name>.txt is a recording as text, <name>.store the tables that it must
// give. A dump must reproduce the former; UPDATE_GOLDEN=1 rewrites the latter.
#include "ingest/recording/recording.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <sstream>

#include "base/file.h"
#include "format/records.h"
#include "ingest/dump/trace_text.h"
#include "tests/support/store_text.h"

namespace batchlight {
namespace {

class RecordingTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/bl_recording_XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Assemble(std::string_view text) {
    const auto files = AssembleRecording(text);
    EXPECT_TRUE(files.ok()) << files.status().message();
    const std::string live = folder_ + "/a.batchlight.live";
    std::filesystem::remove_all(live);
    EXPECT_TRUE(files.ok() && WriteLiveFolder(files.value(), live).ok());
    return live;
  }

  Store Read(std::string_view text) {
    Result<Store> store = ReadRecording(Assemble(text));
    EXPECT_TRUE(store.ok()) << store.status().message();
    return store.ok() ? std::move(store).value() : Store();
  }

  std::string folder_;
};

std::string Dump(const std::string& path) {
  std::string text;
  const Status status = DumpRecording(path, {}, [&](std::string_view lines) {
    text += lines;
    return Status();
  });
  EXPECT_TRUE(status.ok()) << status.message();
  return text;
}

// Without comment lines and with the defaults of chunk lines as they are.
std::string WithoutComments(std::string_view text) {
  std::istringstream in{std::string(text)};
  std::string kept;
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with('#') && !line.empty()) kept += line + '\n';
  }
  return kept;
}

TEST_F(RecordingTest, Goldens) {
  const std::string recordings = std::string(BATCHLIGHT_SOURCE_DIR) + "/tests/recordings";
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(recordings)) {
    if (entry.path().extension() != ".txt") continue;
    ++count;
    SCOPED_TRACE(entry.path().filename().string());
    const std::string text = ReadWholeFile(entry.path()).value();
    const std::string live = Assemble(text);
    const std::string dump = Dump(live);
    // Text to bytes to text: the second round changes nothing.
    EXPECT_EQ(dump, Dump(Assemble(dump)));

    Result<Store> store = ReadRecording(Assemble(text));
    ASSERT_TRUE(store.ok());
    const std::string found = testing_support::StoreText(store.value());
    const std::string expected_path =
        std::filesystem::path(entry.path()).replace_extension("store");
    if (std::getenv("UPDATE_GOLDEN") != nullptr) {
      ASSERT_TRUE(WriteWholeFile(expected_path, found).ok());
    }
    EXPECT_EQ(found, ReadWholeFile(expected_path).value());
  }
  EXPECT_GE(count, 3);
}

TEST_F(RecordingTest, DumpGivesBackWhatWasAssembled) {
  const std::string text =
      "chunk pid=7 tid=9 thread=2 index=3 capture=1 attach_ns=5 clock=tsc base_ticks=10 "
      "base_ns=20 end_ticks=30 end_ns=40 ticks_per_second=50\n"
      "+1 RangePush message=\"a b\"\n"
      "+2 PayloadBlob schema_id=7 full_byte_count=3 bytes=\"\\x00\\xff\\\"\"\n"
      "+3 Unknown kind=200 bytes=\"12345678\"\n";
  EXPECT_EQ(WithoutComments(Dump(Assemble(text))), text);
}

// A process that was killed cannot say so, but the parent that reaped it does. If several processes
// had that pid, the parent means the last one before then.
TEST_F(RecordingTest, ParentsSayHowTheirChildrenEnded) {
  const Store store = Read(
      "chunk pid=0 tid=1 attach_ns=0 clock=monotonic base_ticks=1 base_ns=1\n"
      "+1 ProcessStatus pid=8 known=0 wait_status=0 attach_ns=20 end_ns=90\n"
      "chunk pid=7 tid=7 attach_ns=10 clock=monotonic base_ticks=10 base_ns=10\n"
      "+0 ProcessStart parent_pid=1 start_ns=10\n"
      "+40 ProcessStatus pid=8 known=1 wait_status=9 attach_ns=0 end_ns=50\n"
      "+70 ProcessStatus pid=8 known=1 wait_status=768 attach_ns=0 end_ns=80\n"
      "+71 ProcessStatus pid=9 known=1 wait_status=0 attach_ns=0 end_ns=81\n"
      "chunk pid=8 tid=8 attach_ns=20 clock=monotonic base_ticks=20 base_ns=20\n"
      "+0 ProcessStart parent_pid=7 start_ns=20\n"
      "chunk pid=8 tid=8 attach_ns=60 clock=monotonic base_ticks=60 base_ns=60\n"
      "+0 ProcessStart parent_pid=7 start_ns=60\n");
  const ProcessesTable& processes = store.processes;
  ASSERT_EQ(processes.size(), 3u);
  EXPECT_EQ(processes.exit_signal[1], 9);
  EXPECT_EQ(processes.exit_code[2], 3);
  EXPECT_EQ(processes.exit_code[0], -1);  // nobody said
}

// A child that a filter of system calls killed right after its fork has no file: its parent alone
// saw it.
TEST_F(RecordingTest, ParentsSayWhichChildrenAFilterKilled) {
  const Store store = Read(
      "chunk pid=7 tid=7 attach_ns=10 clock=monotonic base_ticks=10 base_ns=10\n"
      "+0 ProcessStart parent_pid=1 start_ns=10\n"
      "+40 ProcessStatus pid=8 known=1 wait_status=9 attach_ns=0 end_ns=50\n"
      "+50 ProcessStatus pid=9 known=1 wait_status=31 attach_ns=0 end_ns=60\n"
      "+60 ProcessStatus pid=10 known=1 wait_status=31 attach_ns=0 end_ns=70\n");
  ASSERT_EQ(store.reasons.size(), 1u);
  EXPECT_EQ(store.Text(store.reasons.text[0]).substr(0, 20), "process 9 was killed");
}

// A long thread, cut into many chunks, must give the same calls as one chunk would.
TEST_F(RecordingTest, ChunksOfAThreadJoin) {
  const std::string head = "chunk pid=7 tid=7 attach_ns=1 clock=monotonic ";
  std::string text = head + "base_ticks=0 base_ns=0\n+1 RangePush message=\"outer\"\n";
  constexpr int kChunks = 40;
  const std::string filler(20000, 'x');  // makes chunks large enough for many tasks
  for (int i = 1; i <= kChunks; ++i) {
    const std::string base = std::to_string(i * 100);
    text += head + "base_ticks=" + base + " base_ns=" + base + "\n";
    text += "+0 Property key=\"filler\" value=\"" + filler + std::to_string(i) + "\"\n";
    text += i % 2 == 1 ? "+1 RangePush message=\"odd\"\n" : "+1 RangePop\n";
    text += "+2 RangePush message=\"in\"\n+3 RangePop\n";
  }
  text += head + "base_ticks=5000 base_ns=5000\n+1 RangePop\n+2 RangePop\n";
  const Store store = Read(text);
  const NvtxRangesTable& ranges = store.nvtx_ranges;
  ASSERT_EQ(ranges.size(), 1u + kChunks / 2 + kChunks);
  EXPECT_EQ(ranges.end_ns[0], 5001 - 1 + 0);
  for (size_t row = 1; row < ranges.size(); ++row) {
    const std::string_view message = store.Text(ranges.message[row]);
    const size_t parent = ranges.parent[row].row();
    ASSERT_FALSE(ranges.parent[row].IsNone()) << row;
    ASSERT_NE(ranges.end_ns[row], kOpenEnd);
    EXPECT_LE(ranges.start_ns[parent], ranges.start_ns[row]);
    EXPECT_GE(ranges.end_ns[parent], ranges.end_ns[row]);
    EXPECT_EQ(ranges.depth[row], ranges.depth[parent] + 1);
    if (message == "odd") {
      EXPECT_EQ(ranges.end_ns[row] - ranges.start_ns[row], 100);
    }
  }
  ASSERT_EQ(store.losses.size(), 1u);
  EXPECT_EQ(store.losses.counter[0], static_cast<uint32_t>(format::Counter::kPopsUnbalanced));
  EXPECT_EQ(store.losses.value[0], 1u);
}

// The file of an import may come many chunks after its begin: its own imports lie between.
TEST_F(RecordingTest, FilesOfImportsThatBeganInAnotherChunk) {
  const std::string head = "chunk pid=7 tid=7 attach_ns=1 clock=monotonic ";
  const std::string filler(20000, 'x');  // makes chunks large enough for many tasks
  constexpr int kDepth = 30;
  std::string text;
  int chunks = 0;
  int ticks = 0;
  const auto add = [&](const std::string& record) {
    text += '+' + std::to_string(++ticks) + ' ' + record + '\n';
  };
  const auto begin_chunk = [&] {
    const std::string base = std::to_string(++chunks * 100);
    text += head + "base_ticks=" + base + " base_ns=" + base + '\n';
    ticks = 0;
    add("Property key=\"filler\" value=\"" + filler + base + '"');
  };
  for (int i = 0; i < kDepth; ++i) {
    begin_chunk();
    add("PhaseBegin phase=14 name=\"m" + std::to_string(i) + '"');
  }
  for (int i = kDepth; i-- > 0;) {
    if (i % 3 == 0) begin_chunk();  // several ends in a chunk
    const std::string name = std::to_string(i);
    add("ImportedFile file=\"lib" + name + ".so\"");
    add("ImportedFile file=\"m" + name + ".py\" bytes=" + name);
    add("PhaseEnd");
  }
  add("ImportedFile file=\"of nothing\"");
  const Store store = Read(text);
  const ImportedFilesTable& files = store.imported_files;
  ASSERT_EQ(files.size(), 2u * kDepth + 1);
  std::set<std::string> told;
  for (size_t row = 0; row < files.size(); ++row) {
    const PhaseCallId call = files.phase_call[row];
    const std::string name(call.IsNone() ? "" : store.Text(store.phase_calls.name[call.row()]));
    told.insert(name + ": " + std::string(store.Text(files.file[row])) + ' ' +
                std::to_string(files.bytes[row]));
  }
  std::set<std::string> expected = {": of nothing 0"};
  for (int i = 0; i < kDepth; ++i) {
    const std::string name = std::to_string(i);
    expected.insert("m" + name + ": lib" + name + ".so 0");
    expected.insert("m" + name + ": m" + name + ".py " + name);
  }
  EXPECT_EQ(told, expected);
}

// What is new of a run that goes on: chunks that were finished before are not opened, whatever they
// hold, but the first of each thread for what it says of the process.
TEST_F(RecordingTest, ReadsWhatIsNew) {
  const auto chunk = [](int index, int base, bool closed) {
    std::string line = "chunk pid=5 tid=5 index=" + std::to_string(index) +
                       " attach_ns=0 clock=monotonic base_ticks=" + std::to_string(base) +
                       " base_ns=" + std::to_string(base);
    if (closed) {
      line += " end_ticks=" + std::to_string(base + 90) + " end_ns=" + std::to_string(base + 90);
    }
    return line + "\n";
  };
  const std::string text =
      chunk(0, 100, true) +
      "+0 ProcessStart parent_pid=1 executable=\"/bin/trainer\" command_line=\"/bin/trainer\"\n"
      "+1 OpBegin name=\"first\"\n+2 OpEnd\n" +
      "+3 ThreadName tid=5 name=\"loop\"\n" + chunk(1, 200, true) +
      "+1 OpBegin name=\"old\"\n+2 OpEnd\n+3 OpBegin name=\"goes on\"\n" + chunk(2, 300, true) +
      "+1 OpBegin name=\"new\"\n+2 OpEnd\n+3 OpEnd\n" + chunk(3, 400, false) +
      "+1 OpBegin name=\"newest\"\n";
  const std::string live = Assemble(text);
  const auto names = [](const Store& store) {
    std::vector<std::string> texts;
    for (const StringId name : store.operator_calls.name) texts.emplace_back(store.Text(name));
    return texts;
  };
  const Result<Store> all = ReadRecording(live);
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(names(all.value()),
            (std::vector<std::string>{"first", "old", "goes on", "new", "newest"}));
  const Result<Store> newer = ReadRecording(live, {.since_ns = 300});
  ASSERT_TRUE(newer.ok());
  const Store& found = newer.value();
  EXPECT_EQ(names(found), (std::vector<std::string>{"new", "newest"}));
  EXPECT_EQ(found.operator_calls.start_ns, (std::vector<int64_t>{301, 401}));
  EXPECT_EQ(found.Text(found.threads.name[0]), "loop");
  EXPECT_EQ(found.threads.start_ns, all.value().threads.start_ns);
  EXPECT_EQ(found.processes.start_ns, all.value().processes.start_ns);
  EXPECT_EQ(found.Text(found.processes.executable[0]), "/bin/trainer");
}

}  // namespace
}  // namespace batchlight
