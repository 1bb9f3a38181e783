/** The programs that the servers of the workspace run now, for the launcher, which ends the others. */
import { Problem } from '../../../core/problem.ts';
import { secretUseRefusal } from '../../../core/secrets/secret.ts';
import { buildRun, programKey } from '../../../core/servers/stdio-run.ts';
import { openValue } from '../../../storage/keys/secret-box.ts';
import type { CatalogContext } from '../context.ts';
import { documentNotFound } from '../documents/documents.ts';
import { readSealedSecrets } from '../documents/secrets.ts';
import { findServerAccess } from './server-state.ts';

/** By server. One without a command has none, nor one whose secrets cannot be used: it could not be started again. */
export async function readProgramKeys(context: CatalogContext, servers: readonly string[]): Promise<Record<string, string>> {
  const { workspace, settings } = context;
  const token = settings.launcher?.token;
  if (token === undefined) return {};
  const keys: [server: string, key: string][] = [];
  for (const server of servers) {
    const access = findServerAccess(context, server);
    const command = access?.mcp?.command;
    if (access === null || command === undefined) continue;
    try {
      const run = await buildRun(access, command, (secret, host) => openSecret(context, secret, host));
      keys.push([server, programKey({ ...run, workspace }, token)]);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
    }
  }
  return Object.fromEntries(keys);
}

async function openSecret(context: CatalogContext, name: string, host: string): Promise<string> {
  const [stored] = readSealedSecrets(context, [name]);
  if (stored === undefined) throw documentNotFound('secret', name);
  const refusal = secretUseRefusal(stored, { host });
  if (refusal !== null) throw new Problem('forbidden', refusal);
  return await openValue(context.master, { workspace: context.workspace, kind: 'secret', name }, stored.sealed);
}
