/** A replay as its callers see it. */
import type { Replay } from '../../../core/replay/replay.ts';
import type { OpenSession } from '../object/open-session.ts';
import type { ReplayStore } from './replay-store.ts';

export function viewReplay(id: string, { meta }: Pick<OpenSession, 'meta'>, store: ReplayStore): Replay {
  const row = store.row();
  if (row === null) throw new Error('the replay has not begun');
  const { suite, with: replaced, unmatched, concurrency, maxCost = null } = store.request();
  const { rules, uncounted, recorded, replayed } = store.sums();
  const { status, reason, endedAt } = row;
  return {
    id,
    createdAt: new Date(meta.createdAt).toISOString(),
    endedAt: endedAt === null ? null : new Date(endedAt).toISOString(),
    keyId: meta.keyId,
    ...{ status, reason, suite, with: replaced, unmatched, concurrency, maxCost },
    cases: store.counts(),
    ...{ rules, uncounted, recorded, replayed },
  };
}
