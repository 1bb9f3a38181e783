/** Messages to somebody outside, as they are kept: what is to be sent, how it went, and what came of it. */
import type { Callback, CallbackWithBody } from '../../core/triggers/callback.ts';
import type { TurnNotice } from '../../core/triggers/turn-notice.ts';
import type { Page } from '../../ports/catalog.ts';
import type { CallbackQuery } from '../../ports/triggers.ts';
import type { CatalogContext } from '../context.ts';

/** One message for each who wants to hear of it; a notice that comes twice adds nothing. */
export function enqueueCallbacks(_context: CatalogContext, _notice: TurnNotice): void {
  throw new Error('not built yet');
}

export function listCallbacks(_context: CatalogContext, _query: CallbackQuery): Page<Callback> {
  throw new Error('not built yet');
}

export function readCallback(_context: CatalogContext, _id: string): CallbackWithBody {
  throw new Error('not built yet');
}

export function retryCallback(_context: CatalogContext, _id: string): Callback {
  throw new Error('not built yet');
}
