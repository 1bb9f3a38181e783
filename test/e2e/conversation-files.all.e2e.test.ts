/** Files stay between the requests of one conversation, whether or not its client names a session. */
import type { Client } from '@modelcontextprotocol/client';
import { beforeAll, describe, expect, it } from 'vitest';
import { connectClient, textOf } from './mcp-clients.ts';
import { shareService } from './shared-service.ts';

const service = shareService();
const user = (content: string) => ({ role: 'user', content });
let lines = 0;

beforeAll(async () => {
  const tools = [
    { tool: 'builtin.bash', name: 'shell', aliases: [] },
    { tool: 'builtin.write_file', name: 'save_file', aliases: [] },
  ];
  expect((await service.call('PUT', '/v1/toolsets/notes', { tools })).status).toBe(201);
});

/** Sends one request of each chat API; `say` adds the previous messages, as a client without a session does. */
const apis = {
  '/v1/chat/completions': {
    body: (messages: object[]) => ({ messages }),
    text: (json: { choices: { message: { content: string } }[] }) => json.choices[0]?.message.content ?? '',
  },
  '/v1/messages': {
    body: (messages: object[]) => ({ messages, max_tokens: 1_000 }),
    text: (json: { content: { text?: string }[] }) => json.content.map(({ text = '' }) => text).join(''),
  },
  '/v1/responses': {
    body: (messages: object[]) => ({ input: messages, store: false }),
    text: (json: { output: { content?: { text: string }[] }[] }) =>
      json.output.flatMap(({ content = [] }) => content.map(({ text }) => text)).join(''),
  },
} as const;

describe.each(Object.entries(apis))('a client of %s that resends its history without a session', (path, { body, text }) => {
  const send = async (messages: object[]) => {
    const answer = await service.call('POST', path, { model: 'rehearsal/default', toolset: 'notes', ...body(messages) });
    expect(answer.status).toBe(200);
    return { said: text(answer.json), session: answer.headers.get('x-moniker-session') };
  };

  it('continues in its session, with its files', async () => {
    lines += 1;
    const first = user(`/save_file {"path": "x.txt", "content": "kept ${path} ${lines}"}`);
    const one = await send([first]);
    const next = user('/shell cat x.txt');
    const two = await send([first, { role: 'assistant', content: one.said }, next]);
    expect(two.said).toContain(`kept ${path} ${lines}`);
    expect(two.session).toBe(one.session);
    const three = await send([
      first,
      { role: 'assistant', content: one.said },
      next,
      { role: 'assistant', content: two.said },
      user('hello'),
    ]);
    expect(three.session).toBe(one.session);
  });

  it('gets a copy of the files when its history differs from the stored one', async () => {
    lines += 1;
    const name = `fork-${path.replaceAll('/', '-')}`;
    const created = await service.call('POST', '/v1/sessions', { model: 'rehearsal/default', toolset: 'notes' });
    const ask = async (messages: object[], session: string = created.json.id) => {
      const request = { model: 'rehearsal/default', toolset: 'notes', ...body(messages) };
      const answer = await service.call('POST', path, request, { 'x-moniker-session': session });
      return { said: text(answer.json), session: answer.headers.get('x-moniker-session') ?? '' };
    };
    const first = user(`/save_file {"path": "${name}", "content": "original"}`);
    const one = await ask([first]);
    expect(one.session).toBe(created.json.id);
    const other = await ask([
      user('hello'),
      { role: 'assistant', content: 'Another answer.' },
      user(`/shell cat ${name} && echo more >> ${name}`),
    ]);
    expect(other.session).not.toBe(one.session);
    expect(other.said).toContain('original');
    const same = [first, { role: 'assistant', content: one.said }, user(`/shell cat ${name}`)];
    const still = await ask(same);
    expect([still.session, still.said.includes('more')]).toEqual([one.session, false]);
    const copied = await service.call('GET', `/v1/sessions/${other.session}/files/workspace/${name}`);
    expect(copied.status).toBe(200);
  });

  it('has a new session for another history, and for an answer that several conversations have', async () => {
    const first = user(`hello from ${path}`);
    const [one, other] = [await send([first]), await send([first])];
    expect(other.session).not.toBe(one.session);
    const next = await send([first, { role: 'assistant', content: one.said }, user('go on')]);
    expect([one.session, other.session]).not.toContain(next.session);
    const changed = await send([user('something else'), { role: 'assistant', content: one.said }, user('go on')]);
    expect([one.session, other.session, next.session]).not.toContain(changed.session);
  });
});

describe.each(['legacy', 'auto', 'pinned'] as const)('an MCP client (%s)', (era) => {
  const connect = (headers: Record<string, string> = {}, path = '/mcp/notes') =>
    connectClient(`${service.url}${path}`, service.key, era, {}, () => {}, headers);
  const save = (client: Client, content: string, name: string = era) =>
    client.callTool({ name: 'save_file', arguments: { path: `${name}.txt`, content } });
  const read = async (client: Client, name: string = era) =>
    textOf(await client.callTool({ name: 'shell', arguments: { command: `cat ${name}.txt` } }));

  it('finds a file again in the next call', async () => {
    const client = await connect();
    expect(await save(client, `saved by ${era}`)).toMatchObject({ isError: false });
    expect(await read(client)).toContain(`saved by ${era}`);
    await client.callTool({ name: 'shell', arguments: { command: 'mkdir -p a/b; echo deep > a/b/c.txt' } });
    expect(textOf(await client.callTool({ name: 'shell', arguments: { command: 'ls a; cat a/b/c.txt' } }))).toMatch(/^b\s+deep/);
    await client.close();
  });

  it('shares no file with other keys, and those of a name or session only with requests that name it', async () => {
    const named = await connect({ 'x-moniker-session': `project-${era}` });
    await save(named, 'of the project', 'project');
    expect(await read(named, 'project')).toContain('of the project');
    const plain = await connect();
    expect(await read(plain, 'project')).toContain('No such file');
    const { json: session } = await service.call('POST', '/v1/sessions', { model: 'rehearsal/default' });
    const inSession = await connect({ 'x-moniker-session': session.id });
    await save(inSession, 'of the session', 'project');
    expect((await service.call('GET', `/v1/sessions/${session.id}/files/project.txt`)).text).toBe('of the session');
    const { json: other } = await service.call('POST', '/v1/keys', { name: `other-${era}`, scopes: ['tools'] });
    for (const space of [`project-${era}`, null]) {
      const headers: Record<string, string> = space === null ? {} : { 'x-moniker-session': space };
      const stranger = await connectClient(`${service.url}/mcp/notes`, other.key, era, {}, () => {}, headers);
      expect(await read(stranger, 'project')).toContain('No such file');
      await stranger.close();
    }
    const thief = await connectClient(`${service.url}/mcp/notes`, other.key, era, {}, () => {}, { 'x-moniker-session': session.id });
    await expect(read(thief)).rejects.toThrow('There is no such session');
    const wrong = await connect({ 'x-moniker-session': '../x' });
    await expect(read(wrong)).rejects.toThrow('x-moniker-session');
    for (const client of [named, plain, inSession, thief, wrong]) await client.close();
  });
});

it('keeps the files of an MCP client over a restart', async () => {
  const saved = await connectClient(`${service.url}/mcp/notes`, service.key, 'pinned');
  await saved.callTool({ name: 'save_file', arguments: { path: 'restart.txt', content: 'still here' } });
  await saved.close();
  await service.restart();
  const again = await connectClient(`${service.url}/mcp/notes`, service.key, 'pinned');
  expect(textOf(await again.callTool({ name: 'shell', arguments: { command: 'cat restart.txt' } }))).toContain('still here');
  await again.close();
});
