#include "cli/flags/command.h"

#include <CLI/CLI.hpp>
#include <utility>

#include "cli/flags/parse_error.h"

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
  option_->check(CLI::IsMember(std::vector<std::string>(words.begin(), words.end())));
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

FlagHandle& FlagHandle::Excludes(const std::string& other) {
  option_->excludes(other);
  return *this;
}

Command Command::Add(const std::string& name, const std::string& what) const {
  return Command(app_->add_subcommand(name, what));
}

#define OPTION(Type)                                                                         \
  FlagHandle Command::Option(const std::string& names, Type* value, const std::string& help) \
      const {                                                                                \
    return FlagHandle(app_->add_option(names, *value, help));                                \
  }
OPTION(std::string)
OPTION(std::vector<std::string>)
OPTION(std::optional<std::string>)
OPTION(bool)
OPTION(size_t)
OPTION(int64_t)
OPTION(int)
OPTION(double)
#undef OPTION

FlagHandle Command::Switch(const std::string& names, bool* value, const std::string& help) const {
  return FlagHandle(app_->add_flag(names, *value, help));
}

void Command::TakeAllWords() const { app_->prefix_command(); }

void Command::NeedsSubcommand() const { app_->require_subcommand(1); }

void Command::Runs(std::function<void()> function) const { app_->callback(std::move(function)); }

bool Command::Given(const std::string& flag) const { return app_->count(flag) > 0; }

std::vector<std::string> Command::FlagNames() const { return FlagsOf(*app_); }

}  // namespace batchlight::cli
