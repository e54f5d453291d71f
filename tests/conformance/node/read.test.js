'use strict';

const assert = require('node:assert/strict');
const {once} = require('node:events');
const {test} = require('node:test');
const {bigtable, callStream, code, keys, newInstance, newTable, read, refused, write} = require('./fixture');

const rangeText = "Error in field 'row_ranges' : Error in element #0 : start_key must be less than end_key";

async function tableOf(rows, options) {
  const table = await newTable(options);
  await write(table, ...rows.map(row => [row, 'f:q', 1, 'v']));
  return table;
}

test('reads keys, ranges, prefixes and limits', async () => {
  const table = await tableOf(['a', 'b#1', 'b#2', 'c', 'd']);
  assert.deepEqual(await keys(table), ['a', 'b#1', 'b#2', 'c', 'd']);
  assert.deepEqual(await keys(table, {keys: ['d', 'absent', 'a']}), ['a', 'd']);
  assert.deepEqual(await keys(table, {prefix: 'b#'}), ['b#1', 'b#2']);
  assert.deepEqual(await keys(table, {prefixes: ['a', 'c']}), ['a', 'c']);
  assert.deepEqual(await keys(table, {start: 'b#2', end: 'c'}), ['b#2', 'c']);
  const open = value => ({value, inclusive: false});
  assert.deepEqual(await keys(table, {ranges: [{start: open('b#1'), end: open('d')}]}), ['b#2', 'c']);
  assert.deepEqual(await keys(table, {ranges: [{start: 'c'}, {end: 'b#1'}], keys: ['c']}), ['a', 'b#1', 'c', 'd']);
  assert.deepEqual(await keys(table, {limit: 2}), ['a', 'b#1']);
  assert.deepEqual(await keys(table, {start: 'b#2', limit: 1}), ['b#2']);
});

test('reads backwards', async () => {
  const table = await tableOf(['a', 'b', 'c', 'd']);
  const reversed = async request => {
    const answers = await callStream('readRows', {tableName: table.name, reversed: true, ...request},
      {'bigtable-features': 'CAE='});   // FeatureFlags{reverse_scans}: the client itself announces nothing
    const chunks = answers.flatMap(answer => answer.chunks);
    return chunks.filter(chunk => chunk.commitRow).map(chunk => chunk.rowKey.toString());
  };
  assert.deepEqual(await reversed({}), ['d', 'c', 'b', 'a']);
  assert.deepEqual(await reversed({rowsLimit: 2}), ['d', 'c']);
  const rows = {rowRanges: [{startKeyClosed: Buffer.from('b'), endKeyOpen: Buffer.from('d')}]};
  assert.deepEqual(await reversed({rows}), ['c', 'b']);
});

test('filters', async () => {
  const table = await newTable({families: ['f', 'g']});
  await write(table, ['a', 'f:pressure', 1, '94558'], ['a', 'f:pressure', 2, '94122'], ['a', 'f:temp', 2, '9.4'],
    ['b', 'f:temp', 3, '9.2']);
  const [pressure2, pressure1] = ['a f:pressure @2 94122', 'a f:pressure @1 94558'];
  const [tempA, tempB] = ['a f:temp @2 9.4', 'b f:temp @3 9.2'];
  const bound = (value, inclusive) => ({value, inclusive});
  for (const [name, filter, want] of [
    ['pass', {all: true}, [pressure2, pressure1, tempA, tempB]],
    ['block', {all: false}, []],
    ['row key', {row: 'b'}, [tempB]],
    ['row keys', {row: ['b', 'c']}, [tempB]],
    ['family', {family: 'g'}, []],
    ['column', {column: /te.*/}, [tempA, tempB]],
    ['column range', {column: {family: 'f', start: 'p', end: bound('temp', false)}}, [pressure2, pressure1]],
    ['value', {value: /9\../}, [tempA, tempB]],
    ['value range', {value: {start: bound('9.2', true), end: bound('9.4', false)}}, [tempB]],
    ['time range', {time: {start: new Date(2), end: new Date(3)}}, [pressure2, tempA]],
    ['newest', {column: {cellLimit: 1}}, [pressure2, tempA, tempB]],
    ['row limit', {row: {cellLimit: 2}}, [pressure2, pressure1, tempB]],
    ['row offset', {row: {cellOffset: 1}}, [pressure1, tempA]],
    ['strip', [{column: 'temp'}, {value: {strip: true}}], ['a f:temp @2 ', 'b f:temp @3 ']],
    ['label', [{row: 'b'}, {label: 'seen'}], [`${tempB} [seen]`]],
    ['chain', [{column: 'pressure'}, {column: {cellLimit: 1}}], [pressure2]],
    ['interleave', {interleave: [[{column: 'temp'}], [{value: '9.2'}]]}, [tempA, tempB, tempB]],
    ['condition', {condition: {test: [{column: 'pressure'}], pass: [{column: 'temp'}], fail: [{all: false}]}}, [tempA]],
    ['sink', [{row: 'b'}, {interleave: [[{all: true}], [{label: 'sunk'}, {sink: true}]]}, {column: 'absent'}],
      [`${tempB} [sunk]`]],
  ]) {
    assert.deepEqual(await read(table, {filter}), want, name);
  }
});

test('a row without a cell that passes does not count', async () => {
  const table = await newTable();
  await write(table, ['a', 'f:q', 1, 'no'], ['b', 'f:q', 1, 'yes'], ['c', 'f:q', 1, 'no'], ['d', 'f:q', 1, 'yes']);
  assert.deepEqual(await keys(table, {filter: {value: 'yes'}, limit: 2}), ['b', 'd']);
});

test('one row, some of its columns, and one that is absent', async () => {
  const table = await newTable({families: ['f', 'g']});
  await write(table, ['r', 'f:a', 1, '1'], ['r', 'f:b', 1, '2'], ['r', 'g:a', 1, '3']);
  const [data] = await table.row('r').get(['f:b', 'g:a']);
  assert.deepEqual(Object.keys(data).sort(), ['f', 'g']);
  assert.deepEqual(Object.keys(data.f), ['b']);
  assert.deepEqual(await table.row('r').exists(), [true]);
  assert.deepEqual(await table.row('s').exists(), [false]);
});

test('refuses ranges that are empty, wrong filters, and tables that are not there', async () => {
  const table = await newTable();
  const range = {start: {value: 'k', inclusive: false}, end: 'k'};
  await refused(table.getRows({ranges: [range]}), code.INVALID_ARGUMENT, rangeText);
  await refused(table.getRows({filter: {column: '('}}), code.INVALID_ARGUMENT);
  await refused(table.getRows({filter: {row: {cellLimit: -1}}}), code.INVALID_ARGUMENT);
  await refused(table.getRows({filter: {label: 'Not A Label'}}), code.INVALID_ARGUMENT);
  await refused(table.getRows({filter: {value: 'x'.repeat(20500)}}), code.INVALID_ARGUMENT,
    'Row filter exceeds maximum size of 20480 bytes');
  await refused(table.getRows({filter: {family: 'absent'}}), code.NOT_FOUND,
    `Error while reading table '${table.name}' : Requested column family not found`);
  await refused(table.getRows({filter: {family: ''}}), code.INVALID_ARGUMENT,
    "Error in field 'family_name_regex_filter' : argument must not be empty");
  await refused(newInstance().table('absent').getRows(), code.NOT_FOUND, /\/tables\/absent\b/);
});

test('large rows come whole', async () => {
  const table = await newTable();
  const value = letter => letter.repeat(1_500_000);
  for (const row of ['a', 'b', 'c']) await write(table, [row, 'f:x', 1, value('x')], [row, 'f:y', 1, value('y')]);
  const [rows] = await table.getRows();
  assert.deepEqual(rows.map(row => row.id), ['a', 'b', 'c']);
  for (const row of rows) {
    assert.equal(row.data.f.x[0].value, value('x'));
    assert.equal(row.data.f.y[0].value, value('y'));
  }
});

test('a reader may stop in the middle', async () => {
  const rows = Array.from({length: 2000}, (_, i) => `row${String(i).padStart(5, '0')}`);
  const table = await tableOf(rows);
  const stream = table.createReadStream();
  const got = [];
  stream.on('data', row => {
    got.push(row.id);
    if (got.length === 5) stream.end();
  });
  await once(stream, 'end');
  assert.deepEqual(got.slice(0, 5), rows.slice(0, 5));
  assert.ok(got.length < rows.length);
});

test('samples end with the empty key, and split a scan without loss', async () => {
  const rows = Array.from({length: 500}, (_, i) => `row${String(i).padStart(3, '0')}`);
  const table = await tableOf(rows, {splits: ['row100', 'row400']});
  const [samples] = await table.sampleRowKeys();
  const splits = samples.map(sample => sample.key.toString());
  assert.equal(splits.at(-1), '');
  assert.ok(['row100', 'row400'].every(split => splits.includes(split)));
  assert.deepEqual(splits.slice(0, -1), splits.slice(0, -1).sort());
  let [start, got] = ['', []];
  for (const split of splits) {
    const range = {start, ...(split && {end: {value: split, inclusive: false}})};
    got = got.concat(await keys(table, {ranges: [range]}));
    start = split;
  }
  assert.deepEqual(got, rows);
});

test('the client learns the cluster, its zone and the server\'s time from what comes with an answer', async () => {
  const table = await tableOf(['a']);
  const attempts = [];
  const handlers = bigtable._metricsConfigManager.metricsHandlers;
  handlers.push({onAttemptComplete: attempt => attempts.push(attempt)});
  try {
    assert.deepEqual(await keys(table), ['a']);
    await refused(newInstance().table('absent').getRows(), code.NOT_FOUND);
  } finally {
    handlers.pop();
  }
  const [found, missing] = attempts;
  assert.equal(found.metricsCollectorData.cluster, 'sonde');
  assert.equal(found.metricsCollectorData.zone, 'local');
  assert.ok(found.serverLatency >= 1, `${found.serverLatency} ms`);
  assert.equal(found.connectivityErrorCount, 0);
  // A table that is not there has no cluster.
  assert.equal(missing.metricsCollectorData.cluster, '<unspecified>');
  assert.equal(missing.metricsCollectorData.zone, 'global');
});
