#include "web/page.h"

#include <zlib.h>

#include <string>

#include "web/page_files.h"

namespace sonde {
namespace {

// For the rare client that takes no gzip.
absl::StatusOr<std::string> Unpack(const PageFile& file) {
  std::string bytes(file.bytes, '\0');
  z_stream stream{};
  constexpr int kGzip = 16;
  if (inflateInit2(&stream, MAX_WBITS + kGzip) != Z_OK) return absl::InternalError("zlib cannot start");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(file.gzip.data()));
  stream.avail_in = static_cast<uInt>(file.gzip.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  const int result = inflate(&stream, Z_FINISH);
  inflateEnd(&stream);
  if (result != Z_STREAM_END) return absl::InternalError("a file of the web page cannot be unpacked");
  return bytes;
}

absl::Status Send(const PageFile& file, const HttpRequest& request, HttpResponse* response) {
  response->content_type = file.content_type;
  // Files under /assets have their content's hash in their names.
  response->headers.emplace_back("Cache-Control", file.path.starts_with("/assets/")
                                                      ? "public, max-age=31536000, immutable"
                                                      : "no-cache");
  response->headers.emplace_back("Vary", "Accept-Encoding");
  if (request.Header("accept-encoding").value_or("").find("gzip") != std::string::npos) {
    response->headers.emplace_back("Content-Encoding", "gzip");
    response->body = file.gzip;
    return absl::OkStatus();
  }
  absl::StatusOr<std::string> bytes = Unpack(file);
  if (!bytes.ok()) return bytes.status();
  response->body = *std::move(bytes);
  return absl::OkStatus();
}

}  // namespace

void AddPage(Router* router) {
  for (const PageFile& file : PageFiles()) {
    const auto send = [&file](const HttpRequest& request, HttpBody*, HttpResponse* response) {
      return Send(file, request, response);
    };
    // Names of assets change with their content.
    const bool is_asset = file.path.starts_with("/assets/");
    router->Add({.method = "GET",
                 .path = std::string(file.path),
                 .handler = send,
                 .counted_as = is_asset ? "GET /assets/*" : ""});
    if (file.path == "/index.html") router->Add({"GET", "/", send});
  }
}

}  // namespace sonde
