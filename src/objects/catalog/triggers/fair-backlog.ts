/** How much of what waits in a workspace one trigger or one receiver may have. */
import { findShortage } from '../../../core/limits/fair-share.ts';

/** The most of both that one may have, so that one with a busy session or a slow receiver leaves space for the others. */
export const maxBacklogShare = 0.5;

export type Load = { rows: number; bytes: number };

/** `own`: of the trigger or receiver, among `all`. Several that take what there is leave some of it for the next. */
export function hasRoom({ own, all, max }: { own: Load; all: Load; max: Load }, more: Load): boolean {
  return (['rows', 'bytes'] as const).every((what) => {
    const bounds = { limit: what, what, perKey: max[what] * maxBacklogShare, perWorkspace: max[what], total: Number.POSITIVE_INFINITY };
    const used = { key: own[what], workspace: all[what], total: all[what] };
    // What is refused is named by the caller.
    return findShortage(bounds, { workspace: '', keyId: '' }, used, more[what]) === null;
  });
}
