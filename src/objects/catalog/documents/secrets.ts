/** Writes secrets. The value is sealed here and leaves only sealed; GET shows its hosts and tools. */
import { canonicalJson } from '../../../core/hash.ts';
import { limits } from '../../../core/limits/limits.ts';
import { invalidRequest, type Issue, type Warning, parseInput } from '../../../core/problem.ts';
import { Secret, type SecretBinding, SecretName } from '../../../core/secrets/secret.ts';
import { changedSecret } from '../../../core/servers/launched-settings.ts';
import type { SealedSecret } from '../../../storage/published-values.ts';
import { equalInConstantTime } from '../../../core/constant-time.ts';
import { openValue, type SealedFor, sealValue } from '../../../storage/keys/secret-box.ts';
import type { CatalogContext } from '../context.ts';
import { type DocumentRow, findRow } from './documents.ts';
import { requireLauncher } from '../servers/require-launcher.ts';
import type { DocumentWriter } from './write-document.ts';

export const secretWriter: DocumentWriter = {
  nameFault: (_context, name) => SecretName.safeParse(name).error?.issues[0]?.message ?? null,

  prepare: async (context, name, body, previous, options) => {
    const { value, hosts, tools } = parseInput(Secret, body);
    const { sealed, sealedChanged } = await reseal(context, { workspace: context.workspace, kind: 'secret', name }, value, previous);
    const binding = { hosts, ...(tools !== undefined && { tools }) };
    const isSame = !sealedChanged && canonicalJson(binding) === canonicalJson(previous?.body ?? null);
    requireLauncher(context, isSame ? [] : changedSecret(hosts), options);
    return { body: binding, sealed, sealedChanged, warnings: lengthWarnings(value) };
  },
};

function lengthWarnings(value: string): Warning[] {
  const least = limits.minRedactedSecretLength;
  if (value.length >= least) return [];
  return [
    {
      path: 'value',
      message: `is shorter than ${least} characters: if a tool returns it, it cannot be distinguished from other text and is not redacted`,
    },
  ];
}

/** Returns those that exist. */
export function readSealedSecrets(context: CatalogContext, names: Iterable<string>): SealedSecret[] {
  return [...new Set(names)].flatMap((name) => {
    const row = findRow(context.sql, 'secret', name);
    return row === null ? [] : [toSealed(row)];
  });
}

/** `refusal`: why a stored secret cannot be used there, or null. */
export type NamedSecret = { path: string; secret: string; refusal(stored: SealedSecret): string | null };

/** Rejects uses of secrets that are bound to something else, and warns about missing secrets. `until`: what fails until they are created. */
export function checkSecretUses(context: CatalogContext, uses: readonly NamedSecret[], until: string): Warning[] {
  const warnings: Warning[] = [];
  const issues: Issue[] = [];
  for (const { path, secret, refusal } of uses) {
    const stored = readSealedSecrets(context, [secret])[0];
    if (stored === undefined) warnings.push({ path, message: `The secret "${secret}" does not exist yet. ${until} until it is created.` });
    const refused = stored === undefined ? null : refusal(stored);
    if (refused !== null) issues.push({ path, message: `the secret "${secret}" cannot be used here: ${refused}` });
  }
  if (issues.length > 0) throw invalidRequest(issues);
  return warnings;
}

/** Seals a value, or keeps the seal if the value is unchanged, so that writing it again creates no version. */
export async function reseal(
  context: CatalogContext,
  place: SealedFor,
  value: string,
  previous: DocumentRow | null,
): Promise<{ sealed: string; sealedChanged: boolean }> {
  const before = previous?.sealed ?? null;
  if (before !== null && (await sealsSameValue(context, place, before, value))) return { sealed: before, sealedChanged: false };
  return { sealed: await sealValue(context.master, place, value), sealedChanged: true };
}

/** Seals the new secret that signs callbacks, or keeps the previous one. Throws `invalid_request` at `path` if there is neither. */
export async function resealCallbackSecret(
  context: CatalogContext,
  place: SealedFor,
  value: string | undefined,
  previous: DocumentRow | null,
  path: string,
): Promise<{ sealed: string; sealedChanged: boolean }> {
  if (value !== undefined) return await reseal(context, place, value, previous);
  const before = previous?.sealed ?? null;
  if (before === null) throw invalidRequest([{ path, message: 'is required: callbacks are signed with it' }]);
  // Opened to verify that it can be, in case the master key has changed: otherwise signing would fail later.
  await openValue(context.master, place, before);
  return { sealed: before, sealedChanged: false };
}

async function sealsSameValue(context: CatalogContext, place: SealedFor, sealed: string, value: string): Promise<boolean> {
  try {
    return equalInConstantTime(await openValue(context.master, place, sealed), value);
  } catch {
    // Sealed with another master key, or damaged: the new value replaces it, which is the documented fix.
    return false;
  }
}

function toSealed({ name, body, sealed }: DocumentRow): SealedSecret {
  // Secret bodies are written only above, and a secret always has a sealed value.
  const { hosts, tools } = body as SecretBinding;
  return { name, hosts, ...(tools !== undefined && { tools }), sealed: sealed ?? '' };
}
