/** What is to be said of a trigger as its workspace and the settings are now: it is stored all the same, since either may change. */
import { Problem } from '../../core/problem.ts';
import type { Warning } from '../../core/warning.ts';
import { createGuard } from '../../net/guard.ts';
import type { CatalogContext } from '../context.ts';
import { readRow } from '../documents.ts';

/** `meanwhile`: what becomes of it until there is one. */
export function agentWarnings(context: CatalogContext, agent: string, meanwhile: string, path = 'agent'): Warning[] {
  if (readRow(context.sql, 'agent', agent)?.deleted === false) return [];
  return [{ path, message: `There is no agent "${agent}" yet: until there is, ${meanwhile}.` }];
}

/** Where callbacks go, if they go anywhere. `path`: where the document has it. */
export function callbackUrlWarnings(context: CatalogContext, url: string | undefined, path = 'callbackUrl'): Warning[] {
  const refusal = url === undefined ? null : refusalOf(context, url);
  return refusal === null ? [] : [{ path, message: `Nothing will be sent there: ${refusal}` }];
}

/** An operator may allow it later, so it is said and not refused. */
function refusalOf(context: CatalogContext, url: string): string | null {
  try {
    createGuard(context.settings)(url, 'webhook');
    return null;
  } catch (error) {
    if (error instanceof Problem) return error.detail;
    throw error;
  }
}
