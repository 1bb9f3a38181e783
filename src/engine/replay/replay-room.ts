/** Whether a key may have another replay that runs. */
import { Problem, quoted } from '../../core/problem.ts';
import { type ListedReplay, maxRunningReplays } from '../../core/replay/replay.ts';
import type { CatalogPort } from '../../ports/catalog.ts';

/** Throws `rate_limited` while the key has too many. `replay`: is counted from now on; null: none yet. */
export async function requireReplayRoom(catalog: Pick<CatalogPort, 'admitReplay'>, replay: ListedReplay | null): Promise<void> {
  const newest = await catalog.admitReplay(replay);
  if (newest === null) return;
  const detail = `This key has ${maxRunningReplays} replays that run. Wait for one of them, or cancel it (${quoted(newest)} is the newest).`;
  throw new Problem('rate_limited', detail, { retryAfterMs: 30_000 });
}
