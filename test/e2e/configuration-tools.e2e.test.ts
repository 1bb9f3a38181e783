/**
 * Building toolsets in a conversation: an agent with the configuration tools builds a toolset with aliases, equips it, and finds it again
 * after a power failure. Uses the running service, the built-in model, and a stand-in for the tools' server.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { configurationTools } from '../../src/core/names/reserved-names.ts';
import { listenToolServer, type ToolServer } from '../fakes/tool-server.ts';
import { shareService } from './shared-service.ts';
import type { Answer } from './service.ts';

const inputSchema = { type: 'object', properties: { path: { type: 'string' } } };
const listed = (name: string, description: string) => ({ name, description, inputSchema, annotations: { readOnlyHint: true } });

describe('toolsets by conversation', () => {
  const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: 'servers:127.0.0.1:*' });
  let upstream: ToolServer;
  const chats = new Map<string, string>();

  const call = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    service.call(method, path, body, headers);
  const direct = async (toolset: string, name: string, args: object = {}): Promise<Answer['json']> =>
    (await call('POST', `/v1/toolsets/${toolset}/calls`, { name, arguments: args })).json;
  const configure = (name: string, args: object = {}) => direct('curator', name, args);
  /** Sends the message in the conversation with that name; returns the tool calls of the turn. */
  const say = async (chat: string, setup: object, input: string): Promise<Answer['json'][]> => {
    const id = chats.get(chat) ?? (await call('POST', '/v1/sessions', setup)).json.id;
    chats.set(chat, id);
    return (await call('POST', `/v1/sessions/${id}/turns`, { input })).json.toolCalls;
  };
  const curate = (input: string) => say('curator', { agent: 'curator' }, input);
  const textOf = ({ content }: Answer['json']): string => content.map(({ text }: { text: string }) => text).join('\n');

  beforeAll(async () => {
    upstream = await listenToolServer(({ name }) => ({ content: [{ type: 'text', text: `ran ${name}` }] }));
    const tools = [
      listed('status', 'Shows the working tree.'),
      listed('log', 'Shows commits.'),
      listed('Delete Branch', 'Deletes a branch.'),
    ];
    await call('PUT', '/v1/servers/git', { kind: 'static', url: upstream.url, tools, trusted: true });
  });
  afterAll(() => upstream.close());

  it('gives an agent the configuration tools under their own names, without warnings', async () => {
    const tools = configurationTools.map((name) => ({ tool: `builtin.${name}` }));
    const { status, json } = await call('PUT', '/v1/toolsets/curator', { tools });
    expect([status, json.warnings]).toEqual([201, []]);
    const shown = (await call('GET', '/v1/toolsets/curator/tools?provider=openai')).json;
    expect(shown.tools.map(({ wireName }: { wireName: string }) => wireName)).toEqual([...configurationTools]);
    expect(
      (await call('PUT', '/v1/agents/curator', { model: 'rehearsal/default', toolset: 'curator', instructions: 'Curate.' })).status,
    ).toBe(201);
  });

  it('appears in no toolset that does not list them', async () => {
    expect(await direct('demo', 'build-toolset', { name: 'x', tools: [] })).toMatchObject({ isError: true, code: 'unknown_tool' });
  });

  it('lists the existing tools, then builds a toolset with aliases and equips it, in one turn', async () => {
    const request = {
      name: 'dev',
      tools: [
        { namespacedName: 'git.status', alias: 'gs', aliases: ['git_status'] },
        { namespacedName: 'git.Delete Branch', alias: 'drop_branch' },
      ],
    };
    const calls = await curate(
      `/list-available-tools {"server": "git"}\n\n/build-toolset ${JSON.stringify(request)}\n\n/equip-toolset {"name": "dev"}`,
    );
    expect(calls.map(({ requested, isError }) => [requested, isError])).toEqual([
      ['list-available-tools', false],
      ['build-toolset', false],
      ['equip-toolset', false],
    ]);
    expect(textOf(calls[0])).toContain('git.status');
    expect(textOf(calls[1])).toContain('gs = git.status (aliases: git_status)');
    expect(textOf(calls[2])).toContain('Equipped dev');
  });

  it('reports each bad alias by its index, and stores nothing of the request', async () => {
    const bad = [
      [
        { namespacedName: 'git.status', alias: 'st' },
        { namespacedName: 'git.log', alias: 'st' },
      ],
      [{ namespacedName: 'git.status' }, { namespacedName: 'git.log', alias: 'GitLog' }],
      [{ namespacedName: 'git.status' }, { namespacedName: 'git.log', alias: 'status' }],
      [{ namespacedName: 'git.status' }, { namespacedName: 'git.log', alias: 'git_status' }],
    ];
    for (const tools of bad) {
      const answer = await configure('build-toolset', { name: 'bad', tools });
      expect(answer).toMatchObject({ isError: true, structuredContent: { meta: { success: false } } });
      expect(answer.structuredContent.meta.error).toMatch(/^tools\[1\]\.alias: /);
    }
    expect((await call('GET', '/v1/toolsets/bad')).status).toBe(404);
  });

  it('stores all of four toolsets that are built concurrently', async () => {
    const names = ['p1', 'p2', 'p3', 'p4'];
    const answers = await Promise.all(
      names.map((name) => configure('build-toolset', { name, tools: [{ namespacedName: 'git.log', alias: name }] })),
    );
    expect(answers.map(({ structuredContent }) => structuredContent.meta.success)).toEqual([true, true, true, true]);
    const saved = (await configure('list-saved-toolsets')).structuredContent.toolsets.map(({ name }: { name: string }) => name);
    expect(saved).toEqual(expect.arrayContaining(names));
  });

  it('adds a note once, no matter how often it is listed', async () => {
    const args = { toolRef: { namespacedName: 'git.status' }, notes: [{ name: 'when', note: 'Before a commit.' }] };
    expect((await configure('add-tool-annotation', args)).structuredContent).toMatchObject({ toolset: 'dev', successCount: 1 });
    expect((await configure('add-tool-annotation', args)).structuredContent).toMatchObject({ successCount: 0, errorCount: 1 });
    for (let times = 0; times < 3; times += 1) {
      const { text } = await call('GET', '/v1/toolsets/dev/tools?provider=openai');
      expect(text.split('Before a commit.')).toHaveLength(2);
    }
  });

  describe('after a power failure', () => {
    beforeAll(() => service.restart());

    it('the toolset still has its aliases, and is still equipped', async () => {
      const { structuredContent } = await configure('list-saved-toolsets');
      const dev = structuredContent.toolsets.find(({ name }: { name: string }) => name === 'dev');
      expect(dev).toMatchObject({
        active: true,
        tools: [
          { namespacedName: 'git.status', wireName: 'gs', alias: 'gs', aliases: ['gs', 'git_status'] },
          { namespacedName: 'git.Delete Branch', wireName: 'drop_branch' },
        ],
      });
      expect((await configure('get-active-toolset')).structuredContent).toMatchObject({
        equipped: true,
        mode: 'normal',
        toolset: { name: 'dev' },
      });
    });

    it('its tools are called by alias, with and without a conversation, and the server receives its own names', async () => {
      upstream.calls.length = 0;
      const calls = await say('dev', { model: 'rehearsal/default', toolset: 'dev' }, '/gs {"path": "src"}\n/drop_branch {"path": "old"}');
      expect(calls.map(({ canonical, isError }) => [canonical, isError])).toEqual([
        ['git.status', false],
        ['git.Delete Branch', false],
      ]);
      expect(await direct('dev', 'git_status', { path: 'test' })).toMatchObject({ isError: false, canonical: 'git.status', via: 'alias' });
      expect(upstream.calls.map(({ name }) => name).sort()).toEqual(['Delete Branch', 'status', 'status']);
      expect(upstream.refused).toEqual([]);
    });

    it('a tool that the toolset does not list is rejected under all of its names', async () => {
      upstream.calls.length = 0;
      const calls = await say('dev', { model: 'rehearsal/default', toolset: 'dev' }, '/log {"path": "src"}');
      expect(calls).toMatchObject([{ isError: true, code: 'unknown_tool' }]);
      for (const name of ['git.log', 'git_log', 'build-toolset'])
        expect(await direct('dev', name), name).toMatchObject({ isError: true, code: 'unknown_tool' });
      expect(upstream.calls).toEqual([]);
    });

    it('rejects a key that may not write toolsets or is bound to others', async () => {
      const key = async (rights: object): Promise<Record<string, string>> => {
        const { json } = await call('POST', '/v1/keys', { name: 'guest', ...rights });
        return { authorization: `Bearer ${json.key}` };
      };
      const as = async (headers: Record<string, string>, name: string, args: object = {}): Promise<Answer['json']> =>
        (await call('POST', '/v1/toolsets/curator/calls', { name, arguments: args }, headers)).json;
      const reader = await key({ scopes: ['tools'] });
      expect(await as(reader, 'delete-toolset', { name: 'p1', confirm: true })).toMatchObject({
        isError: true,
        code: 'not_allowed',
        structuredContent: { success: false },
      });
      const bound = await key({ scopes: ['tools', 'toolsets'], toolsets: ['curator', 'p1'] });
      const { structuredContent } = await as(bound, 'list-saved-toolsets');
      expect(structuredContent.toolsets.map(({ name }: { name: string }) => name)).toEqual(['curator', 'p1']);
      expect(await as(bound, 'equip-toolset', { name: 'dev' })).toMatchObject({ isError: true, structuredContent: { success: false } });
      expect((await as(bound, 'get-active-toolset')).structuredContent).toMatchObject({ equipped: false, mode: 'configuration' });
      expect((await call('GET', '/v1/toolsets/p1')).status).toBe(200);
    });

    it('deleting the equipped toolset leaves nothing equipped', async () => {
      expect(await configure('delete-toolset', { name: 'dev' })).toMatchObject({ isError: true, structuredContent: { success: false } });
      expect((await configure('delete-toolset', { name: 'dev', confirm: true })).structuredContent).toMatchObject({ success: true });
      expect((await configure('get-active-toolset')).structuredContent).toMatchObject({ equipped: false, mode: 'configuration' });
    });
  });
});
