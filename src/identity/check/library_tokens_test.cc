// Tokens that other libraries made: PyJWT 2.15.1, python-jose 3.5.0 (Python), jose 6.2.18 (JavaScript).  Their private keys are not
// kept.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "identity/check/file_authenticator.h"
#include "identity/check/signing_test_support.h"

namespace sonde {
namespace {

struct LibraryKey {
  KeyAlgorithm algorithm;
  std::string_view pem;
};

struct LibraryToken {
  std::string_view library;
  std::string_view token;
};

constexpr LibraryKey kLibraryKeys[] = {
    {KeyAlgorithm::kRs256,
     "-----BEGIN PUBLIC KEY-----\n"
     "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA2i9829smWYUskJDXh52q\n"
     "o83vnoh0ta4F0Wm2pt9oUi9+OO8ygQUMS+Yw9X9Pv8yn6hl7ita6FQyjVio3xy35\n"
     "zN+cMseWuLC9uWUAbQIHmPLP4tnBgXPwAZOksu+naK8cle8WmTXzhNs9jpv2Ui4D\n"
     "CP+79FyWSaWNrGRd5PpJjhKtFjwLWtgZEy4HJs7ylI04IWZfssibYMUlCG6GsQMt\n"
     "XFfm2LQ7ASQlSO71PudrkeQoixtk5kIHH9AxaEKPjkTJM73uwfonD/WRHrKiMqmD\n"
     "DMk1oImNATui3MdVlgLHJ+FS72UeXiK36NtFh1QOzJE82yw0GmN9PXhEiKu0vYdZ\n"
     "gQIDAQAB\n"
     "-----END PUBLIC KEY-----\n"},
    {KeyAlgorithm::kEs256,
     "-----BEGIN PUBLIC KEY-----\n"
     "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEbsVUkr8az9uq/I14Yjo+GuAru15X\n"
     "MAYFzyr2A9NzS6D2eZx7IGZH390L9Nl4eZwk2A/ugmfvFKuJznKTHhgCPw==\n"
     "-----END PUBLIC KEY-----\n"},
    {KeyAlgorithm::kEdDsa,
     "-----BEGIN PUBLIC KEY-----\n"
     "MCowBQYDK2VwAyEAXevI+4sIz+4bGjzRh6T1nwKRicAU4BqLBj3D8XEw+F4=\n"
     "-----END PUBLIC KEY-----\n"},
};

constexpr LibraryToken kLibraryTokens[] = {
    {"PyJWT RS256",
     "eyJhbGciOiJSUzI1NiIsImtpZCI6IlJTMjU2IiwidHlwIjoiSldUIn0.eyJpc3MiOiJpbmdlc3RAc29uZGUubG9jYWwiLCJzdWIi"
     "OiJpbmdlc3RAc29uZGUubG9jYWwiLCJhdWQiOiJodHRwczovL2JpZ3RhYmxlLmdvb2dsZWFwaXMuY29tLyIsImlhdCI6MTc5NTU5"
     "MzYwMCwiZXhwIjoxNzk1NTk3MjAwfQ.BrnSQNN-KZCUAzcBEFuEGFOH8XSxQK-NwrrrwMzv_5EvcZKPxPp7yJBFHflw_y6p5dt6z"
     "rGaIzCF86KNl-N1dQ5P6JrRa8hYq0103RqMJ3EXpVYfwH2UuftFm3eAHIDnElSNdkU9WxEX4XSsKhp12xEprsminST8MA173sGFB"
     "60aBWvCWPQrH9wiSyaT0Cg6wi09Ix2GCCx0wVeztQW7hdxjNlx-wMSUvPc-mFCj_JkcNi9EiIBuEfkydsZO47b4apc4bJBkgB4pL"
     "vlds-wF-dzYpvvNBhjn4Db8BxqtFL7pQyO-myHOkorad9_oB62U_pWuTOuSGvQraAMD3zoa8g"},
    {"python-jose RS256",
     "eyJhbGciOiJSUzI1NiIsImtpZCI6IlJTMjU2IiwidHlwIjoiSldUIn0.eyJpc3MiOiJpbmdlc3RAc29uZGUubG9jYWwiLCJzdWIi"
     "OiJpbmdlc3RAc29uZGUubG9jYWwiLCJhdWQiOiJodHRwczovL2JpZ3RhYmxlLmdvb2dsZWFwaXMuY29tLyIsImlhdCI6MTc5NTU5"
     "MzYwMCwiZXhwIjoxNzk1NTk3MjAwfQ.BrnSQNN-KZCUAzcBEFuEGFOH8XSxQK-NwrrrwMzv_5EvcZKPxPp7yJBFHflw_y6p5dt6z"
     "rGaIzCF86KNl-N1dQ5P6JrRa8hYq0103RqMJ3EXpVYfwH2UuftFm3eAHIDnElSNdkU9WxEX4XSsKhp12xEprsminST8MA173sGFB"
     "60aBWvCWPQrH9wiSyaT0Cg6wi09Ix2GCCx0wVeztQW7hdxjNlx-wMSUvPc-mFCj_JkcNi9EiIBuEfkydsZO47b4apc4bJBkgB4pL"
     "vlds-wF-dzYpvvNBhjn4Db8BxqtFL7pQyO-myHOkorad9_oB62U_pWuTOuSGvQraAMD3zoa8g"},
    {"jose RS256",
     "eyJhbGciOiJSUzI1NiIsImtpZCI6IlJTMjU2IiwidHlwIjoiSldUIn0.eyJzY29wZSI6Imh0dHBzOi8vd3d3Lmdvb2dsZWFwaXMu"
     "Y29tL2F1dGgvY2xvdWQtcGxhdGZvcm0gaHR0cHM6Ly93d3cuZ29vZ2xlYXBpcy5jb20vYXV0aC9iaWd0YWJsZS5kYXRhIiwiaXNz"
     "IjoiaW5nZXN0QHNvbmRlLmxvY2FsIiwic3ViIjoiaW5nZXN0QHNvbmRlLmxvY2FsIiwiaWF0IjoxNzk1NTkzNjAwLCJleHAiOjE3"
     "OTU1OTcyMDB9.JBdVoiaRDwYmblSQPT702He2E4pFuxNq6H0AMJuK_y7F5-LkbgfktsOlgy7VaKBtWgyI716cOx0WLoq72y931SB"
     "vmrRiN4vPnJdjJIc7Mir9N2gZm7O2fuFMdEhlAgTfOgM_VXmWvoM55CxcMFtjd_qsGDnGSp1MWEPDTazqi6xZcZEQY3bIwzYvLvD"
     "lYAHhQ5HetkgQSgUR5wYoSQhZbtPaUNYghgv6aPGuX64XZfBZIatsrkYLA0zBSI2S1gLDT5cs2UZ4nQafc62YRps2HOa3iS7xU1r"
     "8HU1DILpHO33YuAyyh17jHqA24zAdMYgffbf4FxJdj6YSm09oz2GY5Q"},
    {"PyJWT ES256",
     "eyJhbGciOiJFUzI1NiIsImtpZCI6IkVTMjU2IiwidHlwIjoiSldUIn0.eyJpc3MiOiJpbmdlc3RAc29uZGUubG9jYWwiLCJzdWIi"
     "OiJpbmdlc3RAc29uZGUubG9jYWwiLCJhdWQiOiJodHRwczovL2JpZ3RhYmxlLmdvb2dsZWFwaXMuY29tLyIsImlhdCI6MTc5NTU5"
     "MzYwMCwiZXhwIjoxNzk1NTk3MjAwfQ.6gT74lLDjU67oMQHZYul7s4F8HoJ8SvokoB-sw1O58sZl7gpX6JEHPfG_gCQR30HTTXVj"
     "2MipcdFeUYtHNiMig"},
    {"python-jose ES256",
     "eyJhbGciOiJFUzI1NiIsImtpZCI6IkVTMjU2IiwidHlwIjoiSldUIn0.eyJpc3MiOiJpbmdlc3RAc29uZGUubG9jYWwiLCJzdWIi"
     "OiJpbmdlc3RAc29uZGUubG9jYWwiLCJhdWQiOiJodHRwczovL2JpZ3RhYmxlLmdvb2dsZWFwaXMuY29tLyIsImlhdCI6MTc5NTU5"
     "MzYwMCwiZXhwIjoxNzk1NTk3MjAwfQ.oTAA-ti1e8C_kQtWIHrtP-7CQHDm0khdbSKEY2Rt8e3H-VkJ2V35MBE34Ff16CxNhybfP"
     "R2nEL47LZbXkkWYbw"},
    {"jose ES256",
     "eyJhbGciOiJFUzI1NiIsImtpZCI6IkVTMjU2IiwidHlwIjoiSldUIn0.eyJzY29wZSI6Imh0dHBzOi8vd3d3Lmdvb2dsZWFwaXMu"
     "Y29tL2F1dGgvY2xvdWQtcGxhdGZvcm0gaHR0cHM6Ly93d3cuZ29vZ2xlYXBpcy5jb20vYXV0aC9iaWd0YWJsZS5kYXRhIiwiaXNz"
     "IjoiaW5nZXN0QHNvbmRlLmxvY2FsIiwic3ViIjoiaW5nZXN0QHNvbmRlLmxvY2FsIiwiaWF0IjoxNzk1NTkzNjAwLCJleHAiOjE3"
     "OTU1OTcyMDB9.8HK_R5q994jevprq5Mth7RB9Ek5PbUTl3e284B14NWCWTWirQujx-K_QTFqqZgMFc_pb0003wAgIYFq66GXVDw"},
    {"PyJWT EdDSA",
     "eyJhbGciOiJFZERTQSIsImtpZCI6IkVkRFNBIiwidHlwIjoiSldUIn0.eyJpc3MiOiJpbmdlc3RAc29uZGUubG9jYWwiLCJzdWIi"
     "OiJpbmdlc3RAc29uZGUubG9jYWwiLCJhdWQiOiJodHRwczovL2JpZ3RhYmxlLmdvb2dsZWFwaXMuY29tLyIsImlhdCI6MTc5NTU5"
     "MzYwMCwiZXhwIjoxNzk1NTk3MjAwfQ.BRJ6jCgv_Ft1aOWjWxYatRojQ44x6zggequnvhuWsXO_-sZ6Oqxy_bc18BQu4piBQbOAx"
     "Ps3bdj-zOT90xaeBA"},
    {"jose EdDSA",
     "eyJhbGciOiJFZERTQSIsImtpZCI6IkVkRFNBIiwidHlwIjoiSldUIn0.eyJzY29wZSI6Imh0dHBzOi8vd3d3Lmdvb2dsZWFwaXMu"
     "Y29tL2F1dGgvY2xvdWQtcGxhdGZvcm0gaHR0cHM6Ly93d3cuZ29vZ2xlYXBpcy5jb20vYXV0aC9iaWd0YWJsZS5kYXRhIiwiaXNz"
     "IjoiaW5nZXN0QHNvbmRlLmxvY2FsIiwic3ViIjoiaW5nZXN0QHNvbmRlLmxvY2FsIiwiaWF0IjoxNzk1NTkzNjAwLCJleHAiOjE3"
     "OTU1OTcyMDB9.6QSnsp1gsykSanmoJMOA69CgcPvrdobc5KclFvidSE1P6-g6zQ5WBqeVxIm2zY7JdZp6jyS0H9QeVHu5WEVECw"},
};

AuthConfig ConfigOfLibraryKeys() {
  AuthConfig config;
  config.accounts.push_back({.email = "ingest@sonde.local", .keys = {}});
  for (const LibraryKey& key : kLibraryKeys) {
    auto public_key = PublicKey::FromPem(key.algorithm, key.pem);
    EXPECT_TRUE(public_key.ok()) << public_key.status();
    config.accounts[0].keys.push_back({.id = std::string(NameOfAlgorithm(key.algorithm)),
                                       .created = absl::FromUnixSeconds(kTestSeconds),
                                       .public_key = *std::move(public_key)});
  }
  return config;
}

TEST(LibraryTokens, ProveTheirAccount) {
  const auto authenticator = FileAuthenticator::Create(ConfigOfLibraryKeys());
  for (const LibraryToken& token : kLibraryTokens) {
    const std::string header = fmt::format("Bearer {}", token.token);
    std::string cause;
    const auto principal =
        authenticator->Authenticate({.authorization = header}, absl::FromUnixSeconds(kTestSeconds), &cause);
    ASSERT_TRUE(principal.ok()) << token.library << ": " << cause;
    EXPECT_EQ((*principal)->member, "serviceAccount:ingest@sonde.local") << token.library;
  }
}

TEST(LibraryTokens, ProveNobodyWithAnotherKeyOfTheSameId) {
  AuthConfig config;
  config.accounts.push_back({.email = "ingest@sonde.local", .keys = {}});
  for (const KeyAlgorithm algorithm : {KeyAlgorithm::kRs256, KeyAlgorithm::kEs256, KeyAlgorithm::kEdDsa}) {
    config.accounts[0].keys.push_back(TestKey(algorithm).ToAuthKey(std::string(NameOfAlgorithm(algorithm))));
  }
  const auto authenticator = FileAuthenticator::Create(config);
  for (const LibraryToken& token : kLibraryTokens) {
    const std::string header = fmt::format("Bearer {}", token.token);
    std::string cause;
    EXPECT_FALSE(
        authenticator->Authenticate({.authorization = header}, absl::FromUnixSeconds(kTestSeconds), &cause)
            .ok());
    EXPECT_NE(cause.find("signature"), std::string::npos) << token.library << ": " << cause;
  }
}

}  // namespace
}  // namespace sonde
