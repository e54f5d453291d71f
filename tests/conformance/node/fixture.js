// One instance a test, seen through the official Node client: on the server that BIGTABLE_EMULATOR_HOST names, or by TLS on the one
// at SONDE_ADDRESS, with the keys that lie in SONDE_SECURE.
'use strict';

const assert = require('node:assert/strict');
const path = require('node:path');
const {after} = require('node:test');
const {Bigtable} = require('@google-cloud/bigtable');
const {grpc} = require('google-gax');

const secure = process.env.SONDE_SECURE;
if (!process.env.BIGTABLE_EMULATOR_HOST && !secure) {
  console.error('BIGTABLE_EMULATOR_HOST is not set: run tests/conformance/run node SONDE');
  process.exit(2);
}

process.env.METADATA_SERVER_DETECTION = 'none';   // there is no cloud around to be looked for

const code = {
  INVALID_ARGUMENT: 3, NOT_FOUND: 5, ALREADY_EXISTS: 6, PERMISSION_DENIED: 7, FAILED_PRECONDITION: 9, UNIMPLEMENTED: 12,
  UNAUTHENTICATED: 16,
};

// SONDE_PROJECT_ID: empty or not set, for a program that tells the client no project; then it sends the text
// "{{projectId}}".  tests/conformance/run runs the suite both ways.
const projectId = process.env.SONDE_PROJECT_ID || undefined;
const bigtable = newClient('admin');
after(() => bigtable.close());

// `account`: of a key in SONDE_SECURE; 'keyless' speaks TLS and shows none.  Without TLS nobody shows a key.  (apiEndpoint would be plain
// text always.)
function newClient(account) {
  const [servicePath, port] = secure ? ['localhost', Number(process.env.SONDE_ADDRESS.split(':').pop())] : [];
  const proof = account === 'keyless' ? {sslCreds: grpc.credentials.createSsl()} :
    {keyFilename: path.join(secure ?? '', `${account}-key.json`)};
  const place = secure ? {servicePath, port, ...proof} : {};
  return new Bigtable({projectId, metricsEnabled: false, ...place});
}

let instanceCount = 0;

// It needs no creation.
function newInstance() {
  return bigtable.instance(`node${Date.now()}-${process.pid}-${++instanceCount}`);
}

async function newTable({families = ['f'], splits = []} = {}) {
  const [table] = await newInstance().createTable('t', {families, splits: splits.map(split => Buffer.from(split))});
  return table;
}

// write(table, [row, 'family:qualifier', timestamp in ms, value], ...)
async function write(table, ...cells) {
  await table.mutate(cells.map(([key, column, ms, value]) => {
    const colon = column.indexOf(':');
    const [family, qualifier] = [column.slice(0, colon), column.slice(colon + 1)];
    return {key, method: 'insert', data: {[family]: {[qualifier]: {value, timestamp: ms * 1000}}}};
  }));
}

// One text a cell: row family:qualifier @ms value [labels].
function render(rows) {
  const lines = [];
  for (const row of rows) {
    for (const [family, columns] of Object.entries(row.data)) {
      for (const [qualifier, cells] of Object.entries(columns)) {
        for (const {value, timestamp, labels} of cells) {
          const label = labels.length > 0 ? ` [${labels}]` : '';
          lines.push(`${row.id} ${family}:${qualifier} @${Number(timestamp) / 1000} ${value}${label}`);
        }
      }
    }
  }
  return lines;
}

async function read(table, options) {
  const [rows] = await table.getRows(options);
  return render(rows);
}

async function keys(table, options) {
  const [rows] = await table.getRows(options);
  return rows.map(row => row.id);
}

// A call of the generated client beneath: a promise for one answer.
function call(method, request) {
  const client = method in tableAdminMethods ? 'BigtableTableAdminClient' : 'BigtableClient';
  return new Promise((resolve, reject) => {
    bigtable.request({client, method, reqOpts: request}, (error, answer) => error ? reject(error) : resolve(answer));
  });
}
const tableAdminMethods = {modifyColumnFamilies: 1, dropRowRange: 1, checkConsistency: 1, snapshotTable: 1};

// A call of the generated client that streams: a promise for all its messages.
function callStream(method, request, headers = {}) {
  return new Promise((resolve, reject) => {
    const messages = [];
    bigtable.request({client: 'BigtableClient', method, reqOpts: request, gaxOpts: {otherArgs: {headers}}})
      .on('data', message => messages.push(message))
      .on('error', reject)
      .on('end', () => resolve(messages));
  });
}

// `text` is the whole message, or a regular expression for it.
async function refused(promise, wantCode, text) {
  const error = await promise.then(() => assert.fail('it was not refused'), error => error);
  const cause = error.errors?.[0] ?? error;   // of one entry, where the client reports entries
  assert.equal(cause.code, wantCode, cause.message);
  const message = cause.message.replace(/^\d+ [A-Z_]+: /, '');   // the generated client puts the code before it
  if (text instanceof RegExp) assert.match(message, text);
  else if (text !== undefined) assert.equal(message, text);
}

module.exports = {
  bigtable, call, callStream, code, keys, newClient, newInstance, newTable, projectId, read, refused, render, secure, write,
};
