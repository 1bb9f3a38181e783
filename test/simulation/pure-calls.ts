/** The journal of nested calls in the pure tier: rows of its storage, folded (`ports/call-journal.ts`). */
import { rootCallId } from '../../src/core/toolset/composite-tool.ts';
import type { SessionEvent, SessionEventBody } from '../../src/core/turn/session-event.ts';
import type { CallJournal, InnerCallStart, JournalEntry } from '../../src/ports/call-journal.ts';
import { innerCallEvent, innerResultEvent } from '../../src/objects/session/log/inner-events.ts';

/** The current state of a nested call. */
export type CallRow = { type: 'call'; entry: JournalEntry; told: boolean };

export class PureCalls {
  readonly #rows = new Map<string, CallRow>();

  apply(row: CallRow): void {
    this.#rows.set(row.entry.callId, row);
  }

  /** `write` returns false when this process can no longer write. */
  open(
    at: { turn: string; step(): number; append(event: SessionEventBody): void },
    write: (row: CallRow) => boolean,
    events: () => SessionEvent[],
  ): CallJournal {
    const put = (call: InnerCallStart, change: (row: CallRow) => CallRow): void => {
      const { callId, canonical, fingerprint } = call;
      const entry = { callId, canonical, fingerprint, attempts: 0, order: null, result: null };
      const row = change(this.#rows.get(callId) ?? { type: 'call', entry, told: false });
      if (!write(row)) throw new Error('this run has ended');
      this.apply(row);
    };
    const tell = (call: InnerCallStart): void => {
      if (this.#rows.get(call.callId)?.told === true) return;
      put(call, (row) => ({ ...row, told: true }));
      at.append(innerCallEvent({ ...call, turn: at.turn, step: at.step() }));
    };
    const beneath = (root: string): JournalEntry[] =>
      [...this.#rows.values()].flatMap(({ entry }) => (rootCallId(entry.callId) === root ? [entry] : []));
    return {
      startedAt: () => 0,
      find: (callId) => this.#rows.get(callId)?.entry ?? null,
      entriesUnder: beneath,
      begin(call) {
        tell(call);
        put(call, (row) => ({ ...row, entry: { ...row.entry, attempts: row.entry.attempts + 1 } }));
      },
      markWaiting: (call) => put(call, (row) => ({ ...row, entry: { ...row.entry, attempts: 0 } })),
      finish(call, result, { durationMs, cost }) {
        tell(call);
        const order = Math.max(0, ...beneath(call.root).map((entry) => entry.order ?? 0)) + 1;
        put(call, (row) => ({ ...row, entry: { ...row.entry, order, result } }));
        at.append(innerResultEvent({ ...call, turn: at.turn, step: at.step() }, result, { durationMs, cost }));
        return order;
      },
      verdict(callId) {
        const about = events().filter((event) => 'callId' in event && event.callId === callId);
        const asked = about.findLast((event) => event.type === 'approval-required');
        const decided = about.slice(asked === undefined ? 0 : about.lastIndexOf(asked)).find((event) => event.type === 'approval-decided');
        if (asked?.type !== 'approval-required' || decided?.type !== 'approval-decided') return null;
        const { binding = [], round = 1 } = asked;
        return { decision: decided.decision, approved: decided.decision === 'approve' ? { binding, round } : null };
      },
      given: () => ({ input: null, rounds: 0 }),
    };
  }
}
