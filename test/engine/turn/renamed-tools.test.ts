/**
 * A conversation over toolsets that change meanwhile: plans are made as routes make them, names are read from the plan's edition as
 * sessions read them, and what a model is sent is compared byte for byte.
 */
import { describe, expect, it } from 'vitest';
import type { ChatEvent } from '../../../src/core/model/chat-event.ts';
import type { SessionEventBody } from '../../../src/core/turn/session-event.ts';
import { textResult } from '../../../src/core/tools/tool.ts';
import { createTranscript } from '../../../src/core/turn/transcript.ts';
import { turnNames } from '../../../src/engine/plan/plan-names.ts';
import { planTurn, type PlanRequest } from '../../../src/engine/plan/plan-turn.ts';
import type { TurnDeps } from '../../../src/engine/turn/run-turn.ts';
import type { ChatRequest } from '../../../src/ports/chat-model.ts';
import { createNodeCatalog } from '../../fakes/node-catalog.ts';
import { toolOf } from '../../fakes/known-tools.ts';
import { countedIds, fakeClock, keptLog } from '../../fakes/runtime.ts';
import { runBareTurn } from '../bare-turn.ts';
import { callEvents, finish, say } from '../one-turn.ts';

const definitions = [
  toolOf('github', 'actions_get', { kind: 'local', description: 'Reads a run. List them with `actions_list`.' }),
  toolOf('github', 'actions_list', { kind: 'local', description: 'Lists runs; actions_get reads one.' }),
  toolOf('files', 'read_file', { kind: 'local' }),
  toolOf('files', 'write_file', { kind: 'local' }),
];
const first = {
  tools: [
    { tool: 'github.actions_get', name: 'get_workflow', aliases: ['gh_workflow'] },
    { tool: 'github.actions_list', name: 'list_workflows' },
    { tool: 'files.read_file', name: 'open_it' },
    { tool: 'files.write_file', name: 'save_it' },
  ],
};
/** One tool renamed, two with their names swapped, one unchanged. */
const second = {
  tools: [
    { tool: 'github.actions_get', name: 'fetch_flow', aliases: ['gh_workflow'] },
    { tool: 'github.actions_list', name: 'list_workflows' },
    { tool: 'files.read_file', name: 'save_it' },
    { tool: 'files.write_file', name: 'open_it' },
  ],
};

type Script = readonly (readonly ChatEvent[])[];
const calls = (...names: string[]): ChatEvent[] => [...names.flatMap((name, index) => callEvents(index, name, {})), finish('tool-calls')];

async function conversation() {
  const catalog = createNodeCatalog({ definitions });
  await catalog.put('toolset', 'demo', first);
  const requests: ChatRequest[] = [];
  const ran: string[] = [];
  const script: (readonly ChatEvent[])[] = [];
  const events: SessionEventBody[] = [];
  const transcript = createTranscript();
  let during = async (): Promise<void> => undefined;
  const deps = {
    ...{ clock: fakeClock(), ids: countedIds(), log: keptLog(), directory: catalog.directory },
    model: {
      async *stream(request: ChatRequest) {
        // Copied, since the object is changed later.
        const { dropped: _dropped, ...asked } = request;
        requests.push(structuredClone(asked));
        yield script.shift() ?? say('Nothing was left to say.');
      },
    },
    executor: {
      isSafe: () => true,
      execute: async ({ canonical }: { canonical: string }) => {
        await during();
        ran.push(canonical);
        return textResult(`done by ${canonical}`);
      },
    },
    fetch: () => Promise.reject(new Error('no network here')),
    secret: async () => '',
  } as unknown as TurnDeps;
  let turns = 0;

  /** Returns the requests of the turn. */
  async function turn(replies: Script, meanwhile?: () => Promise<unknown>, request: PlanRequest = {}): Promise<ChatRequest[]> {
    const from = requests.length;
    script.push(...replies);
    const principal = { workspace: 'default', keyId: 'root', scopes: ['admin' as const] };
    const wish = { model: 'rehearsal/default', toolset: 'demo', instructions: 'Be brief.', ...request };
    const plan = await planTurn({ directory: catalog.directory, aliases: true }, principal, wish);
    during = async () => void (await meanwhile?.());
    const { names } = await catalog.directory.edition('default', plan.edition as NonNullable<typeof plan.edition>);
    const input = [{ type: 'text' as const, text: 'Go on.' }];
    turns += 1;
    await runBareTurn(deps, { turn: `turn_${turns}`, plan, names: turnNames(names, plan), input, events, transcript });
    return requests.slice(from);
  }
  return { catalog, turn, ran, events, transcript };
}

/** The names of calls and of results, as a model is sent them. */
function namesIn(request: ChatRequest | undefined): string[] {
  return (request?.messages ?? []).flatMap((message) => {
    if (message.role === 'assistant') return message.parts.flatMap((part) => (part.type === 'tool-call' ? [part.requested] : []));
    return message.role === 'tool' ? message.parts.map((part) => `=${part.requested}`) : [];
  });
}

const toolNames = (request: ChatRequest | undefined): string[] => (request?.tools ?? []).map(({ name }) => name);
const systemOf = (request: ChatRequest | undefined): string => JSON.stringify(request?.messages[0]);
/** In the order in which a provider caches it: the tools and the system prompt, then the messages one by one. */
const bytesOf = ({ tools, messages }: ChatRequest): string =>
  JSON.stringify([tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })), ...messages]);

function expectPrefix(shorter: ChatRequest | undefined, longer: ChatRequest | undefined): void {
  if (shorter === undefined || longer === undefined) throw new Error('a request is missing');
  expect(bytesOf(longer).startsWith(bytesOf(shorter).slice(0, -1))).toBe(true);
}

describe('a toolset that changes under a conversation', () => {
  it('keeps its names for the running turn, and has the new ones in the next', async () => {
    const { catalog, turn, ran } = await conversation();
    const running = await turn([calls('get_workflow', 'open_it'), calls('get_workflow', 'save_it'), say('done')], () =>
      catalog.put('toolset', 'demo', second),
    );
    expect(running.map(toolNames)).toEqual(Array(3).fill(['get_workflow', 'list_workflows', 'open_it', 'save_it']));
    // Calls of one step run concurrently.
    expect([ran.slice(0, 2).sort(), ran.slice(2).sort()]).toEqual([
      ['files.read_file', 'github.actions_get'],
      ['files.write_file', 'github.actions_get'],
    ]);
    expect(namesIn(running[2])).toEqual([
      'get_workflow',
      'open_it',
      '=get_workflow',
      '=open_it',
      'get_workflow',
      'save_it',
      '=get_workflow',
      '=save_it',
    ]);
    expectPrefix(running[0], running[1]);
    expectPrefix(running[1], running[2]);

    const next = await turn([calls('fetch_flow'), say('done')]);
    expect(toolNames(next[0])).toEqual(['fetch_flow', 'list_workflows', 'save_it', 'open_it']);
    // With swapped names, a name means the tool that has it now.
    expect(namesIn(next[0])).toEqual([
      'fetch_flow',
      'save_it',
      '=fetch_flow',
      '=save_it',
      'fetch_flow',
      'open_it',
      '=fetch_flow',
      '=open_it',
    ]);
    expectPrefix(next[0], next[1]);
  });

  it('is named in its texts as in the edition, and with the earlier names after a rollback', async () => {
    const { catalog, turn } = await conversation();
    const told = (request: ChatRequest | undefined) => request?.tools.map(({ description }) => description).slice(0, 2);
    const [before] = await turn([say('done')]);
    expect(told(before)).toEqual([
      'Reads a run. List them with `list_workflows`.',
      'Lists runs; actions_get reads one.\n\nNames used here: `actions_get` is `get_workflow`.',
    ]);
    expect(systemOf(before)).toContain('- get_workflow = github.actions_get (aliases: gh_workflow): Reads a run.');
    await catalog.put('toolset', 'demo', second);
    const [changed] = await turn([say('done')]);
    expect(told(changed)).toEqual([
      'Reads a run. List them with `list_workflows`.',
      'Lists runs; actions_get reads one.\n\nNames used here: `actions_get` is `fetch_flow`.',
    ]);
    expect(systemOf(changed)).toContain('- fetch_flow = github.actions_get (aliases: gh_workflow): Reads a run.');
    expect(systemOf(changed)).not.toContain('get_workflow');
  });

  it('gives the same past as before, byte for byte, after a rollback', async () => {
    const { catalog, turn } = await conversation();
    const old = await turn([calls('gh_workflow', 'open_it'), say('done')]);
    await catalog.put('toolset', 'demo', second);
    const [changed] = await turn([say('done')]);
    expect(namesIn(changed)).toEqual(['fetch_flow', 'save_it', '=fetch_flow', '=save_it']);
    await catalog.put('toolset', 'demo', first);
    const [back] = await turn([say('done')]);
    expectPrefix(old[1], back);
    expect(namesIn(back)).toEqual(['get_workflow', 'open_it', '=get_workflow', '=open_it']);
  });

  it('is sent byte-equal from turn to turn while nothing changes, or only something else does', async () => {
    const { catalog, turn } = await conversation();
    const one = await turn([calls('get_workflow'), say('done')]);
    const two = await turn([calls('gh_workflow'), say('done')]);
    await catalog.put('toolset', 'other', second);
    await catalog.put('toolset', 'demo', { ...first, description: 'Said to administrators.' });
    const three = await turn([say('done')]);
    const all = [...one, ...two, ...three];
    for (const [index, request] of all.slice(1).entries()) expectPrefix(all[index], request);
  });

  it('shows a removed tool under the name it had', async () => {
    const { catalog, turn, events } = await conversation();
    await turn([calls('get_workflow', 'list_workflows', 'no_such_tool'), say('done')]);
    await catalog.put('toolset', 'demo', { tools: [{ tool: 'github.actions_list', name: 'runs' }] });
    const [next] = await turn([calls('get_workflow'), say('done')]);
    expect(namesIn(next)).toEqual(['get_workflow', 'runs', 'no_such_tool', '=get_workflow', '=runs', '=no_such_tool']);
    expect(events.findLast(({ type }) => type === 'tool-result')).toMatchObject({ isError: true, code: 'unknown_tool' });
  });

  it('may be replaced for a turn: the past then has the names of that turn', async () => {
    const { catalog, turn } = await conversation();
    await catalog.put('toolset', 'other', second);
    await turn([calls('get_workflow', 'save_it'), say('done')]);
    const [there] = await turn([say('done')], undefined, { toolset: 'other' });
    expect(namesIn(there)).toEqual(['fetch_flow', 'open_it', '=fetch_flow', '=open_it']);
    const [pinned] = await turn([say('done')], undefined, { toolset: 'demo@1' });
    expect(namesIn(pinned)).toEqual(['get_workflow', 'save_it', '=get_workflow', '=save_it']);
  });

  it('may have a tool several times: a call has the name of the entry it was made with', async () => {
    const { catalog, turn } = await conversation();
    const entries = (wire: string) => ({
      tools: [
        { tool: 'github.actions_get', name: 'get_job', aliases: [] },
        { tool: 'github.actions_get', name: wire, aliases: ['get_run'] },
      ],
    });
    await catalog.put('toolset', 'demo', entries('get_run_by_id'));
    await turn([calls('get_run', 'get_job'), say('done')]);
    await catalog.put('toolset', 'demo', entries('read_run'));
    const [next] = await turn([say('done')]);
    expect(namesIn(next)).toEqual(['read_run', 'get_job', '=read_run', '=get_job']);
  });

  it('leaves the log unchanged', async () => {
    const { catalog, turn, events } = await conversation();
    await turn([calls('gh_workflow'), say('done')]);
    const logged = JSON.stringify(events);
    await catalog.put('toolset', 'demo', second);
    await turn([say('done')]);
    expect(JSON.stringify(events).startsWith(logged.slice(0, -1))).toBe(true);
    expect(events.find(({ type }) => type === 'tool-input-start')).toMatchObject({ name: 'gh_workflow', canonical: 'github.actions_get' });
  });
});
