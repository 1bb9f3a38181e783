/** Files stay between the requests of one conversation, whether or not its client names a session. */
import { beforeAll, describe, expect, it } from 'vitest';
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
