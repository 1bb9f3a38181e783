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

const principal: Principal = { workspace: 'default', keyId: 'k1', scopes: ['tools'] };
const form = (message: string) => ({
  method: 'elicitation/create',
  params: { message, requestedSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } },
});
const everything: AskableInput = { elicitation: { form: {}, url: {} }, sampling: {} };

/** A server's tool that asks scripted questions, round after round, and then returns the answers it received. */
async function serving(rounds: readonly InputRequired[], during?: (context: ToolContext) => Promise<void>) {
  const [clock, log, ids] = [fakeClock(), keptLog(), countedIds()];
  const catalog = createNodeCatalog({ definitions: [toolOf('weather', 'forecast', { kind: 'builtin' })] });
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
