#include "analysis/desync/pickle.h"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace batchlight {
namespace {

enum Opcode : uint8_t {
  kMark = '(',
  kStop = '.',
  kReal = 'G',
  kInt4 = 'J',
  kInt1 = 'K',
  kInt2 = 'M',
  kNone = 'N',
  kReduce = 'R',
  kText4 = 'X',
  kAppend = 'a',
  kGlobal = 'c',
  kAppends = 'e',
  kGet1 = 'h',
  kGet4 = 'j',
  kList = 'l',
  kDictionary = 'd',
  kPut1 = 'q',
  kPut4 = 'r',
  kSetItem = 's',
  kTuple = 't',
  kSetItems = 'u',
  kEmptyDictionary = '}',
  kEmptyList = ']',
  kEmptyTuple = ')',
  kProtocol = 0x80,
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kTrue = 0x88,
  kFalse = 0x89,
  kLong1 = 0x8a,
  kText1 = 0x8c,
  kText8 = 0x8d,
  kMemoize = 0x94,
  kFrame = 0x95,
};

// What PyTorch's writer calls to make a list of one kind, or to name the types of one: the first
// argument is what comes of it.
constexpr std::string_view kKnownModule = "torch.jit._pickle";

constexpr uint32_t kNoNode = UINT32_MAX;
constexpr size_t kMostOpenLists = 1000;  // in each other

class Reader {
 public:
  Reader(std::string_view bytes, size_t most_values) : bytes_(bytes), most_values_(most_values) {}

  Result<PlainTree> Read() {
    while (error_.empty()) {
      const auto code = static_cast<Opcode>(Number(1));
      if (!error_.empty()) break;
      if (code == kStop) return Finish();
      Do(code);
      if (tree_.size() + named_ > most_values_) FailAsTooLarge();
    }
    return InputError("byte " + std::to_string(at_) + ": " + error_);
  }

 private:
  void Fail(std::string_view why) {
    if (error_.empty()) error_ = why;
  }

  void FailAsTooLarge() { Fail("it has over " + std::to_string(most_values_) + " values"); }

  Result<PlainTree> Finish() {
    if (stack_.size() != 1 || !marks_.empty())
      return InputError("it ends in the middle of a value");
    tree_.SetRoot(stack_[0]);
    return std::move(tree_);
  }

  std::string_view Bytes(uint64_t count) {
    if (count > bytes_.size() - at_) {
      Fail("the end is missing");
      return {};
    }
    const std::string_view taken = bytes_.substr(at_, count);
    at_ += count;
    return taken;
  }

  // Little-endian.
  uint64_t Number(size_t count) {
    uint64_t value = 0;
    const std::string_view bytes = Bytes(count);
    for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[i]);
    return value;
  }

  std::string_view Line() {
    const size_t end = bytes_.find('\n', at_);
    if (end == std::string_view::npos) {
      Fail("the end is missing");
      return {};
    }
    const std::string_view line = bytes_.substr(at_, end - at_);
    at_ = end + 1;
    return line;
  }

  void Push(uint32_t node) { stack_.push_back(node); }

  // Where what the last mark began with lies on the stack.
  size_t TakeMark() {
    if (marks_.empty()) {
      Fail("a list ends that never began");
      return stack_.size();
    }
    const size_t mark = marks_.back();
    marks_.pop_back();
    return mark;
  }

  // What lies under the last mark has to stay there.
  bool Has(size_t count) {
    const size_t floor = marks_.empty() ? 0 : marks_.back();
    if (stack_.size() < floor + count) Fail("a value is missing");
    return error_.empty();
  }

  void PushItemsFrom(size_t begin, PlainKind kind) {
    if (kind == PlainKind::kDictionary && (stack_.size() - begin) % 2 != 0) {
      return Fail("a value is missing");
    }
    const uint32_t list = tree_.AddList(kind, std::span(stack_).subspan(begin));
    stack_.resize(begin);
    Push(list);
  }

  void AddItemsFrom(size_t begin, PlainKind kind) {
    if (!error_.empty()) return;
    const size_t floor = marks_.empty() ? 0 : marks_.back();
    if (begin <= floor || tree_.KindOf(stack_[begin - 1]) != kind) {
      return Fail("items are added to what is no list");
    }
    if (kind == PlainKind::kDictionary && (stack_.size() - begin) % 2 != 0) {
      return Fail("a value is missing");
    }
    tree_.Append(stack_[begin - 1], std::span(stack_).subspan(begin));
    stack_.resize(begin);
  }

  // Writers count from 0.
  void Put(uint64_t number) {
    if (!Has(1)) return;
    if (number >= most_values_) return FailAsTooLarge();
    if (number >= memo_.size()) memo_.resize(number + 1, kNoNode);
    memo_[number] = stack_.back();
  }
  void Get(uint64_t number) {
    if (number >= memo_.size() || memo_[number] == kNoNode) {
      return Fail("a value is named that never was");
    }
    ++named_;
    Push(memo_[number]);
  }
  void Mark() {
    if (marks_.size() >= kMostOpenLists) return Fail("its lists lie too deep in each other");
    marks_.push_back(stack_.size());
  }

  void Global() {
    const std::string_view module = Line(), name = Line();
    if (module != kKnownModule) {
      return Fail("it is not only data: it would import " + std::string(module.substr(0, 60)) +
                  "." + std::string(name.substr(0, 60)));
    }
    Push(tree_.AddNone(true));
  }

  void Reduce() {
    if (!Has(2)) return;
    const uint32_t arguments = stack_.back(), called = stack_[stack_.size() - 2];
    if (!tree_.IsCall(called) || tree_.KindOf(arguments) != PlainKind::kList ||
        tree_.ItemsOf(arguments).empty()) {
      return Fail("it is not only data: it would call something");
    }
    stack_.resize(stack_.size() - 2);
    Push(tree_.ItemsOf(arguments)[0]);
  }

  // Two's complement, of any length; longer than 8 bytes no time or size is.
  void Long() {
    const std::string_view bytes = Bytes(Number(1));
    if (bytes.size() > 8) return Fail("a number is too large");
    uint64_t value =
        !bytes.empty() && static_cast<uint8_t>(bytes.back()) >= 0x80 ? ~uint64_t{0} : 0;
    for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[i]);
    Push(tree_.AddInteger(static_cast<int64_t>(value)));
  }

  void Real() {
    uint64_t bits = 0;
    for (const char byte : Bytes(8)) bits = bits << 8 | static_cast<uint8_t>(byte);
    double value;
    std::memcpy(&value, &bits, sizeof value);
    Push(tree_.AddReal(value));
  }

  // A value by itself. False: it is something else.
  bool PushValue(Opcode code) {
    switch (code) {
      case kNone:
        Push(tree_.AddNone());
        return true;
      case kTrue:
      case kFalse:
        Push(tree_.AddBool(code == kTrue));
        return true;
      case kInt1:
        Push(tree_.AddInteger(static_cast<int64_t>(Number(1))));
        return true;
      case kInt2:
        Push(tree_.AddInteger(static_cast<int64_t>(Number(2))));
        return true;
      case kInt4:
        Push(tree_.AddInteger(static_cast<int32_t>(Number(4))));
        return true;
      case kLong1:
        Long();
        return true;
      case kReal:
        Real();
        return true;
      case kText1:
        Push(tree_.AddText(Bytes(Number(1))));
        return true;
      case kText4:
        Push(tree_.AddText(Bytes(Number(4))));
        return true;
      case kText8:
        Push(tree_.AddText(Bytes(Number(8))));
        return true;
      case kEmptyDictionary:
        Push(tree_.AddList(PlainKind::kDictionary, {}));
        return true;
      case kEmptyList:
      case kEmptyTuple:
        Push(tree_.AddList(PlainKind::kList, {}));
        return true;
      default:
        return false;
    }
  }

  void PushTuple(size_t count) {
    if (Has(count)) PushItemsFrom(stack_.size() - count, PlainKind::kList);
  }
  void AddLast(size_t count, PlainKind kind) {
    if (Has(count + 1)) AddItemsFrom(stack_.size() - count, kind);
  }

  void Do(Opcode code) {
    if (PushValue(code)) return;
    switch (code) {
      case kProtocol:
        return void(Number(1));
      case kFrame:
        return void(Number(8));
      case kMark:
        return Mark();
      case kTuple1:
      case kTuple2:
      case kTuple3:
        return PushTuple(static_cast<size_t>(code - kTuple1) + 1);
      case kTuple:
      case kList:
        return PushItemsFrom(TakeMark(), PlainKind::kList);
      case kDictionary:
        return PushItemsFrom(TakeMark(), PlainKind::kDictionary);
      case kAppend:
        return AddLast(1, PlainKind::kList);
      case kAppends:
        return AddItemsFrom(TakeMark(), PlainKind::kList);
      case kSetItem:
        return AddLast(2, PlainKind::kDictionary);
      case kSetItems:
        return AddItemsFrom(TakeMark(), PlainKind::kDictionary);
      case kPut1:
        return Put(Number(1));
      case kPut4:
        return Put(Number(4));
      case kMemoize:
        return Put(memo_.size());
      case kGet1:
        return Get(Number(1));
      case kGet4:
        return Get(Number(4));
      case kGlobal:
        return Global();
      case kReduce:
        return Reduce();
      default:
        return Fail("it is not only data (opcode " + std::to_string(code) + ")");
    }
  }

  std::string_view bytes_;
  const size_t most_values_;
  size_t at_ = 0;
  std::string error_;
  PlainTree tree_;
  std::vector<uint32_t> stack_;
  std::vector<size_t> marks_;   // sizes of the stack
  std::vector<uint32_t> memo_;  // nodes by number, kNoNode between them
  size_t named_ = 0;            // how often nodes were named by such a number
};

}  // namespace

bool IsPickle(std::string_view bytes) {
  return bytes.size() > 2 && static_cast<uint8_t>(bytes[0]) == kProtocol && bytes[1] >= 2 &&
         bytes[1] <= 5;
}

Result<PlainTree> ReadPickle(std::string_view bytes, size_t most_values) {
  return Reader(bytes, most_values).Read();
}

}  // namespace batchlight
