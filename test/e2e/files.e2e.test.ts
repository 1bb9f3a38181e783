/**
 * The files of a session through the running service: over REST as bytes, and in a script that calls tools, waits, is killed and resumes.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeCorpus, readJsonLines } from '../fixtures.ts';
import { startRecordingUpstream, type RecordingUpstream } from './recording-upstream.ts';
import { shareService } from './shared-service.ts';

const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*' });
let upstream: RecordingUpstream;

beforeAll(async () => {
  upstream = await startRecordingUpstream();
  await service.call('PUT', '/v1/policy', { rules: [{ decision: 'allow', kind: 'network', host: new URL(upstream.url).host }] });
  const tools = [
    { tool: 'builtin.bash', name: 'bash' },
    { tool: 'builtin.http_request', name: 'look_up' },
    { tool: 'builtin.http_request', name: 'send_order', approval: 'always' },
    { tool: 'builtin.read_file', name: 'read_file' },
    { tool: 'builtin.write_file', name: 'write_file' },
  ];
  expect((await service.call('PUT', '/v1/toolsets/desk', { tools })).status).toBe(201);
});

afterAll(() => upstream.close());

const begin = async (): Promise<string> =>
  (await service.call('POST', '/v1/sessions', { model: 'rehearsal/default', toolset: 'desk' })).json.id;

function request(session: string, method: string, path: string, body?: Uint8Array | string, headers: Record<string, string> = {}) {
  return fetch(`${service.url}/v1/sessions/${session}/files/${path}`, {
    method,
    headers: { authorization: `Bearer ${service.key}`, ...headers },
    ...(body !== undefined && { body }),
  });
}

const bash = async (session: string, command: string) =>
  (await service.call('POST', `/v1/sessions/${session}/turns`, { input: `/bash ${JSON.stringify({ command })}` })).json;

const textOf = (turn: { toolCalls: { content: { text: string }[] }[] }): string => turn.toolCalls[0]?.content[0]?.text ?? '';

describe('files over REST', () => {
  it('round-trip as bytes, larger than a chunk of the store, and are visible to tools in between', async () => {
    const session = await begin();
    const bytes = Uint8Array.from({ length: 2_500_000 }, (_, index) => (index * 31 + (index >> 8)) & 255);
    const made = await request(session, 'PUT', 'data/a%20b.html', bytes, { 'if-none-match': '*', 'content-type': 'text/html' });
    expect(made.status).toBe(201);
    expect(textOf(await bash(session, 'wc -c < "data/a b.html"; cp "data/a b.html" copy'))).toContain('2500000');
    for (const path of ['data/a%20b.html', 'copy']) {
      const read = await request(session, 'GET', path);
      expect(Buffer.from(await read.arrayBuffer()).equals(Buffer.from(bytes)), path).toBe(true);
      expect(Object.fromEntries(read.headers)).toMatchObject({
        etag: made.headers.get('etag'),
        'content-type': 'application/octet-stream',
        'content-disposition': 'attachment',
        'x-content-type-options': 'nosniff',
      });
    }
    const listed = (await service.call('GET', `/v1/sessions/${session}/files?recursive=true`)).json;
    expect(listed.entries.map(({ name }: { name: string }) => name)).toEqual(['copy', 'data', 'data/a b.html']);
  });

  it('reject a write with an outdated ETag, also after a kill', async () => {
    const session = await begin();
    const first = String((await request(session, 'PUT', 'n', 'one')).headers.get('etag'));
    await bash(session, 'echo two >> n');
    expect((await request(session, 'PUT', 'n', 'mine', { 'if-match': first })).status).toBe(412);
    await service.restart();
    const now = await request(session, 'GET', 'n');
    expect(await now.text()).toBe('onetwo\n');
    const both = await Promise.all(
      ['a', 'b', 'c'].map((text) => request(session, 'PUT', 'n', text, { 'if-match': String(now.headers.get('etag')) })),
    );
    expect(both.map(({ status }) => status).sort()).toEqual([200, 412, 412]);
    expect((await request(session, 'DELETE', 'n', undefined, { 'if-match': first })).status).toBe(412);
    expect((await request(session, 'DELETE', 'n')).status).toBe(204);
  });
});

type Row = { id: string; class: string; cwd: string; input: string; expect: string; resolved?: string };

describeCorpus('security/path-cases.jsonl', (path) => {
  it('resolve paths as written in the URL, or return an error', async () => {
    const session = await begin();
    const rows = readJsonLines<Row>(path).filter(({ cwd, class: kind, input }) => {
      return cwd === '/workspace' && kind !== 'symlink' && input.isWellFormed() && !['', '.', '..'].includes(input);
    });
    for (const row of rows.filter((_, index) => index % 4 === 0)) {
      const answer = await request(session, 'PUT', encodeURIComponent(row.input), 'x');
      if (answer.status === 201 || answer.status === 200) {
        expect([row.id, row.expect === 'reject', ((await answer.json()) as { path: string }).path]).toEqual([row.id, false, row.resolved]);
      } else expect([404, 409, 422], row.id).toContain(answer.status);
    }
  });
});

describe('a script that calls tools', () => {
  it('waits for an approval at its second call, is killed, and resumes: the first call runs once, and files are as without the kill', async () => {
    const session = await begin();
    const call = (path: string) => JSON.stringify({ url: `${upstream.url}${path}`, method: 'POST', body: 'x' });
    const script = `echo made > made.txt
tool look_up --json '${call('/first')}' | grep -o 'effect number [0-9]*' > first.txt
tool write_file path=by-tool.txt content="$(cat made.txt)" > /dev/null
tool send_order --json '${call('/order')}' | grep -o 'effect number [0-9]*' > order.txt
echo after >> made.txt; cat made.txt by-tool.txt first.txt order.txt; tool read_file path=by-tool.txt`;
    const waiting = await bash(session, script);
    expect(waiting).toMatchObject({ status: 'waiting', pending: [{ kind: 'approval', canonical: 'builtin.http_request' }] });
    expect([upstream.countOf('/first'), upstream.countOf('/order')]).toEqual([1, 0]);
    expect((await request(session, 'GET', 'made.txt')).status).toBe(404);

    await service.restart();
    const [{ callId }] = (await service.call('GET', `/v1/sessions/${session}/approvals`)).json.items;
    expect((await service.call('POST', `/v1/sessions/${session}/approvals/${callId}`, { decision: 'approve' })).status).toBe(200);
    await expect.poll(async () => (await service.call('GET', `/v1/sessions/${session}`)).json.turn.status).toBe('completed');

    expect([upstream.countOf('/first'), upstream.countOf('/order')]).toEqual([1, 1]);
    const read = async (path: string) => await (await request(session, 'GET', path)).text();
    expect([await read('made.txt'), await read('by-tool.txt'), await read('first.txt'), await read('order.txt')]).toEqual([
      'made\nafter\n',
      'made',
      'effect number 1\n',
      'effect number 2\n',
    ]);
    const { items } = (await service.call('GET', `/v1/sessions/${session}/messages`)).json;
    const result = items.flatMap((item: { parts: object[] }) => item.parts).find((part: { type: string }) => part.type === 'tool-result');
    expect(result.content[0].text).toMatch(/^made\nafter\nmadeeffect number 1\neffect number 2\nmade\n/);
  });

  it('reads the results of tools through pipes', async () => {
    const session = await begin();
    const turn = await bash(
      session,
      `tool write_file path=a.json content='{"rows": [3, 4]}' > /dev/null; tool read_file path=a.json | jq '.rows | add'; tool read_file path=a.json --structured | jq -r 'type'; tool --list | cut -f1 | sort | tr '\\n' ' '`,
    );
    expect(textOf(turn)).toMatch(/^7\nstring\nlook_up read_file send_order write_file \nexit code: 0/);
  });
});

it('is stopped at a shell pattern that would take minutes, in the bundle as well, while other requests get responses', async () => {
  const session = await begin();
  const command = "seq 1 60000 | tr -d '\\n' > t; echo before; grep -cE '(([0-9])?){900}b' t";
  const [turn, health] = await Promise.all([bash(session, command), service.call('GET', '/healthz')]);
  expect(health.status).toBe(200);
  expect(turn.toolCalls[0]).toMatchObject({ isError: true, code: 'limit_reached' });
  expect(textOf(turn)).toMatch(/^before\n[\s\S]*too much to match at once/);
});

it('goes on after an expression of the shell that is too deep for the stack, or nearly', async () => {
  const session = await begin();
  // Compiled code needs less of the stack, so that a process that has run scripts can compute it.
  const turn = await bash(session, `echo before; eval "x=\\$(($(seq -s+ 1 150000)))"; echo after`);
  expect(textOf(turn)).toMatch(/^before\n(?:after\n|[\s\S]*call stack)/);
  expect(textOf(await bash(session, 'echo alive'))).toMatch(/^alive\n/);
});
