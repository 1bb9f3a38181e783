import { describe, expect, it } from 'vitest';
import type { AskableInput, GivenInput, InputRequired } from '../../../src/core/tools/mcp-input.ts';
import type { Principal } from '../../../src/core/people/principal.ts';
import { textResult } from '../../../src/core/tools/tool.ts';
import { serveCall, serveUnrecoverable, type ServedAnswer, type ServedCall } from '../../../src/engine/mcp/serve-call.ts';
import { readView } from '../../../src/engine/mcp/serve-view.ts';
import type { ToolContext } from '../../../src/ports/tool-executor.ts';
import { createMasterKey } from '../../../src/storage/keys/master-key.ts';
import { createNodeCatalog } from '../../fakes/node-catalog.ts';
import { toolOf } from '../../fakes/known-tools.ts';
import { countedIds, fakeClock, keptLog } from '../../fakes/runtime.ts';
import { fakeServeDeps } from '../../fakes/serve-deps.ts';
import { fakeSql } from '../../fakes/sql-storage.ts';
import { schemaSteps } from '../../../src/objects/shared/migrate.ts';
import { createRememberedRules, rememberedSchema } from '../../../src/objects/shared/remembered-rules.ts';
import type { RememberedRules } from '../../../src/ports/remembered-rules.ts';

const principal: Principal = { workspace: 'default', keyId: 'k1', scopes: ['tools'] };
const form = (message: string) => ({
  method: 'elicitation/create',
  params: { message, requestedSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } },
});
const everything: AskableInput = { elicitation: { form: {}, url: {} }, sampling: {} };

/** A server's tool that asks scripted questions, round after round, and then returns the answers it received. */
async function serving(rounds: readonly InputRequired[], during?: (context: ToolContext) => Promise<void>, inputSchema = {}) {
  const [clock, log, ids] = [fakeClock(), keptLog(), countedIds()];
  const catalog = createNodeCatalog({ definitions: [toolOf('weather', 'forecast', { kind: 'builtin', inputSchema })] });
  await catalog.put('toolset', 'demo', { tools: [{ tool: 'weather.forecast' }] });
  const given: (GivenInput | null)[] = [];
  const call = {
    clock,
    log,
    executor: {
      isSafe: () => true,
      execute: async (_tool: unknown, _args: unknown, context: ToolContext) => {
        given.push(context.given);
        await during?.(context);
        const input = rounds[given.length - 1];
        return { ...textResult(`given ${JSON.stringify(context.given?.responses ?? null)}`), ...(input && { input }) };
      },
    },
    fetch: () => Promise.reject(new Error('not in these tests')),
    secret: () => Promise.reject(new Error('not in these tests')),
  };
  const deps = fakeServeDeps({ catalog, call, clock, ids, log, master: createMasterKey('a master key of at least 32 characters') });
  const view = await readView(deps, principal, 'demo');
  const run = (more: Partial<ServedCall> = {}, askable = everything, channel = {}): Promise<ServedAnswer> =>
    serveCall(
      deps,
      { principal, target: 'demo', view, conversation: 'k1', channel, askable },
      { name: 'forecast', arguments: {}, ...more },
      new AbortController().signal,
    );
  return { run, given, catalog, deps, view };
}

function asked(answer: ServedAnswer) {
  if (answer.kind !== 'input') throw new Error(`it was answered: ${JSON.stringify(answer.answer.result)}`);
  return answer;
}
const resultOf = (answer: ServedAnswer) => (answer.kind === 'result' ? answer.answer.result : answer);

describe('a call with arguments that are repaired', () => {
  it('has the repairs in its result, and nothing for others', async () => {
    const inputSchema = { type: 'object', properties: { days: { type: 'integer' } } };
    const { run } = await serving([], undefined, inputSchema);
    const repaired = [{ path: 'days', from: '"3"', to: '3' }];
    expect(resultOf(await run({ arguments: { days: '3' } }))).toMatchObject({ isError: false, repaired });
    expect(resultOf(await run({ arguments: { days: 3 } }))).not.toHaveProperty('repaired');
  });
});

describe('a question that a server asks during a call', () => {
  it("goes to the client with the server's name, and the answer back with the server's state", async () => {
    const { run, given, catalog } = await serving([{ requests: { where: form('Which city?') }, state: 'opaque' }]);
    const question = asked(await run());
    expect(question.requests.where?.params.message).toBe('Server "weather" asks: Which city?');
    expect((await catalog.audit({ limit: 10 })).items).toEqual([]);
    const responses = { where: { action: 'accept', content: { city: 'Bern' } }, stray: { action: 'accept' } };
    expect(resultOf(await run({ responses, state: question.state }))).toMatchObject({ isError: false });
    expect(given[1]).toEqual({ responses: { where: responses.where }, state: 'opaque' });
    expect((await catalog.audit({ limit: 10 })).items).toMatchObject([{ callId: 'call_1', verdict: 'ran' }]);
  });

  it('that was not answered is cancelled', async () => {
    const { run, given } = await serving([{ requests: { where: form('Which city?'), when: form('Which day?') } }]);
    const question = asked(await run());
    await run({ responses: { where: { action: 'decline' } }, state: question.state });
    expect(given[1]).toEqual({ responses: { where: { action: 'decline' }, when: { action: 'cancel' } } });
  });

  it('is cancelled if the client cannot be asked, and declined if it asks for a secret', async () => {
    const secret = {
      method: 'elicitation/create',
      params: { message: 'Log in', requestedSchema: { type: 'object', properties: { password: { type: 'string' } } } },
    };
    const { run, given } = await serving([{ requests: { secret } }, { requests: { where: form('Which city?') } }]);
    const question = asked(await run());
    expect(given[1]).toEqual({ responses: { secret: { action: 'decline' } } });
    expect(Object.keys(question.requests)).toEqual(['where']);
    const silent = await serving([{ requests: { where: form('Which city?') } }]);
    expect(resultOf(await silent.run({}, {}))).toMatchObject({ isError: false });
    expect(silent.given[1]).toEqual({ responses: { where: { action: 'cancel' } } });
  });

  it('that is answered by the service is stored beside those for the client', async () => {
    const url = { method: 'elicitation/create', params: { mode: 'url', message: 'Open', url: 'https://x.example' } };
    const { run, given } = await serving([{ requests: { url, where: form('Which city?') } }]);
    const question = asked(await run({}, { elicitation: { form: {} } }));
    expect(Object.keys(question.requests)).toEqual(['where']);
    await run({ responses: { where: { action: 'decline' } }, state: question.state }, { elicitation: { form: {} } });
    expect(given[1]).toEqual({ responses: { url: { action: 'cancel' }, where: { action: 'decline' } } });
  });

  it('ends the call if it asks for a completion that the client cannot give, or for something unknown', async () => {
    for (const method of ['sampling/createMessage', 'something/else']) {
      const { run } = await serving([{ requests: { it: { method, params: {} } } }]);
      expect(resultOf(await run({}, { elicitation: {} }))).toMatchObject({ isError: true, code: 'tool_error' });
    }
  });

  it('ends the call after the maximum number of rounds', async () => {
    const { run, given } = await serving(Array.from({ length: 100 }, () => ({ requests: {}, state: 's' })));
    expect(resultOf(await run())).toMatchObject({ isError: true });
    expect(given.length).toBeLessThan(20);
  });

  it('is screened while the call is open, too', async () => {
    const questions: string[] = [];
    const { run } = await serving([], async ({ channel }) => {
      const secret = { type: 'object', properties: { api_key: { type: 'string' } } };
      expect(await channel.ask?.({ method: 'elicitation/create', params: { message: 'Key?', requestedSchema: secret } }, '1')).toEqual({
        action: 'decline',
      });
      expect(await channel.ask?.(form('Which city?'), '2')).toEqual({ action: 'accept' });
    });
    const ask = async ({ params }: { params: Record<string, unknown> }) => {
      questions.push(String(params.message));
      return { action: 'accept' };
    };
    expect(resultOf(await run({}, everything, { ask }))).toMatchObject({ isError: false });
    expect(questions).toEqual(['Server "weather" asks: Which city?']);
  });
});

describe('a call that was in flight when its process stopped', () => {
  it('ends with an unknown outcome and does not run again', async () => {
    const { deps, view, given, catalog } = await serving([]);
    const interrupted = { callId: 'call_9', name: 'forecast', arguments: {} };
    const call = await serveUnrecoverable(deps, { principal, target: 'demo', view }, interrupted);
    const ended = await call.next({}, new AbortController().signal);
    expect(ended).toMatchObject({ outcome: { answer: { result: { code: 'outcome_unknown' } } } });
    expect(given).toEqual([]);
    expect((await catalog.audit({ limit: 10 })).items).toMatchObject([{ callId: 'call_9', code: 'outcome_unknown' }]);
  });
});

describe('an approval of an MCP client', () => {
  const url = 'https://new.example/x';
  const opened = async (scopes: Principal['scopes'], remembered?: RememberedRules) => {
    const [clock, log, ids] = [fakeClock(), keptLog(), countedIds()];
    const catalog = createNodeCatalog({ definitions: [toolOf('builtin', 'http_request', { kind: 'builtin' })] });
    await catalog.put('toolset', 'demo', { tools: [{ tool: 'builtin.http_request' }] });
    const { id: keyId } = (await catalog.createKey({ name: 'k', scopes: [...scopes] })).record;
    const unused = () => Promise.reject(new Error('not in these tests'));
    const call = { clock, log, executor: { isSafe: () => true, execute: async () => textResult('sent') }, fetch: unused, secret: unused };
    const deps = fakeServeDeps({ catalog, call, clock, ids, log, master: createMasterKey('a master key of at least 32 characters') });
    const own = { workspace: 'default', keyId, scopes };
    const caller = {
      ...{ principal: own, target: 'demo', view: await readView(deps, own, 'demo'), conversation: 'c', channel: {}, askable: everything },
      ...(remembered && { remembered }),
    };
    const send = (to: string, more: Partial<ServedCall> = {}): Promise<ServedAnswer> =>
      serveCall(deps, caller, { name: 'http_request', arguments: { url: to }, ...more }, new AbortController().signal);
    const fieldsOf = (answer: ServedAnswer): string[] => {
      const { requestedSchema } = asked(answer).requests.approval?.params ?? {};
      return Object.keys((requestedSchema as { properties: object }).properties);
    };
    const approve = async (to: string, content: object): Promise<ServedAnswer> => {
      const { state } = asked(await send(to));
      return await send(to, { state, responses: { approval: { action: 'accept', content } } });
    };
    return { send, approve, fieldsOf, catalog, keyId, log };
  };
  const inMemory = () => createRememberedRules(fakeSql(schemaSteps(rememberedSchema)), () => 0);

  it('is remembered for its session if its user says so, and for no other', async () => {
    const [first, second] = [inMemory(), inMemory()];
    const { send, approve, fieldsOf, catalog } = await opened(['tools', 'approve'], first);
    expect(fieldsOf(await send(url))).toEqual(['approve', 'remember', 'reason']);
    expect(resultOf(await approve(url, { approve: true, remember: false }))).toMatchObject({ isError: false });
    expect(resultOf(await approve(url, { approve: false, remember: true }))).toMatchObject({ code: 'denied' });
    expect(first.list()).toEqual([]);
    await approve(url, { approve: true, remember: true });
    expect(first.list()).toEqual([{ decision: 'allow', kind: 'network', host: 'new.example', note: expect.any(String) }]);
    expect(resultOf(await send('https://NEW.example:443/y'))).toMatchObject({ isError: false });
    expect(fieldsOf(await send('https://new.example:8443/'))).toEqual(['approve', 'remember', 'reason']);
    expect((await catalog.list('known-host', { limit: 10 })).items).toEqual([]);
    const other = await opened(['tools', 'approve'], second);
    expect(fieldsOf(await other.send(url))).toEqual(['approve', 'remember', 'reason']);
  });

  it('is denied with the reason of its user, which the model reads', async () => {
    const { approve } = await opened(['tools', 'approve']);
    const denied = async (reason: unknown) => JSON.stringify(resultOf(await approve(url, { approve: false, reason })));
    expect(await denied('Use staging')).toMatch(/"denied".*with the reason .{1,3}Use staging/);
    for (const wrong of [7, ' ', 'x'.repeat(1_001)]) expect(await denied(wrong)).toContain('the user denied this call. Do not try');
  });

  it('is not offered to be remembered without a session', async () => {
    const { send, approve, fieldsOf } = await opened(['tools', 'approve']);
    expect(fieldsOf(await send(url))).toEqual(['approve', 'reason']);
    await approve(url, { approve: true, remember: true });
    expect(fieldsOf(await send(url))).toEqual(['approve', 'reason']);
  });

  it('makes a host known if its key may change the policy, still when it answers', async () => {
    const { send, approve, catalog, keyId } = await opened(['admin']);
    const question = asked(await send(url)).requests.approval;
    expect(JSON.stringify(question)).toContain('Then new.example is known to the workspace.');
    expect(resultOf(await approve(url, { approve: true }))).toMatchObject({ isError: false });
    expect((await catalog.list('known-host', { limit: 10 })).items).toMatchObject([{ name: 'new.example', body: { by: keyId } }]);
    expect(resultOf(await send(url))).toMatchObject({ isError: false });
  });
});
