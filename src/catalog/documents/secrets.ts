/** Writes secrets. The value is sealed here and leaves only sealed; GET shows its hosts and tools. */
import { parseDocument } from '../../core/issues.ts';
import { limits } from '../../core/limits.ts';
import { Secret, SecretName } from '../../core/policy/secret.ts';
import type { SecretBinding } from '../../core/policy/secret.ts';
import type { Warning } from '../../core/warning.ts';
import type { SealedSecret } from '../../storage/catalog-methods.ts';
import { equalInConstantTime } from '../../core/constant-time.ts';
import { openValue, sealValue } from '../../storage/secret-box.ts';
import type { SealedFor } from '../../storage/secret-box.ts';
import type { CatalogContext } from '../context.ts';
import { readRow, requireRow } from './documents.ts';
import type { DocumentRow } from './documents.ts';
import type { DocumentWriter } from './write-document.ts';

export const secretWriter: DocumentWriter = {
  nameFault: (_context, name) => SecretName.safeParse(name).error?.issues[0]?.message ?? null,

  prepare: async (context, name, body, previous) => {
    const { value, hosts, tools } = parseDocument(Secret, body);
    const { sealed, sealedChanged } = await reseal(context, { workspace: context.workspace, kind: 'secret', name }, value, previous);
    return { body: { hosts, ...(tools !== undefined && { tools }) }, sealed, sealedChanged, warnings: lengthWarnings(value) };
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

export function readSealedSecret(context: CatalogContext, name: string): SealedSecret {
  return toSealed(requireRow(context.sql, 'secret', name));
}

/** Returns those that exist. */
export function readSealedSecrets(context: CatalogContext, names: Iterable<string>): SealedSecret[] {
  return [...new Set(names)].flatMap((name) => {
    const row = readRow(context.sql, 'secret', name);
    return row === null || row.deleted ? [] : [toSealed(row)];
  });
}

/** Seals a value, or keeps the seal if the value is unchanged, so that writing it again creates no version. */
export async function reseal(
  context: CatalogContext,
  place: SealedFor,
  value: string,
  previous: DocumentRow | null,
): Promise<{ sealed: string; sealedChanged: boolean }> {
  const before = previous?.sealed ?? null;
  if (before !== null && (await opensTo(context, place, before, value))) return { sealed: before, sealedChanged: false };
  return { sealed: await sealValue(context.master, place, value), sealedChanged: true };
}

async function opensTo(context: CatalogContext, place: SealedFor, sealed: string, value: string): Promise<boolean> {
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
