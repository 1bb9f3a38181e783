/** What a session may add to the questions and queued turns of its key and of its workspace. */
import type { ShareShortage } from '../../../core/limits/fair-share.ts';
import type { OpenWork } from '../../../core/turn/session-summary.ts';
import { grantedShare, type LimitedHolder } from '../../../core/usage-limits.ts';
import type { CatalogPort } from '../../../ports/catalog.ts';
import type { Logger } from '../../../ports/runtime.ts';
import type { SummaryOutbox } from './summary-outbox.ts';

/**
 * Asks the Catalog whether the session may have `more` of it, and counts them there. Returns why not. Call it before they are stored. A Catalog
 * that does not reply refuses nothing: the session has bounds of its own.
 */
export type AdmitWork = (of: keyof OpenWork, more: number, limited: readonly LimitedHolder[] | undefined) => Promise<ShareShortage | null>;

type Parts = {
  session: string;
  keyId: string;
  summary: Pick<SummaryOutbox, 'openWork'>;
  catalog: Pick<CatalogPort, 'admitOpenWork'>;
  log: Logger;
};

export function createAdmitWork({ session, keyId, summary, catalog, log }: Parts): AdmitWork {
  return async (of, more, limited) => {
    const granted = grantedShare(limited, of === 'queuedTurns' ? 'concurrentTurns' : of);
    try {
      return await catalog.admitOpenWork({ session, keyId, of, has: summary.openWork()[of], more, granted });
    } catch (error) {
      log.error('questions or queued turns could not be counted', { session, of, cause: String(error) });
      return null;
    }
  };
}
