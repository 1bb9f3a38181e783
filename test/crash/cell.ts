/**
 * One cell of the crash matrix: a conversation that is driven to a point, dies there in one way, and is inspected from outside after
 * the restart.
 */
import { randomUUID } from 'node:crypto';
import { expect, vi } from 'vitest';
import type { Failpoint } from '../../src/core/failpoint.ts';
import type { Answer, StreamEvent } from '../e2e/service.ts';
import type { Kill, Lane } from './lane.ts';
import type { ModelRequest, Reply, ScriptedCall } from './scripted-model.ts';

/** Every turn ends within this time of the restart: REL-2 allows 10 s, and a busy machine is slower. */
export const terminalMs = 60_000;
const reachMs = 60_000;

export type Said = { name: string; text: string; turn: string | null };

export type Death = {
  reached: Promise<void>;
  /** Disarms the point: it is not reached after all. */
  disarm(): void;
  /** Resolves when the process is back; others that wait for this then continue. */
  over: Promise<void>;
  /** Waits until the point is reached, dies there, and restarts. `read: false`: there is no log left to read. */
  strike(options?: { read?: boolean }): Promise<void>;
};

export type Cell = {
  lane: Lane;
  kill: Kill;
  /** False for a graceful eviction, which first ends the work in progress, so that nothing is lost. */
  dies: boolean;
  session: string;
  /** The prefix of the names of its effects. */
  tag: string;
  /** The accepted messages, in order. */
  said: Said[];
  /** The events as a reader had them before the crash. */
  before: StreamEvent[];
  /** `object`: the session, or `catalog`. */
  arm(point: Failpoint, options?: { skip?: number; held?: number; object?: string }): Death;
  /** Sends a message with the replies of the model to it; returns 202. `again` repeats it under the same idempotency key. */
  say(name: string, replies: Reply[], options?: { text?: string }): Promise<string>;
  again(name: string): Promise<string>;
  requests(name: string): readonly ModelRequest[];
  /** Calls of a tool whose effect is counted under `name`. `get` is safe to repeat, `post` is not, `ask` requires approval. */
  get(name: string): ScriptedCall;
  post(name: string): ScriptedCall;
  ask(name: string): ScriptedCall;
  /** A call of a made tool that makes these calls one after another and returns the outcome of each. */
  steps(...calls: ScriptedCall[]): ScriptedCall;
  effects(name: string): number;
  holdEffect(name: string, until: Promise<unknown>): void;
  hadEffect(name: string): Promise<void>;
  /** Waits until all turns have ended; `alone`: without any request except the final read. */
  ended(options?: { alone?: boolean; turns?: number }): Promise<void>;
  status(): Promise<string | undefined>;
  reachStatus(status: string): Promise<void>;
  pending(): Promise<string[]>;
  decide(callId: string, decision: 'approve' | 'deny'): Promise<Answer>;
  events(): Promise<StreamEvent[]>;
  messages(): Promise<{ role: string; turn: string; parts: { type: string; text?: string }[] }[]>;
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
};

export async function openCell(lane: Lane, point: Failpoint, agent: 'doer' | 'forgetful' | 'thrifty' = 'doer'): Promise<Cell> {
  const created = await lane.call('POST', '/v1/sessions', { agent });
  expect(created.status, created.text).toBe(201);
  return cellOf(lane, tagOf(point), created.json.id);
}

export function tagOf(point: string): string {
  return `${point}.${randomUUID().slice(0, 8)}`;
}

/** For a session that exists. */
export function cellOf(lane: Lane, tag: string, session: string): Cell {
  const { kill, recorder, model, upstream } = lane;
  const texts = new Map<string, string>();
  let finals = 0;
  let backAt = Date.now();

  const request = (name: string, method: 'GET' | 'POST', tool: string): ScriptedCall => ({
    name: tool,
    arguments: { url: upstream.urlOf(`${tag}/${name}`), method },
  });
  const send = async (name: string): Promise<string> => {
    const text = texts.get(name) ?? '';
    const answer = await cell.call('POST', '/turns', { input: text }, { prefer: 'respond-async', 'idempotency-key': `${tag}.${name}` });
    expect(answer.status, answer.text).toBe(202);
    const said = cell.said.find((candidate) => candidate.name === name);
    if (said === undefined) throw new Error(`${name} was never sent`);
    if (said.turn !== null) expect(answer.json.turn, 'the turn of a repeat').toBe(said.turn);
    said.turn = answer.json.turn;
    return answer.json.turn;
  };

  const cell: Cell = {
    lane,
    kill,
    dies: kill !== 'evict',
    session,
    tag,
    said: [],
    before: [],
    arm: (armedPoint, { object = session, ...options } = {}) => {
      const armed = recorder.arm(object, armedPoint, options);
      const { promise: over, resolve: end } = Promise.withResolvers<void>();
      return {
        reached: armed.reached,
        over,
        disarm: () => armed.release('go'),
        strike: async ({ read = true } = {}) => {
          await within(armed.reached, reachMs, `the point ${armedPoint} was never reached`);
          finals = recorder.hits(session, 'final-before-event');
          // A waiting reader would keep the object from being evicted.
          if (read && kill !== 'evict') cell.before = await lane.events(session);
          await die(lane, object, armed.release, end);
          backAt = Date.now();
          end();
        },
      };
    },
    say: (name, replies, { text = 'Do as it is written.' } = {}) => {
      texts.set(name, `${text} #${tag}.${name}#`);
      cell.said.push({ name, text: texts.get(name) ?? '', turn: null });
      model.script(`${tag}.${name}`, replies);
      return send(name);
    },
    again: send,
    requests: (name) => model.requests(`${tag}.${name}`),
    get: (name) => request(name, 'GET', 'send'),
    post: (name) => request(name, 'POST', 'send'),
    ask: (name) => request(name, 'POST', 'ask'),
    steps: (...calls) => ({ name: 'steps', arguments: { steps: calls } }),
    effects: (name) => upstream.effects(`${tag}/${name}`).length,
    holdEffect: (name, until) => upstream.hold(`${tag}/${name}`, until),
    hadEffect: (name) => within(upstream.had(`${tag}/${name}`), reachMs, `the effect ${name} never happened`),
    ended: async ({ alone = kill !== 'abort' && kill !== 'evict', turns = 1 } = {}) => {
      if (alone) {
        const seen = await recorder.sees(session, 'final-before-event', finals + turns, Math.max(0, backAt + terminalMs - Date.now()));
        expect(seen, `${turns} turn(s) ended within ${terminalMs / 1000} s of the restart, with no request`).toBe(true);
      }
      // Seen from outside, the last event follows the point by one row.
      await poll(async () => {
        const { turn, queued } = (await cell.call('GET', '')).json ?? {};
        return queued === 0 && ['completed', 'failed', 'cancelled', 'interrupted'].includes(turn?.status);
      }, Date.now() + terminalMs);
    },
    status: async () => (await cell.call('GET', '')).json?.turn?.status,
    reachStatus: (status) => poll(async () => (await cell.status()) === status, Date.now() + terminalMs),
    pending: async () => (await cell.events()).filter(({ type }) => type === 'approval-required').map(({ data }) => String(data.callId)),
    decide: (callId, decision) => cell.call('POST', `/approvals/${callId}`, { decision }),
    events: () => lane.events(session),
    messages: async () => {
      const answer = await cell.call('GET', '/messages');
      expect(answer.status, answer.text).toBe(200);
      return answer.json.items;
    },
    call: (method, path, body, headers) => lane.call(method, `/v1/sessions/${session}${path}`, body, headers),
  };
  return cell;
}

/** Kills the process and restarts it. `release` answers the requests that wait at the point. */
async function die(lane: Lane, object: string, release: (answer: 'go' | 'abort') => void, letOthersGo: () => void): Promise<void> {
  switch (lane.kill) {
    case 'sigkill':
    case 'sigterm':
      await lane.stop(lane.kill === 'sigkill' ? 'SIGKILL' : 'SIGTERM');
      release('go');
      return await lane.start();
    case 'deploy':
      await lane.reload();
      return release('go');
    case 'abort': {
      const made = lane.recorder.made(object);
      release('abort');
      // The next request runs in another object; the old one is gone with everything that it waited for.
      const asked = async (): Promise<boolean> => {
        await lane.call('GET', object === 'catalog' ? '/v1/agents' : `/v1/sessions/${object}`);
        return lane.recorder.made(object) > made;
      };
      return await poll(asked, Date.now() + terminalMs);
    }
    case 'evict': {
      const evicted = lane.evict(object);
      // The order is given before the work continues, and is carried out when no work is left.
      await new Promise((resolve) => setTimeout(resolve, 50));
      release('go');
      letOthersGo();
      return await within(evicted, terminalMs, 'something keeps the object from being evicted, though its work is done');
    }
    default:
      return lane.kill satisfies never;
  }
}

/** Repeats the request until the condition holds. A request during an abort may fail, which does not count. */
export async function poll(isSo: () => Promise<boolean>, deadline: number): Promise<void> {
  const look = async (): Promise<void> => {
    if (!(await isSo())) throw new Error('The condition did not hold in time');
  };
  await vi.waitFor(look, { timeout: Math.max(1, deadline - Date.now()) });
}

async function within<T>(work: Promise<T>, timeoutMs: number, reason: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(reason)), timeoutMs);
  });
  return await Promise.race([work, late]).finally(() => clearTimeout(timer));
}
