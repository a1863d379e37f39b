#include "report/text/kernel_text.h"

#include <array>
#include <cctype>

#include "base/demangled.h"

namespace batchlight {
namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)::";

bool IsNameCharacter(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

bool IsDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

void ReplaceAll(std::string_view from, std::string_view to, std::string& text) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

// "[lambda(int) (instance 2)]" -> "{lambda(int)#2}".
void RespellLambdas(std::string& text) {
  constexpr std::string_view kInstance = " (instance ";
  ReplaceAll("[lambda(", "{lambda(", text);
  for (size_t at = 0; (at = text.find(kInstance, at)) != std::string::npos; ++at) {
    const size_t digits = at + kInstance.size();
    size_t end = digits;
    while (end < text.size() && IsDigit(text[end])) ++end;
    if (text.compare(end, 2, ")]") != 0) continue;
    text.replace(end, 2, "}");
    text.replace(at, kInstance.size(), "#");
  }
}

// Parameters of a function that a lambda stands in: nsys writes T1 for types that others name.
void DropInnerParameters(std::string& text) {
  for (size_t end = 0; (end = text.find(")", end)) != std::string::npos; ++end) {
    const std::string_view after = std::string_view(text).substr(end + 1);
    if (!after.starts_with("::{") && !after.starts_with(" const::{")) continue;
    int depth = 0;
    size_t begin = end;
    for (;; --begin) {
      if (text[begin] == ')') ++depth;
      if (text[begin] == '(' && --depth == 0) break;
      if (begin == 0) return;
    }
    text.erase(begin, end + 1 - begin);
    end = begin;
  }
  ReplaceAll(" const::{", "::{", text);
  ReplaceAll(", void ", ", ", text);
  ReplaceAll("<void ", "<", text);
}

// nsys demangles in a way of its own: here its names are respelled as __cxa_demangle's.
std::string Respelled(std::string_view name) {
  std::string text = DemangledName(name);
  constexpr auto kSpellings =
      std::to_array<std::pair<std::string_view, std::string_view>>({{"<unnamed>::", kAnonymous},
                                                                    {"operator ()", "operator()"},
                                                                    {"(bool)0", "false"},
                                                                    {"(bool)1", "true"},
                                                                    {" *", "*"},
                                                                    {" &", "&"}});
  for (const auto& [theirs, ours] : kSpellings) ReplaceAll(theirs, ours, text);
  while (text.find("> >") != std::string::npos) ReplaceAll("> >", ">>", text);
  RespellLambdas(text);
  DropInnerParameters(text);
  return text;
}

// "3ul": the length of the suffix of a number, whose digits are at the end of `plain`.
size_t SuffixLength(std::string_view plain, std::string_view text) {
  size_t digits = plain.size();
  while (digits > 0 && IsDigit(plain[digits - 1])) --digits;
  if (digits == plain.size() || (digits > 0 && IsNameCharacter(plain[digits - 1]))) return 0;
  size_t length = 0;
  while (length < text.size() && (text[length] == 'u' || text[length] == 'l')) ++length;
  return length < text.size() && IsNameCharacter(text[length]) ? 0 : length;
}

// "(unsigned long)3" in a template argument: the length of the cast before a number.
size_t CastLength(std::string_view text) {
  if (text.empty() || text[0] != '(') return 0;
  size_t end = 1;
  while (end < text.size() &&
         (IsNameCharacter(text[end]) || text[end] == ' ' || text[end] == ':')) {
    ++end;
  }
  const bool number =
      end + 1 < text.size() && text[end] == ')' && (IsDigit(text[end + 1]) || text[end + 1] == '-');
  return number ? end + 1 : 0;
}

// Where the parameter list starts: the first '(' outside of <...>.
size_t ParametersOf(std::string_view name) {
  int depth = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>') --depth;
    if (name[i] != '(' || depth > 0) continue;
    if (!name.substr(i).starts_with(kAnonymous)) return i;
    i += kAnonymous.size() - 1;
  }
  return name.size();
}

bool IsGeneric(std::string_view base) {
  return base.ends_with("elementwise_kernel") || base.ends_with("reduce_kernel") ||
         base.ends_with("multi_tensor_apply_kernel");
}

// True for names that say what is computed: sum_functor, CUDAFunctor_add, lerp_scalar_kernel,
// direct_copy_kernel_cuda. Names of wrappers only say how a functor is called.
bool NamesWork(std::string_view word) {
  for (const char* wrapper : {"AUnaryFunctor", "BUnaryFunctor", "BinaryFunctor"}) {
    if (word == wrapper) return false;
  }
  const auto holds = [&](std::string_view part) {
    return word.find(part) != std::string_view::npos;
  };
  if (word.starts_with("gpu_kernel_impl")) return false;
  return holds("Functor") || holds("KernelImpl") || word.ends_with("_functor") ||
         word.ends_with("_kernel_impl") || word.starts_with("launch_") ||
         word.ends_with("_kernel") || word.ends_with("_kernel_cuda") ||
         word.ends_with("_cuda_kernel") || word.ends_with("Ops");
}

// The first word of `text` for which NamesWork, or "".
std::string_view FirstWorkName(std::string_view text) {
  for (size_t begin = 0; begin < text.size();) {
    size_t end = begin;
    while (end < text.size() && IsNameCharacter(text[end])) ++end;
    const std::string_view word = text.substr(begin, end - begin);
    if (NamesWork(word)) return word;
    begin = end + 1;
  }
  return {};
}

}  // namespace

std::string KernelLabel(std::string_view name) {
  const std::string demangled = Respelled(name);
  std::string plain = PlainKernelName(demangled);
  const std::string base = plain.substr(0, plain.find('<'));
  if (base.size() == plain.size() || !IsGeneric(base)) return plain;
  const size_t arguments = demangled.find(base + "<") + base.size();
  const std::string_view work = FirstWorkName(std::string_view(demangled).substr(arguments));
  return work.empty() ? plain : std::string(work) + " · " + base;
}

std::string PlainKernelName(std::string_view full) {
  const std::string demangled = Respelled(full);
  std::string_view name = std::string_view(demangled).substr(0, ParametersOf(demangled));
  if (name.starts_with("void ")) name.remove_prefix(5);
  std::string plain;
  size_t word = 0;  // in `plain`: start of the qualified name that is being read
  for (size_t i = 0; i < name.size();) {
    if (name.substr(i).starts_with(kAnonymous)) {
      i += kAnonymous.size();
    } else if (const size_t cast = CastLength(name.substr(i)); cast > 0) {
      i += cast;
    } else if (const size_t suffix = SuffixLength(plain, name.substr(i)); suffix > 0) {
      i += suffix;
    } else if (name.substr(i).starts_with("::")) {
      plain.resize(word);
      i += 2;
    } else {
      if (!IsNameCharacter(name[i])) word = plain.size() + 1;
      plain += name[i++];
    }
  }
  return plain;
}

}  // namespace batchlight
