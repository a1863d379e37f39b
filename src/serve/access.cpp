#include "serve/access.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>

#include "base/random_bytes.h"
#include "serve/peer_user.h"
#include "serve/steady_clock.h"
#include "serve/tickets.h"

namespace batchlight::serve {
namespace {

constexpr std::string_view kOwnHosts[] = {"localhost", "127.0.0.1", "[::1]"};
constexpr std::string_view kBearer = "Bearer ";
constexpr std::string_view kTicket = "Ticket ";
constexpr std::string_view kNewTicket = "/api/1/ticket";
constexpr std::string_view kTokenForTicket = "/api/1/token";

// Without the port: it may be another one behind a tunnel.
std::string_view HostWithoutPort(std::string_view host) {
  const size_t bracket = host.rfind(']');
  const size_t colon = host.rfind(':');
  if (colon == host.npos || (bracket != host.npos && colon < bracket)) return host;
  const std::string_view port = host.substr(colon + 1);
  const bool is_port =
      !port.empty() && port.size() <= 5 && port.find_first_not_of("0123456789") == port.npos;
  return is_port ? host.substr(0, colon) : std::string_view();
}

bool SameText(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) ==
           std::tolower(static_cast<unsigned char>(y));
  });
}

bool IsKnownHost(const AccessRules& rules, std::string_view host) {
  const std::string_view name = HostWithoutPort(host);
  if (name.empty()) return false;
  const auto is_name = [&](std::string_view known) { return SameText(known, name); };
  return std::any_of(std::begin(kOwnHosts), std::end(kOwnHosts), is_name) ||
         std::any_of(rules.hosts.begin(), rules.hosts.end(), is_name);
}

// The Origin is the Host itself; a proxy in front may speak https, and may leave its port out.
bool IsOwnOrigin(const AccessRules& rules, std::string_view origin, std::string_view host) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!origin.starts_with(scheme)) continue;
    const std::string_view named = origin.substr(scheme.size());
    return SameText(HostWithoutPort(named), HostWithoutPort(host)) && IsKnownHost(rules, named);
  }
  return false;
}

}  // namespace

bool IsToken(std::string_view expected, std::string_view given) {
  if (expected.empty() || expected.size() != given.size()) return false;
  unsigned difference = 0;
  for (size_t i = 0; i < given.size(); ++i) {
    difference |= static_cast<unsigned char>(expected[i] ^ given[i]);
  }
  return difference == 0;
}

namespace {

bool IsApi(const HttpRequest& request) { return request.method == "POST"; }

// "Ticket 0123... CLAIM". Another user may have read it where it is stored.
bool HasTicket(const AccessRules& rules, const HttpRequest& request) {
  const std::string_view given = request.authorization;
  if (rules.tickets == nullptr || !given.starts_with(kTicket)) return false;
  const std::string_view words = given.substr(kTicket.size());
  const size_t blank = std::min(words.find(' '), words.size());
  const std::string_view claim = words.substr(std::min(blank + 1, words.size()));
  const bool own =
      request.over_unix_socket || (request.peer.port != 0 && IsOwnPeer(request.peer, request.own));
  return own && rules.tickets->Take(words.substr(0, blank), claim, NowMs());
}

}  // namespace

Result<std::string> NewToken() {
  std::array<unsigned char, 32> bytes{};
  if (!FillRandom(bytes)) {
    return Status::Error(ErrorKind::kInternal,
                         std::string("no random numbers for the token: ") + std::strerror(errno));
  }
  std::string token;
  for (const unsigned char byte : bytes) {
    token += "0123456789abcdef"[byte >> 4];
    token += "0123456789abcdef"[byte & 15];
  }
  return token;
}

HttpResponse CheckAccess(const AccessRules& rules, const HttpRequest& request) {
  if (!IsKnownHost(rules, request.host)) {
    return ErrorResponse(403, "origin",
                         "this server answers to localhost only: open the printed URL, or name the "
                         "host with --allow-host");
  }
  const bool foreign = !request.origin.empty() && !IsOwnOrigin(rules, request.origin, request.host);
  // Following a link from another page to ours is harmless; a request from its script is not.
  const bool by_script =
      IsApi(request) && (request.fetch_site == "cross-site" || request.fetch_site == "same-site");
  if (foreign || by_script) {
    return ErrorResponse(403, "origin", "the request comes from a page of another site");
  }
  if (!IsApi(request)) return {};
  if (request.target == kTokenForTicket) {
    if (HasTicket(rules, request)) return {};
    return ErrorResponse(
        401, "ticket", "this view was opened before, or is of another session: run the cell again");
  }
  const std::string_view authorization = request.authorization;
  if (!authorization.starts_with(kBearer) ||
      !IsToken(rules.token, authorization.substr(kBearer.size()))) {
    return ErrorResponse(401, "token",
                         "the token is missing or another one: open the URL again that "
                         "`batchlight view` printed");
  }
  return {};
}

std::optional<HttpResponse> AnswerAccess(const AccessRules& rules, const HttpRequest& request) {
  if (!IsApi(request) || rules.tickets == nullptr) return std::nullopt;
  const auto answer = [](const char* name, const std::string& digits) {
    return HttpResponse{.body = std::string("{\"") + name + "\": \"" + digits + "\"}"};
  };
  if (request.target == kTokenForTicket) return answer("token", rules.token);
  if (request.target != kNewTicket) return std::nullopt;
  const Result<std::string> ticket = rules.tickets->New(NowMs());
  if (!ticket.ok()) return ErrorResponse(500, "internal", ticket.status().message());
  return answer("ticket", ticket.value());
}

std::string ContentPolicy(const AccessRules& rules) {
  std::string ancestors = rules.frame_ancestors.empty() ? " 'none'" : " 'self'";
  std::string sockets;  // of Jupyter, which says whether the notebook's kernel lives
  for (const std::string& origin : rules.frame_ancestors) {
    ancestors += " " + origin;
    sockets += " ws" + origin.substr(std::strlen("http"));
  }
  return "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'" + sockets +
         "; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors" + ancestors;
}

bool IsHostName(std::string_view name) {
  return !name.empty() && name.size() <= 253 &&
         name.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-") == name.npos;
}

bool IsOrigin(std::string_view origin) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (origin.starts_with(scheme))
      return IsHostName(HostWithoutPort(origin.substr(scheme.size())));
  }
  return false;
}

}  // namespace batchlight::serve
