/** What happens to a session from outside in one run, generated from a seed: a list, so that a failing run can be shortened. */
import type { Failpoint } from '../../src/core/failpoint.ts';
import type { Plan } from '../../src/core/turn/plan.ts';
import type { Tier } from './machine.ts';
import { createRandom, type Random } from './random.ts';
import { clientTool, pointerOf, toolsetNames } from './upstream.ts';

/** `after`: how many things happen before it. */
export type Command = { after: number } & (Said | Done);
/** The commands of clients. */
export type ClientCommand = Said & { after: number };

type Said =
  | { do: 'send'; plan: Plan; words: number; twice: boolean }
  /** Repeats a message with its key, like a client without a response or a network that delivers twice. */
  | { do: 'repeat' }
  | { do: 'cancel' }
  /** `words`: concurrent decisions on the same call. */
  | { do: 'decide' | 'decide-by-link'; of: Target; words: readonly ('approve' | 'deny')[] }
  | { do: 'remember' }
  | { do: 'give-result'; of: Target; texts: readonly string[] }
  | { do: 'read'; reader: number; rewind: number }
  /** A chat client: with or without the pending results, and with or without new text. */
  | { do: 'chat'; plan: Plan; text: boolean; results: boolean }
  | { do: 'chat-again' | 'stream' | 'stream-chat' | 'answer' }
  | { do: 'call'; name: string; safe: boolean; keyed: boolean }
  | { do: 'call-again' | 'remove' };

type Done =
  | { do: 'pass'; ms: number }
  /** `takeover`: a new process starts while the old one has not noticed its end. */
  | { do: 'crash'; how: 'kill' | 'takeover' }
  /** The process dies the next time that it reaches this point, or a few times later. */
  | { do: 'crash-at'; point: Failpoint; skip: number; how: 'kill' | 'takeover' }
  /** The process dies repeatedly. */
  | { do: 'crash-often'; times: number };

/** Which call is meant: a waiting one, any that ever required approval, or none. */
type Target = 'pending' | 'any' | 'unknown';

/** The points that a turn passes in the engine. */
export const engineCrashPoints: readonly Failpoint[] = [
  'before-model-request',
  'model-stream-mid',
  'model-stream-tool-args-mid',
  'model-done-before-persist',
  'persisted-before-tools',
  'tool-marked-before-effect',
  'effect-before-result',
  'result-partial-of-parallel',
  'results-before-next-model',
  'paused-for-confirmation',
  'inner-marked-before-effect',
  'inner-effect-before-result',
  'inner-result-before-root',
  'paused-for-inner',
  'confirmed-before-effect',
  'denied-before-continue',
  'final-before-event',
  'compaction-mid',
];

/** The points of the object around it. Its schema exists from the start: `schema-migration-mid` is for tests of the platform's storage. */
export const objectCrashPoints: readonly Failpoint[] = [
  ...engineCrashPoints,
  'accept-before-ack',
  'ack-before-turn',
  'second-message-queued',
  'cancel-mid',
  'alarm-mid',
  'delete-session-mid',
];

/** Rare points, chosen more often so that some are reached. The first is the rarest, since it takes a long conversation. */
const seldomPassed: readonly Failpoint[] = [
  'compaction-mid',
  'compaction-mid',
  'compaction-mid',
  'inner-marked-before-effect',
  'inner-effect-before-result',
  'inner-result-before-root',
  'paused-for-inner',
];

const day = 24 * 60 * 60_000;

export function commandsOf(seed: number, tier: Pick<Tier, 'whole' | 'crashPoints'>): Command[] {
  const random = createRandom(seed ^ 0x5bd1e995);
  const count = random.int(3, 22);
  // Some sessions are disturbed rarely, some all the time.
  const unrest = random.pick([0.3, 1, 1, 2]);
  const first: Command = { do: 'send', after: 0, plan: randomPlan(random), words: 1, twice: false };
  return [
    first,
    ...Array.from({ length: count }, () => randomCommand(random, unrest, tier)).flatMap((command) => withDeath(random, command, tier)),
  ];
}

/** Some crashes follow exactly this: a decision, a deletion. */
function withDeath(random: Random, command: Command, { crashPoints }: Pick<Tier, 'crashPoints'>): Command[] {
  const point = pointOf(command);
  if (point === null || !crashPoints.includes(point) || !random.chance(0.25)) return [command];
  return [
    { do: 'crash-at', after: command.after, point, skip: 0, how: random.chance(0.75) ? 'kill' : 'takeover' },
    { ...command, after: 0 },
  ];
}

function pointOf(command: Command): Failpoint | null {
  if (command.do === 'remove') return 'delete-session-mid';
  if (command.do !== 'decide' && command.do !== 'decide-by-link') return null;
  return command.words[0] === 'approve' ? 'confirmed-before-effect' : 'denied-before-continue';
}

function randomCommand(random: Random, unrest: number, { whole, crashPoints }: Pick<Tier, 'whole' | 'crashPoints'>): Command {
  if (whole && random.chance(0.35)) return wholeCommand(random);
  const after = random.chance(0.2) ? 0 : random.int(1, 25);
  const makers: [weight: number, make: () => Command][] = [
    [3, () => ({ do: 'send', after, plan: randomPlan(random), words: random.chance(0.3) ? 700 : 1, twice: random.chance(0.2) })],
    [1.5, () => ({ do: 'repeat', after })],
    [0.7, () => ({ do: 'cancel', after })],
    [5, () => ({ do: 'decide', after, of: randomTarget(random), words: words(random) })],
    [3, () => ({ do: 'give-result', after, of: randomTarget(random), texts: random.chance(0.2) ? ['a', 'b'] : ['a'] })],
    [3, () => ({ do: 'read', after, reader: random.int(0, 2), rewind: random.chance(0.2) ? random.int(1, 20) : 0 })],
    [0.6, () => ({ do: 'pass', after, ms: random.pick([1_000, 40_000, 11 * 60_000, 8 * day]) })],
    [3 * unrest, () => ({ do: 'crash', after, how: random.chance(0.75) ? 'kill' : 'takeover' })],
    [
      3 * unrest,
      () => {
        const point = random.pick(random.chance(0.4) ? seldomPassed : crashPoints);
        const skip = seldomPassed.includes(point) ? 0 : random.int(0, 2);
        return { do: 'crash-at', after, point, skip, how: random.chance(0.75) ? 'kill' : 'takeover' };
      },
    ],
    [0.15 * unrest, () => ({ do: 'crash-often', after, times: random.int(3, 28) })],
  ];
  let left = random.next() * makers.reduce((sum, [weight]) => sum + weight, 0);
  for (const [weight, make] of makers) {
    left -= weight;
    if (left < 0) return make();
  }
  return { do: 'cancel', after };
}

/** Commands for the session object only. */
function wholeCommand(random: Random): Command {
  const after = random.chance(0.2) ? 0 : random.int(1, 25);
  const kind = random.next();
  if (kind < 0.1) return { do: 'decide-by-link', after, of: randomTarget(random), words: words(random) };
  if (kind < 0.13) return { do: 'remember', after };
  if (kind < 0.4) return { do: 'chat', after, plan: randomPlan(random), text: random.chance(0.7), results: random.chance(0.7) };
  if (kind < 0.45) return { do: 'chat-again', after };
  if (kind < 0.6) return { do: random.chance(0.5) ? 'stream' : 'stream-chat', after };
  if (kind < 0.65) return { do: 'answer', after };
  if (kind < 0.82)
    return { do: 'call', after, name: random.pick(['note', 'guarded']), safe: random.chance(0.3), keyed: random.chance(0.6) };
  return random.chance(0.93) ? { do: 'call-again', after } : { do: 'remove', after };
}

function words(random: Random): ('approve' | 'deny')[] {
  const word = random.chance(0.7) ? ('approve' as const) : ('deny' as const);
  if (random.chance(0.6)) return [word];
  return random.chance(0.5) ? [word, word] : ['approve', 'deny'];
}

function randomTarget(random: Random): Target {
  const target = random.next();
  return target < 0.75 ? 'pending' : target < 0.95 ? 'any' : 'unknown';
}

function randomPlan(random: Random): Plan {
  return {
    model: 'a/b',
    fallbacks: random.chance(0.3) ? ['c/d'] : [],
    instructions: random.chance(0.5) ? 'Be brief.' : '',
    ...(random.chance(0.9) && { edition: pointerOf(random.pick(toolsetNames)) }),
    allow: null,
    aliases: true,
    limits: {
      maxSteps: random.int(1, 4),
      maxCalls: random.int(2, 10),
      ...(random.chance(0.2) && { maxTokens: random.int(40, 200) }),
      ...(random.chance(0.4) && { maxContextTokens: 1_000 }),
    },
    settings: {},
    ...(random.chance(0.7) && { clientTools: [clientTool] }),
  };
}
