/**
 * A thousand tools of real servers for one agent: `find_tools` finds them, they can be called, and the prefix sent to the provider never
 * changes.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeCorpus, readJson } from '../fixtures.ts';
import { listenToolServer, type ToolServer } from '../fakes/tool-server.ts';
import { type FakeProviders, refOf, startFakeProviders, type Wire, wires } from './fake-providers.ts';
import { shareService } from './shared-service.ts';

describeCorpus('mcp-tools', (folder) => {
  let tools: ToolServer;
  let fakes: FakeProviders;
  const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*' });
  const servers = readdirSync(folder)
    .filter((file) => file.endsWith('.json') && file !== 'index.json')
    .sort()
    .map((file) => ({
      name: `s-${file
        .slice(0, -5)
        .toLowerCase()
        .replaceAll(/[^a-z0-9]+/g, '-')}`.slice(0, 30),
      path: join(folder, file),
    }));

  beforeAll(async () => {
    tools = await listenToolServer(({ name }) => ({ content: [{ type: 'text', text: `${name} was here` }] }));
    fakes = await startFakeProviders();
    await fakes.putAll(service.call);
    const listed: { server: string; name: string }[] = [];
    for (const { name, path } of servers) {
      const definitions = readJson<{ name: string }[]>(path);
      const put = await service.call('PUT', `/v1/servers/${name}`, { kind: 'static', url: tools.url, trusted: true, tools: definitions });
      expect(put.status, put.text).toBe(201);
      const known = await service.call('GET', `/v1/servers/${name}`);
      for (const tool of known.json.tools) if (tool.state === 'ready') listed.push({ server: name, name: tool.name });
    }
    // Names that several servers use get different aliases, so that a thousand tools fit into one toolset.
    const entries = listed.slice(0, 1_000).map((tool, index) => ({
      tool: `${tool.server}.${tool.name}`,
      name: `t${index}_${tool.name.replaceAll(/[^A-Za-z0-9_-]/g, '_')}`.slice(0, 60),
    }));
    const toolset = await service.call('PUT', '/v1/toolsets/all', { tools: entries });
    expect([toolset.status, entries.length]).toEqual([201, 1_000]);
    for (const wire of wires) await service.call('PUT', `/v1/agents/${wire}`, { model: refOf(wire), toolset: 'all' });
    await service.call('PUT', '/v1/agents/rehearsal', { model: 'rehearsal/default', toolset: 'all' });
  }, 300_000);
  afterAll(() => {
    tools.close();
    fakes.close();
  });

  it.each(wires)('%s: finds a tool, calls it, and sends the same prefix at each step and in the next turn', async (wire: Wire) => {
    let found = '';
    const story = fakes.start(`large ${wire}`, {
      say: ({ messages }, index) => {
        if (index === 0) return { calls: [{ name: 'find_tools', arguments: { query: 'transcript of a youtube video' } }] };
        if (index === 1) {
          found = foundIn(messages.at(-1));
          return { calls: [{ name: found, arguments: { url: 'https://youtu.be/x' } }] };
        }
        if (index === 3) return { calls: [{ name: found, arguments: { url: 'https://youtu.be/y' } }] };
        return { text: 'Done.' };
      },
    });
    const session = (await service.call('POST', '/v1/sessions', { agent: wire })).json.id;
    const turn = async (input: string) => (await service.call('POST', `/v1/sessions/${session}/turns`, { input })).json;
    const answer = await turn(`${story.mark} What does the video say?`);
    expect(answer).toMatchObject({ status: 'completed', text: 'Done.' });
    expect(answer.toolCalls[0]).toMatchObject({ canonical: 'builtin.find_tools', isError: false });
    expect(answer.toolCalls[1].canonical).toMatch(/youtube|transcript/);
    const next = await turn('And this one?');
    expect(next).toMatchObject({ status: 'completed', toolCalls: [{ canonical: answer.toolCalls[1].canonical, via: 'wire' }] });

    expect(story.understood).toHaveLength(5);
    if (wire !== 'text') {
      const [first, second, ...later] = story.understood.map(({ tools }) => tools);
      // With tools on demand, `fetch_result` is offered from the first step, so that found tools are always appended after it.
      expect(first).toEqual(['find_tools', 'fetch_result']);
      expect(second?.slice(0, 2)).toEqual(first);
      expect(second?.slice(2)).toContain(found);
      expect(later).toEqual([second, second, second]);
    }
    for (const [index, { text }] of story.heard.entries()) {
      // Parsing and serializing changes no byte, so the comparison below is of the bytes that were sent.
      expect(JSON.stringify(JSON.parse(text))).toBe(text);
      const before = index === 0 ? null : sentParts(wire, story.heard[index - 1]?.text ?? '');
      for (const [part, now] of Object.entries(sentParts(wire, text))) {
        const then = before?.[part] ?? [];
        expect(now.slice(0, then.length), `${part} of request ${index}`).toEqual(then);
      }
    }
    expect(fakes.refused()).toEqual([]);
  });

  describe('with the built-in model', () => {
    it('returns a result through find_tools, and offers the found tool in a later turn', async () => {
      const session = (await service.call('POST', '/v1/sessions', { agent: 'rehearsal' })).json.id;
      const turn = async (input: string) => (await service.call('POST', `/v1/sessions/${session}/turns`, { input })).json;
      const looked = await turn('Download something from YouTube');
      expect(looked).toMatchObject({ status: 'completed', toolCalls: [{ canonical: 'builtin.find_tools', isError: false }, {}] });
      const { canonical } = looked.toolCalls[1];
      expect(canonical).toMatch(/youtube/);
      const again = await turn('Download something from YouTube');
      expect(again.toolCalls.map((call: { canonical: string }) => call.canonical)).toEqual([canonical]);
    });

    it('resolves and lists a thousand tools in one request each', async () => {
      const { json } = await service.call('GET', '/v1/toolsets/all/tools?provider=openai');
      expect(json.tools.filter(({ state }: { state: string }) => state === 'ready').length).toBeGreaterThanOrEqual(1_000);
      const [last] = json.tools.slice(-1);
      const resolved = await service.call('GET', `/v1/toolsets/all/resolve?name=${encodeURIComponent(last.canonical)}`);
      expect(resolved.json.canonical).toBe(last.canonical);
    });
  });
});

/** The parts of a body that a provider's prefix cache covers, in order, each as the bytes of its items. */
function sentParts(wire: Wire, text: string): Record<string, string[]> {
  // The position of the cache mark is not cached: it says how far to cache, and moves to the end with every request.
  const body = JSON.parse(text.replaceAll(',"cache_control":{"type":"ephemeral"}', ''));
  const pieces = (value: unknown): string[] =>
    (Array.isArray(value) ? value : value === undefined ? [] : [value]).map((one) => JSON.stringify(one));
  switch (wire) {
    case 'openai':
    case 'cohere':
      return { tools: pieces(body.tools), messages: pieces(body.messages) };
    case 'openai-responses':
      return { tools: pieces(body.tools), instructions: pieces(body.instructions), input: pieces(body.input) };
    case 'anthropic':
      return { tools: pieces(body.tools), system: pieces(body.system), messages: pieces(body.messages) };
    case 'gemini':
      return {
        tools: pieces(body.tools?.[0]?.functionDeclarations),
        system: pieces(body.systemInstruction),
        contents: pieces(body.contents),
      };
    case 'text': {
      // The first message lists the tools, one a line; found tools are appended to the list.
      const [{ content }, ...messages] = body.messages;
      const [list = '', rest = ''] = content.split('\n</tools>');
      return { list: list.split('\n'), rest: [rest], messages: pieces(messages) };
    }
    default:
      return wire satisfies never;
  }
}

/** The first tool name in the result of `find_tools`. */
function foundIn(message: unknown): string {
  return /t\d+_[A-Za-z0-9_-]+/.exec(JSON.stringify(message))?.[0] ?? 'nothing';
}
