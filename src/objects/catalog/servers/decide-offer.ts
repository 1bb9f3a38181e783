/** Decides about a prompt or resource of a server as about a tool. */
import { decideAboutOffer, type OfferDecision } from '../../../core/listing/decide-offer.ts';
import { countOffers, type ReviewedOffer, showOffer } from '../../../core/listing/stored-offer.ts';
import type { CatalogContext } from '../context.ts';
import { requireRow } from '../documents/documents.ts';
import { recordChange } from '../records/audit.ts';
import { enqueuePublish } from '../records/publications.ts';
import { readOffers, storeOffers } from './server-offers.ts';
import { readServerState, writeServerState } from './server-state.ts';

export function decideOffer(context: CatalogContext, server: string, decision: OfferDecision, by: string): ReviewedOffer {
  const { sql } = context;
  const { kind, name, action } = decision;
  requireRow(sql, 'server', server);
  const { stored, offer } = decideAboutOffer(readOffers(sql, server), decision, { by, at: context.now() });
  context.transact(() => {
    storeOffers(sql, server, stored);
    const state = readServerState(sql, server);
    if (state !== null) writeServerState(sql, server, { ...state, offered: countOffers(stored) });
    enqueuePublish(context, 'offers', server);
    recordChange(context, { by, action, resource: `server-${kind}`, name: `${server}.${name}` });
  });
  return showOffer(offer);
}
