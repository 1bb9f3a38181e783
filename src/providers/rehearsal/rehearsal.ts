/**
 * The built-in rehearsal model (contract §6): `rehearsal/default` replies offline, over the OpenAI wire, through the ordinary adapter.
 * Deterministic.
 */
import { respond } from './respond.ts';
import type { OutboundHttp } from '../../ports/outbound.ts';

export const rehearsalHttp: OutboundHttp = respond;
