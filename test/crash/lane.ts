/**
 * One data folder with everything around it: the runtime over the crash build, the recorder, the scripted model, the tools'
 * upstream, and a client. A lane has one way to die; its cells run one after another.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseEvents, type Answer, type StreamEvent } from '../e2e/service.ts';
import { startRecorder, type Recorder } from './recorder.ts';
import { startRuntimeProcess, type RunningRuntime } from './runtime.ts';
import { startScriptedModel, type ScriptedModel } from './scripted-model.ts';
import { startUpstream, type Upstream } from './upstream.ts';

/** Ways to die. `evict` is graceful: it first ends the work in progress. `deploy` starts a new build on the same data. */
export type Kill = 'sigkill' | 'abort' | 'evict' | 'deploy' | 'sigterm';

/** Folders of two crash builds, one newer than the other; the last part of the path is the generation. */
export type CrashBuilds = { first: string; second: string };

export type Lane = {
  kill: Kill;
  /** The generation of the running build. */
  generation(): string;
  recorder: Recorder;
  model: ScriptedModel;
  upstream: Upstream;
  /** Where the runtime stores its files. */
  stateDir: string;
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Returns the session's events after a number, as far as they exist now. */
  events(session: string, after?: number): Promise<StreamEvent[]>;
  /** The id of a session, or `catalog`. */
  evict(object: string): Promise<void>;
  /** The next start uses the other build. */
  changeBuild(): void;
  /** Replaces the running build with the other one. */
  reload(): Promise<void>;
  stop(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>;
  /** Starts the runtime on the same folder; `variables` are added for this start. */
  start(variables?: Record<string, string>): Promise<void>;
  printed(): string;
  close(): Promise<void>;
};

const rootKey = 'root-key-of-the-crash-tests-0123456789abcdef';

export async function openLane(kill: Kill, builds: CrashBuilds): Promise<Lane> {
  const dataDir = mkdtempSync(join(tmpdir(), `moniker-crash-${kill}-`));
  const [recorder, model, upstream] = await Promise.all([startRecorder(), startScriptedModel(), startUpstream()]);
  let build = builds.first;
  let runtime: RunningRuntime | null = null;

  const running = (): RunningRuntime => {
    if (runtime === null) throw new Error('the runtime is not running');
    return runtime;
  };
  const request = (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
    signal = AbortSignal.timeout(30_000),
  ) =>
    fetch(running().url + path, {
      method,
      headers: { authorization: `Bearer ${rootKey}`, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      signal,
    });

  const lane: Lane = {
    kill,
    generation: () => basename(build),
    recorder,
    model,
    upstream,
    stateDir: join(dataDir, 'state'),
    printed: () => runtime?.printed() ?? '',
    call: async (method, path, body, headers) => {
      const response = await request(method, path, body, headers);
      const text = await response.text();
      return { status: response.status, headers: response.headers, text, json: parse(text) };
    },
    events: (session, after = 0) => readEvents(request, session, after),
    evict: (object) => running().order({ order: 'evict', object }),
    changeBuild: () => {
      build = build === builds.first ? builds.second : builds.first;
    },
    reload: async () => {
      lane.changeBuild();
      await running().order({ order: 'reload', bundle: build });
    },
    stop: async (signal) => {
      const old = running();
      runtime = null;
      await old.kill(signal);
    },
    start: async (variables = {}) => {
      runtime = await startRuntimeProcess({
        bundle: build,
        stateDir: join(dataDir, 'state'),
        variables: {
          MONIKER_ROOT_KEY: rootKey,
          MONIKER_MASTER_KEY: 'master-key-of-the-crash-tests-0123456789abcdef',
          MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*',
          MONIKER_LOG: 'error',
          CRASH_RECORDER: recorder.url,
          ...variables,
        },
      });
    },
    close: async () => {
      await runtime?.kill('SIGKILL');
      for (const server of [recorder, model, upstream]) server.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
  try {
    await lane.start();
    await furnish(lane);
  } catch (error) {
    await lane.close();
    throw error;
  }
  return lane;
}

/** The provider, and three agents: one with tools, one whose history is compacted early, and one whose calls cost what it may use. */
async function furnish(lane: Lane): Promise<void> {
  const put = async (path: string, body: unknown): Promise<void> => {
    const { status, text } = await lane.call('PUT', path, body);
    if (status !== 201 && status !== 200) throw new Error(`PUT ${path}: ${status} ${text}`);
  };
  await put('/v1/providers/scripted', { kind: 'openai-compatible', baseUrl: lane.model.baseUrl, prices: { '*': { input: 0, output: 0 } } });
  await put('/v1/tools/made.steps', {
    description: 'Does steps, one after the other.',
    parameters: [{ name: 'steps', type: 'array', description: 'What to do', required: true }],
    uses: ['builtin.http_request'],
    implementation: `const seen = [];
for (const { name, arguments: given } of args.steps) {
  const answer = await tools[name](given);
  seen.push(answer.success ? 'done' : answer.code);
}
return seen;`,
  });
  await put('/v1/toolsets/effects', {
    tools: [
      { tool: 'builtin.http_request', name: 'send', approval: 'never' },
      { tool: 'builtin.http_request', name: 'ask', approval: 'always' },
      { tool: 'made.steps' },
    ],
  });
  const agent = { model: 'scripted/any', toolset: 'effects', instructions: 'You are scripted.' };
  await put('/v1/agents/doer', agent);
  await put('/v1/toolsets/priced', { tools: [{ tool: 'builtin.http_request', name: 'send', approval: 'never', price: 1 }] });
  await put('/v1/agents/thrifty', { ...agent, toolset: 'priced', limits: { maxCost: 1, onLimit: 'ask' } });
  await put('/v1/agents/forgetful', { ...agent, limits: { maxContextTokens: 1_000 } });

  // Checks that a turn ends without a crash, so that a broken setup is reported here once and not in each cell.
  lane.model.script('unharmed', [{ text: 'It works.' }]);
  const session = await lane.call('POST', '/v1/sessions', { agent: 'doer' });
  const turn = await lane.call('POST', `/v1/sessions/${session.json?.id}/turns`, { input: 'Does it work? #unharmed#' });
  if (turn.json?.text !== 'It works.') throw new Error(`A turn in which nothing dies: ${turn.status} ${turn.text}\n${lane.printed()}`);
}

/** Reads pages until the stream has nothing more to send at once and sends a comment instead. */
export async function readEvents(
  request: (method: string, path: string, body?: unknown, headers?: Record<string, string>, signal?: AbortSignal) => Promise<Response>,
  session: string,
  after: number,
): Promise<StreamEvent[]> {
  const events: StreamEvent[] = [];
  for (;;) {
    const leave = new AbortController();
    const timer = setTimeout(() => leave.abort(new Error('no events in time')), 60_000);
    try {
      const from = events.at(-1)?.id ?? after;
      const response = await request('GET', `/v1/sessions/${session}/events?after=${from}`, undefined, {}, leave.signal);
      if (response.status !== 200 || response.body === null) throw new Error(`events: ${response.status} ${await response.text()}`);
      const page = await firstFrames(response.body);
      if (page.startsWith(':')) return events;
      events.push(...parseEvents(page));
    } finally {
      clearTimeout(timer);
      leave.abort();
    }
  }
}

/** Returns the complete frames of the first bytes. */
async function firstFrames(body: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const bytes of body) {
    text += decoder.decode(bytes, { stream: true });
    const end = text.lastIndexOf('\n\n');
    if (end !== -1) return text.slice(0, end + 2);
  }
  throw new Error('the events ended before the first of them');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The body is an event stream or a page: the test reads the text.
    return null;
  }
}
