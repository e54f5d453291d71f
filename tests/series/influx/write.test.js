'use strict';
// The official InfluxDB client writes to a Sonde server; what came in is asked for at /api/v1/series.
const assert = require('node:assert');
const test = require('node:test');
const {InfluxDB, Point, HttpError} = require('@influxdata/influxdb-client');

const url = process.env.SONDE_HTTP;

async function ask(series, parameters) {
  const response = await fetch(`${url}api/v1/series/${series}/query?${new URLSearchParams(parameters)}`);
  assert.strictEqual(response.status, 200, await response.clone().text());
  return (await response.json()).rows;
}

function writer(options = {}) {
  return new InfluxDB({url, token: 'any'}).getWriteApi('org', 'bucket', 'ms', {maxRetries: 0, flushInterval: 0, batchSize: 10_000, ...options});
}

test('points of all types come back, over gzip', async () => {
  const api = writer({gzipThreshold: 1});
  // Fewer than a batch: close() does not wait for batches that were sent before it.
  for (let i = 0; i < 4000; ++i) {
    api.writePoint(new Point('node client').tag('host', `h${i % 3}`).tag('odd, one', 'a=b c').floatField('f', i / 4)
      .intField('n', i).booleanField('ok', i % 2 === 0).stringField('s', `say "${i}"\\`).timestamp(1_600_000_000_000 + i * 1000));
  }
  await api.close();
  const rows = await ask('node client', {where: 'host=h1', limit: 1});
  assert.deepStrictEqual(rows, [['h1', 'a=b c', '2020-09-13T12:26:41Z', 0.25, 1, 'false', 'say "1"\\']]);
  const sums = await ask('node client', {agg: 'count,sum', field: 'n', group_by: '-'});
  assert.deepStrictEqual(sums.map((row) => row.slice(1)), [[4000, 7998000]]);
});

test('a point of another type is refused, and the others stay', async () => {
  const api = writer();
  const failures = [];
  const failing = writer({writeFailed: (error) => { failures.push(error); }});
  api.writeRecord('conflict v=1 1');
  await api.close();
  failing.writeRecords(['conflict v="text" 2', 'conflict v=3 3']);
  await failing.close().catch((error) => failures.push(error));
  assert.ok(failures[0] instanceof HttpError);
  assert.strictEqual(failures[0].statusCode, 400);
  assert.match(failures[0].message, /field type conflict.*dropped=1/);
  assert.deepStrictEqual((await ask('conflict', {})).map((row) => row[1]), [1, 3]);
});
