#include "serve/routes.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <chrono>
#include <optional>
#include <random>
#include <set>
#include <thread>
#include <tuple>
#include <type_traits>
#include <variant>

#include "analysis/testing/growing_run.h"
#include "analysis/testing/sample_run.h"
#include "timeline/answers/run_json.h"

namespace batchlight::serve {
namespace {

using nlohmann::json;

std::unique_ptr<Run> SampleRun() {
  return std::make_unique<Run>(RunSource{
      .path = "sample",
      .read = [] { return Result<Store>(testing::MakeSampleRun({.steps = 12, .gpu = true})); },
      .version = [] { return uint64_t{0}; },
      .growing = [] { return false; },
      .steps = {}});
}

ApiContext SampleContext() {
  ApiContext context{.runs = {}, .version = "1"};
  context.runs.push_back(SampleRun());
  EXPECT_TRUE(context.runs[0]->Read().ok());
  return context;
}

class RoutesTest : public ::testing::Test {
 protected:
  HttpResponse Post(const std::string& call, const std::string& body) {
    return Route(context_, {.method = "POST", .target = "/api/1/" + call, .body = body});
  }
  json Ask(const std::string& call, const json& body) {
    const HttpResponse response = Post(call, body.dump());
    EXPECT_EQ(response.status, 200) << call << ": " << response.body;
    return json::parse(response.body, nullptr, false);
  }
  int Status(const std::string& method, const std::string& target) {
    return Route(context_, {.method = method, .target = target}).status;
  }

  ApiContext context_ = SampleContext();
};

TEST_F(RoutesTest, ServesThePageAndNothingElse) {
  EXPECT_EQ(Status("GET", "/"), 200);
  EXPECT_EQ(Status("GET", "/?x=1"), 200);
  EXPECT_EQ(Status("GET", "/timeline.js"), 200);
  EXPECT_EQ(Status("GET", "/timeline.css"), 200);
  EXPECT_EQ(Status("GET", "/../../etc/passwd"), 404);
  EXPECT_EQ(Status("GET", "/api/1/run"), 404);
  EXPECT_EQ(Status("POST", "/"), 404);
  EXPECT_EQ(Status("POST", "/api/1/unknown"), 404);
  EXPECT_EQ(Status("OPTIONS", "/api/1/run"), 405);
  EXPECT_EQ(Status("PUT", "/"), 405);
}

TEST_F(RoutesTest, TellsOtherSitesNothingButThatItIsThere) {
  const auto get = [&](const char* target) {
    return Route(context_, {.method = "GET", .target = target});
  };
  EXPECT_TRUE(get("/there").for_all_sites);
  EXPECT_EQ(get("/there").body, "");
  for (const char* target : {"/", "/timeline.js", "/timeline.css", "/there/", "/There", "/x"}) {
    EXPECT_FALSE(get(target).for_all_sites) << target;
  }
  EXPECT_FALSE(Post("status", "{}").for_all_sites);
  EXPECT_EQ(Status("POST", "/there"), 404);
}

// While it is read for the first time the page asks how far that is, and gets nothing else.
TEST_F(RoutesTest, SaysHowFarTheFirstReadingIs) {
  Opening opening{.source = "big.batchlight"};
  context_.opening = &opening;
  const json status = Ask("status", json::object());
  ASSERT_EQ(status["runs"].size(), 1u);
  EXPECT_FALSE(status["runs"][0]["ready"]);
  EXPECT_NE(std::string(status["runs"][0]["doing"]).find("big.batchlight"), std::string::npos);
  EXPECT_EQ(Post("run", "{}").status, 409);
  opening.runs_known = true;
  EXPECT_TRUE(Ask("status", json::object())["runs"][0]["ready"]);
  EXPECT_TRUE(Ask("run", json::object())["complete"]);
}

// A recording that is another one now: what is shown stays, and nothing is written beside it.
TEST_F(RoutesTest, SaysThatTheFileIsAnotherAndSavesNoNotes) {
  uint64_t state = 7;
  context_.runs[0] = std::make_unique<serve::Run>(RunSource{
      .path = "sample",
      .read = [] { return Result<Store>(testing::MakeSampleRun({.steps = 12, .gpu = true})); },
      .version = [] { return uint64_t{0}; },
      .growing = [] { return false; },
      .steps = {},
      .state = [&] { return state; }});
  ASSERT_TRUE(context_.runs[0]->Read().ok());
  const auto changed = [&] {
    return std::string(Ask("status", json::object())["runs"][0]["changed"]);
  };
  EXPECT_EQ(changed(), "");
  state = 8;
  EXPECT_EQ(changed(), "replaced");
  EXPECT_EQ(Post("notes_put", R"({"set": []})").status, 409);
  state = 0;
  EXPECT_EQ(changed(), "removed");
  EXPECT_EQ(Post("notes_put", R"({"set": []})").status, 409);
  state = 7;
  EXPECT_EQ(changed(), "");
  EXPECT_EQ(Ask("run", json::object())["steps"].size(), 1u);
}

// Of a large run first what is recorded, then what takes longer to find.
TEST(RunTest, ShowsALargeRunBeforeItsStepsAreFound) {
  serve::Run run(
      {.path = "sample",
       .read = [] { return Result<Store>(testing::MakeSampleRun({.steps = 12, .gpu = true})); },
       .version = [] { return uint64_t{0}; },
       .growing = [] { return false; },
       .steps = {},
       .large_rows = 1});
  ASSERT_TRUE(run.Read().ok());
  EXPECT_EQ(run.snapshot()->generation(), 2u);
  EXPECT_TRUE(run.snapshot()->complete());
  const auto store = std::make_shared<const Store>(testing::MakeSampleRun({.steps = 12}));
  const Snapshot first(store, {}, 1, false);
  EXPECT_FALSE(first.complete());
  EXPECT_EQ(first.timeline().steps().Main(), nullptr);
  EXPECT_LT(first.timeline().tracks().size(), run.snapshot()->timeline().tracks().size());
}

// A long run that goes on: what is new is read by itself, and is in every answer.
class GrowingTest : public RoutesTest {
 protected:
  GrowingTest() { Serve(testing::GrowingKind::kOneProcess); }
  void Serve(testing::GrowingKind kind) {
    run_.emplace(11, kSteps, kind);
    now_ns_ = run_->EndOf(kSteps - 200);
    context_.runs[0] = std::make_unique<serve::Run>(
        RunSource{.path = "growing",
                  .read = [this] { return Result<Store>(run_->Read(now_ns_)); },
                  .version = [this] { return static_cast<uint64_t>(now_ns_); },
                  .growing = [this] { return now_ns_ < run_->EndOf(kSteps - 1); },
                  .steps = {},
                  .read_since =
                      [this](int64_t since_ns) {
                        since_ns_ = since_ns;
                        return Result<Store>(run_->Read(now_ns_, since_ns));
                      },
                  .most_reading_ms = -1});
  }
  // What reads beside it reads what is of this class.
  ~GrowingTest() override { context_.runs.clear(); }
  void WaitForTheEnd() {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    while (context_.runs[0]->growing() && std::chrono::steady_clock::now() < deadline) {
      context_.runs[0]->Follow();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ASSERT_FALSE(context_.runs[0]->growing());
  }

  // Steps of 0.5 ms: the seam is five seconds before the end.
  static constexpr size_t kSteps = 14'000;

  std::optional<testing::GrowingRun> run_;
  int64_t now_ns_ = 0;
  int64_t since_ns_ = 0;
};

TEST_F(GrowingTest, HasNewStepsWithoutReadingAllAgain) {
  ASSERT_TRUE(context_.runs[0]->Read().ok());
  const json before = Ask("run", json::object());
  now_ns_ = run_->EndOf(kSteps - 50);
  const json status = Ask("status", json::object())["runs"][0];
  EXPECT_TRUE(status["growing"]);
  EXPECT_NE(status["generation"], before["generation"]);
  EXPECT_GT(since_ns_, 1'000'000);  // from late in the run
  const json run = Ask("run", json::object());
  EXPECT_EQ(run["steps"][0]["count"], kSteps - 49);
  EXPECT_EQ(run["steps"][0]["number"].back(), kSteps - 50);
  EXPECT_EQ(run["to"], now_ns_);
  int64_t phases_us = 0;
  for (const json& phase : run["steps"][0]["phases"]["us"])
    phases_us += phase.back().get<int64_t>();
  EXPECT_GT(phases_us, 300);
  EXPECT_EQ(run["hash"], before["hash"]);
  // All that was recorded is counted once.
  const Store whole = run_->Read(now_ns_);
  EXPECT_EQ(run["events"], whole.operator_calls.size() + whole.module_calls.size() +
                               whole.phase_calls.size() + whole.api_calls.size() +
                               whole.kernels.size());
  EXPECT_EQ(Ask("find", {{"text", "MmBackward0"}})["events"], (kSteps - 49) * 6);
  // A new event with all that is known of it.
  const json last = Ask("next", {{"text", "aten::op"}, {"at", now_ns_}, {"direction", -1}});
  EXPECT_GT(last["event"]["from"], before["to"]);
  const json event = Ask("event", {{"ref", last["event"]["ref"]}});
  EXPECT_EQ(event["step"]["number"], kSteps - 50);
  EXPECT_EQ(event["parents"].size(), 2u);
  EXPECT_FALSE(event["fields"].empty());
  const json kernel = Ask("next", {{"text", "kernel"}, {"at", now_ns_}, {"direction", -1}});
  EXPECT_EQ(Ask("event", {{"ref", kernel["event"]["ref"]}})["links"][0]["kind"], "launch");
}

TEST_F(GrowingTest, HasTablesOfEitherPart) {
  ASSERT_TRUE(context_.runs[0]->Read().ok());
  now_ns_ = run_->EndOf(kSteps - 50);
  Ask("status", json::object());
  const Snapshot whole(std::make_shared<const Store>(run_->Read(now_ns_)), {}, 1);
  const auto rows = [&](int64_t first, int64_t last) {
    const json made = Ask("range", {{"first_step", first},
                                    {"last_step", last},
                                    {"tables", {"phases", "operators", "kernels"}}});
    json found = json::array();
    for (const json& table : made["tables"]) found.push_back(table["rows"].size());
    EXPECT_EQ(made["first_step"], first);
    return std::pair(found, made);
  };
  const auto expect_like_whole = [&](int64_t first, int64_t last) {
    const timeline::RangeTables made =
        whole.MakeTables({.by_steps = true,
                          .first_step = first,
                          .last_step = last,
                          .keys = {"phases", "operators", "kernels"}});
    const auto [found, answer] = rows(first, last);
    ASSERT_EQ(found.size(), made.tables.size());
    for (size_t i = 0; i < made.tables.size(); ++i) {
      EXPECT_EQ(found[i], made.tables[i].rows.size()) << made.tables[i].name;
    }
    EXPECT_EQ(answer["from"], made.from_ns);
    EXPECT_EQ(answer["to"], made.to_ns);
  };
  expect_like_whole(100, 110);
  expect_like_whole(int64_t{kSteps} - 100, int64_t{kSteps} - 60);
  const json both = rows(100, int64_t{kSteps} - 60).second;
  EXPECT_LT(both["last_step"], int64_t{kSteps} - 60);
  EXPECT_NE(both["notes"][0].get<std::string>().find("not read together"), std::string::npos);
}

json TablesJson(const timeline::RangeTables& made) {
  json tables = json::object();
  for (const ResultTable& table : made.tables) {
    if (table.name == "events") continue;
    json& rows = tables[std::string(table.name)] = json::array();
    for (const std::vector<Cell>& row : table.rows) {
      json cells = json::array();
      for (const Cell& cell : row) {
        cells.push_back(std::visit(
            [](const auto& value) {
              if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>) {
                return json(nullptr);
              } else {
                return json(value);
              }
            },
            // The operator that launches a kernel most often is that of a reading.
            table.name == "kernels" && std::holds_alternative<std::string>(cell) ? Cell() : cell));
      }
      rows.push_back(std::move(cells));
    }
  }
  return tables;
}

// Number, kind, length and the rest, of the first steps after the seam as of the last ones.
TEST_F(GrowingTest, MeasuresNewStepsAsOneReadingDoes) {
  ASSERT_TRUE(context_.runs[0]->Read().ok());
  const int64_t seam_ns = context_.runs[0]->snapshot()->FindSeam().at_ns;
  now_ns_ = run_->EndOf(kSteps - 50);
  Ask("status", json::object());
  ASSERT_GT(since_ns_, 0);
  const Snapshot whole(std::make_shared<const Store>(run_->Read(now_ns_)), {}, 1);
  int64_t first = 0;
  for (const Step& step : whole.timeline().steps().Main()->steps) first += step.end_ns <= seam_ns;
  for (const int64_t from : {first, first + 1, first + 30, int64_t{kSteps} - 60}) {
    for (const int64_t count : {1, 5}) {
      SCOPED_TRACE(from);
      const timeline::RangeRequest request{
          .by_steps = true,
          .first_step = from,
          .last_step = from + count - 1,
          .keys = {"steps", "gpu_steps", "phases", "operators", "kernels", "modules"}};
      const json expected = TablesJson(whole.MakeTables(request));
      EXPECT_EQ(expected["steps"].size(), static_cast<size_t>(count));
      EXPECT_EQ(expected["gpu_steps"].size(), static_cast<size_t>(count));
      EXPECT_EQ(TablesJson(context_.runs[0]->snapshot()->MakeTables(request)), expected);
    }
  }
}

// By table, row and reading; of events that the other reading tells there is none.
TEST_F(GrowingTest, FindsAnEventAgain) {
  ASSERT_TRUE(context_.runs[0]->Read().ok());
  const int64_t seam_ns = context_.runs[0]->snapshot()->FindSeam().at_ns;
  now_ns_ = run_->EndOf(kSteps - 50);
  Ask("status", json::object());
  std::set<std::tuple<std::string, int64_t, int64_t>> seen;
  const auto look = [&](int64_t at_ns, const char* text) {
    const json next = Ask("next", {{"text", text}, {"at", at_ns}, {"direction", -1}})["event"];
    const json event = Ask("event", {{"ref", next["ref"]}});
    EXPECT_TRUE(seen.emplace(event["table"], event["row"], event.value("reading", 0)).second);
    EXPECT_EQ(Ask("event", {{"table", event["table"]},
                            {"row", event["row"]},
                            {"reading", event.value("reading", 0)}}),
              event);
    return event;
  };
  for (const char* text : {"aten::op", "MmBackward0", "kernel", "Model"}) {
    EXPECT_EQ(look(seam_ns - 1'000'000, text).value("reading", 0), 0);
    EXPECT_EQ(look(now_ns_, text)["reading"], 1);
  }
  const json steps = Ask("run", json::object())["steps"][0];
  const int64_t last = steps["count"].get<int64_t>() - 1;
  const json step = Ask("event", {{"table", "steps"}, {"row", last}});
  EXPECT_EQ(step["from"], steps["from"].back());
  EXPECT_EQ(step["ref"], steps["first_ref"].get<int64_t>() + last);
  // Rows of the older of what began after the seam.
  const Store older = run_->Read(run_->EndOf(kSteps - 200));
  size_t hidden = 0;
  for (size_t row = 0; row < older.module_calls.size(); ++row) {
    if (older.module_calls.start_ns[row] < seam_ns || ++hidden % 100 != 1) continue;
    const std::string body = json{{"table", "module_calls"}, {"row", row}}.dump();
    EXPECT_EQ(Post("event", body).status, 404);
  }
  EXPECT_GT(hidden, 0u);
}

// What is not sure to be told as one reading would is read whole.
TEST_F(GrowingTest, IsReadWholeWhereTwoReadingsAreNotSound) {
  using testing::GrowingKind;
  for (const auto& [kind, asks_for_newer] :
       {std::pair(GrowingKind::kTwoRanks, false), std::pair(GrowingKind::kNamedByTens, false),
        std::pair(GrowingKind::kLateRank, true), std::pair(GrowingKind::kLateFact, true)}) {
    SCOPED_TRACE(static_cast<int>(kind));
    Serve(kind);
    since_ns_ = 0;
    ASSERT_TRUE(context_.runs[0]->Read().ok());
    now_ns_ = run_->EndOf(kSteps - 50);
    Ask("status", json::object());
    EXPECT_EQ(since_ns_ != 0, asks_for_newer);
    EXPECT_TRUE(context_.runs[0]->growing());
    const auto store = std::make_shared<const Store>(run_->Read(now_ns_));
    const Snapshot whole(store, {}, 1);
    json run = Ask("run", json::object());
    json expected = timeline::RunJson(
        whole.timeline(), {.generation = run["generation"], .growing = true, .complete = true});
    EXPECT_EQ(run, expected);
  }
}

TEST_F(GrowingTest, GoesOnWithNumbersOfNamesThatRiseByOne) {
  Serve(testing::GrowingKind::kNamedByOnes);
  ASSERT_TRUE(context_.runs[0]->Read().ok());
  now_ns_ = run_->EndOf(kSteps - 50);
  Ask("status", json::object());
  EXPECT_GT(since_ns_, 0);
  const Snapshot whole(std::make_shared<const Store>(run_->Read(now_ns_)), {}, 1);
  const json expected = timeline::RunJson(whole.timeline(), {})["steps"][0];
  const json steps = Ask("run", json::object())["steps"][0];
  for (const char* key : {"number", "from", "to", "kinds", "marker"}) {
    EXPECT_EQ(steps[key], expected[key]) << key;
  }
}

// Then all is read once more.
TEST_F(GrowingTest, IsOneReadingInTheEnd) {
  ASSERT_TRUE(context_.runs[0]->Read().ok());
  now_ns_ = run_->EndOf(kSteps - 1);
  WaitForTheEnd();
  const json run = Ask("run", json::object());
  EXPECT_FALSE(run["growing"]);
  EXPECT_EQ(run["steps"][0]["count"], kSteps);
  EXPECT_EQ(since_ns_, 0);
}

// No thread can be had with a stack of so much (nor, for others, after `ulimit -u`).
TEST_F(GrowingTest, IsReadInTheEndThoughThereWasNoThread) {
  ASSERT_TRUE(context_.runs[0]->Read().ok());
  now_ns_ = run_->EndOf(kSteps - 1);
  pthread_attr_t before, huge;
  ASSERT_EQ(pthread_getattr_default_np(&before), 0);
  ASSERT_EQ(pthread_attr_init(&huge), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&huge, size_t{1} << 50), 0);
  ASSERT_EQ(pthread_setattr_default_np(&huge), 0);
  EXPECT_NO_THROW(context_.runs[0]->Follow());
  EXPECT_EQ(pthread_setattr_default_np(&before), 0);
  EXPECT_FALSE(context_.runs[0]->is_reading_whole());
  EXPECT_TRUE(context_.runs[0]->growing());
  WaitForTheEnd();
}

TEST_F(RoutesTest, AnswersEveryCall) {
  const json status = Ask("status", json::object());
  EXPECT_TRUE(status["runs"][0]["ready"]);
  const json run = Ask("run", json::object());
  EXPECT_EQ(run["steps"][0]["count"], run["steps"][0]["number"].size());
  EXPECT_EQ(run["hash"].get<std::string>().size(), 16u);
  const json matches = Ask("find", {{"text", "aten"}});
  ASSERT_FALSE(matches["matches"].empty());
  const json first = matches["matches"][0];
  const json names = Ask("names", {{"ids", {first["name"]}}});
  EXPECT_EQ(names["names"][0], first["text"]);
  const json event = Ask("event", {{"ref", first["longest_ref"]}});
  EXPECT_EQ(event["name"], first["text"]);
  EXPECT_EQ(event["to"].get<int64_t>() - event["from"].get<int64_t>(),
            first["longest"].get<int64_t>());
  EXPECT_EQ(event["same_name"]["rank"], 1);
  EXPECT_EQ(event["same_name"]["count"], first["count"]);
  const json times = Ask("times", {{"refs", {first["longest_ref"], 4294967295u}}});
  EXPECT_EQ(times["times"], json::array({json::array({event["from"], event["to"]}), nullptr}));
  const json again = Ask("event", {{"table", event["table"]}, {"row", event["row"]}});
  EXPECT_EQ(again, event);
  const json next = Ask(
      "next", {{"name", first["name"]}, {"at", std::to_string(run["from"].get<int64_t>() - 1)}});
  EXPECT_EQ(next["event"]["name"], first["text"]);
  const json longest = Ask("longest", {{"text", "aten"}, {"nth", 1}});
  EXPECT_GT(longest["count"].get<int64_t>(), 1);
  // An operator's name without its last letter is in its name; what is called so comes first.
  const std::string name = first["text"];
  const auto called = [&](const std::string& text) {
    return Ask("longest", {{"text", text}, {"called", 1}})["event"]["name"];
  };
  EXPECT_EQ(called(name), name);
  EXPECT_NE(called(name.substr(0, name.size() - 1)), json(nullptr));
  EXPECT_FALSE(Ask("longest", {{"kind", "gap"}})["event"].is_null());
  const json density = Ask(
      "density", {{"name", first["name"]}, {"from", run["from"]}, {"to", run["to"]}, {"bins", 10}});
  EXPECT_EQ(density["bins"].size(), 10u);
  const json range =
      Ask("range", {{"from", run["from"]}, {"to", run["to"]}, {"tables", {"phases", "events"}}});
  EXPECT_EQ(range["tables"].size(), 2u);
  EXPECT_EQ(range["tables"][0]["rows"][0].size(), range["tables"][0]["columns"].size());
}

TEST_F(RoutesTest, ComparesOnlyWhatIsRead) {
  context_.runs.push_back(SampleRun());
  EXPECT_EQ(Post("compare", "{}").status, 409);
  ASSERT_TRUE(context_.runs[1]->Read().ok());
  EXPECT_FALSE(Ask("compare", json::object())["tables"].empty());
}

TEST_F(RoutesTest, LinksAnEventWithBothEnds) {
  const json run = Ask("run", json::object());
  uint32_t kernels = 0;
  for (const json& table : run["tables"]) {
    if (table["key"] == "kernels") kernels = table["first_ref"];
  }
  const json links = Ask("links", {{"refs", {kernels}}});
  ASSERT_FALSE(links["links"].empty());
  EXPECT_EQ(links["links"][0]["kind"], "launch");
  EXPECT_EQ(links["links"][0]["to"]["ref"], kernels);
}

TEST_F(RoutesTest, SaysWhatIsWrongWithARequest) {
  for (const auto& [call, body] : std::vector<std::pair<std::string, std::string>>{
           {"view", ""},
           {"view", "[]"},
           {"view", "{"},
           {"view", R"({"from": 0, "to": 1, "step": 0, "rows": []})"},
           {"view", R"({"from": 9, "to": 1, "step": 1, "rows": []})"},
           {"view", R"({"from": 0, "to": 1, "step": 1, "rows": [[1, 2]]})"},
           {"view", R"({"from": 1e300, "to": 1, "step": 1, "rows": []})"},
           {"names", R"({"ids": [-1]})"},
           {"names", R"({"ids": 3})"},
           {"times", R"({"refs": [-1]})"},
           {"event", R"({})"},
           {"density", R"({"text": "a", "from": 0, "to": 1, "bins": 999999})"},
           {"find", R"({"text": 5})"},
           {"range", R"({"from": 0})"},
           {"notes_put", R"({"drop": []})"},
           {"notes_put", R"({"set": 5})"},
           {"notes_put", R"({"set": [], "drop": [5]})"},
           {"find", std::string(100, '[')}}) {
    const HttpResponse response = Post(call, body);
    EXPECT_EQ(response.status, 400) << call << " " << body;
    EXPECT_EQ(json::parse(response.body)["error"]["code"], "bad_request");
  }
  EXPECT_EQ(Post("event", R"({"ref": 4294967295})").status, 404);
  EXPECT_EQ(Post("event", R"({"table": "kernels", "row": 4000000000})").status, 404);
  EXPECT_EQ(Post("run", R"({"run": 7})").status, 404);
  EXPECT_EQ(Post("run", R"({"generation": 7})").status, 409);
}

// Whatever a request holds, the answer is one of the protocol's.
TEST_F(RoutesTest, SurvivesMutatedRequests) {
  const std::vector<std::pair<std::string, std::string>> seeds = {
      {"view", R"({"from":"0","to":"900000000","step":"1024","rows":[[0,0,9],[3,1,2]]})"},
      {"event", R"({"table":"operator_calls","row":3})"},
      {"links", R"({"refs":[1,2,70000],"limit":10})"},
      {"next", R"({"text":"aten","at":5,"direction":-1,"track":2})"},
      {"longest", R"({"kind":"gap","nth":2,"from":1,"to":"99999999"})"},
      {"density", R"({"text":"a","from":0,"to":100000,"bins":64})"},
      {"names", R"({"ids":[1,2,3]})"},
      {"times", R"({"refs":[1,2,70000]})"}};
  std::mt19937 random(3);
  for (int round = 0; round < 3000; ++round) {
    auto [call, body] = seeds[random() % seeds.size()];
    for (uint32_t changes = 1 + random() % 4; changes > 0; --changes) {
      const size_t at = random() % body.size();
      if (random() % 3 == 0) {
        body.erase(at, 1 + random() % 5);
      } else if (random() % 2 == 0) {
        body.insert(at, 1, R"({}[]",:-0123456789e.ntf)"[random() % 23]);
      } else {
        body[at] = static_cast<char>(random());
      }
      if (body.empty()) break;
    }
    const int status = Post(call, body).status;
    EXPECT_TRUE(status == 200 || status == 400 || status == 404 || status == 409) << body;
  }
}

}  // namespace
}  // namespace batchlight::serve
