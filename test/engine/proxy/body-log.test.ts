/** The bodies of requests in the request log: only if the workspace asks for them, bounded, and without a response that waits for them. */
import { describe, expect, it } from 'vitest';
import { limits } from '../../../src/core/limits/limits.ts';
import { Redaction } from '../../../src/core/redaction/redaction.ts';
import { createTextRedactor, type TextRedactor } from '../../../src/core/redaction/redact-text.ts';
import type { UsageReport } from '../../../src/core/records/usage.ts';
import { defaultWorkspaceSettings } from '../../../src/core/people/workspace.ts';
import { startBodyLog } from '../../../src/engine/proxy/body-log.ts';
import { countedIds, fakeClock } from '../../fakes/runtime.ts';

const plain = { id: 'req_1', request: {} } as unknown as UsageReport;
const json = { headers: { 'content-type': 'application/json' } };

/** `redact`: the rules of the workspace; null: it has none. */
function start(settings: boolean | Error | Promise<never>, request: string | null = '{"model":"a/b"}', redact: TextRedactor | null = null) {
  const clock = fakeClock();
  const reports: UsageReport[] = [];
  const work: Promise<unknown>[] = [];
  const read = async () => {
    if (typeof settings !== 'boolean') throw await settings;
    const redaction = redact === null ? null : Redaction.parse({ rules: ['email'] });
    return { ...defaultWorkspaceSettings, requestLog: { bodies: settings }, redaction };
  };
  const deps = {
    ...{ clock, ids: countedIds(), directory: { workspaceSettings: read } },
    usage: { gather: (_workspace: string, report: UsageReport) => void reports.push(report) },
    background: (background: Promise<unknown>) => void work.push(background),
    ...(redact !== null && { redactor: async () => redact }),
  };
  const log = startBodyLog(deps, 'default', () => request);
  const gather = () => log.usage?.gather('default', plain);
  return { log, gather, clock, reports, settled: () => Promise.all(work) };
}

/** A response in these pieces, and what is read of it. */
function streamed(pieces: readonly string[]) {
  const state = { read: 0, isCancelled: false };
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const piece = pieces[state.read];
        state.read += 1;
        if (piece === undefined) controller.close();
        else controller.enqueue(new TextEncoder().encode(piece));
      },
      cancel() {
        state.isCancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { response: new Response(body, { status: 200, headers: { 'content-type': 'text/event-stream', 'x-own': 'kept' } }), state };
}

/** Works for a long time on each text, and on `slow` ones for longer than it may. */
const slowRule = createTextRedactor([
  {
    name: 'names',
    label: '[name]',
    *find(text) {
      for (let count = 0; count < 100; count += 1) yield text.includes('slow') ? 1_000_000 : 100_000;
      yield [0, 3];
    },
  },
]);

describe('the bodies of a request', () => {
  it('are stored redacted, with a notice in place of one that the rules cannot be applied to', async () => {
    const { log, gather, reports, settled } = start(true, 'ada asks', slowRule);
    gather();
    const { response } = streamed(['ada is ', 'slow']);
    expect(await (await log.watch(response)).text()).toBe('ada is slow');
    await settled();
    expect(reports[0]?.bodies).toEqual({
      request: '[name] asks',
      response: '[withheld: the redaction rule "names" could not be applied to a text of 11 characters within its bound]',
      truncated: false,
    });
  });

  it.each([
    ['the workspace does not ask for them', false],
    ['the settings cannot be read', new Error('the Catalog is away')],
  ])('are not logged when %s, and the response is the same', async (_why, settings) => {
    const { log, gather, reports } = start(settings);
    const { response } = streamed(['a']);
    expect(await log.watch(response)).toBe(response);
    gather();
    expect(reports).toEqual([plain]);
  });

  it('are in the report when the response has ended, also when the meter reports before', async () => {
    const { log, gather, reports, settled } = start(true);
    gather();
    const { response, state } = streamed(['data: "é', '€"\n\n', 'data: [DONE]\n\n']);
    const watched = await log.watch(response);
    expect([watched.status, watched.headers.get('x-own'), state.read]).toEqual([200, 'kept', 0]);
    expect(reports).toEqual([]);
    expect(await watched.text()).toBe('data: "é€"\n\ndata: [DONE]\n\n');
    await settled();
    const bodies = { request: '{"model":"a/b"}', response: 'data: "é€"\n\ndata: [DONE]\n\n', truncated: false };
    expect(reports).toEqual([{ ...plain, bodies }]);
  });

  it('are cut at the limit, and do not change what the client receives', async () => {
    const { log, gather, reports, settled } = start(true, '😀'.repeat(limits.maxLoggedBodyCharacters));
    const pieces = Array.from({ length: 100 }, () => `x${'😀'.repeat(1_000)}`);
    const watched = await log.watch(streamed(pieces).response);
    expect(await watched.text()).toBe(pieces.join(''));
    gather();
    await settled();
    const { request, response, truncated } = reports[0]?.bodies ?? {};
    expect([request?.length, response?.length, truncated]).toEqual([limits.maxLoggedBodyCharacters, limits.maxLoggedBodyCharacters, true]);
    expect(response?.isWellFormed()).toBe(true);
  });

  it('end where the client disconnects, which ends the request to the provider', async () => {
    const { log, gather, reports, settled } = start(true);
    const { response, state } = streamed(['one ', 'two ', 'three']);
    const reader = (await log.watch(response)).body?.getReader();
    await reader?.read();
    await reader?.cancel();
    gather();
    await settled();
    expect([state.isCancelled, state.read]).toEqual([true, 1]);
    expect(reports[0]?.bodies?.response).toBe('one ');
  });

  it('have no response when the request failed or its body is binary', async () => {
    for (const type of ['failed', 'audio/mpeg', 'image/png']) {
      const { log, gather, reports, settled } = start(true, null);
      if (type === 'failed') log.fail();
      else expect(await (await log.watch(new Response('RIFF', { headers: { 'content-type': type } }))).text()).toBe('RIFF');
      gather();
      await settled();
      expect(reports[0]?.bodies).toEqual({ request: null, response: null, truncated: false });
    }
  });

  it('do not delay the response when the settings do not arrive', async () => {
    const { log, gather, clock, reports } = start(new Promise<never>(() => undefined));
    const watched = log.watch(new Response('{}', json));
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(1_000);
    expect(await (await watched).text()).toBe('{}');
    gather();
    expect(reports).toEqual([plain]);
  });

  it('are reported without the rest when the client never reads it', async () => {
    const { log, gather, clock, reports, settled } = start(true);
    const reader = (await log.watch(streamed(['one ', 'two']).response)).body?.getReader();
    await reader?.read();
    gather();
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(limits.providerWholeTimeoutMs);
    await settled();
    expect(reports[0]?.bodies?.response).toBe('one ');
  });
});
