// SQL as the client prepares, binds, runs and reads it.
'use strict';

const assert = require('node:assert/strict');
const {test} = require('node:test');
const {SqlTypes} = require('@google-cloud/bigtable');
const {code, newInstance, newTable, refused, write} = require('./fixture');

async function ask(instance, query, {parameterTypes, parameters} = {}) {
  const [preparedStatement] = await instance.prepareStatement({query, parameterTypes});
  const [rows] = await instance.executeQuery({preparedStatement, parameters});
  return rows;
}

const bytes = text => Buffer.from(text);
const entries = map => [...map.entries()].map(([key, value]) => [String(key), value]);

test('selects all of a table', async () => {
  const table = await newTable({families: ['a', 'b']});
  await write(table, ['r1', 'a:q', 1, 'old'], ['r1', 'a:q', 2, 'new'], ['r2', 'b:z', 1, 'y']);
  const rows = await ask(table.instance, 'SELECT * FROM t');
  assert.deepEqual(rows.map(row => String(row.get('_key'))), ['r1', 'r2']);
  assert.deepEqual(entries(rows[0].get('a')), [['q', bytes('new')]]);
  assert.deepEqual(entries(rows[0].get('b')), []);
  assert.deepEqual(entries(rows[1].get('b')), [['z', bytes('y')]]);
  const [missing] = await ask(table.instance, "SELECT a['nope'] AS nope FROM t WHERE _key = 'r1'");
  assert.equal(missing.get('nope'), null);
});

test('gives the history of a column, the newest cell first', async () => {
  const table = await newTable();
  await write(table, ['r', 'f:q', 1, 'one'], ['r', 'f:q', 2, 'two']);
  const [row] = await ask(table.instance, "SELECT f['q'] AS cells FROM t(with_history => TRUE)");
  assert.deepEqual(row.get('cells').map(cell => String(cell.get('value'))), ['two', 'one']);
  assert.equal(Number(row.get('cells')[0].get('timestamp').getFullTime() / 1_000_000n), 2);
});

test('reads values of all types', async () => {
  const [row] = await ask(newInstance(),
    "SELECT b'a' AS b, 'ä' AS s, -5 AS i, CAST(1.5 AS FLOAT32) AS f, 2.25 AS d, TRUE AS yes, " +
    "TIMESTAMP '2024-02-29 12:00:00.000001+00' AS at_time, DATE '2024-02-29' AS day, STRUCT(1 AS a, 'x' AS b) AS pair, " +
    "['p', NULL] AS list, CAST(NULL AS STRING) AS nothing");
  assert.deepEqual(row.get('b'), bytes('a'));
  assert.equal(row.get('s'), 'ä');
  assert.equal(row.get('i'), -5n);
  assert.equal(row.get('f'), 1.5);
  assert.equal(row.get('d'), 2.25);
  assert.equal(row.get('yes'), true);
  assert.equal(row.get('at_time').toISOString(), '2024-02-29T12:00:00.000001000Z');
  const day = row.get('day');
  assert.deepEqual([day.year, day.month, day.day], [2024, 2, 29]);
  assert.deepEqual([row.get('pair').get('a'), row.get('pair').get('b')], [1n, 'x']);
  assert.deepEqual(row.get('list'), ['p', null]);
  assert.equal(row.get('nothing'), null);
});

test('reads a row whose bytes would have the checksum 0, which the client takes for none', async () => {
  const [row] = await ask(newInstance(), "SELECT b'\\xb7\\xe2\\x2f\\x8b' AS b");
  assert.deepEqual(row.get('b'), Buffer.from([0xb7, 0xe2, 0x2f, 0x8b]));
});

test('sends parameters of all types, and NULL', async () => {
  const parameterTypes = {
    s: SqlTypes.String(), b: SqlTypes.Bytes(), i: SqlTypes.Int64(), d: SqlTypes.Float64(), f: SqlTypes.Float32(),
    yes: SqlTypes.Bool(), day: SqlTypes.Date(), list: SqlTypes.Array(SqlTypes.Int64()),
  };
  const query = `SELECT ${Object.keys(parameterTypes).map(name => `@${name} AS ${name}`)}`;
  const parameters = {s: 's', b: bytes('b'), i: -(2n ** 63n), d: -0.5, f: 0.25, yes: false, day: null, list: [1n, null, 3n]};
  const [row] = await ask(newInstance(), query, {parameterTypes, parameters});
  for (const [name, value] of Object.entries(parameters)) assert.deepEqual(row.get(name), value, name);
  const nulls = Object.fromEntries(Object.keys(parameterTypes).map(name => [name, null]));
  const [none] = await ask(newInstance(), query, {parameterTypes, parameters: nulls});
  for (const name of Object.keys(parameterTypes)) assert.equal(none.get(name), null, name);
});

test('reads many rows in their order', async () => {
  const table = await newTable();
  const value = 'v'.repeat(1000);
  const key = row => `r${String(row).padStart(5, '0')}`;
  await write(table, ...Array.from({length: 2000}, (_, row) => [key(row), 'f:q', 1, value]));
  const rows = await ask(table.instance, "SELECT _key, f['q'] AS q FROM t");
  assert.equal(rows.length, 2000);
  rows.forEach((row, at) => {
    assert.equal(String(row.get('_key')), key(at));
    assert.equal(row.get('q').length, value.length);
  });
});

test('an empty answer has no rows', async () => {
  const table = await newTable();
  assert.deepEqual(await ask(table.instance, 'SELECT * FROM t'), []);
});

test('a statement outlives a change of its table', async () => {
  const table = await newTable();
  await write(table, ['r', 'f:q', 1, 'v']);
  const [preparedStatement] = await table.instance.prepareStatement("SELECT f['q'] AS q FROM t");
  await table.createFamily('g');
  const [rows] = await table.instance.executeQuery({preparedStatement});
  assert.deepEqual(rows[0].get('q'), bytes('v'));
});

test('errors are GoogleSQL\'s', async () => {
  const table = await newTable();
  const prepare = query => table.instance.prepareStatement(query);
  await refused(prepare('SELECT nope FROM t'), code.INVALID_ARGUMENT, 'Unrecognized name: nope [at 1:8]');
  await refused(prepare('SELECT'), code.INVALID_ARGUMENT, 'Syntax error: Unexpected end of statement [at 1:7]');
  await refused(prepare('SELECT * FROM absent'), code.NOT_FOUND, 'Table not found: absent [at 1:15]');
  // What goes wrong while rows are read, the client wraps in an error without a code.
  await assert.rejects(ask(table.instance, 'SELECT 1 / 0'), /11 OUT_OF_RANGE: division by zero: 1 \/ 0$/);
});
