import { describe, expect, it, test } from 'vitest';
import type { AskableInput, InputAnswer, InputRequest } from '../../../src/core/tools/mcp-input.ts';
import type { Principal } from '../../../src/core/people/principal.ts';
import { contentText, textResult } from '../../../src/core/tools/tool.ts';
import { approvalRequest } from '../../../src/engine/mcp/serve-approval.ts';
import { askDuringCall } from '../../../src/engine/mcp/ask-during-call.ts';
import { needsOpenConnection } from '../../../src/engine/mcp/in-flight-call.ts';
import type { CallScope } from '../../../src/engine/call/call-scope.ts';
import type { ToolContext } from '../../../src/ports/tool-executor.ts';
import { answerOf, madeTool, runOf, toolNamed, type Body } from '../inner-run.ts';
import { poolBounds } from '../../../src/core/limits/pools.ts';
import { createFairPool } from '../../../src/engine/fair-pool.ts';
import { fakeClock, keptLog } from '../../fakes/runtime.ts';

const read = toolNamed('local.read');
const note = toolNamed('local.note');
const wipe = toolNamed('local.wipe', { approval: 'always' });
const form = { elicitation: { form: {} } };
const forgetful = { knowHosts: async () => undefined, log: keptLog() };
const yes = { action: 'accept', content: { approve: true } };

type Client = { scopes?: Principal['scopes']; askable?: AskableInput; answers?: (InputAnswer | Error)[] | null };

/** A call of a client that can be asked on the open connection; `answers` null: it cannot. */
function callOf(
  body: Body,
  { scopes = ['tools', 'approve'], askable = form, answers = [yes] }: Client = {},
  bodies: Record<string, Body> = {},
) {
  const questions: InputRequest[] = [];
  const left = [...(answers ?? [])];
  const channel = {
    askable,
    ...(answers !== null && {
      ask: async (request: InputRequest) => {
        questions.push(request);
        const answer = left.shift() ?? {};
        if (answer instanceof Error) throw answer;
        return answer;
      },
    }),
  };
  const principal: Principal = { workspace: 'default', keyId: 'k', scopes };
  const scope: Partial<CallScope> = {
    session: null,
    turn: null,
    channel,
    askDuringCall: (waitFor, rounds) =>
      askDuringCall(
        { ...forgetful, principal, channel, askable, questions: createFairPool(poolBounds.openQuestions, fakeClock()) },
        waitFor,
        rounds,
      ),
  };
  const ran: string[] = [];
  const count =
    (name: string): Body =>
    (args, context) => {
      ran.push(name);
      return bodies[`local.${name}`]?.(args, context) ?? textResult(`${name} done`);
    };
  const counted = Object.fromEntries(['read', 'note', 'wipe'].map((name) => [`local.${name}`, count(name)]));
  const run = runOf([madeTool('tidy', [read, note, wipe])], {
    scope,
    safe: ['local.read'],
    bodies: { ...bodies, 'made.tidy': body, ...counted },
  });
  return { run, questions, ran };
}

const inTurn =
  (...names: string[]): Body =>
  async (_args, { calls }: ToolContext) => {
    const lines: string[] = [];
    for (const name of names) {
      const answer = await calls?.call(name, { why: name });
      lines.push(answer === undefined || answer.waits ? 'waits' : `${answer.result.code ?? 'ok'}: ${contentText(answer.result.content)}`);
    }
    return textResult(lines.join('\n'));
  };
const textOf = async ({ run }: ReturnType<typeof callOf>): Promise<string> => contentText(answerOf(await run.call('tidy')).content);

describe("a nested call of an MCP client's call that requires approval", () => {
  it('asks while the call is open, and nothing runs twice', async () => {
    const asked = callOf(inTurn('note', 'wipe', 'read'));
    expect(await textOf(asked)).toBe('ok: note done\nok: wipe done\nok: read done');
    expect(asked.ran).toEqual(['note', 'wipe', 'read']);
    expect(asked.questions.map(({ params }) => params.message)).toEqual([
      'Allow one call of local.wipe, named wipe here?\nReason: Its toolset requires approval for every call.\nArguments: {"why":"wipe"}',
    ]);
    expect(asked.run.audit.map(({ callId, canonical, verdict }) => [callId, canonical, verdict])).toContainEqual([
      'call_1.2',
      'local.wipe',
      'ran',
    ]);
  });

  it('asks for each nested call separately', async () => {
    const asked = callOf(inTurn('wipe', 'wipe'), { answers: [yes, { action: 'decline' }] });
    expect(await textOf(asked)).toMatch(/^ok: wipe done\ndenied: Not run: the user denied this call/);
    expect(asked.ran).toEqual(['wipe']);
  });

  it.each<[string, Client, RegExp]>([
    ['a key that may not approve', { scopes: ['tools'] }, /does not have the scope "approve"/],
    [
      'a client that cannot ask',
      { askable: {} },
      /this client cannot ask for one .* call the tool in a Moniker session.*\/approvals\/.*"approval": "policy"/,
    ],
    ['a request that ends with its answer', { answers: null }, /during this call\. .*call the tool in a Moniker session/],
    ['a client that has left', { answers: [new Error('gone')] }, /the client did not answer/],
  ])('is a result with which code continues, for %s', async (_who, client, text) => {
    const asked = callOf(inTurn('wipe', 'read'), client);
    const told = await textOf(asked);
    expect(told).toMatch(text);
    expect(told).toMatch(/^approval_required: /);
    expect(asked.ran).toEqual(['read']);
  });

  it('passes on what a server asks in several rounds, with the answers', async () => {
    const seen: unknown[] = [];
    const requests = {
      where: {
        method: 'elicitation/create',
        params: { message: 'Which city?', requestedSchema: { type: 'object', properties: { city: { type: 'string' } } } },
      },
    };
    const asked = callOf(
      inTurn('note'),
      { answers: [{ action: 'accept', content: { city: 'Bern' } }] },
      {
        'local.note': (_args, { given }) => {
          seen.push(given);
          return given === null ? { ...textResult('?'), input: { requests, state: 's' } } : textResult('noted');
        },
      },
    );
    expect(await textOf(asked)).toBe('ok: noted');
    expect(seen).toEqual([null, { responses: { where: { action: 'accept', content: { city: 'Bern' } } }, state: 's' }]);
    expect(asked.questions[0]?.params.message).toBe('Server "local" asks: Which city?');
  });
});

describe('calls that wait for an answer', () => {
  const question = { kind: 'always', reason: 'It wipes', target: null, effects: [], effectCount: 1, binding: ['hash'] } as const;
  const waitFor = { kind: 'approval', tool: wipe, ask: question, round: 1, arguments: {} } as const;
  const answers: ((answer: InputAnswer) => void)[] = [];
  const channel = { ask: () => new Promise<InputAnswer>((resolve) => answers.push(resolve)) };
  const { perKey, perWorkspace, total } = poolBounds.openQuestions;
  const questions = createFairPool(poolBounds.openQuestions, fakeClock());
  const ask = (workspace: string, keyId: string) =>
    askDuringCall({ ...forgetful, principal: { workspace, keyId, scopes: ['approve'] }, channel, askable: form, questions }, waitFor, 0);
  const asks = (count: number, workspace: string, keyId: string) => Array.from({ length: count }, () => ask(workspace, keyId));
  const answerAll = () => {
    for (const answer of answers.splice(0)) answer(yes);
  };
  const refused = { refusal: { code: 'limit_reached', message: expect.stringContaining('has too many calls that wait for an answer') } };

  test('of one key are limited, and do not block another key, even with the same id in another workspace', async () => {
    const open = asks(perKey, 'one', 'root');
    expect(await ask('one', 'root')).toMatchObject(refused);
    const others = [ask('one', 'other'), ask('two', 'root')];
    answerAll();
    expect((await Promise.all([...open, ...others])).every(({ approved }) => approved?.binding[0] === 'hash')).toBe(true);
    const next = ask('one', 'root');
    answerAll();
    expect(await next).toMatchObject({ approved: { binding: ['hash'], round: 1 } });
  });

  test('of one workspace are limited over all of its keys, and do not block another workspace', async () => {
    const open = Array.from({ length: perWorkspace }, (_, index) => ask('one', `key ${index}`));
    expect(await ask('one', 'one more')).toMatchObject(refused);
    const other = ask('two', 'key 1');
    answerAll();
    expect(await other).toMatchObject({ approved: { round: 1 } });
    expect((await Promise.all(open)).every(({ approved }) => approved?.binding[0] === 'hash')).toBe(true);
  });

  test('of an isolate are fewer than its machines, and a failed connection frees its slot', async () => {
    expect(total * 1_600_000).toBeLessThan(poolBounds.machineBytes.total);
    expect(perWorkspace * 2).toBeLessThan(total);
    const open = Array.from({ length: total }, (_, index) => ask(`workspace ${index}`, 'root'));
    expect(await ask('one more', 'root')).toMatchObject(refused);
    answerAll();
    await Promise.all(open);
    const broken = { ask: () => Promise.reject(new Error('gone')) };
    for (let times = 0; times < total * 2; times += 1) {
      const principal: Principal = { workspace: 'one', keyId: 'root', scopes: ['approve'] };
      const { refusal } = await askDuringCall({ ...forgetful, principal, channel: broken, askable: form, questions }, waitFor, 0);
      expect(refusal?.message).toContain('the client did not answer');
    }
  });
});

test('a tool that calls tools cannot ask after a nested call whose effect no journal records', async () => {
  const body: Body = async (_args, { calls, files }) => {
    await calls?.call('note', {});
    return textResult(files.remove('/workspace/a.txt') === undefined ? 'gone' : 'there');
  };
  const asked = callOf(body);
  asked.run.scope.files.write('/workspace/a.txt', new TextEncoder().encode('x'));
  const outcome = await asked.run.call('tidy');
  expect(contentText(answerOf(outcome).content)).toMatch(/cannot be requested after this call has called local\.note/);
  expect(asked.ran).toEqual(['note']);
});

test('a tool that calls tools is not rerun after its process died without a journal', async () => {
  const asked = callOf(inTurn('note'));
  const { callTool } = await import('../../../src/engine/call/call-tool.ts');
  const again = { callId: 'call_1', requested: 'tidy', arguments: {}, interrupted: true, attempts: 1 };
  const outcome = await callTool(asked.run.deps, asked.run.scope, again, new AbortController().signal);
  expect(answerOf(outcome).code).toBe('outcome_unknown');
  expect(asked.ran).toEqual([]);
});

test('a call whose nested calls may ask stays in flight for clients whose requests end with a question', async () => {
  const directory = { server: () => Promise.reject(new Error('no server is asked for')) };
  const held = (tool: Parameters<typeof needsOpenConnection>[2], args: unknown, askable: AskableInput = form) =>
    needsOpenConnection(directory, 'default', tool, askable, args);
  const bash = toolNamed('builtin.bash');
  expect(await held(madeTool('tidy', []), {})).toBe(true);
  expect(await held(toolNamed('builtin.run_code'), { code: '1' })).toBe(true);
  expect(await held(bash, { command: 'tool wipe' })).toBe(true);
  expect(await held(bash, { command: 'ls' })).toBe(false);
  expect(await held(madeTool('tidy', []), {}, {})).toBe(false);
  expect(await held(read, {})).toBe(false);
});

test('the question in an MCP client lists effects, and counts those it omits', () => {
  const effects = ['/workspace/junk.txt', '/workspace/contract.txt'].map((target) => {
    return { action: 'delete', kind: 'delete-file', target } as const;
  });
  const post = { action: 'send', kind: 'network', target: 'new.example', method: 'POST' } as const;
  const question = { kind: 'delete-file', reason: 'It deletes 2 files', target: null, binding: ['hash'] } as const;
  const { params } = approvalRequest(
    wipe,
    { ...question, effects: [...effects, post], effectCount: 5 },
    { command: 'rm' },
    { rules: [], hosts: [] },
  );
  expect(params.message).toContain(
    'Reason: It deletes 2 files.\n- delete /workspace/junk.txt\n- delete /workspace/contract.txt\n- POST new.example\n- and 2 more\nArguments: {"command":"rm"}',
  );
});
