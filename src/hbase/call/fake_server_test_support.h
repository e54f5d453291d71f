// A server of HBase's in this process, over real sockets, whose answers a test makes, with faults on demand.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <hbase/wire/messages.pb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <list>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "base/varint.h"
#include "hbase/wire/names.h"

namespace sonde::hbase {

struct FakeCall {
  int server = 0;
  std::string service;
  std::string method;
  std::string parameter;
  std::string cells;
};

struct FakeAnswer {
  enum class Deed : uint8_t { kAnswer, kCloseConnection, kStaySilent, kSendGarbage };
  std::string parameter = {};
  std::string cells = {};
  std::string exception = {};  // class; not empty: the answer is this
  Deed deed = Deed::kAnswer;
};

// A server whose answers a function makes.  The function runs on a thread of the connection.
class FakeServer {
 public:
  using OnCall = std::function<FakeAnswer(const FakeCall&)>;

  FakeServer(int index, OnCall on_call) : index_(index), on_call_(std::move(on_call)) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(listen(listener_, 64), 0);
    socklen_t size = sizeof(address);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    address_ = {"127.0.0.1", ntohs(address.sin_port)};
    acceptor_ = std::thread([this] { Accept(); });
  }
  ~FakeServer() {
    shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    close(listener_);
    {
      const absl::MutexLock lock(&mutex_);
      for (const int descriptor : open_) shutdown(descriptor, SHUT_RDWR);
    }
    for (std::thread& thread : threads_) thread.join();
  }

  const ServerAddress& address() const { return address_; }
  int connections() const { return connections_; }

 private:
  void Accept() {
    while (true) {
      const int descriptor = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (descriptor < 0) return;
      ++connections_;
      const absl::MutexLock lock(&mutex_);
      open_.push_back(descriptor);
      threads_.emplace_back([this, descriptor] {
        Serve(descriptor);
        const absl::MutexLock lock_again(&mutex_);
        open_.remove(descriptor);
        close(descriptor);
      });
    }
  }

  static bool Receive(int descriptor, size_t count, std::string* bytes) {
    bytes->resize(count);
    for (size_t got = 0; got < count;) {
      const ssize_t more = recv(descriptor, bytes->data() + got, count - got, 0);
      if (more <= 0) return false;
      got += static_cast<size_t>(more);
    }
    return true;
  }
  static bool ReceiveFrame(int descriptor, std::string* frame) {
    std::string length_bytes;
    if (!Receive(descriptor, 4, &length_bytes)) return false;
    std::string_view view = length_bytes;
    uint32_t length = 0;
    return GetFixed32(&view, &length) && Receive(descriptor, length, frame);
  }
  static void SendAll(int descriptor, std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
  }

  void Serve(int descriptor) {
    std::string bytes;
    if (!Receive(descriptor, 6, &bytes) || bytes != std::string("HBas\0\x50", 6) ||
        !ReceiveFrame(descriptor, &bytes))
      return;
    pb::ConnectionHeader opening;
    ASSERT_TRUE(opening.ParseFromString(bytes));
    while (ReceiveFrame(descriptor, &bytes)) {
      std::string_view rest = bytes;
      std::string_view header_bytes;
      std::string_view parameter;
      ASSERT_TRUE(GetBytes(&rest, &header_bytes) && GetBytes(&rest, &parameter));
      pb::RequestHeader request;
      ASSERT_TRUE(request.ParseFromString(std::string(header_bytes)));
      ASSERT_EQ(request.cell_block_meta().length(), rest.size());
      FakeCall call{index_, opening.service_name(), request.method_name(), std::string(parameter),
                    std::string(rest)};
      const FakeAnswer answer = on_call_(call);
      using Deed = FakeAnswer::Deed;
      if (answer.deed == Deed::kStaySilent) continue;
      if (answer.deed == Deed::kCloseConnection) return;
      if (answer.deed == Deed::kSendGarbage) {
        SendAll(descriptor, std::string("\0\0\0\x05hello", 9));
        continue;
      }
      pb::ResponseHeader response;
      response.set_call_id(request.call_id());
      if (!answer.exception.empty()) response.mutable_exception()->set_exception_class_name(answer.exception);
      if (!answer.cells.empty())
        response.mutable_cell_block_meta()->set_length(static_cast<uint32_t>(answer.cells.size()));
      std::string body;
      PutBytes(&body, response.SerializeAsString());
      if (answer.exception.empty()) PutBytes(&body, answer.parameter);
      body.append(answer.cells);
      std::string frame;
      PutFixed32(&frame, static_cast<uint32_t>(body.size()));
      SendAll(descriptor, frame.append(body));
    }
  }

  const int index_;
  const OnCall on_call_;
  int listener_ = -1;
  ServerAddress address_;
  std::atomic<int> connections_ = 0;
  absl::Mutex mutex_;
  std::list<int> open_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_;  // of the acceptor
  std::thread acceptor_;
};

}  // namespace sonde::hbase
