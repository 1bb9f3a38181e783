/** Calls of an MCP server's tools through `engine/call/call-tool.ts`, over a server that the test scripts. */
import { describe, expect, it } from 'vitest';
import { buildAliasMap } from '../../src/core/toolset/alias-map.ts';
import type { AuditRow } from '../../src/core/records/audit.ts';
import { limits } from '../../src/core/limits/limits.ts';
import type { InputAnswer, InputRequest, ProgressUpdate } from '../../src/core/tools/mcp-input.ts';
import { Problem } from '../../src/core/problem.ts';
import type { ServerAccess } from '../../src/core/servers/server.ts';
import { contentText, errorResult, textResult, type ContentBlock, type ToolResult } from '../../src/core/tools/tool.ts';
import { callTool } from '../../src/engine/call/call-tool.ts';
import { executorByKind } from '../../src/engine/call/executor-by-kind.ts';
import type { CallDeps, CallScope } from '../../src/engine/call/call-scope.ts';
import type { ToolCallRequest } from '../../src/engine/call/tool-call.ts';
import { createMcpExecutor } from '../../src/mcp/executor.ts';
import type { ServerTokens, UpstreamAnswer, UpstreamCall, UpstreamContext, UpstreamHooks } from '../../src/ports/upstream.ts';
import { createMemoryFiles } from '../../src/storage/files/memory-files.ts';
import { compile, knownTools, toolOf } from '../fakes/known-tools.ts';
import { fakeClock, keptLog } from '../fakes/runtime.ts';
import { maxProgressMessageLength } from '../../src/core/tools/call-report.ts';
import { maxInputBytes } from '../../src/mcp/executor.ts';
import { ResponseTooLarge } from '../../src/mcp/client/upstream-fault.ts';
import { ServerRpcError } from '../../src/engine/mcp/rpc-error.ts';

const inputSchema = {
  type: 'object',
  properties: {
    customer_id: { type: 'string', 'x-mcp-header': 'Customer' },
    region: { type: 'string', 'x-mcp-header': 'Region' },
    api_token: { type: 'string' },
    note: { type: 'string' },
  },
  required: ['customer_id'],
  'x-vendor': { kept: true },
};
const outputSchema = { type: 'object', properties: { ok: { type: 'boolean' } } };
const access: ServerAccess = {
  ...{ name: 'crm', kind: 'mcp', url: 'https://crm.example/mcp', trusted: true },
  ...{ ready: ['get.customer'], held: [], version: 1, connection: null, staleAt: null },
};

type Heard = { server: ServerAccess; call: UpstreamCall; hooks: UpstreamHooks; context: UpstreamContext };
type Answer = ToolResult | UpstreamAnswer<ToolResult>;
type Options = {
  answer?: (heard: Heard, turn: number) => Answer | Promise<Answer>;
  server?: Partial<ServerAccess>;
  scope?: Partial<CallScope>;
  annotations?: Record<string, boolean>;
  entry?: Record<string, unknown>;
  tokens?: ServerTokens;
};

async function door({
  answer = () => textResult('done'),
  server: more = {},
  scope = {},
  annotations = {},
  entry = {},
  tokens,
}: Options = {}) {
  const source = { state: 'ready' as const, trusted: true, pin: '' };
  const tool = toolOf('crm', 'get.customer', { kind: 'mcp', inputSchema, outputSchema, source, annotations });
  const { edition } = await compile(
    { tools: [{ tool: 'crm.get.customer', name: 'customer', aliases: ['kunde'], ...entry }] },
    knownTools([tool]),
  );
  const heard: Heard[] = [];
  const audit: Omit<AuditRow, 'sequence'>[] = [];
  const kept = new Map<string, readonly ContentBlock[]>();
  const clock = fakeClock();
  const current = { access: { ...access, ...more } };
  const server = async () => current.access;
  const names = buildAliasMap(edition, { aliases: true });
  const abort = new AbortController();
  const upstream = {
    async callTool(
      asked: ServerAccess,
      call: UpstreamCall,
      hooks: UpstreamHooks,
      context: UpstreamContext,
    ): Promise<UpstreamAnswer<ToolResult>> {
      heard.push({ server: asked, call, hooks, context });
      const said = await answer({ server: asked, call, hooks, context }, heard.length);
      return 'kind' in said ? said : { kind: 'result', result: said };
    },
    request: () => Promise.reject(new Error('not in these tests')),
  };
  const changes: string[] = [];
  const failures: string[] = [];
  const owners: string[] = [];
  const executor = executorByKind({ mcp: createMcpExecutor({ server, upstream, changed: (name) => void changes.push(name) }) });
  const deps: CallDeps = {
    ...{ clock, log: keptLog(), server, executor },
    serverFailed: (name, reason) => void failures.push(`${name}: ${reason}`),
    fetch: () => Promise.reject(new Error('no network here')),
    secret: async (name) => `value-of-${name}`,
    ...(tokens && {
      tokens: (_server: ServerAccess, keyId: string) => {
        owners.push(keyId);
        return tokens;
      },
    }),
  };
  const callScope: CallScope = {
    ...{ keyId: 'k1', session: 's1', turn: 't1', names: () => names, edition: null, files: createMemoryFiles(() => 0) },
    ...{ rules: [], canWait: true },
    results: {
      hasAny: () => kept.size > 0,
      has: (id) => kept.has(id),
      store: (id, content) => void kept.set(id, content),
      read: () => null,
    },
    audit: (row) => void audit.push(row),
    ...scope,
  };
  const outcome = (args: Record<string, unknown>, request: Partial<ToolCallRequest> = {}) =>
    callTool(deps, callScope, { callId: 'call_1', requested: 'kunde', arguments: args, ...request }, abort.signal);
  const call = async (args: Record<string, unknown> = { customer_id: '7' }, request: Partial<ToolCallRequest> = {}) => {
    const settled = await outcome(args, request);
    if ('waitFor' in settled) throw new Error('it waits');
    return settled.answer;
  };
  return { changes, failures, owners, heard, audit, kept, clock, current, executor, abort, outcome, call };
}

const rpcError = new ServerRpcError({ code: -32602, message: 'no such customer' });
const ended = new ServerRpcError({ code: -32000, message: 'The server exited.', data: { code: 'server_ended' } });
const told = ({ result }: { result: ToolResult }): string => contentText(result.content);
const never = (): Promise<never> => new Promise(() => undefined);
/** A client that can answer input requests. */
const asked = { channel: { askable: { elicitation: { form: {} } } } };
const form: InputRequest = {
  method: 'elicitation/create',
  params: {
    mode: 'form',
    message: 'Server "crm" asks: Which one?',
    requestedSchema: { type: 'object', properties: { id: { type: 'string' } } },
  },
};
const asks = (state?: string): Answer => ({
  kind: 'input-required',
  input: { requests: { which: form }, ...(state !== undefined && { state }) },
});

describe('a call of an MCP server’s tool', () => {
  it('is sent under the tool’s own name, with the entry’s arguments and the listed schema', async () => {
    const { heard, call } = await door({
      entry: { arguments: { rename: { id: 'customer_id' }, preset: { region: 'eu', api_token: { secret: 'CRM' } } } },
    });
    expect(told(await call({ id: '7' }))).toBe('done');
    expect(heard[0]?.call).toEqual({
      name: 'get.customer',
      arguments: { customer_id: '7', region: 'eu', api_token: 'value-of-CRM' },
      inputSchema,
      outputSchema,
      idempotencyKey: 'call_1',
    });
  });

  it('passes on that the server’s list has changed', async () => {
    const { changes, call } = await door({
      answer: ({ hooks }) => {
        hooks.onListChanged?.('tools');
        return { isError: false, content: [] };
      },
    });
    await call();
    expect(changes).toEqual(['crm']);
  });

  it('is sent for the session, otherwise for the key, with the server’s tokens', async () => {
    const tokens: ServerTokens = { token: async () => 't', refreshAfterRejection: async () => false };
    const first = await door({ tokens });
    await first.call();
    expect(first.heard[0]?.context.conversation).toBe('s1');
    expect(await first.heard[0]?.context.tokens?.token()).toBe('t');
    const second = await door({ scope: { session: null } });
    await second.call();
    expect(second.heard[0]?.context.conversation).toBe('k1');
    expect(second.heard[0]?.context.tokens).toBeUndefined();
  });

  it('may be retried only if a trusted server declares it read-only or idempotent', async () => {
    const isSafe = async (annotations: Record<string, boolean>, trusted: boolean) => {
      const { executor } = await door();
      const tool = { kind: 'mcp', annotations, ...(trusted && { trusted }) } as unknown as Parameters<typeof executor.isSafe>[0];
      return executor.isSafe(tool, {});
    };
    expect(await isSafe({ readOnlyHint: true }, true)).toBe(true);
    expect(await isSafe({ idempotentHint: true }, true)).toBe(true);
    expect(await isSafe({ readOnlyHint: true }, false)).toBe(false);
    expect(await isSafe({ destructiveHint: false }, true)).toBe(false);
  });

  it('is rejected if its server was changed after the turn started, although the edition still has it', async () => {
    const { current, heard, call } = await door();
    current.access = { ...access, ready: [], held: ['get.customer'] };
    expect((await call()).result).toMatchObject({ isError: true, code: 'tool_held' });
    current.access = { ...access, ready: [], held: [] };
    expect((await call()).result).toMatchObject({ isError: true, code: 'tool_error' });
    expect(heard).toEqual([]);
  });

  it('that fails at its server is an error result with the canonical name and the reason', async () => {
    const failing = (problem: Problem) => door({ answer: () => Promise.reject(problem) });
    const timed = await (await failing(new Problem('upstream_timeout', 'It did not answer.'))).call();
    expect(timed.result).toMatchObject({ isError: true, code: 'timeout' });
    expect(told(timed)).toBe('crm.get.customer failed: It did not answer.');
    const broken = await (await failing(new Problem('upstream_error', 'It answered half a document.'))).call();
    expect(broken.result).toMatchObject({ isError: true, code: 'tool_error' });
  });

  it.each([
    ['it cannot be reached', new Problem('upstream_error', 'It exited with code 3.'), true],
    ['it wants credentials', new Problem('upstream_error', 'It requires credentials.', { unauthorized: true }), true],
    ['it ended', new Problem('upstream_error', 'It ended.', {}, { cause: ended }), true],
    ['it is slow', new Problem('upstream_timeout', 'It did not answer.'), false],
    ['it returned an error', new Problem('upstream_error', 'It returned error -32602.', {}, { cause: rpcError }), false],
    ['its response was too large', new ResponseTooLarge('upstream_error', 'The response is too large.'), false],
  ] as const)('reports the server if %s: %s', async (_case, problem, isReported) => {
    const { failures, call } = await door({ answer: () => Promise.reject(problem) });
    await call();
    expect(failures).toEqual(isReported ? [`crm: crm.get.customer failed: ${problem.detail}`] : []);
  });

  it('reports a server that ended during the call', async () => {
    const failed = { ...errorResult('tool_error', 'get.customer failed.'), protocolError: ended.rpc };
    const { failures, call } = await door({ answer: () => ({ kind: 'result', result: failed }) });
    await call();
    expect(failures).toEqual(['crm: get.customer failed.']);
  });

  it('reports the server without secrets that the call used', async () => {
    const entry = { arguments: { preset: { api_token: { secret: 'CRM' } } } };
    const { failures, call } = await door({
      entry,
      answer: ({ call: { arguments: args } }) => Promise.reject(new Problem('upstream_error', `It printed: ${args.api_token}`)),
    });
    await call();
    expect(failures.join()).toMatch(/^crm: crm\.get\.customer failed: It printed: /);
    expect(failures.join()).not.toContain('value-of-CRM');
  });
});

describe('the timeout of a call', () => {
  it('ends it after sixty idle seconds, with the canonical name; a late response is dropped', async () => {
    let late = (_result: ToolResult): void => undefined;
    const { heard, clock, call, audit, kept } = await door({ answer: () => new Promise((resolve) => (late = resolve)) });
    const work = call();
    await clock.advance(0);
    await clock.advance(60_000);
    const answer = await work;
    expect(answer.result).toMatchObject({ isError: true, code: 'timeout' });
    expect(told(answer)).toContain('crm.get.customer did not finish within 60 s');
    expect(heard[0]?.context.signal.aborted).toBe(true);
    late(textResult('x'.repeat(10 * limits.maxResultBytes)));
    await clock.advance(1_000);
    expect([audit.length, kept.size]).toEqual([1, 0]);
  });

  it('comes from the server’s document, and is passed to the upstream', async () => {
    const { heard, clock, call } = await door({ server: { timeoutMs: 2_000 }, answer: never });
    const work = call();
    await clock.advance(0);
    await clock.advance(2_000);
    expect(told(await work)).toContain('within 2 s');
    expect(heard[0]?.server.timeoutMs).toBe(2_000);
    const agent = await door({ scope: { timeoutMs: 40_000 } });
    await agent.call();
    expect(agent.heard[0]?.server.timeoutMs).toBe(40_000);
  });

  it('restarts with progress and other signs of life, up to a total limit', async () => {
    const { heard, clock, call } = await door({ answer: never });
    let isOver = false;
    const work = call().finally(() => (isOver = true));
    await clock.advance(0);
    for (let at = 50_000; at < limits.maxServerCallMs; at += 50_000) {
      await clock.advance(50_000);
      if (at % 100_000 === 0) heard[0]?.hooks.progress?.({ progress: at });
      else heard[0]?.hooks.alive?.();
      expect(isOver).toBe(false);
    }
    await clock.advance(50_000);
    expect(told(await work)).toContain(`within ${limits.maxServerCallMs / 1_000} s`);
  });

  it('is paused while the user answers', async () => {
    let said = (_answer: InputAnswer): void => undefined;
    const channel = { askable: { elicitation: { form: {} } }, ask: () => new Promise<InputAnswer>((resolve) => (said = resolve)) };
    const { clock, call } = await door({
      scope: { channel },
      answer: async ({ hooks }) => textResult(JSON.stringify(await hooks.ask?.(form, '1'))),
    });
    const work = call();
    for (let asked = 0; asked < 4; asked += 1) await clock.advance(55_000);
    said({ action: 'accept', content: { id: '7' } });
    expect(told(await work)).toBe('{"action":"accept","content":{"id":"7"}}');
  });

  it('ends with its turn: the upstream call is aborted', async () => {
    const { heard, abort, clock, call } = await door({ answer: never });
    const work = call();
    await clock.advance(0);
    abort.abort(new Error('cancelled'));
    expect((await work).result).toMatchObject({ isError: true, code: 'aborted' });
    expect(heard[0]?.context.signal.aborted).toBe(true);
  });
});

describe('progress and log messages of a server', () => {
  it('are passed on unchanged, short and without secrets, until the call has ended', async () => {
    const updates: ProgressUpdate[] = [];
    const notices: unknown[] = [];
    const { heard, call } = await door({
      scope: { channel: { progress: (update) => void updates.push(update), notice: (notice) => void notices.push(notice) } },
      entry: { arguments: { preset: { api_token: { secret: 'CRM' } } } },
      answer: ({ hooks }) => {
        hooks.progress?.({ progress: 1, total: 3, message: `a\u001b[1mb value-of-CRM${'x'.repeat(5_000)}` });
        hooks.progress?.({ progress: Number.NaN });
        hooks.progress?.({ progress: 2, total: Number.POSITIVE_INFINITY });
        hooks.notice?.({ level: 'info', data: { said: 'value-of-CRM' } });
        return textResult('done');
      },
    });
    await call();
    heard[0]?.hooks.progress?.({ progress: 3 });
    heard[0]?.hooks.notice?.({ level: 'info', data: 'late' });
    const message = expect.stringContaining('a\u001b[1mb [secret]xxx');
    expect(updates).toEqual([{ progress: 1, total: 3, message }, { progress: 2 }]);
    expect(updates[0]?.message).toMatch(/x…$/);
    expect(String(updates[0]?.message).length).toBeLessThanOrEqual(maxProgressMessageLength);
    expect(notices).toEqual([{ level: 'info', data: { said: '[secret]' } }]);
  });
});

describe('the result of a server', () => {
  const answered = async (result: ToolResult) => {
    const all = await door({ answer: () => result });
    return { ...all, result: (await all.call()).result };
  };

  it('keeps the fields that clients use, and follows no link', async () => {
    const content: ContentBlock[] = [
      { type: 'text', text: 'a', annotations: { audience: ['user'], priority: 1 } },
      { type: 'resource_link', uri: 'file:///etc/passwd', name: 'x', title: 'X', description: 'd', size: 9 },
      { type: 'resource_link', uri: 'http://169.254.169.254/', name: 'y' },
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
    ];
    const { result } = await answered({ isError: false, content, structuredContent: { ok: true } });
    expect(result).toEqual({ isError: false, content, structuredContent: { ok: true } });
  });

  it('is unchanged, but for a secret, which is found where hidden characters split it', async () => {
    const text = 'a\u001b[31m\u202eb\u{e0041} value-\u200b\u200bof-CRM';
    const { call } = await door({ answer: () => textResult(text), entry: { arguments: { preset: { api_token: { secret: 'CRM' } } } } });
    expect(told(await call())).toBe('a\u001b[31m\u202eb\u{e0041} [secret]');
  });

  it('is truncated if too long, and stored for further reading', async () => {
    const { result, kept } = await answered(textResult('x'.repeat(50 * 1024 * 1024)));
    expect(contentText(result.content).length).toBeLessThan(limits.maxResultBytes + 500);
    expect(kept.size).toBe(1);
  });

  it('replaces an image of megabytes with a note', async () => {
    const { result } = await answered({
      isError: false,
      content: [{ type: 'image', data: 'A'.repeat(30 * 1024 * 1024), mimeType: 'image/png' }],
    });
    expect(result.content).toEqual([{ type: 'text', text: expect.stringContaining('[Left out: image of') }]);
  });
});

describe('an input request of a server', () => {
  it('waits if it can be answered later, with the shown arguments', async () => {
    const channel = { askable: { elicitation: { form: {}, url: {} } } };
    const { outcome, heard, audit } = await door({
      answer: () => asks('opaque'),
      scope: { channel },
      entry: { arguments: { preset: { api_token: { secret: 'CRM' } } } },
    });
    expect(await outcome({ customer_id: '7' })).toMatchObject({
      waitFor: {
        kind: 'input',
        input: { requests: { which: form }, state: 'opaque' },
        arguments: { customer_id: '7', api_token: { secret: 'CRM' } },
      },
    });
    expect(heard[0]?.hooks.askable).toEqual(channel.askable);
    expect(audit).toEqual([]);
  });

  it('is answered by repeating the call with the same idempotency key', async () => {
    const given = { responses: { which: { action: 'accept', content: { id: '7' } } }, state: 'opaque' };
    const { call, heard } = await door();
    expect(told(await call({ customer_id: '7' }, { given, rounds: 1 }))).toBe('done');
    expect(heard[0]?.call).toMatchObject({ given, idempotencyKey: 'call_1' });
  });

  it('is an error with the request text if the call cannot wait', async () => {
    const { call, heard } = await door({ answer: () => asks(), scope: { canWait: false, session: null } });
    const answer = await call();
    expect(answer).toMatchObject({ ran: true, result: { isError: true, code: 'tool_error' } });
    expect(told(answer)).toContain('Server "crm" asks: Which one?');
    expect(answer.result).not.toHaveProperty('input');
    // No user is available: the server learns this before it requests input.
    expect(heard[0]?.hooks.ask).toBeUndefined();
    expect(heard[0]?.hooks.askable).toEqual({});
  });

  it('that repeats endlessly ends the call', async () => {
    const { call } = await door({ answer: () => asks(), scope: asked });
    const answer = await call({ customer_id: '7' }, { rounds: limits.maxInputRounds });
    expect(answer).toMatchObject({ ran: true, result: { isError: true, code: 'limit_reached' } });
  });

  it('is an error if no user is available, although the call could wait for approval', async () => {
    const { call } = await door({ answer: () => asks(), scope: { turn: null } });
    const answer = await call();
    expect(answer).toMatchObject({ ran: true, result: { isError: true, code: 'tool_error' } });
    expect(told(answer)).toContain('Server "crm" asks: Which one?');
  });

  it('that is too large to store is an error', async () => {
    const { call } = await door({ answer: () => asks('x'.repeat(maxInputBytes)) });
    expect((await call()).result).toMatchObject({ isError: true, code: 'tool_error' });
  });

  it('contains no secret that the call was sent with', async () => {
    const request = { ...form, params: { ...form.params, message: 'Is value-of-CRM right?' } };
    const { outcome } = await door({
      scope: asked,
      answer: () => ({ kind: 'input-required', input: { requests: { which: request }, state: 'value-of-CRM' } }),
      entry: { arguments: { preset: { api_token: { secret: 'CRM' } } } },
    });
    const waits = await outcome({ customer_id: '7' });
    // The server's request state is returned unchanged, and never shown.
    expect(waits).toMatchObject({
      waitFor: { input: { requests: { which: { params: { message: 'Is [secret] right?' } } }, state: 'value-of-CRM' } },
    });
  });

  it('during an open call is cancelled and reported if it could only be answered later', async () => {
    const { call } = await door({
      scope: { channel: { askable: { elicitation: { form: {} } } } },
      answer: async ({ hooks }) => textResult(JSON.stringify(await hooks.ask?.(form, '1'))),
    });
    expect(told(await call())).toBe(
      '{"action":"cancel"}\n[While it ran: Server "crm" asks: Which one? No user was available to answer, so the request was cancelled.]',
    );
  });
});

describe('a server that each user connects to', () => {
  const url = 'https://moniker.example.com/connect/crm';
  const unconnected = (isTrigger = false): ServerTokens => ({
    token: async () => null,
    refreshAfterRejection: async () => false,
    connection: { url: isTrigger ? null : url, isTrigger },
  });
  /** As the connection to the server does when there is no token. */
  const answer = ({ context }: Heard): never => {
    throw new Problem('upstream_error', 'unauthorized', { unauthorized: true, connection: context.tokens?.connection });
  };
  const mayOpen = { turn: null, session: null, channel: { askable: { elicitation: { url: {} } } } };

  it('returns the link as text in a turn, also to clients that could open it', async () => {
    for (const scope of [{ channel: mayOpen.channel }, {}]) {
      const { call } = await door({ answer, tokens: unconnected(), scope });
      const { result } = await call();
      expect(result).toMatchObject({ isError: true, code: 'connection_required' });
      expect(told({ result })).toContain(`Open ${url} in a browser`);
    }
  });

  it('asks an MCP client to open the page, once, and does not pass its answer to the server', async () => {
    const { outcome, call, heard } = await door({
      answer: (one, turn) => (turn < 3 ? answer(one) : textResult('done')),
      tokens: unconnected(),
      scope: mayOpen,
    });
    const settled = await outcome({ customer_id: '7' });
    const input = 'waitFor' in settled && settled.waitFor.kind === 'input' ? settled.waitFor.input : null;
    expect(input?.requests).toEqual({
      'moniker-connect': { method: 'elicitation/create', params: expect.objectContaining({ mode: 'url', url }) },
    });
    const given = { responses: { 'moniker-connect': { action: 'accept' } } };
    expect((await call(undefined, { given })).result).toMatchObject({ code: 'connection_required' });
    expect((await call(undefined, { given })).result).toMatchObject({ isError: false });
    expect(heard.map((one) => one.call.given)).toEqual([undefined, undefined, undefined]);
  });

  it('tells a trigger that it has no account', async () => {
    const { call } = await door({ answer, tokens: unconnected(true), scope: { keyId: 'schedule:nightly' } });
    expect(told(await call())).toContain('webhooks and schedules have none');
  });

  it('uses the account of the key that started the turn, and separate state at the server', async () => {
    const { heard, call, owners } = await door({
      tokens: unconnected(),
      server: { mcp: { oauth: { grant: 'authorization_code', per: 'user' } } },
      scope: { keyId: 'owner', caller: { key: 'admin' } },
    });
    await call();
    expect(heard[0]?.context.conversation).toBe('s1 admin');
    expect(owners).toEqual(['admin']);
  });
});
