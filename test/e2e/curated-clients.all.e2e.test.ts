/**
 * Stock clients of every dialect, over every model API, with all features of toolsets: presets, deprecated names, tools on demand,
 * skills, UI tools, forced choices, approvals, fallbacks and cut streams. A client sees one assistant message, and nothing that runs
 * inside.
 */
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, isStepCount, streamText, tool } from 'ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { listenToolServer, type ToolServer } from '../fakes/tool-server.ts';
import type { Say, Script, Understood, UnderstoodMessage } from '../fakes/upstreams/upstream.ts';
import { type Asking, type ClientReply, clients, type DialectClient, type OwnTool, wiresFor } from './dialect-clients.ts';
import { type FakeProviders, refOf, startFakeProviders, type StartedStory, type Wire, wires } from './fake-providers.ts';
import { shareService, type SharedService } from './shared-service.ts';
import { inCall, refuses, stops } from './upstream-faults.ts';

// The SDK warns about model names that it does not know.
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });

const anything = { type: 'object', properties: { id: { type: 'string' } } };
const forge = [
  {
    name: 'actions_get',
    description: 'Reads a workflow, a run or a job.',
    inputSchema: {
      type: 'object',
      properties: { method: { type: 'string' }, resource_id: { type: 'string' }, owner: { type: 'string' } },
      required: ['method', 'resource_id'],
    },
  },
  { name: 'list_runs', description: 'Lists runs. See `actions_get`.', inputSchema: anything },
];
const things = ['invoice', 'ticket', 'calendar', 'parcel', 'contract', 'photo', 'recipe', 'sensor', 'track', 'voucher'];
const acts = ['create', 'list', 'cancel', 'archive', 'share', 'count', 'export', 'import', 'verify', 'merge'];
const shop = Array.from({ length: 1_000 }, (_, index) => {
  const [thing, act] = [things[index % 10], acts[Math.floor(index / 10) % 10]];
  const name = `${act}_${thing}_${Math.floor(index / 100)}`;
  return { name, description: `Can ${act} one ${thing}.`, inputSchema: anything };
});
const curated = {
  tools: [
    {
      tool: 'forge.actions_get',
      name: 'get_workflow',
      aliases: [
        { name: 'workflow', mode: 'function' },
        { name: 'workflow_get', mode: 'deprecated', note: 'use get_workflow' },
        { name: 'fetch_workflow', mode: 'hidden' },
      ],
      arguments: { preset: { method: 'get_workflow', owner: 'acme' }, rename: { id: 'resource_id' } },
    },
    {
      tool: 'forge.actions_get',
      name: 'get_job',
      aliases: ['job'],
      arguments: { preset: { method: 'get_job' }, rename: { job_id: 'resource_id' }, default: { owner: 'acme' } },
      result: { pick: ['/job/name'] },
    },
    { tool: 'forge.list_runs', aliases: [] },
  ],
};
const skill = `---\nname: count-runs\ndescription: Counts runs.\nallowed-tools: list_runs\n---\nCall \`list_runs\` and count.\n`;
const own: OwnTool = {
  name: 'pick_colour',
  description: 'Asks the person for a colour.',
  schema: { type: 'object', properties: { of: { type: 'string' } } },
};

let tools: ToolServer;
let fakes: FakeProviders;

beforeAll(async () => {
  tools = await listenToolServer(({ name, arguments: args }) => {
    const job = { job: { name: 'build', log: 'x'.repeat(3_000) } };
    return {
      content: [{ type: 'text', text: `${name} ${JSON.stringify(args)}` }],
      ...(args.method === 'get_job' && { structuredContent: job }),
    };
  });
  fakes = await startFakeProviders();
});
afterAll(() => {
  tools.close();
  fakes.close();
});

async function curate(service: SharedService): Promise<void> {
  const put = async (path: string, body: unknown): Promise<void> => {
    const { status, text } = await service.call('PUT', path, body);
    expect(status, text).toBe(201);
  };
  await fakes.putAll(service.call);
  const served = { kind: 'static', url: tools.url };
  await put('/v1/servers/forge', { ...served, trusted: true, tools: forge });
  await put('/v1/servers/shop', { ...served, trusted: true, tools: shop });
  await put('/v1/servers/wild', { ...served, tools: [{ name: 'post_note', description: 'Posts a note.', inputSchema: anything }] });
  await put('/v1/tools/ui.camera', { label: 'Camera', description: 'Takes a photo.', category: 'upload', triggers: ['take a picture'] });
  await put('/v1/skills/count-runs', { content: skill });
  await put('/v1/skills/stow', { content: `---\nname: stow\ndescription: Stows.\n---\nCall \`archive_parcel_0\` once.\n` });
  await put('/v1/toolsets/curated', curated);
  await put('/v1/toolsets/shop', { tools: shop.map(({ name }) => ({ tool: `shop.${name}` })) });
  await put('/v1/toolsets/wild', { tools: [{ tool: 'wild.post_note', aliases: ['note'] }] });
  await put('/v1/toolsets/pages', { tools: [{ tool: 'ui.camera' }] });
  for (const [index, wire] of wires.entries()) {
    const model = refOf(wire);
    const next = refOf(wires[(index + 1) % wires.length] ?? 'openai');
    await put(`/v1/agents/curated-${wire}`, { model, toolset: 'curated' });
    await put(`/v1/agents/skilled-${wire}`, { model, toolset: 'curated', tools: ['ListRuns'], skills: ['count-runs'] });
    await put(`/v1/agents/shop-${wire}`, { model, fallbacks: [next], toolset: 'shop' });
    await put(`/v1/agents/stocked-${wire}`, { model, toolset: 'shop', skills: ['stow'] });
    await put(`/v1/agents/wild-${wire}`, { model, toolset: 'wild' });
    await put(`/v1/agents/pages-${wire}`, { model, toolset: 'pages' });
  }
}

const call = (name: string, args: Record<string, unknown> = {}) => ({ name, arguments: args });
/** Returns the items one after the other, then repeats the last. */
const inTurn =
  (...says: Say[]): Script =>
  (_heard, index) =>
    says[Math.min(index, says.length - 1)] ?? {};
/** The results at the end of a request. In the text protocol they are text of the user. */
const lastResults = (story: StartedStory): string[] => {
  const last: UnderstoodMessage | undefined = story.understood.at(-1)?.messages.at(-1);
  return last?.role === 'tool' ? last.results.map(({ text }) => text) : last?.role === 'user' ? [last.text] : [];
};
const usageOf = (wire: Wire, steps: number) =>
  wire === 'anthropic' ? { inputTokens: 15 * steps, outputTokens: 7 * steps } : { inputTokens: 120 * steps, outputTokens: 30 * steps };
const offered = (story: StartedStory): string[][] => story.understood.map(({ tools: names }) => names);
/** The requested choice, the tool's name, and the agent. */
const forced = [
  ['GetJob', 'get_job', 'curated'],
  ['workflow', 'get_workflow', 'curated'],
  ['forge.list_runs', 'list_runs', 'curated'],
  ['fetch-workflow', 'get_workflow', 'curated'],
  ['ArchiveParcel-3', 'archive_parcel_3', 'shop'],
  ['shop.merge_voucher_9', 'merge_voucher_9', 'shop'],
  ['findTools', 'find_tools', 'shop'],
  ['USE-SKILL', 'use_skill', 'skilled'],
] as const;
const ways = [
  ['plain', false],
  ['streamed', true],
] as const;

describe('stock clients of agents with full toolsets', () => {
  const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*' });
  beforeAll(() => curate(service));

  describe.each(clients.map((client) => [client.name, client] as const))('the %s client', (_name, client) => {
    /** Where the choice is a member of its own. */
    const hasChoice = client.name !== 'gemini';
    const ask = (asking: Omit<Asking, 'system'>): Promise<ClientReply> => client.ask(service, { system: 'Be brief.', ...asking });
    const decide = async (session: string, callId: string, decision: string): Promise<void> => {
      const { status, text } = await service.call('POST', `/v1/sessions/${session}/approvals/${callId}`, { decision });
      expect(status, text).toBe(200);
    };

    describe.each(wiresFor('curated', client))('over %s', (wire) => {
      it.each(ways)(
        '%s: runs presets, renamed arguments, deprecated names and picked results inside, and returns one message',
        async (how, streamed) => {
          const story = fakes.start(`curated ${client.name} ${wire} ${how}`, {
            say: inTurn(
              { text: 'I look.', calls: [call('get_workflow', { id: '1', method: 'delete' }), call('workflow_get', { id: '2' })] },
              { calls: [call('GetJob', { job_id: '3' }), call('workflow', { id: '4' }), call('fetch-workflow', { id: '5' })] },
              { text: 'Done.' },
            ),
          });
          const before = tools.calls.length;
          const reply = await ask({ model: `agent/curated-${wire}`, items: [client.user(`Well? ${story.mark}`)], streamed });
          expect(reply).toMatchObject({ text: 'I look.\n\nDone.', calls: [], finish: 'stop', usage: usageOf(wire, 3) });
          expect(JSON.stringify(reply.items)).not.toMatch(/get_workflow|get_job|actions_get/);
          expect(
            tools.calls
              .slice(before)
              .map(({ arguments: args }) => args)
              .sort(byId),
          ).toEqual([
            { method: 'get_workflow', owner: 'acme', resource_id: '1' },
            { method: 'get_workflow', owner: 'acme', resource_id: '2' },
            { method: 'get_job', owner: 'acme', resource_id: '3' },
            { method: 'get_workflow', owner: 'acme', resource_id: '4' },
            { method: 'get_workflow', owner: 'acme', resource_id: '5' },
          ]);
          if (wire !== 'text') expect(offered(story)[0]).toEqual(['get_workflow', 'workflow', 'get_job', 'list_runs']);
          const texts = JSON.stringify(story.understood.at(-1)?.messages);
          for (const part of ['use get_workflow', 'Ignored', 'build', 'fetch_result']) expect(texts).toContain(part);
          expect(texts).not.toContain('xxxxx');
          expect(story.heard[0]?.text).not.toContain('fetch_workflow');
        },
      );

      it.each(ways)("%s: finds tools on demand beside the client's own, and keeps them available", async (how, streamed) => {
        const story = fakes.start(`on demand ${client.name} ${wire} ${how}`, {
          say: inTurn(
            { text: 'I look.', calls: [call('find_tools', { query: 'archive a parcel', limit: 2 })] },
            { calls: [call('archive_parcel_0', { id: '1' }), call('pick_colour', { of: 'three' })] },
            { text: 'Teal.' },
            { calls: [call('archive_parcel_1', { id: '2' })] },
            { text: 'Again.' },
          ),
        });
        const who = streamed ? { model: refOf(wire), headers: { 'x-moniker-toolset': 'shop' } } : { model: `agent/shop-${wire}` };
        const asking = { ...who, tools: [own], streamed };
        const items = [client.user(`Well? ${story.mark}`)];
        const first = await ask({ ...asking, items });
        expect(first).toMatchObject({
          text: 'I look.',
          finish: 'calls',
          calls: [call('pick_colour', { of: 'three' })],
          usage: usageOf(wire, 2),
        });
        expect(first.calls).toHaveLength(1);
        items.push(...first.items, ...client.results(first.calls, ['teal']));
        const second = await ask({ ...asking, items });
        expect(second).toMatchObject({ text: 'Teal.', calls: [], finish: 'stop', usage: usageOf(wire, 1) });
        items.push(...second.items, client.user('And again?'));
        const third = await ask({ ...asking, items });
        expect(third).toMatchObject({ text: 'Again.', calls: [], finish: 'stop', usage: usageOf(wire, 2) });
        expect(JSON.stringify([first.items, second.items, third.items])).not.toMatch(/find_tools|parcel/);
        const sessions = [first, second, third].map(({ headers }) => headers.get('x-moniker-session'));
        expect(new Set(sessions).size).toBe(1);
        if (wire !== 'text') {
          const start = ['find_tools', 'fetch_result', 'pick_colour'];
          const found = [...start, 'archive_parcel_0', 'archive_parcel_1'];
          expect(offered(story)).toEqual([start, found, found, found, found]);
        }
      });

      it('finds them again in a conversation that names no session', async () => {
        const story = fakes.start(`found again ${client.name} ${wire}`, {
          say: (_heard, index) =>
            index % 3 === 0
              ? { calls: [call('find_tools', { query: 'merge vouchers' })] }
              : index % 3 === 1
                ? { calls: [call('merge_voucher_4')] }
                : { text: 'Merged.' },
        });
        const items = [client.user(`Well? ${story.mark}`)];
        for (const asked of ['first', 'second']) {
          const reply = await ask({ model: `agent/shop-${wire}`, items });
          expect(reply, asked).toMatchObject({ text: 'Merged.', finish: 'stop', calls: [], usage: usageOf(wire, 3) });
          items.push(...reply.items, client.user('Once more.'));
        }
        expect(story.heard).toHaveLength(6);
        // The second request continues the session that the resent history is from, so the tools that were found stay.
        if (wire !== 'text') expect(offered(story)[3]).toEqual(expect.arrayContaining([...(offered(story)[0] ?? []), 'merge_voucher_4']));
      });

      it('loads a skill and follows it inside', async () => {
        const story = fakes.start(`skill ${client.name} ${wire}`, {
          say: inTurn(
            { calls: [call('use_skill', { name: 'count-runs' })] },
            { calls: [call('list_runs', { id: '1' })] },
            { text: 'One.' },
          ),
        });
        const reply = await ask({ model: `agent/skilled-${wire}`, items: [client.user(`Well? ${story.mark}`)], streamed: true });
        expect(reply).toMatchObject({ text: 'One.', calls: [], finish: 'stop', usage: usageOf(wire, 3) });
        if (wire !== 'text') expect(offered(story)).toEqual([0, 1, 2].map(() => ['list_runs', 'use_skill']));
        expect(story.understood[0]?.system).toContain('count-runs');
        expect(JSON.stringify(story.understood[1]?.messages)).toContain('Call `list_runs` and count.');
        expect(lastResults(story).join()).toContain('list_runs {');
      });

      it('a skill makes the tools available that it names, where tools are on demand', async () => {
        const story = fakes.start(`stow ${client.name} ${wire}`, {
          say: inTurn({ calls: [call('use_skill', { name: 'stow' })] }, { calls: [call('archive_parcel_0')] }, { text: 'Stowed.' }),
        });
        const reply = await ask({ model: `agent/stocked-${wire}`, items: [client.user(`Well? ${story.mark}`)] });
        expect(reply).toMatchObject({ text: 'Stowed.', calls: [], finish: 'stop' });
        const start = ['find_tools', 'use_skill', 'fetch_result'];
        const found = [...start, 'archive_parcel_0'];
        if (wire !== 'text') expect(offered(story)).toEqual([start, found, found]);
        else expect(story.understood[1]?.system).toContain('"name":"archive_parcel_0"');
      });

      it("hides UI tools from the model and from the client's response", async () => {
        for (const own_ of [[], [own]]) {
          const story = fakes.start(`pages ${client.name} ${wire} ${own_.length}`, { say: () => ({ text: 'Smile.' }) });
          const reply = await ask({ model: `agent/pages-${wire}`, items: [client.user(`Take a picture. ${story.mark}`)], tools: own_ });
          expect(reply).toMatchObject({ text: 'Smile.', calls: [], finish: 'stop' });
          expect(JSON.stringify(reply.items)).not.toMatch(/camera|proposal/i);
          expect(story.heard[0]?.text).not.toMatch(/camera/i);
          if (own_.length === 0) expect(story.heard[0]?.text).not.toMatch(/"(tools|tool_choice|toolConfig|tool_config)"/);
          else if (wire !== 'text') expect(offered(story)).toEqual([['pick_colour']]);
        }
      });

      it('receives an approval request as one sentence, and the next request resumes the turn', async () => {
        const story = fakes.start(`wild ${client.name} ${wire}`, {
          say: inTurn({ calls: [call('Note', { id: '7' })] }, { text: 'Posted.' }, { text: 'You are welcome.' }),
        });
        const model = `agent/wild-${wire}`;
        const items = [client.user(`Well? ${story.mark}`)];
        const first = await ask({ model, items, headers: { 'x-moniker-session': 'new' }, streamed: true });
        const session = first.headers.get('x-moniker-session') ?? '';
        expect(first).toMatchObject({ calls: [], finish: 'stop', text: expect.stringMatching(/wild\.post_note|post_note/) });
        await decide(session, /\(call (call_[^)]+)\)/.exec(first.text)?.[1] ?? 'none', 'approve');
        items.push(...first.items, client.user('Thanks.'));
        const second = await ask({ model, items, headers: { 'x-moniker-session': session } });
        expect(second).toMatchObject({ calls: [], finish: 'stop' });
        expect(second.headers.get('x-moniker-session')).toBe(session);
        expect(second.text).toMatch(/^Posted\./);
        expect(JSON.stringify(story.understood[1]?.messages)).toContain('post_note {');
      });

      it.each(ways)('%s: another provider continues in the middle of a turn with the tools found so far', async (how, streamed) => {
        const next = wires[(wires.indexOf(wire) + 1) % wires.length];
        const story = fakes.start(`fallback ${client.name} ${wire} ${how}`, {
          say: inTurn(
            { calls: [call('find_tools', { query: 'archive a parcel', limit: 1 })] },
            { calls: [call('archive_parcel_0')] },
            { text: 'Done.' },
          ),
          faults: { 1: refuses(400), 3: refuses(400) },
        });
        const reply = await ask({ model: `agent/shop-${wire}`, items: [client.user(`Well? ${story.mark}`)], streamed });
        expect(reply).toMatchObject({ text: 'Done.', calls: [], finish: 'stop' });
        expect(story.heard.map((heard) => heard.wire)).toEqual([wire, wire, next, wire, next]);
        const found = ['find_tools', 'fetch_result', 'archive_parcel_0'];
        expect(offered(story)).toEqual([wire === 'text' ? [] : found.slice(0, 2), ...[1, 2].map(() => (next === 'text' ? [] : found))]);
      });

      it.each(ways)('%s: retries a cut step with the same bytes', async (how, streamed) => {
        const cut = (step: RegExp) => stops(wire === 'text' ? step : inCall[wire], { by: 'breaks' });
        const story = fakes.start(`cut ${client.name} ${wire} ${how}`, {
          say: (_heard, index) =>
            [{ calls: [call('find_tools', { query: 'archive a parcel', limit: 1 })] }, { calls: [call('archive_parcel_0')] }][
              index >> 1
            ] ?? { text: 'Done.' },
          faults: { 0: cut(/find_tools/), 2: cut(/archive_parcel/) },
        });
        const reply = await ask({ model: `agent/shop-${wire}`, items: [client.user(`Well? ${story.mark}`)], streamed });
        expect(reply).toMatchObject({ text: 'Done.', calls: [], finish: 'stop' });
        const sent = story.heard.map(({ text }) => text);
        expect([sent.length, sent[1] === sent[0], sent[3] === sent[2]]).toEqual([5, true, true]);
      });

      it.runIf(hasChoice).each(forced)('has to call %s, which is %s', async (asked, name, agent) => {
        const story = fakes.start(`forced ${client.name} ${wire} ${asked}`, {
          say: inTurn({ calls: [call(name, { id: '1', job_id: '1', query: 'x' })] }, { text: 'Done.' }),
        });
        const body = {
          ...client.plainBody(`agent/${agent}-${wire}`, `Well? ${story.mark}`),
          stream: false,
          tool_choice: choices[client.name](asked),
        };
        const { status, text } = await service.call('POST', client.path(''), body);
        expect(status, text).toBe(200);
        expect(text).toContain('Done.');
        if (wire === 'text') return;
        // That API cannot name a tool: the tool is the only one that is sent.
        if (wire === 'cohere')
          expect([story.understood[0]?.toolChoice, offered(story)[0]?.filter((one) => one !== 'workflow')]).toEqual(['required', [name]]);
        else expect(story.understood[0]?.toolChoice).toEqual({ tool: name });
        expect(story.understood[1]?.toolChoice).toBe('auto');
        if (wire === 'cohere') return;
        expect(offered(story)[0]).toContain(name);
        expect(offered(story)[1]?.slice(0, offered(story)[0]?.length)).toEqual(offered(story)[0]);
      });

      it.runIf(hasChoice)('is rejected when its choice names a missing tool or one that cannot be called', async () => {
        for (const [agent, name] of [
          ['curated', 'merge_voucher_4'],
          ['skilled', 'get_job'],
          ['pages', 'camera'],
          ['shop', 'nothing'],
        ]) {
          const body = { ...client.plainBody(`agent/${agent}-${wire}`, 'Well?'), tool_choice: choices[client.name](name ?? '') };
          const { status, text } = await service.call('POST', client.path(''), body);
          expect([status, text], `${agent} ${name}`).toEqual([422, expect.stringContaining('tool_choice')]);
        }
      });

      it.runIf(hasChoice && client.name !== 'messages')(
        'can narrow a turn to some tools, and to some of several entries of one tool',
        async () => {
          const story = fakes.start(`allowed ${client.name} ${wire}`, {
            say: inTurn({ calls: [call('get_workflow', { id: '1' })] }, { text: 'Done.' }),
          });
          const body = {
            ...client.plainBody(`agent/curated-${wire}`, `Well? ${story.mark}`),
            stream: false,
            tool_choice: allowing(client.name, ['Job', 'list-runs']),
          };
          const { status, text } = await service.call('POST', client.path(''), body);
          expect(status, text).toBe(200);
          if (wire !== 'text') expect(offered(story)[0]).toEqual(['get_job', 'list_runs']);
          expect(lastResults(story).join()).toContain('There is no tool');
        },
      );
    });
  });

  describe.each(['chat', 'responses', 'messages'] as const)('the AI SDK by its %s model', (kind) => {
    it.each(['generateText', 'streamText'] as const)('%s runs its tools beside those that are found', async (how) => {
      const settings = { baseURL: `${service.url}/v1`, apiKey: service.key };
      const wire: Wire = kind === 'messages' ? 'anthropic' : kind === 'chat' ? 'gemini' : 'openai-responses';
      const model =
        kind === 'messages' ? createAnthropic(settings)(`agent/shop-${wire}`) : createOpenAI(settings)[kind](`agent/shop-${wire}`);
      const story = fakes.start(`ai ${kind} ${how}`, {
        say: inTurn(
          { text: 'I look.', calls: [call('find_tools', { query: 'archive a parcel', limit: 1 }), call('pick_colour', { of: 'two' })] },
          { calls: [call('archive_parcel_0'), call('pick_colour', { of: 'three' })] },
          { text: 'Done.' },
        ),
      });
      const request = {
        model,
        maxRetries: 0,
        stopWhen: isStepCount(6),
        ...(kind === 'responses' && { providerOptions: { openai: { store: false } } }),
        tools: { pick_colour: tool({ inputSchema: z.object({ of: z.string() }), execute: ({ of }) => `${of}: teal` }) },
        prompt: `Well? ${story.mark}`,
      };
      const result = how === 'generateText' ? await generateText(request) : streamText(request);
      const steps = await result.steps;
      expect([await result.text, steps.length, await result.finishReason]).toEqual(['Done.', 3, 'stop']);
      expect(steps.flatMap(({ toolCalls }) => toolCalls.map(({ toolName }) => toolName))).toEqual(['pick_colour', 'pick_colour']);
      const start = ['find_tools', 'fetch_result', 'pick_colour'];
      expect(offered(story)).toEqual([start, [...start, 'archive_parcel_0'], [...start, 'archive_parcel_0']]);
    });
  });

  it('no provider and no server rejected a request', () => {
    expect([fakes.refused(), tools.refused]).toEqual([[], []]);
  });
});

describe('with MONIKER_ALIASES=off', () => {
  const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*', MONIKER_ALIASES: 'off' });
  beforeAll(() => curate(service));

  describe.each(clients.map((client) => [client.name, client] as const))('the %s client', (_name, client) => {
    it.each(wiresFor('aliases off, entries', client))('over %s: entries have the tool’s own name, and keep their presets', async (wire) => {
      const [model, items] = [`agent/curated-${wire}`, (mark: string) => [client.user(`Well? ${mark}`)]];
      const names = (heard: Understood): string[] => [
        ...new Set(JSON.stringify([heard.system, heard.tools]).match(/actions_get_[0-9a-f]{10}/g)),
      ];
      const story = fakes.start(`off ${client.name} ${wire}`, {
        say: (heard, index) => {
          const [workflow = '', job = ''] = names(heard);
          if (index > 0) return { text: 'Done.' };
          return {
            calls: [
              call(workflow, { id: '1' }),
              call(job, { job_id: '2' }),
              call('get_workflow', { id: '3' }),
              call('forge.list_runs', { id: '4' }),
            ],
          };
        },
      });
      const before = tools.calls.length;
      const reply = await client.ask(service, { model, system: '', items: items(story.mark) });
      expect(reply).toMatchObject({ text: 'Done.', calls: [], finish: 'stop' });
      expect(tools.calls.slice(before).map(({ arguments: args }) => args)).toEqual([
        { method: 'get_workflow', owner: 'acme', resource_id: '1' },
        { method: 'get_job', owner: 'acme', resource_id: '2' },
        { id: '4' },
      ]);
      expect(story.heard[0]?.text).not.toMatch(/workflow_get|fetch_workflow/);
      if (wire !== 'text')
        expect(offered(story)[0]).toEqual([expect.stringMatching(/^actions_get_/), expect.stringMatching(/^actions_get_/), 'list_runs']);
    });

    it.each(wiresFor('aliases off, tools', client))('over %s: tools are found and skills are loaded as with aliases', async (wire) => {
      const found = fakes.start(`off found ${client.name} ${wire}`, {
        say: inTurn(
          { calls: [call('find_tools', { query: 'archive a parcel', limit: 1 })] },
          { calls: [call('archive_parcel_0')] },
          { text: 'Done.' },
        ),
      });
      const reply = await client.ask(service, {
        model: `agent/shop-${wire}`,
        system: '',
        items: [client.user(`Well? ${found.mark}`)],
        streamed: true,
      });
      expect(reply).toMatchObject({ text: 'Done.', calls: [], finish: 'stop', usage: usageOf(wire, 3) });
      expect(lastResults(found).join()).toContain('archive_parcel_0 {');
      const skilled = fakes.start(`off skill ${client.name} ${wire}`, {
        say: inTurn({ calls: [call('use_skill', { name: 'count-runs' })] }, { text: 'Read.' }),
      });
      expect(
        await client.ask(service, { model: `agent/skilled-${wire}`, system: '', items: [client.user(`Well? ${skilled.mark}`)] }),
      ).toMatchObject({ text: 'Read.' });
      expect(lastResults(skilled).join()).toContain('Call `list_runs` and count.');
    });
  });
});

const choices: Readonly<Record<DialectClient['name'], (name: string) => unknown>> = {
  chat: (name) => ({ type: 'function', function: { name } }),
  responses: (name) => ({ type: 'function', name }),
  messages: (name) => ({ type: 'tool', name }),
  gemini: (name) => ({ mode: 'ANY', allowedFunctionNames: [name] }),
};

function allowing(client: DialectClient['name'], names: readonly string[]): unknown {
  const named = names.map((name) => (client === 'chat' ? { type: 'function', function: { name } } : { type: 'function', name }));
  return client === 'chat'
    ? { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: named } }
    : { type: 'allowed_tools', mode: 'auto', tools: named };
}

function byId(a: Record<string, unknown>, b: Record<string, unknown>): number {
  return String(a.resource_id).localeCompare(String(b.resource_id));
}
