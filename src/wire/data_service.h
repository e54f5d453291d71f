// google.bigtable.v2.Bigtable.  What is not overridden answers UNIMPLEMENTED.
#pragma once

#include <google/bigtable/v2/bigtable.grpc.pb.h>

#include "table/tables.h"
#include "wire/calls.h"
#include "wire/change_streams.h"

namespace sonde {

// The hot calls get their requests as bytes, to parse them on arenas and to write rows without messages.
template <typename Base>
using RawDataMethods = google::bigtable::v2::Bigtable::WithRawCallbackMethod_ReadRows<
    google::bigtable::v2::Bigtable::WithRawCallbackMethod_SampleRowKeys<
        google::bigtable::v2::Bigtable::WithRawCallbackMethod_MutateRow<
            google::bigtable::v2::Bigtable::WithRawCallbackMethod_MutateRows<
                google::bigtable::v2::Bigtable::WithRawCallbackMethod_CheckAndMutateRow<
                    google::bigtable::v2::Bigtable::WithRawCallbackMethod_ReadModifyWriteRow<
                        google::bigtable::v2::Bigtable::
                            WithRawCallbackMethod_GenerateInitialChangeStreamPartitions<
                                google::bigtable::v2::Bigtable::WithRawCallbackMethod_ReadChangeStream<
                                    Base>>>>>>>>;

class DataService final : public RawDataMethods<google::bigtable::v2::Bigtable::CallbackService> {
 public:
  // Nothing is owned.
  DataService(Tables* tables, ChangeStreamCalls* change_streams, const CallResources& resources)
      : tables_(tables), change_streams_(change_streams), resources_(resources) {}

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
  grpc::ServerWriteReactor<Bytes>* GenerateInitialChangeStreamPartitions(Context*,
                                                                         const Bytes* request) override {
    return change_streams_->GeneratePartitions(request);
  }
  grpc::ServerWriteReactor<Bytes>* ReadChangeStream(Context*, const Bytes* request) override {
    return change_streams_->Read(request);
  }

 private:
  Tables* const tables_;
  ChangeStreamCalls* const change_streams_;
  const CallResources resources_;
};

}  // namespace sonde
