// Facts about the machine and the run, for the recording. The environment is not stored: only a
// short list of variables that say how the job is laid out, or all if the user asks for it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "format/control.h"

namespace batchlight::capture {

using Facts = std::vector<std::pair<std::string, std::string>>;

// machine.* keys: cpu, avx512 (yes or no, of an x86 one), cores, usable_cores (where an affinity, a
// container or a job leaves fewer), memory_bytes, kernel, hostname, os, gpu_driver (if there is
// one).
Facts MachineFacts();

format::Machine ThisMachine();

// environment.NAME keys, of NAME=VALUE strings: RANK, WORLD_SIZE, OMP_NUM_THREADS and their like;
// with `all`, every variable.
Facts EnvironmentFacts(const std::vector<std::string>& environment, bool all);

}  // namespace batchlight::capture
