/**
 * Hostile code, scripts, paths and patterns through the running service, row by row: each ends as its class requires, and the service
 * still responds and runs turns afterwards. The tests of the sandbox, the shell and the policy cover the details of each row.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isInside, resolvePath } from '../../src/core/text/path.ts';
import { describeCorpus, readJson, readJsonLines } from '../fixtures.ts';
import { startScriptedProvider, type ScriptedProvider } from './scripted-provider.ts';
import type { Answer } from './service.ts';
import { shareService } from './shared-service.ts';
import { maxSandboxStretchMs } from '../../src/sandbox/meter.ts';
import { onBusyMachine } from '../busy-machine.ts';
import { printStatistics } from '../statistics.ts';

type Called = Answer['json'];
/** `class` decides which outcome is expected. */
type Row = { id: string; class: string };

const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: 'providers:127.0.0.1:*' });

const put = async (path: string, body: unknown): Promise<Answer> => {
  const answer = await service.call('PUT', path, body);
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer;
};
const makeSession = async (): Promise<string> =>
  (await service.call('POST', '/v1/sessions', { model: 'rehearsal/default', toolset: 'desk' })).json.id;
const file = async (session: string, path: string, body?: string): Promise<Response> =>
  await fetch(`${service.url}/v1/sessions/${session}/files/${path}`, {
    method: body === undefined ? 'GET' : 'PUT',
    headers: { authorization: `Bearer ${service.key}` },
    ...(body !== undefined && { body }),
  });
const call = async (toolset: string, name: string, args: object, session?: string): Promise<Called> => {
  const answer = await service.call('POST', `/v1/toolsets/${toolset}/calls`, { name, arguments: args, ...(session && { session }) });
  expect(answer.status, answer.text).toBe(200);
  return answer.json;
};

beforeAll(async () => {
  const tools = ['bash', 'read_file', 'write_file', 'delete_file', 'list_directory', 'edit_file', 'run_code', 'http_request'];
  await put('/v1/toolsets/desk', { tools: tools.map((name) => ({ tool: `builtin.${name}`, name })) });
});

/** Checks that the process responds and that a conversation with a tool call completes. */
async function isWell(): Promise<void> {
  expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
  const turn = await service.call('POST', `/v1/sessions/${await makeSession()}/turns`, { input: '/bash echo well' });
  expect(turn.json).toMatchObject({ status: 'completed', toolCalls: [{ isError: false }] });
}

/** Runs at most `atOnce` items concurrently; the first error rejects. */
async function each<Item>(items: readonly Item[], atOnce: number, work: (item: Item) => Promise<void>): Promise<void> {
  const left = [...items];
  const worker = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

/** Counts rows by class and prints the summary. */
function createTally(name: string) {
  const faults: string[] = [];
  const exceptions: string[] = [];
  let rows = 0;
  return {
    count(row: Pick<Row, 'id'>, fault: string | null, exception?: string): void {
      rows += 1;
      if (exception !== undefined) exceptions.push(`${row.id} (${exception})`);
      else if (fault !== null) faults.push(`${row.id}: ${fault}`);
    },
    faults,
    print: () =>
      printStatistics(
        `${name} through the service: ${rows} rows, ${rows - faults.length - exceptions.length} as expected, exceptions: ${exceptions.join(', ') || 'none'}`,
      ),
  };
}

describeCorpus('security/sandbox-hostile.jsonl', (path) => {
  type CodeRow = Row & { code: string; expect: string };
  const rows = readJsonLines<CodeRow>(path);
  const tally = createTally('sandbox-hostile');
  const nameOf = ({ id }: Row): string => `row_${id.replaceAll('-', '_')}`;
  /** The refusal of each row that could not be stored as a tool. */
  const refused = new Map<string, string>();
  const uses = ['builtin.read_file', 'builtin.write_file', 'builtin.http_request'];

  const exceptions = new Map([
    ['exhaust-099', 'an array literal defines its items, so that setter never runs'],
    ['exhaust-104', 'there is no setTimeout, so there is nothing to exhaust'],
  ]);

  beforeAll(async () => {
    for (const name of ['self', 'other']) await put(`/v1/tools/made.${name}`, { description: 'One more.', implementation: 'return 1' });
    await each(rows, 4, async (row) => {
      const own = row.id === 'tool-calls-107' ? 'made.self' : `made.${nameOf(row)}`;
      const body = { description: row.id, implementation: row.code, ...(!/tools\.(self|other)/.test(row.code) && { uses }) };
      const written = await service.call('PUT', `/v1/tools/${own}`, body);
      if (written.status >= 300) {
        expect(written.status, written.text).toBe(422);
        refused.set(row.id, written.text);
      }
    });
    const made = rows.filter(({ id }) => !refused.has(id)).map((row) => ({ tool: `made.${nameOf(row)}`, name: nameOf(row) }));
    const beneath = ['read_file', 'write_file', 'http_request'].map((name) => ({ tool: `builtin.${name}`, name }));
    await put('/v1/toolsets/hostile', { tools: [...made, ...beneath] });
  });

  const run = async (row: CodeRow): Promise<Called | null> => (refused.has(row.id) ? null : await call('hostile', nameOf(row), {}));

  it.each(['ambient', 'escape', 'wrapper', 'results', 'tool-calls'])('of class %s has the expected outcome', async (kind) => {
    await each(
      rows.filter((row) => row.class === kind),
      4,
      async (row) => tally.count(row, faultOf(row, await run(row), refused.get(row.id) ?? '')),
    );
    await isWell();
    expect(tally.faults).toEqual([]);
  });

  it('that exhausts a resource is stopped, and the service responds after each', async () => {
    const exhausting = rows.filter((row) => row.class === 'exhaust');
    for (const row of exhausting) {
      tally.count(row, faultOf(row, await run(row), refused.get(row.id) ?? ''), exceptions.get(row.id));
      expect((await fetch(`${service.url}/healthz`)).status, row.id).toBe(200);
    }
    await isWell();
    expect(tally.faults).toEqual([]);
  });

  it('cannot call itself through another tool', async () => {
    const other = await service.call('PUT', '/v1/tools/made.other', {
      description: 'Another.',
      implementation: 'return await tools.row_tool_calls_108({})',
    });
    expect([other.status, other.text]).toEqual([422, expect.stringContaining('made.other → made.row_tool_calls_108 → made.other')]);
  });

  afterAll(tally.print);

  const hostWords = /"(process|require|Deno|Bun|fetch|WebSocket|caches|navigator|WebAssembly|SharedArrayBuffer|env)"/;

  /** Returns null for the expected outcome, otherwise a description. `called` is null when the tool was rejected. */
  function faultOf(row: CodeRow, called: Called | null, refusal: string): string | null {
    const is = (holds: boolean): string | null => (holds ? null : `${refusal}${JSON.stringify(called).slice(0, 300)}`);
    const text: string = called?.content?.[0]?.text ?? '';
    switch (row.class) {
      case 'ambient':
        return is(called?.isError === false && text === 'undefined');
      case 'escape':
        return is(called === null || called.isError || !hostWords.test(text));
      case 'wrapper':
        return is(called === null || typeof called.isError === 'boolean');
      case 'exhaust':
        return is(called === null || (called.isError && ['timeout', 'limit_reached', 'tool_error'].includes(called.code)));
      case 'results':
        return is(called === null || called.canonical === `made.${nameOf(row)}`);
      case 'tool-calls':
        return is(policyHolds(row, called, text, refusal));
      default:
        return `no rule for ${row.class}`;
    }
  }

  /** Scratch files are empty, so reads find nothing; other attempts are rejected, or have no effect outside the code. */
  function policyHolds({ id }: CodeRow, called: Called | null, text: string, refusal: string): boolean {
    // The code returns the failed result of its inner call, so the outer call fails in the same way.
    const fails = (words: string): boolean => called?.isError === true && text.includes(words);
    switch (id) {
      case 'tool-calls-105':
      case 'tool-calls-106':
        return called?.code === 'limit_reached';
      case 'tool-calls-107':
        return called === null && refusal.includes('made.self → made.self');
      case 'tool-calls-108':
        return called?.isError === false && text === '1';
      case 'tool-calls-109':
      case 'tool-calls-110':
        return text === '1';
      case 'tool-calls-112':
        return fails('/etc/passwd');
      case 'tool-calls-113':
        return fails('169.254.169.254');
      case 'tool-calls-114':
      case 'tool-calls-123':
        // The tool is not one that it may call: it is rejected, or fails at the call.
        return called === null || called.isError === true;
      case 'tool-calls-116':
        return ['read_file', 'write_file', 'http_request'].every((name) => text.includes(`"${name}"`)) && !text.includes('bash');
      case 'tool-calls-118':
        return text === '{}';
      case 'tool-calls-119':
        return text === '[1]';
      case 'tool-calls-120':
        return text === '{"a":1}';
      case 'tool-calls-121':
      case 'tool-calls-127':
        return fails('/workspace/a');
      case 'tool-calls-122':
        return fails('/workspace/a') || fails('confirmed');
      case 'tool-calls-124':
      case 'tool-calls-125':
      case 'tool-calls-126':
        return called?.isError === true && ['invalid_json', 'invalid_arguments'].includes(called.code);
      default:
        return called === null || typeof called.isError === 'boolean';
    }
  }
});

describeCorpus('security/bash-hostile.jsonl', (path) => {
  type ShellRow = Row & { command: string };
  const rows = readJsonLines<ShellRow>(path);
  const tally = createTally('bash-hostile');
  const given = ['a.txt', 'b.txt', 'd/x'];

  /** Runs the command in a session with files of the caller; `intact`: whether all of them are unchanged. */
  async function run({ command }: ShellRow): Promise<{ called: Called; intact: boolean }> {
    const session = await makeSession();
    await Promise.all(given.map((name) => file(session, name, name)));
    const called = await call('desk', 'bash', { command, timeout: 1_000 }, session);
    const texts = await Promise.all(given.map(async (name) => await (await file(session, name)).text()));
    return { called, intact: texts.every((text, index) => text === given[index]) };
  }

  const moving = new Map([['overwrite-074', 'moved within the workspace, where nothing of it is lost']]);
  let waiting = 0;
  const ends = ['timeout', 'limit_reached', 'tool_error'];

  const faultOf = (row: ShellRow, called: Called, intact: boolean): string | null => {
    const exitCode = called.structuredContent?.exitCode;
    const waits = called.code === 'approval_required' && called.callId !== undefined;
    waiting += Number(waits);
    const holds = ((): boolean => {
      switch (row.class) {
        case 'delete':
        case 'overwrite':
        case 'outside':
          return intact;
        case 'privileged':
          return intact && (waits || called.isError || exitCode !== 0 || row.id === 'privileged-191');
        case 'network':
          return intact && (waits || called.isError || exitCode !== 0);
        case 'disclosure':
          return !/root:|node_modules|workerd|MONIKER_/.test(JSON.stringify(called));
        case 'exhaust':
          return called.isError ? waits || ends.includes(called.code) : called.structuredContent !== undefined;
        case 'harmless':
          return intact && called.code === undefined;
        default:
          return false;
      }
    })();
    return holds ? null : `${row.command}: ${JSON.stringify(called).slice(0, 300)}`;
  };

  it.each(['delete', 'overwrite', 'outside', 'privileged', 'network', 'disclosure', 'harmless'])(
    'of class %s has the expected outcome',
    async (kind) => {
      await each(
        rows.filter((row) => row.class === kind),
        4,
        async (row) => {
          const { called, intact } = await run(row);
          tally.count(row, faultOf(row, called, intact), moving.get(row.id));
        },
      );
      await isWell();
      expect(tally.faults).toEqual([]);
    },
  );

  it('that exhausts a resource is stopped, and the service responds after each', async () => {
    const exhausting = rows.filter((row) => row.class === 'exhaust');
    await each(exhausting, 3, async (row) => {
      const { called } = await run(row);
      tally.count(row, faultOf(row, called, true));
      expect((await fetch(`${service.url}/healthz`)).status, row.id).toBe(200);
    });
    await isWell();
    expect(tally.faults).toEqual([]);
  });

  afterAll(() => {
    tally.print();
    printStatistics(`bash-hostile through the service: ${waiting} of them require approval`);
    // Nearly all commands that delete or overwrite the given files work in this shell.
    expect(waiting).toBeGreaterThan(60);
  });
});

describeCorpus('security/path-cases.jsonl', (path) => {
  type PathRow = Row & { cwd: string; input: string; expect: string };
  const cases = readJsonLines<PathRow>(path).filter(({ cwd }) => cwd === '/workspace');
  const tally = createTally('path-cases and path-payloads');

  it('resolves to the path that it names, by tools and over REST, and no name breaks a request', async () => {
    const payloads = Object.values(
      readJson<{ sources: Record<string, string[]> }>(path.replace('path-cases.jsonl', 'path-payloads.json')).sources,
    )
      .flat()
      .filter((_payload, index) => index % 12 === 0);
    const inputs = [
      ...cases.map(({ id, input }) => ({ id, input })),
      ...payloads.map((input, index) => ({ id: `payload-${index * 12}`, input })),
    ];
    const session = await makeSession();
    await each(inputs, 4, async ({ id, input }) => {
      const written = await call('desk', 'write_file', { path: input, content: 'x' }, session);
      const resolved = resolvePath(input);
      const mayBe = resolved.ok && isInside(resolved.path) && resolved.path !== '/workspace';
      const asks = written.code === 'approval_required';
      const isRight = written.isError ? !mayBe || !asks : mayBe && written.structuredContent.path === resolved.path;
      const rest = await file(session, input.toWellFormed().split('/').map(encodeURIComponent).join('/'));
      const text = await rest.text();
      const leaks = /node_modules|workerd|root:x|\/home\/|at [A-Za-z]+ \(/.test(`${JSON.stringify(written)} ${text}`);
      tally.count({ id }, isRight && rest.status < 500 && !leaks ? null : `${JSON.stringify(written).slice(0, 200)} ${rest.status}`);
    });
    const { content } = await call('desk', 'bash', { command: 'ls -a / | sort' }, session);
    expect(
      content[0].text.split('\n').filter((name: string) => !/^(\.|\.\.|bin|dev|proc|usr|tmp|workspace|exit code: 0)$/.test(name)),
    ).toEqual([]);
    await isWell();
    expect(tally.faults).toEqual([]);
  });

  afterAll(tally.print);
});

describeCorpus('security/regex-hostile.jsonl', (path) => {
  type RegexRow = {
    id: string;
    pattern: string | { generate: [before: string, times: number, middle: string, after: string, timesAfter: number] };
    attack: { unit: string; times: number; tail: string };
  };
  const tally = createTally('regex-hostile');

  it('does not block other requests: neither in the shell nor in code', async () => {
    await each(readJsonLines<RegexRow>(path), 2, async ({ id, pattern: given, attack }) => {
      const pattern =
        typeof given === 'string'
          ? given
          : given.generate[0].repeat(given.generate[1]) + given.generate[2] + given.generate[3].repeat(given.generate[4]);
      const text = attack.unit.repeat(attack.times) + attack.tail;
      const code = `return new RegExp(${JSON.stringify(pattern)}).test(${JSON.stringify(attack.unit)}.repeat(${attack.times}) + ${JSON.stringify(attack.tail)})`;
      const inCode = await call('desk', 'run_code', { code });
      const session = await makeSession();
      await Promise.all([file(session, 'pattern', pattern), file(session, 'attack', text)]);
      const inShell = await call('desk', 'bash', { command: 'grep -E -f pattern attack | head -c 100', timeout: 30_000 }, session);
      expect((await fetch(`${service.url}/healthz`)).status, id).toBe(200);
      const bounded = ['timeout', 'limit_reached', 'tool_error', undefined];
      tally.count(
        { id },
        bounded.includes(inCode.code) && inShell.code !== 'timeout' ? null : JSON.stringify([inCode, inShell]).slice(0, 300),
      );
    });
    await isWell();
    expect(tally.faults).toEqual([]);
  });

  afterAll(tally.print);
});

describe('code with an endless loop', () => {
  let provider: ScriptedProvider;
  beforeAll(async () => {
    provider = await startScriptedProvider();
    await put('/v1/providers/scripted', { kind: 'openai-compatible', baseUrl: provider.baseUrl, apiKey: 'k' });
    await put('/v1/tools/made.spin', { description: 'Spins.', implementation: 'while(true){}' });
    await put('/v1/tools/made.spin_on', {
      description: 'Spins in steps.',
      implementation: 'for(;;){ for(let n=0;n<200000;n++); await null }',
    });
    await put('/v1/toolsets/spinning', { tools: [{ tool: 'made.spin' }, { tool: 'made.spin_on' }] });
  });
  afterAll(() => provider.close());

  it('ends with a clear error while the stream of another session continues', async () => {
    const { id } = (await service.call('POST', '/v1/sessions', { model: 'scripted/endless' })).json;
    const stop = new AbortController();
    const response = await fetch(`${service.url}/v1/sessions/${id}/turns`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ input: 'Continue' }),
      signal: stop.signal,
    });
    const arrived: number[] = [];
    const reading = (async () => {
      for await (const _chunk of response.body ?? []) arrived.push(performance.now());
    })().catch(() => undefined);
    await expect.poll(() => arrived.length).toBeGreaterThan(5);

    const gaps = () => arrived.slice(1).map((at, index) => ({ at, gap: at - (arrived[index] ?? at) }));
    const longestSince = (since: number): number => Math.round(Math.max(...gaps().map(({ at, gap }) => (at > since ? gap : 0))));
    const measured = [`alone: longest gap ${longestSince(0)} ms`];
    for (const name of ['spin', 'spin_on']) {
      const began = performance.now();
      const called = await call('spinning', name, {});
      const ended = performance.now();
      expect(called).toMatchObject({
        isError: true,
        code: 'timeout',
        content: [{ text: expect.stringContaining('the code ran for too long and was stopped') }],
      });
      const before = arrived.length;
      await expect.poll(() => arrived.length).toBeGreaterThan(before + 2);
      const meanwhile = arrived.filter((at) => at > began && at < ended).length;
      measured.push(
        `${name}: ended after ${Math.round(ended - began)} ms, ${meanwhile} chunks meanwhile, longest gap ${longestSince(began)} ms`,
      );
      // Code that yields lets others run meanwhile.
      if (name === 'spin_on') expect(meanwhile).toBeGreaterThan(0);
    }
    printStatistics(`a busy loop beside a stream: ${measured.join('; ')} (bound: ${maxSandboxStretchMs} ms at once)`);
    await service.call('POST', `/v1/sessions/${id}/cancel`);
    stop.abort();
    await reading;
    await isWell();
  });

  it('stays within the shared memory limit, no matter how many run concurrently', { retry: onBusyMachine }, async () => {
    const code =
      'const kept = []; for (let n = 0; n < 12; n++) kept.push(new Uint8Array(1e6).fill(n)); await tools.list_directory({ path: "/" }); return kept.length';
    const answers = await Promise.all(Array.from({ length: 100 }, () => call('desk', 'run_code', { code })));
    const codes = answers.map(({ isError, code: why }) => (isError ? why : 'done'));
    const count = (what: string): number => codes.filter((one) => one === what).length;
    printStatistics(`100 runs of 12 MB at once: ${count('done')} done, ${count('limit_reached')} over the memory limit`);
    expect(codes.filter((one) => one !== 'done' && one !== 'limit_reached')).toEqual([]);
    expect(count('done')).toBeGreaterThan(0);
    await isWell();
  });
});
