// Who may ask. Other users of the machine can connect to the loopback interface, and any page in
// the browser can send requests there, even as if it were ours (DNS rebinding). So: a token that
// only the printed URL has, Host must be a name of this machine's loopback, Origin must be that
// Host.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "serve/http.h"

namespace batchlight::serve {

class Tickets;

struct AccessRules {
  std::string token;                         // 64 hex digits
  std::vector<std::string> hosts;            // besides localhost, 127.0.0.1 and [::1]
  std::vector<std::string> frame_ancestors;  // origins whose pages may show ours in a frame
  std::shared_ptr<Tickets> tickets;          // none: there are none
};

// 256 bits of the kernel's random numbers, in hex.
Result<std::string> NewToken();

// Takes as long for every token of this length.
bool IsToken(std::string_view expected, std::string_view given);

// Status 200, or the refusal. Needs no body. A ticket is taken.
HttpResponse CheckAccess(const AccessRules& rules, const HttpRequest& request);
// To what was let through: of who has the token to a new ticket, of who has a ticket to the token.
// Nothing: it is about something else.
std::optional<HttpResponse> AnswerAccess(const AccessRules& rules, const HttpRequest& request);

// The header Content-Security-Policy.
std::string ContentPolicy(const AccessRules& rules);

// Whether this is a plain host name or address, as --allow-host takes it.
bool IsHostName(std::string_view name);
// "https://hub.example.org" or with a port, as --frame-ancestor takes it.
bool IsOrigin(std::string_view origin);

}  // namespace batchlight::serve
