/** A compiled webhook for deliveries, created from its document once per isolate by `compileHook` in `compile-hook.ts`. */
import type { Filter } from './filters/filter.ts';
import type { Verifier } from './signatures/signature-claim.ts';
import type { Template } from './templates/parse-template.ts';
import type { WebhookDocument } from './webhook.ts';

export type CompiledHook = {
  webhook: WebhookDocument;
  /** The Catalog's version for this installation; each write increments it. */
  version: number;
  verify: Verifier;
  /** Parsed at the first signed delivery, so that unsigned requests cannot detect the webhook by timing. */
  templates(): Promise<HookTemplates>;
};

/** `filter` null: every event counts. */
export type HookTemplates = { filter: Filter | null; session: Template; input: Template };
