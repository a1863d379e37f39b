#include "inject/collect/step_detail.h"

#include <cstring>

#include "inject/buffer/thread_stream.h"
#include "inject/collect/collecting_watch.h"
#include "inject/collect/detail_plan.h"
#include "inject/collect/step_window.h"
#include "inject/rt/fork_handler.h"
#include "inject/rt/job_rank.h"
#include "inject/rt/option_number.h"
#include "inject/rt/process.h"

namespace batchlight::inject {

constinit std::atomic<bool> g_plain_step{false};
constinit std::atomic<char> g_modules_pass{0};

namespace {

// kDetailDomain, kDetailOff, kDetailOn
#define DETAIL_TEXT(id, text) constexpr char kDetail##id[] = text;
#include "format/detail_marks.def"
#undef DETAIL_TEXT
constexpr uint16_t kPayloadU64 = 1;  // MarkRecord::payload_type

// Not made when the library is loaded: that may be after it was read from the options.
constinit DetailPlan g_plan;
uint64_t g_iteration = 0;    // the one that is going on
uint64_t g_began_ticks = 0;  // 0: nobody saw it begin
uint32_t g_capture = 0;      // in which it is recorded

// Of a job of several processes the first to step plans for all.
void FollowPlan() {
  static const bool is_one_of_several = IsOneOfSeveral();
  if (!is_one_of_several) return;
  format::ControlPage& page = *Control();
  const uint32_t own = g_process.pid;
  uint32_t nobody = 0;
  const bool decides = page.step_pid.load(std::memory_order_relaxed) == own ||
                       page.step_pid.compare_exchange_strong(nobody, own);
  if (decides) {
    if (const uint32_t plan = g_plan.published()) page.detail_plan.store(plan);
  } else {
    g_plan.Adopt(page.detail_plan.load(), g_iteration);
  }
}

void WriteMark(const char* message, int64_t switch_ns) {
  Guard guard;
  ThreadStream* stream = guard ? ThreadStream::Current(guard) : nullptr;
  const size_t text_bytes = std::strlen(message);
  constexpr size_t kDomainBytes = sizeof kDetailDomain - 1;
  if (stream == nullptr || !stream->Ensure(sizeof(format::MarkRecord) + StringBytes(text_bytes) +
                                           StringBytes(kDomainBytes))) {
    return;
  }
  const format::StringRef message_id = stream->Intern(message, text_bytes);
  const format::StringRef domain_id = stream->Intern(kDetailDomain, kDomainBytes);
  stream->Write(format::MarkRecord{.message = message_id,
                                   .domain = domain_id,
                                   .payload_type = kPayloadU64,
                                   .payload = static_cast<uint64_t>(switch_ns)});
}

void Switch(bool to_detail) {
  const int64_t begin_ns = sys::Nanoseconds(CLOCK_MONOTONIC);
  g_plain_step.store(!to_detail, std::memory_order_relaxed);
  if (g_on_window != nullptr) g_on_window();
  FollowCollecting();
  WriteMark(to_detail ? kDetailOn : kDetailOff, sys::Nanoseconds(CLOCK_MONOTONIC) - begin_ns);
}

// A forked child has no steps of its own that could end this one.
void InForkedChild() {
  g_plain_step.store(false);
  g_modules_pass.store(0);
  g_iteration = g_began_ticks = 0;
}

}  // namespace

bool ReadStepDetail() {
  const format::ControlPage* page = Control();
  if (page == nullptr || page->trigger != format::CaptureTrigger::kNone) return false;
  constexpr double kPartsPerMillion = 1e-6;
  const DetailOptions options = {
      .every = static_cast<uint32_t>(OptionNumber(page->extra, "detail.every=")),
      .budget =
          static_cast<double>(OptionNumber(page->extra, "detail.budget=")) * kPartsPerMillion};
  g_plan = DetailPlan(options);
  if (!g_plan.chooses()) return false;
  FollowPlainSteps();
  OnForkInChild(InForkedChild);
  return true;
}

void IterationEnded() {
  const uint64_t now = Ticks();
  const bool had_detail = !IsPlainStep();
  const uint32_t capture = SessionState();
  if (!Collecting() || capture != g_capture) {
    // What begins here may be a recording of its own, which has not heard of the last switch.
    g_capture = capture;
    g_began_ticks = 0;
    if (!had_detail) Switch(true);
    return;
  }
  if (g_began_ticks != 0) g_plan.Took(g_iteration, had_detail, now - g_began_ticks);
  FollowPlan();
  g_began_ticks = now;
  const bool detail = g_plan.HasDetail(++g_iteration);
  if (detail != had_detail) Switch(detail);
}

}  // namespace batchlight::inject
