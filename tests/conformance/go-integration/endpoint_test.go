package bigtable

import (
	"os"

	metrics "cloud.google.com/go/bigtable/internal/metrics"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

// With -it.use-prod the tests expect Google's endpoints and credentials, also for the metrics of the client.  This
// file, put among them, turns all of it to SONDE_ADDRESS: in plain text and without credentials, or by TLS with the key in SONDE_KEY_FILE
// (empty: none; SSL_CERT_FILE names the server's CA).  With SONDE_WITHOUT_INSTANCES the parts of tests are left out that need an instance of their own (the flag for that is read after it would matter).
func init() {
	address := os.Getenv("SONDE_ADDRESS")
	if address == "" {
		return
	}
	if os.Getenv("SONDE_WITHOUT_INSTANCES") != "" {
		instanceToCreate = ""
	}
	integrationConfig.ClientOpts = []option.ClientOption{
		option.WithEndpoint(address),
		option.WithoutAuthentication(),
		option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials())),
	}
	key, isSecure := os.LookupEnv("SONDE_KEY_FILE")
	if isSecure && key == "" {
		integrationConfig.ClientOpts = []option.ClientOption{
			option.WithEndpoint(address),
			option.WithoutAuthentication(),
			option.WithGRPCDialOption(grpc.WithTransportCredentials(credentials.NewTLS(nil))),
		}
	} else if isSecure {
		integrationConfig.ClientOpts = []option.ClientOption{
			option.WithEndpoint(address),
			option.WithAuthCredentialsFile(option.ServiceAccount, key),
		}
	}
	metrics.CreateExporterOptions = func(...option.ClientOption) []option.ClientOption {
		return integrationConfig.ClientOpts
	}
}
