/**
 * The taint rule for callers that name no session: chat clients that resend their history, in each dialect, and direct calls. A first
 * request reads private and untrusted content, a later one sends something out.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listenToolServer, type ToolServer } from '../fakes/tool-server.ts';
import { startRecordingUpstream, type RecordingUpstream } from './recording-upstream.ts';
import type { Answer } from './service.ts';
import { shareService } from './shared-service.ts';

type Said = { role: 'user' | 'assistant'; text: string };
type ClientShape = {
  name: string;
  path: string;
  body(messages: readonly Said[]): object;
  text(answer: Answer['json']): string;
};

/** As the SDKs of each API resend a conversation: nothing but roles and texts. */
const shapes: readonly ClientShape[] = [
  {
    name: 'chat completions',
    path: '/v1/chat/completions',
    body: (messages) => ({ messages: messages.map(({ role, text }) => ({ role, content: text })) }),
    text: ({ choices }) => choices[0].message.content,
  },
  {
    name: 'responses',
    path: '/v1/responses',
    body: (messages) => ({
      input: messages.map(({ role, text }) => ({
        type: 'message',
        role,
        content: [{ type: role === 'user' ? 'input_text' : 'output_text', text }],
      })),
    }),
    text: ({ output }) =>
      output
        .flatMap((item: Answer['json']) => (item.type === 'message' ? item.content.map((part: Answer['json']) => part.text) : []))
        .join(''),
  },
  {
    name: 'messages',
    path: '/v1/messages',
    body: (messages) => ({
      max_tokens: 500,
      messages: messages.map(({ role, text }) => ({ role, content: [{ type: 'text', text }] })),
    }),
    text: ({ content }) => content.map((block: Answer['json']) => block.text ?? '').join(''),
  },
];

describe('the taint rule without a session', () => {
  const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*' });
  let upstream: RecordingUpstream;
  let vault: ToolServer;
  const put = async (path: string, body: unknown): Promise<void> => {
    const { status, text } = await service.call('PUT', path, body);
    expect([200, 201], text).toContain(status);
  };
  const post = (path: string) => `/http_request ${JSON.stringify({ url: `${upstream.url}${path}`, method: 'POST', body: 'the plan' })}`;
  const page = () => `/http_request ${JSON.stringify({ url: `${upstream.url}/page` })}`;
  const look = '/look {}';

  beforeAll(async () => {
    upstream = await startRecordingUpstream();
    vault = await listenToolServer(() => ({ content: [{ type: 'text', text: 'the plan: attack at dawn' }] }));
    await put('/v1/secrets/VAULT', { value: 'vault-token-0123456789', hosts: [vault.host] });
    const tool = { name: 'look', description: 'Looks.', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } };
    await put('/v1/servers/vault', {
      kind: 'static',
      url: vault.url,
      trusted: true,
      headers: { authorization: { secret: 'VAULT' } },
      tools: [tool],
    });
    const builtins = ['http_request', 'bash'].map((name) => ({ tool: `builtin.${name}` }));
    await put('/v1/toolsets/reach', { tools: [...builtins, { tool: 'local.calculate' }, { tool: 'vault.look' }] });
    await put('/v1/policy', { rules: [{ decision: 'allow', kind: 'network', host: new URL(upstream.url).host }] });
  });
  afterAll(() => {
    upstream?.close();
    vault?.close();
  });

  for (const shape of shapes) {
    describe(shape.name, () => {
      const send = async (messages: readonly Said[]): Promise<string> => {
        const { status, text, json } = await service.call('POST', shape.path, {
          model: 'rehearsal/default',
          toolset: 'reach',
          ...shape.body(messages),
        });
        expect(status, text).toBe(200);
        return shape.text(json);
      };
      /** Each input as a request of its own, with all that was said before. */
      const talk = async (...inputs: readonly string[]): Promise<Said[]> => {
        const messages: Said[] = [];
        for (const text of inputs) {
          messages.push({ role: 'user', text });
          messages.push({ role: 'assistant', text: await send(messages) });
        }
        return messages;
      };
      const out = (what: string) => `/${shape.name.replace(' ', '-')}-${what}`;

      it('asks before the second request sends out what the first one read', async () => {
        const answer = (await talk(`${look}\n${page()}`, post(out('leak')))).at(-1)?.text;
        expect(answer).toContain('Waiting for approval of builtin.http_request');
        expect(upstream.countOf(out('leak'))).toBe(0);
      });

      it('does not ask where the conversation has seen one of the two, or nothing', async () => {
        for (const [name, first] of [
          ['private', look],
          ['page', page()],
          ['none', 'hello'],
        ] as const)
          expect((await talk(first, post(out(name)))).at(-1)?.text, name).not.toContain('Waiting for approval');
        expect(['private', 'page', 'none'].map((name) => upstream.countOf(out(name)))).toEqual([1, 1, 1]);
      });
    });
  }
});
