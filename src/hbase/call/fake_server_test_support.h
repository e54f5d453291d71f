// A server of HBase's in this process, over real sockets, whose answers a test makes, with faults on demand.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <hbase/wire/messages.pb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "base/varint.h"
#include "hbase/wire/names.h"
#include "tls/stream.h"

namespace sonde::hbase {

struct FakeCall {
  int server = 0;
  std::string service;
  std::string method;
  std::string parameter;
  std::string cells;
  bool came_early = false;  // while the connection's call before was carried out
};

struct FakeAnswer {
  // kRefuseConnection: the exception is the connection's, of no call, and the connection closes.
  enum class Deed : uint8_t { kAnswer, kCloseConnection, kStaySilent, kSendGarbage, kRefuseConnection };
  std::string parameter = {};
  std::string cells = {};
  std::string exception = {};  // class; not empty: the answer is this
  Deed deed = Deed::kAnswer;
};

// How a fake server meets those who connect.
struct FakeTls {
  enum class Handshake : uint8_t { kDone, kSilent, kCut };
  std::shared_ptr<const tls::Context> context = nullptr;  // null: in plain text
  Handshake handshake = Handshake::kDone;
};

// A connection at the server's side, whose calls wait: plain text, or TLS.
class FakeWire {
 public:
  FakeWire(int descriptor, const FakeTls& tls) : descriptor_(descriptor) {
    if (tls.context != nullptr)
      stream_ = std::make_unique<tls::Stream>(tls.context, descriptor, tls::Stream::kHttp1);
  }

  // Returns false if there is no connection to speak over.
  bool Open() { return stream_ == nullptr || stream_->Handshake() == tls::SecureSocket::State::kOk; }
  bool Receive(size_t count, std::string* bytes) {
    while (received_.size() < count) {
      const size_t before = received_.size();
      received_.resize(before + tls::kRecordBytesMax);
      const ssize_t got = ReceiveSome(received_.data() + before);
      received_.resize(before + static_cast<size_t>(std::max<ssize_t>(got, 0)));
      if (got <= 0) return false;
    }
    *bytes = received_.substr(0, count);
    received_.erase(0, count);
    return true;
  }
  // Whether bytes wait that the next call begins with.  The connection must be one in plain text.
  bool HasMore() const {
    char byte = 0;
    return !received_.empty() || recv(descriptor_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 1;
  }
  void Send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = SendSome(bytes);
      if (sent <= 0) return;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
  }

 private:
  ssize_t ReceiveSome(char* buffer) {
    if (stream_ == nullptr) return recv(descriptor_, buffer, tls::kRecordBytesMax, 0);
    const tls::SecureSocket::Result got = stream_->Receive(buffer, tls::kRecordBytesMax);
    return got.state == tls::SecureSocket::State::kOk ? static_cast<ssize_t>(got.bytes) : 0;
  }
  ssize_t SendSome(std::string_view bytes) {
    if (stream_ == nullptr) return send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    const tls::SecureSocket::Result sent = stream_->Send(bytes.data(), bytes.size());
    return sent.state == tls::SecureSocket::State::kOk ? static_cast<ssize_t>(sent.bytes) : 0;
  }

  const int descriptor_;
  std::unique_ptr<tls::Stream> stream_;
  std::string received_;
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
  // Of the connections that come from now on.
  void SetTls(FakeTls tls) {
    const absl::MutexLock lock(&mutex_);
    tls_ = std::move(tls);
  }

 private:
  void Accept() {
    while (true) {
      const int descriptor = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (descriptor < 0) return;
      ++connections_;
      const absl::MutexLock lock(&mutex_);
      open_.push_back(descriptor);
      threads_.emplace_back([this, descriptor, tls = tls_] {
        Meet(descriptor, tls);
        const absl::MutexLock lock_again(&mutex_);
        open_.remove(descriptor);
        close(descriptor);
      });
    }
  }

  static bool ReceiveFrame(FakeWire* wire, std::string* frame) {
    std::string length_bytes;
    if (!wire->Receive(4, &length_bytes)) return false;
    std::string_view view = length_bytes;
    uint32_t length = 0;
    return GetFixed32(&view, &length) && wire->Receive(length, frame);
  }

  void Meet(int descriptor, const FakeTls& tls) {
    std::string bytes(100, '\0');
    if (tls.handshake == FakeTls::Handshake::kCut) (void)!recv(descriptor, bytes.data(), bytes.size(), 0);
    if (tls.handshake == FakeTls::Handshake::kSilent) {
      while (recv(descriptor, bytes.data(), bytes.size(), 0) > 0) continue;
    }
    if (tls.handshake != FakeTls::Handshake::kDone) return;
    FakeWire wire(descriptor, tls);
    if (wire.Open()) Serve(&wire);
  }

  static void SendException(FakeWire* wire, uint32_t call_id, const std::string& name) {
    pb::ResponseHeader response;
    response.set_call_id(call_id);
    response.mutable_exception()->set_exception_class_name(name);
    std::string body;
    PutBytes(&body, response.SerializeAsString());
    std::string frame;
    PutFixed32(&frame, static_cast<uint32_t>(body.size()));
    wire->Send(frame.append(body));
  }

  void Serve(FakeWire* wire) {
    std::string bytes;
    if (!wire->Receive(6, &bytes) || bytes != std::string("HBas\0\x50", 6) || !ReceiveFrame(wire, &bytes)) {
      // As HBase answers what is no opening.
      SendException(wire, UINT32_MAX, "org.apache.hadoop.hbase.ipc.FatalConnectionException");
      return;
    }
    pb::ConnectionHeader opening;
    ASSERT_TRUE(opening.ParseFromString(bytes));
    bool comes_early = false;
    while (ReceiveFrame(wire, &bytes)) {
      std::string_view rest = bytes;
      std::string_view header_bytes;
      std::string_view parameter;
      ASSERT_TRUE(GetBytes(&rest, &header_bytes) && GetBytes(&rest, &parameter));
      pb::RequestHeader request;
      ASSERT_TRUE(request.ParseFromString(std::string(header_bytes)));
      ASSERT_EQ(request.cell_block_meta().length(), rest.size());
      FakeCall call{index_,
                    opening.service_name(),
                    request.method_name(),
                    std::string(parameter),
                    std::string(rest),
                    comes_early};
      const FakeAnswer answer = on_call_(call);
      comes_early = wire->HasMore();
      using Deed = FakeAnswer::Deed;
      if (answer.deed == Deed::kStaySilent) continue;
      if (answer.deed == Deed::kCloseConnection) return;
      if (answer.deed == Deed::kSendGarbage) {
        wire->Send(std::string("\0\0\0\x05hello", 9));
        continue;
      }
      if (!answer.exception.empty()) {
        const bool is_of_all = answer.deed == Deed::kRefuseConnection;
        SendException(wire, is_of_all ? UINT32_MAX : request.call_id(), answer.exception);
        if (is_of_all) return;
        continue;
      }
      pb::ResponseHeader response;
      response.set_call_id(request.call_id());
      if (!answer.cells.empty())
        response.mutable_cell_block_meta()->set_length(static_cast<uint32_t>(answer.cells.size()));
      std::string body;
      PutBytes(&body, response.SerializeAsString());
      PutBytes(&body, answer.parameter);
      body.append(answer.cells);
      std::string frame;
      PutFixed32(&frame, static_cast<uint32_t>(body.size()));
      wire->Send(frame.append(body));
    }
  }

  const int index_;
  const OnCall on_call_;
  int listener_ = -1;
  ServerAddress address_;
  std::atomic<int> connections_ = 0;
  absl::Mutex mutex_;
  FakeTls tls_ ABSL_GUARDED_BY(mutex_);
  std::list<int> open_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_;  // of the acceptor
  std::thread acceptor_;
};

}  // namespace sonde::hbase
