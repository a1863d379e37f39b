// What a Kineto trace says of NCCL's collectives, as an extended payload of the range around each
// call, as NCCL itself announces its calls in a recording. The arguments are on the operator
// record_param_comms, and the range "nccl:all_reduce" inside of it launches the kernel; in our own
// exports they are on the range itself.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ingest/kineto/kineto_event.h"
#include "store/store.h"

namespace batchlight {

class KinetoCollectives {
 public:
  explicit KinetoCollectives(Store& store) : store_(store) {}

  // The row for what the event's arguments say; none if they are not of a collective.
  NvtxAttributesId AttributesOf(const KinetoEvent& event);

  // An operator that may tell of the ranges inside of it.
  void SeeOperator(const KinetoEvent& event, ThreadId thread);

  // After the last event, before threads and times get their final numbers.
  void Finish();

 private:
  struct Told {  // by an operator
    int64_t start_ns;
    int64_t end_ns;
    NvtxAttributesId attributes;
  };

  void TellRanges();
  void AddSchema();

  Store& store_;
  std::map<std::string, NvtxAttributesId> rows_;  // by the payload's bytes
  std::map<ThreadId, std::vector<Told>> told_;
};

}  // namespace batchlight
