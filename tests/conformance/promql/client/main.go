// Asks a server by each method of client_golang/api/prometheus/v1 that it should answer, about what api.py has written.
// usage: client http://HOST:PORT/   (exit status 1: an answer is another one)
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"time"

	"github.com/prometheus/client_golang/api"
	v1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"
)

var failures int

func check(what string, got, want any, warnings v1.Warnings, err error) {
	if err == nil && len(warnings) == 0 && reflect.DeepEqual(got, want) {
		return
	}
	failures++
	fmt.Fprintf(os.Stderr, "%s: got %v (warnings %v, error %v), instead of %v\n", what, got, warnings, err, want)
}

func main() {
	client, err := api.NewClient(api.Config{Address: os.Args[1]})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	server := v1.NewAPI(client)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	at := func(seconds int64) time.Time { return time.Unix(seconds, 0) }

	value, warnings, err := server.Query(ctx, `sum by (job) (api_requests_total)`, at(1700000060), v1.WithTimeout(time.Minute))
	check("Query", fmt.Sprint(value), "{job=\"web\"} => 12 @[1700000060]", warnings, err)
	value, warnings, err = server.Query(ctx, "1 + 1", at(4))
	check("Query of a scalar", fmt.Sprint(value), "scalar: 2 @[4]", warnings, err)
	value, warnings, err = server.QueryRange(ctx, `api_requests_total{instance="a"}`,
		v1.Range{Start: at(1700000000), End: at(1700000060), Step: 30 * time.Second}, v1.WithLookbackDelta(time.Minute))
	matrix, _ := value.(model.Matrix)
	check("QueryRange", len(matrix) == 1 && len(matrix[0].Values) == 3 && matrix[0].Values[2].Value == 8, true, warnings, err)

	sets, warnings, err := server.Series(ctx, []string{`api_requests_total{instance=~"a|b"}`, "api_load"}, at(1700000000), at(1700000060))
	check("Series", fmt.Sprint(sets), `[{__name__="api_load", instance="a"} {__name__="api_requests_total", instance="a", job="web"} `+
		`{__name__="api_requests_total", instance="b", job="web"}]`, warnings, err)
	names, warnings, err := server.LabelNames(ctx, []string{"api_requests_total"}, at(1700000000), at(1700000060))
	check("LabelNames", fmt.Sprint(names), "__name__, instance, job", warnings, err)
	values, warnings, err := server.LabelValues(ctx, "instance", []string{`api_requests_total`}, at(1700000000), at(1700000060))
	check("LabelValues", fmt.Sprint(values), "[a b]", warnings, err)
	values, warnings, err = server.LabelValues(ctx, "instance", nil, time.Time{}, time.Time{}, v1.WithLimit(1))
	check("LabelValues with a limit", fmt.Sprint(values, warnings), "[a] [results truncated due to limit]", nil, err)

	exemplars, err := server.QueryExemplars(ctx, "api_load", at(0), at(10))
	check("QueryExemplars", len(exemplars), 0, nil, err)
	rules, err := server.Rules(ctx, nil)
	check("Rules", len(rules.Groups), 0, nil, err)
	metadata, err := server.Metadata(ctx, "", "10")
	check("Metadata", len(metadata), 0, nil, err)
	build, err := server.Buildinfo(ctx)
	check("Buildinfo", build.Version, "3.14.0", nil, err)

	_, _, err = server.Query(ctx, "api_load{", at(0))
	var refused *v1.Error
	if !errors.As(err, &refused) || refused.Type != v1.ErrBadData {
		check("Query of what does not parse", err, "bad_data", nil, nil)
	}
	_, _, err = server.Query(ctx, "api_requests_total + on(job) api_requests_total", at(1700000060))
	if !errors.As(err, &refused) || refused.Type != v1.ErrExec {
		check("Query that cannot be carried out", err, "execution", nil, nil)
	}
	if failures > 0 {
		os.Exit(1)
	}
	fmt.Println("client_golang: all answers are as expected")
}
