/** Approvals over REST and by link, and results of the caller's own tools. */
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { approvePage } from '../../src/http/pages/approve-page.ts';
import { escapeInvisible } from '../../src/http/pages/html.ts';
import { bodyOf, createHarness, demo, type Harness, problemIn } from './harness.ts';

const publicUrl = 'https://moniker.example/base/';
let h: Harness;
let id: string;
let turns: (input: string, body?: object) => Promise<Awaited<ReturnType<typeof bodyOf>>>;

beforeEach(async () => {
  h = createHarness({ MONIKER_PUBLIC_URL: publicUrl, MONIKER_LOG: 'debug' });
  await h.send('PUT', '/v1/toolsets/demo', demo);
  id = (await bodyOf(await h.send('POST', '/v1/sessions', { model: 'rehearsal/default', toolset: 'demo' }))).id;
  turns = async (input, body = {}) => await bodyOf(await h.send('POST', `/v1/sessions/${id}/turns`, { input, ...body }));
});

/** Requests an approval; returns the id of the call. */
const ask = async (): Promise<string> => (await turns('ask')).pending[0].callId;
const decide = (callId: string, body: unknown, headers?: Record<string, string>) =>
  h.send('POST', `/v1/sessions/${id}/approvals/${callId}`, body, headers);

describe('a turn that requires approval', () => {
  it('responds that it waits, and for what', async () => {
    const answer = await turns('ask');
    expect(answer).toMatchObject({
      status: 'waiting',
      reason: 'approval_required',
      pending: [{ kind: 'approval', canonical: 'builtin.bash' }],
    });
    expect(answer.pending[0].arguments).toEqual({ command: 'ask' });
    expect((await bodyOf(await h.send('GET', `/v1/sessions/${id}`))).turn).toMatchObject({ status: 'waiting' });
  });

  it('streams up to the waiting event, and is resumed from there with the same bytes', async () => {
    const answer = await h.send('POST', `/v1/sessions/${id}/turns`, { input: 'ask' }, { accept: 'text/event-stream' });
    const asking = await answer.text();
    expect(asking.match(/^event: .*$/gm)?.at(-1)).toBe('event: approval-required');
    const { callId } = JSON.parse(/^data: (.*"approval-required".*)$/m.exec(asking)?.[1] ?? '{}');
    expect((await decide(callId, { decision: 'approve' })).status).toBe(200);
    const whole = await (await h.send('GET', `/v1/sessions/${id}/events`)).text();
    expect(whole.startsWith(asking)).toBe(true);
    expect(whole.match(/^event: .*$/gm)?.at(-1)).toBe('event: turn-end');
  });

  it('lists the pending approval until it is decided', async () => {
    const callId = await ask();
    const list = async () => await bodyOf(await h.send('GET', `/v1/sessions/${id}/approvals`));
    expect(await list()).toEqual({ items: [expect.objectContaining({ callId, state: 'pending', session: id })], nextCursor: null });
    expect(await bodyOf(await decide(callId, { decision: 'deny' }))).toEqual({
      callId,
      decision: 'deny',
      turn: 'turn1',
      status: 'completed',
    });
    expect(await list()).toEqual({ items: [], nextCursor: null });
    expect(await bodyOf(await h.send('GET', `/v1/sessions/${id}/approvals/${callId}`))).toMatchObject({ state: 'denied' });
  });
});

describe('a decision on an approval', () => {
  it('may be repeated, and not changed', async () => {
    const callId = await ask();
    const both = await Promise.all([decide(callId, { decision: 'approve' }), decide(callId, { decision: 'approve' })]);
    expect(both.map(({ status }) => status)).toEqual([200, 200]);
    expect(h.sessions.all.get(id)?.events.filter(({ type }) => type === 'tool-result')).toHaveLength(1);
    const back = await decide(callId, { decision: 'deny' });
    expect([back.status, (await bodyOf(back)).code]).toEqual([409, 'conflict']);
  });

  it('requires the scope, and a remembered rule requires admin', async () => {
    const keys = await Promise.all([h.key({ scopes: ['chat'] }), h.key({ scopes: ['approve', 'chat'] })]);
    const [chat, approver] = keys as [Record<string, string>, Record<string, string>];
    expect((await decide('x', { decision: 'approve' }, chat)).status).toBe(403);
    expect((await decide('x', { decision: 'approve' }, approver)).status).toBe(404);
    id = (await bodyOf(await h.send('POST', '/v1/sessions', { model: 'rehearsal/default', toolset: 'demo' }, approver))).id;
    const callId = await ask();
    const remembering = await decide(callId, { decision: 'approve', remember: true }, approver);
    expect([remembering.status, (await bodyOf(remembering)).scope]).toEqual([403, 'admin']);
    expect(h.sessions.remembered).toEqual([]);
    expect((await decide(callId, { decision: 'approve', remember: 'session' }, approver)).status).toBe(200);
    await decide(await ask(), { decision: 'approve', remember: true });
    expect(h.sessions.remembered).toEqual([`${callId} session`, expect.stringMatching(/ true$/)]);
  });

  it.each([
    [{}, 'decision'],
    [{ decision: 'expire' }, 'decision'],
    [{ decision: 'approve', remember: 'yes' }, 'remember'],
    [{ decision: 'deny', remember: true }, 'remember'],
    [{ decision: 'deny', remember: 'session' }, 'remember'],
    [{ decision: 'approve', remember: 'workspace' }, 'remember'],
    [{ decision: 'approve', always: true }, 'always'],
  ])('is not %j', async (body, path) => {
    const answer = await decide(await ask(), body);
    expect([answer.status, (await bodyOf(answer)).issues[0].path]).toEqual([422, path]);
  });

  it('on an unknown call is not found', async () => {
    expect((await decide('call_99', { decision: 'approve' })).status).toBe(404);
    expect((await h.send('GET', `/v1/sessions/${id}/approvals/call_99`)).status).toBe(404);
  });
});

describe('a link', () => {
  const mint = async (callId: string): Promise<string> => {
    const made = await h.send('POST', `/v1/sessions/${id}/approvals/${callId}/link`);
    expect([made.status, made.headers.get('cache-control')]).toEqual([201, 'no-store']);
    const { url, expiresAt } = await bodyOf(made);
    expect(expiresAt).toBe('2026-01-02T00:00:00.000Z');
    expect(url).toMatch(/^https:\/\/moniker\.example\/base\/approve\/[A-Za-z0-9_-]+$/);
    return new URL(url).pathname.replace('/base', '');
  };
  const open = (path: string, method = 'GET', body?: unknown, headers: Record<string, string> = {}) =>
    h.send(method, path, body, { authorization: undefined, ...headers });
  const form = { 'content-type': 'application/x-www-form-urlencoded' };

  it('is not created without a public URL', async () => {
    for (const url of ['', 'moniker.example', 'javascript:alert(1)']) {
      h = createHarness({ MONIKER_PUBLIC_URL: url });
      id = (await bodyOf(await h.send('POST', '/v1/sessions', { model: 'rehearsal/default' }))).id;
      const answer = await h.send('POST', `/v1/sessions/${id}/approvals/${await ask()}/link`);
      const problem = await bodyOf(answer);
      expect([answer.status, problem.code]).toEqual([503, 'not_configured']);
      expect(problem.detail).toContain('MONIKER_PUBLIC_URL');
    }
  });

  it('shows the call to anyone who has it, without deciding it', async () => {
    const path = await mint(await ask());
    for (let reads = 0; reads < 3; reads += 1) {
      const page = await open(path);
      expect(page.status).toBe(200);
      expect(Object.fromEntries(page.headers)).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'x-robots-tag': 'noindex, nofollow, noarchive',
        'x-content-type-options': 'nosniff',
      });
      const policy = page.headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("form-action 'self'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/script-src|unsafe/);
      const text = await page.text();
      for (const part of [
        'builtin.bash',
        '>bash<',
        id,
        'It says &lt;b&gt;ask&lt;/b&gt;',
        '<pre dir="ltr">\nask</pre>',
        '2026-01-08 00:00 UTC',
        'viewport',
      ])
        expect(text).toContain(part);
      expect(text.match(/<button /g)).toHaveLength(2);
      expect(text).not.toContain('<script');
    }
    expect((await open(path, 'HEAD')).status).toBe(200);
    expect(await bodyOf(await open(path, 'GET', undefined, { accept: 'application/json' }))).toMatchObject({ state: 'pending' });
  });

  it('decides once, by the form of its page', async () => {
    const callId = await ask();
    const path = await mint(callId);
    const first = await open(path, 'POST', 'decision=approve', { ...form, origin: 'null', 'sec-fetch-site': 'same-origin' });
    expect([first.status, await first.text()]).toEqual([200, expect.stringContaining('<h1>Approved</h1>')]);
    expect((await bodyOf(await h.send('GET', `/v1/sessions/${id}/approvals/${callId}`))).state).toBe('approved');
    for (const method of ['POST', 'GET']) {
      const again = await open(path, method, method === 'POST' ? 'decision=deny' : undefined, method === 'POST' ? form : {});
      expect([again.status, again.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
      expect(await again.text()).toContain('This link is invalid');
    }
    expect((await bodyOf(await h.send('GET', `/v1/sessions/${id}/approvals/${callId}`))).state).toBe('approved');
  });

  it('is remembered for the session by its own button, or by JSON', async () => {
    const callIds = [await ask(), await ask()];
    const byForm = await open(await mint(callIds[0] ?? ''), 'POST', 'remember=session', form);
    expect([byForm.status, await byForm.text()]).toEqual([200, expect.stringContaining('allowed in this session from now on')]);
    const json = { accept: 'application/json', 'content-type': 'application/json' };
    const byJson = await open(await mint(callIds[1] ?? ''), 'POST', { decision: 'approve', remember: 'session' }, json);
    expect(byJson.status).toBe(200);
    expect(h.sessions.remembered).toEqual(callIds.map((callId) => `${callId} session`));
  });

  it('decides by JSON, too', async () => {
    const callId = await ask();
    const json = { accept: 'application/json', 'content-type': 'application/json' };
    const path = await mint(callId);
    const decided = await open(path, 'POST', { decision: 'deny' }, json);
    expect([decided.status, await bodyOf(decided)]).toEqual([200, { callId, decision: 'deny' }]);
    const again = await open(path, 'POST', { decision: 'deny' }, json);
    expect([again.status, again.headers.get('content-type'), (await bodyOf(again)).code]).toEqual([
      404,
      'application/problem+json',
      'not_found',
    ]);
  });

  it('reports that the call was decided elsewhere meanwhile', async () => {
    const callId = await ask();
    const path = await mint(callId);
    await decide(callId, { decision: 'deny' });
    const shown = await (await open(path)).text();
    expect(shown).toContain('This call is denied');
    expect(shown).not.toContain('<button');
    const late = await open(path, 'POST', 'decision=approve', form);
    expect([late.status, await late.text()]).toEqual([409, expect.stringContaining('This call was already decided')]);
    expect(await problemIn(await h.send('POST', `/v1/sessions/${id}/approvals/${callId}/link`))).toBe('409 conflict');
  });

  it('rejects a page of another site', async () => {
    const callId = await ask();
    const path = await mint(callId);
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: 'https://moniker.example.evil.example' },
      { origin: 'null', 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ]) {
      const refused = await open(path, 'POST', 'decision=approve', { ...form, ...headers } as Record<string, string>);
      expect([headers, refused.status]).toEqual([headers, 403]);
    }
    expect((await bodyOf(await h.send('GET', `/v1/sessions/${id}/approvals/${callId}`))).state).toBe('pending');
    expect((await open(path, 'POST', 'decision=approve', { ...form, origin: 'https://moniker.example' })).status).toBe(200);
  });

  it.each(['', 'decision=', 'decision=maybe', 'decision=approve&remember=true', 'decision=deny&remember=session', 'x'.repeat(5000)])(
    'is kept when its form says %s',
    async (text) => {
      const path = await mint(await ask());
      expect([413, 422]).toContain((await open(path, 'POST', text, form)).status);
      expect((await open(path, 'POST', 'decision=deny', form)).status).toBe(200);
    },
  );

  it('that is forged, truncated or expired is invalid, and calls no session', async () => {
    const path = await mint(await ask());
    const token = path.slice('/approve/'.length);
    const flipped = `${token[0] === 'A' ? 'B' : 'A'}${token.slice(1)}`;
    for (const forged of [token.slice(0, -1), flipped, `${token}A`, token.slice(0, 8), 'x', 'x'.repeat(10_000), '%00', 'a%2Fb']) {
      const answer = await open(`/approve/${forged}`);
      expect([forged, answer.status]).toEqual([forged, 404]);
    }
    await h.clock.advance(24 * 60 * 60_000);
    const late = await open(path);
    expect([late.status, await late.text()]).toEqual([404, expect.stringContaining('expired')]);
    expect((await open(path, 'POST', 'decision=approve', form)).status).toBe(404);
  });

  it('is in no log line, no error and no event', async () => {
    const callId = await ask();
    const path = await mint(callId);
    const token = path.slice('/approve/'.length);
    const answers = [
      await open(path),
      await open(`${path}/more`),
      await open(`${path}x`),
      await open(path, 'PUT', 'x'),
      await open(path, 'POST', 'decision=approve', { ...form, origin: 'https://evil.example' }),
      await open(path, 'POST', 'decision=approve', form),
      await open(path, 'POST', 'decision=approve', { ...form, accept: 'application/json' }),
      await open(path.replace('/approve/', '/Approve%2f')),
      await open(path.replace('/approve/', '/approve%252F')),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 404, 404, 405, 403, 200, 404, 404, 404]);
    const said = JSON.stringify([h.log.lines, await Promise.all(answers.map((answer) => answer.text())), h.sessions.all.get(id)?.events]);
    expect(h.log.lines.length).toBeGreaterThan(3);
    expect(said).not.toContain(token.slice(0, 12));
    expect(said).not.toContain('nonce1');
  });
});

describe('the page', () => {
  const view = (args: Record<string, unknown>, reason = 'It asks') => ({
    callId: 'call_1',
    session: 's',
    turn: null,
    canonical: 'builtin.bash',
    entry: 'bash',
    arguments: args,
    reason,
    state: 'pending' as const,
    askedAt: '2026-01-01T00:00:00.000Z',
    expiresAt: '2026-01-08T00:00:00.000Z',
  });

  it('shows every argument completely, text unchanged and other values as JSON', () => {
    const long = 'word '.repeat(50_000);
    const page = approvePage(view({ command: 'line 1\nline 2', count: 7, nested: { deep: ['x'] }, empty: '', long }));
    for (const part of ['line 1\nline 2', '\n7</pre>', '&quot;deep&quot;', 'text, empty', long]) expect(page).toContain(part);
    expect(approvePage(view({}))).toContain('None.');
  });

  it('is not many times larger than its content, however deeply nested', () => {
    let deep: unknown = Array.from({ length: 400_000 }, () => 1);
    for (let depth = 0; depth < 60; depth += 1) deep = [deep];
    const said = JSON.stringify(deep);
    const page = approvePage(view({ deep }));
    expect(page).toContain(said);
    expect(page.length).toBeLessThan(said.length + 10_000);
  });

  it.each([
    ['</pre><script>alert(1)</script>', '&lt;/pre&gt;&lt;script&gt;'],
    ['<form action="https://evil.example">', '&lt;form action='],
    ['safe\u202Etxt.exe', 'U+202E'],
    ['a\u200Bb', 'U+200B'],
    ['rm -rf /\r# nothing', 'U+000D'],
    ['\u001B[2J', 'U+001B'],
    ['\u0000', 'U+0000'],
    ['a\u2028b', 'U+2028'],
    ['a\u00A0b', 'U+00A0'],
    ['\u{E0041}', 'U+E0041'],
    ['\u3164', 'U+3164'],
    ['\uD800', 'U+D800'],
  ])('shows %j as code points, in a name, a text and the reason', (text, shown) => {
    for (const page of [approvePage(view({ [text]: 1 })), approvePage(view({ a: text })), approvePage(view({}, text))]) {
      expect(page).toContain(shown);
      expect(page).not.toContain('<script>');
      expect(page.match(/<form/g)).toHaveLength(1);
    }
    // JSON has escapes for some of them; others appear as the character itself.
    if (shown.startsWith('U+')) expect(approvePage(view({ a: [text] }))).not.toContain(text);
  });

  it('has a button for the session if the approval can be remembered', () => {
    expect(approvePage(view({}))).not.toContain('remember');
    const page = approvePage({ ...view({}), canRemember: true });
    expect(page).toContain('<button name="remember" value="session">Approve for this session</button>');
    expect(approvePage({ ...view({}), canRemember: true, state: 'approved' })).not.toContain('remember');
  });

  it('writes no markup or invisible characters, for any input', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const html = escapeInvisible(text);
        const bare = html.replaceAll(/<span class="hidden-character">[^<]*<\/span>/g, '');
        expect(bare).not.toMatch(/[<>"']/);
        expect(html).not.toMatch(/(?![\t\n ])[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/u);
      }),
    );
  });

  it('shows the length of a long run of invisible characters', () => {
    expect(escapeInvisible(`a${'\u200B'.repeat(1000)}b`).length).toBeLessThan(300);
    expect(escapeInvisible('\u200B'.repeat(1000))).toContain('and 984 more');
  });
});

describe('results of the caller’s own tools', () => {
  const send = (body: unknown) => h.send('POST', `/v1/sessions/${id}/tool-results`, body);
  const tools = [{ name: 'get_position', description: 'Where', inputSchema: { type: 'object' } }];
  const askClient = async (): Promise<string> => (await turns('client', { tools })).pending[0].callId;

  it('let the turn continue', async () => {
    const waiting = await turns('client', { tools });
    expect(waiting).toMatchObject({
      status: 'waiting',
      reason: 'client_tool_required',
      pending: [{ kind: 'client-tool', canonical: 'client.get_position' }],
    });
    const { callId } = waiting.pending[0];
    const taken = await send({ callId, content: '47° N' });
    expect([taken.status, await bodyOf(taken)]).toEqual([200, { turn: 'turn1', status: 'running', pending: [] }]);
    expect((await send({ callId, content: '47° N' })).status).toBe(200);
    expect(await problemIn(await send({ callId, content: '48° N' }))).toBe('409 conflict');
    expect((await bodyOf(await h.send('GET', `/v1/sessions/${id}`))).turn.status).toBe('completed');
  });

  it('are text or blocks, one or several', async () => {
    const content = [
      { type: 'text', text: 'a' },
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
    ];
    expect((await send({ callId: await askClient(), content, isError: true })).status).toBe(200);
    expect((await send({ results: [{ callId: await askClient(), content: '' }] })).status).toBe(200);
    const results = [...(h.sessions.all.get(id)?.waiting.clientCalls.values() ?? [])].map(({ result }) => result);
    expect(results).toEqual([
      expect.objectContaining({ content, isError: true }),
      expect.objectContaining({ content: [{ type: 'text', text: '' }], isError: false }),
    ]);
  });

  it.each([
    [{}, ''],
    [{ callId: 'x' }, 'content'],
    [{ callId: 'x', content: 7 }, 'content'],
    [{ callId: 'x', content: [{ type: 'video' }] }, 'content'],
    [{ callId: 'x', content: 'y', extra: 1 }, 'extra'],
    [{ results: [] }, 'results'],
    [{ callId: 'x', input: { k: { action: 'maybe' } } }, 'input.k.action'],
    [{ callId: 'x', input: { k: { action: 'accept', content: 7 } } }, 'input.k.content'],
    [{ callId: 'x', input: {}, round: 0 }, 'round'],
    [{ results: [{ callId: 'x' }] }, 'results[0].content'],
  ])('are not %j', async (body, path) => {
    const answer = await send(body);
    expect(answer.status).toBe(422);
    expect((await bodyOf(answer)).issues[0].path.startsWith(path)).toBe(true);
  });

  it('for calls that do not wait are not found, nor is input that was not requested', async () => {
    expect((await send({ callId: 'call_99', content: 'x' })).status).toBe(404);
    expect((await send({ callId: 'call_99', input: { k: { action: 'accept', content: {} } }, round: 1 })).status).toBe(404);
  });
});

describe('tools of the caller', () => {
  const tool = { name: 'get_position', description: 'Where', inputSchema: { type: 'object' } };
  const openAi = {
    type: 'function',
    function: { name: 'get_position', description: 'Where', parameters: { type: 'object' }, strict: true },
  };

  it('come with the turn or the session, in either spelling', async () => {
    await turns('hello', { tools: [openAi] });
    const made = await bodyOf(await h.send('POST', '/v1/sessions', { model: 'rehearsal/default', tools: [openAi] }));
    for (const body of [{ input: 'x' }, { input: 'x', tools: [] }, { input: 'x', tools: [tool] }]) {
      await h.send('POST', `/v1/sessions/${made.id}/turns`, body);
    }
    const strict = { ...tool, strict: true };
    expect(h.sessions.all.get(made.id)?.setup.tools).toEqual([strict]);
    expect(h.sessions.submitted.map(({ plan }) => plan.clientTools)).toEqual([[strict], [strict], undefined, [tool]]);
  });

  it('replace a server tool with the same name, unless the agent is strict', async () => {
    const tools = [tool, { name: 'Terminal' }];
    const replaced = await h.send('POST', `/v1/sessions/${id}/turns`, { input: 'x', tools });
    expect([replaced.status, replaced.headers.get('x-moniker-replaced-tools')]).toEqual([200, 'builtin.bash=Terminal']);
    h.sessions.submitted.length = 0;
    await h.send('PUT', '/v1/agents/strict', { model: 'rehearsal/default', toolset: 'demo', clientTools: 'strict' });
    const strict = await bodyOf(await h.send('POST', '/v1/sessions', { agent: 'strict' }));
    for (const [path, body] of [
      [`/v1/sessions/${strict.id}/turns`, { input: 'x', tools }],
      ['/v1/sessions', { agent: 'strict', tools }],
    ] as const) {
      const answer = await h.send('POST', path, body);
      const { code, issues } = await bodyOf(answer);
      expect([answer.status, code, issues]).toEqual([
        422,
        'invalid_request',
        [{ path: 'tools[1].name', message: expect.stringMatching(/"Terminal".*builtin\.bash.*client\.Terminal/) }],
      ]);
    }
    expect(h.sessions.submitted).toEqual([]);
  });

  it.each([
    [[{ name: 'a b' }], 'tools[0].name'],
    [[{ type: 'function', function: { name: 'ü' } }], 'tools[0].function.name'],
    [[{ type: 'function' }], 'tools[0].function'],
    [[{ name: 'a', parameters: {} }], 'tools[0].parameters'],
    [Array.from({ length: 1001 }, (_, index) => ({ name: `t${index}` })), 'tools'],
  ])('are not %j', async (tools, path) => {
    const answer = await h.send('POST', `/v1/sessions/${id}/turns`, { input: 'x', tools });
    expect([answer.status, (await bodyOf(answer)).issues[0].path]).toEqual([422, path]);
  });
});

describe('a direct call that requires approval', () => {
  const call = (body: object = {}) =>
    h.send('POST', '/v1/toolsets/demo/calls', { name: 'shell', arguments: { command: 'ask' }, session: id, ...body });

  it('is approved under its id and sent again, and runs once', async () => {
    const asked = await bodyOf(await call());
    expect(asked).toMatchObject({ isError: true, code: 'approval_required', callId: expect.any(String), pending: [{ kind: 'approval' }] });
    expect((await bodyOf(await call())).callId).toBe(asked.callId);
    expect(await bodyOf(await decide(asked.callId, { decision: 'approve' }))).toMatchObject({ turn: null, status: null });
    expect(await bodyOf(await call())).toMatchObject({ isError: false });
    expect(await bodyOf(await call())).toMatchObject({ code: 'approval_required' });
    expect(h.sessions.ran).toHaveLength(1);
  });
});
