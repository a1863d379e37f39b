#include "analysis/advice/code_hints.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace batchlight::advice {
namespace {

// Samples of functions of these files, each with its ns.
CodeHint HintOf(const std::vector<std::pair<const char*, int64_t>>& files) {
  Store store;
  SampledTime time;
  for (const auto& [file, ns] : files) {
    time.all_ns += ns;
    time.innermost.push_back(
        {.file = store.strings.Intern(file), .function = "f", .line = 1, .ns = ns});
  }
  return HintFor(store, time);
}

TEST(CodeHints, AreOfTheKindThatHoldsAThird) {
  const CodeHint hint = HintOf({{"/home/u/train.py", 55},
                                {"/usr/lib/python3.11/subprocess.py", 40},
                                {"/usr/lib/python3.11/json/encoder.py", 5}});
  EXPECT_NE(hint.text.find("another program"), std::string::npos) << hint.text;
  EXPECT_TRUE(hint.before_workers);
  EXPECT_EQ(HintOf({{"/home/u/train.py", 80}, {"/usr/lib/python3.11/subprocess.py", 20}}).text, "");
  EXPECT_EQ(HintOf({}).text, "");
}

TEST(CodeHints, PackagesOfAKindCountTogether) {
  const CodeHint hint =
      HintOf({{"/home/u/train.py", 60},
              {"/venv/lib/python3.11/site-packages/PIL/Image.py", 20},
              {"/venv/lib/python3.11/site-packages/torchvision/transforms/functional.py", 20}});
  EXPECT_NE(hint.text.find("as tensors"), std::string::npos) << hint.text;
  EXPECT_FALSE(hint.before_workers) << "workers take that off the loop at once";
}

TEST(CodeHints, WhatIsWrittenAndReadAgainIsNotParsedOnce) {
  const char* const encoder = "/usr/lib/python3.11/json/encoder.py";
  const char* const decoder = "/usr/lib/python3.11/json/decoder.py";
  for (const auto& files :
       {std::vector<std::pair<const char*, int64_t>>{{encoder, 20}, {decoder, 50}},
        {{encoder, 50}, {"/home/u/train.py", 50}}}) {
    EXPECT_TRUE(HintOf(files).text.starts_with("To write numbers")) << HintOf(files).text;
  }
  EXPECT_TRUE(HintOf({{encoder, 5}, {decoder, 50}}).text.starts_with("Parse once"));
}

TEST(CodeHints, AFileOfTheProgramOfThatNameIsNone) {
  EXPECT_EQ(HintOf({{"/home/u/pandas.py", 100}}).text, "");
  EXPECT_EQ(HintOf({{"/home/u/json/reader.py", 100}}).text, "");
}

// The first two words of the hint for a function that spends most of its time in a line with this
// text, all of it without another function below that.
std::string HintOfLine(const char* text, int64_t line_ns = 90, int64_t below_ns = 0) {
  Store store;
  const SampledFunction function{.file = store.strings.Intern("/home/u/train.py"),
                                 .function = "f",
                                 .line = 3,
                                 .text = store.strings.Intern(text),
                                 .line_ns = line_ns,
                                 .alone_ns = line_ns - below_ns,
                                 .ns = 100};
  const std::string hint = HintFor(store, function).text;
  const SampledTime time{.functions = {function}, .innermost = {function}, .all_ns = 100};
  EXPECT_EQ(HintFor(store, time).text, hint) << "alone or among others";
  return hint.substr(0, hint.find(' ', hint.find(' ') + 1));
}

TEST(CodeHints, OfALineThatHoldsAThird) {
  EXPECT_EQ(HintOfLine("batch = random.sample(self.memory, self.batch_size)"),
            "random.sample draws");
  EXPECT_EQ(HintOfLine("batch = random.sample(self.memory, self.batch_size)", 30), "");
  EXPECT_EQ(HintOfLine("x = torch.tensor([s.state for s in batch])"), "A tensor");
  EXPECT_EQ(HintOfLine("place = self.names.index(name)"), "list.index() and");
  EXPECT_EQ(HintOfLine("self.queue.pop(0)"), "list.pop(0) and");
  EXPECT_EQ(HintOfLine("words = line.lower().split()"), "Split and");
  EXPECT_EQ(HintOfLine("y = self.linear(x)"), "");
  EXPECT_EQ(HintOfLine(""), "");
}

TEST(CodeHints, OfWhatALineDoesItselfIsNotOfWhatItCalls) {
  const char* const acts = "logits = actor(torch.tensor([observation]))";
  EXPECT_EQ(HintOfLine(acts, 90), "A tensor");
  EXPECT_EQ(HintOfLine(acts, 90, 80), "") << "the actor takes it";
  EXPECT_EQ(HintOfLine("x = cut(json.loads(line))", 90, 80), "Parse once,") << "is Python";
}

TEST(CodeHints, OfALineOnlyWhereTheNameIsWhole) {
  EXPECT_EQ(HintOfLine("with open(path) as file:"), "Open and");
  EXPECT_EQ(HintOfLine("self.reopen(path)"), "");
  EXPECT_EQ(HintOfLine("a, b = x.split(16)"), "") << "a tensor's";
  EXPECT_EQ(HintOfLine("# torch.tensor([1])"), "");
}

TEST(CodeHints, OfWhatGrows) {
  EXPECT_EQ(HintOfLine("self.states = torch.cat([self.states, state])"), "What grows");
  EXPECT_EQ(HintOfLine("rows = np.vstack((rows, row))"), "What grows");
  EXPECT_EQ(HintOfLine("both = torch.cat([left, right])"), "");
  EXPECT_EQ(HintOfLine("h = self.cell(torch.cat([self.embed(token), context], 1), h)"), "");
}

TEST(CodeHints, OfWhatIsChosenByItsValue) {
  EXPECT_EQ(HintOfLine("return self.items[self.users == user]"), "An index");
  EXPECT_EQ(HintOfLine("if rows[0] == 1:"), "");
  EXPECT_EQ(HintOfLine("return [x for x in xs if x.key == key]"), "") << "no array";
}

TEST(CodeHints, OfQuestionsToLists) {
  EXPECT_EQ(HintOfLine("if word not in self.stop_words:"), "If what");
  EXPECT_EQ(HintOfLine("return [w for w in words if w in vocabulary]"), "If what");
  EXPECT_EQ(HintOfLine("for word in words:"), "") << "asks nothing";
  EXPECT_EQ(HintOfLine("return [f(w) for w in words]"), "");
}

TEST(CodeHints, PackagesComeBeforeLines) {
  Store store;
  const SampledFunction own{.file = store.strings.Intern("/home/u/train.py"),
                            .function = "f",
                            .line = 3,
                            .text = store.strings.Intern("if x not in rows.values:"),
                            .line_ns = 100,
                            .ns = 100};
  const SampledFunction inner{
      .file = store.strings.Intern("/venv/lib/python3.11/site-packages/pandas/core/frame.py"),
      .function = "values",
      .line = 7,
      .ns = 60};
  const SampledTime time{.functions = {own}, .innermost = {inner}, .all_ns = 100};
  EXPECT_EQ(HintFor(store, time).text.substr(0, 16), "Take the columns");
}

}  // namespace
}  // namespace batchlight::advice
