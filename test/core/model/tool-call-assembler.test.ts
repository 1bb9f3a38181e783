import type { CallPiece } from '../../../src/core/model/open-call.ts';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChatEvent } from '../../../src/core/model/chat-event.ts';
import { limits } from '../../../src/core/limits/limits.ts';
import { ToolCallAssembler } from '../../../src/core/model/tool-call-assembler.ts';
import { maxNativeCallIdLength } from '../../../src/core/model/tool-call-assembler.ts';

type Call = { name: string; nativeId: string | null; state: string; arguments: unknown; deltas: string };

/** Returns all calls of the pieces, in order; checks that each is started once and ended once. */
function assemble(pieces: CallPiece[], how = { ended: true, length: false }): Call[] {
  const assembler = new ToolCallAssembler();
  return gather([...pieces.flatMap((piece) => assembler.push(piece)), ...assembler.finish(how)]);
}

function gather(events: ChatEvent[]): Call[] {
  const calls = new Map<number, Call>();
  for (const event of events) {
    if (event.type === 'call-start') {
      expect(calls.has(event.call)).toBe(false);
      calls.set(event.call, { name: event.name, nativeId: event.nativeId, state: 'open', arguments: undefined, deltas: '' });
    } else if (event.type === 'call-delta' || event.type === 'call-end') {
      const call = calls.get(event.call) as Call;
      expect(call.state).toBe('open');
      if (event.type === 'call-delta') call.deltas += event.text;
      else Object.assign(call, { state: event.state, arguments: event.arguments });
    }
  }
  return [...calls.values()];
}

const short = (calls: Call[]) => calls.map((call) => [call.name, call.arguments]);

describe('routing', () => {
  it('joins pieces by index after the id was sent once', () => {
    expect(
      assemble([
        { id: 'c1', index: 0, name: 'a', arguments: '' },
        { index: 0, arguments: '{"x": 5' },
        { index: 0, arguments: ', "y": 3}' },
      ]),
    ).toEqual([{ name: 'a', nativeId: 'c1', state: 'ok', arguments: { x: 5, y: 3 }, deltas: '{"x": 5, "y": 3}' }]);
  });

  it('keeps interleaved calls apart, by id and by index', () => {
    const byId = [
      { id: 'c1', name: 'a' },
      { id: 'c2', name: 'b' },
      { id: 'c1', arguments: '{"n":' },
      { id: 'c2', arguments: '{"m":' },
      { id: 'c1', arguments: '1}' },
      { id: 'c2', arguments: '2}' },
    ];
    const byIndex = [
      { index: 0, name: 'a' },
      { index: 1, name: 'b' },
      { index: 0, arguments: '{"n":' },
      { index: 1, arguments: '{"m":' },
      { index: 0, arguments: '1}' },
      { index: 1, arguments: '2}' },
    ];
    for (const pieces of [byId, byIndex])
      expect(short(assemble(pieces))).toEqual([
        ['a', { n: 1 }],
        ['b', { m: 2 }],
      ]);
  });

  it('uses the latest call if a piece has no id or index', () => {
    expect(short(assemble([{ name: 'a', arguments: '{"x":' }, { arguments: '1}' }]))).toEqual([['a', { x: 1 }]]);
  });

  it('starts a new call at an index in use if the id is new', () => {
    const calls = assemble([
      { id: 'a', index: 0, name: 't', arguments: '{"n":1}' },
      { id: 'b', index: 0, name: 't', arguments: '{"n":2}' },
      { index: 0, arguments: '' },
    ]);
    expect(calls.map((call) => [call.nativeId, call.arguments])).toEqual([
      ['a', { n: 1 }],
      ['b', { n: 2 }],
    ]);
  });

  it('starts a new call with another name, or the same one, once the arguments are complete', () => {
    expect(
      short(
        assemble([
          { name: 'a', arguments: '{}' },
          { name: 'b', arguments: '{}' },
        ]),
      ),
    ).toEqual([
      ['a', {}],
      ['b', {}],
    ]);
    expect(
      short(
        assemble([
          { index: 0, name: 'a', arguments: '{"n":1}' },
          { index: 0, name: 'a', arguments: '{"n":2}' },
        ]),
      ),
    ).toEqual([
      ['a', { n: 1 }],
      ['a', { n: 2 }],
    ]);
    expect(
      short(
        assemble([
          { id: '0', name: 'a', arguments: '{"n":1}' },
          { id: '0', name: 'b', arguments: '{"n":2}' },
        ]),
      ),
    ).toEqual([
      ['a', { n: 1 }],
      ['b', { n: 2 }],
    ]);
  });

  it('distinguishes calls with the same id by their index', () => {
    expect(
      short(
        assemble([
          { id: 'x', index: 0, name: 'a' },
          { id: 'x', index: 1, name: 'b' },
          { id: 'x', index: 0, arguments: '{"n":0}' },
          { id: 'x', index: 1, arguments: '{"n":1}' },
        ]),
      ),
    ).toEqual([
      ['a', { n: 0 }],
      ['b', { n: 1 }],
    ]);
  });

  it('accepts an id that arrives late', () => {
    expect(
      assemble([
        { index: 0, name: 'a' },
        { index: 0, id: 'late', arguments: '{"n"' },
        { id: 'late', arguments: ':1}' },
      ]),
    ).toMatchObject([{ nativeId: 'late', arguments: { n: 1 } }]);
  });

  it('treats a new id with every delta as the same call', () => {
    expect(
      short(
        assemble([
          { id: 'r1', index: 0, name: 'a', arguments: '{"n"' },
          { id: 'r2', index: 0, arguments: ':1' },
          { id: 'r3', index: 0, arguments: '}' },
        ]),
      ),
    ).toEqual([['a', { n: 1 }]]);
  });

  it('accepts unusual indexes', () => {
    expect(short(assemble([{ id: 'a', index: -1, name: 'a', arguments: '{}' }]))).toEqual([['a', {}]]);
    expect(
      short(
        assemble([
          { index: 7, name: 'a' },
          { index: 7, arguments: '{}' },
        ]),
      ),
    ).toEqual([['a', {}]]);
  });
});

describe('the end of a call', () => {
  const ends = (...pieces: CallPiece[]) => {
    const assembler = new ToolCallAssembler();
    return pieces.map((piece) => assembler.push(piece).flatMap((event) => (event.type === 'call-end' ? event.call : [])));
  };

  it('comes when the next call begins, if the arguments are complete', () => {
    const next = { index: 1, id: 'c2', name: 'b', arguments: '{"y":' };
    expect(ends({ index: 0, id: 'c1', name: 'a', arguments: '{"x":1}' }, next, { index: 1, arguments: '2}' })).toEqual([[], [0], []]);
  });

  it('waits for arguments that are not complete, absent or may be a placeholder', () => {
    const next = { index: 1, id: 'c2', name: 'b', arguments: '' };
    for (const given of ['{"x":', '', '{}', 'null', undefined])
      expect(ends({ index: 0, id: 'c1', name: 'a', arguments: given }, next)).toEqual([[], []]);
    const late = [
      { index: 0, id: 'c1', name: 'a', arguments: '{"x":' },
      next,
      { index: 0, arguments: '1}' },
      { index: 1, arguments: '{"y":2}' },
    ];
    expect(ends(...late)).toEqual([[], [], [], [0]]);
  });
});

describe('names', () => {
  it('joins a name that arrives in pieces, and ignores repetitions', () => {
    expect(
      short(
        assemble([
          { index: 0, name: 'get_' },
          { index: 0, name: 'weather' },
          { index: 0, arguments: '{}' },
        ]),
      ),
    ).toEqual([['get_weather', {}]]);
    expect(
      short(
        assemble([
          { index: 0, name: 'get' },
          { index: 0, name: 'get_weather' },
          { index: 0, arguments: '{}' },
        ]),
      ),
    ).toEqual([['get_weather', {}]]);
    expect(
      short(
        assemble([
          { index: 0, name: 'get', arguments: '{"a"' },
          { index: 0, name: 'get', arguments: ':1}' },
          { index: 0, name: 'get', arguments: '' },
        ]),
      ),
    ).toEqual([['get', { a: 1 }]]);
  });

  it('waits for a name that arrives after the arguments', () => {
    const assembler = new ToolCallAssembler();
    expect(assembler.push({ index: 0, arguments: '{"a":' })).toEqual([]);
    expect(assembler.push({ index: 0, name: 'late' })).toEqual([]);
    expect(assembler.push({ index: 0, arguments: '1}' })).toEqual([
      { type: 'call-start', call: 0, name: 'late', nativeId: null },
      { type: 'call-delta', call: 0, text: '{"a":' },
      { type: 'call-delta', call: 0, text: '1}' },
    ]);
  });

  it('passes deltas immediately once the name is certain', () => {
    const assembler = new ToolCallAssembler();
    assembler.push({ index: 0, id: 'c', name: 'a', arguments: '' });
    expect(assembler.push({ index: 0, arguments: '{"' }).map((event) => event.type)).toEqual(['call-start', 'call-delta']);
    expect(assembler.push({ index: 0, arguments: 'x' })).toEqual([{ type: 'call-delta', call: 0, text: 'x' }]);
  });

  it('returns a call without a name, so that it gets a result', () => {
    expect(assemble([{ index: 0, arguments: '{"a":1}' }])).toMatchObject([{ name: '', state: 'ok' }]);
  });

  it('ignores empty pieces', () => {
    expect(assemble([{}, { index: 0 }, { id: '', name: '', arguments: '' }, { id: 'only' }, { name: null, arguments: null }])).toEqual([]);
  });
});

describe('arguments', () => {
  it.each(['', 'null', ' null ', '{}', undefined])('%j is no arguments', (text) => {
    expect(assemble([{ index: 0, name: 'a', arguments: text }])).toMatchObject([
      { state: 'ok', arguments: {}, deltas: text === '{}' ? '{}' : '' },
    ]);
  });

  it('treats an object as complete and decodes a doubly encoded one', () => {
    expect(assemble([{ index: 0, name: 'a', arguments: { n: [1] } }])).toMatchObject([{ arguments: { n: [1] }, deltas: '{"n":[1]}' }]);
    const encoded = JSON.stringify('{"n":1}');
    expect(
      assemble([
        { index: 0, name: 'a', arguments: encoded.slice(0, 4) },
        { index: 0, arguments: encoded.slice(4) },
      ]),
    ).toMatchObject([{ state: 'ok', arguments: { n: 1 }, deltas: '{"n":1}' }]);
  });

  it('drops a repetition of the complete arguments', () => {
    for (const name of ['a', undefined]) {
      expect(
        assemble([
          { index: 0, name: 'a', arguments: '{"n":1}' },
          { index: 0, name, arguments: '{"n":1}' },
        ]),
      ).toMatchObject([{ state: 'ok', arguments: { n: 1 }, deltas: '{"n":1}' }]);
    }
  });

  it('adds missing closing brackets and emits them as a delta', () => {
    expect(assemble([{ index: 0, name: 'a', arguments: '{"n":"x"' }])).toEqual([
      { name: 'a', nativeId: null, state: 'closed', arguments: { n: 'x' }, deltas: '{"n":"x"}' },
    ]);
  });

  it('never runs a cut call, and keeps the complete one next to it', () => {
    for (const how of [
      { ended: false, length: false },
      { ended: true, length: true },
    ]) {
      const calls = assemble(
        [
          { index: 0, name: 'a', arguments: '{"n":1}' },
          { index: 1, name: 'b', arguments: '{"n":"x"' },
          { index: 2, name: 'c', arguments: '' },
        ],
        how,
      );
      expect(calls.map((call) => call.state)).toEqual(['ok', 'truncated', 'truncated']);
    }
  });

  it('returns free text unchanged', () => {
    expect(
      assemble([
        { index: 0, name: 'sh', custom: true, arguments: 'ls ' },
        { index: 0, custom: true, arguments: '-la' },
      ]),
    ).toMatchObject([{ state: 'ok', arguments: { input: 'ls -la' } }]);
  });

  it('survives garbage: one bad call is invalid, the others are unaffected', () => {
    const calls = assemble([
      { index: 0, name: 'a', arguments: ']]}{}' },
      { index: 1, name: 'b', arguments: '{}' },
    ]);
    expect(calls.map((call) => call.state)).toEqual(['invalid', 'ok']);
  });

  it('limits a call and the number of calls', () => {
    const big = 'x'.repeat(limits.maxArgumentBytes);
    expect(
      assemble([
        { index: 0, name: 'a', arguments: '{"x":"' },
        { index: 0, arguments: big },
        { index: 0, arguments: '"}' },
      ]),
    ).toMatchObject([{ state: 'invalid' }]);
    const wide = 'é'.repeat(limits.maxArgumentBytes / 2);
    expect(assemble([{ index: 0, name: 'a', arguments: JSON.stringify({ x: wide }) }])).toMatchObject([{ state: 'invalid' }]);
    expect(assemble([{ index: 0, name: 'a', arguments: JSON.stringify({ x: wide.slice(100) }) }])).toMatchObject([{ state: 'ok' }]);
    const assembler = new ToolCallAssembler();
    for (let index = 0; index <= limits.maxCallsPerReply; index++) assembler.push({ index, name: 'a', arguments: '{}' });
    expect(assembler.overflowed).toBe(true);
    expect(assembler.count).toBe(limits.maxCallsPerReply);
  });

  it('ends once and ignores pieces after the end', () => {
    const assembler = new ToolCallAssembler();
    assembler.push({ index: 0, name: 'a' });
    expect(assembler.finish({ ended: true, length: false })).toHaveLength(2);
    expect(assembler.finish({ ended: true, length: false })).toEqual([]);
    expect(assembler.push({ index: 0, arguments: '{}' })).toEqual([]);
  });
});

it('returns the same calls however their arguments are cut and interleaved', () => {
  const call = fc.record({
    name: fc.constantFrom('a', 'b', 'get_weather'),
    value: fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue({ maxDepth: 3 })),
  });
  fc.assert(
    fc.property(
      fc.array(call, { minLength: 1, maxLength: 5 }),
      fc.array(fc.nat({ max: 9 }), { minLength: 1, maxLength: 60 }),
      fc.boolean(),
      (calls, cuts, withIds) => {
        const rest = calls.map(({ value }) => JSON.stringify(value));
        const pieces: CallPiece[] = calls.map(({ name }, index) => ({ index, name, ...(withIds && { id: `id${index}` }) }));
        for (let turn = 0; rest.some((text) => text !== ''); turn++) {
          const index = (cuts[turn % cuts.length] ?? 0) % calls.length;
          const size = 1 + (cuts[(turn + 1) % cuts.length] ?? 0);
          const at = rest[index] === '' ? rest.findIndex((text) => text !== '') : index;
          pieces.push({ index: at, arguments: rest[at]?.slice(0, size) });
          rest[at] = rest[at]?.slice(size) ?? '';
        }
        const found = assemble(pieces);
        expect(found.map(({ name, state, arguments: value, deltas }) => ({ name, state, value, deltas }))).toEqual(
          calls.map(({ name, value }) => ({ name, state: 'ok', value: JSON.parse(JSON.stringify(value)), deltas: JSON.stringify(value) })),
        );
      },
    ),
  );
});

it('keeps the text of a call in memory, not the chunks that its pieces were cut from', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const heapBytes = (): number => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const assembler = new ToolCallAssembler();
  const chunk = Buffer.from(`"${'x'.repeat(20)}"${' '.repeat(1_000)}`);
  assembler.push({ index: 0, name: 'a', arguments: '{"text":"' });
  const before = heapBytes();
  // 0.4 MB of arguments out of 20 MB of chunks.
  for (let count = 0; count < 20_000; count++) assembler.push({ index: 0, arguments: chunk.toString('latin1').slice(1, 21) });
  expect(heapBytes() - before).toBeLessThan(4e6);
  assembler.push({ index: 0, arguments: '"}' });
  expect(
    gather([{ type: 'call-start', call: 0, name: 'a', nativeId: null }, ...assembler.finish({ ended: true, length: false })]),
  ).toMatchObject([{ state: 'ok', arguments: { text: 'x'.repeat(400_000) } }]);
});

it('cuts an endless call id to the maximum length', () => {
  const assembler = new ToolCallAssembler();
  const id = 'x'.repeat(1_000_000);
  const [start] = assembler.push({ id, name: 'a', arguments: '{}' });
  expect(start).toMatchObject({ type: 'call-start', nativeId: 'x'.repeat(maxNativeCallIdLength) });
  expect(assembler.push({ id, arguments: ' ' })).not.toContainEqual(expect.objectContaining({ type: 'call-start' }));
});
