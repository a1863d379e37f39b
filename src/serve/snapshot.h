// What of a run was read, and what is worked out from it on demand; never changes.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "analysis/steps/steps.h"
#include "store/store.h"
#include "timeline/answers/links.h"
#include "timeline/answers/range_tables.h"
#include "timeline/index/timeline.h"

namespace batchlight::serve {

class Snapshot {
 public:
  // One reading, or the first picture of it. `complete`: with what analyses find, which takes
  // longer than all the rest.
  Snapshot(std::shared_ptr<const Store> store, const StepOptions& steps, uint32_t generation,
           bool complete = true);
  // A reading of a run that goes on, and what is new since its Seam(). Of use where it fits() only.
  Snapshot(std::shared_ptr<const Snapshot> older, std::shared_ptr<const Store> newer,
           uint32_t generation);

  const Store& store() const { return *store_; }  // of two readings the older's
  const timeline::Timeline& timeline() const { return *timeline_; }
  const StepOptions& step_options() const { return steps_; }
  uint32_t generation() const { return generation_; }
  bool complete() const { return complete_; }
  timeline::RangeTables MakeTables(const timeline::RangeRequest& request) const;
  // Worked out when they are first asked for.
  const timeline::Links& links() const;

  // From where on a run that goes on is read by itself: the end of a step a while before the end,
  // since what a GPU did is told later, and steps are found by those before.
  struct Seam {
    int64_t at_ns = 0;
    int64_t since_ns = 0;  // what to read, so that the first step after it is whole
  };
  Seam FindSeam() const;
  // Of a reading of all: whether what is new may be read by itself.
  bool can_go_on() const;
  // Not: what is new is not surely what one reading of all would tell; it is to be read whole.
  bool fits() const { return fits_; }

 private:
  timeline::RangeTables MakeTablesOfOne(timeline::RangeRequest request) const;
  bool IsNewer(const timeline::RangeRequest& request) const;

  std::shared_ptr<const Store> store_;
  StepOptions steps_;
  std::unique_ptr<timeline::Timeline> timeline_;
  mutable std::optional<timeline::RangeTableMaker> range_tables_;  // of one reading
  uint32_t generation_;
  bool complete_;
  mutable std::once_flag links_once_;
  mutable std::optional<timeline::Links> links_;

  // Of two readings.
  std::shared_ptr<const Snapshot> older_;
  std::unique_ptr<Snapshot> newer_;
  int64_t at_ns_ = 0;
  bool fits_ = true;

  Snapshot(std::shared_ptr<const Store> store, const StepOptions& steps,
           std::unique_ptr<timeline::Timeline> timeline);
};

}  // namespace batchlight::serve
