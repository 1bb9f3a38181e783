/**
 * Turns over replies that break off: recorded streams of every API, cut, with a recorder as the unsafe tool. A call of an incomplete reply
 * never runs, and a call of the reply that replaces it runs once. The wires alone are tested in `test/providers/spoilt-
 * streams.long.test.ts`.
 */
import { expect, it } from 'vitest';
import { extendAliasMap } from '../../../src/core/toolset/alias-map.ts';
import type { EditionTool } from '../../../src/core/toolset/edition-tool.ts';
import type { Plan } from '../../../src/core/turn/plan.ts';
import type { SessionEventBody } from '../../../src/core/turn/session-event.ts';
import { createTranscript } from '../../../src/core/turn/transcript.ts';
import type { TurnDeps } from '../../../src/engine/turn/run-turn.ts';
import type { OutboundHttp } from '../../../src/ports/outbound.ts';
import { createChatModel } from '../../../src/providers/chat-model.ts';
import { countedIds, keptLog } from '../../fakes/runtime.ts';
import { describeCorpus } from '../../fixtures.ts';
import { eventEnds, inPieces, readSpoilt, recordedReplies, responseOf, seeded, type Spoilable } from '../../providers/spoil.ts';
import { runs } from '../../selection.ts';
import { runBareTurn } from '../bare-turn.ts';
import { printStatistics } from '../../statistics.ts';

const cutsPerReply = runs(6);
/** For thousands of turns, on a machine that may be busy. */
const patience = 120_000;
const clock = { now: () => 0, after: () => () => undefined, sleep: async () => undefined };

type Executed = { name: string; arguments: unknown };

/** One step whose exchanges return these bodies in turn, repeating the last one. */
async function runStep(reply: Spoilable, bodies: readonly (readonly Uint8Array[])[]): Promise<{ executed: Executed[]; ended: boolean }> {
  const executed: Executed[] = [];
  const events: SessionEventBody[] = [];
  const hasEnded = (): boolean => events.some(({ type }) => type === 'step-end');
  let exchange = 0;
  const http: OutboundHttp = async () => {
    if (hasEnded()) return Response.json({ error: { message: 'That is all.' } }, { status: 400 });
    const body = bodies[Math.min(exchange, bodies.length - 1)] ?? [];
    exchange += 1;
    return responseOf(body, reply.contentType);
  };
  const deps = {
    ...{ clock, ids: countedIds(), log: keptLog(), model: createChatModel({ http, clock, rehearsal: http }) },
    directory: { provider: async () => reply.access },
    executor: {
      isSafe: () => false,
      async execute({ ownName }: EditionTool, args: Record<string, unknown>) {
        executed.push({ name: ownName, arguments: args });
        return { isError: false, content: [{ type: 'text', text: 'Done.' }] };
      },
    },
    fetch: () => Promise.reject(new Error('no network here')),
    secret: async () => '',
  } as unknown as TurnDeps;
  const plan: Plan = { model: 'recorded/model', fallbacks: [], instructions: '', allow: null, aliases: true, limits: {}, settings: {} };
  const input = [{ type: 'text' as const, text: 'go' }];
  await runBareTurn(deps, { turn: 'turn_1', plan, names: namesOf(reply), input, events, transcript: createTranscript() });
  return { executed, ended: hasEnded() };
}

/** Every tool that the recording calls, without a schema or annotations. */
function namesOf({ expected }: Spoilable) {
  const names = new Set((expected.toolCalls ?? []).map(({ name }) => name));
  const tools = [...names].map((name) => ({
    ...{ canonical: `local.${name}`, wireName: name, ownName: name, server: 'local', kind: 'local', description: '' },
    ...{ inputSchema: { type: 'object' }, aliases: [], state: 'ready', pin: '' },
  }));
  // Recorded names are used unchanged, valid or not.
  return extendAliasMap(null, tools as unknown as EditionTool[]);
}

/** According to the corpus, not to our own parser: the calls that may run are complete. */
function wholeCalls({ expected }: Spoilable): string[] {
  return (expected.toolCalls ?? [])
    .filter(({ truncated }) => truncated !== true)
    .map(({ name, kind, input, arguments: args }) => keyOf({ name, arguments: kind === 'custom' ? { input } : args }));
}

function keyOf({ name, arguments: args }: Executed): string {
  return `${name} ${JSON.stringify(args)}`;
}

describeCorpus('providers', (path) => {
  const replies = recordedReplies(path).filter(({ expected, body }) => (expected.toolCalls ?? []).length > 0 && body.length < 100_000);
  const counts = { cuts: 0, over: 0, executions: 0 };

  it.each([...Map.groupBy(replies, ({ api }) => api)])(
    '%s: no truncated call runs an unsafe tool, and a complete one runs once',
    async (_api, ofApi) => {
      for (const [seed, reply] of ofApi.entries()) {
        const random = seeded(seed + 7);
        const ends = eventEnds(reply);
        const uncut = await runStep(reply, [[reply.body]]);
        expect(wholeCalls(reply), reply.file).toEqual(expect.arrayContaining(uncut.executed.map(keyOf)));
        for (let count = 0; count < cutsPerReply; count += 1) {
          const at = count % 2 === 0 && ends.length > 0 ? (ends[random(ends.length)] ?? 0) : random(reply.body.length);
          const cut = inPieces(reply.body.subarray(0, at), random);
          const where = `${reply.file} cut at ${at}`;
          const broken = await runStep(reply, [cut]);
          expect(broken.ended, where).toBe((await readSpoilt(reply, cut)).error === undefined);
          if (broken.ended) counts.over += 1;
          else expect(broken.executed, where).toEqual([]);
          expect(wholeCalls(reply), where).toEqual(expect.arrayContaining(broken.executed.map(keyOf)));
          // The step is restarted, and then the whole reply arrives.
          const mended = await runStep(reply, [cut, [reply.body]]);
          if (!broken.ended) expect(mended.executed, where).toEqual(uncut.executed);
          counts.cuts += 1;
          counts.executions += mended.executed.length;
        }
      }
    },
    patience,
  );

  it('covers every API', () => {
    printStatistics(
      `spoilt turns: ${replies.length} replies with calls, ${counts.cuts} cuts (${counts.over} behind the end), ${counts.executions} executions after it`,
    );
    expect(counts.cuts).toBe(replies.length * cutsPerReply);
    expect(counts.executions).toBeGreaterThan(counts.cuts / 2);
  });
});
