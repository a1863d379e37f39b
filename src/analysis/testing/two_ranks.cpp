#include "analysis/testing/two_ranks.h"

#include <string>

#include "analysis/testing/nccl_ranks.h"

namespace batchlight::testing {

Store MakeTwoRanks(int steps) {
  NcclRanks job(2);
  for (int step = 0; step < steps; ++step) {
    const int64_t at = step * 2'000'000;
    for (size_t rank = 0; rank < 2; ++rank) {
      const int64_t waits = rank == 0 ? 300'000 : 0;
      job.build().Range(job.thread(rank), "step " + std::to_string(step), at, at + 1'900'000);
      job.build().Kernel(job.thread(rank), "gemm", at + 1000, at + 2000, at + 500'000);
      job.AllReduce(rank, at + 600'000, at + 1'000'000 - waits, at + 1'100'000);
    }
  }
  return job.Build();
}

}  // namespace batchlight::testing
