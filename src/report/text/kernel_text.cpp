#include "report/text/kernel_text.h"

#include <cctype>

namespace batchlight {
namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)::";

bool IsNameCharacter(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// "(unsigned long)3" in a template argument: the length of the cast before a number.
size_t CastLength(std::string_view text) {
  if (text.empty() || text[0] != '(') return 0;
  size_t end = 1;
  while (end < text.size() && (IsNameCharacter(text[end]) || text[end] == ' ')) ++end;
  const bool number =
      end + 1 < text.size() && text[end] == ')' &&
      (std::isdigit(static_cast<unsigned char>(text[end + 1])) || text[end + 1] == '-');
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
  return holds("Functor") || holds("KernelImpl") || word.ends_with("_functor") ||
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

std::string KernelLabel(std::string_view demangled) {
  std::string plain = PlainKernelName(demangled);
  const std::string base = plain.substr(0, plain.find('<'));
  if (base.size() == plain.size() || !IsGeneric(base)) return plain;
  const size_t arguments = demangled.find(base + "<") + base.size();
  const std::string_view work = FirstWorkName(demangled.substr(arguments));
  return work.empty() ? plain : std::string(work) + " · " + base;
}

std::string PlainKernelName(std::string_view demangled) {
  std::string_view name = demangled.substr(0, ParametersOf(demangled));
  if (name.starts_with("void ")) name.remove_prefix(5);
  std::string plain;
  size_t word = 0;  // in `plain`: start of the qualified name that is being read
  for (size_t i = 0; i < name.size();) {
    if (name.substr(i).starts_with(kAnonymous)) {
      i += kAnonymous.size();
    } else if (const size_t cast = CastLength(name.substr(i)); cast > 0) {
      i += cast;
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
