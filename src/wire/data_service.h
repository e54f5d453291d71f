// google.bigtable.v2.Bigtable.  What is not overridden answers UNIMPLEMENTED.
#pragma once

#include <google/bigtable/v2/bigtable.grpc.pb.h>

#include "table/tables.h"
#include "wire/calls.h"

namespace sonde {

// The hot calls get their requests as bytes, to parse them on arenas and to write rows without messages.
template <typename Base>
using RawDataMethods = google::bigtable::v2::Bigtable::WithRawCallbackMethod_ReadRows<
    google::bigtable::v2::Bigtable::WithRawCallbackMethod_SampleRowKeys<
        google::bigtable::v2::Bigtable::WithRawCallbackMethod_MutateRow<
            google::bigtable::v2::Bigtable::WithRawCallbackMethod_MutateRows<
                google::bigtable::v2::Bigtable::WithRawCallbackMethod_CheckAndMutateRow<
                    google::bigtable::v2::Bigtable::WithRawCallbackMethod_ReadModifyWriteRow<Base>>>>>>;

class DataService final : public RawDataMethods<google::bigtable::v2::Bigtable::CallbackService> {
 public:
  // Nothing is owned.
  DataService(Tables* tables, const CallResources& resources) : tables_(tables), resources_(resources) {}

  using Context = grpc::CallbackServerContext;
  using Bytes = grpc::ByteBuffer;

  grpc::ServerWriteReactor<Bytes>* ReadRows(Context* context, const Bytes* request) override;
  grpc::ServerWriteReactor<Bytes>* SampleRowKeys(Context* context, const Bytes* request) override;
  grpc::ServerUnaryReactor* MutateRow(Context* context, const Bytes* request, Bytes* response) override;
  grpc::ServerWriteReactor<Bytes>* MutateRows(Context* context, const Bytes* request) override;
  grpc::ServerUnaryReactor* CheckAndMutateRow(Context* context, const Bytes* request,
                                              Bytes* response) override;
  grpc::ServerUnaryReactor* ReadModifyWriteRow(Context* context, const Bytes* request,
                                               Bytes* response) override;
  grpc::ServerUnaryReactor* PingAndWarm(Context* context,
                                        const google::bigtable::v2::PingAndWarmRequest* request,
                                        google::bigtable::v2::PingAndWarmResponse* response) override;
  grpc::ServerUnaryReactor* GetClientConfiguration(
      Context* context, const google::bigtable::v2::GetClientConfigurationRequest* request,
      google::bigtable::v2::ClientConfiguration* response) override;

 private:
  Tables* const tables_;
  const CallResources resources_;
};

}  // namespace sonde
