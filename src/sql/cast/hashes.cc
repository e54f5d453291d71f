#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sql/cast/conversion_families.h"
#include "sql/cast/digest.h"
#include "sql/cast/fingerprint.h"
#include "sql/function/function_list.h"
#include "sql/function/row_kernel.h"

namespace sonde::sql {
namespace {

template <std::string (*kDigest)(std::string_view)>
std::string_view HashBytes(Call& call, std::string_view bytes) {
  return call.arena()->Copy(kDigest(bytes));
}

int64_t Fingerprint(Call&, std::string_view bytes) { return static_cast<int64_t>(FarmFingerprint(bytes)); }

Function DigestFunction(std::string name, Kernel kernel, std::string meaning) {
  std::string example = "TO_HEX(" + name + "('abc'))";
  return {.name = std::move(name),
          .overloads = {Scalar("(STRING) -> BYTES", kernel), Scalar("(BYTES) -> BYTES", kernel)},
          .meaning = std::move(meaning),
          .examples = {std::move(example)}};
}

}  // namespace

std::vector<Function> HashFunctions() {
  return {
      DigestFunction("MD5", RowKernel<HashBytes<Md5>>, "The 16 bytes of the MD5 hash of a text or of bytes."),
      DigestFunction("SHA1", RowKernel<HashBytes<Sha1>>,
                     "The 20 bytes of the SHA-1 hash of a text or of bytes."),
      DigestFunction("SHA256", RowKernel<HashBytes<Sha256>>,
                     "The 32 bytes of the SHA-256 hash of a text or of bytes."),
      DigestFunction("SHA512", RowKernel<HashBytes<Sha512>>,
                     "The 64 bytes of the SHA-512 hash of a text or of bytes."),
      {.name = "FARM_FINGERPRINT",
       .overloads = {Scalar("(STRING) -> INT64", RowKernel<Fingerprint>),
                     Scalar("(BYTES) -> INT64", RowKernel<Fingerprint>)},
       .meaning = "A number of 64 bits that stands for a text or bytes, and never changes.",
       .examples = {"FARM_FINGERPRINT('abc')"}},
  };
}

}  // namespace sonde::sql
