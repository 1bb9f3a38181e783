/** What an MCP client is listed of a toolset instead of its tools, and what its calls of that do. */
import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../src/core/json/wire-value.ts';
import type { Principal } from '../../../src/core/people/principal.ts';
import { contentText, textResult, type ToolDefinition } from '../../../src/core/tools/tool.ts';
import { executorByKind } from '../../../src/engine/call/executor-by-kind.ts';
import { readServedNames } from '../../../src/engine/mcp/served-names.ts';
import { serveCall, serveUnrecoverable, targetOf, type ServedAnswer, type ServedCall } from '../../../src/engine/mcp/serve-call.ts';
import { servedPages } from '../../../src/engine/mcp/serve-list.ts';
import { servedServers } from '../../../src/engine/mcp/read-offers.ts';
import { readView, serveTarget } from '../../../src/engine/mcp/serve-view.ts';
import type { SandboxRun } from '../../../src/ports/sandbox.ts';
import { createMasterKey } from '../../../src/storage/keys/master-key.ts';
import { createCodeExecutor } from '../../../src/tools/executor.ts';
import { codeTools, toolDefinitions } from '../../../src/tools/registry.ts';
import { toolOf } from '../../fakes/known-tools.ts';
import { createNodeCatalog } from '../../fakes/node-catalog.ts';
import { countedIds, fakeClock, keptLog } from '../../fakes/runtime.ts';
import { fakeServeDeps } from '../../fakes/serve-deps.ts';

const principal: Principal = { workspace: 'default', keyId: 'k1', scopes: ['tools', 'approve'] };
const inputSchema = { type: 'object', properties: { city: { type: 'string' }, days: { type: 'integer' } }, required: ['city'] };
const source = { state: 'ready' as const, trusted: true, pin: 'p' };
const outputSchema = { type: 'object', properties: { ok: { type: 'boolean' } } };
const forecast = toolOf('weather', 'get/forecast', {
  kind: 'static',
  inputSchema,
  outputSchema,
  source,
  annotations: { readOnlyHint: true },
});
const held = { state: 'held' as const, trusted: false, pin: 'p', held: { reason: 'changed' as const, refId: 'q', changes: [] } };
const others = [
  toolOf('weather', 'warn', { kind: 'static', source: { ...source, trusted: false } }),
  toolOf('weather', 'changed', { kind: 'static', source: held, description: 'Unread.' }),
];
const document = {
  tools: [{ tool: 'weather.get/forecast', name: 'forecast', aliases: ['outlook'] }, { tool: 'weather.warn' }, { tool: 'weather.changed' }],
};

/** `code`: what the sandbox does instead of running the code. */
type Options = { document?: Record<string, unknown>; tools?: ToolDefinition[]; code?(run: SandboxRun): Promise<JsonValue> };

async function serving(target: string, { document: own = document, tools = [forecast, ...others], code }: Options = {}) {
  const [clock, log, ids] = [fakeClock(), keptLog(), countedIds()];
  const builtin = toolDefinitions().filter(({ name }) => name === 'find_tools' || name === 'run_code');
  const catalog = createNodeCatalog({ definitions: [...builtin, ...tools] });
  await catalog.put('toolset', 'demo', own);
  const ran: { name: string; args: unknown }[] = [];
  const remote = {
    isSafe: () => false,
    execute: async ({ canonical }: { canonical: string }, args: unknown) => {
      ran.push({ name: canonical, args });
      return textResult('done');
    },
  };
  const unused = () => Promise.reject(new Error('not in these tests'));
  const access = { name: 'weather', kind: 'static' as const, url: 'https://weather.example', version: 1, connection: null, staleAt: null };
  const call = {
    ...{ clock, log, fetch: unused, secret: unused },
    server: async (_name: string, tool: string) => ({ ...access, trusted: tool !== 'warn', ready: [tool], held: [] }),
    executor: executorByKind({ builtin: createCodeExecutor(codeTools()), static: remote }),
    sandbox: () => ({
      check: async () => null,
      run: async (run: SandboxRun) => ({ end: 'returned' as const, value: (await code?.(run)) ?? null, console: '' }),
    }),
  };
  const deps = fakeServeDeps({ catalog, call, clock, ids, log, master: createMasterKey('a master key of at least 32 characters') });
  const view = await readView(deps, principal, target);
  const caller = { principal, target, view, conversation: 'k1', channel: {}, askable: { elicitation: { form: {} } } };
  const send = (name: string, args: Record<string, unknown> = {}, more: Partial<ServedCall> = {}): Promise<ServedAnswer> =>
    serveCall(deps, caller, { name, arguments: args, ...more }, new AbortController().signal);
  const audit = async () => {
    const { items } = await catalog.audit({ limit: 20 });
    return items.flatMap((row) => (row.kind === 'call' ? [[row.requested, row.canonical, row.verdict]] : []));
  };
  return { deps, view, ran, send, audit, listed: servedPages(view.names, false).flat() };
}

const search = serveTarget('demo', 'search');
const code = serveTarget('demo', 'code');
function resultOf(answer: ServedAnswer) {
  if (answer.kind !== 'result') throw new Error('it waits');
  const { result, requested, canonical } = answer.answer;
  return { ...result, requested, canonical, text: contentText(result.content) };
}

describe('what is listed of a toolset', () => {
  it.each([
    ['search', ['find_tools', 'describe_tool', 'call_tool']],
    ['code', ['run_code']],
    ['list', ['forecast', 'warn', 'changed']],
    [undefined, ['forecast', 'warn', 'changed']],
  ] as const)('is for ?tools=%s', async (mode, names) => {
    expect((await serving(serveTarget('demo', mode))).listed.map(({ name }) => name)).toEqual(names);
  });

  it('is what the toolset says, unless the address says something else', async () => {
    const own = { document: { ...document, mcpTools: 'search' } };
    expect((await serving('demo', own)).listed).toHaveLength(3);
    expect((await serving('demo@1', own)).listed.map(({ name }) => name)).toContain('call_tool');
    expect((await serving(serveTarget('demo', 'list'), own)).listed.map(({ name }) => name)).toContain('forecast');
    expect((await serving(code, own)).listed.map(({ name }) => name)).toEqual(['run_code']);
  });

  it('says how many tools there are, of which servers, and is built once', async () => {
    const { deps, listed } = await serving(search);
    expect(listed[0]?.description).toContain('There are 2 tools, of: weather.');
    const [first, second] = await Promise.all([readView(deps, principal, search), readView(deps, principal, search)]);
    expect(servedPages(first.names, false)).toBe(servedPages(second.names, false));
  });

  it('declares few tools in the description of run_code, and leaves many to find_tools', async () => {
    const few = (await serving(code)).listed;
    expect(few[0]?.description).toContain('forecast(args: { city: string; days?: number }): Result<{ ok?: boolean }>;');
    const many = Array.from({ length: 300 }, (_, index) => toolOf('big', `tool_${index}`, { kind: 'static', source, inputSchema }));
    const { listed, send } = await serving(code, { document: { tools: [{ tool: 'big.*' }] }, tools: many });
    expect(listed.map(({ name }) => name)).toEqual(['find_tools', 'run_code']);
    expect(JSON.stringify(listed).length).toBeLessThan(8_000);
    expect(resultOf(await send('find_tools', { query: 'tool_217', limit: 1 })).text).toContain('tool_217(args: { city: string;');
  });

  it('changes neither the servers of the toolset nor the names that a person is shown before a client is allowed', async () => {
    const [plain, found, coded] = await Promise.all([serving('demo'), serving(search), serving(code)]);
    for (const { view, deps } of [found, coded]) {
      expect(servedServers(view)).toEqual(servedServers(plain.view));
      expect((await readServedNames(deps, principal, 'demo')).tools).toEqual(['forecast', 'warn', 'changed']);
    }
  });
});

describe('find_tools and describe_tool', () => {
  it('name tools as the toolset does, and say how they are called', async () => {
    const { send } = await serving(search);
    const { text } = resultOf(await send('find_tools', { query: 'outlook' }));
    expect(text).toContain('Call them with call_tool by these names.\n- forecast (aliases: outlook)');
    expect(text).toContain('arguments: {city: string, days?: integer}');
  });

  it('return the definition that a list would have, for any name that resolves', async () => {
    const { send } = await serving(search);
    const [listed] = (await serving('demo')).listed;
    for (const name of ['forecast', 'outlook', 'weather.get/forecast', 'get/forecast', 'Forecast'])
      expect(JSON.parse(resultOf(await send('describe_tool', { name })).text)).toEqual(JSON.parse(JSON.stringify(listed)));
  });

  it('say why a tool cannot be called, and not what its definition says', async () => {
    const { send } = await serving(search);
    const { text } = resultOf(await send('describe_tool', { name: 'changed' }));
    expect(text).toContain('changed is held');
    expect(text).not.toContain('Unread.');
    expect(resultOf(await send('find_tools', { query: 'changed' })).text).not.toContain('- changed');
  });

  it('report a wrong name or argument with its place', async () => {
    const { send } = await serving(search);
    const message = '"forecst" is no tool. Did you mean forecast?';
    expect(resultOf(await send('describe_tool', { name: 'forecst' }))).toMatchObject({
      isError: true,
      issues: [{ path: 'name', message }],
    });
    expect(resultOf(await send('describe_tool', { tool: 'x' }))).toMatchObject({
      code: 'invalid_arguments',
      issues: [{ path: 'name' }, { path: 'tool' }],
    });
  });
});

describe('call_tool', () => {
  it('is the call of the tool: by any of its names, checked, and audited as such', async () => {
    const { send, ran, audit } = await serving(search);
    for (const name of ['forecast', 'outlook', 'weather.get/forecast', 'get/forecast']) {
      const result = resultOf(await send('call_tool', { name, arguments: { city: 'Bern' } }));
      expect(result).toMatchObject({ isError: false, text: 'done', requested: name, canonical: 'weather.get/forecast' });
    }
    expect(ran).toEqual(Array(4).fill({ name: 'weather.get/forecast', args: { city: 'Bern' } }));
    expect(new Set((await audit()).map(([, canonical]) => canonical))).toEqual(new Set(['weather.get/forecast']));
    const refused = resultOf(await send('call_tool', { name: 'forecast', arguments: { days: 1 } }));
    expect(refused).toMatchObject({ code: 'invalid_arguments', issues: [{ path: 'city' }] });
    expect(resultOf(await send('call_tool', { name: 'changed' }))).toMatchObject({ code: 'tool_held' });
    expect(ran).toHaveLength(4);
  });

  it('repairs its own arguments and those of the tool, and names both', async () => {
    const { send, ran } = await serving(search);
    const { repaired } = resultOf(await send('call_tool', { name: 'forecast', arguments: '{"city":"Bern","days":"3"}' }));
    expect(repaired).toMatchObject([{ path: 'arguments' }, { path: 'days', from: '"3"', to: '3' }]);
    expect(ran[0]?.args).toEqual({ city: 'Bern', days: 3 });
  });

  it('needs the approval that the call needs, once, and only for these arguments', async () => {
    const { send, ran, audit } = await serving(search);
    const args = { name: 'warn', arguments: { q: 'storm' } };
    const asked = await send('call_tool', args);
    if (asked.kind !== 'input') throw new Error('it was not asked');
    expect(JSON.stringify(asked.requests)).toContain('weather.warn');
    const responses = { approval: { action: 'accept', content: { approve: true } } };
    const { state } = asked;
    await expect(send('call_tool', { ...args, arguments: { q: 'sun' } }, { state, responses })).rejects.toThrow(
      'does not belong to this call',
    );
    expect(resultOf(await send('call_tool', args, { state, responses })).text).toBe('done');
    expect(ran).toEqual([{ name: 'weather.warn', args: { q: 'storm' } }]);
    expect(await audit()).toEqual([['warn', 'weather.warn', 'ran']]);
  });

  it('is a result, not an error of the request, for a name that no tool has', async () => {
    const { send, audit } = await serving(search);
    const issues = [{ path: 'name', message: '"forecst" is no tool. Did you mean forecast?' }];
    expect(resultOf(await send('call_tool', { name: 'forecst' }))).toMatchObject({ isError: true, code: 'invalid_arguments', issues });
    expect(resultOf(await send('call_tool', { name: 'zzz' })).text).toContain('Search for tools with find_tools.');
    expect(await audit()).toEqual([
      ['zzz', null, 'refused'],
      ['forecst', null, 'refused'],
    ]);
    // As over the list.
    expect(resultOf(await send('zzz'))).toMatchObject({ code: 'unknown_tool' });
  });

  it('declares no form of results, so none is required of the tool', async () => {
    const { send } = await serving(search);
    expect(await send('call_tool', { name: 'forecast', arguments: { city: 'Bern' } })).toMatchObject({ tool: null });
    expect(await send('forecast', { city: 'Bern' })).toMatchObject({ tool: { outputSchema } });
  });

  it('is a call of the tool that it names, and is audited as that tool when it was lost', async () => {
    const { deps, view, audit } = await serving(search);
    const called = await targetOf(view, { name: 'call_tool', arguments: { name: 'warn', arguments: { q: 'storm' } } });
    expect(called).toMatchObject({ call: { name: 'warn', arguments: { q: 'storm' } } });
    const lost = { callId: 'call_9', name: 'call_tool', arguments: { name: 'warn', arguments: { q: 'storm' } } };
    await (await serveUnrecoverable(deps, { principal, target: search, view }, lost)).ended;
    expect(await audit()).toEqual([['warn', 'weather.warn', 'ran']]);
  });
});

describe('a tool that is not listed', () => {
  it.each([search, code])('can be called by its names at %s, as pages of MCP Apps do', async (target) => {
    const { send, ran } = await serving(target);
    expect(resultOf(await send('get/forecast', { city: 'Bern' }))).toMatchObject({ isError: false, canonical: 'weather.get/forecast' });
    expect(ran).toHaveLength(1);
  });

  it('cannot be called if the key may not use it', async () => {
    const { send } = await serving(search);
    expect(resultOf(await send('call_tool', { name: 'builtin.bash', arguments: { command: 'ls' } }))).toMatchObject({
      isError: true,
      canonical: null,
    });
  });
});

describe('run_code', () => {
  it('calls the tools that are not listed, each with its checks and its own row in the audit', async () => {
    const { send, ran, audit } = await serving(code, {
      code: async ({ call, tools }) => {
        expect([...tools].sort()).toEqual(['find_tools', 'forecast', 'warn']);
        const done = await call('outlook', { city: 'Bern', days: '2' });
        const refused = await call('forecast', {});
        return [done, refused].map((outcome) => (outcome.waits ? 'waits' : (outcome.result.code ?? 'done')));
      },
    });
    expect(resultOf(await send('run_code', { code: 'return 1' })).text).toBe('["done","invalid_arguments"]');
    expect(ran).toEqual([{ name: 'weather.get/forecast', args: { city: 'Bern', days: 2 } }]);
    expect((await audit()).sort()).toEqual([
      ['forecast', 'weather.get/forecast', 'refused'],
      ['outlook', 'weather.get/forecast', 'ran'],
      ['run_code', 'builtin.run_code', 'ran'],
    ]);
  });

  it('returns the failure of a call by an unknown name as its own result', async () => {
    const { deps, view } = await serving(code);
    const passed = { isError: true, code: 'unknown_tool' as const, content: [{ type: 'text' as const, text: 'There is no tool "x".' }] };
    const withResult = {
      ...deps,
      callDeps: () => ({
        ...deps.callDeps('default'),
        sandbox: () => ({ check: async () => null, run: async () => ({ end: 'passed' as const, result: passed, console: '' }) }),
      }),
    };
    const caller = { principal, target: code, view, conversation: 'k1', channel: {}, askable: {} };
    const answer = await serveCall(withResult, caller, { name: 'run_code', arguments: { code: 'return 1' } }, new AbortController().signal);
    expect(resultOf(answer)).toMatchObject({ isError: true, code: 'tool_error' });
  });
});
