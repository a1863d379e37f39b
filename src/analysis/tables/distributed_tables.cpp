// Tables of ranks, collectives and launch queues; declared in overview_tables.h.
#include "analysis/result/result_column.h"
#include "analysis/tables/overview_tables.h"
#include "analysis/tables/parts_of_rows.h"

namespace batchlight {
namespace {

// Of the GPU over the steps that have a window there; no value where none has.
constexpr SumRule MeanOfWindows(std::string_view key) { return RatioOf(key, "windows"); }
auto OnGpu(double RankRow::*ns) {
  return [ns](const RankRow& row) { return row.has_windows ? NanosecondsCell(row.*ns) : Cell{}; };
}

Columns<RankRow> RankColumns(const Store& store) {
  using Row = RankRow;
  return {
      {CountColumn("rank", "Rank", ""), [](const Row& row) { return RankCell(row.rank); }},
      {CountColumn("pid", "PID", "Process"),
       [&store](const Row& row) { return NumberCell(store.processes.pid[row.process.row()]); }},
      {CountColumn("device", "Device", "CUDA ordinal"),
       [](const Row& row) { return row.has_gpu ? Cell{int64_t{row.device}} : Cell{}; }},
      {Summed(RatioOf("step_ns", "steps"),
              TimeColumn("step", "Step", "Mean over the steps that count; so are the others")),
       Nanoseconds(&Row::step_ns)},
      {Summed(MeanOfWindows("compute_ns"),
              TimeColumn("compute", "Compute", "GPU: kernels other than communication")),
       OnGpu(&Row::compute_ns)},
      {Summed(MeanOfWindows("communication_ns"),
              TimeColumn("communication", "Communication",
                         "GPU: exposed, nothing computes meanwhile")),
       OnGpu(&Row::exposed_communication_ns)},
      {Summed(MeanOfWindows("hidden_ns"),
              TimeColumn("hidden", "Hidden", "GPU: communication that computing hides")),
       OnGpu(&Row::hidden_communication_ns)},
      {Summed(MeanOfWindows("copies_ns"),
              TimeColumn("copies", "Copies", "GPU: copies and sets, exposed")),
       OnGpu(&Row::copies_ns)},
      {Summed(MeanOfWindows("idle_ns"), TimeColumn("idle", "Idle", "GPU: nothing runs")),
       OnGpu(&Row::idle_ns)},
      {Summed(RatioOf("waited_ns", "steps"),
              TimeColumn("waited", "Waited",
                         "Of communication: for slower ranks; kernel - shortest kernel of the same "
                         "call on any rank; empty: no such kernels")),
       [](const Row& row) { return row.knows_waits ? NanosecondsCell(row.waited_ns) : Cell{}; }}};
}

// Which sums of a row its numbers are made from: of the whole run, or of the steps that count.
using TimesOfRow = CollectiveTimes CollectiveRow::*;

std::optional<double> Evaluated(const SumRule& rule, const CollectiveRow& row, TimesOfRow times) {
  return Evaluate(rule, PartsOf(row, {&(row.*times), 1}));
}
auto TimeByRule(const SumRule& rule, TimesOfRow times) {
  return [rule, times](const CollectiveRow& row) {
    const std::optional<double> value = Evaluated(rule, row, times);
    return value ? NanosecondsCell(*value) : Cell{};
  };
}

// In GB/s, which are bytes per ns. Files have all digits: they are those of bytes per second.
constexpr SumRule Bandwidth(std::string_view size) {
  SumRule rule = RatioOf("matched", "shortest_ns");
  rule.scale = size;
  return rule;
}
auto BandwidthByRule(SumRule rule, TimesOfRow times) {
  rule.factor = 1e9;
  return [rule, times](const CollectiveRow& row) {
    const std::optional<double> value = Evaluated(rule, row, times);
    return value ? Cell{*value / 1e9} : Cell{};
  };
}

Columns<CollectiveRow> CollectiveColumns(TimesOfRow times) {
  using Row = CollectiveRow;
  constexpr SumRule kAverage = RatioOf("kernel_ns", "timed");
  constexpr SumRule kShortest = RatioOf("shortest_ns", "matched");
  constexpr SumRule kAlgorithm = Bandwidth("size_bytes");
  constexpr SumRule kBus = Bandwidth("bus_bytes");
  return {
      {TextColumn("operation", "Operation", ""), &Row::operation},
      {CountColumn("communicator", "Communicator", "Counted from 0"), &Row::communicator},
      {CountColumn("ranks", "Ranks", "Of the communicator"), &Row::ranks},
      {BytesColumn("message", "Message", "Size that each rank passes to NCCL"),
       Number(&Row::message_bytes)},
      {OfWholeRun(Summed(SumOf("calls"),
                         CountColumn("calls", "Calls", "In the whole run, summed over ranks"),
                         "In these steps, summed over ranks")),
       [times](const Row& row) { return NumberCell((row.*times).calls); }},
      {Summed(RatioOf("calls", "steps"), RealColumn("calls_per_step", "Calls per Step",
                                                    "Of one rank, mean over the steps that count")),
       &Row::calls_per_step},
      {OfWholeRun(
           Summed(SumOf("kernel_ns"),
                  TimeColumn("kernel_time", "Kernel Time", "In the whole run, summed over ranks"),
                  "In these steps, summed over ranks")),
       TimeByRule(SumOf("kernel_ns"), times)},
      {OfWholeRun(Summed(kAverage, TimeColumn("average", "Average",
                                              "Kernel time / calls whose kernel is known"))),
       TimeByRule(kAverage, times)},
      {OfWholeRun(Summed(
           SumOf("waited_ns"),
           TimeColumn("waited", "Waited",
                      "Of the kernel time: for the slowest rank; empty: one rank was recorded"))),
       TimeByRule(SumOf("waited_ns"), times)},
      {OfWholeRun(
           Summed(kShortest, TimeColumn("shortest", "Shortest",
                                        "Mean over calls of the shortest kernel on any rank"))),
       TimeByRule(kShortest, times)},
      {OfWholeRun(Summed(kAlgorithm,
                         RealColumn("algorithm_gbps", "Algorithm GB/s",
                                    "Size / shortest; size is the message, x ranks for AllGather, "
                                    "ReduceScatter, AlltoAll; 10^9 bytes"))),
       BandwidthByRule(kAlgorithm, times)},
      {OfWholeRun(Summed(
           kBus, RealColumn("bus_gbps", "Bus GB/s",
                            "Algorithm GB/s x 2(n-1)/n for AllReduce, x (n-1)/n for AllGather, "
                            "ReduceScatter, AlltoAll, x 1 for others"))),
       BandwidthByRule(kBus, times)}};
}

struct QueueStep {
  uint32_t pid;
  uint32_t device;
  int64_t step;
  const StepQueue& queue;
};

const Columns<QueueStep>& QueueColumns() {
  using Row = QueueStep;
  static const Columns<Row> columns = {
      {CountColumn("pid", "PID", "Process"), &Row::pid},
      {CountColumn("device", "Device", "CUDA ordinal"), &Row::device},
      {CountColumn("step", "Step", "Number of the step"), &Row::step},
      {CountColumn("launches", "Launches",
                   "Kernels, copies, sets and graphs that the step launched"),
       [](const Row& row) { return int64_t{row.queue.launches}; }},
      {TimeColumn("median_latency", "Median Latency",
                  "Start on the GPU - begin of the launching call"),
       [](const Row& row) { return row.queue.median_latency_ns; }},
      {TimeColumn("p95_latency", "P95 Latency", ""),
       [](const Row& row) { return row.queue.p95_latency_ns; }},
      {RealColumn("mean_depth", "Mean Depth",
                  "Launched and not started, mean over the time of the step"),
       [](const Row& row) { return row.queue.mean_depth; }},
      {CountColumn("most", "Most", "Largest depth"),
       [](const Row& row) { return int64_t{row.queue.most}; }},
      {PercentColumn("empty", "Empty", "Part of the step in which nothing is queued"),
       [](const Row& row) { return row.queue.empty * 100; }}};
  return columns;
}

}  // namespace

ResultTable MakeRanksTable(const RunOverview& overview) {
  return TableOf("ranks", "Ranks", RankColumns(*overview.store), overview.distributed.ranks);
}

ResultTable MakeCollectivesTable(const RunOverview& overview) {
  return TableOf("collectives", "Collectives", CollectiveColumns(&CollectiveRow::times),
                 overview.distributed.collectives);
}

ResultTable MakeCollectivesOfStepsTable(const RunOverview& overview) {
  ResultTable table =
      TableOf("collectives", "Collectives", CollectiveColumns(&CollectiveRow::steady),
              overview.distributed.collectives);
  for (ResultColumn& column : table.columns) {
    column.of_whole_run = false;
    if (!column.help_of_steps.empty()) column.help = column.help_of_steps;
  }
  return table;
}

ResultTable MakeLaunchQueueTable(const RunOverview& overview) {
  ResultTable table = EmptyTable("launch_queue", "Launch queue", QueueColumns());
  for (const LaunchQueue& queue : overview.queues) {
    const ProcessSteps* steps = overview.steps.Of(queue.process);
    const uint32_t pid = overview.store->processes.pid[queue.process.row()];
    for (size_t i = 0; i < queue.steps.size(); ++i) {
      AddRow(table, QueueColumns(), {pid, queue.device, steps->steps[i].number, queue.steps[i]});
    }
  }
  return table;
}

}  // namespace batchlight
