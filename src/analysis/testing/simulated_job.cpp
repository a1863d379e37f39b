#include "analysis/testing/simulated_job.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace batchlight::testing {
namespace {

constexpr double kTransferNs = 50e3;
constexpr uint64_t kMessageBytes = 25 << 20;
constexpr double kCongestion = 10;

// What the slowest link of the ring takes, for all ranks alike.
double TransferNs(const SimulatedJob& job, std::mt19937_64& random) {
  double times = 1;
  if (job.links > 0) times += job.links * std::abs(std::normal_distribution<double>()(random));
  if (job.congested > 0 && std::uniform_real_distribution<double>()(random) < job.congested) {
    times *= kCongestion;
  }
  return kTransferNs * times;
}

double LastOf(const std::vector<double>& arrival, size_t first, size_t count) {
  const auto begin = arrival.begin() + static_cast<std::ptrdiff_t>(first);
  const size_t known = std::min(count, arrival.size() - first);
  return *std::max_element(begin, begin + static_cast<std::ptrdiff_t>(known));
}

}  // namespace

SimulatedRanks Simulate(const SimulatedJob& job) {
  std::mt19937_64 random(job.seed);
  std::normal_distribution<double> normal;
  std::exponential_distribution<double> seldom;
  SimulatedRanks found;
  const size_t hosts = (job.ranks + job.ranks_per_host - 1) / job.ranks_per_host;
  for (size_t host = 0; host < hosts; ++host) {
    found.clock_off_ns.push_back(host == 0 ? 0 : normal(random) * job.clock_off_ns);
    found.clock_drift.push_back(host == 0 ? 0 : normal(random) * job.clock_drift);
  }
  const size_t of_group = job.group == 0 ? job.ranks : job.group;
  std::vector<double> speed;
  for (size_t rank = 0; rank < job.ranks; ++rank) {
    speed.push_back(1 + normal(random) * job.speeds);
    RankCalls& calls = found.calls.emplace_back();
    calls.kinds.push_back({.communicator = 7 + rank / of_group,
                           .ranks = static_cast<uint32_t>(of_group),
                           .operation = "AllReduce",
                           .bytes = kMessageBytes});
  }
  const double segment_ns = job.step_ns / double(job.calls_per_step);
  std::vector<double> now_ns(job.ranks, 1e9);
  std::vector<double> arrival(job.ranks);
  for (size_t step = 0; step < job.steps; ++step) {
    for (size_t call = 0; call < job.calls_per_step; ++call) {
      for (size_t rank = 0; rank < job.ranks; ++rank) {
        double factor = speed[rank] * (1 + normal(random) * job.noise);
        if (job.jitter > 0) factor *= 1 + job.jitter * seldom(random);
        const bool slow = static_cast<int>(rank) == job.slow_rank && step % job.every == 0;
        if (slow) factor *= 1 + job.slower;
        arrival[rank] = now_ns[rank] + segment_ns * factor;
      }
      double end_ns = 0;
      for (size_t rank = 0; rank < job.ranks; ++rank) {
        if (rank % of_group == 0) {
          const bool slow = static_cast<int>(rank / of_group) == job.slow_group;
          end_ns = LastOf(arrival, rank, of_group) +
                   TransferNs(job, random) * (slow ? job.slow_link : 1);
        }
        RankCalls& calls = found.calls[rank];
        if (call == 0) calls.step_begin.push_back(static_cast<uint32_t>(calls.size()));
        const size_t host = rank / job.ranks_per_host;
        const double own_end_ns = end_ns + normal(random) * job.end_noise_ns;
        const auto ticks = static_cast<uint32_t>((own_end_ns - arrival[rank]) / kCallTickNs);
        calls.kind.push_back(0);
        calls.kernel.push_back(ticks);
        calls.exposed.push_back(ticks);
        calls.ends.Append(static_cast<int64_t>(own_end_ns * (1 + found.clock_drift[host]) +
                                               found.clock_off_ns[host]));
        now_ns[rank] = end_ns;
      }
    }
  }
  for (RankCalls& calls : found.calls) {
    calls.step_begin.push_back(static_cast<uint32_t>(calls.size()));
  }
  return found;
}

}  // namespace batchlight::testing
