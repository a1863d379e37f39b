// Whether several inputs are one job, and what is missing of it.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "store/store.h"

namespace batchlight {

// What one input says of the job that it is from.
struct InputIdentity {
  std::string label;          // for people: the file's name
  std::string job;            // "SLURM_JOB_ID 1234"; "": it does not say
  std::string command;        // of the program, without what the launcher put before it
  std::string first_process;  // and how much it holds: two inputs with the same are copies
  std::string version;        // of batchlight
  std::set<int32_t> ranks;    // of its processes
  std::set<uint64_t> communicators;
  bool trains = true;        // it holds something of a training loop
  int32_t world_size = 0;    // 0: it does not say
  int64_t start_utc_ns = 0;  // 0: it does not say
  int64_t end_utc_ns = 0;
};

InputIdentity IdentifyInput(const std::string& label, const Store& store);

// Which inputs make the job.
struct JobPlan {
  std::vector<size_t> used;       // rows of the inputs, in order of their ranks
  std::vector<int32_t> assigned;  // by `used`: the rank of one that does not say it, else -1
  // What people must know first, without a full stop.
  std::vector<std::string> notes;    // how the inputs were taken: of a job that is whole
  std::vector<std::string> missing;  // what it lacks
};

// Copies, earlier attempts at the same ranks, and helpers that a launcher runs beside the ranks
// (they say no rank and train nothing) are left out with a note; ranks that are missing are said.
// Errors (kInput): inputs of several jobs, which must be read one at a time.
Result<JobPlan> PlanJob(std::span<const InputIdentity> inputs);

// "0-3, 7".
std::string RanksText(const std::set<int32_t>& ranks);

}  // namespace batchlight
