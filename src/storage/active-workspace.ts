/** Asks the registry whether a workspace exists, for objects that are about to store something of it for the first time. */
import { Problem, quoted } from '../core/problem.ts';
import { defaultWorkspace } from '../core/workspace.ts';
import type { Bindings } from './bindings.ts';
import { callCatalog } from './catalog-client.ts';

/** Throws `not_found` unless the workspace is active. */
export async function requireActiveWorkspace(bindings: Bindings, workspace: string): Promise<void> {
  if (workspace === defaultWorkspace) return;
  const { status } = await callCatalog(bindings, defaultWorkspace, 'workspace', [workspace]);
  if (status !== 'active') throw new Problem('not_found', `There is no workspace ${quoted(workspace)}.`);
}
