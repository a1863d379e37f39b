// Hardware counters from records to tables.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "ingest/decode/stall_samples.h"
#include "ingest/dump/trace_text.h"
#include "ingest/recording/recording.h"

namespace batchlight {
namespace {

class CountersTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/bl_counters_XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Store Read(std::string_view text) {
    const auto files = AssembleRecording(text);
    EXPECT_TRUE(files.ok()) << files.status().message();
    const std::string live = folder_ + "/a.batchlight.live";
    EXPECT_TRUE(files.ok() && WriteLiveFolder(files.value(), live).ok());
    Result<Store> store = ReadRecording(live);
    EXPECT_TRUE(store.ok()) << store.status().message();
    return store.ok() ? std::move(store).value() : Store();
  }

  std::string folder_;
};

constexpr char kTool[] =
    "chunk pid=0 tid=1 thread=0 attach_ns=0 clock=monotonic base_ticks=1000 base_ns=1000\n"
    "+0 ClockSync monotonic_ns=1000 realtime_ns=1700000000000001000\n";

std::string Floats(std::initializer_list<float> values) {
  std::string text;
  for (const float value : values) {
    unsigned char bytes[4];
    std::memcpy(bytes, &value, 4);
    for (const unsigned char byte : bytes) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\x%02x", byte);
      text += escaped;
    }
  }
  return '"' + text + '"';
}

TEST_F(CountersTest, RangesAndTheirValues) {
  const Store store = Read(
      std::string(kTool) +
      "chunk pid=41 tid=41 thread=0 attach_ns=1500 clock=monotonic base_ticks=2000 base_ns=2000\n"
      "+700 CounterRange ticks=500 range=3 device=1 context=2 kernels=0 iteration=9 "
      "counter_set=\"memory\" switch_ns=77\n"
      "chunk pid=41 tid=42 thread=1 attach_ns=1500 clock=monotonic base_ticks=2000 base_ns=2000\n"
      "+900 CounterValue range=3 kernel=0 metric=\"dram__bytes_read.sum\" value=1.5\n"
      "+900 CounterValue range=3 kernel=2 metric=\"dram__bytes_read.sum\" value=4\n");
  ASSERT_EQ(store.counter_ranges.size(), 1u);
  const CounterRangesRow range = store.counter_ranges.Row(0);
  EXPECT_EQ(range.end_ns, 1700);
  EXPECT_EQ(range.start_ns, 1200);
  EXPECT_EQ(range.process, ProcessId::At(0));
  EXPECT_EQ(range.device, 1u);
  EXPECT_EQ(range.range, 3u);
  EXPECT_EQ(range.iteration, 9u);
  EXPECT_EQ(range.switch_ns, 77);
  EXPECT_EQ(store.Text(range.counter_set), "memory");
  ASSERT_EQ(store.counter_values.size(), 2u);
  EXPECT_EQ(store.counter_values.value[0], 1.5);
  EXPECT_EQ(store.counter_values.launch[1], 2u);
  EXPECT_EQ(store.Text(store.counter_values.metric[1]), "dram__bytes_read.sum");
}

TEST_F(CountersTest, ARangeThatIsLongerThanTheRecording) {
  const Store store = Read(
      std::string(kTool) +
      "chunk pid=41 tid=41 thread=0 attach_ns=1500 clock=monotonic base_ticks=2000 base_ns=2000\n"
      "+700 CounterRange ticks=18446744073709551615 range=1\n");
  ASSERT_EQ(store.counter_ranges.size(), 1u);
  EXPECT_GE(store.counter_ranges.start_ns[0], 0);
  EXPECT_LE(store.counter_ranges.start_ns[0], store.counter_ranges.end_ns[0]);
}

TEST_F(CountersTest, SampledInstructions) {
  const Store store = Read(
      std::string(kTool) +
      "+0 GpuInstruction cubin=77 offset=16 function=\"_Z5scalePf\" text=\"LDG.E R2, [R2.64]\" "
      "file=\"/home/me/scale.cu\" line=4\n"
      "+0 GpuInstruction cubin=78 offset=32 function=\"_Z5scalePf\" text=\"EXIT\"\n"
      "chunk pid=41 tid=41 thread=0 attach_ns=1500 clock=monotonic base_ticks=2000 base_ns=2000\n"
      "+700 StallWindow ticks=500 window=2 device=1 context=3 period_log2=11 iteration=9 "
      "switch_ns=44 flags=1 modules_unloaded=1\n"
      "+900 StallSample window=2 function=\"_Z5scalePf\" reason=\"wait\" samples=40 cubin=77 "
      "offset=16 correlation=8\n"
      "+900 StallSample window=2 function=\"_Z5scalePf\" reason=\"wait\" samples=2 cubin=77 "
      "offset=16 correlation=9\n"
      "+900 StallSample window=2 function=\"_Z5scalePf\" reason=\"wait\" samples=8 cubin=77 "
      "offset=32\n"
      "+900 StallTotals window=2 flags=1 samples=60 dropped=5 foreign=7\n"
      // Nonsense.
      "+900 StallWindow ticks=1 window=4 period_log2=4000000000 switch_ns=18446744073709551615\n"
      "+900 StallSample window=9 samples=4294967295 reason=\"wait\"\n"
      "+900 StallSample window=9 samples=4294967295 reason=\"wait\"\n");
  ASSERT_EQ(store.counter_ranges.size(), 2u) << "steps that are like no others";
  EXPECT_EQ(store.Text(store.counter_ranges.counter_set[0]), kSerializedStalls);
  EXPECT_EQ(store.counter_ranges.start_ns[0], 1200);
  EXPECT_EQ(store.counter_ranges.iteration[0], 9u);

  const Result<StallSamples> read = ReadStallSamples(folder_ + "/a.batchlight.live");
  ASSERT_TRUE(read.ok()) << read.status().message();
  ASSERT_EQ(read->windows.size(), 2u);
  const StallWindow& window = read->windows[0];
  EXPECT_EQ(window.pid, 41u);
  EXPECT_EQ(window.length_ns, 500);
  EXPECT_EQ(window.period_cycles, 2048u);
  EXPECT_EQ(window.samples, 60u);
  EXPECT_EQ(window.dropped, 5u);
  EXPECT_EQ(window.foreign, 7u);
  EXPECT_TRUE(window.serialized && window.buffer_full && window.is_whole);
  EXPECT_EQ(window.modules_unloaded, 1u);
  EXPECT_EQ(read->windows[1].period_cycles, 0u);
  EXPECT_FALSE(read->windows[1].is_whole);
  ASSERT_EQ(read->samples.size(), 3u);
  const auto name = [&read](uint32_t id) { return read->names[id]; };
  const StallSample& first = read->samples[1];
  EXPECT_EQ(name(first.function), "_Z5scalePf");
  EXPECT_EQ(name(first.reason), "wait");
  EXPECT_EQ(name(first.instruction), "LDG.E R2, [R2.64]");
  EXPECT_EQ(name(first.file), "/home/me/scale.cu");
  EXPECT_EQ(first.line, 4u);
  EXPECT_EQ(first.samples, 42u) << "of two launches";
  EXPECT_EQ(read->samples[2].offset, 32u);
  EXPECT_EQ(read->samples[2].instruction, 0u) << "of other code";
  EXPECT_EQ(read->samples[0].samples, UINT32_MAX);
}

TEST_F(CountersTest, SamplesOfTwoGpus) {
  const std::string metrics =
      "+1 GpuMetric id=1 device=0 uuid=\"a-b\" name=\"sm\" unit=\"%\" source=1 interval_ns=1000\n"
      "+1 GpuMetric id=2 device=0 uuid=\"a-b\" name=\"dram\" unit=\"%\" source=1 interval_ns=1000\n"
      "+1 GpuMetric id=3 device=1 uuid=\"c-d\" name=\"sm\" unit=\"%\" source=1 interval_ns=1000\n";
  const Store store =
      Read(std::string(kTool) + metrics +
           "+2 GpuMetricSample start_ns=3000 first_metric=1 bytes=" + Floats({50, 25}) + "\n" +
           "+2 GpuMetricSample start_ns=2000 first_metric=3 bytes=" + Floats({7}) + "\n" +
           "chunk pid=0 tid=1 thread=0 index=1 attach_ns=0 clock=monotonic base_ticks=9000 "
           "base_ns=9000\n" +
           metrics + "+2 GpuMetricSample start_ns=8000 first_metric=1 bytes=" +
           Floats({1, __builtin_nanf("")}) + "\n" +
           // More values than metrics, an unknown metric, half a value.
           "+3 GpuMetricSample start_ns=8100 first_metric=3 bytes=" + Floats({2, 3}) + "\n" +
           "+3 GpuMetricSample start_ns=8200 first_metric=9 bytes=" + Floats({2}) + "\n" +
           "+3 GpuMetricSample start_ns=8300 first_metric=1 bytes=\"abc\"\n");
  EXPECT_EQ(store.gpu_metrics.size(), 3u) << "each chunk defines them again";
  EXPECT_EQ(store.Text(store.gpu_metrics.uuid[2]), "c-d");
  EXPECT_EQ(store.gpu_metrics.source[0], GpuMetricSource::kCounters);
  const GpuMetricSamplesTable& samples = store.gpu_metric_samples;
  ASSERT_EQ(samples.size(), 5u);
  EXPECT_EQ(samples.start_ns, (std::vector<int64_t>{1000, 2000, 2000, 7000, 7100}));
  EXPECT_EQ(samples.value, (std::vector<double>{7, 50, 25, 1, 2}));
  EXPECT_EQ(samples.device, (std::vector<uint32_t>{1, 0, 0, 0, 1}));
}

}  // namespace
}  // namespace batchlight
