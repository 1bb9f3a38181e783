/** What commands print of documents and responses has no control or reordering character, whatever a service, a document or a log contains. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { askInput, describeApproval } from '../../src/cli/chat/chat-questions.ts';
import { createScreen } from '../../src/cli/chat/chat-screen.ts';
import { applyAtStart } from '../../src/local/launch/start-project.ts';
import { type CommandRun, runCommand } from './run-command.ts';

/** Colors, links, the clipboard, the cursor, a bell, a return, a backspace, controls of eight bits, reordering, and a line that looks like ours. */
const hostile =
  'a\u001b[35mb\u001b]8;;http://evil.example\u0007c\u001b]52;c;ZXZpbA==\u001b\\d\u001b[2A\re\bf\u202eg\u2066h\u009b2Ji\u009d0;t\u009cj\u0085k\u0000\u007f' +
  '\nerror: forged\nProject forged: 1 created.';
const forbidden = /[^\P{Cc}\t\n]|\p{Bidi_Control}/u;
const spelled = '👩‍💻 ❤️ \u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f} می‌خواهم क्‍ष';

const named = { name: hostile, reason: hostile, path: hostile, message: hostile, before: hostile, after: hostile };
const side = {
  text: hostile,
  calls: [{ requested: hostile, canonical: hostile, arguments: { [hostile]: hostile }, isError: true, code: hostile }],
};
const facts = { calls: 1, steps: 1, inputTokens: 1, cachedInputTokens: 0, outputTokens: 1, cost: null, durationMs: 1, approvals: 0 };
/** A replay, and a case of one. */
const replayed = {
  ...{ suite: { name: hostile, version: 1 }, cases: { total: 1, left: 0, done: 1, different: 1 }, recorded: facts, replayed: facts },
  ...{ session: hostile, turn: hostile, request: null, createdAt: hostile, number: 1, status: hostile, calls: { same: 0, changed: 1 } },
  rules: [{ rule: { maxCalls: 1 }, passed: false, detail: hostile }],
  ...{ recordedSide: side, replayedSide: { ...side, text: `${hostile} more` } },
  differences: [{ kind: 'changed', recorded: 0, replayed: 0, paths: [hostile] }],
};
/** What a response of any operation may contain; each command reads its own members. */
const everything = {
  ...named,
  ...{ id: hostile, canonical: hostile, wireName: hostile, via: hostile, because: hostile, state: hostile, verdict: hostile, key: hostile },
  ...{
    aliases: [hostile],
    scopes: ['admin', hostile],
    warnings: [named],
    issues: [named],
    version: hostile,
    status: hostile,
    expiresAt: hostile,
  },
  ...{
    created: [hostile],
    updated: [hostile],
    unchanged: [],
    removed: [hostile],
    kept: [named],
    skipped: [named],
    waiting: [named],
    changes: [named],
    decided: [hostile],
    left: [named],
    tools: [
      { ...named, state: 'missing', canonical: hostile, renamedTo: hostile },
      { ...named, state: 'held', canonical: hostile },
    ],
    refused: [{ toolset: hostile, calls: 1, issues: [named], mends: [{ alias: hostile, argument: hostile }] }],
    turns: { left: 1, more: true },
    tool: hostile,
    toolsets: [hostile],
  },
  ...{
    isError: true,
    content: [
      { type: 'text', text: hostile },
      { type: hostile, mimeType: hostile },
    ],
    toolCount: 0,
    text: hostile,
    format: hostile,
  },
  ...{
    turn: 1,
    reason: hostile,
    pending: [{ kind: hostile, canonical: hostile }],
    problem: { detail: hostile },
    previousExpiresAt: hostile,
    data: [{ id: hostile, context_length: 1, pricing: { prompt: hostile } }],
    unavailable: [{ provider: hostile, reason: hostile }],
    kind: hostile,
  },
  ...replayed,
  items: [
    {
      ...named,
      ...replayed,
      id: hostile,
      scopes: [hostile],
      warnings: [named],
      hasApiKey: false,
      kind: hostile,
      held: 1,
      health: { status: 'failing', reason: hostile },
    },
  ],
  nextCursor: null,
};

let folder = '';
let server: Server;
let url = '';
let answer: (response: ServerResponse) => void = () => undefined;
const json =
  (status: number, body: object, type = 'application/json') =>
  (response: ServerResponse) =>
    void response.writeHead(status, { 'content-type': type }).end(JSON.stringify(body));
const problem = (code: string, issues: object[] = []) => json(422, { code, detail: hostile, issues }, 'application/problem+json');

beforeAll(async () => {
  server = createServer((request, response) => {
    request.resume();
    answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'moniker-test-'));
  writeFileSync(inFolder('moniker.json'), JSON.stringify({ toolsets: { [hostile]: { tools: [] } } }));
  writeFileSync(inFolder('mcp.json'), JSON.stringify({ mcpServers: { [hostile]: { command: hostile, args: [hostile] } } }));
  writeFileSync(inFolder('log'), `${JSON.stringify({ level: 'info', message: hostile })}\n${hostile}\n`);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));
const inFolder = (name: string) => join(folder, name);

/** Without the styles of the commands, and the sequences with which Node's `readline` shows a question. */
const withoutStyles = ({ stdout, stderr }: CommandRun) => ({
  stdout: stdout.replaceAll(styles, ''),
  stderr: stderr.replaceAll(styles, '').replaceAll(/\p{Cc}\[\d*[GJ]|\r(?=\n)/gu, ''),
});
const styles = /\p{Cc}\[(?:1|2|22|31|32|33|36|39)m/gu;

const run = async (parameters: string[], isTerminal: boolean, stdin = 'y\n') =>
  withoutStyles(
    await runCommand(parameters, {
      environment: {
        MONIKER_URL: url,
        MONIKER_KEY: 'key',
        MONIKER_DATA_DIR: folder,
        XDG_STATE_HOME: inFolder('state'),
        FORCE_COLOR: undefined,
      },
      folder,
      isTerminal,
      stdin,
    }),
  );

/** `isData`: what is on stdout goes to programs unchanged. `isArgument`: the text is of the user. */
const commands: readonly { title: string; parameters: () => string[]; isData?: true; isArgument?: true; stdin?: string }[] = [
  { title: 'apply moniker.json', parameters: () => ['apply', inFolder('moniker.json')] },
  { title: 'apply moniker.json --dry-run --json', parameters: () => ['apply', inFolder('moniker.json'), '--dry-run', '--json'] },
  { title: 'import mcp.json', parameters: () => ['import', inFolder('mcp.json')] },
  { title: 'import mcp.json --dry-run --json', parameters: () => ['import', inFolder('mcp.json'), '--dry-run', '--json'] },
  { title: 'export', parameters: () => ['export'], isData: true },
  { title: 'export out.yaml', parameters: () => ['export', inFolder('out.yaml')] },
  { title: 'add server docs https://mcp.example.com/mcp', parameters: () => ['add', 'server', 'docs', 'https://mcp.example.com/mcp'] },
  { title: 'add toolset work builtin.bash', parameters: () => ['add', 'toolset', 'work', 'builtin.bash'] },
  { title: 'add agent helper --model rehearsal/default', parameters: () => ['add', 'agent', 'helper', '--model', 'rehearsal/default'] },
  { title: 'add key ci', parameters: () => ['add', 'key', 'ci'], isData: true },
  { title: 'call shell {} --toolset demo', parameters: () => ['call', 'shell', '{}', '--toolset', 'demo'], isData: true },
  { title: 'call shell {} --toolset demo --json', parameters: () => ['call', 'shell', '{}', '--toolset', 'demo', '--json'] },
  { title: 'call shell {}', parameters: () => ['call', 'shell', '{}'] },
  { title: 'resolve shell --toolset demo', parameters: () => ['resolve', 'shell', '--toolset', 'demo'] },
  { title: 'resolve hostile --toolset hostile', parameters: () => ['resolve', hostile, '--toolset', hostile] },
  { title: 'chat --session one --json', parameters: () => ['chat', '--session', 'one', '--json'] },
  { title: 'replay run --no-wait', parameters: () => ['replay', '--suite', 'support', '--no-wait'] },
  { title: 'replay list', parameters: () => ['replay', 'list'] },
  { title: 'replay show one', parameters: () => ['replay', 'show', 'one'] },
  { title: 'replay show one --json', parameters: () => ['replay', 'show', 'one', '--json'] },
  { title: 'replay show one 1', parameters: () => ['replay', 'show', 'one', '1'] },
  { title: 'replay cancel one', parameters: () => ['replay', 'cancel', 'one'] },
  { title: 'replay export one', parameters: () => ['replay', 'export', 'one'], isData: true },
  { title: 'logs', parameters: () => ['logs'], isData: true },
  { title: 'doctor', parameters: () => ['doctor'] },
  { title: 'doctor --json', parameters: () => ['doctor', '--json'] },
  { title: 'accept docs', parameters: () => ['accept', 'docs'] },
  { title: 'accept docs --impact', parameters: () => ['accept', 'docs', '--impact'] },
  { title: 'accept docs --rebind', parameters: () => ['accept', 'docs', '--rebind'] },
  { title: 'accept docs --reject --json', parameters: () => ['accept', 'docs', '--reject', '--json'] },
  { title: 'models', parameters: () => ['models'] },
  { title: 'models test hostile', parameters: () => ['models', 'test', hostile] },
  { title: 'completion models', parameters: () => ['completion', 'models'] },
  { title: 'keys list', parameters: () => ['keys', 'list'] },
  { title: 'keys rotate one', parameters: () => ['keys', 'rotate', 'one'], isData: true },
  { title: 'keys revoke one', parameters: () => ['keys', 'revoke', 'one'] },
  { title: 'backup backup.jsonl', parameters: () => ['backup', inFolder('backup.jsonl')] },
  { title: 'restore --abandon', parameters: () => ['restore', '--abandon'] },
  { title: 'mcp demo', parameters: () => ['mcp', 'demo'], stdin: '{"jsonrpc": "2.0", "id": 1, "method": "ping"}\nx\n', isData: true },
  { title: 'hostile', parameters: () => [hostile], isArgument: true },
  { title: 'resolve --hostile', parameters: () => ['resolve', `--${hostile}`], isArgument: true },
];

const responses: Readonly<Record<string, (response: ServerResponse) => void>> = {
  'a success': json(200, everything),
  'a dry run of a call': json(200, { ...everything, verdict: hostile, valid: false }),
  'a call that requires approval': json(200, { ...everything, code: 'approval_required' }),
  'a refusal': problem('invalid_request'),
  'a refusal with issues': problem('invalid_request', [named, named]),
  'an unknown code': problem(hostile),
  'an internal error': json(500, { code: 'internal', detail: hostile, requestId: hostile }, 'application/problem+json'),
  'a page of a proxy': (response) => void response.writeHead(502, { 'content-type': 'text/html' }).end(`<html>${hostile}`),
  'text that is no JSON': (response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(hostile),
  'a redirect': (response) => void response.writeHead(302, { location: 'http://x/\u009b2J' }).end(),
};

/** Titles of commands that have printed a part of the hostile text. */
const shown = new Set<string>();

describe.each(Object.entries(responses))('for %s', (response, respond) => {
  it.each(commands)(
    'moniker $title prints no control character that it received',
    async ({ title, parameters, isData, isArgument, stdin }) => {
      answer = respond;
      for (const isTerminal of [false, true]) {
        // In a terminal, chat is a conversation, and the messages of MCP are for no person.
        if (isTerminal && ['chat', 'mcp'].includes(parameters()[0] ?? '')) continue;
        const { stdout, stderr } = await run(parameters(), isTerminal, stdin);
        if (/evil\.example/.test(stdout + stderr)) shown.add(title).add(`${title}: ${response}`);
        expect(stderr).not.toMatch(forbidden);
        if (isTerminal || !isData) expect(stdout).not.toMatch(forbidden);
        if (!isData && !isArgument) expect(`${stdout}\n${stderr}`).not.toMatch(/^Project forged|^error: forged/m);
      }
    },
  );
});

it('prints something of a response in each of these commands, so that the checks above are of use', () => {
  const titles = commands.map(({ title }) => title);
  expect(titles.filter((title) => !shown.has(title))).toEqual([]);
  const silent = titles.filter((title) => !shown.has(`${title}: a success`));
  // These print nothing of a success; completion prints plain names only.
  expect(silent).toEqual(['export out.yaml', 'completion models', 'keys revoke one', 'backup backup.jsonl', 'mcp demo']);
});

describe('results', () => {
  it.each([
    ['call', ['call', 'shell', '{}', '--toolset', 'demo']],
    ['logs', ['logs', '-n', '1']],
    ['export', ['export']],
  ])('of moniker %s arrive unchanged in a pipe, and keep emoji and joiners in a terminal', async (_, parameters) => {
    const text = `${hostile.replaceAll('\n', ' ')} ${spelled}`;
    writeFileSync(inFolder('log'), `${text}\n`);
    answer = (response) =>
      parameters[0] === 'export'
        ? void response.end(`${text}\n\n`)
        : json(200, { canonical: 'a.b', isError: false, content: [{ type: 'text', text }] })(response);
    expect((await run(parameters, false)).stdout).toBe(`${text}\n${parameters[0] === 'export' ? '\n' : ''}`);
    const { stdout } = await run(parameters, true);
    expect(stdout).not.toMatch(forbidden);
    expect(stdout).toContain(spelled);
  });

  it('of an export to a file are unchanged', async () => {
    answer = (response) => void response.end(hostile);
    await run(['export', inFolder('out.yaml')], true);
    expect(readFileSync(inFolder('out.yaml'), 'utf8')).toBe(hostile);
  });
});

describe('documents', () => {
  it.each([
    `{"servers": "${hostile}`,
    `servers: {"${JSON.stringify(hostile).slice(1, -1)}": {command: "\${NONE}"}}`,
    `secrets: {"${JSON.stringify(hostile).slice(1, -1)}": {value: "\${NONE}", hosts: [a]}}`,
    `skills: {"${JSON.stringify(hostile).slice(1, -1)}": {path: "../\\u001b[2J"}}`,
    `skills: {"${JSON.stringify(hostile).slice(1, -1)}": {path: "none\\u001b[2J"}}`,
    `a: [\n${hostile}`,
    `&${hostile} *${hostile}`,
    hostile,
  ])('that are wrong are reported without their controls: %j', async (text) => {
    for (const name of ['moniker.yaml', `${hostile.replaceAll(/[/\0\n]/g, '')}.json`]) {
      writeFileSync(inFolder(name), text);
      for (const command of ['apply', 'import'])
        for (const isTerminal of [false, true]) {
          const { stdout, stderr } = await run([command, inFolder(name)], isTerminal);
          expect(stdout + stderr).not.toMatch(forbidden);
        }
    }
  });

  it('of a folder with controls in its name are asked about without them', async () => {
    const place = inFolder(hostile.replaceAll(/[/\0\n]/g, ''));
    mkdirSync(place);
    writeFileSync(join(place, 'moniker.yaml'), 'servers: { a: { command: b } }');
    const { stderr } = await runCommand(['start'], {
      folder: place,
      environment: { XDG_STATE_HOME: inFolder('state'), MONIKER_DATA_DIR: folder },
    });
    expect(stderr).toContain('--trust');
    expect(stderr).not.toMatch(forbidden);
  });

  it('that are applied at a start are reported without controls', async () => {
    const lines: string[] = [];
    const project = { file: inFolder('moniker.json'), isNamed: true, content: {} };
    const service = { url, rootKey: 'key', token: 'token' };
    for (const respond of Object.values(responses)) {
      answer = respond;
      await applyAtStart(service, project, {}, (line) => lines.push(line));
    }
    await applyAtStart(service, { ...project, fault: hostile }, {}, (line) => lines.push(line));
    expect(lines.join('\n')).toContain('evil.example');
    expect(lines.join('\n')).not.toMatch(forbidden);
  });
});

describe('a conversation', () => {
  const shown = (...events: object[]): string => {
    let text = '';
    const screen = createScreen((part) => {
      text += part;
    });
    for (const event of events) screen.show(event as Parameters<typeof screen.show>[0]); // The members that the screen reads.
    screen.finish({ status: 'failed', reason: hostile, text: 'x' } as unknown as Parameters<typeof screen.finish>[0]);
    return text;
  };

  it('shows no controls of texts, names, arguments, results and errors', () => {
    const call = { callId: '1', name: hostile, canonical: hostile };
    const text = shown(
      { type: 'text-delta', text: hostile },
      { type: 'tool-input-start', ...call },
      { type: 'tool-input-end', callId: '1', arguments: { [hostile]: hostile } },
      { type: 'inner-call', ...call, arguments: { a: hostile } },
      { type: 'tool-result', callId: '1', isError: true, content: [{ type: 'text', text: hostile }, { type: hostile }] },
      { type: 'inner-result', isError: false, content: [{ type: 'text', text: hostile }] },
      { type: 'error', problem: { detail: hostile } },
    );
    expect(text).toContain('evil.example');
    expect(text).not.toMatch(forbidden);
  });

  it('keeps emoji, flags and joiners, wherever a text is cut', () => {
    const events = [...spelled].flatMap((character) => character.split('')).map((text) => ({ type: 'text-delta', text }));
    expect(shown(...events, { type: 'text-delta', text: '\r' }, { type: 'text-delta', text: '\nend' })).toContain(`${spelled}\nend`);
    expect(shown({ type: 'text-delta', text: 'a\r' }, { type: 'step-restart' })).toContain('a<U+000D>\n[the step');
  });

  it('asks without controls, and shows hidden characters of targets and addresses', async () => {
    const target = `/workspace/a\u200db${hostile}`;
    const lines = describeApproval({
      name: hostile,
      canonical: hostile,
      arguments: { [hostile]: hostile },
      reason: hostile,
      effects: [{ action: hostile, kind: 'delete-file', method: hostile, target }],
    } as unknown as Parameters<typeof describeApproval>[0]);
    const requests = {
      one: { params: { message: hostile, url: `https://a\u200db.example/${hostile}` } },
      two: {
        params: { message: hostile, requestedSchema: { properties: { [hostile]: { title: hostile, type: hostile, enum: [hostile] } } } },
      },
    };
    const asked: string[] = [];
    await askInput(
      async (question) => {
        asked.push(question);
        return '';
      },
      (line) => lines.push(line),
      { server: hostile, requests } as unknown as Parameters<typeof askInput>[2],
    );
    const text = [...lines, ...asked].join('\n');
    expect(text).not.toMatch(forbidden);
    expect(text).toContain('a<U+200D>b.example');
    expect(text).toContain('/workspace/a<U+200D>b');
    // A line of the other side is indented, and is not a question of ours.
    expect(text).not.toMatch(/^(error:|Project) forged/m);
  });
});
