/** A guard and the calls that it checks, by every way to a tool. The guard verifies signatures with the reference library. */
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { listenUpstream } from '../fakes/upstreams/upstream.ts';
import { clientEras, connectClient, textOf } from './mcp-clients.ts';
import { fieldsOf, readLog } from './session-log.ts';
import { shareService } from './shared-service.ts';

const secret = 'whsec_c2VjcmV0IG9mIHRoZSBndWFyZCwgMzIgYnl0ZXM=';
const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*' });

type Asked = { event: 'before' | 'after'; canonical: string; callId: string; parent?: string; arguments: Record<string, unknown> };
type Reply = object | Response;

let asked: (Asked & { id: string })[] = [];
let reply: (question: Asked) => Reply | Promise<Reply> = () => ({ decision: 'allow' });
let guard: { url: string; close(): void };

beforeAll(async () => {
  guard = await listenUpstream({
    async handle(request) {
      const headers = Object.fromEntries(request.headers);
      const question = new Webhook(secret).verify(await request.text(), headers) as Asked;
      asked.push({ ...question, id: headers['webhook-id'] ?? '' });
      const answer = await reply(question);
      return answer instanceof Response ? answer : Response.json(answer);
    },
  });
  await service.call('PUT', '/v1/secrets/GUARD', { value: secret, hosts: [new URL(guard.url).host] });
  const tools = ['builtin.bash', 'local.calculate', 'builtin.run_code'].map((tool) => ({ tool, aliases: [] }));
  const { status, text } = await service.call('PUT', '/v1/toolsets/work', { tools });
  expect(status, text).toBe(201);
});
afterAll(() => guard.close());
beforeEach(async () => {
  await configure({});
  asked = [];
  reply = () => ({ decision: 'allow' });
});

async function configure(more: object): Promise<void> {
  const settings = { guard: { url: `${guard.url}/ask`, secret: 'GUARD', before: true, after: true, ...more } };
  const { status, text } = await service.call('PUT', '/v1/workspaces/default', { settings });
  expect([200, 201], text).toContain(status);
}

const calculate = async (expression: string) => {
  const { json } = await service.call('POST', '/v1/toolsets/work/calls', { name: 'calculate', arguments: { expression } });
  return { code: json.code as string | undefined, text: json.content?.[0]?.text as string };
};

it('asks before and after a call over REST, and applies each decision', async () => {
  expect(await calculate('1 + 1')).toMatchObject({ text: expect.stringContaining('2') });
  expect(asked).toMatchObject([
    { event: 'before', canonical: 'local.calculate', arguments: { expression: '1 + 1' } },
    { event: 'after', result: { isError: false, content: [{ type: 'text' }] } },
  ]);
  reply = ({ event }) => (event === 'before' ? { decision: 'deny', reason: 'no sums today' } : { decision: 'allow' });
  expect(await calculate('1 + 1')).toMatchObject({ code: 'guard_denied', text: expect.stringContaining('no sums today') });
  reply = ({ event }) => (event === 'before' ? { decision: 'replace', arguments: { expression: '20 + 1' } } : { decision: 'allow' });
  expect(await calculate('1 + 1')).toMatchObject({ text: expect.stringContaining('21') });
  reply = ({ event }) => (event === 'before' ? { decision: 'replace', arguments: { expression: 7 } } : { decision: 'allow' });
  expect(await calculate('1 + 1')).toMatchObject({ code: 'guard_denied', text: expect.stringContaining('invalid ones: expression') });
  reply = ({ event }) =>
    event === 'after' ? { decision: 'replace', content: [{ type: 'text', text: 'a number' }] } : { decision: 'allow' };
  expect(await calculate('1 + 1')).toEqual({ code: undefined, text: 'a number' });
  reply = ({ event }) => ({ decision: event === 'after' ? 'deny' : 'allow' });
  expect(await calculate('1 + 1')).toMatchObject({ code: 'guard_denied', text: expect.stringContaining('withheld its result') });
  const { json } = await service.call('GET', '/v1/audit?tool=local.calculate&limit=3');
  expect(json.items).toMatchObject([
    { guard: 'deny', verdict: 'ran', code: 'guard_denied' },
    { guard: 'replace', verdict: 'ran', code: null },
    { guard: 'replace', verdict: 'refused', code: 'guard_denied' },
  ]);
});

describe('a guard that fails', () => {
  const failures: [string, () => Reply | Promise<Reply>, string][] = [
    [
      'hangs',
      () => new Promise<Reply>((resolve) => setTimeout(() => resolve({ decision: 'allow' }), 3_000)),
      'did not respond within 500 ms',
    ],
    ['answers 5 MB', () => ({ decision: 'allow', reason: 'x'.repeat(5_000_000) }), 'larger than'],
    ['answers with another shape', () => ({ decision: 'allow', approve: true }), 'approve unknown field'],
    ['does not answer in JSON', () => new Response('yes'), 'is not JSON'],
    ['redirects', () => Response.redirect(`${guard.url}/elsewhere`, 307), 'redirects are not followed'],
    ['responds 500', () => new Response('', { status: 500 }), 'status 500'],
  ];
  it.each(failures)('denies the call, or allows it if the settings say so: it %s', async (_how, fails, why) => {
    reply = fails;
    await configure({ timeoutMs: 500, after: false });
    expect(await calculate('1 + 1')).toMatchObject({ code: 'guard_denied', text: expect.stringContaining(why) });
    await configure({ timeoutMs: 500, after: false, onFailure: 'allow' });
    expect(await calculate('1 + 1')).toMatchObject({ text: expect.stringContaining('2') });
  });

  it('cannot be Moniker itself, which would be a loop', async () => {
    const settings = { guard: { url: `${service.url}/v1/toolsets/work/calls` } };
    const { json } = await service.call('PUT', '/v1/workspaces/default', { settings });
    expect(json.warnings).toEqual([{ path: 'settings.guard.url', message: expect.stringContaining('cannot be sent') }]);
    expect(await calculate('1 + 1')).toMatchObject({ code: 'guard_denied', text: expect.stringContaining('could not be asked') });
  });
});

it('is refused with a secret that is bound to another host, and warned about with one that does not exist', async () => {
  const put = async (secret: string) =>
    await service.call('PUT', '/v1/workspaces/default', { settings: { guard: { url: 'https://elsewhere.example/', secret } } });
  const { json } = await put('GUARD');
  expect(json.issues).toEqual([
    { path: 'settings.guard.secret', message: expect.stringContaining('not bound to the host elsewhere.example') },
  ]);
  expect((await put('LATER')).json.warnings).toEqual([
    { path: 'settings.guard.secret', message: expect.stringContaining('does not exist yet') },
  ]);
});

it('checks calls of MCP clients', async () => {
  reply = ({ event }) => (event === 'after' ? { decision: 'replace', content: [{ type: 'text', text: 'seen' }] } : { decision: 'allow' });
  const client = await connectClient(`${service.url}/mcp/work`, service.key, clientEras.auto);
  const result = await client.callTool({ name: 'calculate', arguments: { expression: '3 * 3' } });
  await client.close();
  expect(textOf(result as { content: { type: string }[] })).toBe('seen');
  expect(asked.map(({ event, canonical }) => `${event} ${canonical}`)).toEqual(['before local.calculate', 'after local.calculate']);
});

it('checks the calls of code, each once', async () => {
  reply = ({ event, parent }) =>
    event === 'before' && parent !== undefined ? { decision: 'replace', arguments: { expression: '40 + 2' } } : { decision: 'allow' };
  const code = 'return (await tools.calculate({ expression: "1 + 1" }));';
  const { json } = await service.call('POST', '/v1/toolsets/work/calls', { name: 'run_code', arguments: { code } });
  expect(JSON.stringify(json)).toContain('42');
  expect(asked.map(({ event, canonical }) => `${event} ${canonical}`)).toEqual([
    'before builtin.run_code',
    'before local.calculate',
    'after local.calculate',
    'after builtin.run_code',
  ]);
});

describe('in a turn', () => {
  const newSession = async (): Promise<string> =>
    (await service.call('POST', '/v1/sessions', { model: 'rehearsal/default', toolset: 'work' })).json.id;

  it('stores its decisions, shows replaced arguments for approval, and is not asked again afterwards or after a restart', async () => {
    reply = ({ event, canonical }) =>
      event === 'before' && canonical === 'builtin.bash'
        ? { decision: 'replace', reason: 'a safer file', arguments: { command: 'echo x > /tmp/other' } }
        : { decision: 'allow' };
    const session = await newSession();
    const turn = { input: `/bash ${JSON.stringify({ command: 'echo x > /tmp/mine' })}` };
    const waiting = (await service.call('POST', `/v1/sessions/${session}/turns`, turn)).json;
    expect(waiting).toMatchObject({ status: 'waiting', pending: [{ arguments: { command: 'echo x > /tmp/other' } }] });
    const before = () => asked.filter(({ event }) => event === 'before').length;
    expect(before()).toBe(1);
    await service.restart();
    const { callId } = waiting.pending[0];
    await service.call('POST', `/v1/sessions/${session}/approvals/${callId}`, { decision: 'approve' });
    const log = await readLog(service, session);
    expect(before()).toBe(1);
    expect(fieldsOf(log, 'guard-decided', 'arguments')).toEqual([{ command: 'echo x > /tmp/other' }]);
    expect(JSON.stringify(fieldsOf(log, 'tool-result', 'content'))).toContain('changed the arguments of this call: a safer file.');
  });
});

describe('redaction rules', () => {
  const redact = async (redaction: object | null) =>
    await service.call('PUT', '/v1/workspaces/default', { settings: { redaction, requestLog: { bodies: true } } });
  const echo = async (text: string): Promise<string> => {
    const call = { name: 'bash', arguments: { command: `echo '${text}'` } };
    const { json } = await service.call('POST', '/v1/toolsets/work/calls', call);
    return `${json.content[0].text.split('\n')[0]} ${json.structuredContent.stdout.trim()}`;
  };

  it('replace what they find in results, text and structured', async () => {
    const patterns = [{ name: 'employee', pattern: 'EMP-[0-9]{4}' }];
    await redact({ rules: ['email', 'card'], patterns });
    expect(await echo('ada@example.com EMP-1234')).toBe('[email] [employee] [email] [employee]');
    await redact({ rules: ['email'], toolsets: ['other'] });
    expect(await echo('ada@example.com')).toBe('ada@example.com ada@example.com');
    await redact({ rules: ['email'], results: false });
    expect(await echo('ada@example.com')).toBe('ada@example.com ada@example.com');
  });

  it('are refused with the path of what is wrong', async () => {
    const patterns = [{ name: 'own', pattern: '(a)\\1' }];
    expect((await redact({ patterns })).json.issues).toEqual([
      { path: 'settings.redaction.patterns[0].pattern', message: expect.stringContaining('RE2') },
    ]);
    expect((await redact({})).json.issues).toEqual([{ path: 'settings.redaction', message: expect.stringContaining('must have') }]);
  });

  it('apply to the stored bodies of requests', async () => {
    await redact({ rules: ['email'], results: false });
    await service.call('POST', '/v1/chat/completions', {
      model: 'rehearsal/default',
      messages: [{ role: 'user', content: 'I am ada@example.com' }],
    });
    const bodies = async (): Promise<string> => {
      const { items } = (await service.call('GET', '/v1/requests')).json;
      const found = items.find(({ session }: { session: string | null }) => session === null);
      return found === undefined ? '' : JSON.stringify((await service.call('GET', `/v1/requests/${found.id}`)).json.bodies);
    };
    await expect.poll(bodies).toContain('[email]');
    expect(await bodies()).not.toContain('ada@example.com');
  });
});
