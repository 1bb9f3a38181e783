/** Stored results of tools that only read: which calls they answer, and for whom. */
import { describe, expect, it } from 'vitest';
import type { ServerAccess } from '../../../src/core/servers/server.ts';
import type { EditionTool } from '../../../src/core/toolset/edition-tool.ts';
import { createTaintMarks } from '../../../src/core/policy/taint.ts';
import { contentText, errorResult, textResult } from '../../../src/core/tools/tool.ts';
import type { CallScope } from '../../../src/engine/call/call-scope.ts';
import { callTool } from '../../../src/engine/call/call-tool.ts';
import type { StoredResult, StoredResults } from '../../../src/ports/result-store.ts';
import { type Body, runOf, toolNamed } from '../inner-run.ts';

const edition = { toolset: 'support', version: 1, revision: 1, hash: 'h' };
const reads = { annotations: { readOnlyHint: true }, trusted: true } as const;

/** Makes calls of one tool. `per`: whose results are shared. `ran`: how often the tool ran. */
function desk(
  own: { cache?: EditionTool['cache']; tool?: Partial<EditionTool>; server?: Partial<ServerAccess>; body?: Body; price?: number } = {},
) {
  const tool = toolNamed('docs.search', {
    ...{ kind: 'mcp', approval: 'never', pin: 'p', cache: own.cache ?? { ttl: 60 } },
    ...reads,
    ...(own.price !== undefined && { price: own.price }),
    ...own.tool,
  });
  let ran = 0;
  const kept = new Map<string, StoredResult>();
  const stored: StoredResults = {
    get: async (toolset, hash) => kept.get(`${toolset} ${hash}`) ?? null,
    put: (toolset, hash, result) => void kept.set(`${toolset} ${hash}`, structuredClone(result)),
  };
  const body: Body = (args, context) => {
    ran += 1;
    return own.body?.(args, context) ?? textResult(`run ${ran}`);
  };
  const run = runOf([tool], { bodies: { 'docs.search': body }, safe: ['docs.search'] });
  const server = {
    name: 'docs',
    kind: 'mcp',
    trusted: true,
    ready: ['search'],
    held: [],
    version: 1,
    ...own.server,
  } as unknown as ServerAccess;
  const deps = { ...run.deps, server: async () => server, storedResults: async () => stored };
  const call = async (args: Record<string, unknown> = {}, scope: Partial<CallScope> = {}) => {
    const request = { callId: `call_${Math.random()}`, requested: 'search', arguments: args };
    const outcome = await callTool(deps, { ...run.scope, edition, caller: { key: 'k' }, ...scope }, request, new AbortController().signal);
    if (!('answer' in outcome)) throw new Error('the call waits');
    return outcome.answer;
  };
  return { call, kept, clock: run.clock, audit: run.audit, ran: () => ran };
}

const textOf = async (answer: Promise<{ result: { content: Parameters<typeof contentText>[0] } }>) =>
  contentText((await answer).result.content);

describe('a stored result', () => {
  it('answers an equal call without running the tool, and says how old it is', async () => {
    const { call, clock, ran, audit } = desk();
    expect((await call({ q: 'x', page: 1 })).result.served).toBeUndefined();
    await clock.advance(12_300);
    const { result } = await call({ page: 1, q: 'x' });
    expect([contentText(result.content), result.served, ran()]).toEqual(['run 1', { tool: 'docs.search', cachedSeconds: 12 }, 1]);
    expect(audit.at(-1)).toMatchObject({ canonical: 'docs.search', verdict: 'ran', served: { cachedSeconds: 12 } });
  });

  it('ends with its time', async () => {
    const { call, clock, ran } = desk();
    await call();
    await clock.advance(60_000);
    await call();
    expect(ran()).toBe(2);
  });

  it.each<[string, Partial<CallScope>]>([
    ['another key', { caller: { key: 'other' }, keyId: 'other' }],
    ['another version of the toolset', { edition: { ...edition, version: 2 } }],
    ['another toolset', { edition: { ...edition, toolset: 'sales' } }],
  ])('is not for %s', async (_who, scope) => {
    const { call, ran } = desk();
    await call({ q: 'x' });
    await call({ q: 'x' }, scope);
    expect(ran()).toBe(2);
  });

  it('is for all keys of the workspace if the entry says so, but not where each user has an account', async () => {
    const other = { caller: { key: 'other' }, keyId: 'other' };
    const shared = desk({ cache: { ttl: 60, per: 'workspace' } });
    await shared.call();
    await shared.call({}, other);
    expect(shared.ran()).toBe(1);
    const own = desk({
      cache: { ttl: 60, per: 'workspace' },
      server: { mcp: { oauth: { grant: 'authorization_code', per: 'user' } } } as Partial<ServerAccess>,
    });
    await own.call();
    await own.call({}, other);
    expect(own.ran()).toBe(2);
  });

  it('depends on other arguments, also on those that the toolset sets', async () => {
    const { call, ran } = desk({ tool: { arguments: { preset: { team: { caller: 'team' } } } }, cache: { ttl: 60, per: 'workspace' } });
    await call({ q: 'x' }, { caller: { key: 'k', team: 'a' } });
    await call({ q: 'x' }, { caller: { key: 'k', team: 'b' } });
    await call({ q: 'y' }, { caller: { key: 'k', team: 'b' } });
    expect(ran()).toBe(3);
  });

  it.each<[string, Parameters<typeof desk>[0]]>([
    ['an error', { body: () => errorResult('tool_error', 'no') }],
    ['a question', { body: () => ({ ...textResult('ask'), input: { requests: {} } as never }) }],
    ['a tool whose server is not trusted any more', { server: { trusted: false } }],
    ['a tool that does not only read', { tool: { annotations: {} } }],
  ])('is never made of %s', async (_what, own) => {
    const { call, kept, ran } = desk(own);
    await call().catch(() => undefined);
    await call().catch(() => undefined);
    expect([kept.size, ran()]).toEqual([0, 2]);
  });

  it('costs nothing', async () => {
    const { call } = desk({ price: 2 });
    expect([(await call()).cost, (await call()).cost]).toEqual([2, undefined]);
  });

  it('marks the conversation as a new result does', async () => {
    const { call } = desk({ tool: { trusted: undefined, annotationsAccepted: true } as never, server: { annotated: ['p'] } });
    const marks = async () => {
      const taint = createTaintMarks();
      await call({}, { taint });
      return taint.read();
    };
    const first = await marks();
    expect(first).not.toEqual(createTaintMarks().read());
    expect(await marks()).toEqual(first);
  });

  it('is not given where a rule denies the call', async () => {
    const { call } = desk();
    await call();
    const denied = await call({}, { rules: [{ tool: 'docs.search', decision: 'deny' }] });
    expect([denied.result.code, await textOf(call())]).toEqual(['not_allowed', 'run 1']);
  });
});
