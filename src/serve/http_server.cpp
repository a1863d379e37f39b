#include "serve/http_server.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <optional>
#include <thread>
#include <utility>  // before Beast, which forgets it under C++20
#include <vector>

// The only file that knows Boost.
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/host_name.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include "base/contain.h"
#include "serve/steady_clock.h"

namespace batchlight::serve {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;

constexpr size_t kThreads = 3;

// What all connections share.
struct Shared {
  ServerLimits limits;
  std::string content_policy;
  HttpGate gate;
  HttpHandler handler;
  std::atomic<size_t> connections = 0;
  std::atomic<int64_t> last_request_ms = 0;
};

std::string Text(boost::string_view text) { return {text.data(), text.size()}; }

HttpRequest HeaderOf(const http::request_header<>& header) {
  const auto field = [&](auto name) { return Text(header[name]); };
  HttpRequest request;
  request.method = Text(header.method_string());
  request.target = Text(header.target());
  request.host = field(http::field::host);
  request.origin = field(http::field::origin);
  request.fetch_site = field("Sec-Fetch-Site");
  request.authorization = field(http::field::authorization);
  request.content_type = field(http::field::content_type);
  return request;
}

Endpoint EndpointOf(const asio::ip::tcp::endpoint& endpoint) {
  const bool is_v4 = endpoint.address().is_v4();  // as what is listened on
  return {is_v4 ? endpoint.address().to_v4().to_uint() : 0, endpoint.port()};
}

void NotePeer(const asio::ip::tcp::socket& socket, HttpRequest& request) {
  error_code error;  // of one that has ended
  request.peer = EndpointOf(socket.remote_endpoint(error));
  request.own = EndpointOf(socket.local_endpoint(error));
}

#ifndef _WIN32
void NotePeer(const asio::local::stream_protocol::socket&, HttpRequest& request) {
  request.over_unix_socket = true;
}
#endif

// One connection: requests one after the other, until one of the two ends it.
template <typename Stream>
class Connection : public std::enable_shared_from_this<Connection<Stream>> {
 public:
  Connection(Stream stream, Shared& shared) : stream_(std::move(stream)), shared_(shared) {
    over_limit_ = ++shared_.connections > shared_.limits.connections;
  }
  ~Connection() { --shared_.connections; }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void Start() { ReadHeader(shared_.limits.arrive_ms); }

 private:
  using Self = std::enable_shared_from_this<Connection<Stream>>;

  void ReadHeader(int64_t wait_ms) {
    parser_.emplace();
    parser_->header_limit(static_cast<uint32_t>(shared_.limits.header_bytes));
    parser_->body_limit(shared_.limits.body_bytes);
    header_bytes_ = 0;
    stream_.expires_after(std::chrono::milliseconds(wait_ms));
    ReadMoreHeader();
  }

  // By hand: the parser's limit is for what it has not taken yet, and it takes lines as they come.
  void ReadMoreHeader() {
    if (buffer_.size() > 0) {
      error_code error;
      const size_t taken = parser_->put(buffer_.data(), error);
      buffer_.consume(taken);
      header_bytes_ += taken;
      if (header_bytes_ > shared_.limits.header_bytes) error = http::error::header_limit;
      if (error == http::error::need_more) error = {};
      if (error || parser_->is_header_done()) return OnHeader(error);
    }
    constexpr size_t kReadBytes = 4096;
    stream_.async_read_some(buffer_.prepare(kReadBytes),
                            [self = Self::shared_from_this()](error_code error, size_t bytes) {
                              if (error) return;  // it ended, or took too long
                              self->buffer_.commit(bytes);
                              self->ReadMoreHeader();
                            });
  }

  void OnHeader(error_code error) {
    if (error == http::error::header_limit) {
      return Refuse(ErrorResponse(431, "too_large", "the header is longer than 16 KiB"));
    }
    if (error == http::error::body_limit) return RefuseBody();
    if (error) return RefuseSyntax(error);
    if (over_limit_) {
      return Refuse(
          ErrorResponse(503, "busy", "too many connections: close other pages of this run"));
    }
    const http::request_header<>& header = parser_->get();
    if (header.count(http::field::host) > 1 || header.count(http::field::origin) > 1) {
      return Refuse(ErrorResponse(400, "bad_request", "Host or Origin is there twice"));
    }
    request_ = HeaderOf(header);
    NotePeer(stream_.socket(), request_);
    if (HttpResponse refusal = shared_.gate(request_); refusal.status != 200) {
      return Refuse(std::move(refusal));
    }
    // Of those with a token alone: whoever may connect shall not keep the server alive.
    if (request_.method == "POST") shared_.last_request_ms = NowMs();
    if (header.count(http::field::transfer_encoding) != 0) {
      return Refuse(ErrorResponse(411, "length", "a body needs a Content-Length"));
    }
    stream_.expires_after(std::chrono::milliseconds(shared_.limits.arrive_ms));
    http::async_read(stream_, buffer_, *parser_,
                     [self = Self::shared_from_this()](error_code body_error, size_t) {
                       self->OnBody(body_error);
                     });
  }

  void OnBody(error_code error) {
    if (error == http::error::body_limit) return RefuseBody();
    if (error) return RefuseSyntax(error);
    request_.body = std::move(parser_->get().body());
    stream_.expires_never();  // an answer takes as long as it takes
    HttpResponse answer;
    const Status given = Contain("the answer", [&] {
      answer = shared_.handler(request_);
      return Status();
    });
    if (!given.ok()) answer = ErrorResponse(500, "internal", given.message());
    Write(std::move(answer), parser_->get().keep_alive());
  }

  void RefuseBody() { Refuse(ErrorResponse(413, "too_large", "the body is longer than 1 MiB")); }

  // Bytes that are no HTTP get an answer, a connection that ended or timed out does not.
  void RefuseSyntax(error_code error) {
    if (error.category() != http::make_error_code(http::error::bad_method).category() ||
        error == http::error::end_of_stream || error == http::error::partial_message) {
      return;
    }
    Refuse(ErrorResponse(400, "bad_request", "this is no HTTP request: " + error.message()));
  }

  // What was not read of the request makes the connection useless.
  void Refuse(HttpResponse response) { Write(std::move(response), false); }

  void Write(HttpResponse answer, bool keep_alive) {
    response_ = {};
    response_.result(static_cast<unsigned>(answer.status));
    response_.version(11);
    response_.keep_alive(keep_alive);
    response_.set(http::field::content_type, answer.content_type);
    response_.set(http::field::cache_control, "no-store");
    response_.set("Content-Security-Policy", shared_.content_policy);
    response_.set("X-Content-Type-Options", "nosniff");
    response_.set("Referrer-Policy", "no-referrer");
    response_.set("Cross-Origin-Resource-Policy",
                  answer.for_all_sites ? "cross-origin" : "same-origin");
    if (!answer.allow.empty()) response_.set(http::field::allow, answer.allow);
    const size_t size = answer.body.size();
    if (request_.method != "HEAD") response_.body() = std::move(answer.body);
    response_.content_length(size);
    stream_.expires_after(std::chrono::milliseconds(shared_.limits.keep_ms));
    http::async_write(stream_, response_,
                      [self = Self::shared_from_this(), keep_alive](error_code error, size_t) {
                        if (error || !keep_alive) return self->Close();
                        self->ReadHeader(self->shared_.limits.keep_ms);
                      });
  }

  void Close() {
    error_code ignored;
    stream_.socket().shutdown(Stream::protocol_type::socket::shutdown_send, ignored);
  }

  Stream stream_;
  Shared& shared_;
  bool over_limit_ = false;
  beast::flat_buffer buffer_;
  size_t header_bytes_ = 0;  // of this request, so far
  std::optional<http::request_parser<http::string_body>> parser_;
  HttpRequest request_;
  http::response<http::string_body> response_;
};

template <typename Protocol>
using StreamOf = beast::basic_stream<Protocol>;

// How many are told that there are too many; more are closed as they come, so that whoever may
// connect cannot use up the descriptors.
constexpr size_t kMostRefused = 32;
constexpr std::chrono::milliseconds kPause(100);
constexpr std::chrono::seconds kEndWithin(2);

// SIGINT and SIGTERM. The system gives a signal to a thread that may wait in the kernel for good.
void MaskEndingSignals([[maybe_unused]] bool blocked) {
#ifndef _WIN32  // where a thread of its own gets them
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM}) sigaddset(&set, signal);
  pthread_sigmask(blocked ? SIG_BLOCK : SIG_UNBLOCK, &set, nullptr);
#endif
}

// A connection that memory runs out for ends, and the others go on.
void RunToTheEnd(asio::io_context& io) {
  const auto run = [&] {
    io.run();
    return Status();
  };
  while (!Contain("serving", run).ok()) {
  }
}

template <typename Protocol>
void Accept(asio::io_context& io, typename Protocol::acceptor& acceptor, Shared& shared);

// Without memory to wait for the next one, nobody could connect any more: it is tried again.
template <typename Protocol>
void AcceptNext(asio::io_context& io, typename Protocol::acceptor& acceptor, Shared& shared) {
  const auto accept = [&] {
    Accept<Protocol>(io, acceptor, shared);
    return Status();
  };
  while (!Contain("listening", accept).ok() && !io.stopped()) std::this_thread::sleep_for(kPause);
}

template <typename Protocol>
void Accept(asio::io_context& io, typename Protocol::acceptor& acceptor, Shared& shared) {
  acceptor.async_accept(
      asio::make_strand(io), [&](error_code error, typename Protocol::socket socket) {
        if (error == asio::error::operation_aborted) return;
        if (error) {
          // Out of file descriptors it would fail again at once. Or the other side was gone.
          std::this_thread::sleep_for(kPause);
        } else if (shared.connections < shared.limits.connections + kMostRefused) {
          using Stream = beast::basic_stream<Protocol, typename Protocol::socket::executor_type>;
          // Without memory for this one others may come.
          (void)Contain("a connection", [&] {
            std::make_shared<Connection<Stream>>(Stream(std::move(socket)), shared)->Start();
            return Status();
          });
        }
        AcceptNext<Protocol>(io, acceptor, shared);
      });
}

}  // namespace

struct HttpServer::State {
  using Tcp = asio::ip::tcp;
#ifndef _WIN32
  using Unix = asio::local::stream_protocol;
  std::optional<Unix::acceptor> local;
  using OnePort = Tcp::acceptor::reuse_address;  // of a server that has ended
  // With it others, too, could take a port that nobody listens on.
  static constexpr bool kHoldsByOption = false;
  // A browser that is started lives on, and the port would be taken as long.
  static void KeepFromChildren(int socket) { fcntl(socket, F_SETFD, FD_CLOEXEC); }
#else  // Windows, where that would let anybody listen on the port beside this one
  using OnePort = asio::detail::socket_option::boolean<SOL_SOCKET, SO_EXCLUSIVEADDRUSE>;
  static constexpr bool kHoldsByOption = true;
  static void KeepFromChildren(SOCKET) {}  // which inherit what they are given
#endif

  asio::io_context io{static_cast<int>(kThreads)};
  // A thread of its own runs these: the others may wait for a file system that does not answer.
  asio::io_context ends{1};
  asio::signal_set signals{ends, SIGINT, SIGTERM};  // from the start: it may be ended at once
  asio::steady_timer patience{ends};
  std::function<void()> abandon;
  Shared shared;
  std::optional<Tcp::acceptor> tcp;
  // Holds the port at ::1, and listens to nobody: who says "localhost" (a proxy of Jupyter's, a
  // tunnel) may ask there first, where any user of the machine could listen, and goes on to
  // 127.0.0.1 where nobody does.
  std::optional<Tcp::acceptor> other_loopback;
  struct OwnSocket {
    std::string path;  // empty: none
    uint64_t device = 0;
    uint64_t inode = 0;
  };
  OwnSocket own_socket;

  static error_code Bind(Tcp::acceptor& acceptor, const Tcp::endpoint& endpoint,
                         [[maybe_unused]] bool shares_port) {
    const bool listens = endpoint.protocol() == Tcp::v4();
    error_code error;
    acceptor.open(endpoint.protocol(), error);
    if (!error) KeepFromChildren(acceptor.native_handle());
    if (!error && (listens || kHoldsByOption)) acceptor.set_option(OnePort(true), error);
    if (!error && !listens) acceptor.set_option(asio::ip::v6_only(true), error);
#ifndef _WIN32
    using SharedPort = asio::detail::socket_option::boolean<SOL_SOCKET, SO_REUSEPORT>;
    if (!error && shares_port) acceptor.set_option(SharedPort(true), error);
#endif
    if (!error) acceptor.bind(endpoint, error);
    return error;
  }

  // Both loopback addresses of one port. Without IPv6 there is one.
  error_code BindBoth(uint16_t port, bool shares_port) {
    tcp.emplace(io);
    other_loopback.emplace(io);
    error_code error = Bind(*tcp, {asio::ip::address_v4::loopback(), port}, shares_port);
    if (error) return error;
    const Tcp::endpoint bound = tcp->local_endpoint(error);
    if (error) return error;
    error = Bind(*other_loopback, {asio::ip::address_v6::loopback(), bound.port()}, shares_port);
    const bool is_taken = error == asio::error::address_in_use ||
                          error == asio::error::access_denied;  // as Windows says it
    return is_taken ? error : error_code();
  }

  Status ListenTcp(uint16_t port, bool shares_port) {
    constexpr int kMostTries = 64;
    error_code error = BindBoth(port, shares_port);
    for (int tries = 1; error && port == 0 && tries < kMostTries; ++tries)
      error = BindBoth(port, shares_port);
    if (!error) tcp->listen(asio::socket_base::max_listen_connections, error);
    if (!error) return {};
    return UsageError("cannot listen on port " + std::to_string(port) + ": " + error.message() +
                      "; without --port a free one is taken");
  }

#ifndef _WIN32
  Status ListenLocal(const std::string& path) {
    if (path.size() > 100) return UsageError("--socket: the path is longer than 100 characters");
    RETURN_IF_ERROR(RemoveStale(path));
    error_code error;
    local.emplace(io);
    local->open(Unix(), error);
    if (!error) KeepFromChildren(local->native_handle());
    const mode_t mask = umask(0177);
    if (!error) local->bind(Unix::endpoint(path), error);
    umask(mask);
    if (!error) local->listen(asio::socket_base::max_listen_connections, error);
    if (error) return OutputError("--socket: cannot listen on " + path + ": " + error.message());
    struct stat made {};
    if (lstat(path.c_str(), &made) == 0) own_socket = {path, made.st_dev, made.st_ino};
    return {};
  }

  // One of this user's that nobody listens on any more is left over from a server that was killed.
  // Whatever else has the name stays.
  Status RemoveStale(const std::string& path) {
    struct stat found {};
    if (lstat(path.c_str(), &found) != 0) return {};
    if (!S_ISSOCK(found.st_mode))
      return UsageError("--socket: " + path + " exists and is no socket");
    if (found.st_uid != geteuid()) {
      return UsageError("--socket: " + path + " exists and is another user's");
    }
    error_code refused;
    Unix::socket probe(io);
    probe.connect(Unix::endpoint(path), refused);
    if (!refused) return UsageError("--socket: another server listens on " + path);
    if (refused != asio::error::connection_refused) {
      return UsageError("--socket: another program may listen on " + path + ": " +
                        refused.message() + "; remove it if none does");
    }
    struct stat now {};  // who else found it stale may listen there by now
    const bool same =
        lstat(path.c_str(), &now) == 0 && now.st_ino == found.st_ino && now.st_dev == found.st_dev;
    if (same) unlink(path.c_str());
    return {};
  }

  // The name may be another's by now.
  void RemoveOwnSocket() {
    struct stat now {};
    if (own_socket.path.empty() || lstat(own_socket.path.c_str(), &now) != 0) return;
    if (now.st_dev == own_socket.device && now.st_ino == own_socket.inode) {
      unlink(own_socket.path.c_str());
    }
  }
  void AcceptLocal() {
    if (local) Accept<Unix>(io, *local, shared);
  }
#else  // Windows
  Status ListenLocal(const std::string&) {
    return UsageError("--socket: there are none on this system; without it the page is at a port");
  }
  void RemoveOwnSocket() {}
  void AcceptLocal() {}
#endif

  // What answers by then, if anything does.
  void End() {
    io.stop();  // where no thread runs `ends`, that is all
    asio::post(ends, [this] {
      patience.expires_after(kEndWithin);
      patience.async_wait([this](error_code error) {
        if (error) return;
        RemoveOwnSocket();
        if (abandon) abandon();
        std::_Exit(0);
      });
    });
  }

  void EndWhenIdle(asio::steady_timer& timer) {
    timer.expires_after(std::chrono::milliseconds(std::min<int64_t>(shared.limits.idle_ms, 1000)));
    timer.async_wait([this, &timer](error_code error) {
      if (error) return;
      if (NowMs() - shared.last_request_ms >= shared.limits.idle_ms) return End();
      EndWhenIdle(timer);
    });
  }
};

HttpServer::HttpServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
HttpServer::HttpServer(HttpServer&& other) noexcept = default;
HttpServer::~HttpServer() {
  if (state_ != nullptr) state_->RemoveOwnSocket();
}

std::string MachineName() {
  error_code error;
  const std::string name = asio::ip::host_name(error);
  return error ? "" : name;
}

Result<HttpServer> HttpServer::Listen(ServerOptions options) {
  auto state = std::make_unique<State>();
  state->shared.limits = options.limits;
  state->shared.content_policy = std::move(options.content_policy);
  RETURN_IF_ERROR(options.socket.empty() ? state->ListenTcp(options.port, options.shares_port)
                                         : state->ListenLocal(options.socket));
  return HttpServer(std::move(state));
}

uint16_t HttpServer::port() const {
  error_code ignored;
  return state_->tcp ? state_->tcp->local_endpoint(ignored).port() : uint16_t{0};
}

void HttpServer::LeaveSignals() { MaskEndingSignals(true); }

void HttpServer::Stop() { state_->io.stop(); }

void HttpServer::Run(const HttpGate& gate, const HttpHandler& handler,
                     std::function<void()> abandon) {
  State& state = *state_;
  state.abandon = std::move(abandon);
  state.shared.gate = gate;
  state.shared.handler = handler;
  state.shared.last_request_ms = NowMs();
  state.signals.async_wait([&](error_code error, int) {
    if (!error) state.End();
  });
  asio::steady_timer idle(state.io);
  if (state.shared.limits.idle_ms > 0) state.EndWhenIdle(idle);
  if (state.tcp) Accept<State::Tcp>(state.io, *state.tcp, state.shared);
  state.AcceptLocal();
  std::thread ending;
  const Status ends = Contain("a thread", [&] {
    ending = std::thread([&] {
      MaskEndingSignals(false);
      RunToTheEnd(state.ends);
    });
    return Status();
  });
  error_code ignored;
  if (!ends.ok()) state.signals.clear(ignored);  // the system ends it then
  if (ends.ok()) LeaveSignals();
  const auto serve = [&] { RunToTheEnd(state.io); };
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  (void)Contain("more threads", [&] {  // one serves them all, too
    for (size_t i = 1; i < kThreads; ++i) threads.emplace_back(serve);
    return Status();
  });
  serve();
  for (std::thread& thread : threads) thread.join();
  state.ends.stop();
  if (ending.joinable()) ending.join();
  MaskEndingSignals(false);
}

}  // namespace batchlight::serve
