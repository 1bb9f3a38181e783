/** A webhook as a delivery needs it: made of its document once an isolate, by `compileHook` in `compile-hook.ts`. */
import type { Filter } from './filters/filter.ts';
import type { Verifier } from './signatures/verifier.ts';
import type { Template } from './templates/template.ts';
import type { WebhookDocument } from './webhook.ts';

export type CompiledHook = {
  webhook: WebhookDocument;
  /** Of this installation's Catalog: raised by each write. */
  version: number;
  verify: Verifier;
  /** Read from their text at the first delivery that is signed, so that no stranger sees in the time that there is something to read. */
  templates(): Promise<HookTemplates>;
};

/** `filter` null: everything counts. */
export type HookTemplates = { filter: Filter | null; session: Template; input: Template };
