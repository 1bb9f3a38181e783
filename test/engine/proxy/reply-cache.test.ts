import { describe, expect, it } from 'vitest';
import { type CachedReplies, type CachedReply, openReplyCache } from '../../../src/engine/proxy/reply-cache.ts';
import { startMeter } from '../../../src/engine/proxy/call-meter.ts';
import { rehearsalAccess } from '../../../src/core/model/provider.ts';
import type { Principal } from '../../../src/core/people/principal.ts';
import type { UsageReport } from '../../../src/core/records/usage.ts';
import { countedIds, fakeClock } from '../../fakes/runtime.ts';
import { memoryReplies } from '../../fakes/kept-replies.ts';

const principal = (keyId: string, more: Partial<Principal> = {}): Principal => ({ workspace: 'default', keyId, scopes: ['chat'], ...more });
const reply = { id: 'c', choices: [] };

function setUp() {
  const stored = new Map<string, CachedReply>();
  const cached: CachedReplies = {
    get: async (workspace, name) => stored.get(`${workspace} ${name}`) ?? null,
    put: (workspace, name, value) => void stored.set(`${workspace} ${name}`, value),
    erase: async () => ({ erased: 0, isDone: true }),
  };
  const clock = fakeClock();
  const background: Promise<unknown>[] = [];
  const reports: UsageReport[] = [];
  const kept = memoryReplies();
  const deps = {
    inFlight: new Map(),
    ...{ clock, cached, background: (work: Promise<unknown>) => void background.push(work) },
    directory: { modelAliases: async () => [{ name: 'shared', model: 'p/m', cache: { ttl: 600, scope: 'workspace' as const } }] },
  };
  /** Sends a request whose provider responds with `answer`, and returns the header of the response. */
  const ask = async (
    body: Record<string, unknown> & { model: string },
    { by = principal('a'), answer = () => Response.json(reply), dialect = 'openai-chat', keyed = [] as unknown[], keeps = '' } = {},
  ): Promise<string | null> => {
    const cache = await openReplyCache(deps, by, { asked: 'ttl=600', body, dialect, keyed });
    if (cache === null) throw new Error('it was asked for');
    const recorder = cache.usage({ gather: (_workspace, report) => void reports.push(report) });
    const request = { principal: by, ref: 'p/m', requestId: undefined, dialect };
    const meter = startMeter({ clock, ids: countedIds(), ...(recorder && { usage: recorder }) }, request, rehearsalAccess);
    const response = await cache.answer(meter, kept, async (given) => {
      if (keeps !== '') given?.put(keeps, 'parts');
      return answer();
    });
    await response.text().catch(() => undefined);
    meter.end(response.headers.get('x-failed') ?? undefined);
    await Promise.all(background);
    return response.headers.get('x-moniker-cache');
  };
  return { ask, clock, reports, kept };
}

const body = { model: 'p/m', messages: [] };

describe('the cache of replies', () => {
  it('separates keys, workspaces, dialects and all that decides what is sent', async () => {
    const { ask } = setUp();
    expect(await ask(body)).toBe('miss');
    expect(await ask({ messages: [], model: 'p/m' })).toBe('hit; age=0');
    expect(await ask(body, { by: principal('b') })).toBe('miss');
    expect(await ask(body, { by: principal('a', { workspace: 'other' }) })).toBe('miss');
    expect(await ask(body, { dialect: 'anthropic-messages' })).toBe('miss');
    expect(await ask(body, { keyed: ['https://other.example'] })).toBe('miss');
  });

  it('does not use a reply that is older than this request allows', async () => {
    const { ask, clock } = setUp();
    await ask(body);
    await clock.advance(599_000);
    expect(await ask(body)).toBe('hit; age=599');
    await clock.advance(2_000);
    expect(await ask(body)).toBe('miss');
  });

  it('stores no reply that failed, broke off, is no reply, or is cut off', async () => {
    const { ask } = setUp();
    const broken = () =>
      new Response(
        new ReadableStream({
          start(controller) {
            controller.enqueue(new TextEncoder().encode('{"id":"c"}'));
            controller.error(new Error('gone'));
          },
        }),
        { headers: { 'content-type': 'application/json' } },
      );
    const cut = () => new Response('data: {"id":"c"}\n\n', { headers: { 'content-type': 'text/event-stream' } });
    const answers = [
      broken,
      cut,
      () => Response.json({ error: { message: 'no' } }),
      () => Response.json(reply, { headers: { 'x-failed': 'upstream_error' } }),
      () => new Response('<p>', { headers: { 'content-type': 'text/html' } }),
      () => Response.json({ text: 'x'.repeat(1_100_000) }),
    ];
    for (const answer of answers) {
      expect(await ask(body, { answer })).toBe('miss');
      expect(await ask(body, { answer })).toBe('miss');
    }
  });

  it.each([
    [{ background: true }, 'background'],
    [{ conversation: 'conv_1' }, 'conversation'],
    [{ tools: [{ type: 'mcp', server_url: 'https://x.example' }] }, 'provider-tools'],
    [{ mcp_servers: [{ url: 'https://x.example' }] }, 'provider-tools'],
  ])('is not used for %j', async (more, reason) => {
    const { ask } = setUp();
    expect(await ask({ ...body, ...more })).toBe(`bypass; reason=${reason}`);
    expect(await ask({ ...body, tools: [{ type: 'function' }, { name: 'own' }] })).toBe('miss');
  });

  it('gives another key what its conversation needs again', async () => {
    const { ask, kept } = setUp();
    await ask({ ...body, model: 'shared' }, { keeps: 'call_1' });
    kept.texts.clear();
    expect(await ask({ ...body, model: 'shared' }, { by: principal('b') })).toBe('hit; age=0');
    expect(kept.texts.get('call_1')).toBe('parts');
  });

  it('reports a hit as cached and a miss as it was', async () => {
    const { ask, reports } = setUp();
    await ask(body);
    await ask(body);
    expect(reports.map(({ request, models }) => [request?.cached, models[0]?.cached?.calls, models[0]?.cost])).toEqual([
      [undefined, undefined, 0],
      [true, 1, 0],
    ]);
  });
});
