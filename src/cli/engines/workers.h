// The other machines of an engine: where they are, how one is told to run `batchlight work`.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"

namespace batchlight::cli {

struct WorkPlace {
  std::string name;  // a host
  size_t slots = 1;  // calls at a time
};

class Workers {
 public:
  struct Event {
    size_t call = 0;
    bool ended = false;
    std::string line;     // of its standard output
    std::string failure;  // of a call that ended: why it did badly; "": it did well
  };

  virtual ~Workers() = default;
  // Errors: kUsage, there is no such cluster or job.
  virtual Result<std::vector<WorkPlace>> Open() = 0;
  // Runs `batchlight WORDS` there. Errors end all work.
  virtual Status Begin(size_t call, const std::string& place,
                       const std::vector<std::string>& words) = 0;
  // What happens next to any call; blocks. Only while a call goes on. Errors end all work.
  virtual Result<Event> Next() = 0;
};

// `job`: its number; "": the one that this runs in.
std::unique_ptr<Workers> SlurmWorkers(const std::string& job);
// `scheduler`: its address or file.
std::unique_ptr<Workers> DaskWorkers(const std::string& scheduler);

// How a shell there starts this program: where it lies here, else the one on PATH.
// BATCHLIGHT_WORKER names another.
std::vector<std::string> ProgramOfWorkers(const std::vector<std::string>& words);

}  // namespace batchlight::cli
