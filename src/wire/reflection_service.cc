#include "wire/reflection_service.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <memory>
#include <unordered_set>
#include <utility>
#include <vector>

#include "wire/call/grpc_status.h"
#include "wire/call/service_names.h"

namespace sonde {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::DescriptorPool;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptor;
using google::protobuf::UnknownField;
using google::protobuf::UnknownFieldSet;

constexpr size_t kReflectionRequestBytesMax = 16 << 10;
// The memory of a call, beside its answers.
constexpr int64_t kReflectionCallBytes = 4 << 10;

// Fields of ServerReflectionRequest, ...
enum Asked : int {
  kHost = 1,
  kFileByFilename = 3,
  kFileContainingSymbol = 4,
  kFileContainingExtension = 5,
  kAllExtensionNumbersOfType = 6,
  kListServices = 7
};
// ... ServerReflectionResponse, ...
enum Told : int {
  kValidHost = 1,
  kOriginalRequest = 2,
  kFileDescriptorResponse = 4,
  kAllExtensionNumbersResponse = 5,
  kListServicesResponse = 6,
  kErrorResponse = 7
};
// ... and of what is in these: ExtensionRequest (containing_type, extension_number), FileDescriptorResponse
// (file_descriptor_proto, repeated), ExtensionNumberResponse (base_type_name; extension_number, repeated),
// ListServiceResponse (service, repeated: its name), ErrorResponse (error_code, error_message).
constexpr int kFirst = 1, kSecond = 2;

void AddFiles(const FileDescriptor& file, std::unordered_set<const FileDescriptor*>* seen,
              UnknownFieldSet* out) {
  if (!seen->insert(&file).second) return;
  google::protobuf::FileDescriptorProto proto;
  file.CopyTo(&proto);
  proto.SerializeToString(out->AddLengthDelimited(kFirst));
  for (int i = 0; i < file.dependency_count(); ++i) AddFiles(*file.dependency(i), seen, out);
}

void AddFileResponse(const FileDescriptor& file, UnknownFieldSet* response) {
  std::unordered_set<const FileDescriptor*> seen;
  UnknownFieldSet files;
  AddFiles(file, &seen, &files);
  files.SerializeToString(response->AddLengthDelimited(kFileDescriptorResponse));
}

void AddError(absl::StatusCode code, std::string text, UnknownFieldSet* response) {
  UnknownFieldSet error;
  error.AddVarint(kFirst, static_cast<uint64_t>(code));
  *error.AddLengthDelimited(kSecond) = std::move(text);
  error.SerializeToString(response->AddLengthDelimited(kErrorResponse));
}

void AddFileOrError(const FileDescriptor* file, const char* what, UnknownFieldSet* response) {
  if (file != nullptr) return AddFileResponse(*file, response);
  AddError(absl::StatusCode::kNotFound, std::string(what) + " not found.", response);
}

const FileDescriptor* FindFileOfExtension(const DescriptorPool& pool, const std::string& request) {
  UnknownFieldSet fields;
  if (!fields.ParseFromString(request)) return nullptr;
  std::string type;
  int number = 0;
  for (int i = 0; i < fields.field_count(); ++i) {
    const UnknownField& field = fields.field(i);
    if (field.number() == kFirst && field.type() == UnknownField::TYPE_LENGTH_DELIMITED) {
      type = field.length_delimited();
    } else if (field.number() == kSecond && field.type() == UnknownField::TYPE_VARINT) {
      number = static_cast<int>(field.varint());
    }
  }
  const Descriptor* const containing = pool.FindMessageTypeByName(type);
  if (containing == nullptr) return nullptr;
  const FieldDescriptor* const extension = pool.FindExtensionByNumber(containing, number);
  return extension == nullptr ? nullptr : extension->file();
}

void AddExtensionNumbers(const DescriptorPool& pool, const std::string& type, UnknownFieldSet* response) {
  const Descriptor* const containing = pool.FindMessageTypeByName(type);
  if (containing == nullptr) return AddError(absl::StatusCode::kNotFound, "Type not found.", response);
  std::vector<const FieldDescriptor*> extensions;
  pool.FindAllExtensions(containing, &extensions);
  UnknownFieldSet numbers;
  *numbers.AddLengthDelimited(kFirst) = type;
  for (const FieldDescriptor* extension : extensions) {
    numbers.AddVarint(kSecond, static_cast<uint64_t>(extension->number()));
  }
  numbers.SerializeToString(response->AddLengthDelimited(kAllExtensionNumbersResponse));
}

void AddServices(UnknownFieldSet* response) {
  UnknownFieldSet services;
  for (const std::string_view name : kServiceNames) {
    UnknownFieldSet service;
    *service.AddLengthDelimited(kFirst) = name;
    service.SerializeToString(services.AddLengthDelimited(kFirst));
  }
  services.SerializeToString(response->AddLengthDelimited(kListServicesResponse));
}

void AddAnswer(int asked, const std::string& value, UnknownFieldSet* response) {
  const DescriptorPool& pool = *DescriptorPool::generated_pool();
  switch (asked) {
    case kFileByFilename:
      return AddFileOrError(pool.FindFileByName(value), "File", response);
    case kFileContainingSymbol:
      return AddFileOrError(pool.FindFileContainingSymbol(value), "Symbol", response);
    case kFileContainingExtension:
      return AddFileOrError(FindFileOfExtension(pool, value), "Extension", response);
    case kAllExtensionNumbersOfType:
      return AddExtensionNumbers(pool, value, response);
    case kListServices:
      return AddServices(response);
    default:
      return AddError(absl::StatusCode::kInvalidArgument, "The request asks for nothing that is known.",
                      response);
  }
}

// A question is read when the answer before it has gone.
class Reflection final : public rpc::Handler {
 public:
  Reflection(rpc::Call* call, Admission* calls) : call_(call) {
    absl::StatusOr<Admission::Place> place = calls->Admit(kReflectionCallBytes);
    if (!place.ok()) {
      refused_ = place.status();
    } else {
      place_ = *std::move(place);
    }
    call_->ReadNext();
  }

  Room OnLength(size_t) override {
    if (!refused_.ok()) call_->Finish(ToCallStatus(refused_));
    return Room::kTake;
  }
  void OnMessage(rpc::MessageBytes message) override {
    absl::StatusOr<std::string> answer = AnswerReflection(message.view());
    if (answer.ok()) {
      const absl::Status room = place_.Resize(kReflectionCallBytes + static_cast<int64_t>(answer->size()));
      if (!room.ok()) answer = room;
    }
    if (!answer.ok()) return call_->Finish(ToCallStatus(answer.status()));
    call_->Write(*std::move(answer));
  }
  void OnWriteDone(bool ok) override {
    if (!ok) return;                                    // OnCancel has finished it
    place_.Resize(kReflectionCallBytes).IgnoreError();  // to give back is no error
    call_->ReadNext();
  }
  void OnHalfClose() override { call_->Finish(ToCallStatus(refused_)); }
  void OnCancel(const absl::Status& why) override { call_->Finish({why.code()}); }
  void OnServerEnding() override {
    call_->Finish(ToCallStatus(absl::UnavailableError("The server is ending; try again")));
  }

 private:
  rpc::Call* const call_;
  Admission::Place place_;
  absl::Status refused_;
};

}  // namespace

absl::StatusOr<std::string> AnswerReflection(std::string_view request) {
  UnknownFieldSet fields;
  if (!fields.ParseFromArray(request.data(), static_cast<int>(request.size()))) {
    return absl::InvalidArgumentError("The request is not a ServerReflectionRequest");
  }
  std::string host, value;
  int asked = 0;
  for (int i = 0; i < fields.field_count(); ++i) {
    const UnknownField& field = fields.field(i);
    if (field.type() != UnknownField::TYPE_LENGTH_DELIMITED) continue;
    if (field.number() == kHost) {
      host = field.length_delimited();
    } else {
      asked = field.number();
      value = field.length_delimited();
    }
  }
  UnknownFieldSet response;
  *response.AddLengthDelimited(kValidHost) = std::move(host);
  *response.AddLengthDelimited(kOriginalRequest) = request;
  AddAnswer(asked, value, &response);
  std::string bytes;
  response.SerializeToString(&bytes);
  return bytes;
}

void AddReflectionServices(Admission* calls, rpc::Router* router) {
  for (const char* path : {"/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
                           "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"}) {
    router->Add(path,
                {.request_bytes_max = kReflectionRequestBytesMax,
                 .client_streams = true,
                 .make = [calls](rpc::Call* call) { return std::make_unique<Reflection>(call, calls); }});
  }
}

}  // namespace sonde
