/**
 * Turns of an edge handler: each runs in memory within its chat request, by the same code as in a session, and ends with its answer or with
 * calls of the client's tools. Nothing is stored, so what waits for a person or continues later is refused.
 */
import { hashAsked } from '../core/policy/answer-name.ts';
import { createTaintMarks } from '../core/policy/taint.ts';
import type { Principal } from '../core/people/principal.ts';
import { toAnswerId } from '../core/text/reference.ts';
import { historyWithResults } from '../core/turn/pair-calls.ts';
import type { RunTurnWithinRequest } from '../engine/chat/run-chat.ts';
import { type Pools, requireTaken } from '../engine/fair-pool.ts';
import { joinWrites } from '../engine/joined-stream.ts';
import { createHistoryJudge, rememberAnswer } from '../engine/policy/client-history-taint.ts';
import { type KeptReplies, keepItems } from '../engine/proxy/kept-replies.ts';
import { type MemoryTurnNeeds, startMemoryTurn, type TurnStorage } from '../engine/turn/memory-turn.ts';
import type { WaitUntil } from '../platform/background.ts';
import type { Ids } from '../ports/runtime.ts';
import { createMemoryAnswer } from './memory-answer.ts';
import { needsStorage } from './unsupported.ts';

type TurnNeeds = MemoryTurnNeeds &
  Parameters<typeof createHistoryJudge>[0] & {
    ids: Ids;
    pools: Pick<Pools, 'turns'>;
    background: WaitUntil;
    keptReplies(principal: Principal): KeptReplies;
    turnStorage(): Promise<TurnStorage>;
  };

/** When a turn that was refused may be sent again. */
const turnRetryMs = 5_000;

export function createTurnWithinRequest(needs: TurnNeeds): RunTurnWithinRequest {
  const { clock, ids } = needs;
  const judgeHistory = createHistoryJudge(needs);
  return async ({ principal, dialect, request, route, body, signal }, { plan, input, history = [], chat, idempotencyKey }) => {
    // They would be found by a later request.
    if (route.session !== undefined || idempotencyKey !== undefined || body.background === true) throw needsStorage();
    const { streamed, includeUsage, echo } = request;
    const taint = createTaintMarks(history.length === 0 ? undefined : await judgeHistory(principal, plan, history));
    const asked = await hashAsked(input);
    const storage = await needs.turnStorage();
    const place = requireTaken(needs.pools.turns.take(principal), turnRetryMs);

    const turn = ids.next('turn');
    const created = Math.floor(clock.now() / 1000);
    const identity = { id: toAnswerId(dialect.name, ids.next('cmpl')), model: body.model, created, includeUsage, echo };
    const answer = createMemoryAnswer(turn, identity, { dialect, streamed });
    const settle = async (): Promise<void> => {
      await answer.over;
      try {
        await rememberAnswer(needs, { taint }, principal, { asked, ...answer.texts() });
        // Clients of Responses refer to them.
        if (dialect.name === 'openai-responses' && body.store !== false) keepItems(needs.keptReplies(principal), answer.items());
      } finally {
        answer.release();
      }
    };
    const settled = settle();
    const given = { principal, turn, plan, history: historyWithResults(history, chat?.results ?? []), input, taint, place, storage };
    const { done, leave } = startMemoryTurn(needs, given, answer);
    needs.background(Promise.all([done, settled]));
    const client = signal();
    client.addEventListener('abort', leave, { once: true });
    if (client.aborted) leave();

    const utf8 = new TextEncoder();
    if (!streamed) {
      await settled;
      const document = answer.document();
      return new Blob([JSON.stringify(document)]).stream();
    }
    return joinWrites<string | null, string>(
      {
        heartbeat: dialect.heartbeat,
        next: answer.next,
        piece: (text) => text,
        join: (texts) => utf8.encode(texts.join('')),
        end: () => new Uint8Array(0),
        cancel: leave,
      },
      clock,
    );
  };
}
