/** Asks the registry whether a workspace exists, for objects that are about to store something of it for the first time. */
import { nullIfNotFound } from '../../../core/problem.ts';
import { defaultWorkspace, unknownWorkspace } from '../../../core/people/workspace.ts';
import type { Bindings } from '../../../storage/bindings.ts';
import { callCatalog } from './catalog-client.ts';

export async function isActiveWorkspace(bindings: Bindings, workspace: string): Promise<boolean> {
  if (workspace === defaultWorkspace) return true;
  return (await nullIfNotFound(callCatalog(bindings, defaultWorkspace, 'workspace', [workspace])))?.status === 'active';
}

/** Throws `not_found` unless the workspace is active. */
export async function requireActiveWorkspace(bindings: Bindings, workspace: string): Promise<void> {
  if (!(await isActiveWorkspace(bindings, workspace))) throw unknownWorkspace(workspace);
}
