// batchlight view: the timeline of a run in the browser, served on this machine alone.
#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/contain.h"
#include "base/duration_text.h"
#include "base/file.h"
#include "base/memory_budget.h"
#include "base/printable_text.h"
#include "cli/flags/command.h"
#include "cli/flags/run_argument.h"
#include "cli/flags/step_flags.h"
#include "cli/reading/browser_page.h"
#include "cli/reading/input_state.h"
#include "cli/reading/job_input.h"
#include "cli/reading/live_input.h"
#include "cli/reading/progress_line.h"
#include "cli/reading/reading_notes.h"
#include "cli/reading/view_address.h"
#include "ingest/input_paths.h"
#include "report/timeline/timeline_page.h"
#include "serve/access.h"
#include "serve/http_server.h"
#include "serve/lacks.h"
#include "serve/routes.h"
#include "serve/tickets.h"

namespace batchlight::cli {
namespace {

struct ViewFlags {
  std::vector<std::string> runs;
  JobUse use;
  std::optional<std::string> port;
  std::string socket;
  std::vector<std::string> hosts;
  std::vector<std::string> frame_ancestors;
  std::string idle;
  std::string html;
  bool no_browser = false;
  bool shares_port = false;
  ViewTarget target;
  StepOptions steps;
};

Status CheckFlags(const ViewFlags& options) {
  RETURN_IF_ERROR(CheckRuns("view", options.runs));
  for (const std::string& host : options.hosts) {
    if (!serve::IsHostName(host)) {
      return UsageError("--allow-host: \"" + host + "\" is no host name (without port and scheme)");
    }
  }
  for (const std::string& origin : options.frame_ancestors) {
    if (!serve::IsOrigin(origin)) {
      return UsageError("--frame-ancestor: \"" + origin +
                        "\" is no origin such as https://hub.example.org");
    }
  }
  if (!options.socket.empty() && options.port) {
    return UsageError("--socket and --port: a server listens on one of them");
  }
  return CheckStepFlags(options.steps);
}

// 0: any that is free.
Result<uint16_t> PortOf(const ViewFlags& options) {
  if (!options.port) return uint16_t{0};
  unsigned port = 0;
  const char* end = options.port->data() + options.port->size();
  const auto [at, error] = std::from_chars(options.port->data(), end, port);
  if (error == std::errc() && at == end && port >= 1 && port <= UINT16_MAX) {
    return static_cast<uint16_t>(port);
  }
  return UsageError("--port: a number from 1 to 65535");
}

// `read`: what was read already, for the first time that the source is asked.
serve::RunSource SourceOf(const std::vector<std::string>& words, const ViewFlags& options,
                          Store read) {
  const auto first = std::make_shared<std::optional<Store>>(std::move(read));
  const auto found = FindInputs(words);
  const std::vector<std::string> paths = found.ok() ? found.value() : words;
  const auto any_grows = [paths] { return std::any_of(paths.begin(), paths.end(), IsGrowing); };
  serve::RunSource source{.path = LabelOf(words),
                          .read = [words, use = options.use, first]() -> Result<Store> {
                            if (!first->has_value()) return OpenJob(words, use);
                            Store store = std::move(**first);
                            first->reset();
                            return store;
                          },
                          .version =
                              [paths] {
                                uint64_t version = 0;
                                for (const std::string& path : paths)
                                  version += VersionOfInput(path);
                                return version;
                              },
                          .growing = any_grows,
                          .steps = options.steps,
                          .state = [words] { return StateOfInputs(words); }};
  // Several are put on one clock, for which all of each is looked at.
  if (paths.size() == 1) {
    source.read_since = [words, use = options.use](int64_t since_ns) {
      JobUse newer = use;
      newer.input.recorded.since_ns = since_ns;
      return OpenJob(words, newer);
    };
  }
  return source;
}

// All as one job; two words that are no job stand beside each other.
Status OpenRuns(const ViewFlags& options, serve::ApiContext& context) {
  const auto add = [&](const std::vector<std::string>& words, Store store) {
    SayReadingNotes(LabelOf(words), store);
    context.runs.push_back(
        std::make_unique<serve::Run>(SourceOf(words, options, std::move(store))));
  };
  auto together = OpenJob(options.runs, options.use);
  if (together.ok()) {
    add(options.runs, std::move(together).value());
    return {};
  }
  if (options.runs.size() != 2) return together.status();
  for (const std::string& word : options.runs) {
    ASSIGN_OR_RETURN(Store store, OpenJob({word}, options.use));
    add({word}, std::move(store));
  }
  return {};
}

// What it lacks of where the page is to open; "": nothing.
std::string LackOf(const ViewTarget& target, const serve::Run& run) {
  if (!target.step.empty()) return serve::LackOfStep(run, target.step);
  if (!target.find.empty()) return serve::LackOfName(run, target.find);
  const Result<int64_t> at_ns = ParseMoment(target.at);
  return at_ns.ok() ? serve::LackOfMoment(run, at_ns.value(), target.at) : std::string();
}

// The page says it too; who looks at the terminal sees it before. Steps are the first run's.
void SayMissingPlace(const ViewTarget& target, const serve::ApiContext& context) {
  std::string lacks;
  for (const auto& run : context.runs) {
    if (run->growing()) return;
    const std::string lack = LackOf(target, *run);
    if (lack.empty()) return;
    lacks += (lacks.empty() ? "" : "; ") + run->path() + " " + lack;
    if (!target.step.empty()) break;
  }
  std::fprintf(stderr, "WARNING: %s\n", PrintableText(lacks).c_str());
}

// Reads what `context` is about. The page may ask it meanwhile.
Status ReadRuns(const ViewFlags& options, serve::Opening& opening, serve::ApiContext& context) {
  RETURN_IF_ERROR(OpenRuns(options, context));
  opening.runs_known = true;
  for (const auto& run : context.runs) {
    RETURN_IF_ERROR(run->Read());
    RETURN_IF_ERROR(CheckStepsAreThere(run->path(), run->snapshot()->timeline().steps()));
  }
  SayMissingPlace(options.target, context);
  return {};
}

// No exception of this thread comes to main(), which would tell of it.
Status ReadContained(const ViewFlags& options, serve::Opening& opening,
                     serve::ApiContext& context) {
  bool is_over = false;
  Status status = Contain("reading " + LabelOf(options.runs), [&] {
    Status read = ReadRuns(options, opening, context);
    is_over = true;
    return read;
  });
  if (is_over || !status.message().ends_with(kNoMemory)) return status;
  return InputError(status.message() + ". " + kWhatToDoForMemory);
}

// Reading beside the server, which shows how far it has come.
class Reader {
 public:
  Reader(const ViewFlags& options, serve::ApiContext& context, serve::HttpServer& server)
      : opening_{.source = LabelOf(options.runs)}, server_(&server), read_(done_.get_future()) {
    context.opening = &opening_;
    thread_ = std::thread([this, &options, &context] {
      serve::HttpServer::LeaveSignals();
      Status status = ReadContained(options, opening_, context);
      const bool failed = !status.ok();
      done_.set_value(std::move(status));  // first: who is woken by the server's end asks for it
      if (failed) {
        const std::lock_guard lock(mutex_);
        if (server_ != nullptr) server_->Stop();
        return;
      }
      // What it has no memory for is tried again when it is asked for.
      (void)Contain("preparing", [&] {
        for (const auto& run : context.runs) run->Prepare();
        return Status();
      });
      ended_ = true;
    });
  }
  // Only once it is over.
  ~Reader() { thread_.join(); }

  // What cannot be shown together is refused before an address is printed. Two RUNs may be two
  // jobs.
  void WaitUntilKnown(const std::vector<std::string>& words) const {
    constexpr std::chrono::milliseconds kLook(20);
    const auto inputs = FindInputs(words);
    const bool one_job = inputs.ok() && inputs->size() > words.size();
    if (!one_job && words.size() <= 2) return;
    while (!opening_.runs_known && !IsOver(kLook)) continue;
  }
  bool IsOver(std::chrono::milliseconds wait) const {
    return read_.wait_for(wait) == std::future_status::ready;
  }
  Status Take() { return read_.get(); }
  bool HasEnded() const { return ended_; }  // nothing of it runs any more
  // The server is about to go.
  void Forget() {
    const std::lock_guard lock(mutex_);
    server_ = nullptr;
  }

 private:
  serve::Opening opening_;
  std::mutex mutex_;
  serve::HttpServer* server_;  // guarded by mutex_; nullptr: it is gone
  std::promise<Status> done_;
  std::future<Status> read_;
  std::atomic<bool> ended_ = false;
  std::thread thread_;
};

void SayWhere(const ViewFlags& options, const std::string& url, uint16_t port) {
  const std::string machine = serve::MachineName();
  const std::string host = machine.empty() ? "THIS_HOST" : ShellPath(machine);
  std::printf("%s\n", url.c_str());
  if (options.socket.empty()) {
    std::printf(
        "From another machine: ssh -C -N -L %u:127.0.0.1:%u %s, then open the same address there."
        "\n",
        port, port, host.c_str());
  } else {
    // ssh takes what has no slash for a host.
    std::error_code error;  // of a folder that is gone
    const std::filesystem::path path = std::filesystem::absolute(options.socket, error);
    const std::string socket = error ? options.socket : path.lexically_normal().string();
    std::printf("From another machine: ssh -C -N -L 8080:%s %s, then open that address there.\n",
                ShellPath(socket).c_str(), host.c_str());
  }
  std::printf("Ctrl+C ends it.\n");
  std::fflush(stdout);
}

// The timeline in a file, instead of a server.
Status WritePage(const ViewFlags& options) {
  serve::Opening opening;
  serve::ApiContext context;
  ASSIGN_OR_RETURN(const std::string place, PlaceOf(options.target));
  ProgressLine progress;
  progress.Announce("reading " + LabelOf(options.runs));
  RETURN_IF_ERROR(ReadRuns(options, opening, context));
  progress.Clear();
  if (context.runs.size() > 1) return UsageError("--html: a file holds one job");
  const TimelinePage page = MakeTimelinePage(context.runs[0]->snapshot()->timeline(), place);
  auto file = IsStream(options.html) ? AtomicFileWriter::Stream(options.html)
                                     : AtomicFileWriter::Create(options.html);
  if (!file.ok()) return file.status();
  RETURN_IF_ERROR(file->Write(page.html));
  RETURN_IF_ERROR(file->Commit());
  if (!page.left_out.empty()) std::fprintf(stderr, "NOTE: %s\n", page.left_out.c_str());
  return {};
}

void Serve(const ViewFlags& options, const serve::AccessRules& rules, const std::string& fragment,
           const serve::ApiContext& context, serve::HttpServer& server) {
  const uint16_t port = options.socket.empty() ? server.port() : uint16_t{8080};
  const std::string url = "http://127.0.0.1:" + std::to_string(port) + "/#" + fragment;
  SayWhere(options, url, port);
  const bool open = !options.no_browser && options.socket.empty();
  const BrowserPage page(open ? url : std::string());
  server.Run([&](const serve::HttpRequest& request) { return CheckAccess(rules, request); },
             [&](const serve::HttpRequest& request) {
               auto answer = AnswerAccess(rules, request);
               return answer ? std::move(*answer) : Route(context, request);
             },
             [&] { page.Remove(); });
}

Status Run(const ViewFlags& options) {
  RETURN_IF_ERROR(CheckFlags(options));
  if (!options.html.empty()) return WritePage(options);
  serve::ServerOptions server_options{.socket = options.socket};
  server_options.shares_port = options.shares_port;
  ASSIGN_OR_RETURN(server_options.port, PortOf(options));
  if (!options.idle.empty()) {
    ASSIGN_OR_RETURN(const int64_t idle_ns, ParseDuration(options.idle));
    server_options.limits.idle_ms = std::max<int64_t>(1, idle_ns / 1'000'000);
  }
  serve::AccessRules rules{.token = {},
                           .hosts = options.hosts,
                           .frame_ancestors = options.frame_ancestors,
                           .tickets = std::make_shared<serve::Tickets>()};
  ASSIGN_OR_RETURN(rules.token, serve::NewToken());
  ASSIGN_OR_RETURN(const std::string fragment, FragmentOf(rules.token, options.target));
  server_options.content_policy = serve::ContentPolicy(rules);
  serve::ApiContext context{.runs = {}, .version = BATCHLIGHT_VERSION};
  auto listening = serve::HttpServer::Listen(std::move(server_options));
  RETURN_IF_ERROR(listening.status());
  auto server = std::make_unique<serve::HttpServer>(std::move(listening).value());
  Reader reader(options, context, *server);
  // What is read so soon is there when the address is printed, and its errors stand alone.
  constexpr std::chrono::milliseconds kShort(300);
  ProgressLine progress;
  progress.Announce("reading " + LabelOf(options.runs));
  reader.WaitUntilKnown(options.runs);
  const bool soon = reader.IsOver(kShort);
  progress.Clear();
  if (soon) RETURN_IF_ERROR(reader.Take());
  Serve(options, rules, fragment, context, *server);
  const bool read = soon || reader.IsOver(std::chrono::milliseconds(0));
  if (read && !soon) RETURN_IF_ERROR(reader.Take());
  const bool reads = std::any_of(context.runs.begin(), context.runs.end(),
                                 [](const auto& run) { return run->is_reading_whole(); });
  if (read && reader.HasEnded() && !reads) return {};
  // Ended while it reads or prepares. Nothing is half written that anybody would wait for.
  reader.Forget();
  server.reset();
  std::fflush(nullptr);
  std::_Exit(0);
}

}  // namespace

void RegisterView(const Command& app, Outcome& outcome) {
  auto options = std::make_shared<ViewFlags>();
  const Command command = app.Add("view", "Open the timeline of a run in the browser");
  AddRuns(command, &options->runs)
      .Help(std::string(kRunHelp) + kRunsHelp + "; a second run of another job stands beside it");
  AddClockFlag(command, &options->use);
  command.Option("--step", &options->target.step, "Show this step").TypeName("N");
  command.Option("--at", &options->target.at, "Show this moment: 1.234s, 250ms, or ns")
      .TypeName("TIME");
  command.Option("--find", &options->target.find, "Show the longest event with this name")
      .TypeName("NAME");
  command.Option("--port", &options->port, "Port to listen on (default: one that is free)")
      .TypeName("N");
  command
      .Switch("--share-port", &options->shares_port,
              "Another process of this user holds --port for this server")
      .Group("");
  command.Option("--socket", &options->socket, "Listen on a Unix socket instead of a port")
      .TypeName("FILE");
  command.Option("--html", &options->html, "Write the timeline into one file instead")
      .TypeName("FILE");
  command.Switch("--no-browser", &options->no_browser, "Only print the address");
  command
      .Option("--allow-host", &options->hosts,
              "Answer under this host name too, such as that of a proxy")
      .OneValueEach()
      .TypeName("NAME");
  command
      .Option("--frame-ancestor", &options->frame_ancestors,
              "Pages of this origin may show the timeline in a frame")
      .OneValueEach()
      .TypeName("ORIGIN");
  command.Option("--idle", &options->idle, "End after this time without a request: 30m")
      .TypeName("TIME");
  AddStepFlags(command, &options->steps);
  command.Runs([options, &outcome] { outcome.status = Run(*options); });
}

}  // namespace batchlight::cli
