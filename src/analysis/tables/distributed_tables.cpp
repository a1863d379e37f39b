// Tables of ranks, collectives and launch queues; declared in overview_tables.h.
#include "analysis/result/result_column.h"
#include "analysis/tables/overview_tables.h"

namespace batchlight {

ResultTable MakeRanksTable(const RunOverview& overview) {
  ResultTable table{.name = "ranks", .title = "Ranks"};
  table.columns = {CountColumn("Rank", ""),
                   CountColumn("PID", "Process"),
                   CountColumn("Device", "CUDA ordinal"),
                   TimeColumn("Step", "Mean over the steps that count; so are the others"),
                   TimeColumn("Compute", "GPU: kernels other than communication"),
                   TimeColumn("Communication", "GPU: exposed, nothing computes meanwhile"),
                   TimeColumn("Hidden", "GPU: communication that computing hides"),
                   TimeColumn("Copies", "GPU: copies and sets, exposed"),
                   TimeColumn("Idle", "GPU: nothing runs"),
                   TimeColumn("Waited",
                              "Of communication: for slower ranks; kernel - shortest kernel of the "
                              "same call on any rank")};
  for (const RankRow& row : overview.distributed.ranks) {
    table.rows.push_back(
        {RankCell(row.rank), NumberCell(overview.store->processes.pid[row.process.row()]),
         row.has_gpu ? Cell{int64_t{row.device}} : Cell{}, NanosecondsCell(row.step_ns),
         NanosecondsCell(row.compute_ns), NanosecondsCell(row.exposed_communication_ns),
         NanosecondsCell(row.hidden_communication_ns), NanosecondsCell(row.copies_ns),
         NanosecondsCell(row.idle_ns), NanosecondsCell(row.waited_ns)});
  }
  return table;
}

ResultTable MakeCollectivesTable(const RunOverview& overview) {
  ResultTable table{.name = "collectives", .title = "Collectives"};
  table.columns = {
      TextColumn("Operation", ""),
      CountColumn("Communicator", "Counted from 0"),
      CountColumn("Ranks", "Of the communicator"),
      BytesColumn("Message", "Size that each rank passes to NCCL"),
      CountColumn("Calls", "In the whole run, summed over ranks"),
      RealColumn("Calls per Step", "Of one rank, mean over the steps that count"),
      TimeColumn("Kernel Time", "In the whole run, summed over ranks"),
      TimeColumn("Average", "Kernel time / calls whose kernel is known"),
      TimeColumn("Waited",
                 "Of the kernel time: for the slowest rank; empty: one rank was recorded"),
      TimeColumn("Shortest", "Mean over calls of the shortest kernel on any rank"),
      RealColumn("Algorithm GB/s",
                 "Size / shortest; size is the message, x ranks for AllGather, "
                 "ReduceScatter, AlltoAll; 10^9 bytes"),
      RealColumn("Bus GB/s",
                 "Algorithm GB/s x 2(n-1)/n for AllReduce, x (n-1)/n for AllGather, "
                 "ReduceScatter, AlltoAll, x 1 for others")};
  for (const CollectiveRow& row : overview.distributed.collectives) {
    const CollectiveTimes& times = row.times;
    const bool timed = times.timed > 0;
    const auto mean = [](int64_t ns, uint64_t calls) {
      return calls == 0 ? Cell{} : NanosecondsCell(double(ns) / double(calls));
    };
    table.rows.push_back({row.operation, int64_t{row.communicator}, int64_t{row.ranks},
                          NumberCell(row.message_bytes), NumberCell(times.calls),
                          row.calls_per_step, times.kernel_ns, mean(times.kernel_ns, times.timed),
                          row.knows_waits ? Cell{times.waited_ns} : Cell{},
                          mean(times.shortest_ns, times.matched),
                          timed ? Cell{row.algorithm_bytes_per_second() / 1e9} : Cell{},
                          timed ? Cell{row.bus_bytes_per_second() / 1e9} : Cell{}});
  }
  return table;
}

ResultTable MakeLaunchQueueTable(const RunOverview& overview) {
  ResultTable table{.name = "launch_queue", .title = "Launch queue"};
  table.columns = {
      CountColumn("PID", "Process"),
      CountColumn("Device", "CUDA ordinal"),
      CountColumn("Step", "Number of the step"),
      CountColumn("Launches", "Kernels, copies, sets and graphs that the step launched"),
      TimeColumn("Median Latency", "Start on the GPU - begin of the launching call"),
      TimeColumn("P95 Latency", ""),
      RealColumn("Mean Depth", "Launched and not started, mean over the time of the step"),
      CountColumn("Most", "Largest depth"),
      PercentColumn("Empty", "Part of the step in which nothing is queued")};
  for (const LaunchQueue& queue : overview.queues) {
    const ProcessSteps* steps = overview.steps.Of(queue.process);
    const uint32_t pid = overview.store->processes.pid[queue.process.row()];
    for (size_t i = 0; i < queue.steps.size(); ++i) {
      const StepQueue& step = queue.steps[i];
      table.rows.push_back({NumberCell(pid), int64_t{queue.device}, steps->steps[i].number,
                            int64_t{step.launches}, step.median_latency_ns, step.p95_latency_ns,
                            step.mean_depth, int64_t{step.most}, step.empty * 100});
    }
  }
  return table;
}

}  // namespace batchlight
