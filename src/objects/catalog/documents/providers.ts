/**
 * Writes providers. API keys are sealed. An omitted key is kept, but only for the same origin: otherwise the author of a new base URL would
 * receive it.
 */
import { hiddenWarnings, keepHidden } from '../../../core/secrets/hidden-values.ts';
import { invalidRequest, Problem, type Warning, parseInput } from '../../../core/problem.ts';
import { modelName } from '../../../core/model/model-facts.ts';
import { keySecretsOf, Provider, ProviderName, type CompleteProvider } from '../../../core/model/provider.ts';
import { once } from '../../../core/memoize.ts';
import { isCloud } from '../../../core/model/cloud-access.ts';
import { providerBaseUrl } from '../../../core/names/provider-kind.ts';
import { secretHostOf, secretUseRefusal } from '../../../core/secrets/secret.ts';
import { builtinProvider, rehearsalProviderName } from '../../../storage/providers.ts';
import type { SealedProvider, SealedSecret } from '../../../storage/published-values.ts';
import type { CatalogContext } from '../context.ts';
import { allRows, type DocumentRow, findRow } from './documents.ts';
import { checkSecretUses, reseal } from './secrets.ts';
import type { DocumentWriter } from './write-document.ts';

export const providerWriter: DocumentWriter = {
  sealedMember: 'apiKey',
  nameFault: (_context, name) => {
    refuseRehearsal(name);
    return ProviderName.safeParse(name).success ? null : 'must be 1-32 of a-z, 0-9 and `-`, begin with a letter, and not be `agent`';
  },

  prepare: async (context, name, body, previous) => {
    const { apiKey, ...provider } = keepHidden('provider', parseInput(Provider, body), () => previous?.body ?? null);
    await checkKey(provider, apiKey);
    const warnings = checkSecrets(context, provider);
    if (apiKey !== undefined) {
      const seal = await reseal(context, { workspace: context.workspace, kind: 'provider', name }, apiKey, previous);
      return { body: provider, ...seal, warnings };
    }
    if (keySecretsOf(provider).length > 0)
      return { body: provider, sealed: null, sealedChanged: (previous?.sealed ?? null) !== null, warnings };
    return { ...keptKey(provider, previous), warnings: [...warnings, ...replacedKeyWarnings(context, name, previous)] };
  },
};

const cloudKeys = once(() => import('../../../core/model/cloud-key.ts'));

/** Throws `invalid_request` for the key of a cloud that cannot be used. */
async function checkKey(provider: CompleteProvider, apiKey: string | undefined): Promise<void> {
  if (apiKey === undefined || !isCloud(provider.kind)) return;
  const read = (await cloudKeys()).readCloud(provider, apiKey);
  if (read !== null && 'fault' in read) throw invalidRequest([{ path: 'apiKey', message: `cannot be used: ${read.fault}` }]);
}

/** Returns null if none is stored. */
export function readSealedProvider({ sql }: CatalogContext, name: string): SealedProvider | null {
  const row = findRow(sql, 'provider', name);
  return row === null ? null : { provider: providerOf(row), sealedApiKey: row.sealed };
}

export function listProviderModels(context: CatalogContext): { name: string; models: string[] }[] {
  return allRows(context.sql, 'provider').map((row) => ({ name: row.name, models: (providerOf(row).models ?? []).map(modelName) }));
}

/** Throws `conflict`: the built-in provider must work even if everything else fails. */
export function refuseRehearsal(name: string): void {
  if (name === rehearsalProviderName)
    throw new Problem('conflict', 'The provider "rehearsal" is built in: it cannot be changed or removed.');
}

/** Keeps the previous key, by value or by name of a secret, for the same origin only. */
function keptKey(provider: CompleteProvider, previous: DocumentRow | null): { body: CompleteProvider; sealed: string | null } {
  if (previous === null) return { body: provider, sealed: null };
  const before = providerOf(previous);
  const hadKey = previous.sealed !== null || keySecretsOf(before).length > 0;
  if (hadKey && originOf(before) !== originOf(provider)) {
    throw invalidRequest([{ path: 'apiKey', message: 'is required, because baseUrl changes to another origin' }]);
  }
  // Keys of clouds sign requests or buy tokens: as a key of another kind, they would be sent themselves.
  if (hadKey && before.kind !== provider.kind && isCloud(before.kind)) {
    throw invalidRequest([{ path: 'apiKey', message: 'is required, because the kind changes' }]);
  }
  const { apiKeySecret, apiKeySecrets } = before;
  const kept = { ...(apiKeySecret !== undefined && { apiKeySecret }), ...(apiKeySecrets !== undefined && { apiKeySecrets }) };
  return { body: { ...provider, ...kept }, sealed: previous.sealed };
}

function checkSecrets(context: CatalogContext, provider: CompleteProvider): Warning[] {
  const host = secretHostOf(providerBaseUrl(provider));
  const uses = secretNames(provider).map((use) => ({ ...use, refusal: (stored: SealedSecret) => secretUseRefusal(stored, { host }) }));
  return [...hiddenWarnings('provider', provider, host), ...checkSecretUses(context, uses, 'This provider cannot be used')];
}

/** A document does not use the key of the settings, under the same name either. */
function replacedKeyWarnings({ settings }: CatalogContext, name: string, previous: DocumentRow | null): Warning[] {
  const replaced = previous === null ? builtinProvider(settings, name) : null;
  if (replaced === null || Object.keys(replaced.headers).length === 0) return [];
  const message = `This provider replaces the one of the settings and does not use its key. Give apiKey, apiKeySecret or apiKeySecrets.`;
  return [{ path: 'apiKey', message }];
}

function secretNames(provider: CompleteProvider): { path: string; secret: string }[] {
  const headers = Object.entries(provider.headers ?? {}).flatMap(([name, value]) =>
    typeof value === 'string' ? [] : [{ path: `headers.${name}.secret`, secret: value.secret }],
  );
  return [...keySecretsOf(provider), ...headers];
}

function originOf(provider: CompleteProvider): string {
  return new URL(providerBaseUrl(provider)).origin;
}

/** Provider bodies were parsed by the schema when they were written; they never contain the key. */
function providerOf(row: DocumentRow): CompleteProvider {
  return row.body as CompleteProvider;
}
