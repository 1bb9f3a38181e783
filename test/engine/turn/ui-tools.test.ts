/** A turn whose toolset has UI tools: what its model is sent in each API, and the result when it calls one anyway. */
import { describe, expect, it } from 'vitest';
import { buildAliasMap } from '../../../src/core/toolset/alias-map.ts';
import type { ChatEvent } from '../../../src/core/model/chat-event.ts';
import type { ProviderAccess } from '../../../src/core/model/provider.ts';
import type { SessionEventBody } from '../../../src/core/turn/session-event.ts';
import { textResult } from '../../../src/core/tools/tool.ts';
import { createTranscript } from '../../../src/core/turn/transcript.ts';
import { turnNames } from '../../../src/engine/plan/plan-names.ts';
import type { TurnDeps } from '../../../src/engine/turn/run-turn.ts';
import type { ChatRequest } from '../../../src/ports/chat-model.ts';
import { toRequestBody } from '../../../src/providers/chat-model.ts';
import { compile, knownTools, toolOf } from '../../fakes/known-tools.ts';
import { countedIds, fakeClock, keptLog } from '../../fakes/runtime.ts';
import { runBareTurn } from '../bare-turn.ts';
import { callEvents, finish, say } from '../one-turn.ts';

const ui = { label: 'Camera', description: 'Takes a photo of homework.', category: 'upload', triggers: ['photo'] };
const tools = [toolOf('ui', 'camera', { kind: 'ui', description: ui.description, ui }), toolOf('web', 'search', { kind: 'builtin' })];

/** A turn over these tools, with a model that returns this. */
async function run(listed: object[], ...script: ChatEvent[][]) {
  const { edition } = await compile({ tools: listed }, knownTools(tools));
  const requests: ChatRequest[] = [];
  const ran: string[] = [];
  const deps = {
    ...{ clock: fakeClock(), ids: countedIds(), log: keptLog() },
    directory: { provider: async () => ({ name: 'a', kind: 'rehearsal', baseUrl: '', headers: {}, models: [], profile: {} }) },
    model: {
      async *stream(request: ChatRequest) {
        requests.push(request);
        yield script.shift() ?? say('Done.');
      },
    },
    executor: {
      isSafe: () => true,
      execute: async ({ canonical }: { canonical: string }) => {
        ran.push(canonical);
        return textResult('ran');
      },
    },
  } as unknown as TurnDeps;
  const events: SessionEventBody[] = [];
  const plan = { model: 'a/b', fallbacks: [], instructions: 'Be brief.', allow: null, aliases: true, limits: {}, settings: {} };
  const names = turnNames(buildAliasMap(edition, { aliases: true }), plan);
  const input = [{ type: 'text' as const, text: 'A photo, please' }];
  await runBareTurn(deps, { turn: 't', plan, names, input, events, transcript: createTranscript() });
  return { events, requests, ran };
}

describe('a toolset with UI tools and others', () => {
  const listed = [
    { tool: 'ui.camera', aliases: ['lens', { name: 'shutter', mode: 'function' }] },
    { tool: 'web.search', aliases: ['look'] },
  ];

  it('sends the model only the others, without mentioning UI tools', async () => {
    const { requests } = await run(listed, say('Hello.'));
    expect(requests[0]?.tools.map(({ name }) => name)).toEqual(['look']);
    expect(JSON.stringify(requests[0]?.messages[0])).toMatch(/look = web\.search/);
    expect(JSON.stringify(requests)).not.toMatch(/camera|lens|shutter|homework/i);
  });

  it('returns an error to a model that calls one, and continues', async () => {
    const { events, ran, requests } = await run(listed, [
      ...callEvents(0, 'Camera', {}),
      ...callEvents(1, 'look', {}),
      finish('tool-calls'),
    ]);
    expect(events.filter(({ type }) => type === 'tool-result')).toMatchObject([
      {
        canonical: 'ui.camera',
        code: 'not_allowed',
        content: [{ text: expect.stringContaining('shown to the user and cannot be called') }],
      },
      { canonical: 'web.search', isError: false },
    ]);
    expect([ran, requests.length, events.at(-1)]).toMatchObject([['web.search'], 2, { type: 'turn-end', status: 'completed' }]);
  });

  it('proposes them before the end', async () => {
    const { events } = await run(listed, say('Hello.'));
    expect(events.slice(-2)).toMatchObject([{ type: 'proposal', canonical: 'ui.camera', relevance: 1 }, { type: 'turn-end' }]);
  });
});

describe('a toolset with only UI tools', () => {
  const kinds: ProviderAccess['kind'][] = ['openai', 'openai-compatible', 'openai-responses', 'anthropic', 'gemini', 'cohere', 'rehearsal'];

  it.each(kinds)('sends a model of %s neither tools nor a tool choice', async (kind) => {
    const { requests } = await run([{ tool: 'ui.camera', aliases: ['lens'] }], say('Hello.'));
    const [request] = requests;
    if (request === undefined) throw new Error('the model was asked');
    const access = { name: 'acme', kind, baseUrl: 'https://acme.example/v1', headers: {}, models: [], profile: {} };
    const body = toRequestBody({ ...request, access }) as Record<string, unknown>;
    const fields = Object.keys(body).filter((field) => /tool|function/i.test(field));
    expect(fields).toEqual([]);
    expect(JSON.stringify(body)).not.toMatch(/camera|lens/i);
  });
});
