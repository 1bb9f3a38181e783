/** From a webhook's document and its secrets to what judges deliveries. Also what is said of a document that cannot be compiled. */
import { invalidRequest } from '../problem.ts';
import type { Issue } from '../problem.ts';
import type { CompiledHook, HookTemplates } from './compiled-hook.ts';
import type { Filter } from './filters/filter.ts';
import { parseTemplate } from './templates/parse-template.ts';
import { createVerifier } from './signatures/create-verifier.ts';
import type { Template } from './templates/template.ts';
import type { WebhookDocument } from './webhook.ts';

/** Its `templates` throws as `compileTemplates` does. */
export function compileHook({ webhook, version }: { webhook: WebhookDocument; version: number }, secrets: readonly string[]): CompiledHook {
  // What was made is kept, never the promise of it: one request's promise must not be what another waits for in a Worker.
  let made: HookTemplates | null = null;
  return {
    webhook,
    version,
    verify: createVerifier(webhook, secrets),
    templates: async () => {
      made ??= await compileTemplates(webhook);
      return made;
    },
  };
}

/** Throws `invalid_request` with every fault of its templates and its filter. */
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

/** The language of filters is loaded by the first webhook that has one. */
async function filterOf(text: string, issues: Issue[]): Promise<Filter | null> {
  const { parseFilter } = await import('./filters/filter.ts');
  const parsed = parseFilter(text, 'filter');
  if ('filter' in parsed) return parsed.filter;
  issues.push(parsed.issue);
  return null;
}
