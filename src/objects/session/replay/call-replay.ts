/** The methods of a replay (`ports/replays.ts`), in the object that has it. */
import type { Principal } from '../../../core/people/principal.ts';
import { idempotencyMismatch, nullIfNotFound, Problem } from '../../../core/problem.ts';
import { type ReplayCaseDetail, toListedReplay } from '../../../core/replay/replay.ts';
import { requireReplayRoom } from '../../../engine/replay/replay-room.ts';
import { withOwnArguments } from '../../../engine/replay/own-arguments.ts';
import { readCase } from '../../../engine/replay/read-case.ts';
import { Unreadable } from '../../../engine/replay/recorded-case.ts';
import { toSideCall } from '../../../engine/replay/run-case.ts';
import type { ArgumentsOf, ResultOf } from '../../../ports/remote.ts';
import type { ReplayPort } from '../../../ports/replays.ts';
import { enterObject, type OpenSession } from '../object/open-session.ts';
import { readEvents } from '../log/turn-reader.ts';
import { cancelReplay, continueReplay, driveReplay, recordingOf, type ReplayParts, storedRecordings } from './replay-run.ts';
import { ReplayStore } from './replay-store.ts';
import { viewReplay } from './replay-view.ts';

export { cancelReplay, continueReplay };

type Parts = ReplayParts & { remove(by: string): Promise<void> };

export async function callReplay<Name extends keyof ReplayPort>(
  parts: Parts,
  open: OpenSession | null,
  method: Name,
  args: ArgumentsOf<ReplayPort, Name>,
): Promise<ResultOf<ReplayPort, Name>> {
  const port: { [Method in keyof ReplayPort]: (...given: never) => unknown } = replayPort(parts, open);
  // The method of this name has these arguments and this result.
  return (await port[method](...(args as never))) as ResultOf<ReplayPort, Name>;
}

function replayPort(parts: Parts, open: OpenSession | null): ReplayPort {
  const { wiring, session } = parts;
  /** For all callers who may not use it, it does not exist. */
  const enter = (caller: Principal): { openSession: OpenSession; store: ReplayStore } => {
    try {
      const openSession = enterObject(open, caller);
      if (openSession.meta.setup.replay === true) return { openSession, store: new ReplayStore(openSession.replay.sql) };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
    }
    throw new Problem('not_found', 'There is no such replay.');
  };
  const begun = (caller: Principal): { openSession: OpenSession; store: ReplayStore } => {
    const entered = enter(caller);
    if (entered.store.row()?.isListed !== 1) throw new Problem('not_found', 'There is no such replay.');
    return entered;
  };
  /** Begins it, if the key may have another. A process that dies before leaves an object that expires, or begins when the request is repeated. */
  const admit = async (openSession: OpenSession, store: ReplayStore): Promise<void> => {
    const { workspace, keyId } = openSession.meta;
    const catalog = wiring.catalog({ workspace, keyId });
    try {
      await requireReplayRoom(catalog, toListedReplay(viewReplay(session, openSession, store)));
    } catch (error) {
      if (error instanceof Problem && error.code === 'rate_limited') await parts.remove(keyId);
      throw error;
    }
    if (parts.isDeleted(openSession)) {
      await catalog.forgetSession(session, null);
      throw new Problem('not_found', 'The replay was deleted.');
    }
    // A request at the same time may have begun it.
    if (store.row()?.isListed !== 1) driveReplay(parts, openSession).begin();
  };
  return {
    async start(caller, request) {
      const { openSession, store } = enter(caller);
      const known = store.row();
      if (known !== null && known.of !== request.of) throw idempotencyMismatch();
      if (known === null) store.create(caller, request);
      if (known?.isListed !== 1) await admit(openSession, store);
      return viewReplay(session, openSession, store);
    },
    view: async (caller) => {
      const { openSession, store } = begun(caller);
      return viewReplay(session, openSession, store);
    },
    cases: async (caller, query) => begun(caller).store.cases(query),
    async readCase(caller, number) {
      const { store } = begun(caller);
      const row = store.find(number);
      if (row === null) throw new Problem('not_found', `The replay has no case ${number}.`);
      const shown = store.toCase(row);
      const nothing = { ...shown, input: [], recordedSide: null, replayedSide: null, differences: [] };
      try {
        const source = row.request === null ? { session: row.session ?? '', turn: row.turn ?? '' } : { request: row.request };
        const { input, recorded } = await readCase(wiring, caller, source);
        const { edition } = recorded;
        const used = edition === null ? null : await nullIfNotFound(wiring.directory.edition(caller.workspace, edition));
        const calls = withOwnArguments(recorded.calls, used?.names ?? null).map(toSideCall);
        const detail = store.detail(number);
        return {
          ...shown,
          input: [...input],
          recordedSide: { text: recorded.text, calls },
          replayedSide: detail?.side ?? null,
          differences: detail?.differences ?? [],
          ...(detail?.isApproximate && { isApproximate: true }),
        } satisfies ReplayCaseDetail;
      } catch (error) {
        if (!(error instanceof Unreadable)) throw error;
        const ids = { sessions: row.session === null ? [] : [row.session], requests: row.request === null ? [] : [row.request] };
        if (error.isGone && !(await storedRecordings(wiring, caller.workspace, ids)).has(recordingOf(row))) store.eraseDetail(number);
        return nothing;
      }
    },
    async eventsAfter(caller, after, waitMs) {
      const { openSession } = begun(caller);
      const { log, turns } = openSession;
      return await readEvents({ log, turns, clock: wiring.clock, isDeleted: () => parts.isDeleted(openSession) }, after, waitMs);
    },
    async cancel(caller) {
      const { openSession, store } = begun(caller);
      cancelReplay(parts, openSession, 'It was cancelled.');
      return viewReplay(session, openSession, store);
    },
    async remove(caller) {
      enter(caller);
      await parts.remove(caller.keyId);
    },
  };
}
