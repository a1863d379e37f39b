#include "cli/flags/command.h"

#include <CLI/CLI.hpp>
#include <utility>

namespace batchlight::cli {

FlagHandle& FlagHandle::Required() {
  option_->required();
  return *this;
}

FlagHandle& FlagHandle::TypeName(const std::string& name) {
  option_->type_name(name);
  return *this;
}

FlagHandle& FlagHandle::Help(const std::string& text) {
  option_->description(text);
  return *this;
}

FlagHandle& FlagHandle::NotNegative() {
  option_->check(CLI::Validator(
      [](const std::string& text) {
        return text.starts_with("-") ? text + " is less than 0" : std::string();
      },
      ""));
  return *this;
}

FlagHandle& FlagHandle::OneOf(std::initializer_list<const char*> words) {
  CLI::IsMember member(std::vector<std::string>(words.begin(), words.end()));
  member.description("");  // the type's name below has the words
  option_->check(member);
  std::string values;
  for (const char* word : words) values += (values.empty() ? "" : "|") + std::string(word);
  option_->type_name(values);
  return *this;
}

FlagHandle& FlagHandle::ShowDefault() {
  option_->capture_default_str();
  return *this;
}

FlagHandle& FlagHandle::DefaultText(const std::string& text) {
  option_->default_str(text);
  return *this;
}

FlagHandle& FlagHandle::ValueIsOptional() {
  option_->expected(0, 1);
  return *this;
}

FlagHandle& FlagHandle::OneValueEach() {
  option_->allow_extra_args(false);
  return *this;
}

FlagHandle& FlagHandle::Group(const std::string& title) {
  option_->group(title);
  return *this;
}

FlagHandle& FlagHandle::Excludes(const std::string& other) {
  option_->excludes(other);
  return *this;
}

Command Command::Add(const std::string& name, const std::string& what) const {
  return Command(app_->add_subcommand(name, what));
}

#define OPTION(Type, type_name_shown)                                                        \
  FlagHandle Command::Option(const std::string& names, Type* value, const std::string& help) \
      const {                                                                                \
    return FlagHandle(app_->add_option(names, *value, help)->type_name(type_name_shown));    \
  }
OPTION(std::string, "TEXT")
OPTION(std::vector<std::string>, "TEXT")
OPTION(std::optional<std::string>, "TEXT")
OPTION(bool, "true|false")
OPTION(size_t, "N")
OPTION(int64_t, "N")
OPTION(int, "N")
OPTION(double, "NUMBER")
#undef OPTION

FlagHandle Command::Switch(const std::string& names, bool* value, const std::string& help) const {
  return FlagHandle(app_->add_flag(names, *value, help));
}

void Command::Details(const std::string& text) const { app_->footer(text); }

void Command::TakeAllWords() const { app_->prefix_command(); }

void Command::NeedsSubcommand() const { app_->require_subcommand(1); }

void Command::Runs(std::function<void()> function) const { app_->callback(std::move(function)); }

bool Command::Given(const std::string& flag) const { return app_->count(flag) > 0; }

}  // namespace batchlight::cli
