'use strict';

const assert = require('node:assert/strict');
const {test} = require('node:test');
const {call, callStream, code, keys, newTable, read, refused, render, write} = require('./fixture');

const familyText = (table, row) =>
  `Error while mutating the row '${row}' (${table.name}) : Requested column family not found.`;

test('writes cells with their timestamps, and bytes as they are', async () => {
  const table = await newTable();
  const bytes = Buffer.from([0, 1, 0x23, 0xff, 0xfe, 0x0a, 0]);
  await table.insert([{key: bytes, data: {f: {'☃': {value: bytes, timestamp: 5000}}}}]);
  const [rows] = await table.getRows({decode: false});
  assert.equal(rows.length, 1);
  assert.deepEqual(rows[0].id, bytes);
  const [cell] = rows[0].data.f['☃'];
  assert.deepEqual(cell.value, bytes);
  assert.equal(Number(cell.timestamp), 5000);
});

test('a timestamp of -1 is now in milliseconds', async () => {
  const table = await newTable();
  const before = Date.now();
  await table.insert([{key: 'r', data: {f: {q: {value: 'v', timestamp: -1}}}}]);
  const [row] = await table.row('r').get();
  const micros = Number(row.data.f.q[0].timestamp);
  assert.equal(micros % 1000, 0);
  assert.ok(before <= micros / 1000 && micros / 1000 <= Date.now(), `${micros}`);
});

test('timestamps that are no milliseconds are refused', async () => {
  const table = await newTable();
  const wrong = table.insert([{key: 'r', data: {f: {q: {value: 'v', timestamp: 1001}}}}]);
  await refused(wrong, code.INVALID_ARGUMENT);
});

test('deletes cells, columns, families and rows', async () => {
  const table = await newTable({families: ['f', 'g']});
  for (const ms of [1, 2, 3]) await write(table, ['r', 'f:a', ms, 'v'], ['r', 'f:b', ms, 'v']);
  await write(table, ['r', 'g:a', 1, 'v'], ['s', 'g:a', 1, 'v']);
  const row = table.row('r');
  await row.deleteCells([{column: 'f:a', time: {start: new Date(2), end: new Date(3)}}]);
  assert.deepEqual(await read(table, {keys: ['r'], filter: [{family: 'f'}, {column: 'a'}]}),
    ['r f:a @3 v', 'r f:a @1 v']);
  await row.deleteCells(['f:b']);
  assert.deepEqual(await read(table, {keys: ['r']}), ['r f:a @3 v', 'r f:a @1 v', 'r g:a @1 v']);
  await row.deleteCells(['f']);
  assert.deepEqual(await read(table, {keys: ['r']}), ['r g:a @1 v']);
  await row.delete();
  assert.deepEqual(await keys(table), ['s']);
});

test('mutations of an entry apply in order', async () => {
  const table = await newTable();
  const column = {familyName: 'f', columnQualifier: Buffer.from('q')};
  const set = (ms, value) => ({setCell: {...column, timestampMicros: ms * 1000, value: Buffer.from(value)}});
  const mutations = [set(1, 'masked'), {deleteFromRow: {}}, set(2, 'kept'), set(2, 'last')];
  const entry = {rowKey: Buffer.from('r'), mutations};
  await table.mutate([entry], {rawMutation: true});
  assert.deepEqual(await read(table), ['r f:q @2 last']);
});

test('a bulk write reports each entry', async () => {
  const table = await newTable();
  const good = {q: {value: 'v', timestamp: 1000}};
  const failed = await table.insert([
    {key: 'a', data: {f: good}},
    {key: 'b', data: {f: good, absent: good}},
    {key: 'c', data: {f: good}},
  ]).catch(error => error);
  assert.equal(failed.name, 'PartialFailureError');
  assert.deepEqual(failed.errors.map(error => [error.entry.key, error.code, error.message]),
    [['b', code.NOT_FOUND, familyText(table, 'b')]]);
  assert.deepEqual(await keys(table), ['a', 'c']);
});

test('writes 5000 rows in one request', async () => {
  const table = await newTable();
  const key = i => `row${String(i).padStart(5, '0')}`;
  const want = Array.from({length: 5000}, (_, i) => key(i));
  await write(table, ...want.map(row => [row, 'f:q', 1, row]));
  const [rows] = await table.getRows();
  assert.deepEqual(rows.map(row => row.id), want);
  assert.ok(rows.every(row => row.data.f.q[0].value === row.id));
});

test('an unknown family is not found, and nothing is applied', async () => {
  const table = await newTable();
  const cell = {q: {value: 'v', timestamp: 1000}};
  await refused(table.row('r').save({f: cell, absent: cell}), code.NOT_FOUND, familyText(table, 'r'));
  assert.deepEqual(await keys(table), []);
});

test('too many, no and keyless mutations are refused', async () => {
  const table = await newTable();
  const rowKey = Buffer.from('r');
  const mutation = {deleteFromRow: {}};
  await refused(call('mutateRow', {tableName: table.name, rowKey, mutations: Array(100001).fill(mutation)}),
    code.INVALID_ARGUMENT, 'Too many mutations: 100001 provided; limit 100000');
  await refused(call('mutateRow', {tableName: table.name, rowKey, mutations: []}),
    code.INVALID_ARGUMENT, 'No mutations provided');
  await refused(call('mutateRow', {tableName: table.name, rowKey: Buffer.alloc(0), mutations: [mutation]}),
    code.INVALID_ARGUMENT, 'Row keys must be non-empty');
});

test('checks and mutates', async () => {
  const table = await newTable();
  const row = table.row('r');
  const set = value => ({method: 'insert', data: {f: {q: {value, timestamp: 1000}}}});
  const matched = async (filter, config) => (await row.filter(filter, config))[0];
  assert.equal(await matched({all: true}, {onMatch: [set('yes')], onNoMatch: [set('no')]}), false);
  assert.deepEqual(await read(table), ['r f:q @1 no']);
  assert.equal(await matched({value: 'no'}, {onMatch: [set('yes')]}), true);
  assert.deepEqual(await read(table), ['r f:q @1 yes']);
  assert.equal(await matched({value: 'no'}, {onMatch: [set('never')]}), false);
  assert.equal(await matched({value: 'y.s'}, {onMatch: [{method: 'delete', data: ['f:q']}]}), true);
  assert.deepEqual(await keys(table), []);
  await refused(row.filter({all: true}, {}), code.INVALID_ARGUMENT, 'No mutations provided');
});

test('increments and appends', async () => {
  const table = await newTable();
  const row = table.row('r');
  assert.equal((await row.increment('f:n', 41))[0], 41);
  assert.equal((await row.increment('f:n', -43))[0], -2);
  const [answer] = await row.createRules([{column: 'f:text', append: 'a'}, {column: 'f:text', append: 'b'}]);
  const cells = answer.row.families.flatMap(family =>
    family.columns.map(column => `${family.name}:${column.qualifier} ${column.cells[0].value}`));
  assert.deepEqual(cells, ['f:text ab']);
  await refused(row.createRules([{column: 'f:other', append: 'x'}, {column: 'f:text', increment: 1}]),
    code.FAILED_PRECONDITION);
  assert.deepEqual(await read(table, {filter: {column: 'other'}}), []);
  await refused(row.increment('absent:n', 1), code.NOT_FOUND);
});

test('increments of many at once all count', async () => {
  const table = await newTable();
  await Promise.all(Array.from({length: 100}, () => table.row('r').increment('f:n', 1)));
  assert.equal((await table.row('r').increment('f:n', 1))[0], 101);
});

test('each index of a bulk write is answered once', async () => {
  const table = await newTable();
  const set = i => ({setCell: {familyName: 'f', columnQualifier: Buffer.from(String(i)), timestampMicros: 1000}});
  const entries = Array.from({length: 300}, (_, i) => ({rowKey: Buffer.from(`row${i % 10}`), mutations: [set(i)]}));
  const answers = await callStream('mutateRows', {tableName: table.name, entries});
  const indexes = answers.flatMap(answer => answer.entries.map(entry => Number(entry.index)));
  assert.deepEqual(indexes.sort((a, b) => a - b), entries.map((_, i) => i));
  const [rows] = await table.getRows();
  assert.equal(render(rows).length, 300);
});
