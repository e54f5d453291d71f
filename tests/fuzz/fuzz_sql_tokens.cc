// The tokens of SQL: what is written is read as the same, any other bytes are refused, and bytes that carry the right code are read
// or refused whatever they say.
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <string>
#include <string_view>

#include "target.h"
#include "wire/sql/query_tokens.h"

namespace sonde {
namespace {

constexpr char kKey[] = "the key of a store, of 32 bytes..";
constexpr size_t kCodeBytes = 16;

// As whoever has the key would do: the reader must stand it.
std::string Signed(std::string_view bytes) {
  unsigned char code[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  HMAC(EVP_sha256(), kKey, sizeof kKey - 1, reinterpret_cast<const unsigned char*>(bytes.data()),
       bytes.size(), code, &size);
  return std::string(bytes) + std::string(reinterpret_cast<const char*>(code), kCodeBytes);
}

void CheckAny(const QueryTokens& tokens, std::string_view bytes) {
  const auto prepared = tokens.ReadPrepared(bytes);
  if (prepared.ok()) {
    Require(*tokens.ReadPrepared(tokens.Write(*prepared)) == *prepared, "a prepared query reads as the same");
  } else {
    Require(prepared.status().code() == absl::StatusCode::kInvalidArgument, "the code of a refusal");
  }
  const auto resume = tokens.ReadResume(bytes);
  if (resume.ok()) {
    Require(*tokens.ReadResume(tokens.Write(*resume)) == *resume, "a resume token reads as the same");
  } else {
    Require(resume.status().code() == absl::StatusCode::kInvalidArgument, "the code of a refusal");
  }
  Require(!prepared.ok() || !resume.ok(), "a token is of one kind");
}

void CheckChanged(const QueryTokens& tokens, std::string bytes, InputReader* input) {
  bytes[input->Number() % bytes.size()] ^= static_cast<char>(1 << input->Byte() % 8);
  Require(!tokens.ReadPrepared(bytes).ok() && !tokens.ReadResume(bytes).ok(), "a changed bit is found");
}

void CheckWritten(const QueryTokens& tokens, InputReader* input) {
  PreparedQueryToken prepared;
  prepared.instance = input->Bytes(input->Byte());
  prepared.query = input->Bytes(input->Byte());
  for (int count = input->Byte() % 4; count > 0; --count) {
    prepared.parameters.emplace_back(input->Bytes(input->Byte()), input->Bytes(input->Byte()));
  }
  prepared.fingerprint = input->Number();
  prepared.issued_micros = -static_cast<int64_t>(input->Number());
  const std::string written = tokens.Write(prepared);
  const auto read = tokens.ReadPrepared(written);
  Require(read.ok() && *read == prepared, "a prepared query is read as it was written");
  CheckChanged(tokens, written, input);
  ResumeToken resume{
      .request_hash = input->Number(), .now_micros = input->Number(), .is_end = input->Byte() % 2 == 0};
  resume.place = input->Rest();
  const std::string place = tokens.Write(resume);
  const auto read_place = tokens.ReadResume(place);
  Require(read_place.ok() && *read_place == resume, "a resume token is read as it was written");
  CheckChanged(tokens, place, input);
  Require(!QueryTokens("another key").ReadResume(place).ok(), "another store refuses it");
}

}  // namespace
}  // namespace sonde

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const sonde::QueryTokens tokens{std::string(sonde::kKey)};
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  sonde::CheckAny(tokens, bytes);
  sonde::CheckAny(tokens, sonde::Signed(bytes));
  sonde::InputReader input(data, size);
  sonde::CheckWritten(tokens, &input);
  return 0;
}
