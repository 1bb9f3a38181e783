/** Decisions of administrators about prompts, resources and templates. Rarely used, so the Catalog loads it on demand. */
import { Problem, quoted } from '../problem.ts';
import { visibleJson } from '../text/visible-text.ts';
import {
  acceptDefinition,
  type AcceptRequest,
  type DefinitionKind,
  rejectDefinition,
  type RejectRequest,
  undoDecision,
  type UndoRequest,
} from './decide-definition.ts';
import type { DecidedBy } from '../servers/definition-review.ts';
import { offerDefinition, type OfferKind, offerNoun, type PinnedOffer, type StoredOffer } from './stored-offer.ts';

/** What is decided about one offer. */
export type OfferDecision = { kind: OfferKind; name: string } & (
  | ({ action: 'accept' } & AcceptRequest)
  | ({ action: 'reject' } & RejectRequest)
  | ({ action: 'undo' } & UndoRequest)
);

/**
 * Returns the offers with a decision, and the offer it is about. Throws `not_found` for one that the server never listed, and as the functions of
 * `decide-definition.ts` do.
 */
export function decideAboutOffer(
  stored: readonly StoredOffer[],
  decision: OfferDecision,
  decided: DecidedBy,
): { stored: StoredOffer[]; offer: StoredOffer } {
  const { kind, name } = decision;
  const index = stored.findIndex((one) => one.kind === kind && one.name === name);
  const before = stored[index];
  if (before === undefined) throw new Problem('not_found', `The server lists no ${offerNoun(kind)} ${quoted(name)}.`);
  const offer = { ...before, ...decide(before, decision, decided) };
  // Without a listing, there may be nothing left to remember.
  const isKept = (one: StoredOffer): boolean => one.listed !== null || one.accepted !== null || one.decisions.length > 0;
  return { stored: stored.with(index, offer).filter(isKept), offer };
}

function decide(before: StoredOffer, decision: OfferDecision, decided: DecidedBy) {
  const kind = offerKind(before.kind);
  switch (decision.action) {
    case 'accept':
      return acceptDefinition(kind, before, decision, decided);
    case 'reject':
      return rejectDefinition(kind, before, decision, decided);
    case 'undo':
      return undoDecision(kind, before, decision, decided);
    default:
      return decision satisfies never;
  }
}

function offerKind(kind: OfferKind): DefinitionKind<PinnedOffer> {
  return { noun: offerNoun(kind), textOf: ({ offer }) => visibleJson(offerDefinition(kind, offer)) };
}
