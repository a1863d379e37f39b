#include "report/timeline/timeline_page.h"

#include <zlib.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/assets/embedded.h"
#include "report/text/base64.h"
#include "report/text/number_text.h"
#include "report/timeline/timeline_names.h"
#include "timeline/answers/event_bytes.h"
#include "timeline/answers/run_json.h"

namespace batchlight {
namespace {

using nlohmann::json;

// Nothing can be loaded, not even by a name that got past the escaping. Inflating goes by blob.
constexpr std::string_view kHead =
    "\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
    "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'\">\n<link rel=\"icon\" "
    "href=\"data:,\">\n<title>batchlight</title>\n<style>";

// Without '<' no tag can end and no comment begin; in JSON it occurs in strings only.
std::string SafeJson(const json& value) {
  std::string out;
  for (const char c : timeline::DumpJson(value)) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

std::string Deflated(const std::string& bytes) {
  uLongf size = compressBound(bytes.size());
  std::string out(size, '\0');
  const int result = compress2(reinterpret_cast<Bytef*>(out.data()), &size,
                               reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), 6);
  // Fails for want of memory only, which ends the program anyway.
  out.resize(result == Z_OK ? size : 0);
  return out;
}

json NamesJson(const timeline::Timeline& timeline, const std::vector<uint32_t>& names) {
  json out = TimelineNames(timeline.names(), names);
  out["ids"] = names;
  return out;
}

// "steps 2 to 28 (27 of 85)", of the first training process.
std::string StepsWithin(const timeline::Timeline& timeline, const timeline::Stretch& stretch) {
  const Step* first = nullptr;
  const Step* last = nullptr;
  const Step* longest = nullptr;
  size_t held = 0;
  const ProcessSteps* process = timeline.steps().Main();
  if (process == nullptr) return "no step";
  for (const Step& step : process->steps) {
    if (step.start_ns < stretch.from_ns || step.end_ns > stretch.to_ns) continue;
    if (first == nullptr) first = &step;
    last = &step;
    ++held;
    const bool is_longest = longest == nullptr || step.duration_ns() > longest->duration_ns();
    if (step.outlier && is_longest) longest = &step;
  }
  if (first == nullptr) return "no whole step";
  const std::string numbers =
      held == 1 ? "step " + std::to_string(first->number)
                : "steps " + std::to_string(first->number) + " to " + std::to_string(last->number);
  return numbers + " (" + CountText(held) + " of " + CountText(process->steps.size()) + ")" +
         (held > 1 && longest != nullptr
              ? ", among them the slow step " + std::to_string(longest->number)
              : "");
}

std::string LeftOut(const timeline::Timeline& timeline, const timeline::Stretch& stretch,
                    uint64_t all, uint64_t kept) {
  if (kept == all) return {};
  return CountText(kept) + " of " + CountText(all) +
         " boxes (recorded events and what is found of them: steps, phases, gaps, sampled "
         "functions), those of " +
         StepsWithin(timeline, stretch) + "; `batchlight view` shows all";
}

void AppendElement(std::string& html, std::string_view type, std::string_view id,
                   std::string_view content) {
  html += "<script type=\"";
  html += type;
  html += "\" id=\"timeline-";
  html += id;
  html += "\">";
  html += content;
  html += "</script>\n";
}

// Returns what the file does not hold.
std::string AppendData(const timeline::Timeline& timeline, uint64_t most_events,
                       std::string& html) {
  const timeline::Stretch stretch = ChooseStretch(timeline, most_events);
  const timeline::EventBytes events = EncodeEvents(timeline, stretch);
  const uint64_t all = CountEvents(timeline, {});
  const uint64_t kept = CountEvents(timeline, stretch);
  std::string left_out = LeftOut(timeline, stretch, all, kept);
  json run = RunJson(timeline, {});
  // A stretch that reaches beyond the run holds all of it.
  run["static"] = {{"left_out", all - kept},
                   {"why", left_out},
                   {"from", std::max(stretch.from_ns, timeline.events().run_start_ns())},
                   {"to", std::min(stretch.to_ns, timeline.events().run_end_ns())}};
  AppendElement(html, "application/json", "run", SafeJson(run));
  AppendElement(html, "application/json", "names", SafeJson(NamesJson(timeline, events.names)));
  AppendElement(html, "application/octet-stream", "events", Base64(Deflated(events.bytes)));
  return left_out;
}

}  // namespace

TimelinePage MakeTimelinePage(const timeline::Timeline& timeline, std::string_view place) {
  TimelinePage page{.html = "<!doctype html>\n<html lang=\"en\"", .left_out = {}};
  if (!place.empty()) page.html += " data-place=\"" + std::string(place);
  page.html += place.empty() ? kHead.substr(1) : kHead;
  page.html += TimelineStyle();
  page.html +=
      "</style>\n</head>\n<body>\n<noscript>The timeline is drawn by a script, which this browser "
      "does not run.</noscript>\n";
  page.left_out = AppendData(timeline, kMostPageEvents, page.html);
  page.html += "<script>";
  page.html += TimelineScript();
  page.html += "</script>\n</body>\n</html>\n";
  return page;
}

TimelinePage MakeTimelineElements(const timeline::Timeline& timeline, uint64_t most_events) {
  TimelinePage page;
  page.left_out = AppendData(timeline, most_events, page.html);
  AppendElement(page.html, "text/plain", "style", TimelineStyle());
  AppendElement(page.html, "text/plain", "script", TimelineScript());
  return page;
}

}  // namespace batchlight
