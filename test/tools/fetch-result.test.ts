import { describe, expect, it } from 'vitest';
import type { ResultStore } from '../../src/ports/result-store.ts';
import { toolBench } from './run-tool.ts';

const whole = 'abcdefghij';
const image = { type: 'image' as const, data: 'AA==', mimeType: 'image/png' };
const results: ResultStore = {
  hasAny: () => true,
  has: (callId) => callId === 'call_1',
  store: () => undefined,
  read: (callId, offset, maxBytes) => {
    if (callId !== 'call_1') return null;
    const end = offset + Math.min(maxBytes, 4);
    return {
      text: whole.slice(offset, end),
      media: offset === 4 ? [image] : [],
      nextOffset: end < whole.length ? end : null,
      totalBytes: whole.length,
    };
  },
};

describe('fetch_result', () => {
  it('returns a part, and the call that reads the next one', async () => {
    const { run } = toolBench({ results });
    const first = await run('builtin.fetch_result', { callId: 'call_1' });
    expect(first.text).toBe('abcd\n[10 bytes in total. To continue, call fetch_result {"callId":"call_1","offset":4}]');
    expect(first.structuredContent).toEqual({ callId: 'call_1', offset: 0, nextOffset: 4, totalBytes: 10 });
    const last = await run('builtin.fetch_result', { callId: 'call_1', offset: 8, maxBytes: 3 });
    expect(last.text).toBe('ij\n[This is the end of the result (10 bytes in total).]');
  });

  it('brings the images of the part', async () => {
    const { content } = await toolBench({ results }).run('builtin.fetch_result', { callId: 'call_1', offset: 4 });
    expect(content).toEqual([{ type: 'text', text: 'efgh' }, image, { type: 'text', text: expect.stringContaining('To continue') }]);
  });

  it('says what is wrong with an id or an offset', async () => {
    const { run } = toolBench({ results });
    expect(await run('builtin.fetch_result', { callId: 'call_2' })).toMatchObject({ isError: true, code: 'tool_error' });
    expect((await run('builtin.fetch_result', { callId: 'call_1', offset: 99 })).text).toContain('ends before offset 99');
    expect(await run('builtin.fetch_result', { callId: 'call_1', maxBytes: 1_000_000 })).toMatchObject({ code: 'invalid_arguments' });
    expect((await toolBench().run('builtin.fetch_result', { callId: 'call_1' })).text).toContain('stored per session');
  });
});
