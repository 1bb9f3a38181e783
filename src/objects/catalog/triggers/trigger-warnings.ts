/** Warnings about a trigger that depend on the workspace and the settings: it is stored anyway, since both may change. */
import { Problem, type Warning } from '../../../core/problem.ts';
import { createGuard } from '../../../net/guard.ts';
import type { CatalogContext } from '../context.ts';
import { readRow } from '../documents/documents.ts';

/** `meanwhile`: the effect until the agent exists. */
export function agentWarnings(context: CatalogContext, agent: string, meanwhile: string, path = 'agent'): Warning[] {
  if (readRow(context.sql, 'agent', agent)?.deleted === false) return [];
  return [{ path, message: `The agent "${agent}" does not exist yet. Until it is created, ${meanwhile}.` }];
}

/** Warns about a callback URL that cannot be reached. `path`: its path in the document. `what`: what is sent there. */
export function callbackUrlWarnings(context: CatalogContext, url: string | undefined, path = 'callbackUrl', what = 'Callbacks'): Warning[] {
  const refusal = url === undefined ? null : refusalOf(context, url);
  return refusal === null ? [] : [{ path, message: `${what} cannot be sent to this URL: ${refusal}` }];
}

/** A warning, not an error: an operator may allow the host later. */
function refusalOf(context: CatalogContext, url: string): string | null {
  try {
    createGuard(context.settings)(url, 'webhook');
    return null;
  } catch (error) {
    if (error instanceof Problem) return error.detail;
    throw error;
  }
}
