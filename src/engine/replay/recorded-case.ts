/** A recorded case: what was asked, in what conversation, and what came of it. From a turn of a session, or from a request with logged bodies. */
import { type ModelPrice, priceOf } from '../../core/model/price.ts';
import type { InputPart, Message } from '../../core/model/message.ts';
import type { RecordedTurn } from '../../core/replay/recorded-turn.ts';
import type { Gathered } from '../../core/turn/gathered-tools.ts';
import type { SessionEvent } from '../../core/turn/session-event.ts';
import { splitModelRef } from '../../core/turn/agent.ts';
import type { Directory } from '../../ports/directory.ts';
import type { Sessions } from '../../ports/session.ts';
import type { UsageReader } from '../../ports/usage.ts';
import type { PlanRequest } from '../plan/plan-turn.ts';

/** `asked`: what the turn was planned with. `answers`: whether the calls have recorded results; a request has none. `notes`: what differs from then. */
export type RecordedCase = {
  asked: PlanRequest;
  history: readonly Message[];
  gathered: readonly Gathered[];
  input: readonly InputPart[];
  recorded: RecordedTurn;
  answers: boolean;
  notes: string[];
};

/** Where the recording of a case is. */
export type RecordedPlace = { session: string; turn: string } | { request: string };

/** Why a case cannot be replayed, as a sentence. `isGone`: its recording does not exist, or is not the key's. */
export class Unreadable extends Error {
  readonly isGone: boolean;

  constructor(reason: string, isGone = false) {
    super(reason);
    this.isGone = isGone;
  }
}

export type CaseDeps = {
  directory: Directory;
  sessions: Pick<Sessions, 'get'>;
  usage: Pick<UsageReader, 'request'>;
  /** Reads a response in a client's dialect, as text. */
  readReply: ReadLoggedReply;
};

/** `code`: of the problem that the response reports; null: none. */
export type RecordedReply = { text: string; calls: { name: string; arguments: Record<string, unknown> | null }[]; code: string | null };

/** null: the dialect is not known. */
export type ReadLoggedReply = (dialect: string, response: string) => Promise<RecordedReply | null>;

/** Returns the prices of the models that the events name. */
export async function pricesOf(
  directory: Pick<Directory, 'provider'>,
  workspace: string,
  events: readonly SessionEvent[],
): Promise<(model: string) => ModelPrice | null> {
  const models = new Set(events.flatMap((event) => ('model' in event && event.model !== undefined ? [event.model] : [])));
  const prices = new Map<string, ModelPrice | null>();
  for (const ref of models) {
    const { provider, model } = splitModelRef(ref);
    // Without the provider, the cost is not known.
    const access = await directory.provider(workspace, provider).catch(() => null);
    prices.set(ref, access === null ? null : priceOf(access, model));
  }
  return (model) => prices.get(model) ?? null;
}
