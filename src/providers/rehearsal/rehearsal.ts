/**
 * The built-in rehearsal model (contract §6): `rehearsal/default` replies offline, over the OpenAI wire, through the ordinary adapter.
 * Deterministic.
 */
import { once } from '../../core/memoize.ts';
import type { OutboundHttp } from '../../ports/outbound.ts';

export const rehearsalHttp: OutboundHttp = async (request) => {
  const { respond } = await loadRespond();
  return await respond(request);
};

/** Few isolates of a service with providers use it. */
const loadRespond = once(() => import('./respond.ts'));
