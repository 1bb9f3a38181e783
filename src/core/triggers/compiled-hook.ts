/** A compiled webhook for deliveries, created from its document and secrets once per isolate. */
import type { Filter } from './filters/filter.ts';
import type { SentHead, Verifier } from '../signatures/signature-claim.ts';
import { type Template, parseTemplate } from './templates/parse-template.ts';
import type { WebhookDocument } from './webhook.ts';
import { invalidRequest, type Issue } from '../problem.ts';
import { createVerifier, signDelivery } from './signatures/create-verifier.ts';
import { once } from '../memoize.ts';

export type CompiledHook = {
  webhook: WebhookDocument;
  /** The Catalog's version for this installation; each write increments it. */
  version: number;
  verify: Verifier;
  /** Returns the headers of a delivery that `verify` accepts. */
  sign(delivery: SentHead & { body: Uint8Array }): Promise<Record<string, string>>;
  /** Parsed at the first signed delivery, so that unsigned requests cannot detect the webhook by timing. */
  templates(): Promise<HookTemplates>;
};

/** `filter` null: every event counts. */
export type HookTemplates = { filter: Filter | null; session: Template; input: Template };

/** `templates` throws as `compileTemplates` does. */
export function compileHook({ webhook, version }: { webhook: WebhookDocument; version: number }, secrets: readonly string[]): CompiledHook {
  const sign: CompiledHook['sign'] = (delivery) => signDelivery(webhook, secrets, delivery);
  return { webhook, version, verify: createVerifier(webhook, secrets), sign, templates: once(() => compileTemplates(webhook)) };
}

/** Throws `invalid_request` with all faults of the templates and the filter. */
export async function compileTemplates(webhook: Pick<WebhookDocument, 'session' | 'input' | 'filter'>): Promise<HookTemplates> {
  const issues: Issue[] = [];
  const session = templateOf(webhook.session, 'session', issues);
  const input = templateOf(webhook.input, 'input', issues);
  const filter = webhook.filter === undefined ? null : await filterOf(webhook.filter, issues);
  if (session === null || input === null || issues.length > 0) throw invalidRequest(issues);
  return { filter, session, input };
}

function templateOf(text: string, path: string, issues: Issue[]): Template | null {
  const parsed = parseTemplate(text, path);
  if ('template' in parsed) return parsed.template;
  issues.push(parsed.issue);
  return null;
}

/** The filter language is loaded when the first webhook uses it. */
async function filterOf(text: string, issues: Issue[]): Promise<Filter | null> {
  const { parseFilter } = await import('./filters/filter.ts');
  const parsed = parseFilter(text, 'filter');
  if ('filter' in parsed) return parsed.filter;
  issues.push(parsed.issue);
  return null;
}
