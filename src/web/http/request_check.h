// Whether a request may come from a web page that is not ours.  The port has no passwords, so a site that
// somebody visits must not be able to use their browser against it:
//   - Host must be an address, localhost, or a name of this server: a name that an attacker points at
//   127.0.0.1 (DNS
//     rebinding) is none of these;
//   - Origin, which browsers add to what a page's script or form sends, must be this server's own;
//   - Sec-Fetch-Site, where a browser tells it, must not name another site, unless somebody followed a link.
// Programs other than browsers send Host alone.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "web/http/http_message.h"

namespace sonde {

// `names`: host names of this server besides localhost, in lower case.  INVALID_ARGUMENT: no Host, or none
// that can be read; PERMISSION_DENIED: another site's.  With TLS the names are not looked at, as the client has compared
// its own with the certificate, and the origin begins with https.
absl::Status CheckHostAndOrigin(const HttpRequest& request, const std::vector<std::string>& names,
                                bool has_tls = false);

}  // namespace sonde
