// SPDX-License-Identifier: Apache-2.0

// Boost.Asio: completion handlers on one thread.
// asio echo | http

#include <array>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include <boost/asio.hpp>

#include "../c/http.h"

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// Sockets that name their executor spare themselves its type erasure.
using Executor = asio::io_context::executor_type;
using Socket = asio::basic_stream_socket<tcp, Executor>;

template <typename Service> class Session : public std::enable_shared_from_this<Session<Service>> {
public:
  explicit Session(Socket &&socket) : socket(std::move(socket)) {}

  void read() {
    socket.async_read_some(asio::buffer(input),
                           [self = this->shared_from_this()](error_code error, std::size_t count) {
                             if (!error)
                               self->write(self->service.answer(self->input.data(), count));
                           });
  }

private:
  void write(asio::const_buffer answer) {
    if (answer.size() == 0) return read();
    asio::async_write(socket, answer,
                      [self = this->shared_from_this()](error_code error, std::size_t) {
                        if (!error) self->read();
                      });
  }

  Socket socket;
  Service service;
  std::array<char, 4096> input;
};

struct Echo {
  asio::const_buffer answer(const char *input, std::size_t count) { return {input, count}; }
};

struct Http {
  asio::const_buffer answer(const char *input, std::size_t count) {
    // As many as the input can end: there is always one answer for one read.
    static const auto responses = [] {
      std::string all;
      for (int i = 0; i < 1024; i++) all += RESPONSE;
      return all;
    }();
    return {responses.data(), requests_ended(input, count, &matched) * response_size};
  }

  unsigned matched = 0;
};

template <typename Service> class Server {
public:
  explicit Server(asio::io_context &context)
      : acceptor(context.get_executor(), {asio::ip::address_v4::loopback(), 0}) {
    acceptor.listen(asio::socket_base::max_listen_connections);
    std::printf("port %d\n", acceptor.local_endpoint().port());
    std::fflush(stdout);
    accept();
  }

private:
  void accept() {
    acceptor.async_accept([this](error_code error, Socket socket) {
      if (!error) {
        socket.set_option(tcp::no_delay(true), error);
        std::make_shared<Session<Service>>(std::move(socket))->read();
      }
      accept();
    });
  }

  asio::basic_socket_acceptor<tcp, Executor> acceptor;
};

static void wait_for_end(asio::posix::stream_descriptor &input, asio::io_context &context) {
  static std::array<char, 64> ignored;
  input.async_read_some(asio::buffer(ignored), [&](error_code error, std::size_t) {
    if (error)
      context.stop();
    else
      wait_for_end(input, context);
  });
}

template <typename Service> static int serve() {
  // One thread uses it, so it needs no locks.
  asio::io_context context(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE);
  Server<Service> server(context);
  asio::posix::stream_descriptor input(context, STDIN_FILENO);
  wait_for_end(input, context);
  context.run();
  return 0;
}

int main(int argc, char **argv) {
  if (argc == 2 && !std::strcmp(argv[1], "echo")) return serve<Echo>();
  if (argc == 2 && !std::strcmp(argv[1], "http")) return serve<Http>();
  std::fputs("usage: asio echo | http\n", stderr);
  return 64;
}
