// batchlight stop: end the recording of a session; its program runs on.
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "capture/recording/sealed_recording.h"
#include "capture/session/session_protocol.h"
#include "cli/commands/after_recording.h"
#include "cli/commands/session_choice.h"
#include "cli/flags/command.h"

namespace batchlight::cli {
namespace {

Status Stop(const std::string& session) {
  ASSIGN_OR_RETURN(const std::string name, ChooseSession(session, false));
  capture::Request request;
  request.verb = "stop";
  ASSIGN_OR_RETURN(const capture::Reply reply, capture::AskSession(name, request));
  RETURN_IF_ERROR(reply.ToStatus());
  capture::CaptureOptions options;
  capture::SealedRecordings recordings;
  std::shared_ptr<const Folder> folder;
  size_t begin = reply.text.find('\n');
  capture::DecodeAfter(reply.text.substr(0, begin), options);
  while (begin != std::string::npos) {
    const size_t end = reply.text.find('\n', begin + 1);
    const std::string line = reply.text.substr(begin + 1, end - begin - 1);
    const size_t space = line.find(' ');
    const std::string path = line.substr(space + 1);
    if (!folder) {  // that of all of them
      ASSIGN_OR_RETURN(Folder parent, Folder::OpenParent(path));
      folder = std::make_shared<const Folder>(std::move(parent));
    }
    recordings.push_back(
        std::make_shared<capture::SealedRecording>(path, folder, line.substr(0, space)));
    begin = end;
  }
  return AfterRecording(recordings, options, SummaryOn(stdout));
}

}  // namespace

void RegisterStop(const Command& app, Outcome& outcome) {
  auto session = std::make_shared<std::string>();
  const Command command = app.Add("stop", "End the recording of a session; the program runs on");
  command.Option("--session", session.get(), kSessionHelp).TypeName("SESSION");
  command.Runs([session, &outcome] { outcome.status = Stop(*session); });
}

}  // namespace batchlight::cli
