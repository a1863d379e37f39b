// The collectives of a job that never ran: ranks compute, meet in an AllReduce, and the call ends
// for all when the last has come and the links have carried it. Every rank has its own noise and a
// speed a little its own, every host its own clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/ranks/rank_calls.h"

namespace batchlight::testing {

struct SimulatedJob {
  size_t ranks = 64;
  size_t ranks_per_host = 8;
  size_t steps = 30;
  size_t calls_per_step = 8;
  double step_ns = 100e6;
  double noise = 0.005;       // of the time between two calls, standard deviation
  double jitter = 0;          // of the same: what is lost now and then, mean; falls off slowly
  double speeds = 0.002;      // of how fast the ranks are, standard deviation
  int slow_rank = -1;         // -1: the job is healthy
  double slower = 0.03;       // the slow rank, in every step ...
  size_t every = 1;           // ... or in every so-manieth
  double clock_off_ns = 0;    // of hosts, standard deviation
  double clock_drift = 0;     // of hosts, standard deviation
  double end_noise_ns = 300;  // of the end of a call on a rank
  double links = 0;           // of how long the transfer of a call takes, standard deviation
  double congested = 0;       // part of the calls whose transfer takes ten times as long
  size_t group = 0;           // ranks that meet in a call, neighbours; 0: all
  int slow_group = -1;        // -1: links are alike
  double slow_link = 1;       // the transfers of that group take so many times as long
  uint64_t seed = 1;
};

struct SimulatedRanks {
  std::vector<RankCalls> calls;      // by rank; times by the host's clock
  std::vector<double> clock_off_ns;  // by host
  std::vector<double> clock_drift;   // by host
};

SimulatedRanks Simulate(const SimulatedJob& job);

}  // namespace batchlight::testing
