/** Prompts of MCP servers in chat sessions: listed by the names of the toolset, and as the input of a turn, under the rules of a call. */
import { describe, expect, it } from 'vitest';
import { listenUpstream } from '../fakes/upstreams/upstream.ts';
import { heardBy, offered, offerSteps } from './offer-steps.ts';
import { shareService } from './shared-service.ts';

const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*' });
const { addServer, addToolset, withPolicy, auditOf } = offerSteps(service);
const png = 'iVBORw0KGgo=';

const parts = {
  ...offered,
  prompts: [
    { name: 'review', title: 'Review', description: 'Reviews.', arguments: [{ name: 'file', description: 'A path.', required: true }] },
    { name: 'plan' },
    { name: 'empty' },
  ],
  messages: (name: string, args: Record<string, string>) =>
    name === 'empty'
      ? []
      : [
          { role: 'user', content: { type: 'text', text: `${name} ${args.file ?? ''}\u202e` } },
          { role: 'assistant', content: { type: 'text', text: 'Which lines?' } },
          { role: 'user', content: { type: 'image', data: png, mimeType: 'image/png' } },
          { role: 'user', content: { type: 'resource', resource: { uri: 'file:///a', text: 'the file' } } },
          { role: 'user', content: { type: 'resource_link', uri: 'file:///b', name: 'b' } },
          { role: 'user', content: { type: 'hologram' } },
        ],
};

const toolsetOf = (server: string) => ({
  tools: [{ tool: `${server}.look` }],
  prompts: [{ prompt: `${server}.review`, name: 'code_review', aliases: ['check'], description: 'Reviews a file.' }, `${server}.*`],
});

async function sessionWith(name: string, document: object = { trusted: true }, toolset: object = toolsetOf(name)) {
  const server = await addServer(name, document, parts);
  await addToolset(name, toolset);
  const { json, text } = await service.call('POST', '/v1/sessions', { model: 'rehearsal/default', toolset: name });
  expect(json.id, text).toBeTypeOf('string');
  const path = `/v1/sessions/${String(json.id)}`;
  const turn = (body: object, headers: Record<string, string> = {}) => service.call('POST', `${path}/turns`, body, headers);
  const inputs = async () => {
    const items = (await service.call('GET', `${path}/messages`)).json.items as { role: string; parts: unknown[] }[];
    return items.filter(({ role }) => role === 'user').map((message) => message.parts);
  };
  return { server, path, turn, inputs };
}

describe('the prompts of a session', () => {
  it('are listed by the names that the toolset gives them', async () => {
    const { path, server } = await sessionWith('listed');
    expect((await service.call('GET', `${path}/prompts`)).json.items).toEqual([
      {
        ...{ name: 'code_review', title: 'Review', description: 'Reviews a file.', server: 'listed' },
        arguments: [{ name: 'file', description: 'A path.', required: true }],
      },
      { name: 'plan', server: 'listed', arguments: [] },
      { name: 'empty', server: 'listed', arguments: [] },
    ]);
    expect(heardBy(server)).toEqual([]);
  });

  it('are none without a toolset', async () => {
    const { json } = await service.call('POST', '/v1/sessions', { model: 'rehearsal/default' });
    expect((await service.call('GET', `/v1/sessions/${String(json.id)}/prompts`)).json.items).toEqual([]);
    const { status, json: problem } = await service.call('POST', `/v1/sessions/${String(json.id)}/turns`, { prompt: { name: 'plan' } });
    expect([status, problem.code]).toEqual([404, 'not_found']);
  });
});

describe('a turn that begins with a prompt', () => {
  it('has all its messages as input, then what the user wrote, and a row of the audit', async () => {
    const { turn, inputs } = await sessionWith('begun');
    const answer = await turn({ prompt: { name: 'check', arguments: { file: 'a.ts' } }, input: 'Be brief.' });
    expect([answer.status, answer.json.status], answer.text).toEqual([200, 'completed']);
    const text = (value: string) => ({ type: 'text', text: value });
    expect(await inputs()).toEqual([
      [
        text('review a.ts'),
        text('[Removed before you read this result, since a person cannot see them: 1 bidirectional control.]'),
        text('[A message of the prompt with the role assistant:]\nWhich lines?'),
        { type: 'image', mediaType: 'image/png', data: png },
        text('the file'),
        text('[link: b file:///b]'),
        text('[Left out: content of the type hologram is not supported.]'),
        text('Be brief.'),
      ],
    ]);
    expect(await auditOf('begun.prompts/get')).toMatchObject([{ requested: 'check', verdict: 'ran', toolset: 'begun' }]);
  });

  it('is stored once under an idempotency key, and asks the server once', async () => {
    const { turn, server, inputs } = await sessionWith('once');
    const send = () => turn({ prompt: { name: 'plan' } }, { 'idempotency-key': 'k1' });
    const [first, second] = [await send(), await send()];
    expect([first.status, second.json.turn]).toEqual([200, first.json.turn]);
    expect(heardBy(server)).toEqual(['prompts/get']);
    expect(await inputs()).toHaveLength(1);
  });

  it.each([
    [{ prompt: { name: 'nothing' } }, 404, 'not_found', 'GET /v1/sessions/{id}/prompts'],
    [{ prompt: { name: 'code_review' } }, 422, 'invalid_request', 'prompt.arguments.file'],
    [{ prompt: { name: 'code_review', arguments: { file: 1 } } }, 422, 'invalid_request', 'prompt.arguments.file'],
    [{ prompt: { name: 'empty' } }, 502, 'upstream_error', 'no messages'],
    [{}, 422, 'invalid_request', 'input'],
  ])('is refused with the reason, and not stored: %j', async (body, status, code, text) => {
    const { turn, inputs } = await sessionWith(`refused-${code.replace('_', '-')}-${JSON.stringify(body).length}`);
    const answer = await turn(body);
    expect([answer.status, answer.json.code]).toEqual([status, code]);
    expect(answer.text).toContain(text);
    expect(await inputs()).toEqual([]);
  });

  it('is refused by a rule, and waits for an approval of its entry or for a server that is not trusted', async () => {
    const denied = await sessionWith('denied');
    await withPolicy([{ decision: 'deny', prompt: 'denied.plan' }], async () => {
      expect((await denied.turn({ prompt: { name: 'plan' } })).json).toMatchObject({
        status: 403,
        detail: expect.stringMatching(/forbids/),
      });
    });
    const careful = await sessionWith('careful', undefined, {
      tools: [{ tool: 'careful.look' }],
      prompts: [{ prompt: 'careful.plan', approval: 'always' }],
    });
    const wild = await sessionWith('wild', {});
    for (const { turn, server, inputs } of [denied, careful, wild]) {
      if (server !== denied.server)
        expect((await turn({ prompt: { name: 'plan' } })).json).toMatchObject({ status: 403, reason: 'approval_required' });
      expect(heardBy(server)).toEqual([]);
      expect(await inputs()).toEqual([]);
    }
  });

  it('is sent once for each approval, with the arguments that were approved', async () => {
    const { turn, path, server, inputs } = await sessionWith('asked', {});
    const prompt = { name: 'code_review', arguments: { file: 'a.ts' } };
    const first = (await turn({ prompt })).json;
    expect(first).toMatchObject({ reason: 'approval_required', pending: [{ kind: 'approval', canonical: 'asked.prompts/get' }] });
    const { callId } = first.pending[0];
    expect((await turn({ prompt })).json.pending).toEqual(first.pending);
    const { items } = (await service.call('GET', `${path}/approvals`)).json;
    expect(items).toMatchObject([{ callId, entry: 'code_review', turn: null, arguments: { name: 'review', arguments: { file: 'a.ts' } } }]);
    expect((await service.call('POST', `${path}/approvals/${callId}`, { decision: 'approve' })).status).toBe(200);
    const other = { name: 'code_review', arguments: { file: 'b.ts' } };
    expect((await turn({ prompt: other })).json.reason).toBe('approval_required');
    expect((await turn({ prompt })).json).toMatchObject({ status: 'completed' });
    expect(heardBy(server)).toEqual(['prompts/get']);
    expect(await inputs()).toHaveLength(1);
    expect((await turn({ prompt })).json.reason).toBe('approval_required');
  });

  it('is refused once more after a denial, and runs without asking after an approval for the session', async () => {
    const { turn, path } = await sessionWith('remembered', {});
    const pendingOf = async (name: string): Promise<string> => (await turn({ prompt: { name } })).json.pending[0].callId;
    const decide = async (callId: string, body: object) => await service.call('POST', `${path}/approvals/${callId}`, body);
    await decide(await pendingOf('plan'), { decision: 'deny' });
    expect((await turn({ prompt: { name: 'plan' } })).json).toMatchObject({ status: 403, reason: 'denied' });
    const { status, text } = await decide(await pendingOf('plan'), { decision: 'approve', remember: 'session' });
    expect(status, text).toBe(200);
    for (let times = 0; times < 2; times += 1) expect((await turn({ prompt: { name: 'plan' } })).json.status).toBe('completed');
    // What was remembered is that prompt, and no other one of its server.
    expect((await turn({ prompt: { name: 'empty' } })).json.reason).toBe('approval_required');
  });

  it('marks its session: content of a server that is not trusted, beside private content, makes sending require approval', async () => {
    const outside = await listenUpstream({ handle: async () => await Promise.resolve(new Response('ok')) });
    await service.call('PUT', '/v1/secrets/VAULT', { value: 'vault-token-0123456789', hosts: ['127.0.0.1'] });
    await addServer('vault', { trusted: true, headers: { authorization: { secret: 'VAULT' } } }, parts);
    const { turn, path } = await sessionWith(
      'marked',
      {},
      { tools: [{ tool: 'builtin.http_request' }], prompts: ['vault.plan', 'marked.review'] },
    );
    const verdict = async () => {
      const call = { tool: 'http_request', arguments: { url: outside.url, method: 'POST', body: 'a' } };
      return (await service.call('POST', '/v1/policy/test', { ...call, toolset: 'marked', session: path.split('/').at(-1) })).json.verdict;
    };
    const rules = [
      { decision: 'allow', kind: 'network', host: new URL(outside.url).host },
      { decision: 'allow', kind: 'untrusted', prompt: 'marked.*' },
    ];
    await withPolicy(rules, async () => {
      expect((await turn({ prompt: { name: 'review', arguments: { file: 'a' } } })).status).toBe(200);
      expect(await verdict()).toBe('allow');
      expect((await turn({ prompt: { name: 'plan' } })).status).toBe(200);
      expect(await verdict()).toBe('ask');
      // Its next request to the server that is not trusted would send private content there.
      expect((await turn({ prompt: { name: 'review', arguments: { file: 'a' } } })).json).toMatchObject({
        status: 403,
        reason: 'approval_required',
      });
    });
    outside.close();
  });
});
