#include "hbase/wire/failure.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string>
#include <utility>

#include "base/bytes.h"

namespace sonde::hbase {
namespace {

struct Known {
  std::string_view name;  // without the package
  Remedy remedy;
  absl::StatusCode code;
};

using enum Remedy;
using Code = absl::StatusCode;

// Exceptions that are thrown before anything is done.
constexpr Known kKnown[] = {
    {"NotServingRegionException", kLocate, Code::kUnavailable},
    {"RegionMovedException", kLocate, Code::kUnavailable},
    {"RegionOfflineException", kLocate, Code::kUnavailable},
    {"UnknownRegionException", kLocate, Code::kUnavailable},
    {"WrongRegionException", kLocate, Code::kUnavailable},
    {"RegionServerStoppedException", kLocate, Code::kUnavailable},
    {"MasterNotRunningException", kLocate, Code::kUnavailable},
    {"MasterStoppedException", kLocate, Code::kUnavailable},
    {"RegionOpeningException", kWait, Code::kUnavailable},
    {"RegionTooBusyException", kWait, Code::kUnavailable},
    {"CallQueueTooBigException", kWait, Code::kUnavailable},
    {"CallDroppedException", kWait, Code::kUnavailable},
    {"RpcThrottlingException", kWait, Code::kUnavailable},
    {"ServerTooBusyException", kWait, Code::kUnavailable},
    {"PleaseHoldException", kWait, Code::kUnavailable},
    {"ConcurrentTableModificationException", kWait, Code::kUnavailable},
    {"ServerNotRunningYetException", kWait, Code::kUnavailable},
    {"ServerNotRunningException", kLocate, Code::kUnavailable},
    {"UnknownScannerException", kReopen, Code::kUnavailable},
    {"OutOfOrderScannerNextException", kReopen, Code::kUnavailable},
    {"ScannerResetException", kReopen, Code::kUnavailable},
    {"LeaseException", kReopen, Code::kUnavailable},
    {"TableNotFoundException", kNone, Code::kNotFound},
    {"NamespaceNotFoundException", kNone, Code::kNotFound},
    {"TableExistsException", kNone, Code::kAlreadyExists},
    {"NamespaceExistException", kNone, Code::kAlreadyExists},
    {"SnapshotExistsException", kNone, Code::kAlreadyExists},
    {"SnapshotDoesNotExistException", kNone, Code::kNotFound},
    {"TableNotDisabledException", kNone, Code::kFailedPrecondition},
    {"TableNotEnabledException", kNone, Code::kFailedPrecondition},
    {"NoSuchColumnFamilyException", kNone, Code::kFailedPrecondition},
    {"InvalidFamilyOperationException", kNone, Code::kFailedPrecondition},
    {"FailedSanityCheckException", kNone, Code::kFailedPrecondition},
    {"AccessDeniedException", kNone, Code::kPermissionDenied},
    {"FatalConnectionException", kNone, Code::kFailedPrecondition},
    {"UnknownServiceException", kNone, Code::kFailedPrecondition},
    {"UnsupportedCellCodecException", kNone, Code::kFailedPrecondition},
    {"UnsupportedOperationException", kNone, Code::kUnimplemented},
};

// The first line of a trace, without the class's name that it begins with.
std::string MessageOf(std::string_view class_name, std::string_view trace) {
  std::string_view line = trace.substr(0, trace.find('\n'));
  if (line.starts_with(class_name)) line.remove_prefix(class_name.size());
  while (line.starts_with(':') || line.starts_with(' ')) line.remove_prefix(1);
  constexpr size_t kShownBytesMax = 400;
  return Printable(line, kShownBytesMax);
}

// "... - wait 1mins, 12sec" or "... wait 250ms": what a quota asks for.
absl::Duration AskedWait(std::string_view message) {
  const size_t at = message.rfind("wait ");
  if (at == std::string_view::npos) return absl::ZeroDuration();
  absl::Duration sum = absl::ZeroDuration();
  uint64_t number = 0;
  constexpr uint64_t kNumberMax = 100'000;
  for (std::string_view rest = message.substr(at + 5); !rest.empty(); rest.remove_prefix(1)) {
    const char c = rest.front();
    if (c >= '0' && c <= '9') number = std::min<uint64_t>(number * 10 + (c - '0'), kNumberMax);
    if (rest.starts_with("ms")) return sum + absl::Milliseconds(number);
    if (rest.starts_with("min")) sum += absl::Minutes(std::exchange(number, 0));
    if (rest.starts_with("hrs")) sum += absl::Hours(std::exchange(number, 0));
    if (rest.starts_with("sec")) return sum + absl::Seconds(number);
  }
  return sum;
}

// HBase says in a text only that a cell is too large: "Cell[...] with size 20 exceeds limit of 10 bytes".  Returns the limit; 0: the text
// is another one.
size_t CellLimit(std::string_view trace) {
  constexpr std::string_view kBefore = " exceeds limit of ";
  const std::string_view line = trace.substr(0, trace.find('\n'));
  const size_t at = line.rfind(kBefore);
  if (at == std::string_view::npos || line.find("] with size ") == std::string_view::npos) return 0;
  const std::string_view rest = line.substr(at + kBefore.size());
  size_t limit = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), limit);
  return error == std::errc() && end != rest.data() ? limit : 0;
}

}  // namespace

Failure FailureOfException(std::string_view class_name, std::string_view trace) {
  // A nested class is written after a dollar sign.
  const size_t at = class_name.find_last_of(".$");
  const std::string_view name = at == std::string_view::npos ? class_name : class_name.substr(at + 1);
  Failure failure;
  failure.message = "HBase answered " + Printable(name) + ": " + MessageOf(class_name, trace);
  const Known* const known =
      std::find_if(std::begin(kKnown), std::end(kKnown), [&](const Known& one) { return one.name == name; });
  if (name == "DoNotRetryIOException") failure.cell_bytes_max = CellLimit(trace);
  if (failure.cell_bytes_max > 0) {
    failure.code = Code::kInvalidArgument;
    failure.message = "HBase takes cells of at most " + std::to_string(failure.cell_bytes_max) +
                      " bytes here, keys and names included (hbase.server.keyvalue.maxsize)";
    return failure;
  }
  if (known == std::end(kKnown)) {
    // A failed log, an aborting server, a timeout, or an exception that nobody here has heard of.
    failure.may_be_done = true;
    failure.code = Code::kInternal;
    if (name == "RegionServerAbortedException") failure.remedy = kLocate, failure.code = Code::kUnavailable;
    if (name == "CallTimeoutException" || name == "TimeoutIOException")
      failure.remedy = kWait, failure.code = Code::kUnavailable;
    if (name == "CorruptHFileException") failure.code = Code::kDataLoss;
    return failure;
  }
  failure.remedy = known->remedy;
  failure.code = known->code;
  if (name == "RpcThrottlingException") failure.wait_min = AskedWait(failure.message);
  return failure;
}

absl::Status StatusOf(const Failure& failure, bool changes) {
  if (failure.may_be_done && changes) {
    return absl::UnknownError("Nobody knows whether the change was applied: " + failure.message);
  }
  return {failure.code, failure.message};
}

}  // namespace sonde::hbase
