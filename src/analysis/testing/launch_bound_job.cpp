#include "analysis/testing/launch_bound_job.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "analysis/testing/nccl_ranks.h"

namespace batchlight::testing {

Store LaunchBoundJob(size_t ranks, uint64_t seed, double jitter, double slower) {
  constexpr int64_t kSteps = 60;
  constexpr double kStepNs = 4e6;
  std::mt19937_64 random(seed);
  std::exponential_distribution<double> seldom;
  NcclRanks job(ranks);
  std::vector<int64_t> cpu_ns(ranks), gpu_ns(ranks);
  for (int64_t step = 0; step < kSteps; ++step) {
    std::vector<int64_t> called_ns(ranks);
    int64_t last_ns = 0;
    for (size_t rank = 0; rank < ranks; ++rank) {
      const double factor = 1 + jitter * seldom(random) + (rank + 1 == ranks ? slower : 0);
      const int64_t begin_ns = cpu_ns[rank];
      cpu_ns[rank] = begin_ns + static_cast<int64_t>(kStepNs * factor);
      called_ns[rank] = cpu_ns[rank] - 500'000;
      const std::string name = "step " + std::to_string(step);
      job.build().Range(job.thread(rank), name, begin_ns, cpu_ns[rank] - 1000);
      const int64_t start_ns = std::max(gpu_ns[rank], begin_ns + 1'000'000);
      gpu_ns[rank] = start_ns + 2'000'000;
      job.build().Kernel(job.thread(rank), "gemm", begin_ns + 900'000, start_ns, gpu_ns[rank]);
      gpu_ns[rank] = std::max(gpu_ns[rank], called_ns[rank] + 10'000);
      last_ns = std::max(last_ns, gpu_ns[rank]);
    }
    for (size_t rank = 0; rank < ranks; ++rank) {
      job.AllReduce(rank, called_ns[rank], gpu_ns[rank], last_ns + 50'000);
      gpu_ns[rank] = last_ns + 50'000;
    }
  }
  return job.Build();
}

}  // namespace batchlight::testing
