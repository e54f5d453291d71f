// Tokens that prove nobody, each made by who knows all but the private key, or who has a token for another purpose.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.h"
#include "identity/check/file_authenticator.h"
#include "identity/check/signing_test_support.h"
#include "identity/proof/base64_text.h"

namespace sonde {
namespace {

constexpr char kEmail[] = "ingest@sonde.local";
constexpr char kOtherEmail[] = "other@sonde.local";

struct Keys {
  TestKey rsa{KeyAlgorithm::kRs256}, ec{KeyAlgorithm::kEs256}, ed{KeyAlgorithm::kEdDsa},
      other{KeyAlgorithm::kRs256}, stranger{KeyAlgorithm::kRs256}, stranger_ec{KeyAlgorithm::kEs256};
};

const Keys& TheKeys() {
  static const Keys* const keys = new Keys;
  return *keys;
}

AuthConfig ConfigOf(const Keys& keys) {
  AuthConfig config;
  config.accounts.push_back(
      {.email = kEmail,
       .keys = {keys.rsa.ToAuthKey("rsa1"), keys.ec.ToAuthKey("ec1"), keys.ed.ToAuthKey("ed1")}});
  config.accounts.push_back({.email = kOtherEmail, .keys = {keys.other.ToAuthKey("other1")}});
  return config;
}

std::string Header(std::string_view algorithm = "RS256", std::string_view key = "rsa1",
                   std::string_view more = "") {
  return fmt::format(R"({{"alg":"{}","kid":"{}","typ":"JWT"{}}})", algorithm, key, more);
}

// The claims of a good token, of which one is replaced: by `text` behind its name, or left out if that is empty.
std::string Claims(std::string_view replaced = "", std::string_view text = "", std::string_view more = "") {
  const std::vector<std::pair<std::string_view, std::string>> members = {
      {"iss", fmt::format("\"{}\"", kEmail)},
      {"sub", fmt::format("\"{}\"", kEmail)},
      {"aud", "\"https://bigtable.googleapis.com/\""},
      {"iat", fmt::format("{}", kTestSeconds)},
      {"exp", fmt::format("{}", kTestSeconds + 3600)}};
  std::string claims = "{";
  for (const auto& [name, value] : members) {
    const std::string_view shown = name == replaced ? text : value;
    if (!shown.empty()) claims += fmt::format("{}\"{}\":{}", claims.size() > 1 ? "," : "", name, shown);
  }
  return claims + std::string(more) + "}";
}

std::string Seconds(int64_t after) { return fmt::format("{}", kTestSeconds + after); }

std::string Quoted(std::string_view text) { return fmt::format("\"{}\"", text); }

std::string WithoutSignature(const std::string& token) { return token.substr(0, token.rfind('.') + 1); }

struct Forged {
  std::string name;
  std::string token;
  std::string cause;  // a part of it
};

std::vector<Forged> ByKeyAndAlgorithm(const Keys& keys) {
  const std::string good = SignToken(keys.rsa, Header(), Claims());
  const std::string ec = SignToken(keys.ec, Header("ES256", "ec1"), Claims());
  const std::string ed = SignToken(keys.ed, Header("EdDSA", "ed1"), Claims());
  const std::string signature_of_zeros = Base64UrlOf(std::string(64, '\0'));
  const std::string jwk = R"(,"jwk":{"kty":"oct","k":"AAAA"})";
  return {
      {"alg none, no signature", WithoutSignature(SignToken(keys.rsa, Header("none"), Claims())),
       "alg 'none'"},
      {"alg None", WithoutSignature(SignToken(keys.rsa, Header("None"), Claims())), "alg 'None'"},
      {"alg nOnE, signed", SignToken(keys.rsa, Header("nOnE"), Claims()), "alg 'nOnE'"},
      {"alg empty", SignToken(keys.rsa, Header(""), Claims()), "alg ''"},
      {"alg missing", SignToken(keys.rsa, R"({"kid":"rsa1"})", Claims()), "no 'alg'"},
      {"alg a number", SignToken(keys.rsa, R"({"alg":256,"kid":"rsa1"})", Claims()), "no 'alg'"},
      {"alg in small letters", SignToken(keys.rsa, Header("rs256"), Claims()), "alg 'rs256'"},
      {"alg a list", SignToken(keys.rsa, R"({"alg":["RS256"],"kid":"rsa1"})", Claims()), "no 'alg'"},
      {"HS256 with the public key as the secret",
       SignTokenByHmac(keys.rsa.PublicPem(), Header("HS256"), Claims()), "alg 'HS256'"},
      {"HMAC that says RS256", SignTokenByHmac(keys.rsa.PublicPem(), Header("RS256"), Claims()), "signature"},
      {"HS256 with an empty secret", SignTokenByHmac("", Header("HS256"), Claims()), "alg 'HS256'"},
      {"ES256 said of the RSA key", SignToken(keys.stranger_ec, Header("ES256"), Claims()), "alg 'ES256'"},
      {"RS256 said of the EC key", SignToken(keys.stranger, Header("RS256", "ec1"), Claims()), "alg 'RS256'"},
      {"RS512 said of the RSA key", SignToken(keys.rsa, Header("RS512"), Claims()), "alg 'RS512'"},
      {"PS256 said of the RSA key", SignToken(keys.rsa, Header("PS256"), Claims()), "alg 'PS256'"},
      {"a stranger's key", SignToken(keys.stranger, Header(), Claims()), "signature"},
      {"a stranger's EC key", SignToken(keys.stranger_ec, Header("ES256", "ec1"), Claims()), "signature"},
      {"no signature", WithoutSignature(good), "signature"},
      {"EC numbers of zero", WithoutSignature(ec) + signature_of_zeros, "signature"},
      {"EdDSA of zeros", WithoutSignature(ed) + signature_of_zeros, "signature"},
      {"EC signature too long", ec + "AAAA", "signature"},
      {"another token's signature",
       WithoutSignature(SignToken(keys.rsa, Header(), Claims("exp", Seconds(3599)))) +
           good.substr(good.rfind('.') + 1),
       "signature"},
      {"kid missing", SignToken(keys.rsa, R"({"alg":"RS256"})", Claims()), "no 'kid'"},
      {"kid unknown", SignToken(keys.stranger, Header("RS256", "rsa2"), Claims()), "the id 'rsa2'"},
      {"kid a path", SignToken(keys.stranger, Header("RS256", "../../dev/null"), Claims()), "../../dev/null"},
      {"kid with SQL", SignToken(keys.stranger, Header("RS256", "x' UNION SELECT 'a"), Claims()), "UNION"},
      {"kid of nothing behind the name", SignToken(keys.stranger, Header("RS256", "rsa1\\u0000"), Claims()),
       "rsa1"},
      {"kid a number", SignToken(keys.rsa, R"({"alg":"RS256","kid":1})", Claims()), "no 'kid'"},
      {"kid of another account", SignToken(keys.other, Header("RS256", "other1"), Claims()),
       "'iss' and 'sub'"},
      {"embedded jwk", SignToken(keys.stranger, Header("RS256", "rsa1", jwk), Claims()), "signature"},
      {"embedded jwk, HS256", SignTokenByHmac(std::string(3, '\0'), Header("HS256", "rsa1", jwk), Claims()),
       "alg 'HS256'"},
      {"jku",
       SignToken(keys.stranger, Header("RS256", "rsa1", R"(,"jku":"https://evil.example/k")"), Claims()),
       "signature"},
      {"x5u",
       SignToken(keys.stranger, Header("RS256", "rsa1", R"(,"x5u":"https://evil.example/c")"), Claims()),
       "signature"},
      {"x5c", SignToken(keys.stranger, Header("RS256", "rsa1", R"(,"x5c":["MIIB"])"), Claims()), "signature"},
      {"crit", SignToken(keys.rsa, Header("RS256", "rsa1", R"(,"crit":["b64"],"b64":false)"), Claims()),
       "'crit'"},
      {"crit empty", SignToken(keys.rsa, Header("RS256", "rsa1", R"(,"crit":[])"), Claims()), "'crit'"},
      {"typ of another kind",
       SignToken(keys.rsa, R"({"alg":"RS256","kid":"rsa1","typ":"dpop+jwt"})", Claims()), "'typ'"},
  };
}

std::vector<Forged> ByClaims(const Keys& keys) {
  const auto with = [&](std::string_view replaced, std::string_view text, std::string_view more = "") {
    return SignToken(keys.rsa, Header(), Claims(replaced, text, more));
  };
  std::vector<Forged> forged = {
      {"iss missing", with("iss", ""), "'iss' and 'sub'"},
      {"iss another", with("iss", Quoted(kOtherEmail)), "'iss' and 'sub'"},
      {"iss in capitals", with("iss", Quoted("Ingest@sonde.local")), "'iss' and 'sub'"},
      {"iss a list", with("iss", fmt::format("[\"{}\"]", kEmail)), "'iss' of the token is no text"},
      {"sub missing", with("sub", ""), "'iss' and 'sub'"},
      {"sub another", with("sub", Quoted(kOtherEmail)), "'iss' and 'sub'"},
      {"sub null", with("sub", "null"), "'sub' of the token is no text"},
      {"an account of Google's", with("iss", Quoted("x@p.iam.gserviceaccount.com")), "Google"},
      {"exp missing", with("exp", ""), "no 'exp'"},
      {"exp past",
       SignToken(keys.rsa, Header(),
                 fmt::format(R"({{"iss":"{0}","sub":"{0}","aud":"https://bigtable.googleapis.com/",)"
                             R"("iat":{1},"exp":{2}}})",
                             kEmail, kTestSeconds - 3660, kTestSeconds - 60)),
       "expired"},
      {"exp a text", with("exp", Quoted(Seconds(3600))), "'exp' of the token is no whole number"},
      {"exp a fraction", with("exp", Seconds(3600) + ".5"), "'exp' of the token is no whole number"},
      {"exp null", with("exp", "null"), "'exp' of the token is no whole number"},
      {"exp true", with("exp", "true"), "'exp' of the token is no whole number"},
      {"exp of 64 bits", with("exp", "18446744073709551615"), "'exp' of the token is no whole number"},
      {"exp of 63 bits", with("exp", "9223372036854775807"), "no 'exp' that is a time"},
      {"exp with an exponent", with("exp", "1e99"), "'exp' of the token is no whole number"},
      {"exp beyond any double", with("exp", "1e999"), "cannot be read"},
      {"exp negative", with("exp", "-1"), "no 'exp' that is a time"},
      {"exp in milliseconds", with("exp", Seconds(3600) + "000"), "no 'exp' that is a time"},
      {"for more than an hour", with("exp", Seconds(3601)), "allowed are 1 to 3600"},
      {"exp before iat", with("exp", Seconds(-1)), "allowed are 1 to 3600"},
      {"iat missing", with("iat", ""), "no 'iat'"},
      {"iat a text", with("iat", Quoted(Seconds(0))), "'iat' of the token is no whole number"},
      {"iat in the future", with("iat", Seconds(61)), "in the future"},
      {"nbf in the future", with("", "", ",\"nbf\":" + Seconds(61)), "not valid yet"},
      {"nbf a text", with("", "", ",\"nbf\":\"1\""), "'nbf' of the token is no whole number"},
      {"nbf negative", with("", "", ",\"nbf\":-5"), "'nbf' that is no time"},
      {"aud another", with("aud", Quoted("https://pubsub.googleapis.com/")), "another audience"},
      {"aud with something behind", with("aud", Quoted("https://bigtable.googleapis.com/.evil.example")),
       "another audience"},
      {"aud an empty list", with("aud", "[]"), "another audience"},
      {"aud a list of others", with("aud", R"(["a","b"])"), "another audience"},
      {"aud a map", with("aud", R"({"a":"https://bigtable.googleapis.com/"})"), "neither a text nor a list"},
      {"aud a list of lists", with("aud", R"([["https://bigtable.googleapis.com/"]])"),
       "neither a text nor a list"},
      {"aud another, with a scope",
       with("aud", Quoted("x"), R"(,"scope":"https://www.googleapis.com/auth/cloud-platform")"),
       "another audience"},
      {"neither aud nor scope", with("aud", ""), "neither 'aud' nor 'scope'"},
      {"an empty aud without a scope", with("aud", Quoted("")), "neither 'aud' nor 'scope'"},
      {"a list of an empty aud and another", with("aud", R"(["","x"])"), "another audience"},
      {"scope of another service", with("aud", "", R"(,"scope":"https://www.googleapis.com/auth/pubsub")"),
       "no scope"},
      {"scope that begins alike",
       with("aud", "", R"(,"scope":"https://www.googleapis.com/auth/bigtable.database")"), "no scope"},
      {"scope a list", with("aud", "", R"(,"scope":["https://www.googleapis.com/auth/cloud-platform"])"),
       "'scope' of the token is no text"},
  };
  return forged;
}

std::vector<Forged> ByForm(const Keys& keys) {
  const std::string good = SignToken(keys.rsa, Header(), Claims());
  const auto replaced = [&](size_t at, char c) {
    std::string token = good;
    token[at] = c;
    return token;
  };
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "[";
  return {
      {"a member twice in the header",
       SignToken(keys.rsa, Header("none", "rsa1", R"(,"alg":"RS256")"), Claims()), "comes twice"},
      {"a member twice in the claims",
       SignToken(keys.rsa, Header(), Claims("", "", ",\"sub\":\"" + std::string(kOtherEmail) + "\"")),
       "comes twice"},
      {"a member twice by an escape", SignToken(keys.rsa, Header(), Claims("", "", R"(,"\u0073ub":"x")")),
       "comes twice"},
      {"a member twice below", SignToken(keys.rsa, Header(), Claims("", "", R"(,"x":{"a":1,"a":2})")),
       "comes twice"},
      {"too large",
       SignToken(keys.rsa, Header(), Claims("", "", ",\"x\":\"" + std::string(4000, 'x') + "\"")),
       "allowed are 4096"},
      {"nested deeply", SignToken(keys.rsa, Header(), Claims("", "", ",\"x\":" + deep)), "nested too deeply"},
      {"claims behind the object", SignToken(keys.rsa, Header(), Claims() + "{}"), "cannot be read"},
      {"a byte order mark", SignToken(keys.rsa, "\xEF\xBB\xBF" + Header(), Claims()), "no object"},
      {"claims a list", SignToken(keys.rsa, Header(), "[" + Claims() + "]"), "no object"},
      {"claims empty", SignToken(keys.rsa, Header(), ""), "no object"},
      {"claims with a comment", SignToken(keys.rsa, Header(), "{/**/" + Claims().substr(1)),
       "cannot be read"},
      {"claims in Latin-1", SignToken(keys.rsa, Header(), Claims("", "", ",\"x\":\"\xE9\"")),
       "cannot be read"},
      {"two parts", good.substr(0, good.rfind('.')), "three parts"},
      {"four parts", good + ".AAAA", "three parts"},
      {"five parts, as an encrypted one", good + "..", "three parts"},
      {"no parts", "abc", "three parts"},
      {"only dots", "..", "no object"},
      {"padding", good + "=", "base64url"},
      {"the other base64", replaced(5, '+'), "base64url"},
      {"a line break", good + "\n", "base64url"},
      {"a blank in front", " " + good, "base64url"},
      {"bits behind the last byte",
       good.substr(0, good.size() - 1) + (good.back() == 'A' ? 'B' : static_cast<char>(good.back() + 1)),
       "base64url"},
      {"a byte changed in the claims",
       replaced(good.find('.') + 20, good[good.find('.') + 20] == 'Q' ? 'R' : 'Q'), ""},
  };
}

class ForgedTokens : public ::testing::Test {
 protected:
  // What the call is answered with, and why.
  std::pair<absl::Status, std::string> Try(const std::string& token, int64_t seconds = kTestSeconds) {
    const std::string header = "Bearer " + token;
    std::string cause;
    const auto principal =
        authenticator_->Authenticate({.authorization = header}, absl::FromUnixSeconds(seconds), &cause);
    return {principal.status(), cause};
  }

  void ExpectRefused(const std::vector<Forged>& forged) {
    for (const Forged& one : forged) {
      const auto [status, cause] = Try(one.token);
      EXPECT_EQ(status.code(), absl::StatusCode::kUnauthenticated) << one.name;
      EXPECT_EQ(status.message(), "Request had invalid authentication credentials.") << one.name;
      EXPECT_NE(cause, "") << one.name;
      EXPECT_NE(cause.find(one.cause), std::string::npos) << one.name << ": " << cause;
      // The cause goes to a log: no signature is in it.
      const std::string signature = one.token.substr(one.token.rfind('.') + 1);
      if (signature.size() > 8) {
        EXPECT_EQ(cause.find(signature.substr(0, 8)), std::string::npos) << one.name;
      }
    }
  }

  const Keys& keys_ = TheKeys();
  std::unique_ptr<FileAuthenticator> authenticator_ = FileAuthenticator::Create(ConfigOf(keys_));
};

// The tests below would pass if nothing were accepted at all.
TEST_F(ForgedTokens, GoodOnesOfEachAlgorithmAreAccepted) {
  EXPECT_TRUE(Try(SignToken(keys_.rsa, Header(), Claims())).first.ok());
  EXPECT_TRUE(Try(SignToken(keys_.ec, Header("ES256", "ec1"), Claims())).first.ok());
  EXPECT_TRUE(Try(SignToken(keys_.ed, Header("EdDSA", "ed1"), Claims())).first.ok());
}

TEST_F(ForgedTokens, GoodOnesAtTheLimitsAreAccepted) {
  const auto with = [&](std::string_view replaced, std::string_view text, std::string_view more = "") {
    return SignToken(keys_.rsa, Header(), Claims(replaced, text, more));
  };
  for (const std::string& token :
       {with("iat", Seconds(60)), with("exp", Seconds(1)), with("", "", ",\"nbf\":" + Seconds(60)),
        with("aud", "\"https://bigtableadmin.googleapis.com/\""),
        with("aud", R"(["x","https://bigtable.googleapis.com/"])"),
        with("aud", "", R"(,"scope":"email https://www.googleapis.com/auth/bigtable.data")"),
        with("aud", Quoted(""), R"(,"scope":"https://www.googleapis.com/auth/bigtable.data")"),
        with("", "", R"(,"more":{"a":[1,{"b":null}]})"),
        SignToken(keys_.rsa, R"({"alg":"RS256","kid":"rsa1"})", Claims()),
        SignToken(keys_.rsa, Header("RS256", "rsa1", R"(,"x5u":"https://evil.example/c")"), Claims())}) {
    EXPECT_TRUE(Try(token).first.ok()) << Try(token).second;
  }
  const std::string token = SignToken(keys_.rsa, Header(), Claims());
  EXPECT_TRUE(Try(token, kTestSeconds + 3659).first.ok());
  EXPECT_FALSE(Try(token, kTestSeconds + 3660).first.ok());
  EXPECT_TRUE(Try(SignToken(keys_.ec, Header("ES256", "ec1"), Claims()), kTestSeconds - 60).first.ok());
  EXPECT_FALSE(Try(SignToken(keys_.ed, Header("EdDSA", "ed1"), Claims()), kTestSeconds - 61).first.ok());
}

TEST_F(ForgedTokens, AreRefusedForTheirKeyOrAlgorithm) { ExpectRefused(ByKeyAndAlgorithm(keys_)); }
TEST_F(ForgedTokens, AreRefusedForTheirClaims) { ExpectRefused(ByClaims(keys_)); }
TEST_F(ForgedTokens, AreRefusedForTheirForm) { ExpectRefused(ByForm(keys_)); }

// The number of mutations is that of a test; SONDE_MUTATED_TOKENS asks for more (a million take some ten seconds a key).
TEST_F(ForgedTokens, MutatedOnesAreRefused) {
  const char* const asked = std::getenv("SONDE_MUTATED_TOKENS");
  const int64_t count = asked == nullptr ? 20'000 : std::atoll(asked);
  const std::vector<std::string> tokens = {SignToken(keys_.rsa, Header(), Claims()),
                                           SignToken(keys_.ec, Header("ES256", "ec1"), Claims()),
                                           SignToken(keys_.ed, Header("EdDSA", "ed1"), Claims())};
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=";
  SeededRandom random(1);
  int64_t accepted = 0;
  for (int64_t i = 0; i < count; ++i) {
    const std::string& original = tokens[random.Uniform(tokens.size())];
    std::string token = original;
    for (uint64_t changes = 1 + random.Uniform(3); changes > 0; --changes) {
      const size_t at = random.Uniform(token.size());
      const char c = kAlphabet[random.Uniform(kAlphabet.size())];
      switch (random.Uniform(3)) {
        case 0:
          token[at] = c;
          break;
        case 1:
          token.insert(at, 1, c);
          break;
        default:
          token.erase(at, 1 + random.Uniform(4));
      }
      if (token.empty()) token = ".";
    }
    if (token != original && Try(token).first.ok()) ++accepted;
  }
  EXPECT_EQ(accepted, 0);
}

}  // namespace
}  // namespace sonde
