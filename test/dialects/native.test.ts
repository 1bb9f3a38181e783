import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SessionEvent } from '../../src/core/turn/session-event.ts';
import { encodeEvent, encodeFrame, encodeProblem, heartbeatFrame, retryFrame, type NativeFrame } from '../../src/dialects/native.ts';
import { Problem } from '../../src/core/problem.ts';
import { describeCorpus, readJsonLines } from '../fixtures.ts';

/** The event-stream grammar of WHATWG HTML §9.2.6, as a client reads it. */
function readFrames(text: string): { id?: string; event?: string; retry?: string; data?: string }[] {
  const messages: { id?: string; event?: string; retry?: string; data?: string }[] = [];
  let current: { id?: string; event?: string; retry?: string; data?: string } = {};
  for (const line of text.split(/\r\n|\r|\n/)) {
    if (line === '') {
      if (Object.keys(current).length > 0) messages.push(current);
      current = {};
      continue;
    }
    if (line.startsWith(':')) continue;
    const colon = line.indexOf(':');
    const field = (colon === -1 ? line : line.slice(0, colon)) as 'id';
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if ((field as string) === 'data') current = { ...current, data: current.data === undefined ? value : `${current.data}\n${value}` };
    else current[field] = value;
  }
  return messages;
}

const event: SessionEvent = { id: 7, at: 0, type: 'text-delta', turn: 't1', step: 1, text: 'a\n\nevent: done\ndata: {}' };

describe('an event', () => {
  it('is one message: number, type, and the whole event as JSON', () => {
    expect(readFrames(encodeEvent(event))).toEqual([{ id: '7', event: 'text-delta', data: JSON.stringify(event) }]);
  });

  it('shows that a native part exists, without its data', () => {
    const native: SessionEvent = { id: 8, at: 0, type: 'native', turn: 't1', step: 1, provider: 'acme', data: { signature: 'opaque' } };
    expect(encodeEvent(native)).toContain('"provider":"acme"');
    expect(encodeEvent(native)).not.toContain('opaque');
  });

  it('cannot be forged by any text it carries', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const encoded = encodeEvent({ ...event, text });
        const frames = readFrames(encoded);
        expect(frames).toHaveLength(1);
        expect(JSON.parse(frames[0]?.data ?? '')).toEqual({ ...event, text });
      }),
    );
  });
});

it('a failed stream ends with the problem, outside the numbering', () => {
  const [frame] = readFrames(encodeProblem(new Problem('not_found', 'It is gone.').toBody()));
  expect(frame?.id).toBeUndefined();
  expect(JSON.parse(frame?.data ?? '')).toMatchObject({ type: 'error', problem: { code: 'not_found', detail: 'It is gone.' } });
});

it('a heartbeat is not a message, and a retry has no data', () => {
  expect(readFrames(heartbeatFrame)).toEqual([]);
  expect(readFrames(retryFrame(1000))).toEqual([{ retry: '1000' }]);
});

describeCorpus('security/sse.jsonl', (path) => {
  type Row = { id: string; class: string; message?: NativeFrame; received?: NativeFrame; expect: string };
  const rows = readJsonLines<Row>(path);

  it.each(rows.filter((row) => row.class === 'data').map((row) => [row.id, row] as const))(
    '%s arrives as exactly one message',
    (_id, { message, received }) => {
      expect(readFrames(encodeFrame(message ?? {}))).toEqual([received]);
    },
  );

  it.each(rows.filter((row) => row.class === 'control-field').map((row) => [row.id, row] as const))('rejects %s', (_id, { message }) => {
    expect(() => encodeFrame(message ?? {})).toThrow(RangeError);
  });
});
