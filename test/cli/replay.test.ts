/** `moniker replay` against a service that responds with given replays: what it sends, prints and writes, and its exit codes. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { components } from '../../client/src/index.ts';
import { describeFailure } from '../../src/cli/failure.ts';
import { createProgram } from '../../src/cli/program.ts';
import { junitReport } from '../../src/cli/replay/junit.ts';
import { collectFailOn } from '../../src/cli/replay/run-replay.ts';
import { readProjectFile } from '../../src/local/launch/project-file.ts';
import { runCommand } from './run-command.ts';

type Replay = components['schemas']['Replay'];
type ReplayCase = components['schemas']['ReplayCase'];
type Detail = components['schemas']['ReplayCaseDetail'];

const facts = {
  calls: 1,
  steps: 2,
  inputTokens: 100,
  cachedInputTokens: 10,
  outputTokens: 20,
  cost: 0.01,
  durationMs: 1_500,
  approvals: 0,
};
const noCounts = { same: 0, different: 0, ended: 0, failed: 0, unreadable: 0, skipped: 0 };

function caseOf(number: number, status: ReplayCase['status'], more: Partial<ReplayCase> = {}): ReplayCase {
  const calls = status === 'different' ? { same: 1, changed: 1, added: 1, missing: 1 } : { same: 1, changed: 0, added: 0, missing: 0 };
  const reason = ['same', 'different'].includes(status) ? null : `why it is ${status}`;
  const known = { session: `session_${number}`, turn: 'turn_1', request: null, rules: [], recorded: facts, replayed: facts };
  return { number, status, reason, calls, ...known, ...more };
}

function replayOf(cases: readonly ReplayCase[], more: Partial<Replay> = {}): Replay {
  const counts = { ...noCounts };
  for (const { status } of cases) if (status !== 'waiting' && status !== 'running') counts[status] += 1;
  const rules = cases.flatMap((one) => one.rules);
  return {
    id: 'replay_1',
    createdAt: '2026-11-30T10:00:00.000Z',
    endedAt: '2026-11-30T10:01:00.000Z',
    keyId: 'key_1',
    status: 'completed',
    reason: null,
    suite: { name: 'support', version: 2 },
    with: {},
    unmatched: 'end',
    concurrency: 2,
    maxCost: null,
    cases: { total: cases.length, left: 0, done: cases.length, ...counts },
    rules: { passed: rules.filter(({ passed }) => passed).length, failed: rules.filter(({ passed }) => !passed).length },
    uncounted: 0,
    recorded: facts,
    replayed: { ...facts, cost: 0.002 },
    ...more,
  };
}

type Call = NonNullable<Detail['recordedSide']>['calls'][number];

const call = (canonical: string, args: Record<string, unknown>, more: Partial<Call> = {}): Call => ({
  requested: canonical.replaceAll('.', '_'),
  ...{ canonical, arguments: args, isError: false, code: null },
  ...more,
});

const detailOf = (one: ReplayCase): Detail => ({
  ...one,
  input: [{ type: 'text', text: 'Hello' }],
  recordedSide: { text: 'Yes', calls: [call('a.get', { id: 1 }), call('a.put', { id: 1, at: { x: 1 } }), call('a.end', {})] },
  replayedSide: {
    text: 'No',
    calls: [
      call('a.get', { id: 1 }),
      call('a.put', { id: 1, at: { x: 2 } }, { requested: 'put' }),
      call('b.more', {}, { isError: true, code: 'timeout' }),
    ],
  },
  differences: [
    { kind: 'same', recorded: 0, replayed: 0, paths: [] },
    { kind: 'changed', recorded: 1, replayed: 1, paths: ['/at/x'] },
    { kind: 'missing', recorded: 2, replayed: null, paths: [] },
    { kind: 'added', recorded: null, replayed: 2, paths: [] },
  ],
});

let folder = '';
let server: Server;
let url = '';
let cases: ReplayCase[] = [];
let replay = replayOf([]);
let sent: { route: string; body: unknown }[] = [];
/** The events wait for it. */
let onEvents: (response: ServerResponse) => void = () => undefined;

beforeAll(async () => {
  server = createServer((request, response) => void respond(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'moniker-test-'));
  sent = [];
  onEvents = endAll;
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));
const inFolder = (name: string) => join(folder, name);

function endAll(response: ServerResponse): void {
  for (const [index, { number, status }] of cases.entries()) writeEvent(response, { id: index + 1, type: 'replay-case', number, status });
  writeEvent(response, { id: cases.length + 1, type: 'replay-end', status: replay.status });
}

function writeEvent(response: ServerResponse, event: { id: number; type: string } & Record<string, unknown>): void {
  response.write(`id: ${event.id}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let text = '';
  for await (const part of request) text += String(part);
  const path = (request.url ?? '').split('?')[0] ?? '';
  const route = `${request.method} ${path}`;
  sent.push({ route, body: text === '' ? null : JSON.parse(text) });
  const json = (body: object, status = 200) => response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  if (route === 'POST /v1/replays') json({ ...replay, status: 'running', cases: { ...replay.cases, done: 0, ...noCounts } }, 202);
  else if (path.endsWith('/events')) onEvents(response.writeHead(200, { 'content-type': 'text/event-stream' }));
  else if (path.endsWith('/cases')) json({ items: cases, nextCursor: null });
  else if (path.includes('/cases/')) json(detailOf(cases[Number(path.split('/').at(-1)) - 1] ?? caseOf(0, 'failed')));
  else if (path === '/v1/replays') json({ items: [replay], nextCursor: null });
  else if (path.endsWith('/export'))
    response.writeHead(200, { 'content-type': 'application/x-ndjson' }).end('{"number":1}\n{"number":2}\n');
  else json(replay);
}

async function run(...parameters: string[]) {
  const environment = { MONIKER_URL: url, MONIKER_KEY: 'key', MONIKER_DATA_DIR: folder };
  const done = await runCommand(['replay', ...parameters], { environment, folder });
  return { ...done, exitCode: done.error === null ? 0 : describeFailure(done.error).exitCode };
}

function given(...given: ReplayCase[]): void {
  cases = given;
  replay = replayOf(cases);
}

const failedRule = { rule: { maxCalls: 1 }, passed: false, detail: '2 calls' };
const byName: Record<string, ReplayCase> = {
  same: caseOf(1, 'same'),
  different: caseOf(1, 'different'),
  ended: caseOf(1, 'ended'),
  failed: caseOf(1, 'failed'),
  unreadable: caseOf(1, 'unreadable', { recorded: null, replayed: null }),
  'a rule that does not hold': caseOf(1, 'same', { rules: [failedRule] }),
};

describe('the exit code', () => {
  const codes: Record<string, Record<string, number>> = {
    same: { '': 0, calls: 0, rules: 0, errors: 0, any: 0 },
    different: { '': 0, calls: 1, rules: 0, errors: 0, any: 1, 'rules,calls': 1 },
    ended: { '': 0, calls: 1, rules: 0, errors: 0, any: 1 },
    failed: { '': 0, calls: 0, rules: 0, errors: 1, any: 1 },
    unreadable: { '': 0, calls: 0, rules: 0, errors: 1, any: 1 },
    'a rule that does not hold': { '': 0, calls: 0, rules: 1, errors: 0, any: 1, 'calls, errors': 0 },
  };
  const rows = Object.entries(codes).flatMap(([name, byKind]) => Object.entries(byKind).map(([kind, code]) => ({ name, kind, code })));

  it.each(rows)('for $name with --fail-on "$kind" is $code', async ({ name, kind, code }) => {
    given(byName[name] ?? caseOf(1, 'same'), caseOf(2, 'same'));
    const { exitCode, stdout } = await run('--suite', 'support', ...(kind === '' ? [] : ['--fail-on', kind]));
    expect(exitCode).toBe(code);
    expect(stdout).toContain('Replay replay_1 of support@2: completed. 2 cases');
  });

  it.each([
    ['a replay that was stopped', { status: 'stopped', reason: 'maxCost was reached' }, /not completed: stopped \(maxCost was reached\)/],
    ['a replay that was cancelled', { status: 'cancelled' }, /not completed: cancelled/],
    ['a replay that failed', { status: 'failed', reason: 'internal' }, /not completed: failed/],
  ] as const)('for %s is 2, whatever was compared', async (_, more, message) => {
    given(caseOf(1, 'different'), caseOf(2, 'skipped'));
    replay = { ...replay, ...more };
    const { exitCode, stderr } = await run('--suite', 'support', '--fail-on', 'any');
    expect([exitCode, stderr]).toEqual([2, expect.stringMatching(message)]);
  });

  it('is 2 where nothing was compared, so that a check of nothing does not pass', async () => {
    given();
    expect(await run('--suite', 'support')).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('selects no recorded work') });
    for (const name of ['failed', 'unreadable']) {
      given(byName[name] ?? caseOf(1, 'failed'));
      const { exitCode, stderr } = await run('--suite', 'support', '--fail-on', 'calls');
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining(`None of the 1 cases could be compared: why it is ${name}`)]);
    }
  });

  it('is 2 for what the service refuses, and where it cannot be reached', async () => {
    const refused = createServer((_, response) =>
      response
        .writeHead(404, { 'content-type': 'application/problem+json' })
        .end('{"code": "not_found", "detail": "There is no suite none."}'),
    );
    await new Promise<void>((resolve) => refused.listen(0, '127.0.0.1', resolve));
    const address = `http://127.0.0.1:${(refused.address() as AddressInfo).port}`;
    const ask = () => run('--suite', 'none', '--fail-on', 'any', '--url', address);
    expect(await ask()).toMatchObject({ exitCode: 2, stderr: 'error: There is no suite none.\n' });
    await new Promise((resolve) => refused.close(resolve));
    expect(await ask()).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('cannot be reached') });
  });

  it.each([
    [['--fail-on', 'everything'], /--fail-on everything is not known/],
    [['--no-wait', '--junit', 'x.xml'], /does not go with --junit/],
    [['--no-wait', '--fail-on', 'calls'], /does not go with/],
    [['--concurrency', 'many'], /--concurrency is "many"/],
    [['--max-cost', ''], /--max-cost is ""/],
    [['--instructions-file', 'none.txt'], /none\.txt cannot be read/],
    [['--agent', 'none.yaml'], /none\.yaml cannot be read/],
    [['--agent', 'support@draft'], /this folder has no moniker\.yaml/],
    [['--unmatched', 'run'], /Allowed choices are end, run-safe/],
  ])('for %j is 2, and nothing is sent', async (parameters, message) => {
    const { exitCode, error, stderr } = await run('--suite', 'support', ...parameters);
    if (!(error instanceof Error && 'code' in error)) expect(exitCode).toBe(2);
    expect(stderr).toMatch(message);
    expect(sent).toEqual([]);
  });

  it('is 2 for a report that cannot be written', async () => {
    given(caseOf(1, 'same'));
    expect(await run('--suite', 'support', '--junit', inFolder('none/report.xml'))).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('report.xml cannot be written'),
    });
  });
});

describe('the request', () => {
  const body = () => sent.find(({ route }) => route === 'POST /v1/replays')?.body;

  it('has what the options replace', async () => {
    given(caseOf(1, 'same'));
    writeFileSync(inFolder('prompt.txt'), 'Be brief.');
    await run(
      ...[
        '--suite',
        'support',
        '--model',
        'cheap',
        '--agent',
        'support@3',
        '--toolset',
        'work',
        '--instructions-file',
        inFolder('prompt.txt'),
      ],
      ...['--unmatched', 'run-safe', '--concurrency', '4', '--max-cost', '0.5'],
    );
    expect(body()).toEqual({
      suite: 'support',
      with: { model: 'cheap', agent: 'support@3', toolset: 'work', instructions: 'Be brief.' },
      ...{ unmatched: 'run-safe', concurrency: 4, maxCost: 0.5 },
    });
  });

  it('has the agent and the toolset of the project file as drafts, with the variables filled in', async () => {
    given(caseOf(1, 'same'));
    writeFileSync(
      inFolder('moniker.yaml'),
      `secrets: { TOKEN: { value: '\${NEVER_SET}' } }
agents: { support: { model: '\${MODEL:-cheap}', instructions: 'Keep \${THIS}' } }
toolsets: { work: { tools: [{ tool: builtin.bash }] } }
`,
    );
    await run('--suite', 'support', '--agent', 'support@draft', '--toolset', 'work@draft');
    expect(body()).toMatchObject({
      // Only places that `moniker apply` fills in are filled in, and other documents of the file are not needed.
      with: { agent: { model: 'cheap', instructions: `Keep \${THIS}` }, toolset: { tools: [{ tool: 'builtin.bash' }] } },
    });
    expect(await run('--suite', 'support', '--agent', 'other@draft')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('It has: support'),
    });
    expect((await run('--suite', 'support', '--agent', '__proto__@draft')).exitCode).toBe(2);
  });

  it('has the document of a file', async () => {
    given(caseOf(1, 'same'));
    writeFileSync(inFolder('agent.json'), '{"model": "cheap"}');
    await run('--suite', 'support', '--agent', inFolder('agent.json'));
    expect(body()).toMatchObject({ with: { agent: { model: 'cheap' } } });
  });
});

describe('the output', () => {
  it('has a line for each case while it runs, then the cases to look at, the sums and the counts', async () => {
    given(caseOf(1, 'same'), caseOf(2, 'different', { rules: [failedRule] }));
    replay = { ...replay, cases: { ...replay.cases, left: 7 } };
    const { stdout, stderr } = await run('--suite', 'support');
    expect(stderr).toBe(
      'Replay replay_1: 2 cases; 7 more are left out by the limit of the suite.\ncase 1 of 2: same\ncase 2 of 2: different\n',
    );
    expect(stdout).toMatch(/^2 +different +session session_2 turn_1 +calls: 1 changed, 1 added, 1 missing; \{"maxCalls":1\}: 2 calls$/m);
    expect(stdout).toMatch(/^cost +0\.01 +0\.002$/m);
    expect(stdout).toContain('2 cases: 1 same, 1 different; 7 left out. Rules: 0 hold, 1 do not.');
  });

  it('as JSON has the replay and all cases', async () => {
    given(caseOf(1, 'same'), caseOf(2, 'different'));
    const { stdout } = await run('--suite', 'support', '--json');
    expect(JSON.parse(stdout)).toEqual({ replay, cases });
  });

  it('of --no-wait is the id, and the replay is left running', async () => {
    given(caseOf(1, 'same'));
    expect((await run('--suite', 'support', '--no-wait')).stdout).toBe('replay_1\n');
    expect(sent.map(({ route }) => route)).toEqual(['POST /v1/replays']);
  });

  it('continues after a connection that breaks', async () => {
    given(caseOf(1, 'same'), caseOf(2, 'same'));
    let connections = 0;
    onEvents = (response) => {
      connections += 1;
      if (connections > 1) return endAll(response);
      response.write('retry: 1\n\n');
      writeEvent(response, { id: 1, type: 'replay-case', number: 1, status: 'same' });
      setImmediate(() => response.destroy());
    };
    const { exitCode, stderr } = await run('--suite', 'support');
    expect([exitCode, stderr.match(/^case 1 of 2/gm)]).toEqual([0, ['case 1 of 2']]);
    expect(connections).toBe(2);
  });

  it('of Ctrl-C is a cancelled replay, with what was compared', async () => {
    given(caseOf(1, 'same'), caseOf(2, 'skipped'));
    onEvents = (response) => {
      writeEvent(response, { id: 1, type: 'replay-case', number: 1, status: 'same' });
      process.emit('SIGINT');
      replay = { ...replay, status: 'cancelled' };
      writeEvent(response, { id: 2, type: 'replay-end', status: 'cancelled' });
    };
    const { exitCode, stderr, stdout } = await run('--suite', 'support', '--fail-on', 'any');
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('not completed: cancelled')]);
    expect(stdout).toContain('1 same, 1 skipped');
    expect(sent.map(({ route }) => route)).toContain('POST /v1/replays/replay_1/cancel');
  });
});

describe('the other commands', () => {
  beforeEach(() => given(caseOf(1, 'same'), caseOf(2, 'different')));

  it('list, cancel and export replays', async () => {
    expect((await run('list', '--suite', 'support')).stdout).toMatch(/^replay_1 +support +completed +2 cases: 1 same, 1 different +2026/m);
    expect((await run('cancel', 'replay_1')).stdout).toBe('Replay replay_1: completed.\n');
    expect((await run('export', 'replay_1')).stdout).toBe('{"number":1}\n{"number":2}\n');
  });

  it('show a replay, and both sides of a case', async () => {
    expect((await run('show', 'replay_1')).stdout).toMatch(/^2 +different /m);
    expect((await run('show', 'replay_1', '2')).stdout).toBe(`Case 2, session session_2 turn_1: different
  calls: 1 changed, 1 added, 1 missing
  a.get {"id":1}
~ a.put (a_put, now put): /at/x
    recorded {"id":1,"at":{"x":1}}
    replayed {"id":1,"at":{"x":2}}
- a.end {}
+ b.more {} failed (timeout)
answer, recorded: Yes
answer, replayed: No
`);
    expect((await run('show', 'replay_1', '0')).exitCode).toBe(2);
  });
});

describe('the JUnit report', () => {
  const written = async (...parameters: string[]) => {
    await run('--suite', 'support', '--junit', inFolder('report.xml'), ...parameters);
    return readFileSync(inFolder('report.xml'), 'utf8');
  };

  it('has a test for each case, with the difference as text', async () => {
    given(caseOf(1, 'same'), caseOf(2, 'different'), caseOf(3, 'failed'));
    const xml = await written();
    expect(xml).toContain('<testsuite name="support" tests="3" failures="1" errors="1" skipped="0" time="4.500"');
    expect(xml).toContain('<testcase classname="support" name="case 1: session session_1 turn_1" time="1.500"/>');
    expect(xml).toContain('<failure message="calls: 1 changed, 1 added, 1 missing" type="calls">');
    expect(xml).toContain('~ a.put (a_put, now put): /at/x\n    recorded {&#34;id&#34;:1');
    expect(xml).toContain('<error message="why it is failed" type="errors">');
  });

  it('fails the tests that --fail-on names, and shows other differences as output', async () => {
    given(caseOf(1, 'different'), caseOf(2, 'failed'));
    const xml = await written('--fail-on', 'errors');
    expect(xml).toContain('failures="0" errors="1"');
    expect(xml).toMatch(/<system-out>calls: 1 changed/);
  });

  const hostile: Record<string, string> = {
    'the end of its element': '</failure></testcase><testcase name="forged"/>',
    'the end of a CDATA section and an entity': ']]><!ENTITY x SYSTEM "file:///etc/passwd">&x;&#0;',
    'the end of an attribute': '"><script>alert(1)</script>\' x="',
    'control characters': `${String.fromCharCode(...Array.from({ length: 32 }, (_, code) => code))}\u007f\u009b2J`,
    'lone surrogates, noncharacters and line separators': '\ud800 \udfff \ufffe \uffff \u202e \u0085 \u2028 \u{1fffe}',
    'a surrogate pair at each limit': `${'x'.repeat(498)}${'\u{1f600}'.repeat(20_000)}`,
    'a text that grows when it is escaped': '&'.repeat(40_000),
  };

  it.each(Object.entries(hostile))('is well-formed and has one test for each case, for %s', (_, text) => {
    const one = caseOf(1, 'different', { reason: text, session: text, rules: [{ ...failedRule, detail: text }] });
    const xml = junitReport(replayOf([one, caseOf(2, 'same')], { suite: { name: text, version: 1 }, id: text }), [one, caseOf(2, 'same')], {
      counted: collectFailOn('any'),
      textOf: () => text,
    });
    expect(wellFormedTags(xml)).toEqual({ testsuites: 1, testsuite: 1, properties: 1, property: 1, testcase: 2, failure: 1 });
    expect(xml.length).toBeLessThan(400_000);
  });

  /** Counts the elements. Throws for anything but elements, attributes, text and references to characters of XML 1.0. */
  function wellFormedTags(xml: string): Record<string, number> {
    const text = String.raw`(?:[\t\n\x20-\x25\x27-\x3b=?-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]|&#(?:9|10|3[49]|38|6[02]);)`;
    const tag = new RegExp(String.raw`<(?:(\/)([a-z-]+)|([a-z-]+)((?: [a-z]+="(?:(?!")${text})*")*)(\/?))>|(${text}+)`, 'uy');
    const counts: Record<string, number> = {};
    const open: string[] = [];
    tag.lastIndex = xml.indexOf('\n') + 1;
    while (tag.lastIndex < xml.length) {
      const at = tag.lastIndex;
      const [found, closes, closed = '', opened = '', , isEmpty] = tag.exec(xml) ?? [];
      if (found === undefined) throw new Error(`Not well-formed: ${JSON.stringify(xml.slice(at, at + 80))}`);
      if (closes !== undefined) expect(open.pop()).toBe(closed);
      else if (opened !== '') {
        counts[opened] = (counts[opened] ?? 0) + 1;
        if (isEmpty === '') open.push(opened);
      }
    }
    expect(open).toEqual([]);
    return counts;
  }

  it('is refused by its own check if it is not well-formed', () => {
    for (const broken of ['<a>', '<a b="<"/>', '<a>&x;</a>', '<a>\u001b</a>', '<a></b>'])
      expect(() => wellFormedTags(`\n${broken}`), broken).toThrow();
  });
});

describe('the workflow of the examples', () => {
  it('replays with options that exist, without secrets for pull requests of forks', () => {
    type Workflow = { on: object; permissions: object; jobs: { replay: { if: string; steps: { run?: string }[] } } };
    const file = join(import.meta.dirname, '../../examples/replay-check/replay.yml');
    const { on, permissions, jobs } = readProjectFile(file) as unknown as Workflow;
    expect([Object.keys(on), permissions]).toEqual([['pull_request'], { contents: 'read' }]);
    expect(jobs.replay.if).toBe('github.event.pull_request.head.repo.full_name == github.repository');
    const script = jobs.replay.steps.map(({ run = '' }) => run).join('\n');
    const [, options = ''] = /moniker-gateway replay ((?:.|\\\n)*?) \|/.exec(script) ?? [];
    const command = createProgram()
      .commands.find((one) => one.name() === 'replay')
      ?.commands.find((one) => one.name() === 'run');
    const { operands, unknown } = command?.parseOptions(options.replaceAll('\\\n', ' ').split(/\s+/)) ?? {};
    expect([operands, unknown]).toEqual([[], []]);
    expect(command?.opts()).toMatchObject({ suite: 'support', agent: 'support@draft', failOn: ['calls', 'rules', 'errors'] });
  });
});
