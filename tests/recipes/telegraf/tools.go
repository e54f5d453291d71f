//go:build tools

// Telegraf, whose program tests/conformance/run builds with the plugins of the recipes alone.
package telegraf

import _ "github.com/influxdata/telegraf/cmd/telegraf"
