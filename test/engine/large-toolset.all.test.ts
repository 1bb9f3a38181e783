/** A turn with a thousand tools, and what its model is sent in each step. */
import { toRequestBody } from '../../src/providers/chat-model.ts';
import { describe, expect, it } from 'vitest';
import type { ChatEvent } from '../../src/core/model/chat-event.ts';
import { limits } from '../../src/core/limits/limits.ts';
import type { ToolDefinition } from '../../src/core/tools/tool.ts';
import { textResult } from '../../src/core/tools/tool.ts';
import { Toolset } from '../../src/core/toolset/toolset.ts';
import type { ProviderKind } from '../../src/core/names/provider-kind.ts';
import type { ChatModel, ChatRequest } from '../../src/ports/chat-model.ts';
import { findToolsTool } from '../../src/core/toolset/injected-tool.ts';
import { profileFor } from '../../src/providers/profiles.ts';
import { defineTools } from '../../src/providers/tool-definitions.ts';
import { exampleAccess } from '../../src/providers/wire-tool-names.ts';
import { rehearsalHttp } from '../../src/providers/rehearsal/rehearsal.ts';
import { createChatModel } from '../../src/providers/chat-model.ts';
import { toTextRequest } from '../../src/providers/text-protocol.ts';
import { createResultStore } from '../../src/objects/session/log/result-store.ts';
import { sessionMigrations } from '../../src/objects/session/object/schema.ts';
import { createCodeExecutor } from '../../src/tools/executor.ts';
import { codeTools, toolDefinitions } from '../../src/tools/registry.ts';
import { fakeClock } from '../fakes/runtime.ts';
import { toolOf } from '../fakes/known-tools.ts';
import { fakeSql } from '../fakes/sql-storage.ts';
import { callEvents, finish, resultText, results, run, say } from './one-turn.ts';

const things = ['invoice', 'ticket', 'calendar', 'parcel', 'contract', 'photo', 'recipe', 'sensor', 'track', 'voucher'];
const acts = ['create', 'list', 'delete', 'archive', 'share', 'count', 'export', 'import', 'verify', 'merge'];
const thousand: ToolDefinition[] = Array.from({ length: 1_000 }, (_, index) => {
  const [thing = '', act = ''] = [things[index % 10], acts[Math.floor(index / 10) % 10]];
  return toolOf(`shop-${Math.floor(index / 100)}`, `${act}_${thing}_${index}`, {
    description: `Can ${act} one ${thing} in shop ${Math.floor(index / 100)}. `.repeat(3),
    inputSchema: { type: 'object', properties: { id: { type: 'string' }, amount: { type: 'integer' } }, required: ['id'] },
  });
});
const definitions = [...toolDefinitions(), ...thousand];
const document = (tools: object[] = [], more: object = {}): Toolset =>
  Toolset.parse({
    tools: [...tools, ...thousand.slice(0, 1_000 - tools.length).map(({ canonical }) => ({ tool: canonical, approval: 'never' }))],
    ...more,
  });
const always = [{ tool: 'builtin.bash', name: 'terminalRun', alwaysOffered: true }];
const look = (query: string, limit = 3): ChatEvent[] => [...callEvents(0, 'find_tools', { query, limit }), finish('tool-calls')];
const call = (...names: string[]): ChatEvent[] => [
  ...names.flatMap((name, index) => callEvents(index, name, { id: 'x' })),
  finish('tool-calls'),
];
const client = { name: 'lookAround', description: 'Looks.', inputSchema: { type: 'object' } };
const executor = createCodeExecutor(codeTools());

const turn = (script: ChatEvent[][], toolset = document(always), plan: Parameters<typeof run>[2] = {}, model?: ChatModel) =>
  run(
    script,
    (args, context, canonical) =>
      // The tool reads only the canonical name of its entry.
      canonical === 'builtin.find_tools' ? executor.execute({ canonical } as never, args, context) : textResult(`${canonical} ran`),
    plan,
    [],
    createResultStore(fakeSql(sessionMigrations)),
    { definitions, toolset, ...(model !== undefined && { model }) },
  );
const offered = ({ tools }: Pick<ChatRequest, 'tools'>): string[] => tools.map(({ name }) => name);

describe('a turn with a thousand tools', () => {
  it("is sent the always-offered tools, the injected ones, the client's, and those it has found or called, in that order", async () => {
    const { events, requests } = await turn(
      [look('archive a parcel'), call('list_photo_15'), look('archive parcel'), call('count_recipe_56', 'archive_parcel_33'), say('done')],
      undefined,
      { clientTools: [client] },
    );
    const start = ['terminalRun', 'find_tools', 'fetch_result', 'lookAround'];
    const found = ['archive_parcel_33', 'archive_parcel_133', 'archive_parcel_233'];
    expect(requests.map(offered)).toEqual([
      start,
      [...start, ...found],
      [...start, ...found, 'list_photo_15'],
      [...start, ...found, 'list_photo_15'],
      [...start, ...found, 'list_photo_15', 'count_recipe_56'],
    ]);
    expect(resultText(results(events)[0])).toMatch(
      /^3 of 1000 tools, best match first\. You can call them now[\s\S]*- archive_parcel_33: Can archive/,
    );
    expect(results(events).filter(({ isError }) => isError)).toEqual([]);
    expect(events.at(-1)).toMatchObject({ type: 'turn-end', reason: 'stop' });
  });

  it('has the same list object while nothing was added', async () => {
    const { requests } = await turn([look('archive a parcel'), look('archive a parcel'), say('done')]);
    expect(requests[2]?.tools).toBe(requests[1]?.tools);
  });

  it('is unchanged if its toolset sends that many tools at once', async () => {
    const { requests } = await turn([look('archive a parcel'), say('done')], document(always, { onDemandAbove: 1_000 }));
    expect(requests[0]?.tools).toHaveLength(1_000);
    expect(requests[1]?.tools).toBe(requests[0]?.tools);
  });

  it('cannot find, call or be sent a tool that its agent may not use', async () => {
    const allow = thousand.slice(0, 100).map(({ canonical }) => canonical);
    const { events, requests } = await turn([look('archive a parcel', 20), call('archive_parcel_133'), say('done')], undefined, { allow });
    expect(offered(requests[1] ?? { tools: [] })).toContain('archive_parcel_33');
    expect(offered(requests[1] ?? { tools: [] })).not.toContain('archive_parcel_133');
    expect(results(events)[1]).toMatchObject({ isError: true, code: 'unknown_tool' });
  });

  it('is sent the forced tool first, wherever it is listed, and keeps it', async () => {
    const { requests } = await turn([call('merge_voucher_899'), say('done')], document(), {
      settings: { toolChoice: { tool: 'shop-8.list_photo_815' } },
    });
    const forced = await turn([call('list_photo_815'), say('done')], document(), {
      settings: { toolChoice: { tool: 'shop-8.list_photo_815' } },
    });
    expect(requests[0]?.toolChoice).toEqual({ tool: 'list_photo_815' });
    expect(forced.requests.map(offered)).toEqual([
      ['find_tools', 'fetch_result', 'list_photo_815'],
      ['find_tools', 'fetch_result', 'list_photo_815'],
    ]);
  });

  it('reports when nothing is found, with similar names', async () => {
    const { events } = await turn([look('zzzz'), look('archiveparzel33'), say('done')]);
    const [none, near] = results(events).map(resultText);
    expect(none).toBe('None of the 1000 tools matches "zzzz". Describe what the tool should do in other words, or give part of its name.');
    expect(near).toContain('Similar names: archive_parcel_33');
    expect(results(events)[0]).toMatchObject({ isError: false, structuredContent: { tools: [] } });
  });

  it("has find_tools if its toolset lists it, under the toolset's name for it", async () => {
    const { requests } = await turn(
      [call('list_photo_15'), say('done')],
      document([...always, { tool: 'builtin.find_tools', name: 'discover' }]),
    );
    expect(requests.map(offered)).toEqual([
      ['terminalRun', 'discover', 'fetch_result'],
      ['terminalRun', 'discover', 'fetch_result', 'list_photo_15'],
    ]);
  });

  it(`is sent ${limits.maxGatheredTools} of the tools it found, gets a note, and calls others by name`, async () => {
    // Each of these pairs belongs to ten tools.
    const pairs = acts.slice(0, 2).flatMap((act) => things.slice(0, 5).map((thing) => `${act} ${thing}`));
    const looks = [0, 5].map((from): ChatEvent[] => [
      ...pairs.slice(from, from + 5).flatMap((query, index) => callEvents(index, 'find_tools', { query, limit: 10 })),
      finish('tool-calls'),
    ]);
    const { events, requests } = await turn([...looks, look('merge voucher'), call('merge_voucher_899'), say('done')], document());
    const added = ['find_tools', 'fetch_result'].length;
    expect(requests.map(({ tools }) => tools.length - added)).toEqual([0, 50, 100, 100, 100]);
    expect(requests.at(-1)?.tools).toEqual(requests[2]?.tools);
    const texts = results(events).map(resultText);
    expect(texts.map((text) => text.includes('not added to your tool list'))).toEqual([...pairs.map(() => false), true, false]);
    expect(texts.at(-1)).toBe('shop-8.merge_voucher_899 ran');
    // The definitions that count as sent are sent, also by the provider with the smallest limit, with two dozen client tools.
    const more = Array.from({ length: 24 }, (_, index) => ({
      name: `own_${index}`,
      description: '',
      inputSchema: {},
      tool: findToolsTool,
    }));
    const tools = [...more, ...(requests.at(-1)?.tools ?? [])];
    for (const kind of ['openai', 'openai-responses', 'anthropic', 'gemini', 'cohere'] as const)
      expect(defineTools(tools, profileFor(exampleAccess(kind), 'm')).left.size, kind).toBe(0);
  });
});

it('works with the rehearsal provider, which searches for the tool, calls it and reports', async () => {
  const refuse = () => Promise.reject(new Error('no network here'));
  const model = createChatModel({ http: refuse, rehearsal: rehearsalHttp, clock: fakeClock() });
  const { events, requests } = await turn(
    [],
    document(),
    { model: 'rehearsal/default' },
    {
      // The script of the rehearsal reads the last user message; the turn says "go".
      stream: (request, signal) =>
        model.stream(
          {
            ...request,
            access: { ...request.access, baseUrl: 'https://rehearsal.invalid/v1' },
            model: 'default',
            messages: saying('please archive one parcel "PX"', request),
          },
          signal,
        ),
    },
  );
  expect(results(events).map(({ canonical, isError }) => [canonical, isError])).toEqual([
    ['builtin.find_tools', false],
    ['shop-0.archive_parcel_33', false],
  ]);
  expect(requests[1] && offered(requests[1])).toContain('archive_parcel_33');
  const text = events.flatMap((event) => (event.type === 'text-delta' ? [event.text] : [])).join('');
  expect(text).toContain('archive_parcel_33({"id":"PX"}) gave:\nshop-0.archive_parcel_33 ran');
  expect(events.at(-1)).toMatchObject({ type: 'turn-end', reason: 'stop' });
});

function saying(text: string, { messages }: Pick<ChatRequest, 'messages'>): ChatRequest['messages'] {
  return messages.map((message) => (message.role === 'user' ? { role: 'user', parts: [{ type: 'text', text }] } : message));
}

describe('the prompt prefix of a turn with a thousand tools', () => {
  /** The part before the conversation in each body, and the conversation: providers cache what comes first. */
  const parts: Record<string, [ProviderKind, ...string[]]> = {
    openai: ['openai', 'tools', 'messages'],
    'openai-responses': ['openai-responses', 'tools', 'instructions', 'input'],
    anthropic: ['anthropic', 'tools', 'system', 'messages'],
    gemini: ['gemini', 'tools', 'systemInstruction', 'contents'],
    cohere: ['cohere', 'tools', 'messages'],
  };
  const script = [
    look('archive a parcel'),
    call('archive_parcel_33', 'list_photo_15'),
    look('verify sensors'),
    call('merge_voucher_899'),
    say('done'),
  ];
  const aliased = document([{ ...always[0], aliases: ['bash', 'shell'] }]);

  it.each(Object.entries(parts))('is unchanged between steps, to the byte, as %s is sent it', async (_name, [kind, ...members]) => {
    const { requests } = await turn(script, aliased, { instructions: 'Be brief.', clientTools: [client] });
    expect(requests).toHaveLength(5);
    const bodies = requests.map(
      (request) => toRequestBody({ ...request, access: exampleAccess(kind), model: 'm' }) as Record<string, unknown>,
    );
    for (const member of members) {
      // The position of the cache mark is not compared: it says how much to cache, and moves to the end with every request.
      const texts = bodies.map((body) => (JSON.stringify(body[member]) ?? '').replaceAll(',"cache_control":{"type":"ephemeral"}', ''));
      for (const [index, text] of texts.slice(1).entries()) {
        const before = texts[index] ?? '';
        // The closing brackets enclose what the next request appends.
        expect(text.startsWith(before.replace(/[\]}]*$/, '')), `${member} of request ${index + 2}`).toBe(true);
        expect(text.length).toBeGreaterThanOrEqual(before.length);
      }
      if (member !== 'system' && member !== 'instructions' && member !== 'systemInstruction') expect(texts.at(-1)).not.toBe(texts[0]);
    }
    expect(JSON.stringify(bodies[0]?.tools)).toContain('find_tools');
    expect(JSON.stringify(bodies[0]).length).toBeLessThan(20_000);
  });

  it('grows in the system text where tools are described in text: everything before the end of their list is unchanged', async () => {
    const { requests } = await turn(script, aliased, { instructions: 'Be brief.' });
    const texts = requests.map((request) => JSON.stringify(toTextRequest(request).messages[0]));
    for (const [index, text] of texts.slice(1).entries()) {
      const before = texts[index] ?? '';
      const toListEnd = before.slice(0, before.indexOf('\\n</tools>'));
      expect(toListEnd.length).toBeGreaterThan(500);
      expect(text.startsWith(toListEnd)).toBe(true);
    }
  });
});
