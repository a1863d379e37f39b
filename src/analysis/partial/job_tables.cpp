#include "analysis/partial/job_tables.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "analysis/partial/kept_own_times.h"
#include "analysis/result/result_column.h"

namespace batchlight {
namespace {

// Rows of all ranks, one rank after the other.
class RankRows {
 public:
  template <typename CountOf>
  RankRows(const JobResult& job, const CountOf& count_of) {
    for (const RankDetail& detail : job.details) begin_.push_back(begin_.back() + count_of(detail));
  }
  size_t size() const { return begin_.back(); }
  // The rank's place, and the row among its own.
  std::pair<size_t, size_t> At(size_t row) const {
    const auto next = std::upper_bound(begin_.begin(), begin_.end(), row);
    const auto rank = static_cast<size_t>(next - begin_.begin()) - 1;
    return {rank, row - begin_[rank]};
  }

 private:
  std::vector<size_t> begin_{0};
};

// SQL's names: in lower case, the unit at the end.
ResultColumn RankColumn() { return CountColumn("rank", "of the job"); }

Cell AtStep(const std::vector<int64_t>& values, size_t step) {
  return step < values.size() ? Cell(values[step]) : Cell();
}

// Numbers from a file may be without the steps that they are of.
Cell StepNumber(const RankPartial& partial, size_t step) {
  return AtStep(partial.step_number, step);
}

RowSource TableOfRanks(const JobResult& job) {
  std::vector<ResultColumn> columns = {
      RankColumn(),
      TextColumn("host", "name of the machine"),
      CountColumn("pid", "of the process"),
      TextColumn("file", "that the rank is from"),
      CountColumn("steps", "that count"),
      TimeColumn("step_ns", "median of these steps"),
      TimeColumn("waited_ns", "per step, for later ranks"),
      TimeColumn("lost_ns", "of that: while nothing was computed"),
      TimeColumn("cost_ns", "per step: what others lost because this rank came last"),
      RealColumn("", "last_share", "part of the collectives that it came last to"),
      CountColumn("is_straggler", "1: the others wait for it")};
  return {"ranks", "ranks of the job", std::move(columns), job.ranks.size(),
          [&job](size_t row, std::vector<Cell>& cells) {
            const RankTimes& rank = job.ranks[row];
            const bool late = job.straggler && job.straggler->row == row;
            const auto waits = [&](double ns) {
              return job.knows_waits() ? NanosecondsCell(ns) : Cell{};
            };
            cells =
                CellRow(RankCell(rank.rank), rank.host, int64_t{rank.pid}, rank.label,
                        NumberCell(rank.steps), NanosecondsCell(rank.step_ns),
                        waits(rank.waited_ns), waits(rank.lost_ns), waits(rank.cost_ns),
                        job.knows_calls() ? Cell{rank.last_share} : Cell{}, int64_t{late ? 1 : 0});
          }};
}

RowSource TableOfSteps(const JobResult& job) {
  auto rows = std::make_shared<RankRows>(
      job, [](const RankDetail& detail) { return detail.partial->step_ns.size(); });
  std::vector<ResultColumn> columns = {
      RankColumn(),
      CountColumn("step", "its number"),
      CountColumn("counts", "1: steady, as means are made of; 0: warm-up and others"),
      TimeColumn("step_ns", "its length"),
      TimeColumn("waited_ns", "for later ranks"),
      TimeColumn("lost_ns", "of that: while nothing was computed"),
      TimeColumn("cost_ns", "what others lost because this rank came last")};
  return {"steps", "steps of every rank", std::move(columns), rows->size(),
          [&job, rows](size_t row, std::vector<Cell>& cells) {
            const auto [rank, step] = rows->At(row);
            const RankDetail& detail = job.details[rank];
            const RankPartial& partial = *detail.partial;
            const auto waits = [&](const std::vector<int64_t>& of_steps) {
              return job.knows_waits() ? AtStep(of_steps, step) : Cell{};
            };
            const bool counts = std::binary_search(partial.steady.begin(), partial.steady.end(),
                                                   static_cast<uint32_t>(step));
            cells = CellRow(RankCell(job.ranks[rank].rank), StepNumber(partial, step),
                            int64_t{counts ? 1 : 0}, partial.step_ns[step],
                            waits(detail.lateness.waited_ns), waits(detail.lateness.lost_ns),
                            waits(detail.lateness.cost_ns));
          }};
}

RowSource TableOfPhases(const JobResult& job) {
  auto rows = std::make_shared<RankRows>(job, [](const RankDetail& detail) {
    return detail.partial->step_ns.size() * detail.partial->phases.size();
  });
  std::vector<ResultColumn> columns = {RankColumn(), CountColumn("step", "its number"),
                                       TextColumn("phase", "part of the training loop, or idle"),
                                       TimeColumn("phase_ns", "in this step")};
  return {"phases", "phases of every step", std::move(columns), rows->size(),
          [&job, rows](size_t row, std::vector<Cell>& cells) {
            const auto [rank, place] = rows->At(row);
            const RankPartial& partial = *job.details[rank].partial;
            const size_t step = place / partial.phases.size();
            const PhaseTimes& phase = partial.phases[place % partial.phases.size()];
            const bool known = step < phase.per_step_us.size();
            cells = CellRow(RankCell(job.ranks[rank].rank), StepNumber(partial, step), phase.name,
                            known ? Cell(phase.NsOf(step)) : Cell());
          }};
}

RowSource TableOfKernels(const JobResult& job) {
  auto rows = std::make_shared<RankRows>(
      job, [](const RankDetail& detail) { return detail.partial->kernels.size(); });
  std::vector<ResultColumn> columns = {
      RankColumn(), TextColumn("kernel", "its name"), CountColumn("calls", "of the whole run"),
      TimeColumn("total_ns", "of them"), TimeColumn("median_ns", "of them")};
  return {"kernels", "kernels with most time of every rank", std::move(columns), rows->size(),
          [&job, rows](size_t row, std::vector<Cell>& cells) {
            const auto [rank, place] = rows->At(row);
            const KernelTimes& kernel = job.details[rank].partial->kernels[place];
            cells = CellRow(RankCell(job.ranks[rank].rank), kernel.name, NumberCell(kernel.count),
                            kernel.total_ns, kernel.median_ns);
          }};
}

struct OwnTimesRow {
  size_t rank = 0;  // row of JobResult::ranks
  const char* kind = "";
  std::string name;
  uint64_t calls = 0;
  int64_t median_ns = 0;
};

std::vector<OwnTimesRow> OwnTimesRows(const JobResult& job) {
  std::vector<OwnTimesRow> rows;
  for (size_t rank = 0; rank < job.details.size(); ++rank) {
    RankOwnTimes own = UnpackOwnTimes(job.details[rank].partial->own_times);
    const auto add = [&](const char* kind, std::vector<OwnTimesOfName>& all) {
      for (OwnTimesOfName& times : all) {
        rows.push_back(
            {rank, kind, std::move(times.name), times.calls, int64_t{times.median_us} * 1000});
      }
    };
    add("operator", own.operators);
    add("module", own.modules);
  }
  return rows;
}

RowSource TableOfOwnTimes(const JobResult& job) {
  auto rows = std::make_shared<std::vector<OwnTimesRow>>(OwnTimesRows(job));
  std::vector<ResultColumn> columns = {
      RankColumn(), TextColumn("kind", "operator or module"),
      TextColumn("name", "of the operator; of a module its path"),
      CountColumn("calls", "in steps that count"),
      TimeColumn("median_ns", "of these steps, on the CPU without what it calls")};
  return {"operators", "operators and modules with most time of every rank", std::move(columns),
          rows->size(), [&job, rows](size_t row, std::vector<Cell>& cells) {
            const OwnTimesRow& own = (*rows)[row];
            cells = CellRow(RankCell(job.ranks[own.rank].rank), own.kind, own.name,
                            NumberCell(own.calls), own.median_ns);
          }};
}

// By rank and call: its number on its communicator.
using CallNumbersOfRanks = std::vector<std::vector<uint32_t>>;

CallNumbersOfRanks NumbersOf(const JobResult& job) {
  CallNumbersOfRanks numbers;
  for (const RankDetail& detail : job.details) {
    const RankCalls& calls = detail.partial->calls;
    FirstNumbers next = detail.first_calls;
    std::vector<uint32_t>& of_rank = numbers.emplace_back();
    of_rank.reserve(calls.size());
    for (const uint16_t kind : calls.kind) {
      const CallKind& made = calls.kinds[kind];
      of_rank.push_back(IsBetweenTwo(made.operation) ? 0 : next[made.communicator]++);
    }
  }
  return numbers;
}

std::string CommunicatorText(uint64_t communicator) {
  std::array<char, 16> digits;
  return {digits.data(), std::to_chars(digits.begin(), digits.end(), communicator, 16).ptr};
}

// Ticks as they are kept: 0 is not known.
Cell TicksCell(uint32_t ticks) { return int64_t{ticks} * kCallTickNs; }

std::vector<ResultColumn> CollectiveColumns() {
  return {RankColumn(),
          CountColumn("step", "that it is in"),
          TextColumn("communicator", "the same on all of its ranks"),
          CountColumn("number",
                      "among the calls of the communicator, the same on all of its ranks; "
                      "none for Send and Recv"),
          TextColumn("operation", "AllReduce, ..."),
          CountColumn("ranks", "of the communicator"),
          CountColumn("message_bytes", "of one rank"),
          TimeColumn("kernel_ns", "of the kernel: the transfer and the waiting for later ranks"),
          TimeColumn("exposed_ns", "of that: while nothing was computed")};
}

RowSource TableOfCollectives(const JobResult& job) {
  auto rows = std::make_shared<RankRows>(
      job, [](const RankDetail& detail) { return detail.partial->calls.size(); });
  auto numbers = std::make_shared<CallNumbersOfRanks>(NumbersOf(job));
  return {"collectives", "collectives of every rank", CollectiveColumns(), rows->size(),
          [&job, rows, numbers](size_t row, std::vector<Cell>& cells) {
            const auto [rank, call] = rows->At(row);
            const RankPartial& partial = *job.details[rank].partial;
            const RankCalls& calls = partial.calls;
            const CallKind& kind = calls.kinds[calls.kind[call]];
            const size_t step = calls.StepOf(call);
            const bool numbered = !IsBetweenTwo(kind.operation);
            const uint32_t kernel = calls.kernel[call];
            cells = CellRow(RankCell(job.ranks[rank].rank),
                            step == SIZE_MAX ? Cell() : StepNumber(partial, step),
                            CommunicatorText(kind.communicator),
                            numbered ? Cell(int64_t{(*numbers)[rank][call]}) : Cell(),
                            kind.operation, kind.ranks == 0 ? Cell() : Cell(int64_t{kind.ranks}),
                            NumberCell(kind.bytes), kernel == 0 ? Cell() : TicksCell(kernel),
                            kernel == 0 ? Cell() : TicksCell(calls.exposed[call]));
          }};
}

}  // namespace

std::vector<RowSource> JobTables(const JobResult& job) {
  std::vector<RowSource> tables;
  tables.push_back(TableOfRanks(job));
  tables.push_back(TableOfSteps(job));
  tables.push_back(TableOfPhases(job));
  tables.push_back(TableOfKernels(job));
  tables.push_back(TableOfOwnTimes(job));
  tables.push_back(TableOfCollectives(job));
  return tables;
}

}  // namespace batchlight
