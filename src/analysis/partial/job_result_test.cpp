#include "analysis/partial/job_result.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analysis/partial/kept_own_times.h"
#include "analysis/partial/partial_bytes.h"
#include "analysis/testing/launch_bound_job.h"
#include "analysis/testing/simulated_job.h"
#include "analysis/testing/store_builder.h"

namespace batchlight {
namespace {

constexpr int64_t kMs = 1'000'000;

PhaseTimes PhaseOf(PhaseKind kind, const std::string& name, const std::vector<int64_t>& ns) {
  PhaseTimes phase{.kind = kind, .name = name, .per_step_us = {}};
  for (const int64_t step_ns : ns) phase.per_step_us.push_back(uint32_t(step_ns / 1000));
  return phase;
}

// A rank of a job: steps of 100 ms, in which it loads data for `loading_ns`.
JobPart PartOf(int32_t rank, int32_t world_size, const std::vector<int64_t>& loading_ns) {
  JobPart part;
  part.identity.label = "r" + std::to_string(rank) + ".batchlight";
  part.identity.first_process = part.identity.label;
  part.identity.ranks = {rank};
  part.identity.world_size = world_size;
  RankPartial& one = part.ranks.emplace_back();
  one.rank = rank;
  one.pid = 100 + uint32_t(rank);
  one.host = "node" + std::to_string(rank / 2);
  std::vector<int64_t> backward_ns;
  for (size_t step = 0; step < loading_ns.size(); ++step) {
    one.step_ns.push_back(100 * kMs);
    one.step_number.push_back(int64_t(step) + 10);
    one.steady.push_back(uint32_t(step));
    backward_ns.push_back(100 * kMs - loading_ns[step]);
  }
  one.phases.push_back(PhaseOf(PhaseKind::kDataLoading, "data loading", loading_ns));
  one.phases.push_back(PhaseOf(PhaseKind::kBackward, "backward", backward_ns));
  one.kernels.push_back({"gemm", 100, 4000 * kMs, 40 * kMs});
  return part;
}

JobResult CompareOk(std::vector<JobPart> parts) {
  Result<JobResult> result = CompareRanks(std::move(parts), JobClock::kCollectives);
  EXPECT_TRUE(result.ok()) << result.status().message();
  return std::move(result.value());
}

// As a forged file may have it: memory went with ranks times phases.
TEST(JobResult, PhasesOfEachRanksOwnAreLimited) {
  std::vector<JobPart> parts(1);
  parts[0].identity.label = "forged";
  for (int32_t i = 0; i < 2000; ++i) {
    JobPart part = PartOf(i, 2000, {5 * kMs});
    part.ranks[0].phases[0].name = "phase " + std::to_string(i);
    parts[0].identity.ranks.insert(i);
    parts[0].ranks.push_back(std::move(part.ranks[0]));
  }
  const JobResult job = CompareOk(std::move(parts));
  ASSERT_EQ(job.ranks.size(), 2000u);
  EXPECT_EQ(job.phases.size(), 256u);
  EXPECT_EQ(job.ranks[1999].phase_ns.size(), 256u);
  EXPECT_EQ(job.notes.back(), "only the first 256 phases of the ranks are compared");
}

// Rank 1 of 4 loads data for 30 ms longer in every fifth of 40 steps.
std::vector<JobPart> SlowLoader() {
  std::vector<JobPart> parts;
  for (int32_t rank = 0; rank < 4; ++rank) {
    std::vector<int64_t> loading;
    for (int step = 0; step < 40; ++step) {
      loading.push_back((rank == 1 && step % 5 == 0 ? 35 : 5) * kMs);
    }
    parts.push_back(PartOf(rank, 4, loading));
  }
  return parts;
}

TEST(JobResult, TheSlowLoaderIsNamedWithItsSteps) {
  const JobResult job = CompareOk(SlowLoader());
  ASSERT_TRUE(job.straggler.has_value());
  EXPECT_EQ(job.ranks[job.straggler->row].rank, 1);
  EXPECT_NEAR(job.straggler->waited_ns, 6 * kMs, 0.1 * kMs);
  EXPECT_EQ(job.straggler->phase, "data loading");
  EXPECT_NEAR(job.straggler->longer_ns, 30 * kMs, 0.1 * kMs);
  EXPECT_EQ(job.straggler->late_steps, (std::vector<int64_t>{10, 15, 20, 25, 30, 35, 40, 45}));
  EXPECT_FALSE(job.straggler->causes.kernels.has_value());
  EXPECT_TRUE(job.notes.empty());
}

// As gloo leaves it: no kernel tells who waits, but the CPU communicates for as long as it waits.
// Rank 2 of 4 does something else for 90 ms in `late` of 24 steps.
std::vector<JobPart> OnCpus(size_t late, bool communicates = true) {
  std::vector<JobPart> parts;
  for (int32_t rank = 0; rank < 4; ++rank) {
    JobPart& part = parts.emplace_back(PartOf(rank, 4, std::vector<int64_t>(24, 5 * kMs)));
    RankPartial& one = part.ranks[0];
    one.kernels.clear();
    std::vector<int64_t> own, waits;
    for (size_t step = 0; step < 24; ++step) {
      const bool is_late = step >= 9 && step < 9 + late;
      own.push_back((is_late && rank == 2 ? 100 : 10) * kMs);
      waits.push_back((is_late && rank != 2 ? 94 : 4) * kMs);
      one.step_ns[step] = own.back() + waits.back();
    }
    one.phases.clear();
    one.phases.push_back(PhaseOf(PhaseKind::kOther, "other", own));
    const PhaseKind kind = communicates ? PhaseKind::kCommunication : PhaseKind::kForward;
    one.phases.push_back(PhaseOf(kind, "communication", waits));
  }
  return parts;
}

TEST(JobResult, WhoCommunicatesShortestIsWaitedForWithoutAGpu) {
  const JobResult job = CompareOk(OnCpus(3));
  EXPECT_EQ(job.waits_by, WaitsBy::kPhases);
  EXPECT_FALSE(job.straggler) << "of three steps that may be chance";
  ASSERT_TRUE(job.seldom_late);
  EXPECT_EQ(job.seldom_late->row, 2u);
  EXPECT_EQ(job.seldom_late->late_steps, (std::vector<int64_t>{19, 20, 21}));
  EXPECT_DOUBLE_EQ(job.ranks[0].lost_ns, 90.0 * kMs * 3 / 24);
  EXPECT_DOUBLE_EQ(job.ranks[2].lost_ns, 0);
  EXPECT_DOUBLE_EQ(job.ranks[2].cost_ns, 90.0 * kMs * 3 / 24);
  EXPECT_DOUBLE_EQ(job.steps.own_ns[2][9], 104.0 * kMs);
  EXPECT_DOUBLE_EQ(job.steps.own_ns[0][9], 14.0 * kMs);

  const JobResult often = CompareOk(OnCpus(12));
  ASSERT_TRUE(often.straggler);
  EXPECT_EQ(often.straggler->row, 2u);
  EXPECT_FALSE(often.seldom_late);
}

TEST(JobResult, WithoutCommunicationNobodyIsKnownToWait) {
  const JobResult job = CompareOk(OnCpus(3, false));
  EXPECT_EQ(job.waits_by, WaitsBy::kNothing);
  EXPECT_FALSE(job.seldom_late);
  EXPECT_DOUBLE_EQ(job.ranks[0].lost_ns, 0);
}

// And an operator that takes it, from what is kept of the ranks.
TEST(JobResult, TheSlowOperatorIsNamed) {
  std::vector<JobPart> parts = SlowLoader();
  for (JobPart& part : parts) {
    OwnTimesOfName stack{.name = "aten::stack", .calls = 40, .median_us = 4000};
    if (part.ranks[0].rank == 1) {
      stack.rows = {0, 5, 10, 15, 20, 25, 30, 35};
      stack.us.assign(8, 33'000);
    }
    part.ranks[0].own_times = PackOwnTimes({{stack}, {}});
    const auto kept = DecodeJobPart(EncodeJobPart(part));
    ASSERT_TRUE(kept);
    part.ranks = kept->ranks;
  }
  const JobResult job = CompareOk(std::move(parts));
  ASSERT_TRUE(job.straggler);
  const std::vector<LongerCall>& longer = job.straggler->causes.operators;
  ASSERT_EQ(longer.size(), 1u);
  EXPECT_EQ(longer[0].name, "aten::stack");
  EXPECT_EQ(longer[0].ns, 33.0 * kMs);
  EXPECT_EQ(longer[0].others_ns, 4.0 * kMs);
  EXPECT_TRUE(job.straggler->causes.modules.empty());
}

TEST(JobResult, ASlowGpuIsNamedByItsKernels) {
  const testing::SimulatedRanks simulated =
      testing::Simulate({.ranks = 8, .ranks_per_host = 2, .slow_rank = 5, .clock_off_ns = 1e6});
  std::vector<JobPart> parts;
  for (int32_t rank = 0; rank < 8; ++rank) {
    parts.push_back(PartOf(rank, 8, std::vector<int64_t>(30, 5 * kMs)));
    parts.back().ranks[0].calls = simulated.calls[size_t(rank)];
  }
  parts[5].ranks[0].kernels[0].median_ns = 44 * kMs;
  const JobResult job = CompareOk(std::move(parts));
  ASSERT_TRUE(job.straggler.has_value());
  EXPECT_EQ(job.ranks[job.straggler->row].rank, 5);
  EXPECT_NEAR(job.straggler->of_step, 0.03, 0.01);
  ASSERT_TRUE(job.straggler->causes.kernels.has_value());
  EXPECT_NEAR(job.straggler->causes.kernels->times, 1.1, 0.001);
  ASSERT_EQ(job.collectives.size(), 1u);
  EXPECT_EQ(job.collectives[0].calls, 30u * 8);
  EXPECT_NEAR(job.collectives[0].transfer_ns, 50e3, 5e3);
  EXPECT_NE(job.clocks.find("8 clocks are aligned"), std::string::npos) << job.clocks;
}

// All launch at the same speed: the rank that waits would idle instead.
TEST(JobResult, NoRankOfAHealthyJobThatIsBoundByLaunchesIsBlamed) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const Store store = testing::LaunchBoundJob(2 + seed % 7, seed, 0.1, 0);
    const JobResult job = CompareOk({MakeJobPart("run.batchlight", store)});
    EXPECT_FALSE(job.straggler.has_value())
        << "seed " << seed << ": rank " << job.straggler->row << " " << job.straggler->waited_ns
        << " " << job.straggler->lost_ns;
  }
}

TEST(JobResult, ARankThatLaunchesLaterThanTheOthersIs) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    const size_t ranks = 2 + seed % 7;
    const Store store = testing::LaunchBoundJob(ranks, seed, 0.01, 0.03);
    const JobResult job = CompareOk({MakeJobPart("run.batchlight", store)});
    ASSERT_TRUE(job.straggler.has_value()) << "seed " << seed;
    EXPECT_EQ(job.straggler->row, ranks - 1) << "seed " << seed;
    EXPECT_LE(job.straggler->lost_ns, job.straggler->waited_ns);
  }
}

// From what is kept of each rank, clocks and all.
TEST(JobResult, OneStragglerOfAThousandIsNamedAndClocksAreAligned) {
  const testing::SimulatedRanks simulated = testing::Simulate(
      {.ranks = 1000, .slow_rank = 637, .clock_off_ns = 500e3, .clock_drift = 5e-6});
  std::vector<JobPart> parts;
  for (int32_t rank = 0; rank < 1000; ++rank) {
    JobPart part = PartOf(rank, 1000, std::vector<int64_t>(30, 5 * kMs));
    part.ranks[0].calls = simulated.calls[size_t(rank)];
    const auto kept = DecodeJobPart(EncodeJobPart(part));
    ASSERT_TRUE(kept.has_value());
    parts.push_back(*kept);
    parts.back().identity.label = part.identity.label;
  }
  const JobResult job = CompareOk(std::move(parts));
  ASSERT_TRUE(job.straggler.has_value());
  EXPECT_EQ(job.ranks[job.straggler->row].rank, 637);
  EXPECT_NE(job.clocks.find("1000 clocks are aligned"), std::string::npos) << job.clocks;
}

// Where nothing but them says which moment is which.
TEST(JobResult, AClockThatNobodyKeepsIsSaid) {
  std::vector<JobPart> parts = SlowLoader();
  for (JobPart& part : parts) {
    part.clock = {.host = part.ranks[0].host, .is_known = true};
  }
  parts[3].clock.is_kept = false;
  const std::string note = "the clock of node1 is not synchronised";
  const auto says_it = [&](std::vector<JobPart> of, JobClock clock) {
    const auto job = CompareRanks(std::move(of), clock);
    return std::any_of(job->notes.begin(), job->notes.end(),
                       [&](const std::string& text) { return text.starts_with(note); });
  };
  EXPECT_TRUE(says_it(parts, JobClock::kUtc));
  EXPECT_FALSE(says_it(parts, JobClock::kNone));
  EXPECT_FALSE(says_it(parts, JobClock::kCollectives)) << "waiting is told without clocks";
  for (JobPart& part : parts) part.clock.host = part.ranks[0].host = "node1";
  EXPECT_FALSE(says_it(parts, JobClock::kUtc)) << "one host has one clock";
  parts[0].clock = HostClock();
  EXPECT_FALSE(says_it(parts, JobClock::kUtc)) << "also where some was kept before clocks were";
}

TEST(JobResult, MissingRanksAndOtherJobsAreSaid) {
  std::vector<JobPart> parts = SlowLoader();
  parts.erase(parts.begin() + 2);
  const JobResult job = CompareOk(std::move(parts));
  ASSERT_EQ(job.notes.size(), 1u);
  EXPECT_NE(job.notes[0].find("1 of 4 ranks are missing (2)"), std::string::npos);
  std::vector<JobPart> twice = SlowLoader();
  twice.push_back(twice[0]);
  twice.back().identity.first_process = "another";
  EXPECT_FALSE(CompareRanks(std::move(twice), JobClock::kUtc).ok());
}

bool IsSame(const RankPartial& a, const RankPartial& b) {
  return a.rank == b.rank && a.pid == b.pid && a.host == b.host && a.step_ns == b.step_ns &&
         a.step_number == b.step_number && a.steady == b.steady &&
         a.phases.size() == b.phases.size() && a.phases[0].per_step_us == b.phases[0].per_step_us &&
         a.phases[1].name == b.phases[1].name && a.kernels.size() == b.kernels.size() &&
         a.kernels[0].median_ns == b.kernels[0].median_ns && a.calls.kinds == b.calls.kinds &&
         a.pace.cpu_us == b.pace.cpu_us && a.pace.gpu_us == b.pace.gpu_us &&
         a.calls.kind == b.calls.kind && a.calls.kernel == b.calls.kernel &&
         a.calls.exposed == b.calls.exposed && a.calls.step_begin == b.calls.step_begin &&
         a.calls.sent == b.calls.sent && a.calls.received == b.calls.received &&
         a.own_times == b.own_times;
}

JobPart SamplePart() {
  JobPart part = PartOf(3, 8, std::vector<int64_t>(30, 5 * kMs));
  part.identity.job = "SLURM_JOB_ID 7";
  part.identity.communicators = {7, uint64_t{1} << 63};
  part.identity.trains = false;
  part.losses = 12;
  part.clock = {.host = "node1", .is_known = true, .is_kept = false, .most_error_ns = 16};
  part.ranks[0].calls = testing::Simulate({.ranks = 1}).calls[0];
  part.ranks[0].calls.exposed[3] = 1;
  part.ranks[0].calls.sent.assign(part.ranks[0].calls.size(), 5);
  part.ranks[0].calls.received.assign(part.ranks[0].calls.size(), uint64_t{1} << 40);
  part.ranks[0].pace = {std::vector<uint32_t>(30, 90'000), std::vector<uint32_t>(30, 70'000)};
  part.ranks[0].own_times =
      PackOwnTimes({{{"aten::mm", 60, 4000, {3, 7}, {9000, 12'000}}}, {{"fc", 30, 6000, {}, {}}}});
  part.ranks.push_back(part.ranks[0]);
  return part;
}

TEST(PartialBytes, GiveBackWhatWasWritten) {
  const JobPart part = SamplePart();
  const auto back = DecodeJobPart(EncodeJobPart(part));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->identity.job, part.identity.job);
  EXPECT_EQ(back->identity.ranks, part.identity.ranks);
  EXPECT_EQ(back->identity.communicators, part.identity.communicators);
  EXPECT_FALSE(back->identity.trains);
  EXPECT_EQ(back->losses, 12u);
  EXPECT_EQ(back->clock.host, "node1");
  EXPECT_TRUE(back->clock.is_known);
  EXPECT_FALSE(back->clock.is_kept);
  EXPECT_EQ(back->clock.most_error_ns, 16);
  ASSERT_EQ(back->ranks.size(), 2u);
  EXPECT_TRUE(IsSame(back->ranks[0], part.ranks[0]));
  EXPECT_TRUE(IsSame(back->ranks[1], part.ranks[1]));
  EXPECT_EQ(back->ranks[0].calls.ends, part.ranks[0].calls.ends);
  const auto without_ends = DecodeJobPart(EncodeJobPart(part), false);
  ASSERT_TRUE(without_ends.has_value());
  EXPECT_TRUE(without_ends->ranks[0].calls.ends.empty());
  EXPECT_TRUE(IsSame(without_ends->ranks[1], part.ranks[1]));
}

TEST(PartialBytes, OwnTimesComeBackOrAreNothing) {
  const std::string bytes = SamplePart().ranks[0].own_times;
  const RankOwnTimes own = UnpackOwnTimes(bytes);
  ASSERT_EQ(own.operators.size(), 1u);
  EXPECT_EQ(own.operators[0].UsOf(7), 12'000u);
  EXPECT_EQ(own.modules.at(0).median_us, 6000u);
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_TRUE(UnpackOwnTimes(std::string_view(bytes).substr(0, size)).operators.empty());
    std::string damaged = bytes;
    damaged[size] = static_cast<char>(damaged[size] ^ 0xff);
    (void)UnpackOwnTimes(damaged);
  }
}

// Names are compared with each other's.
TEST(PartialBytes, OwnTimesOfAnyNumberOfNamesAreNone) {
  RankOwnTimes own;
  own.operators.resize(16, {.name = "aten::mm"});
  EXPECT_EQ(UnpackOwnTimes(PackOwnTimes(own)).operators.size(), 16u);
  own.operators.resize(100'000, {.name = "forged"});
  EXPECT_TRUE(UnpackOwnTimes(PackOwnTimes(own)).operators.empty());
}

// Sums over the steps that count would take as long as somebody says.
TEST(PartialBytes, StepsThatCountTwiceAreNoPart) {
  JobPart part = SamplePart();
  part.ranks[1].steady = {0, 1, 1, 2};
  EXPECT_FALSE(DecodeJobPart(EncodeJobPart(part)).has_value());
}

TEST(PartialBytes, WhatWasKeptBeforePacesWereIsRead) {
  JobPart part = PartOf(3, 8, {5 * kMs});
  std::string bytes = EncodeJobPart(part);
  bytes[0] = 1;
  bytes.resize(bytes.size() - 33);  // what was added at the end
  bytes.resize(bytes.size() - 2);   // two columns of nothing less, before calls of nothing
  EXPECT_TRUE(IsJobPart(bytes));
  const auto back = DecodeJobPart(bytes);
  ASSERT_TRUE(back.has_value());
  EXPECT_TRUE(back->ranks[0].pace.empty());
  EXPECT_TRUE(IsSame(back->ranks[0], part.ranks[0]));
  bytes[0] = 7;
  EXPECT_FALSE(IsJobPart(bytes));
  EXPECT_FALSE(DecodeJobPart(bytes).has_value());
}

// As where some nodes have an older batchlight: what all know is compared, the rest left unsaid.
TEST(JobResult, PartsOfSeveralVersionsAreOneJob) {
  std::vector<JobPart> parts;
  for (JobPart& part : SlowLoader()) {
    const int32_t rank = part.ranks[0].rank;
    part.identity.version = rank < 2 ? "1.0" : "0.9";
    const std::vector<uint32_t> us(8, rank == 1 ? 33'000 : 4'500);
    part.ranks[0].own_times =
        PackOwnTimes({{{"aten::stack", 40, 4000, {0, 5, 10, 15, 20, 25, 30, 35}, us}}, {}});
    std::string bytes = EncodeJobPart(part);
    if (rank >= 2) bytes[0] = 3;  // what came later is not read
    const auto kept = DecodeJobPart(bytes);
    ASSERT_TRUE(kept);
    parts.push_back(*kept);
    parts.back().identity.label = part.identity.label;
  }
  EXPECT_TRUE(parts[3].ranks[0].own_times.empty());
  const JobResult job = CompareOk(std::move(parts));
  ASSERT_EQ(job.notes.size(), 1u);
  EXPECT_EQ(job.notes[0], "r0.batchlight was recorded by batchlight 1.0, r2.batchlight by 0.9");
  ASSERT_TRUE(job.straggler);
  EXPECT_EQ(job.straggler->row, 1u);
  ASSERT_EQ(job.straggler->causes.operators.size(), 1u);
  EXPECT_EQ(job.straggler->causes.operators[0].others_ns, 4.5 * kMs);
}

TEST(PartialBytes, DamagedBytesAreNoPart) {
  const std::string bytes = EncodeJobPart(SamplePart());
  for (size_t size = 0; size < bytes.size(); size += 1 + size / 20) {
    EXPECT_FALSE(DecodeJobPart(std::string_view(bytes).substr(0, size)).has_value()) << size;
  }
  for (size_t at = 0; at < bytes.size(); ++at) {  // whatever comes, it is no crash
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0xff);
    (void)DecodeJobPart(damaged);
  }
}

// 20,000 calls and 1,000 steps of 24 phases, all of them noise.
TEST(PartialBytes, OfALongRunAreSmall) {
  const testing::SimulatedJob long_run{
      .ranks = 2, .steps = 1000, .calls_per_step = 20, .slow_rank = 1};
  JobPart part = PartOf(0, 2, std::vector<int64_t>(1000, 5 * kMs));
  RankPartial& rank = part.ranks[0];
  rank.calls = testing::Simulate(long_run).calls[0];
  for (int phase = 0; phase < 22; ++phase) {
    std::vector<int64_t> ns;
    for (int64_t step = 0; step < 1000; ++step) ns.push_back(kMs + step * 7919 % 997 * 1000);
    rank.phases.push_back(PhaseOf(PhaseKind::kUserRange, "part " + std::to_string(phase), ns));
  }
  for (uint32_t step = 0; step < 1000; ++step) {
    rank.pace.cpu_us.push_back(95'000 + step * 7919 % 997);
    rank.pace.gpu_us.push_back(90'000 + step * 7919 % 991);
  }
  RankOwnTimes own;
  for (int name = 0; name < 16; ++name) {
    OwnTimesOfName times{.name = "aten::name_of_an_operator_" + std::to_string(name),
                         .calls = 4000};
    for (uint32_t step = 0; step < 250; ++step) {  // as many as there are at most
      times.rows.push_back(step * 4);
      times.us.push_back(5000 + step * 7919 % 9973);
    }
    own.operators.push_back(times);
    own.modules.push_back(times);
  }
  rank.own_times = PackOwnTimes(own);
  EXPECT_LT(EncodeJobPart(part).size(), 256u << 10);
}

TEST(MakeJobPart, OfAStore) {
  testing::StoreBuilder build;
  build.Property("machine.hostname", "node7");
  const ThreadId thread = build.Thread(build.Process(9, "train.py", 2));
  for (int64_t i = 0; i < 20; ++i) {
    build.Range(thread, "step", i * 10 * kMs, i * 10 * kMs + 9 * kMs);
    build.Phase(thread, Phase::kBackward, "backward", i * 10 * kMs + kMs, i * 10 * kMs + 5 * kMs);
    build.Kernel(thread, "gemm", i * 10 * kMs + kMs, i * 10 * kMs + 2 * kMs,
                 i * 10 * kMs + 4 * kMs);
  }
  const JobPart part = MakeJobPart("a.batchlight", build.Build());
  EXPECT_EQ(part.identity.ranks, (std::set<int32_t>{2}));
  ASSERT_EQ(part.ranks.size(), 1u);
  EXPECT_EQ(part.ranks[0].host, "node7");
  EXPECT_EQ(part.ranks[0].step_ns.size(), 20u);
  EXPECT_FALSE(part.ranks[0].phases.empty());
  EXPECT_EQ(part.ranks[0].calls.size(), 0u);
  std::vector<uint32_t> cpu_us(20, 10'000);
  cpu_us[0] = 9000;  // what comes before a range counts with its step
  EXPECT_EQ(part.ranks[0].pace.cpu_us, cpu_us);
  EXPECT_EQ(part.ranks[0].pace.gpu_us, std::vector<uint32_t>(20, 2000));
}

}  // namespace
}  // namespace batchlight
