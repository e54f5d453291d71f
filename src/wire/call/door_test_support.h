// A store in memory, its callers and policies, and calls through a door, over a connection.
#pragma once

#include <google/bigtable/admin/v2/bigtable_table_admin.grpc.pb.h>
#include <google/bigtable/v2/bigtable.grpc.pb.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "access/access_test_support.h"
#include "access/policies/policy_store.h"
#include "audit/audit_log.h"
#include "base/clock.h"
#include "engine/memory/memory_engine.h"
#include "table/tables.h"

namespace sonde {
namespace pb = google::bigtable::v2;
namespace admin = google::bigtable::admin::v2;

inline constexpr char kTable[] = "projects/p/instances/i/tables/t";
inline constexpr char kNoTable[] = "projects/p/instances/i/tables/none";
inline constexpr char kUnauthenticated[] = "Request had invalid authentication credentials.";

template <typename Request>
Request OfTable(const std::string& table) {
  Request request;
  request.set_table_name(table);
  return request;
}

// The system's clock, moved ahead.
class AheadClock final : public Clock {
 public:
  int64_t NowMicros() const override { return system_.NowMicros() + ahead_micros.load(); }
  std::atomic<int64_t> ahead_micros = 0;

 private:
  SystemClock system_;
};

class DoorFixture : public testing::Test {
 protected:
  explicit DoorFixture(AuditRules rules = {}) {
    it_.authenticator.Set("Bearer good", {.member = std::string(kSomebody), .proof = Proof::kToken});
    it_.authenticator.Set("Bearer other", {.member = "user:other@b", .proof = Proof::kToken});
    catalog_->Accompany(policies_.get());
    EXPECT_TRUE(catalog_->Create({.name = kTable, .families = {{.name = "f"}}}).ok());
    std::remove(audit_path_.c_str());
    audit_ = *AuditLog::Open(audit_path_, rules);
  }
  ~DoorFixture() override { std::remove(audit_path_.c_str()); }

  // To be called once a server listens.
  void ConnectTo(int port) {
    channel_ = grpc::CreateChannel("127.0.0.1:" + std::to_string(port), grpc::InsecureChannelCredentials());
    data_ = pb::Bigtable::NewStub(channel_);
    admin_ = admin::BigtableTableAdmin::NewStub(channel_);
  }

  // Gives kSomebody the role at the place through the same records that SetIamPolicy writes; "" clears it.
  void Grant(const std::string& at, std::string_view role) {
    Policy policy{.etag = ""};
    if (!role.empty()) policy.bindings = {{std::string(role), {std::string(kSomebody)}}};
    ASSERT_TRUE(policies_->Set(at, policy).ok());
  }

  static void Identify(grpc::ClientContext* context, const std::string& proof) {
    if (!proof.empty()) context->AddMetadata("authorization", proof);
    context->set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
  }

  // Calls any method with the request's bytes; returns its end, of the first message on.
  grpc::Status CallBytes(const std::string& path, const std::string& request, const std::string& proof,
                         std::string* answer = nullptr) {
    grpc::ClientContext context;
    Identify(&context, proof);
    grpc::GenericStub stub(channel_);
    grpc::CompletionQueue queue;
    auto call = stub.PrepareCall(&context, path, &queue);
    const auto next = [&queue] {
      void* tag = nullptr;
      bool ok = false;
      return queue.Next(&tag, &ok) && ok;
    };
    call->StartCall(nullptr);
    next();
    const grpc::Slice slice(request);
    call->WriteLast(grpc::ByteBuffer(&slice, 1), grpc::WriteOptions(), nullptr);
    next();
    grpc::ByteBuffer message;
    call->Read(&message, nullptr);
    if (next()) {
      std::vector<grpc::Slice> slices;
      if (answer != nullptr && message.Dump(&slices).ok()) {
        for (const grpc::Slice& part : slices)
          answer->append(reinterpret_cast<const char*>(part.begin()), part.size());
      }
      context.TryCancel();
      grpc::Status ignored;
      call->Finish(&ignored, nullptr);
      next();
      return grpc::Status::OK;
    }
    grpc::Status status;
    call->Finish(&status, nullptr);
    next();
    queue.Shutdown();
    return status;
  }
  template <typename Request>
    requires std::is_base_of_v<google::protobuf::Message, Request>
  grpc::Status CallBytes(const std::string& path, const Request& request, const std::string& proof) {
    return CallBytes(path, request.SerializeAsString(), proof);
  }

  grpc::Status ReadRows(const std::string& table, const std::string& proof) {
    grpc::ClientContext context;
    Identify(&context, proof);
    const auto reader = data_->ReadRows(&context, OfTable<pb::ReadRowsRequest>(table));
    pb::ReadRowsResponse response;
    while (reader->Read(&response)) {
    }
    return reader->Finish();
  }
  grpc::Status MutateRow(const std::string& table, const std::string& proof) {
    pb::MutateRowRequest request = OfTable<pb::MutateRowRequest>(table);
    request.set_row_key("r");
    request.add_mutations()->mutable_delete_from_row();
    grpc::ClientContext context;
    Identify(&context, proof);
    pb::MutateRowResponse response;
    return data_->MutateRow(&context, request, &response);
  }

  static std::string Denied(std::string_view permission) {
    return "Access denied. Missing IAM permission: bigtable." + std::string(permission) + ".";
  }
  static void Expect(const grpc::Status& status, grpc::StatusCode code, const std::string& message,
                     const std::string& about = "") {
    EXPECT_EQ(status.error_code(), code) << about << ": " << status.error_message();
    if (!message.empty()) {
      EXPECT_EQ(status.error_message(), message) << about;
    }
  }
  std::string AuditText() const {
    std::ifstream in(audit_path_);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }

  const std::string audit_path_ = testing::TempDir() + "door_" + std::to_string(getpid()) + ".log";
  AccessFixture it_;  // its authenticator
  AheadClock clock_;
  std::unique_ptr<MemoryEngine> engine_ = MemoryEngine::Create();
  std::unique_ptr<PolicyStore> policies_ = *PolicyStore::Open(engine_.get());
  std::unique_ptr<Catalog> catalog_ = *Catalog::Open(engine_.get());
  std::unique_ptr<Tables> tables_ =
      std::make_unique<Tables>(engine_.get(), catalog_.get(), &clock_, /*seed=*/1);
  AccessControl access_{&it_.authenticator, policies_.get(), {}};
  std::unique_ptr<AuditLog> audit_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<pb::Bigtable::Stub> data_;
  std::unique_ptr<admin::BigtableTableAdmin::Stub> admin_;
};

}  // namespace sonde
